# SPDX-License-Identifier: Apache-2.0
"""Minutes of an SLO that were kept, broken and unknown in the days of its window."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from kafka_lag_report.queries import Queries
from kafka_lag_report.schemas import REPORTS
from tests.glue_jobs.days import Row, frame_of

pytestmark = pytest.mark.spark

MIDNIGHT = datetime(2026, 1, 31, tzinfo=UTC)
DAY = MIDNIGHT.date()
DAY_MINUTES = 24 * 60
BEFORE = StructType([*REPORTS["slo"].fields, StructField("dt", StringType())])


def of_day(day: date, broken: float, unknown: float = 0.0, **more: Any) -> Row:
    """A whole day of a group, as its report has it without a window."""
    begin = MIDNIGHT + (day - DAY)
    return {
        "consumer_group": "billing",
        "age_seconds": 60.0,
        "target": 99.0,
        "days": 7,
        "since": begin,
        "until": begin + timedelta(days=1),
        "kept_minutes": DAY_MINUTES - broken - unknown,
        "broken_minutes": broken,
        "unknown_minutes": unknown,
        "dt": str(day),
        **more,
    }


def windows(spark: SparkSession, today: Row, *before: Row) -> Row:
    """The row of today beside those of days before."""
    queries = Queries(spark, midnight=int(MIDNIGHT.timestamp()))
    of_day = [*REPORTS["slo"].names[:8]]
    queries.view("slo_days", frame_of(spark, BEFORE, [today]).select(*of_day))
    queries.view("past_slo", frame_of(spark, BEFORE, before))
    (row,) = queries.run("tables/slo").collect()
    return dict(row.asDict())


def back(days: int) -> date:
    return DAY - timedelta(days=days)


def test_a_window_has_its_days_and_none_before(spark: SparkSession) -> None:
    row = windows(spark, of_day(DAY, 5), of_day(back(6), 40), of_day(back(7), 999))
    assert row["window_broken_minutes"] == 45
    assert row["budget_left_minutes"] == pytest.approx(100.8 - 45)


def test_days_without_a_report_are_unknown(spark: SparkSession) -> None:
    row = windows(spark, of_day(DAY, 5, 10), of_day(back(3), 40, 20))
    assert row["window_unknown_minutes"] == 30 + 2 * DAY_MINUTES


def test_days_by_another_age_are_unknown(spark: SparkSession) -> None:
    row = windows(spark, of_day(DAY, 5), of_day(back(1), 40, age_seconds=30.0))
    assert (row["window_broken_minutes"], row["window_unknown_minutes"]) == (5, DAY_MINUTES)


def test_who_had_an_objective_the_day_before_is_expected_from_midnight_on(
    spark: SparkSession,
) -> None:
    late = of_day(DAY, 0, since=MIDNIGHT + timedelta(minutes=600), kept_minutes=DAY_MINUTES - 600.0)
    assert windows(spark, late)["unknown_minutes"] == 0
    assert windows(spark, late, of_day(back(1), 0))["unknown_minutes"] == 600
