# SPDX-License-Identifier: Apache-2.0
"""The truth about a number of tasks, found by trying others, and the verdicts on answers."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from dev.sim.cases.services import MOST, Case, read_kind
from dev.sim.scorers.tasks import Trial, judge, score
from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame

# Each is a service of two hours, tried with several numbers of tasks.
SELDOM = partial(pytest.param, marks=pytest.mark.thorough)


@pytest.mark.parametrize(
    ("needed", "right"), [(3, False), (4, True), (5, True), (6, True), (7, False), (None, False)]
)
def test_a_number_is_right_within_one_of_the_fewest_that_keep_the_promise(
    needed: int | None, right: bool
) -> None:
    ages = np.array([900.0] * 3 + [301.0] + [300.0] * (MOST - 4))
    case = Case("five are enough", np.ones(1))
    runs = Frame.of({"tasks_needed": Column.optional([None, 2, needed])})
    (*_, true), fault = judge("advised", case, Trial(case, ages, np.ones(MOST)), runs)

    assert (true, not fault) == (5, right)


@pytest.mark.parametrize(
    ("kind", "name", "true"),
    [
        ("advised", "even 2.5", 3),
        SELDOM("advised", "one slow of 1.4", 3),
        ("advised", "share group on 3 partitions, 11.4 from 8", 11),
        SELDOM("advised", "share group on 3 partitions, 6.3 from 12", 6),
        ("enough", "enough for 1.5", "no number"),
        SELDOM("limited", "hot 60% of 2.5", "more do not help"),
        SELDOM("limited", "too few for 2.6", "more help"),
        SELDOM("shared", "store of 2.4, 0% a task, 3 to 6", "a store is full"),
        SELDOM("shared", "too few, 3 to 6", "too few tasks"),
    ],
)
def test_a_service_is_scored(kind: str, name: str, true: object) -> None:
    (service,) = (each for each in read_kind(kind) if each.name == name)
    (((*_, is_true), fault),) = score(kind, [service])

    assert is_true == true
    assert fault == ""
