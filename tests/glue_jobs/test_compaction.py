# SPDX-License-Identifier: Apache-2.0
"""Many files into one that is sorted: by names byte by byte, and then by time."""

import contextlib
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafka_lag_report.errors import CorruptObjectsError, DataError
from kafka_lag_report.history_file import ROW_GROUP_ROWS, Part, Stretch, compact, encode
from kafka_lag_report.schemas import arrow_schema
from kafka_lag_report.storage import Storage
from tests.glue_jobs.days import Row, group_row, minute, write_run


def part(root: Path, *paths: Path, rows: int | None = None) -> Part:
    """Of so many rows; null: as many as there are."""
    count = sum(pq.read_metadata(path).num_rows for path in paths) if rows is None else rows
    target = str(root / "made" / "part.parquet")
    return Part("group_partitions", (Stretch(tuple(map(str, paths)), count),), target)


def written(root: Path) -> list[Row]:
    rows: list[Row] = pq.ParquetFile(root / "made" / "part.parquet").read().to_pylist()
    return rows


# Above the basic plane UTF-16 sorts otherwise than UTF-8, by which rows are sorted.
GROUPS = ("\U0001f600", "\uff5e", "zebra", "Ant")


def runs(root: Path, count: int) -> list[Path]:
    return [
        write_run(
            root,
            "group_partitions",
            [group_row(p, 5, 0, 9, consumer_group=g) for g in GROUPS for p in (1, 0)],
            at=minute(number),
        )
        for number in range(count)
    ]


def rewritten(path: Path, **columns: Any) -> Path:
    """The same file with other columns: null drops one."""
    table = pq.ParquetFile(path).read()
    for name, values in columns.items():
        place = table.schema.get_field_index(name)
        table = table.remove_column(place)
        if values is not None:
            table = table.add_column(place, name, values)
    pq.write_table(table, path)
    return path


def test_each_stretch_of_a_file_is_sorted_by_itself(tmp_path: Path) -> None:
    early, late = (part(tmp_path, path) for path in runs(tmp_path, 2))

    compact(replace(early, stretches=early.stretches + late.stretches), Storage())

    one = [(group, number) for group in sorted(GROUPS, key=str.encode) for number in (0, 1)]
    assert [(r["consumer_group"], r["partition_id"]) for r in written(tmp_path)] == one + one
    assert [r["taken_at"] for r in written(tmp_path)] == [minute(0)] * 8 + [minute(1)] * 8
    # so that a reader skips the rest of both
    assert pq.ParquetFile(tmp_path / "made" / "part.parquet").num_row_groups == 2


def test_within_a_stretch_names_come_before_times(tmp_path: Path) -> None:
    compact(part(tmp_path, *reversed(runs(tmp_path, 2))), Storage())

    found = [(r["consumer_group"], r["partition_id"], r["taken_at"]) for r in written(tmp_path)]
    assert found == sorted(found, key=lambda row: (row[0].encode(), *row[1:]))


def test_rows_of_groups_are_sorted_too(tmp_path: Path) -> None:
    rows = [{"consumer_group": name} for name in GROUPS]
    paths = [write_run(tmp_path, "groups", rows, at=minute(number)) for number in (1, 0)]
    stretch = Stretch(tuple(map(str, paths)), 2 * len(rows))

    compact(Part("groups", (stretch,), str(tmp_path / "made" / "part.parquet")), Storage())

    found = [(row["consumer_group"].encode(), row["taken_at"]) for row in written(tmp_path)]
    assert found == sorted(found)


def test_stretches_of_a_newer_version_become_a_file_of_their_own(tmp_path: Path) -> None:
    older, newer = runs(tmp_path, 2)
    table = pq.ParquetFile(newer).read()
    pq.write_table(table.append_column("novel", pa.array([7] * 8)), newer)
    early, late = (part(tmp_path, path) for path in (older, newer))

    rows = compact(replace(early, stretches=early.stretches + late.stretches), Storage())

    assert rows == 16
    assert "novel" not in written(tmp_path)[0]
    added = pq.ParquetFile(tmp_path / "made" / "part-1.parquet").read().to_pylist()
    assert [(r["taken_at"], r["novel"]) for r in added] == [(minute(1), 7)] * 8


def test_a_column_that_a_file_lacks_is_null(tmp_path: Path) -> None:
    older, newer = runs(tmp_path, 2)

    compact(part(tmp_path, rewritten(older, end_offset=None), newer), Storage())

    assert {(r["taken_at"], r["end_offset"]) for r in written(tmp_path)} == {
        (minute(0), None),
        (minute(1), 9),
    }


def test_times_in_microseconds_become_the_histories_milliseconds(tmp_path: Path) -> None:
    (path,) = runs(tmp_path, 1)
    fine = [minute(0) + timedelta(microseconds=1999)] * 8
    rewritten(path, read_at=pa.array(fine, pa.timestamp("us", tz="UTC")))

    compact(part(tmp_path, path), Storage())

    assert written(tmp_path)[0]["read_at"] == minute(0) + timedelta(milliseconds=1)


def test_of_no_rows_there_is_no_file(tmp_path: Path) -> None:
    empty = write_run(tmp_path, "group_partitions", [])

    assert compact(part(tmp_path, empty), Storage()) == 0
    assert not (tmp_path / "made").exists()


def test_a_file_that_cannot_be_decoded_is_named(tmp_path: Path) -> None:
    good, bad = runs(tmp_path, 2)
    data = bytearray(bad.read_bytes())
    data[4:600] = bytes(596)
    bad.write_bytes(data)

    with pytest.raises(CorruptObjectsError) as failure:
        compact(part(tmp_path, good, bad), Storage())

    assert failure.value.paths == (str(bad),)
    assert str(failure.value).startswith(f"cannot read {bad}: its rows cannot be decoded")


@pytest.mark.parametrize("damage", range(10))
def test_damage_in_the_midst_of_a_file_is_found_or_harmless(tmp_path: Path, damage: int) -> None:
    """A place in a dictionary that has none such must not be followed."""
    path = write_run(tmp_path, "group_partitions", [group_row(p, 5, 0, 9) for p in range(60)])
    pq.write_table(pq.ParquetFile(path).read(), path, compression="none")
    data = bytearray(path.read_bytes())
    # not in the footer: what that is damaged in, is no Parquet file
    data[4 + damage * (pq.read_metadata(path).serialized_size // 2) % (len(data) // 2)] ^= 0xFF
    path.write_bytes(data)

    with contextlib.suppress(CorruptObjectsError):
        assert compact(part(tmp_path, path, rows=60), Storage()) == 60


def test_fewer_rows_than_were_counted_are_no_history(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="have 8 rows, and 9 were counted; nothing was"):
        compact(part(tmp_path, *runs(tmp_path, 1), rows=9), Storage())

    assert not (tmp_path / "made").exists()


def test_a_reader_finds_a_name_without_the_rest() -> None:
    count, schema = ROW_GROUP_ROWS + 1, arrow_schema("groups")
    groups = pa.array([f"g{number // 1000:04}" for number in range(count)]).dictionary_encode()
    columns = [groups if f.name == "consumer_group" else pa.nulls(count, f.type) for f in schema]

    file = pq.ParquetFile(pa.BufferReader(encode(schema, [pa.table(columns, schema)])))

    place = file.schema_arrow.get_field_index("consumer_group")
    ranges = [file.metadata.row_group(n).column(place) for n in range(file.num_row_groups)]
    assert [(r.statistics.min, r.statistics.max) for r in ranges] == [
        ("g0000", "g0065"),
        ("g0065", "g0065"),
    ]
    assert all(r.has_column_index and r.has_offset_index for r in ranges)
