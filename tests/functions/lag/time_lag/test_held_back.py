# SPDX-License-Identifier: Apache-2.0
"""A follower that hangs holds the high watermark back: records come, and the log's end stands."""

from __future__ import annotations

from bisect import bisect_right

import pytest

from kafka_lag.lag.model import LagReport
from kafka_lag.lag.time_index import LookUp
from tests.builders import MINUTE, NOON
from tests.functions.lag.time_index.brokers import Broker, Log
from tests.functions.lag.time_lag.days import SECOND, Days, told

# After a run began ends are asked for; an age is by the clock when commits came.
ASKED, NOW = 160, 150


def records(every: int) -> list[int]:
    return list(range(NOON - MINUTE, NOON + 5 * MINUTE, every))


class HangingFollower:
    """One partition; its high watermark stood still from `since` to `until`, ms."""

    def __init__(self, times: list[int], since: int, until: int) -> None:
        self.times, self.since, self.until = times, since, until
        self.look_up: LookUp = Broker({("t", 0): Log(times)})

    def end(self, at: int) -> int:
        """The end that consumers, and a run of that time, see."""
        asked = at + ASKED
        return bisect_right(self.times, self.since if self.since < asked < self.until else asked)

    def readable(self, offset: int) -> int:
        """When the high watermark passed this record."""
        time = self.times[offset]
        return self.until if self.since < time < self.until else time


def beyond(report: LagReport, offsets: list[int], since: list[int], at: int) -> list[float]:
    """By how many seconds each true age lies outside what is said of it, where it does."""
    said = zip(told(report), since, strict=True)
    outside = [
        abs((at + NOW - time) / SECOND - seconds) - error for (seconds, error, _), time in said
    ]
    assert len(outside) == len(offsets)
    return [seconds for seconds in outside if seconds > 0.001]


@pytest.mark.parametrize("every", [70, 500, 1_900])
@pytest.mark.parametrize("stall", [5 * SECOND, 29 * SECOND])
def test_no_age_is_outside_its_bound_while_the_high_watermark_stands_still(
    stall: int, every: int
) -> None:
    asked = NOON + MINUTE + ASKED
    topic = HangingFollower(records(every), asked - stall // 2, asked + stall // 2)
    first, last = topic.end(NOON + MINUTE) - 3, bisect_right(topic.times, topic.until) + 3
    offsets = sorted({first + (last - first) * n // 39 for n in range(40)})
    days, outside = Days(), []
    for run in range(5):
        at = NOON + run * MINUTE
        commits = [min(offset, topic.end(at)) for offset in offsets]
        report = days.run(at, commits, (0, topic.end(at)), topic.look_up)
        if run >= 2:
            outside += beyond(report, offsets, [topic.times[o] for o in offsets], at)

    assert outside == []


def test_a_record_that_came_before_the_last_reading_is_dated_by_both_moments() -> None:
    asked = NOON + MINUTE + ASKED
    topic = HangingFollower(records(500), asked - 2_500, asked + 2_500)
    offset = topic.end(NOON + MINUTE)
    days = Days()
    for run in range(2):
        at = NOON + run * MINUTE
        days.run(at, [topic.end(at)], (0, topic.end(at)), topic.look_up)
    for run in range(2, 5):
        at = NOON + run * MINUTE
        report = days.run(at, [offset], (0, topic.end(at)), topic.look_up)

        assert beyond(report, [offset], [topic.times[offset]], at) == []
        assert beyond(report, [offset], [topic.readable(offset)], at) == []
        age = (at + NOW - topic.times[offset]) / SECOND
        assert told(report)[0][0] == pytest.approx(age, abs=1)
        assert report.look_ups == 0 or run == 2


@pytest.mark.parametrize("late", [31 * SECOND, 10 * MINUTE])
def test_a_record_time_that_no_follower_explains_is_a_producer_s_clock(late: int) -> None:
    log = Log([NOON - late] * 10)
    days = Days()
    days.run(NOON, [0], (0, 0), Broker({("t", 0): log}))
    for run in range(1, 4):
        report = days.run(NOON + run * MINUTE, [0], (0, 10), Broker({("t", 0): log}))
        seconds, error, _ = told(report)[0]

        assert seconds == pytest.approx(60 * run, abs=0.1)
        assert error == pytest.approx(60, abs=0.1)
