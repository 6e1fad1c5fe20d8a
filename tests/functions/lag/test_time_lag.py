# SPDX-License-Identifier: Apache-2.0
"""Time lag from run to run: sources, bounds, look-ups, held-back ends and wrong clocks."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

import pytest

from kafka_lag import contract
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.group_settings import ByName, Rules
from kafka_lag.lag.model import LagReport, PreviousRuns
from kafka_lag.lag.time_index import LookUp
from tests.builders import HOUR, MINUTE, NOON, Commit, a_reading, table
from tests.functions.lag.builders import SECOND, TIMES, Runs, an_hour, partition, time_lags
from tests.functions.lag.time_index_fake import Broker, Log

# Time lag from run to run: which source serves, what is looked up, and what is carried.


def test_an_allowed_lag_is_0_by_another_name() -> None:
    runs = Runs(Rules(allowed_lag=ByName.of([("^t$", 1)])))

    assert time_lags(runs.run(0, [9, 8], 10, look_up=an_hour()[0]))[0] == (0.0, 0.0, "allowed")
    assert time_lags(runs.run(1, [9, 8], 10, look_up=an_hour()[0]))[1][0] > 0


def test_a_cold_start_is_dated_by_the_index() -> None:
    broker, log = an_hour()
    report = Runs().run(0, [100], log.end, look_up=broker)

    assert time_lags(report) == [(2600.15, 0.0, "record_time")]
    assert report.look_ups == broker.look_up_count > 0


def test_without_look_ups_history_gives_the_time_between_two_runs() -> None:
    runs = Runs()
    runs.run(0, [0], 0)
    report = runs.run(1, [5], 10)

    seconds, error, method = time_lags(report)[0]
    assert method == "interpolated"
    assert seconds == pytest.approx(27, abs=0.2)
    assert error == pytest.approx(33, abs=0.3)


def test_older_than_all_runs_is_at_least_as_old_as_the_first() -> None:
    runs = Runs()
    runs.run(0, [5], 10)
    report = runs.run(60, [5], 20)

    assert time_lags(report) == [(3599.95, None, "at_least")]


def test_a_carried_date_ages_with_the_clock() -> None:
    broker, log = an_hour()
    runs = Runs()
    runs.run(0, [100], log.end, look_up=broker)

    assert time_lags(runs.run(1, [100], log.end)) == [(2660.15, 0.0, "carried")]


def test_what_the_budget_left_open_is_asked_for_later() -> None:
    broker, log = an_hour()
    runs = Runs()
    runs.run(0, [100], log.end)
    report = runs.run(1, [100], log.end, look_up=broker)

    assert time_lags(report)[0][2] == "record_time"


def test_a_log_start_past_the_commit_voids_its_date() -> None:
    broker, log = an_hour()
    runs = Runs()
    runs.run(0, [100], log.end, look_up=broker)
    log.start = 200
    report = runs.run(1, [100], log.end, start=200, look_up=broker)

    assert time_lags(report) == [(1660.15, 0.0, "record_time")]


def test_a_recreated_topic_starts_a_new_history_and_says_so() -> None:
    broker, log = an_hour()
    runs = Runs()
    runs.run(0, [100], log.end, look_up=broker)
    report = runs.run(1, [100], 500, topic_ids={"t": "another"})

    assert time_lags(report) == [(None, None, None)]
    assert report.warnings == ("topic 't' was recreated or truncated: its history starts again",)


# Time lag where sources are at odds: consumers that move, wrong clocks, silence, small budgets.


def moving(budget: int, sla: float = 1e6) -> tuple[LagReport, Broker]:
    """A consumer that moved on a minute after the first run; each record is 6 seconds apart."""
    broker = Broker({("t", 0): Log([NOON + i * 6 * SECOND for i in range(10)])})
    levels: ByName[float] = ByName.of([("g", sla)])
    runs = Runs(Rules(sla_seconds=levels, lookup_budget=budget))
    runs.run(0, [0], 0, look_up=broker)
    return runs.run(1, [4], 10, look_up=broker), broker


def test_a_moving_consumer_is_dated_with_a_tenth_of_the_budget() -> None:
    report, broker = moving(budget=100)

    assert 0 < broker.look_up_count <= 10
    assert time_lags(report)[0][0] == pytest.approx(36.15)


def test_a_moving_consumer_with_a_minute_of_history_needs_no_look_up() -> None:
    report, broker = moving(budget=9)

    assert broker.look_up_count == 0
    assert time_lags(report)[0] == (
        pytest.approx(33, abs=0.3),
        pytest.approx(33, abs=0.6),
        "interpolated",
    )


def test_a_service_level_inside_the_bracket_is_worth_the_whole_budget() -> None:
    report, broker = moving(budget=9, sla=30.0)

    assert broker.look_up_count > 0
    assert time_lags(report)[0][0] == pytest.approx(36.15)


def test_a_record_time_outside_the_bounds_of_history_is_moved_to_them() -> None:
    back_fill = Broker({("t", 0): Log([NOON - 1000 * HOUR + i for i in range(10)])})
    runs = Runs()
    runs.run(0, [0], 0)
    report = runs.run(1, [0, 5], 10, look_up=back_fill)

    for seconds, error, _ in time_lags(report):
        assert seconds == pytest.approx(60, abs=0.3)
        assert error == pytest.approx(60, abs=0.3)


def test_a_time_ahead_is_unknown_without_history_and_bounded_with_it() -> None:
    ahead = Broker({("t", 0): Log([NOON + HOUR])})
    cold = Runs().run(0, [0], 1, look_up=ahead)
    runs = Runs()
    runs.run(0, [0], 0)
    warm = runs.run(1, [0], 1, look_up=ahead)

    assert time_lags(cold) == [(None, None, None)]
    assert time_lags(warm)[0][0] == pytest.approx(30, abs=0.3)


def test_without_a_response_the_row_has_no_time_lag_and_the_group_grows_older() -> None:
    broker, log = an_hour()
    runs = Runs()
    runs.run(0, [100], log.end, look_up=broker)
    report = runs.run(5, [100], contract.TIMEOUT, look_up=broker)

    assert time_lags(report) == [(None, None, None)]
    assert table(report.snapshot.groups, *TIMES)[0][0] == pytest.approx(2900, abs=0.5)


def test_an_unread_partition_keeps_its_date_for_when_it_is_back() -> None:
    broker, log = an_hour()
    runs = Runs()
    runs.run(0, [100], log.end, look_up=broker)
    runs.run(1, [100], contract.TIMEOUT, look_up=broker)
    report = runs.run(2, [100], log.end)

    assert time_lags(report)[0][0] == pytest.approx(2720, abs=0.5)
    assert time_lags(report)[0][1] == 0.0


def test_while_the_clock_is_back_there_is_no_age_and_the_date_is_kept() -> None:
    broker, log = an_hour()
    runs = Runs()
    runs.run(0, [100], log.end, look_up=broker)
    ends = runs.memory.ends
    back = runs.run(1, [100], log.end, look_up=broker, clock=-HOUR - MINUTE)
    runs.memory = replace(runs.memory, ends=ends)
    report = runs.run(2, [100], log.end)

    assert time_lags(back) == [(None, None, None)]
    assert time_lags(report)[0][:2] == (2720.15, 0.0)


FIVE_MINUTES = Rules().at_interval(5 * MINUTE)


def test_a_compacted_topic_is_dated_anew_once_an_hour_and_keeps_its_date_meanwhile() -> None:
    """Its age may be as small as 0 then, and no broker that does not answer ends its date."""
    broker, log = an_hour()
    runs = Runs(FIVE_MINUTES, policy="compact")
    runs.run(0, [100], log.end, look_up=broker)
    counts = []
    for minute in range(5, 65, 5):
        report = runs.run(minute, [100], log.end, look_up=broker)
        ((age, error, method),) = time_lags(report)
        assert error == (age if method == "carried" else 0.0)
        counts.append(report.look_ups > 0)
    assert sum(counts) == 1

    turn = 5 * (counts.index(True) + 1) + 60
    report = runs.run(turn, [100], log.end)
    assert time_lags(report)[0][2] == "carried"


def test_a_stop_on_a_compacted_topic_ends_by_no_cleaning_but_by_a_commit() -> None:
    log = Log([NOON - HOUR + i * 10 * SECOND for i in range(360)])
    broker, runs = Broker({("t", 0): log}), Runs(FIVE_MINUTES, policy="compact")
    found: list[str | None] = []
    for minute in range(0, 80, 5):
        log.times.append(NOON + minute * MINUTE)
        if minute == 25:
            log.dead.update(range(100, log.end - 2))
        commit = log.end - 1 if minute == 75 else 100
        report = runs.run(minute, [commit], log.end, look_up=broker, members=0)
        found.append(partition(report, "status")[0])
        ages = table(report.snapshot.groups, "time_lag_seconds")

    assert set(found[4:15]) == {contract.STOP}
    assert found[15] == contract.OK
    assert ages[0][0] < HOUR / SECOND


def test_under_a_small_budget_what_rests_is_dated_before_what_moves() -> None:
    times = [NOON - 10 * HOUR + i * MINUTE for i in range(600)]
    broker = Broker({("t", number): Log(times) for number in range(2)})
    previous_runs, rules = PreviousRuns.empty(), Rules(lookup_budget=5)
    for run in range(4):
        at = NOON + run * MINUTE
        reading = a_reading({"g": {"t": [100 + run, 400]}}, {"t": [(0, 600)] * 2}, at=at)
        report = evaluate(reading, previous_runs, rules, at, broker)
        previous_runs = PreviousRuns(report.snapshot)

    assert time_lags(report)[1][2] == "carried"


@pytest.mark.parametrize("unread", [0, 1])
def test_of_groups_at_one_offset_one_that_was_looked_up_dates_both(unread: int) -> None:
    broker, log = an_hour()
    runs = Runs()
    runs.run(0, [100, 100], log.end)
    runs.run(1, [100, 100], log.end)
    commits: list[Commit] = [100, 100]
    commits[unread] = contract.TIMEOUT
    runs.run(2, commits, log.end, look_up=broker)
    report = runs.run(3, [100, 100], log.end)

    assert time_lags(report) == [(2780.15, 0.0, "carried")] * 2


# A follower that hangs holds the high watermark back: records come, and the log's end stands.

# After a run began ends are requested; an age is by the clock when commits came.
REQUESTED, NOW = 160, 150


def records(every: int) -> list[int]:
    return list(range(NOON - MINUTE, NOON + 5 * MINUTE, every))


class HangingFollower:
    """One partition; its high watermark stood still from `since` to `until`, ms."""

    def __init__(self, times: list[int], since: int, until: int) -> None:
        self.times, self.since, self.until = times, since, until
        self.look_up: LookUp = Broker({("t", 0): Log(times)})

    def end(self, at: int) -> int:
        """The end that consumers, and a run of that time, see."""
        requested = at + REQUESTED
        return bisect_right(
            self.times, self.since if self.since < requested < self.until else requested
        )

    def readable(self, offset: int) -> int:
        """When the high watermark passed this record."""
        time = self.times[offset]
        return self.until if self.since < time < self.until else time


def beyond(report: LagReport, offsets: list[int], since: list[int], at: int) -> list[float]:
    """By how many seconds each true age lies outside the reported bounds, where it does."""
    found = zip(time_lags(report), since, strict=True)
    outside = [
        abs((at + NOW - time) / SECOND - seconds) - error for (seconds, error, _), time in found
    ]
    assert len(outside) == len(offsets)
    return [seconds for seconds in outside if seconds > 0.001]


@pytest.mark.parametrize(("stall", "every"), [(5 * SECOND, 70), (29 * SECOND, 1_900)])
def test_no_age_is_outside_its_bound_while_the_high_watermark_stands_still(
    stall: int, every: int
) -> None:
    requested = NOON + MINUTE + REQUESTED
    topic = HangingFollower(records(every), requested - stall // 2, requested + stall // 2)
    first, last = topic.end(NOON + MINUTE) - 3, bisect_right(topic.times, topic.until) + 3
    offsets = sorted({first + (last - first) * n // 39 for n in range(40)})
    runs, outside = Runs(), []
    for run in range(5):
        at = NOON + run * MINUTE
        commits = [min(offset, topic.end(at)) for offset in offsets]
        report = runs.run(run, commits, topic.end(at), look_up=topic.look_up)
        if run >= 2:
            outside += beyond(report, offsets, [topic.times[o] for o in offsets], at)

    assert outside == []


def test_a_record_that_came_before_the_last_reading_is_dated_by_both_moments() -> None:
    requested = NOON + MINUTE + REQUESTED
    topic = HangingFollower(records(500), requested - 2_500, requested + 2_500)
    offset = topic.end(NOON + MINUTE)
    runs = Runs()
    for run in range(2):
        at = NOON + run * MINUTE
        runs.run(run, [topic.end(at)], topic.end(at), look_up=topic.look_up)
    for run in range(2, 5):
        at = NOON + run * MINUTE
        report = runs.run(run, [offset], topic.end(at), look_up=topic.look_up)

        assert beyond(report, [offset], [topic.times[offset]], at) == []
        assert beyond(report, [offset], [topic.readable(offset)], at) == []
        age = (at + NOW - topic.times[offset]) / SECOND
        assert time_lags(report)[0][0] == pytest.approx(age, abs=1)
        assert report.look_ups == 0 or run == 2


@pytest.mark.parametrize("late", [31 * SECOND, 10 * MINUTE])
def test_a_record_time_that_no_follower_explains_is_a_producer_s_clock(late: int) -> None:
    log = Log([NOON - late] * 10)
    runs = Runs()
    runs.run(0, [0], 0, look_up=Broker({("t", 0): log}))
    for run in range(1, 4):
        report = runs.run(run, [0], 10, look_up=Broker({("t", 0): log}))
        seconds, error, _ = time_lags(report)[0]

        assert seconds == pytest.approx(60 * run, abs=0.1)
        assert error == pytest.approx(60, abs=0.1)


# A record each 10 seconds, an hour long; its time is when it was appended.
APPENDED = list(range(NOON - 30 * MINUTE + 5 * SECOND, NOON + 30 * MINUTE, 10 * SECOND))


def end(minute: int) -> int:
    return bisect_right(APPENDED, NOON + minute * MINUTE + 160)


def test_what_was_dated_while_the_clock_was_right_needs_no_look_up() -> None:
    broker = Broker({("t", 0): Log(APPENDED)})
    runs = Runs(look_up=broker)
    counts = []
    for minute in range(-10, 10):
        clock = -120 * SECOND if minute in (0, 1, 2) else 0
        runs.run(minute, 30, end(minute), clock=clock)
        counts.append(broker.look_up_count)

    assert counts[0] > 0
    assert set(counts) == {counts[0]}
