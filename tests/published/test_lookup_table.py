# SPDX-License-Identifier: Apache-2.0
"""kafka-lag-exporter's published cases, each run through our whole evaluation, without look-ups.

A run sees each point as the log's end; the last run also sees the commit in question. Times are
hours here, so that rounding removes the fifth of a second that a reading takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import LagReport
from tests.builders import HOUR, NOON, table
from tests.published.lookup_table_cases import (
    CASES,
    FIRST,
    LAG_IS_ZERO,
    NOTHING,
    REFUSED,
    TOO_FEW_POINTS,
    Case,
    Point,
    Refused,
)
from tests.published.runs import Look, last_report

# Kafka has no offsets below 0, where some cases go.
_UP = 100_000
_CLOSE = 0.000_1

every_case = pytest.mark.parametrize("case", [pytest.param(c, id=i) for i, c in CASES.items()])


def look(point: Point, asked: int | None = None) -> Look:
    end, time = point
    return Look(NOON + time * HOUR, _UP + end, None if asked is None else _UP + asked)


def run(points: Sequence[Point], asked: int) -> LagReport:
    *before, last = [look(point) for point in points] or [Look(NOON, None)]
    return last_report([*before, replace(last, commit=_UP + asked)], Rules())


def reported(report: LagReport) -> tuple[float | None, float | None, str | None]:
    """Since when, in hours, how far off at most, and how that is known."""
    names = ("read_at", "time_lag_seconds", "time_lag_error_seconds", "time_lag_method")
    ((read_at, seconds, error, method),) = table(report.snapshot.group_partitions, *names)
    if seconds is None:
        return None, None, method
    return (read_at - NOON) / HOUR - seconds / 3_600, error and error / 3_600, method


@every_case
def test_a_time_is_told_by_the_log_ends_alone(case: Case) -> None:
    time, _, method = reported(run(case.points, case.asked))

    assert method == case.method
    assert (time is None) == (case.ours is None)
    if time is not None:
        assert time == pytest.approx(case.ours, rel=0, abs=_CLOSE)


@every_case
def test_a_reason_stands_where_theirs_is_not_within_ours_and_nowhere_else(case: Case) -> None:
    time, error, method = reported(run(case.points, case.asked))

    if isinstance(case.theirs, str):
        same = method == {TOO_FEW_POINTS: None, LAG_IS_ZERO: NOTHING}[case.theirs]
    else:
        assert time is not None, "theirs predicts more than ours says: that needs a word here"
        same = error is not None and abs(case.theirs - time) <= error + _CLOSE
    assert bool(case.why) == (not same)


@pytest.mark.parametrize("case", [pytest.param(c, id=str(c.point)) for c in REFUSED])
def test_a_point_that_theirs_refuses_takes_the_place_of_the_one_before(case: Refused) -> None:
    report = last_report([look(FIRST, -10), look(case.point, -10)], Rules())

    assert reported(report) == (None, None, None)
    assert table(report.snapshot.group_partitions, "lag") == [(case.point[0] + 10,)]
    assert any(case.warning in line for line in report.warnings)
