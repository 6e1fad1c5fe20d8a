# SPDX-License-Identifier: Apache-2.0
"""Reading a day as rows."""

from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.read_snapshots import read
from kafka_lag_report.schemas import SNAPSHOTS
from kafka_lag_report.storage import Storage
from tests.glue_jobs.days import NOON, group_row, minute, write_run
from tests.glue_jobs.snapshots.places import (
    DATE,
    found,
    rewrite,
    without,
    write_runs,
)

pytestmark = pytest.mark.spark

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


def test_a_column_that_a_file_lacks_is_null(spark: SparkSession, tmp_path: Path) -> None:
    path = write_run(tmp_path, "groups", [{"consumer_group": "billing", "status_since": NOON}])
    rewrite(path, without(path, "status_since"), version="1")

    (row,) = read(spark, Storage(), found(tmp_path), "groups").collect()

    assert (row["status_since"], row["consumer_group"]) == (None, "billing")


def test_a_day_in_progress_is_read_as_it_was_found(spark: SparkSession, tmp_path: Path) -> None:
    write_runs(tmp_path, 2)
    day = found(tmp_path, today=DATE)
    write_run(tmp_path, "group_partitions", [ROW], at=minute(2))

    assert read(spark, Storage(), day, "group_partitions").count() == 2
