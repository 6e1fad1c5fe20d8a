# SPDX-License-Identifier: Apache-2.0
"""Cells: right, late, absent or wrong."""

import math

import pytest

from dev.truth.judge import Judgement, Look, Verdict, judge_ages, judge_lags, judge_value
from dev.truth.planted import Change, Expected, Planted, PlantedLog, Range

AT = ("group", "topic", 0)
NOW = 1_000_000.0
NONE = Expected(False)
SIX = Expected(True, (Range(6, 6),))
MAY = Expected(None, (Range(6, 6),))


@pytest.mark.parametrize(
    ("value", "now", "before", "verdict"),
    [
        (6, SIX, NONE, Verdict.RIGHT),
        (7, SIX, NONE, Verdict.WRONG),
        (math.nan, SIX, SIX, Verdict.WRONG),
        (-1, NONE, NONE, Verdict.WRONG),
        (6, NONE, SIX, Verdict.LATE),
        (7, SIX, Expected(True, (Range(7, 9),)), Verdict.LATE),
        (None, SIX, SIX, Verdict.ABSENT),
        (None, NONE, SIX, Verdict.RIGHT),
        (None, MAY, SIX, Verdict.RIGHT),
        (6, MAY, NONE, Verdict.RIGHT),
    ],
)
def test_a_value_is_judged_by_what_is_true_in_time_and_was_before(
    value: float | None, now: Expected, before: Expected, verdict: Verdict
) -> None:
    assert judge_value(value, now, before, ()).verdict == verdict


def test_the_error_is_to_the_nearest_right_value() -> None:
    two = Expected(True, (Range(6, 8), Range(20, 20)))

    assert Judgement(Verdict.WRONG, 11, two, ()).error == 3
    assert Judgement(Verdict.WRONG, math.nan, two, ()).error == math.inf


def planted(*commits: Change) -> Planted:
    found = Planted()
    found.logs["topic", 0] = PlantedLog(
        [Change(0, 0, 10)], [Change(0, 0, 0)], list(range(10)), [NOW - 600] * 10
    )
    found.commits[AT] = [Change(0, 0, 4), *commits]
    return found


def look(lag: float | None, *, at: float = NOW, age: float | None = None) -> Look:
    lags = {} if lag is None else {AT: lag}
    return Look("p", at, at + 0.1, lags, {} if age is None else {AT[:2]: age})


def test_a_cell_has_the_worst_look_and_counts_those_as_bad() -> None:
    looks = [look(6), look(None), look(5), look(3)]

    cell = judge_lags(planted(), [AT], looks, 0)

    assert (cell.verdict, cell.worst.value, cell.looks, cell.of) == (Verdict.WRONG, 3, 2, 4)


@pytest.mark.parametrize(
    ("ago", "verdict"), [(30, Verdict.RIGHT), (100, Verdict.LATE), (300, Verdict.WRONG)]
)
def test_what_was_true_within_the_programs_interval_is_right(ago: float, verdict: Verdict) -> None:
    moved = planted(Change(NOW - ago, NOW - ago, 9))

    assert judge_lags(moved, [AT], [look(6)], interval=60).verdict == verdict


def test_an_answer_that_never_came_is_absent() -> None:
    cell = judge_lags(planted(), [AT], [Look("p", NOW, NOW + 10, error="TimeoutError")], 0)

    assert cell.verdict == Verdict.ABSENT


@pytest.mark.parametrize(("age", "verdict"), [(650, Verdict.RIGHT), (680, Verdict.WRONG)])
def test_ages_are_right_within_a_tenth(age: float, verdict: Verdict) -> None:
    assert judge_ages(planted(), [AT], [look(6, age=age)], 0).verdict == verdict
