# SPDX-License-Identifier: Apache-2.0
"""Every report has the columns that it declares, in their order."""

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from kafka_lag_report.reports.anomalies import anomalies
from kafka_lag_report.reports.broker_hotspots import broker_hotspots
from kafka_lag_report.reports.consumer_hotspots import consumer_hotspots
from kafka_lag_report.reports.lag_hourly import lag_hourly
from kafka_lag_report.reports.lag_summary import lag_summary
from kafka_lag_report.schemas import CLUSTER, REPORTS
from tests.glue_jobs.days import frame
from tests.glue_jobs.reports.frames import (
    INTERVALS,
    MINUTES,
    SEGMENTS,
    TOPIC_SEGMENTS,
    WEIGHTS,
    rows_of,
)

pytestmark = pytest.mark.spark


@pytest.fixture(name="reports", scope="module")
def _reports(spark: SparkSession) -> dict[str, DataFrame]:
    groups = frame(spark, "groups", [])
    minutes, segments, topic_segments, weights, intervals = (
        rows_of(spark, schema, [])
        for schema in (MINUTES, SEGMENTS, TOPIC_SEGMENTS, WEIGHTS, INTERVALS)
    )
    hourly = lag_hourly(groups, weights)
    return {
        "lag_summary": lag_summary(groups, minutes, segments, weights, intervals),
        "lag_hourly": hourly,
        "anomalies": anomalies(hourly, hourly.withColumn("dt", sf.lit("2026-01-24"))),
        "broker_hotspots": broker_hotspots(segments, topic_segments),
        "consumer_hotspots": consumer_hotspots(segments),
    }


NAMES = ("lag_summary", "lag_hourly", "anomalies", "broker_hotspots", "consumer_hotspots")


@pytest.mark.parametrize("name", NAMES)
def test_the_report_has_the_columns_it_declares(reports: dict[str, DataFrame], name: str) -> None:
    declared = StructType([CLUSTER, *REPORTS[name].fields])

    found = [(field.name, field.dataType) for field in reports[name].schema]
    assert found == [(field.name, field.dataType) for field in declared]
