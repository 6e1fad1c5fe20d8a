# SPDX-License-Identifier: Apache-2.0
"""Time lag where sources are at odds: consumers that move, wrong clocks, silence, small budgets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_lag import contract
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.group_settings import ByName, Rules
from kafka_lag.lag.model import LagReport, PreviousRuns
from tests.builders import HOUR, MINUTE, NOON, a_reading, table
from tests.functions.lag.time_index.brokers import Broker, Log
from tests.functions.lag.time_lag.days import SECOND, TIMES, Days, an_hour, told


def moving(budget: int, sla: float = 1e6) -> tuple[LagReport, Broker]:
    """A consumer that moved on a minute after the first run; each record is 6 seconds apart."""
    broker = Broker({("t", 0): Log([NOON + i * 6 * SECOND for i in range(10)])})
    levels: ByName[float] = ByName.of([("g", sla)])
    days = Days(rules=Rules(sla_seconds=levels, lookup_budget=budget))
    days.run(NOON, [0], (0, 0), broker)
    return days.run(NOON + MINUTE, [4], (0, 10), broker), broker


def test_a_moving_consumer_is_dated_with_a_tenth_of_the_budget() -> None:
    report, broker = moving(budget=100)

    assert 0 < broker.asked <= 10
    assert told(report)[0][0] == pytest.approx(36.15)


def test_a_moving_consumer_with_a_minute_of_history_needs_no_look_up() -> None:
    report, broker = moving(budget=9)

    assert broker.asked == 0
    assert told(report)[0] == (
        pytest.approx(33, abs=0.3),
        pytest.approx(33, abs=0.6),
        "interpolated",
    )


def test_a_service_level_inside_the_bracket_is_worth_the_whole_budget() -> None:
    report, broker = moving(budget=9, sla=30.0)

    assert broker.asked > 0
    assert told(report)[0][0] == pytest.approx(36.15)


def test_a_record_time_outside_the_bounds_of_history_is_moved_to_them() -> None:
    back_fill = Broker({("t", 0): Log([NOON - 1000 * HOUR + i for i in range(10)])})
    days = Days()
    days.run(NOON, [0], (0, 0))
    report = days.run(NOON + MINUTE, [0, 5], (0, 10), back_fill)

    for seconds, error, _ in told(report):
        assert seconds == pytest.approx(60, abs=0.3)
        assert error == pytest.approx(60, abs=0.3)


def test_a_time_ahead_is_unknown_without_history_and_bounded_with_it() -> None:
    ahead = Broker({("t", 0): Log([NOON + HOUR])})
    cold = Days().run(NOON, [0], (0, 1), ahead)
    days = Days()
    days.run(NOON, [0], (0, 0))
    warm = days.run(NOON + MINUTE, [0], (0, 1), ahead)

    assert told(cold) == [(None, None, None)]
    assert told(warm)[0][0] == pytest.approx(30, abs=0.3)


def test_a_compacted_topic_is_looked_at_again_once_an_hour() -> None:
    broker, log = an_hour()
    days = Days(policy="compact")
    asked = [
        days.run(NOON + minute * MINUTE, [100], (0, log.end), broker).look_ups > 0
        for minute in range(1, 181)
    ]

    assert asked[0]
    assert sum(asked[1:]) in (2, 3)


def test_a_silent_broker_leaves_the_row_without_a_time_lag_and_the_group_growing_older() -> None:
    broker, log = an_hour()
    days = Days()
    days.run(NOON, [100], (0, log.end), broker)
    report = days.run(NOON + 5 * MINUTE, [100], contract.TIMEOUT, broker)

    assert told(report) == [(None, None, None)]
    assert table(report.snapshot.groups, *TIMES)[0][0] == pytest.approx(2900, abs=0.5)


def test_an_unread_partition_keeps_its_date_for_when_it_is_back() -> None:
    broker, log = an_hour()
    days = Days()
    days.run(NOON, [100], (0, log.end), broker)
    days.run(NOON + MINUTE, [100], contract.TIMEOUT, broker)
    report = days.run(NOON + 2 * MINUTE, [100], (0, log.end))

    assert told(report)[0][0] == pytest.approx(2720, abs=0.5)
    assert told(report)[0][1] == 0.0


def test_while_the_clock_is_back_there_is_no_age_and_the_date_is_kept() -> None:
    broker, log = an_hour()
    days = Days()
    days.run(NOON, [100], (0, log.end), broker)
    reading = a_reading({"g0": {"t": [100]}}, {"t": [(0, log.end)]}, at=NOON - HOUR)
    back = evaluate(reading, days.past, days.rules, NOON + MINUTE, broker)
    days.past = replace(days.past, newest=back.snapshot)
    report = days.run(NOON + 2 * MINUTE, [100], (0, log.end))

    assert told(back) == [(None, None, None)]
    assert told(report)[0][:2] == (2720.15, 0.0)


def test_a_compacted_topic_keeps_its_date_when_nobody_answers_at_its_hourly_turn() -> None:
    broker, log = an_hour()
    days = Days(policy="compact")
    days.run(NOON, [100], (0, log.end), broker)
    methods = {
        told(days.run(NOON + minute * MINUTE, [100], (0, log.end)))[0][2] for minute in range(1, 61)
    }

    assert methods == {"carried"}


def test_under_a_small_budget_what_rests_is_dated_before_what_moves() -> None:
    times = [NOON - 10 * HOUR + i * MINUTE for i in range(600)]
    broker = Broker({("t", number): Log(times) for number in range(2)})
    past, rules = PreviousRuns.empty(), Rules(lookup_budget=5)
    for run in range(4):
        at = NOON + run * MINUTE
        reading = a_reading({"g": {"t": [100 + run, 400]}}, {"t": [(0, 600)] * 2}, at=at)
        report = evaluate(reading, past, rules, at, broker)
        past = PreviousRuns(report.snapshot)

    assert told(report)[1][2] == "carried"


def test_one_caught_up_partition_does_not_make_an_unknown_age_0() -> None:
    reading = a_reading({"g": {"t": [10, 3]}}, {"t": [(0, 10)] * 2})
    report = evaluate(reading, PreviousRuns.empty(), Rules(), NOON)

    assert table(report.snapshot.groups, *TIMES) == [(None, None, None)]
    assert table(report.group_topics, "time_lag_seconds") == [(None,)]


def test_look_ups_that_nobody_answers_are_not_counted() -> None:
    assert Days().run(NOON, [5], (0, 10)).look_ups == 0
