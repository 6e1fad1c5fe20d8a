# SPDX-License-Identifier: Apache-2.0
"""A day's history: the snapshots' rows, sorted, and never fewer rows than before."""

import shutil
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.compaction import compact_day, delete_compacted, plan_parts
from kafka_lag_report.errors import DataError
from kafka_lag_report.history_file import compact
from kafka_lag_report.read_snapshots import Day, find_days, skip_corrupt_objects
from kafka_lag_report.schemas import SNAPSHOTS
from kafka_lag_report.storage import Storage
from tests.glue_jobs.days import NOON, Row, group_row, minute, topic_row, write_run

DAY = NOON.date()
GROUPS = ("zebra", "ant")


def write_minutes(root: Path, numbers: range) -> None:
    for number in numbers:
        rows = [group_row(p, 9, 0, 10 + number, consumer_group=g) for g in GROUPS for p in (1, 0)]
        write_run(root, "group_partitions", rows, at=minute(number))
        write_run(root, "topic_partitions", [topic_row(0, 10 + number)], at=minute(number))
        write_run(root, "groups", [{"consumer_group": g} for g in GROUPS], at=minute(number))


def found(root: Path, today: date = date(2026, 2, 1)) -> Day:
    (day,) = find_days(Storage(), str(root), str(root), DAY, (), today)
    return day


def compact_all(spark: SparkSession, root: Path) -> Day:
    """As the job does it, bad objects left out."""
    day, _ = skip_corrupt_objects(
        Storage(), found(root), lambda usable: compact_day(spark, Storage(), usable)
    )
    return day


def history(root: Path, dataset: str = "group_partitions") -> list[Row]:
    files = sorted((root / "history" / dataset).rglob("*.parquet"))
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]


def test_runs_that_came_late_are_added_and_those_whose_objects_are_gone_stay(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_minutes(tmp_path, range(3))
    compact_all(spark, tmp_path)
    for object_of_a_run in (tmp_path / "snapshots").rglob("*T1201*.parquet"):
        object_of_a_run.unlink()
    write_minutes(tmp_path, range(3, 4))

    compact_all(spark, tmp_path)

    times = {row["taken_at"] for row in history(tmp_path)}
    assert times == {minute(number) for number in range(4)}
    assert len(history(tmp_path)) == 16


def test_a_history_that_lacks_nothing_is_left_as_it_is(spark: SparkSession, tmp_path: Path) -> None:
    write_minutes(tmp_path, range(2))
    compact_all(spark, tmp_path)
    before = sorted((tmp_path / "history").rglob("*"))

    compact_all(spark, tmp_path)

    assert sorted((tmp_path / "history").rglob("*")) == before


def test_runs_that_two_jobs_at_once_left_twice_are_there_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_minutes(tmp_path, range(3))
    compact_all(spark, tmp_path)
    (file,) = (tmp_path / "history" / "group_partitions").rglob("*.parquet")
    shutil.copy(file, file.with_name("part-of-the-other.parquet"))
    assert len(history(tmp_path)) == 24
    day = found(tmp_path)

    assert delete_compacted(spark, Storage(), day) == (
        0,
        "the history of group_partitions lacks rows of 3 of its runs, or has them twice",
    )
    compact_all(spark, tmp_path)

    assert len(history(tmp_path)) == 12
    assert {row["taken_at"] for row in history(tmp_path)} == {minute(n) for n in range(3)}


def test_rows_whose_objects_are_gone_in_part_stay(spark: SparkSession, tmp_path: Path) -> None:
    write_minutes(tmp_path, range(1))
    objects = [*(tmp_path / "snapshots/group_partitions").rglob("*.parquet")]
    shards = [
        path.with_name(path.name.replace("0of1", f"{n}of2")) for path in objects for n in (0, 1)
    ]
    for shard in shards:
        shutil.copy(objects[0], shard)
    objects[0].unlink()
    compact_all(spark, tmp_path)
    assert len(history(tmp_path)) == 8

    shards[1].unlink()
    compact_all(spark, tmp_path)

    assert len(history(tmp_path)) == 8


def test_a_failure_leaves_whole_files_only(spark: SparkSession, tmp_path: Path) -> None:
    write_minutes(tmp_path, range(2))
    day = found(tmp_path)
    objects = list((tmp_path / "snapshots").rglob("*.parquet"))
    day = day.counted({str(path): pq.read_metadata(path).num_rows for path in objects})
    bad = [next(p for p in objects if name in p.parts) for name in ("groups", "topic_partitions")]
    for path in bad:
        path.write_bytes(b"no Parquet")

    with pytest.raises(DataError) as failure:
        compact_day(spark, Storage(), day)

    # each file's, as to go on without one costs the whole work again
    assert all(f"cannot read {path}: its rows" in str(failure.value) for path in bad)
    assert [len(history(tmp_path, name)) for name in SNAPSHOTS] == [0, 8, 0]
    assert not list((tmp_path / "history").rglob(".*"))


def test_a_history_that_is_damaged_is_named_and_stays(spark: SparkSession, tmp_path: Path) -> None:
    write_minutes(tmp_path, range(2))
    compact_all(spark, tmp_path)
    (file,) = (tmp_path / "history" / "topic_partitions").rglob("*.parquet")
    data = bytearray(file.read_bytes())
    footer = int.from_bytes(data[-8:-4], "little")
    data[4:100] = bytes(96)
    file.write_bytes(data)
    assert footer < len(data) - 100
    write_minutes(tmp_path, range(2, 3))

    with pytest.raises(DataError, match=f"cannot read .*{file.name}"):
        compact_all(spark, tmp_path)

    assert file.read_bytes() == data


# Most rows of a stretch, files, and bytes of a file -> the rows of each file's stretches.
SIZES: dict[str, tuple[dict[str, Any], list[list[int]]]] = {
    "a file a stretch": ({"most": 8}, [[8], [8], [8]]),
    "no more files, but more stretches": ({"most": 4, "files": 2}, [[4] * 3, [4] * 3]),
    "more files, where these would be too large": (
        {"most": 4, "files": 2, "file_bytes": 1},
        [[4]] * 6,
    ),
}


@pytest.mark.parametrize("case", SIZES)
def test_a_large_day_has_several_files_in_the_order_of_time(tmp_path: Path, case: str) -> None:
    write_minutes(tmp_path, range(6))
    day, _ = skip_corrupt_objects(Storage(), found(tmp_path), lambda usable: usable)
    limits, rows = SIZES[case]

    made = plan_parts(
        "group_partitions", day.usable("group_partitions"), day.rows, "/made", **limits
    )

    assert [[stretch.rows for stretch in part.stretches] for part in made] == rows
    assert len({part.target for part in made}) == len(made)
    in_order = [source for part in made for each in part.stretches for source in each.sources]
    assert in_order == sorted(in_order)


def test_a_run_in_shards_lies_in_one_stretch(tmp_path: Path) -> None:
    write_minutes(tmp_path, range(2))
    for path in list((tmp_path / "snapshots/group_partitions").rglob("*.parquet")):
        shutil.copy(path, path.with_name(path.name.replace("0of1", "1of2")))
    day, _ = skip_corrupt_objects(Storage(), found(tmp_path), lambda usable: usable)

    made = plan_parts("group_partitions", day.usable("group_partitions"), day.rows, "/made", most=4)

    stretches = [stretch.sources for part in made for stretch in part.stretches]
    assert [len(sources) for sources in stretches] == [2, 2]
    assert all(len({source[-23:-13] for source in sources}) == 1 for sources in stretches)


def rises(root: Path, dataset: str, column: str) -> dict[datetime, set[int | None]]:
    """Of each run, what its rows say."""
    found: dict[datetime, set[int | None]] = {}
    for row in history(root, dataset):
        found.setdefault(row["taken_at"], set()).add(row[column])
    return dict(sorted(found.items()))


def test_each_file_goes_on_where_the_run_before_it_was(tmp_path: Path) -> None:
    write_minutes(tmp_path, range(4))
    # what was not read repeats what was known
    unread = topic_row(0, 11, unread_reason="timeout", read_at=minute(1))
    write_run(tmp_path, "topic_partitions", [unread], at=minute(2))
    day, _ = skip_corrupt_objects(Storage(), found(tmp_path), lambda usable: usable)
    runs, folder = (
        day.usable("topic_partitions"),
        str(tmp_path / "history/topic_partitions"),
    )

    made = plan_parts("topic_partitions", runs, day.rows, folder, most=1, usable=runs)
    for part in made:
        compact(part, Storage())

    assert len(made) == 4
    assert rises(tmp_path, "topic_partitions", "produced") == {
        minute(0): {None},
        minute(1): {1},
        minute(2): {None},
        minute(3): {2},
    }


def test_a_run_that_is_added_between_others_changes_the_rises_after_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_minutes(tmp_path, range(4))
    late = tmp_path / "late"
    for path in list((tmp_path / "snapshots").rglob("*T1202*.parquet")):
        path.rename(late.with_name(f"{path.parts[-5]}.late"))
    compact_all(spark, tmp_path)
    before = rises(tmp_path, "topic_partitions", "produced")
    for path in tmp_path.glob("*.late"):
        (place,) = (tmp_path / "snapshots" / path.stem).rglob("hour=12")
        path.rename(place / f"{minute(2):%Y%m%dT%H%M%S}Z-0of1.parquet")

    compact_all(spark, tmp_path)

    assert before == {minute(0): {None}, minute(1): {1}, minute(3): {2}}
    assert rises(tmp_path, "topic_partitions", "produced") == {
        minute(0): {None},
        **{minute(number): {1} for number in (1, 2, 3)},
    }
    assert len(history(tmp_path)) == 16


def changed(path: Path, column: str, values: pa.Array | None) -> None:
    """The same file with another column, or without it."""
    table = pq.ParquetFile(path).read()
    place = table.schema.get_field_index(column)
    table = table.remove_column(place)
    pq.write_table(table if values is None else table.append_column(column, values), path)


def test_objects_are_not_deleted_for_a_history_of_other_offsets(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_minutes(tmp_path, range(3))
    compact_all(spark, tmp_path)
    (file,) = (tmp_path / "history" / "topic_partitions").rglob("*.parquet")
    # of one run, and all rows are there
    changed(file, "end_offset", pa.array([10, 11, 13], pa.int64()))

    done = delete_compacted(spark, Storage(), found(tmp_path))

    assert done == (0, "the history of topic_partitions has other offsets in 1 of its runs")
    assert len(list((tmp_path / "snapshots").rglob("*.parquet"))) == 9
    changed(file, "end_offset", pa.array([10, 11, 12], pa.int64()))
    assert delete_compacted(spark, Storage(), found(tmp_path)) == (9, None)
