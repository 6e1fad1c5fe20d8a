# SPDX-License-Identifier: Apache-2.0
"""What is usual for groups that are alike from week to week, and for those that are not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.tables.usual import usual_figures
from tests.glue_jobs.days import Row

pytestmark = pytest.mark.spark

MONDAY = date(2026, 1, 5)
HOUR = 12
COLUMNS = (
    "dt string, consumer_group string, hour int, lag double, lag_high double,"
    " lag_deviation double, time_lag_seconds double, time_lag_high double,"
    " time_lag_deviation double, produce_rate double, produce_rate_max double,"
    " produce_rate_deviation double"
)


def scattered(part: float, high: float | None = 1.0) -> Callable[[int], tuple[float, float | None]]:
    """A mean lag of 1,000 that lies so far off, more and less in turn; and the most of the hour."""

    def of_week(week: int) -> tuple[float, float | None]:
        lag = 1_000.0 * (1 + part * (1 if week % 2 else -1))
        return lag, None if high is None else lag * high

    return of_week


def reaching(most: float, *weeks: int) -> Callable[[int], tuple[float, float | None]]:
    """A mean lag of 1,000, of which runs had so much in these weeks."""
    return lambda week: (1_000.0, most if week in weeks else 1_000.0)


# Weeks, what each of their days has at noon, and the spread of the lag: None without a row. A tenth
# of the usual value stands for no spread, so 350 more are three and a half spreads.
CASES: dict[str, tuple[int, Callable[[int], tuple[float, float | None]], float | None]] = {
    "alike": (6, scattered(0.0), 0.0),
    "scattered by less than a quarter": (6, scattered(0.24), 480.0),
    "scattered by more": (6, scattered(0.26), 304.0),
    "scattered, and nobody knows the most": (6, scattered(0.26, None), 520.0),
    "scattered, twice as much within the hour": (6, scattered(0.26, 2.0), 808.0),
    "far off in one week": (6, reaching(10_000.0, 3), 0.0),
    "far off in two weeks": (6, reaching(10_000.0, 0, 3), 3_800.0),
    "nearly far off in two weeks": (6, reaching(1_351.0, 0, 3), 340.4),
    "not quite so far off": (6, reaching(1_349.0, 0, 3), 0.0),
    "four weeks": (4, scattered(0.0), 0.0),
    "three weeks": (3, scattered(0.0), None),
}


@pytest.fixture(name="spreads", scope="module")
def _spreads(spark: SparkSession) -> dict[str, Row]:
    rows = [
        (
            *(str(MONDAY + timedelta(weeks=week, days=day)), case, HOUR),
            *(*of_week(week), 0.0),
            *(None,) * 6,
        )
        for case, (weeks, of_week, _) in CASES.items()
        for week in range(weeks)
        for day in range(7)
    ]
    figures = usual_figures(spark.createDataFrame(rows, COLUMNS)).where("weekday = 3")
    return {row["consumer_group"]: row.asDict() for row in figures.collect()}


@pytest.mark.parametrize("case", CASES)
def test_the_spread_of_single_runs(spreads: dict[str, Row], case: str) -> None:
    _, _, spread = CASES[case]
    if spread is None:
        assert case not in spreads
    else:
        found = spreads[case]
        assert (found["usual_lag"], found["lag_spread"]) == (1_000.0, pytest.approx(spread))
