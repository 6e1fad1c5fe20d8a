# SPDX-License-Identifier: Apache-2.0
"""The state of an alarm by its points: M of N, missing ones, and what is too young."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafka_lag_cdk.simulation.evaluation import ALARM, INSUFFICIENT_DATA, OK, Counts, state_of
from kafka_lag_cdk.simulation.metrics import minutes_of

BEFORE = "as it was"


def points(text: str) -> Sequence[bool | None]:
    """The oldest first: x breaches, o does not, a dot is missing."""
    return [{"x": True, "o": False, ".": None}[each] for each in text]


def state(text: str, missing: str = "missing", undecided: str = "retain") -> str:
    """Of two in three."""
    return state_of(points(text), Counts(2, 3, missing), BEFORE, undecided)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("xxo", ALARM),
        ("oxx", ALARM),
        ("xoo", OK),
        ("ooo", OK),
        # As many as there are periods decide, the newest of them.
        ("xxoox", OK),
        ("ooxx.o", ALARM),
        ("x.x.", ALARM),
        ("xo.", OK),
        ("x.o", OK),
        # Breaches alone, too few of them: an alarm once the oldest is as old as two points.
        ("..x", BEFORE),
        (".x.", ALARM),
        ("x..", ALARM),
        ("...", INSUFFICIENT_DATA),
    ],
)
def test_two_of_three_points_make_an_alarm(text: str, expected: str) -> None:
    assert state(text) == expected


@pytest.mark.parametrize(
    ("missing", "empty", "one", "one_well"),
    [
        ("missing", INSUFFICIENT_DATA, BEFORE, OK),
        ("ignore", BEFORE, BEFORE, OK),
        ("breaching", ALARM, ALARM, ALARM),
        ("notBreaching", OK, OK, OK),
    ],
)
def test_a_missing_point_is_what_the_alarm_takes_it_for(
    missing: str, empty: str, one: str, one_well: str
) -> None:
    found = [state(text, missing) for text in ("...", "..x", "..o")]
    assert found == [empty, one, one_well]


@pytest.mark.parametrize("missing", ["missing", "ignore", "breaching", "notBreaching"])
def test_enough_breaches_are_an_alarm_whatever_is_missing(missing: str) -> None:
    assert {state(text, missing) for text in (".xx", "xx.", "x.x")} == {ALARM}


def test_missing_points_are_filled_in_up_to_the_number_of_periods() -> None:
    assert state("..oo.", "breaching") == OK
    assert state("..ox.", "breaching") == ALARM


def test_what_is_too_young_for_an_alarm_may_also_count_as_ok() -> None:
    assert state("..x", undecided="OK") == OK


@pytest.mark.parametrize(("seconds", "minutes"), [(60, 1), (300, 5), (3_600, 60)])
def test_periods_are_whole_minutes(seconds: int, minutes: int) -> None:
    assert minutes_of(seconds) == minutes


@pytest.mark.parametrize("seconds", [0, 10, 30, 90])
def test_a_period_of_seconds_is_not_modelled(seconds: int) -> None:
    with pytest.raises(ValueError, match=f"a period of {seconds} s is not whole minutes"):
        minutes_of(seconds)
