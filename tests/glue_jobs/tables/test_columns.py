# SPDX-License-Identifier: Apache-2.0
"""Every report has the columns that it declares; who writes it puts them in order."""

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StructField

from kafka_lag_report.aggregates import Keeper, reduce_day
from kafka_lag_report.partials import DayRows
from kafka_lag_report.schemas import REPORTS
from kafka_lag_report.tables.anomalies import anomalies
from kafka_lag_report.tables.hotspots import broker_hotspots, consumer_hotspots
from kafka_lag_report.tables.lag_hourly import lag_hourly
from kafka_lag_report.tables.lag_summary import lag_summary
from kafka_lag_report.tables.partition_skew import partition_skew
from kafka_lag_report.tables.retention_risk import retention_risk
from kafka_lag_report.tables.slo import slo
from kafka_lag_report.tables.tasks_needed import tasks_needed
from tests.glue_jobs.days import frame
from tests.glue_jobs.tables.test_coverage import DATE

pytestmark = pytest.mark.spark


@pytest.fixture(name="reports", scope="module")
def _reports(spark: SparkSession) -> dict[str, DataFrame]:
    groups, group_rows, topic_rows = (
        frame(spark, name, []) for name in ("groups", "group_partitions", "topic_partitions")
    )
    day = reduce_day(groups, DayRows(group_rows), DayRows(topic_rows), Keeper())
    groups, runs, topic_runs = map(day.weights.weigh, (day.groups, day.runs, day.topic_runs))
    hourly = lag_hourly(groups)
    return {
        "lag_summary": lag_summary(groups, runs, day.segments),
        "lag_hourly": hourly,
        "anomalies": anomalies(hourly, hourly.withColumn("dt", sf.lit("2026-01-24"))),
        "broker_hotspots": broker_hotspots(day.segments, day.topic_segments),
        "consumer_hotspots": consumer_hotspots(day.segments),
        "partition_skew": partition_skew(day.segments, runs, day.topic_segments, topic_runs),
        "retention_risk": retention_risk(day.segments, day.topic_segments, DATE),
        "tasks_needed": tasks_needed(groups),
        "slo": slo(groups, DATE, in_progress=False),
    }


def typed(fields: list[StructField]) -> list[tuple[str, str]]:
    return sorted((field.name, field.dataType.simpleString()) for field in fields)


@pytest.mark.parametrize("name", sorted(REPORTS.keys() - {"coverage"}))
def test_the_report_has_the_columns_it_declares(reports: dict[str, DataFrame], name: str) -> None:
    assert typed(reports[name].schema.fields) == typed(REPORTS[name].fields)
