# SPDX-License-Identifier: Apache-2.0
"""Time lag from run to run: which source serves, what is asked, and what is carried."""

from __future__ import annotations

import pytest

from kafka_lag.lag.group_settings import ByName, Rules
from tests.builders import HOUR, MINUTE, NOON
from tests.functions.lag.time_lag.days import Days, an_hour, told


def test_nothing_unread_is_exactly_0() -> None:
    assert told(Days().run(NOON, [10], (0, 10))) == [(0.0, 0.0, "none")]


def test_an_allowed_lag_is_0_by_another_name() -> None:
    days = Days(rules=Rules(allowed_lag=ByName.of([("^t$", 1)])))

    assert told(days.run(NOON, [9, 8], (0, 10), an_hour()[0]))[0] == (0.0, 0.0, "allowed")
    assert told(days.run(NOON + MINUTE, [9, 8], (0, 10), an_hour()[0]))[1][0] > 0


def test_a_partition_never_committed_has_no_time_lag() -> None:
    assert told(Days().run(NOON, [None], (0, 10))) == [(None, None, None)]


def test_a_cold_start_is_dated_by_the_index() -> None:
    broker, log = an_hour()
    report = Days().run(NOON, [100], (0, log.end), broker)

    assert told(report) == [(2600.15, 0.0, "record_time")]
    assert report.look_ups == broker.asked > 0


def test_a_cold_start_that_may_not_ask_knows_nothing() -> None:
    _, log = an_hour()

    assert told(Days().run(NOON, [100], (0, log.end))) == [(None, None, None)]


def test_without_look_ups_history_gives_the_time_between_two_runs() -> None:
    days = Days()
    days.run(NOON, [0], (0, 0))
    report = days.run(NOON + MINUTE, [5], (0, 10))

    seconds, error, method = told(report)[0]
    assert method == "interpolated"
    assert seconds == pytest.approx(27, abs=0.2)
    assert error == pytest.approx(33, abs=0.3)


def test_older_than_all_runs_is_at_least_as_old_as_the_first() -> None:
    days = Days()
    days.run(NOON, [5], (0, 10))
    report = days.run(NOON + HOUR, [5], (0, 20))

    assert told(report) == [(3599.95, None, "at_least")]


def test_a_consumer_stuck_for_days_is_asked_about_once() -> None:
    broker, log = an_hour()
    days = Days()
    asked = [
        days.run(NOON + minute * MINUTE, [100], (0, log.end + minute), broker).look_ups
        for minute in range(200)
    ]

    assert asked[0] > 0
    assert set(asked[1:]) == {0}


def test_a_carried_date_ages_with_the_clock() -> None:
    broker, log = an_hour()
    days = Days()
    days.run(NOON, [100], (0, log.end), broker)

    assert told(days.run(NOON + MINUTE, [100], (0, log.end))) == [(2660.15, 0.0, "carried")]


def test_what_the_budget_left_open_is_asked_for_later() -> None:
    broker, log = an_hour()
    days = Days()
    days.run(NOON, [100], (0, log.end))
    report = days.run(NOON + MINUTE, [100], (0, log.end), broker)

    assert told(report)[0][2] == "record_time"


def test_a_log_start_past_the_commit_voids_its_date() -> None:
    broker, log = an_hour()
    days = Days()
    days.run(NOON, [100], (0, log.end), broker)
    log.start = 200
    report = days.run(NOON + MINUTE, [100], (200, log.end), broker)

    assert told(report) == [(1660.15, 0.0, "record_time")]


def test_a_recreated_topic_starts_a_new_history_and_says_so() -> None:
    broker, log = an_hour()
    days = Days()
    days.run(NOON, [100], (0, log.end), broker)
    report = days.run(NOON + MINUTE, [100], (0, 500), topic_ids={"t": "another"})

    assert told(report) == [(None, None, None)]
    assert report.warnings == ("topic 't' was recreated or truncated: its history starts anew",)
