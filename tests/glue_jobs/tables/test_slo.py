# SPDX-License-Identifier: Apache-2.0
"""Minutes of an objective that were kept, broken and unknown in the days of its window."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from kafka_lag_report.schemas import report_schema
from kafka_lag_report.tables.slo import add_windows
from tests.glue_jobs.days import Row

MIDNIGHT = datetime(2026, 1, 31, tzinfo=UTC)
DAY = MIDNIGHT.date()
DAY_MINUTES = 24 * 60


def of_day(day: date, broken: float, unknown: float = 0.0, **more: Any) -> pa.Table:
    """A whole day of a group, as its report has it without a window."""
    begin = MIDNIGHT + (day - DAY)
    row = {
        "consumer_group": "billing",
        "age_seconds": 60.0,
        "target": 99.0,
        "days": 7,
        "since": begin,
        "until": begin + timedelta(days=1),
        "kept_minutes": DAY_MINUTES - broken - unknown,
        "broken_minutes": broken,
        "unknown_minutes": unknown,
        **more,
    }
    return pa.Table.from_pylist([row], report_schema("slo"))


def windows(today: pa.Table, **before: pa.Table) -> Row:
    """The row of today beside tables of so many days before, as `d3`."""
    earlier = {DAY - timedelta(days=int(name[1:])): table for name, table in before.items()}
    (row,) = add_windows(today, DAY, earlier).to_pylist()
    return dict(row)


def back(days: int) -> date:
    return DAY - timedelta(days=days)


def test_a_window_has_its_days_and_none_before() -> None:
    row = windows(of_day(DAY, 5), d6=of_day(back(6), 40), d7=of_day(back(7), 999))
    assert row["window_broken_minutes"] == 45
    assert row["budget_left_minutes"] == pytest.approx(100.8 - 45)


def test_days_without_a_report_are_unknown() -> None:
    row = windows(of_day(DAY, 5, 10), d3=of_day(back(3), 40, 20))
    assert row["window_unknown_minutes"] == 30 + 2 * DAY_MINUTES


def test_days_by_another_age_are_unknown() -> None:
    row = windows(of_day(DAY, 5), d1=of_day(back(1), 40, age_seconds=30.0))
    assert (row["window_broken_minutes"], row["window_unknown_minutes"]) == (5, DAY_MINUTES)


def test_who_had_an_objective_the_day_before_is_expected_from_midnight_on() -> None:
    late = of_day(DAY, 0, since=MIDNIGHT + timedelta(minutes=600), kept_minutes=DAY_MINUTES - 600.0)
    assert windows(late)["unknown_minutes"] == 0
    assert windows(late, d1=of_day(back(1), 0))["unknown_minutes"] == 600
