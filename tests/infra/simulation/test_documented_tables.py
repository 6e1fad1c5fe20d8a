# SPDX-License-Identifier: Apache-2.0
"""AWS's own examples, from "How alarm state is evaluated when data is missing"."""

from __future__ import annotations

import pytest

from kafka_lag_cdk.simulation.evaluation import (
    ALARM,
    INSUFFICIENT_DATA,
    OK,
    Counts,
    Point,
    state_of,
)

RETAIN = "retain"
TREATMENTS = ("missing", "ignore", "breaching", "notBreaching")
_POINTS: dict[str, Point] = {"0": False, "X": True, "-": None}

# Data points, oldest first, and the state for each treatment; the evaluation range is 5.
THREE_OF_THREE = {
    "0 - X - X": (OK, OK, OK, OK),
    "0 - - - -": (OK, OK, OK, OK),
    "- - - - -": (INSUFFICIENT_DATA, RETAIN, ALARM, OK),
    "0 X X - X": (ALARM, ALARM, ALARM, ALARM),
    "- - X - -": (ALARM, RETAIN, ALARM, OK),
}
TWO_OF_THREE = {
    "0 - X - X": (ALARM, ALARM, ALARM, ALARM),
    "0 0 X 0 X": (ALARM, ALARM, ALARM, ALARM),
    "0 - X - -": (OK, OK, ALARM, OK),
    "- - - - 0": (OK, OK, ALARM, OK),
    "- - - X -": (ALARM, RETAIN, ALARM, OK),
}
ROWS = [
    pytest.param(datapoints, treatment, row, expected, id=f"{datapoints} of 3, {treatment}, {row}")
    for datapoints, table in ((3, THREE_OF_THREE), (2, TWO_OF_THREE))
    for row, answers in table.items()
    for treatment, expected in zip(TREATMENTS, answers, strict=True)
]


def points(row: str) -> list[Point]:
    return [_POINTS[sign] for sign in row.split()]


@pytest.mark.parametrize(("datapoints", "treatment", "row", "expected"), ROWS)
@pytest.mark.parametrize("before", [OK, ALARM, INSUFFICIENT_DATA])
def test_the_state_is_the_one_that_aws_gives_in_its_example(
    datapoints: int, treatment: str, row: str, expected: str, before: str
) -> None:
    observed = state_of(points(row), Counts(datapoints, 3, treatment), before)
    assert observed == (before if expected == RETAIN else expected)


@pytest.mark.parametrize("row", ["- - - - X", "- - - X -"])
@pytest.mark.parametrize("undecided", ["retain", "OK"])
def test_a_lone_new_breach_after_a_gap_is_no_alarm_yet(row: str, undecided: str) -> None:
    observed = state_of(points(row), Counts(3, 3), INSUFFICIENT_DATA, undecided)
    assert observed == (OK if undecided == "OK" else INSUFFICIENT_DATA)


@pytest.mark.parametrize("row", ["- - - X 0", "- - X - 0"])
def test_a_breach_with_a_good_value_after_it_is_ok(row: str) -> None:
    assert state_of(points(row), Counts(3, 3), INSUFFICIENT_DATA) == OK


def test_only_as_many_of_the_newest_real_points_count_as_there_are_periods() -> None:
    assert state_of(points("X X 0 0 0"), Counts(2, 3), ALARM) == OK
