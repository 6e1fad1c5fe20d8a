# SPDX-License-Identifier: Apache-2.0
"""A day's work without its bad objects."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.errors import DataError
from kafka_lag_report.read_snapshots import (
    Day,
    read,
    skip_corrupt_objects,
)
from kafka_lag_report.schemas import SNAPSHOTS
from kafka_lag_report.storage import Storage
from tests.glue_jobs.days import group_row, minute, write_run
from tests.glue_jobs.snapshots.places import (
    damage_pages,
    found,
    rewrite,
    with_text,
    write_history,
    write_runs,
)

Spoil = Callable[[Path], object]
SPOILT: dict[str, tuple[Spoil, str]] = {
    "cut off": (lambda p: p.write_bytes(p.read_bytes()[:900]), "not a Parquet file"),
    "column of another type": (lambda p: rewrite(p, with_text(p, "lag")), "lag is string"),
    "pages damaged": (damage_pages, "its rows cannot be decoded"),
    "another name": (
        lambda p: p.rename(p.with_name("copy.parquet")),
        "its name does not fit a run",
    ),
}


def lags(spark: SparkSession) -> Callable[[Day], list[int]]:
    def work(day: Day) -> list[int]:
        return sorted(
            row["lag"] for row in read(spark, Storage(), day, "group_partitions").collect()
        )

    return work


@pytest.mark.parametrize(("spoil", "words"), SPOILT.values(), ids=SPOILT)
def test_one_bad_object_is_left_out_and_said_why(
    spoil: Spoil, words: str, spark: SparkSession, tmp_path: Path
) -> None:
    paths = write_runs(tmp_path, 3)
    spoil(paths[1])

    day, result = skip_corrupt_objects(Storage(), found(tmp_path), lags(spark))

    assert result == [0, 2]
    (left,) = day.skipped("group_partitions")
    assert words in day.flaws[left.path]
    assert {Path(run.path) for run in day.usable("group_partitions")} == {
        paths[0],
        paths[2],
    }


def test_two_bad_objects_of_199_stop_the_run(spark: SparkSession, tmp_path: Path) -> None:
    paths = write_runs(tmp_path, 199)
    for path in paths[:2]:
        path.write_text("no")

    with pytest.raises(DataError, match="as are 1 more of the 199 objects") as raised:
        skip_corrupt_objects(Storage(), found(tmp_path), lags(spark))

    assert str(paths[0]) in str(raised.value)


def test_one_in_a_hundred_may_be_skipped(tmp_path: Path) -> None:
    paths = [write_run(tmp_path, "groups", [], at=minute(number)) for number in range(200)]
    for path in paths[:2]:
        path.write_text("no")

    day, _ = skip_corrupt_objects(Storage(), found(tmp_path), lambda _: None)

    assert len(day.flaws) == 2


def test_each_dataset_may_lose_one(tmp_path: Path) -> None:
    for dataset in SNAPSHOTS:
        write_run(tmp_path, dataset, [])
        write_run(tmp_path, dataset, [], at=minute(1)).write_text("no")

    day, _ = skip_corrupt_objects(Storage(), found(tmp_path), lambda _: None)

    assert len(day.flaws) == len(SNAPSHOTS)


def test_a_failure_that_blames_no_object_of_the_day_passes(tmp_path: Path) -> None:
    write_run(tmp_path, "groups", [])
    failure = DataError("the session was stopped")

    def work(_: Day) -> None:
        raise failure

    with pytest.raises(DataError) as raised:
        skip_corrupt_objects(Storage(), found(tmp_path), work)

    assert raised.value is failure


def test_an_object_that_vanishes_at_work_is_no_bad_one(spark: SparkSession, tmp_path: Path) -> None:
    paths = write_runs(tmp_path, 3)
    days: list[Day] = []

    def work(day: Day) -> None:
        days.append(day)
        rows = read(spark, Storage(), day, "group_partitions")
        paths[1].unlink(missing_ok=True)
        rows.collect()

    with pytest.raises(DataError, match=str(paths[1])):
        skip_corrupt_objects(Storage(), found(tmp_path), work)

    assert len(days) == 1


def test_a_broken_file_of_the_history_is_named(spark: SparkSession, tmp_path: Path) -> None:
    made = write_run(tmp_path / "made", "group_partitions", [group_row(0, 0, 0, 1)])
    write_history(tmp_path, "group_partitions", made).write_text("no")

    with pytest.raises(DataError, match=r"history/.*part-0.parquet: .*restore or remove"):
        skip_corrupt_objects(Storage(), found(tmp_path), lags(spark))
