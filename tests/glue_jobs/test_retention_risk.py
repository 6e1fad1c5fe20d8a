# SPDX-License-Identifier: Apache-2.0
"""Retention risk: the worst word and the worst moment of a day."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from glue_jobs.partition_day import group_partition_days
from glue_jobs.retention_risk import retention_risk
from glue_jobs.schemas import CLUSTER, RETENTION_RISK
from tests.glue_jobs.days import frame, group_row, minute

pytestmark = pytest.mark.spark

# words and losses of the runs -> the day's word
WORDS: dict[str, tuple[list[tuple[str | None, int | None]], str | None]] = {
    "lost in one run of three": ([(None, 0), (None, 5), (None, 0)], "LOST"),
    "lost, whatever the words say": ([("SAFE", 5), ("SAFE", 0)], "LOST"),
    "lost by the word alone": ([("LOST", 0)], "LOST"),
    "once at risk": ([("SAFE", 0), ("AT_RISK", 0)], "AT_RISK"),
    "safe whenever known": ([("SAFE", 0), (None, None)], "SAFE"),
    "no loss does not prove safety": ([(None, 0)], None),
    "nothing known": ([(None, None)], None),
}


def test_the_worst_word_of_the_day(spark: SparkSession) -> None:
    rows = [
        group_row(
            0, 9, 0, 10, topic=case, taken_at=minute(run), records_lost=lost, retention_risk=word
        )
        for case, (runs, _) in WORDS.items()
        for run, (word, lost) in enumerate(runs)
    ]
    report = retention_risk(group_partition_days(frame(spark, "group_partitions", rows)))

    words = {row["topic"]: row["retention_risk"] for row in report.collect()}

    assert words == {case: word for case, (_, word) in WORDS.items()}


def test_the_worst_moments_are_told_apart(spark: SparkSession) -> None:
    rows = [
        group_row(0, 90, 0, 100, taken_at=minute(0), seconds_until_loss=60.0),
        group_row(0, 95, 80, 100, taken_at=minute(1), seconds_until_loss=900.0),
        group_row(0, None, 90, 100, taken_at=minute(2)),
    ]
    report = retention_risk(group_partition_days(frame(spark, "group_partitions", rows)))

    row = report.selectExpr(
        "least_margin",
        "minute(least_margin_at)",
        "lag_at_least_margin",
        "least_seconds_until_loss",
        "minute(least_seconds_until_loss_at)",
    ).collect()[0]

    assert tuple(row) == (15, 1, 5, 60.0, 0)


def test_the_report_has_the_columns_it_declares(spark: SparkSession) -> None:
    empty = retention_risk(group_partition_days(frame(spark, "group_partitions", [])))

    declared = StructType([CLUSTER, *RETENTION_RISK.fields])
    assert [(f.name, f.dataType) for f in empty.schema] == [(f.name, f.dataType) for f in declared]
