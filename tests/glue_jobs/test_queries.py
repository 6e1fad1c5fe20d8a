# SPDX-License-Identifier: Apache-2.0
"""The files of the report's SQL, and their runner."""

from importlib.resources import files
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.queries import Queries, read_statement

ROOT = Path(str(files("kafka_lag_report"))) / "sql"
STATEMENTS = sorted(str(path.relative_to(ROOT).with_suffix("")) for path in ROOT.rglob("*.sql"))


@pytest.mark.parametrize("path", STATEMENTS)
def test_a_file_says_what_a_row_is_before_its_only_statement(path: str) -> None:
    licence, says, *_ = (ROOT / f"{path}.sql").read_text("utf-8").splitlines()

    assert licence == "-- SPDX-License-Identifier: Apache-2.0"
    assert says.startswith("-- A row is ")
    assert read_statement(path).lstrip().startswith(("SELECT", "WITH"))
    assert ";" not in read_statement(path)


@pytest.mark.spark
def test_statements_use_constants_of_thresholds_and_of_the_day(spark: SparkSession) -> None:
    queries = Queries(spark, interval_seconds=60.0)
    rows = [("even", 8.0), ("even", 8.0), ("even", 9.0), ("hot", 1.0), ("hot", 9.0)]
    columns = "topic string, produce_rate double"
    read = "current_timestamp() AS taken_at, CAST(NULL AS string) AS unread_reason"
    queries.view(
        "topic_partitions", spark.createDataFrame(rows, columns).selectExpr("*", *read.split(", "))
    )
    queries.view("runs", spark.createDataFrame([], "taken_at timestamp, weight double"))

    found = {row["topic"]: row for row in queries.run("reductions/topic_runs").collect()}

    assert {topic: row["is_skewed"] for topic, row in found.items()} == {"even": False, "hot": True}
    assert found["hot"]["weight"] == 60.0


@pytest.mark.spark
def test_kept_rows_stay_while_a_view_of_a_statement_follows_its_views(
    spark: SparkSession,
) -> None:
    columns = "topic string, topic_id string, partition_id int, ends bigint, end_first bigint"
    columns += ", end_last bigint, end_first_at bigint, end_last_at bigint"
    queries = Queries(spark)
    segments = spark.createDataFrame([("a", "id", 3, 2, 10, 14, 0, 60)], columns)
    queries.view("topic_segments", segments)
    queries.keep("reductions/production")
    queries.view("topic_segments", segments.limit(0))

    assert [row["produced"] for row in spark.table("production").collect()] == [4]
    queries.derive("reductions/production")
    assert spark.table("production").collect() == []
