# SPDX-License-Identifier: Apache-2.0
"""AWS's own examples of states and of metric math, as its guide has them."""

from __future__ import annotations

import pytest

from dev.sim.cloudwatch import Point, calculate, state_of
from kafka_lag_config.simulation.evaluation import (
    ALARM,
    INSUFFICIENT_DATA,
    OK,
    Counts,
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


def points(row: str) -> list[Point]:
    return [_POINTS[sign] for sign in row.split()]


@pytest.mark.parametrize("before", [OK, ALARM, INSUFFICIENT_DATA])
@pytest.mark.parametrize(("datapoints", "table"), [(3, THREE_OF_THREE), (2, TWO_OF_THREE)])
def test_the_state_is_the_one_that_aws_gives_in_its_example(
    datapoints: int, table: dict[str, tuple[str, ...]], before: str
) -> None:
    for row, answers in table.items():
        observed = tuple(
            state_of(points(row), Counts(datapoints, 3, treatment), before)
            for treatment in TREATMENTS
        )
        assert observed == tuple(before if each == RETAIN else each for each in answers), row


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


VALUES = {"one": 1.0, "two": 2.0, "none": None}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("two", 2),
        ("two + 3 * one - 1", 4),
        ("-two / 4", -0.5),
        ("two / 0", None),
        ("two >= 2", 1),
        ("two > 2", 0),
        ("two != one", 1),
        ("none", None),
        ("one + 0 * none", None),
        ("-none", None),
        ("none > 1", None),
        ("FILL(none, 7)", 7),
        ("FILL(one, 7)", 1),
        ("FILL(none, -1) < 0", 1),
        ("IF(one, two, 9)", 2),
        ("IF(one > 1, two, 9)", 9),
        ("IF(none, two, 9)", None),
        ("IF(one, two, none)", 2),
        ("IF(one > 1, two, none)", None),
        ("MAX([one, two])", 2),
        ("MIN([one, two, none])", 1),
        ("MAX([none, none])", None),
    ],
)
def test_an_expression_has_the_value_that_the_guide_gives_it(
    text: str, expected: float | None
) -> None:
    assert calculate(text, VALUES) == expected


def test_a_metric_that_fill_cannot_see_stays_without_a_value() -> None:
    assert calculate("FILL(none, 7)", VALUES, frozenset({"none"})) is None


@pytest.mark.parametrize(
    "text", ["RATE(one)", "one ^ 2", "FILL(none, REPEAT)", "one AND two", "three", "MAX(one)", "(("]
)
def test_what_is_not_modelled_is_an_error_that_names_the_expression(text: str) -> None:
    with pytest.raises(ValueError, match="not modelled: "):
        calculate(text, VALUES)
