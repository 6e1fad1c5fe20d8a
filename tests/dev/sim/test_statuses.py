# SPDX-License-Identifier: Apache-2.0
"""The statuses that a log allows; cases of groups that pause have them."""

from __future__ import annotations

import numpy as np
import pytest

from dev.sim.cases.drawn import RHYTHMS
from dev.sim.scorers.statuses import find_fault, find_truth, score
from kafka_lag.contract import OK, STALL, STOP, WARN

RUNS = 40
END = 100 + 10 * np.arange(RUNS)
READ, STOOD_AT = END.copy(), 15
STANDS = np.minimum(END, END[STOOD_AT])
LATE = np.maximum(END - 150, 100)


def fault(commit: object, status: str | None, run: int = RUNS - 1, pause: float = 0.0) -> bool:
    """Whether a status is wrong in a run of a group with these commits."""
    nothing = np.zeros(RUNS)
    moments = np.stack([END, np.asarray(commit), nothing, nothing, nothing], axis=1)[:, :, None]
    truth = find_truth(moments.astype(float))
    assert not truth.excused[run, 0]
    return find_fault(status, truth, (run, 0), pause) is not None


@pytest.mark.parametrize(
    ("commit", "status", "wrong"),
    [
        (READ, OK, False),
        (READ, WARN, True),
        (READ, None, True),
        (STANDS, STALL, False),
        (STANDS, STOP, False),
        (STANDS, WARN, True),
        (LATE, WARN, False),
        (LATE, OK, False),
        (LATE, STALL, True),
    ],
)
def test_a_status_is_judged_by_the_log(commit: object, status: str, wrong: bool) -> None:
    assert fault(commit, status) is wrong


@pytest.mark.parametrize(("minutes", "wrong"), [(7, True), (10, False), (12, False)])
def test_a_commit_may_be_called_stalled_about_a_window_after_it_stands(
    minutes: int, wrong: bool
) -> None:
    assert fault(STANDS, STALL, STOOD_AT + minutes) is wrong
    assert not fault(STANDS, OK, STOOD_AT + minutes)


def test_a_commit_may_stand_as_long_as_it_usually_does() -> None:
    assert fault(STANDS, STALL, STOOD_AT + 20, pause=20 * 60.0)
    assert not fault(STANDS, OK, pause=20 * 60.0)
    assert fault(STANDS, OK, pause=10 * 60.0)


@pytest.mark.parametrize("number", [0, pytest.param(-2, marks=pytest.mark.thorough)])
def test_groups_that_pause_have_the_statuses_that_their_logs_allow(number: int) -> None:
    (_, judged, first), wrong = score(RHYTHMS[number])

    assert int(str(judged).replace(",", "")) > 900
    assert not wrong, first
