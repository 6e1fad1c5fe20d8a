# SPDX-License-Identifier: Apache-2.0
"""The search in a time index: right whatever the shape of the log, frugal, and under its budget."""

from __future__ import annotations

import numpy as np
import pytest

from tests.builders import HOUR, MINUTE, NOON
from tests.functions.lag.time_index.brokers import Broker, Log
from tests.functions.lag.time_index.searched import DAY, SECOND, brackets, dated, one

STEADY = [NOON - 600 * SECOND + i * SECOND for i in range(600)]


def test_regular_data_is_hit_exactly() -> None:
    dates, found = one(Log(STEADY), 300)

    assert brackets(dates) == [(STEADY[300], STEADY[300], STEADY[300])]
    assert dates.record.to_list() == [STEADY[300]]
    assert found.look_ups <= 4


def test_an_idle_topic_costs_two_look_ups() -> None:
    dates, found = one(Log([NOON - 9 * DAY, NOON - 8 * DAY]), 1)

    assert brackets(dates) == [(NOON - 8 * DAY, NOON - 8 * DAY, NOON - 8 * DAY)]
    assert found.look_ups == 2


def test_a_single_record_is_dated_at_once() -> None:
    dates, found = one(Log([NOON - HOUR]), 0)

    assert dates.record.to_list() == [NOON - HOUR]
    assert found.look_ups == 2


def test_thousands_of_records_of_one_millisecond_share_their_time() -> None:
    burst = [NOON - DAY] * 10 + [NOON - HOUR] * 3_000 + [NOON - MINUTE] * 10
    for offset in (10, 1_500, 3_009):
        dates, _ = one(Log(burst), offset)
        (first, _, last), *_ = brackets(dates)
        assert first is not None
        assert last is not None
        assert first <= NOON - HOUR <= last
        assert last - first <= 4 * SECOND


def test_a_time_ahead_of_now_hides_what_is_behind_it() -> None:
    log = Log([NOON - HOUR, NOON - 30 * MINUTE, NOON + 10 * MINUTE, NOON - MINUTE])
    before, _ = one(log, 1)
    behind, _ = one(log, 3)

    assert before.best.to_list() == [NOON - 30 * MINUTE]
    assert behind.best.to_list() == [None]


@pytest.mark.parametrize("time", [-1, 0, 1_700_000_000])
def test_records_with_no_clock_s_time_are_at_least_as_old_as_the_next_that_has_one(
    time: int,
) -> None:
    log = Log([time, time, NOON - HOUR, NOON - MINUTE])
    dates, _ = one(log, 1)

    assert brackets(dates) == [(None, NOON - HOUR, NOON - HOUR)]
    assert dates.record.to_list() == [None]


def test_a_first_time_that_is_ahead_says_nothing_of_records_before_it() -> None:
    dates, _ = one(Log([-1, NOON + HOUR]), 0)

    assert brackets(dates) == [(None, None, None)]


def test_a_topic_without_any_time_says_nothing() -> None:
    dates, found = one(Log([-1, -1]), 0)

    assert brackets(dates) == [(None, None, None)]
    assert found.look_ups == 2


def test_a_compacted_record_is_dated_by_the_next_living_one() -> None:
    times = [NOON - (100 - i) * MINUTE for i in range(100)]
    log = Log(times, dead=set(range(20, 60)))
    dates, _ = one(log, 30, compact=True)

    assert dates.best.to_list() == [times[60]]
    assert dates.record.to_list() == [times[60]]
    assert dates.after.to_list() == [times[19]]


def test_the_newest_time_of_a_deleted_record_is_no_bound() -> None:
    times = [NOON - 5 * DAY, NOON - MINUTE, NOON - 3 * DAY, NOON - 2 * DAY, NOON - DAY]
    dates, _ = one(Log(times, start=2), 3)

    assert dates.best.to_list() == [NOON - 2 * DAY]


def test_times_denied_because_of_a_deleted_head_are_asked_around() -> None:
    head = [NOON - 50 * MINUTE, NOON - 10 * MINUTE]
    tail = [NOON - 40 * MINUTE, NOON - 30 * MINUTE, NOON - 9 * MINUTE, NOON - 5 * MINUTE]
    log = Log(head + tail, start=2, segment=3)
    for offset in range(2, 6):
        dates, _ = one(log, offset)
        truth = log.running_maximum(offset)
        (first, _, last), *_ = brackets(dates)
        assert truth is not None
        assert first is not None
        assert last is not None
        assert first <= truth <= last


def test_groups_at_one_partition_share_answers() -> None:
    broker = Broker({("t", 0): Log(STEADY)})
    dates, found = dated(broker, [(0, offset) for offset in range(100, 160)])

    found_times = np.array(dates.best.to_list())
    assert np.abs(found_times - STEADY[100:160]).max() <= SECOND
    assert found.look_ups <= 3 * 60


def test_a_budget_of_nothing_asks_nothing() -> None:
    broker = Broker({("t", 0): Log(STEADY)})
    dates, found = dated(broker, [(0, 5)], budget=0)

    assert found.look_ups == 0
    assert broker.rounds == []
    assert brackets(dates) == [(None, None, None)]


def test_a_silent_broker_costs_its_own_positions_only() -> None:
    logs = {("up", 0): Log(STEADY), ("down", 0): Log(STEADY)}
    dates, _ = dated(Broker(logs, silent={"down"}), [(0, 300), (1, 300)])

    assert dates.best.to_list() == [STEADY[300], None]


@pytest.mark.parametrize("budget", [1, 7, 50, 333])
def test_the_budget_is_never_exceeded(budget: int) -> None:
    logs = {("t", n): Log([NOON - DAY + i * 997 * (n + 1) for i in range(300)]) for n in range(40)}
    broker = Broker(logs)
    _, found = dated(broker, [(n, 10 + 7 * n) for n in range(40)], budget=budget)

    assert broker.asked == found.look_ups <= budget


def test_a_broker_that_cannot_tell_its_newest_is_not_believed_about_a_deleted_head() -> None:
    times = [NOON - i * MINUTE for i in (9, 8, 7, 6, 1, 5, 4, 3)]
    log = Log(times, start=5, segment=7)
    dates, _ = dated(Broker({("t", 0): log}, knows_newest=False), [(0, 7)])
    (first, _, last), *_ = brackets(dates)

    assert last is not None
    assert (first or 0) <= times[7] <= last
