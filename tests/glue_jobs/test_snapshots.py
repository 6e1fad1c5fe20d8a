# SPDX-License-Identifier: Apache-2.0
"""Finding and reading a day of snapshots."""

from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from glue_jobs.schemas import CLUSTER, SNAPSHOTS
from glue_jobs.storage.files import Files
from glue_jobs.storage.snapshots import find_day, read
from tests.glue_jobs.days import NOON, group_row, minute, topic_row, write_run

pytestmark = pytest.mark.spark

ODD = "blå & 1/2"


def rows_of(spark: SparkSession, root: Path, dataset: str = "group_partitions") -> DataFrame:
    return read(spark, find_day(Files(spark), str(root), NOON.date(), []), dataset)


@pytest.mark.parametrize("dataset", list(SNAPSHOTS))
def test_every_column_has_its_declared_type(
    dataset: str, spark: SparkSession, tmp_path: Path
) -> None:
    write_run(tmp_path, dataset, [{"unread_reason": None}])

    rows = rows_of(spark, tmp_path, dataset)

    assert rows.schema.fields == [CLUSTER, *SNAPSHOTS[dataset].fields]
    assert rows.selectExpr("cluster", "hour(taken_at)").collect() == [("demo", 12)]


def test_only_the_days_folders_are_read(spark: SparkSession, tmp_path: Path) -> None:
    write_run(tmp_path, "group_partitions", [group_row(0, 9, 0, 10)], at=minute(0))
    write_run(tmp_path, "group_partitions", [group_row(1, 9, 0, 10)], at=minute(90))
    late = write_run(tmp_path, "group_partitions", [], at=NOON + timedelta(days=1))
    late.write_text("not even Parquet")

    partitions = {row["partition_id"] for row in rows_of(spark, tmp_path).collect()}

    assert partitions == {0, 1}


def test_a_file_under_another_name_is_no_snapshot(spark: SparkSession, tmp_path: Path) -> None:
    path = write_run(tmp_path, "group_partitions", [group_row(0, 9, 0, 10)])
    path.with_suffix(".parquet.part").write_text("being written")

    assert rows_of(spark, tmp_path).count() == 1


def test_cluster_names_come_back_as_they_were(spark: SparkSession, tmp_path: Path) -> None:
    for folder in (quote(ODD, safe=""), "007", "demo"):
        write_run(tmp_path, "group_partitions", [group_row(0, 9, 0, 10)], folder=folder)

    assert {row["cluster"] for row in rows_of(spark, tmp_path).collect()} == {ODD, "007", "demo"}


def test_a_folder_named_like_a_pattern_is_a_folder(spark: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "state [1] {a,b}*"
    write_run(root, "group_partitions", [group_row(0, 9, 0, 10)])

    assert rows_of(spark, root).count() == 1


def test_a_missing_dataset_has_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    write_run(tmp_path, "topic_partitions", [topic_row(0, 10)])

    rows = rows_of(spark, tmp_path)

    assert rows.count() == 0
    assert rows.schema.fields == [CLUSTER, *SNAPSHOTS["group_partitions"].fields]


def test_a_column_that_a_file_lacks_is_null(spark: SparkSession, tmp_path: Path) -> None:
    path = write_run(tmp_path, "group_partitions", [group_row(0, 9, 0, 10)])
    pq.write_table(pq.ParquetFile(path).read().drop_columns(["lag"]), path)

    (row,) = rows_of(spark, tmp_path).collect()

    assert (row["lag"], row["end_offset"]) == (None, 10)
