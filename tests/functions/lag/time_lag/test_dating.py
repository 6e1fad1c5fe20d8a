# SPDX-License-Identifier: Apache-2.0
"""Time lag from run to run: which source serves, what is asked, and what is carried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from functions import contract
from functions.lag.columns import Words
from functions.lag.evaluate import evaluate
from functions.lag.frame import Frame
from functions.lag.model import LagReport, Past
from functions.lag.rules import ByName, Rules
from functions.lag.time_index.questions import LookUp, nobody
from tests.builders import HOUR, MINUTE, NOON, Commit, a_reading, table
from tests.functions.lag.time_index.brokers import Broker, Log

SECOND = 1_000
_ENDS = ("topic", "topic_id", "partition_id", "asked_at", "read_at", "end_offset")
TIMES = ("time_lag_seconds", "time_lag_error_seconds", "time_lag_method")


@dataclass
class Days:
    """Runs one after another over one topic; each knows all log ends of the runs before."""

    policy: str = "delete"
    rules: Rules = Rules()  # noqa: RUF009 - frozen

    def __post_init__(self) -> None:
        self.past = Past.empty()

    def run(
        self,
        at: int,
        commits: Sequence[Commit],
        log: tuple[int, int] | str,
        look_up: LookUp = nobody,
        **more: Any,
    ) -> LagReport:
        groups = {f"g{number}": {"t": [commit]} for number, commit in enumerate(commits)}
        reading = a_reading(groups, {"t": [log]}, at=at, **more)
        policy = Words.constant(self.policy, 1)
        topics = reading.topic_partitions.with_columns(cleanup_policy=policy)
        reading = replace(reading, topic_partitions=topics)
        report = evaluate(reading, self.past, self.rules, at, look_up)
        ends = report.snapshot.topic_partitions
        point = Frame.of({name: ends.columns[name] for name in _ENDS})
        self.past = Past(report.snapshot, (*self.past.ends, point))
        return report


def told(report: LagReport) -> list[tuple[Any, ...]]:
    return table(report.snapshot.group_partitions, *TIMES)


def an_hour(rate: int = 10) -> tuple[Broker, Log]:
    """A record each `rate` seconds for an hour until noon."""
    log = Log([NOON - HOUR + i * rate * SECOND for i in range(HOUR // (rate * SECOND))])
    return Broker({("t", 0): log}), log


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
    assert report.remarks == ("topic 't' was recreated or truncated: its history starts anew",)


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
