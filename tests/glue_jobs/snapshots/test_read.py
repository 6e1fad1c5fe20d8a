# SPDX-License-Identifier: Apache-2.0
"""Reading a day as rows."""

from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.read_snapshots import read
from kafka_lag_report.schemas import SNAPSHOTS
from kafka_lag_report.storage import Storage
from tests.glue_jobs.days import NOON, group_row, minute, topic_row, write_run
from tests.glue_jobs.snapshots.places import (
    DATE,
    clusters,
    found,
    rewrite,
    without,
    write_history,
    write_runs,
)

pytestmark = pytest.mark.spark

ODD = "blå & 1/2"
ROW = group_row(0, 9, 0, 10)


@pytest.mark.parametrize("dataset", list(SNAPSHOTS))
def test_every_column_has_its_declared_type(
    dataset: str, spark: SparkSession, tmp_path: Path
) -> None:
    write_run(tmp_path, dataset, [{"unread_reason": None}])

    rows = read(spark, Storage(), found(tmp_path), dataset)

    assert rows.schema.fields == SNAPSHOTS[dataset].fields
    assert rows.selectExpr("hour(taken_at)").collect() == [(12,)]


def test_only_the_days_folders_are_read(spark: SparkSession, tmp_path: Path) -> None:
    write_run(tmp_path, "group_partitions", [group_row(0, 9, 0, 10)], at=minute(0))
    write_run(tmp_path, "group_partitions", [group_row(1, 9, 0, 10)], at=minute(90))
    late = write_run(tmp_path, "group_partitions", [], at=NOON + timedelta(days=1))
    late.write_text("not even Parquet")

    rows = read(spark, Storage(), found(tmp_path), "group_partitions")

    assert {row["partition_id"] for row in rows.collect()} == {0, 1}


def test_a_file_under_another_name_is_no_snapshot(spark: SparkSession, tmp_path: Path) -> None:
    path = write_run(tmp_path, "group_partitions", [ROW])
    path.with_suffix(".parquet.part").write_text("being written")

    assert read(spark, Storage(), found(tmp_path), "group_partitions").count() == 1


@pytest.mark.parametrize("name", [ODD, "007", "[1]"])
@pytest.mark.parametrize("flawed", [False, True], ids=["whole hours", "single objects"])
def test_a_cluster_is_read_whatever_its_name(
    flawed: bool, name: str, spark: SparkSession, tmp_path: Path
) -> None:
    for number in range(2):
        row, folder = group_row(0, 0, 0, number), quote(name, safe="")
        write_run(tmp_path, "group_partitions", [row], folder=folder, at=minute(number))
    write_run(tmp_path, "group_partitions", [ROW], folder="demo")
    day = clusters(tmp_path)[name]
    if flawed:
        day = day.without({day.runs["group_partitions"][0].path: "bad"})

    rows = read(spark, Storage(), day, "group_partitions").collect()

    assert sorted(row["lag"] for row in rows) == ([1] if flawed else [0, 1])


def test_a_folder_named_like_a_pattern_is_a_folder(spark: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "state [1] {a,b}*"
    write_run(root, "group_partitions", [ROW])

    assert read(spark, Storage(), found(root), "group_partitions").count() == 1


def test_a_missing_dataset_has_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    write_run(tmp_path, "topic_partitions", [topic_row(0, 10)])

    rows = read(spark, Storage(), found(tmp_path), "group_partitions")

    assert rows.count() == 0
    assert rows.schema.fields == SNAPSHOTS["group_partitions"].fields


def test_a_column_that_a_file_lacks_is_null(spark: SparkSession, tmp_path: Path) -> None:
    path = write_run(tmp_path, "groups", [{"consumer_group": "billing", "status_since": NOON}])
    rewrite(path, without(path, "status_since"), version="1")

    (row,) = read(spark, Storage(), found(tmp_path), "groups").collect()

    assert (row["status_since"], row["consumer_group"]) == (None, "billing")


def test_what_is_left_out_is_not_read_and_its_hour_is(spark: SparkSession, tmp_path: Path) -> None:
    late = write_run(tmp_path, "group_partitions", [group_row(0, 0, 0, 90)], at=minute(90))
    paths = write_runs(tmp_path, 3)
    day = found(tmp_path).without({str(paths[1]): "bad", str(late) + "x": "not there"})

    rows = read(spark, Storage(), day, "group_partitions")

    assert sorted(row["lag"] for row in rows.collect()) == [0, 2, 90]


def test_a_day_in_progress_is_read_as_it_was_found(spark: SparkSession, tmp_path: Path) -> None:
    write_runs(tmp_path, 2)
    day = found(tmp_path, today=DATE)
    write_run(tmp_path, "group_partitions", [ROW], at=minute(2))

    assert read(spark, Storage(), day, "group_partitions").count() == 2


def test_a_compacted_day_is_read_from_the_history(spark: SparkSession, tmp_path: Path) -> None:
    first, *_ = write_runs(tmp_path, 3)
    write_history(tmp_path, "group_partitions", first)
    day = found(tmp_path).from_history()

    assert read(spark, Storage(), day, "group_partitions").count() == 1
    assert read(spark, Storage(), day, "groups").count() == 0
    assert day.source == "snapshots"
