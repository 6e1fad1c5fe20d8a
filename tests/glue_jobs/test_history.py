# SPDX-License-Identifier: Apache-2.0
"""A day's history: the snapshots' rows, sorted, and never fewer rows than before."""

import shutil
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.errors import DataError
from kafka_lag_report.history import compact_day, delete_compacted
from kafka_lag_report.publishing import find_unfinished
from kafka_lag_report.read_snapshots import (
    Day,
    check_objects,
    find_days,
    read_small_day,
    skip_corrupt_objects,
)
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


def test_a_job_that_was_killed_while_it_replaced_files_is_finished_by_the_next(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_minutes(tmp_path, range(2))
    compact_all(spark, tmp_path)
    write_minutes(tmp_path, range(2, 3))
    monkeypatch.setattr(Storage, "move", kill)

    with pytest.raises(Killed):
        compact_all(spark, tmp_path)
    monkeypatch.undo()
    for finish in find_unfinished(Storage(), str(tmp_path / "history")).values():
        finish()

    assert {row["taken_at"] for row in history(tmp_path)} == {minute(n) for n in range(3)}
    assert len(history(tmp_path)) == 12


class Killed(BaseException):
    """What no handler of errors sees."""


def kill(*_: Any) -> None:
    raise Killed


def test_names_come_before_times_and_are_compared_byte_by_byte(
    spark: SparkSession, tmp_path: Path
) -> None:
    # above the basic plane UTF-16 sorts otherwise than UTF-8
    names = ("\U0001f600", "\uff5e", "zebra", "Ant")
    for number in (1, 0):
        rows = [group_row(p, 5, 0, 9, consumer_group=g) for g in names for p in (1, 0)]
        write_run(tmp_path, "group_partitions", rows, at=minute(number))
    compact_all(spark, tmp_path)

    found = [(r["consumer_group"], r["partition_id"], r["taken_at"]) for r in history(tmp_path)]
    assert len(found) == 16
    assert found == sorted(found, key=lambda row: (row[0].encode(), *row[1:]))


def test_times_in_microseconds_become_the_histories_milliseconds(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = write_run(tmp_path, "groups", [{"consumer_group": "a"}])
    table = pq.ParquetFile(path).read()
    fine = pa.array([minute(0) + timedelta(microseconds=1999)], pa.timestamp("us", tz="UTC"))
    place = table.schema.get_field_index("read_at")
    pq.write_table(table.set_column(place, "read_at", fine), path)
    compact_all(spark, tmp_path)

    (row,) = history(tmp_path, "groups")
    assert row["read_at"] == minute(0) + timedelta(milliseconds=1)


def test_rows_whose_objects_are_gone_in_part_stay(spark: SparkSession, tmp_path: Path) -> None:
    write_minutes(tmp_path, range(1))
    (whole,) = (tmp_path / "snapshots/group_partitions").rglob("*.parquet")
    rows = pq.ParquetFile(whole).read()
    shards = [whole.with_name(whole.name.replace("0of1", f"{n}of2")) for n in (0, 1)]
    for n, shard in enumerate(shards):
        pq.write_table(rows.slice(2 * n, 2), shard)
    whole.unlink()
    compact_all(spark, tmp_path)
    before = history(tmp_path)
    assert len(before) == 4

    shards[1].unlink()
    write_minutes(tmp_path, range(1, 2))
    compact_all(spark, tmp_path)

    assert [row for row in history(tmp_path) if row["taken_at"] == minute(0)] == before


def test_rows_that_are_there_twice_are_kept_once_and_hold_up_deletion(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_minutes(tmp_path, range(3))
    compact_all(spark, tmp_path)
    before = history(tmp_path)
    (file,) = (tmp_path / "history" / "group_partitions").rglob("*.parquet")
    shutil.copy(file, file.with_name("part-of-another-job.parquet"))
    for gone in (tmp_path / "snapshots").rglob("*T1201*.parquet"):
        gone.unlink()

    deleted, why_not = delete_compacted(spark, Storage(), found(tmp_path))
    compact_all(spark, tmp_path)

    assert (deleted, len(history(tmp_path))) == (0, len(before))
    assert why_not
    assert "group_partitions" in why_not
    assert history(tmp_path) == before
    assert delete_compacted(spark, Storage(), found(tmp_path)) == (6, None)


def test_a_folder_whose_name_is_a_pattern_is_that_folder(
    spark: SparkSession, tmp_path: Path
) -> None:
    root = tmp_path / "of [a-z]{1} and *"
    write_minutes(root, range(2))
    compact_all(spark, root)
    for gone in (root / "snapshots").rglob("*T1200*.parquet"):
        gone.unlink()
    write_minutes(root, range(2, 3))

    compact_all(spark, root)

    assert {row["taken_at"] for row in history(root)} == {minute(n) for n in range(3)}


def test_small_objects_may_hold_text_in_any_layout(spark: SparkSession, tmp_path: Path) -> None:
    write_minutes(tmp_path, range(3))
    layouts = (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()))
    objects = sorted((tmp_path / "snapshots" / "group_partitions").rglob("*.parquet"))
    for path, layout in zip(objects, layouts, strict=True):
        topics = pq.ParquetFile(path).read()["topic"].combine_chunks()
        as_said = topics.dictionary_encode() if pa.types.is_dictionary(layout) else topics
        changed(path, "topic", as_said.cast(layout))
    day, rows = read_small_day(Storage(), found(tmp_path))

    compact_day(spark, Storage(), day, rows)

    assert not day.flaws
    assert [row["topic"] for row in history(tmp_path)] == ["orders"] * 12


def test_a_failure_leaves_the_history_as_it_was(spark: SparkSession, tmp_path: Path) -> None:
    write_minutes(tmp_path, range(2))
    compact_all(spark, tmp_path)
    before = [history(tmp_path, name) for name in SNAPSHOTS]
    write_minutes(tmp_path, range(2, 3))
    day = check_objects(Storage(), found(tmp_path))
    more = {path: count + 1 for path, count in day.rows.items()}

    with pytest.raises(DataError, match=r"would have 3 rows, and 6 were counted; nothing was"):
        compact_day(spark, Storage(), replace(day, rows=more))

    assert [history(tmp_path, name) for name in SNAPSHOTS] == before
    assert not list((tmp_path / "history/_replacing").rglob("*.parquet"))


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


def test_a_large_day_has_several_files_and_each_log_lies_in_one(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafka_lag_report.history.FILE_ROWS", 4)
    write_minutes(tmp_path, range(6))
    compact_all(spark, tmp_path)

    files = sorted((tmp_path / "history" / "group_partitions").rglob("*.parquet"))
    logs = [
        {
            (row["consumer_group"], row["partition_id"])
            for row in pq.ParquetFile(file).read().to_pylist()
        }
        for file in files
    ]
    assert len(files) > 1
    assert sum(map(len, logs)) == 4
    assert len(history(tmp_path)) == 24


def rises(root: Path, dataset: str, column: str) -> dict[datetime, set[int | None]]:
    """Of each run, what its rows say."""
    found: dict[datetime, set[int | None]] = {}
    for row in history(root, dataset):
        found.setdefault(row["taken_at"], set()).add(row[column])
    return dict(sorted(found.items()))


def test_rows_that_were_not_read_have_no_rise(spark: SparkSession, tmp_path: Path) -> None:
    write_minutes(tmp_path, range(4))
    # what was not read repeats what was known
    unread = topic_row(0, 11, unread_reason="timeout", read_at=minute(1))
    write_run(tmp_path, "topic_partitions", [unread], at=minute(2))
    compact_all(spark, tmp_path)

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
