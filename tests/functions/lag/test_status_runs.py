# SPDX-License-Identifier: Apache-2.0
"""The status of one partition from run to run: what sets it, why, and for how long."""

from __future__ import annotations

import pytest

from functions.contract import (
    BEYOND_END,
    ERR,
    OK,
    REWIND,
    STALL,
    STOP,
)
from tests.functions.lag.consecutive import Runs, partition

SAID = ("status", "status_reason")


@pytest.mark.parametrize(
    "grown_to", [pytest.param(400, id="beyond-the-end"), pytest.param(5_000, id="within-the-log")]
)
def test_a_commit_of_another_topic_sets_no_status_when_it_is_reset(grown_to: int) -> None:
    runs = Runs()
    for minute in range(3):
        runs.run(minute, 1_000, 1_000)
    kept = [
        partition(runs.run(3 + n, 1_000, grown_to, topic_ids={"t": "another"}), *SAID)
        for n in range(2)
    ]
    told = [
        partition(
            runs.run(5 + n, n * 100, grown_to + n * 100, topic_ids={"t": "another"}), "status"
        )
        for n in range(15)
    ]

    assert kept == [(ERR, BEYOND_END)] * 2 if grown_to < 1_000 else [(None, None), (OK, None)]
    assert (REWIND,) not in told


def test_going_back_from_a_commit_of_another_topic_is_not_remembered_either() -> None:
    runs, another = Runs(), {"t": "another"}
    runs.run(0, 1_000, 1_000)
    runs.run(1, 1_000, 5_000, topic_ids=another)
    runs.run(2, 1_000, 5_000, topic_ids=another)

    assert partition(runs.run(3, 0, 5_000, topic_ids=another), "status", "rewound_from") == (
        OK,
        None,
    )


def test_once_a_group_has_committed_to_the_new_topic_a_reset_is_a_rewind() -> None:
    runs, another = Runs(), {"t": "another"}
    runs.run(0, 1_000, 1_000)
    for minute, commit in ((1, 1_000), (2, 1_500)):
        runs.run(minute, commit, 5_000, topic_ids=another)

    assert partition(runs.run(3, 0, 5_000, topic_ids=another), "status") == (REWIND,)


def test_a_commit_kept_from_another_topic_that_nobody_moves_is_told_after_the_window() -> None:
    runs, another = Runs(), {"t": "another"}
    runs.run(0, 1_000, 1_000)
    told = [
        partition(runs.run(1 + n, 1_000, 5_000 + n, topic_ids=another), "status")[0]
        for n in range(13)
    ]

    assert told[:2] == [None, OK]
    assert told[-1] == STALL


@pytest.mark.parametrize(("members", "after"), [(0, STOP), (1, STALL)])
def test_a_rewind_is_followed_by_a_stop_in_the_next_run(members: int, after: str) -> None:
    runs = Runs()
    for minute in range(60):
        runs.run(minute, minute * 100, minute * 100)
    told = [
        partition(runs.run(60 + n, 100, 6_000 + n * 100, members=members), "status")[0]
        for n in range(15)
    ]

    assert told == [REWIND] * 11 + [after] * 4
