# SPDX-License-Identifier: Apache-2.0
"""A reporter whose own clock is wrong for three runs: ages are right again once it is right."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import pytest

from kafka_lag.lag.time_index import LookUp, no_look_up
from tests.builders import MINUTE, NOON, table
from tests.functions.lag.consecutive import Runs, partition
from tests.functions.lag.time_index.brokers import Broker, Log
from tests.functions.lag.time_lag.days import SECOND, TIMES

# The runs with a wrong clock; before and after them it is right.
WRONG = (0, 1, 2)
# A record each 10 seconds, an hour long; its time is when it was appended.
APPENDED = list(range(NOON - 30 * MINUTE + 5 * SECOND, NOON + 30 * MINUTE, 10 * SECOND))
# Minutes from noon at which the records came that groups do not get past.
STUCK_AT = (-8.0, -2.3, -1.5, -0.5, 0.0, 0.4, 0.7, 1.2, 1.6, 2.1, 2.6)
INDEX = Broker({("t", 0): Log(APPENDED)})


def end(minute: int) -> int:
    return bisect_right(APPENDED, NOON + minute * MINUTE + 160)


def unread(minutes: float) -> int:
    """The first record that came at or after so many minutes past noon."""
    return bisect_left(APPENDED, NOON + int(minutes * MINUTE))


@pytest.mark.parametrize("ahead", [-120, -119, -61, -5, 61, 65, 119, 120])
@pytest.mark.parametrize("look_up", [INDEX, no_look_up], ids=["index", "no-index"])
def test_ages_are_right_as_soon_as_the_clock_is(look_up: LookUp, ahead: int) -> None:
    runs, stuck = Runs(look_up=look_up), [unread(minutes) for minutes in STUCK_AT]
    for minute in range(-10, 8):
        clock = ahead * SECOND if minute in WRONG else 0
        commits = [min(offset, end(minute)) for offset in stuck]
        report = runs.run(minute, commits, end(minute), clock=clock)
        if minute <= max(WRONG):
            continue
        said = table(report.snapshot.group_partitions, *TIMES)
        for offset, (seconds, error, _) in zip(stuck, said, strict=True):
            truth = (NOON + minute * MINUTE + 150 - APPENDED[offset]) / SECOND
            assert abs(seconds - truth) <= error + 0.001
            assert error <= (1 if look_up is INDEX else 300)


def test_what_was_dated_while_the_clock_was_right_needs_no_look_up() -> None:
    broker = Broker({("t", 0): Log(APPENDED)})
    runs = Runs(look_up=broker)
    asked = []
    for minute in range(-10, 10):
        clock = -120 * SECOND if minute in WRONG else 0
        runs.run(minute, 30, end(minute), clock=clock)
        asked.append(broker.asked)

    assert asked[0] > 0
    assert set(asked) == {asked[0]}


def test_what_is_dated_anew_is_dated_once() -> None:
    broker, offset = Broker({("t", 0): Log(APPENDED)}), unread(1.2)
    runs, asked = Runs(look_up=broker), []
    for minute in range(-10, 10):
        clock = -120 * SECOND if minute in WRONG else 0
        runs.run(minute, min(offset, end(minute)), end(minute), clock=clock)
        asked.append(broker.asked)

    right = asked[10 + max(WRONG) + 1 :]
    assert len(set(right)) == 1


def test_a_clock_that_is_always_a_little_behind_its_schedule_is_believed() -> None:
    runs = Runs()
    for minute in range(3):
        report = runs.run(minute, min(end(minute), 182), end(minute), clock=-2 * SECOND)

    assert partition(report, *TIMES)[2] == "interpolated"
