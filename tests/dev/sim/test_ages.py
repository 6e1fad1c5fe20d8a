# SPDX-License-Identifier: Apache-2.0
"""The age of a record follows from its log, and stated ages and errors are checked against it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dev.sim.cases.logs import CASES
from dev.sim.records import Log
from dev.sim.scorers.ages import RUNS, compare, score
from dev.sim.truth import record_ages

NAN = float("nan")
# Records of seconds 10, 30, 20 and 40, the third of which came late.
LOG = Log.of(np.array([10_000, 30_000, 20_000, 40_000]))
SECOND_IS_GONE = replace(LOG, gone=np.array([False, True, False, False]))
AHEAD = replace(LOG, times=np.array([10_000, 99_000, 20_000, 40_000]))


@pytest.mark.parametrize(
    ("log", "committed", "came", "by_clock"),
    [
        pytest.param(LOG, 0, 90.0, 90.0, id="first"),
        pytest.param(LOG, 2, 70.0, 70.0, id="came late"),
        pytest.param(LOG, 4, NAN, NAN, id="all read"),
        pytest.param(SECOND_IS_GONE, 1, 70.0, 80.0, id="compacted: the next one"),
        pytest.param(replace(LOG, start=3), 0, 60.0, 60.0, id="deleted: the first one left"),
        pytest.param(AHEAD, 3, 60.0, 1.0, id="a clock was ahead"),
    ],
)
def test_the_age_is_that_of_the_next_record_that_is_left(
    log: Log, committed: int, came: float, by_clock: float
) -> None:
    found = record_ages(log, np.array([committed]), 100_000)

    assert np.array_equal(np.ravel(found), [came, by_clock], equal_nan=True)


@pytest.mark.parametrize(
    ("said", "error", "beyond"),
    [
        pytest.param(90.0, 12.0, 0.0, id="within what was stated"),
        pytest.param(90.0, 4.0, 6.0, id="farther off than was stated"),
        pytest.param(90.0, NAN, 0.0, id="at least, and it is more"),
        pytest.param(130.0, NAN, 30.0, id="at least, and it is less"),
        pytest.param(NAN, NAN, 0.0, id="nothing was said"),
    ],
)
def test_an_age_is_held_to_its_stated_error(said: float, error: float, beyond: float) -> None:
    age = np.array([100.0])

    assert compare(age, age, np.array([said]), np.array([error]))[2] == beyond


def test_an_age_that_is_missing_is_too_far_off() -> None:
    age, nothing = np.array([100.0]), np.array([NAN])

    assert compare(age, age, nothing, nothing)[:2] == (np.inf, np.inf)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["ahead", "deleted-head"])
def test_ages_of_a_case_are_right_in_each_run(name: str) -> None:
    (case,) = (each for each in CASES if each.name == name)
    found = list(score(replace(case, groups=4), seed=0))

    assert [(cells[1], fault) for cells, fault in found] == [(run, "") for run in RUNS]
