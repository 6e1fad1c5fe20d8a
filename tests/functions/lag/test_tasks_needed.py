# SPDX-License-Identifier: Apache-2.0
"""Tasks that a group needs: for the rate, for the backlog, and when they are not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.group_settings import ByName, Rules, TaskSettings
from kafka_lag.lag.model import LagReport
from kafka_lag.snapshots.previous import Memory
from tests.builders import MINUTE, NOON, a_reading
from tests.functions.lag.builders import group

NEEDED = ("tasks_needed", "tasks_needed_reason")
# Records/s that one member reads, and partitions of the topic, unless a case says otherwise.
CAPACITY, PARTITIONS = 30.0, 12


class Load:
    """Runs over one group with a configured capacity, an interval apart."""

    def __init__(self, settings: Mapping[str, Any] | None = None, interval: int = MINUTE) -> None:
        self.interval = interval
        tasks = ByName.of([("g", TaskSettings(**{"capacity": CAPACITY, **(settings or {})}))])
        self._rules = Rules(tasks=tasks, lookup_budget=0).at_interval(interval)
        self._memory, self._run = Memory.empty(), 0
        self._ends: list[float] = []
        self._commits: list[float] = []

    def run(
        self,
        rates: Sequence[float],
        lags: Sequence[float] | None = None,
        stuck: Sequence[int] = (),
        unread: Sequence[int] = (),
        **more: Any,
    ) -> LagReport:
        """One run: records/s written to each partition since the last, and its lag at the end."""
        self._ends = self._ends or [1e6] * len(rates)
        self._commits = self._commits or list(self._ends)
        seconds = self.interval / 1_000
        self._ends = [end + rate * seconds for end, rate in zip(self._ends, rates, strict=True)]
        left = lags or [0.0] * len(rates)
        self._commits = [
            old if number in stuck else end - lag
            for number, (old, end, lag) in enumerate(
                zip(self._commits, self._ends, left, strict=True)
            )
        ]
        at = NOON + self._run * self.interval
        self._run += 1
        count = range(len(rates))
        reading = a_reading(
            {"g": {"t": [round(commit) for commit in self._commits]}},
            {
                "t": [
                    contract.NO_LEADER if number in unread else (0, round(end))
                    for number, end in enumerate(self._ends)
                ]
            },
            at=at,
            **{"owners": {("g", "t", number): "m" for number in count}, **more},
        )
        report = evaluate(reading, self._memory.previous_runs(), self._rules, at)
        self._memory = self._memory.add_run(report.snapshot, self.interval, stored=True)
        return report


def even(total: float, partitions: int = PARTITIONS) -> list[float]:
    return [total / partitions] * partitions


def needed(
    rates: Sequence[float],
    lags: Sequence[float] | None = None,
    members: int = PARTITIONS,
    **settings: Any,
) -> tuple[Any, ...]:
    """Tasks and reason after two runs at these rates, with these lags and members at both."""
    load = Load(settings)
    load.run([0.0] * len(rates), lags, members=members)
    return group(load.run(rates, lags, members=members), *NEEDED)


@pytest.mark.parametrize(
    ("members", "tasks"),
    [
        pytest.param(0.1, 1, id="a tenth"),
        pytest.param(1.0, 1, id="one"),
        pytest.param(1.1, 2, id="a little more than one"),
        pytest.param(3.5, 4, id="three partitions each"),
        pytest.param(4.0, 4, id="whole"),
        pytest.param(4.5, 6, id="five would leave one with three"),
        pytest.param(6.5, 12, id="seven would leave five with two"),
        pytest.param(12.0, 12, id="one each"),
    ],
)
def test_partitions_are_shared_out_evenly(members: float, tasks: int) -> None:
    assert needed(even(members * CAPACITY)) == (tasks, contract.NEEDED_FOR_RATE)


@pytest.mark.parametrize(("members", "tasks"), [(0.1, 1), (4.5, 5), (6.5, 7)])
def test_records_can_be_shared_out_as_if_at_will(members: float, tasks: int) -> None:
    found = needed(even(members * CAPACITY), prefer_even=False)
    assert found == (tasks, contract.NEEDED_FOR_RATE)


@pytest.mark.parametrize(("each", "tasks"), [(2, 6), (5, 3), (100, 1)])
def test_tasks_hold_so_many_members(each: int, tasks: int) -> None:
    assert needed(even(12 * CAPACITY), members_per_task=each)[0] == tasks


def test_nothing_written_and_nothing_to_read_needs_no_task() -> None:
    assert needed(even(0)) == (0, contract.NEEDED_FOR_RATE)


def test_a_backlog_that_nobody_reads_needs_one_task() -> None:
    load = Load()
    load.run(even(0), [1e5] * PARTITIONS)
    for _ in range(30):
        report = load.run(even(0), stuck=range(PARTITIONS), members=0, owners={})
    assert group(report, "tasks_needed") == (1,)


def test_a_group_without_tasks_gets_one_for_records_that_came_in_an_unread_run() -> None:
    """Nothing more is written, and a backlog that nobody reads calls for none."""
    load = Load()
    nobody: dict[str, Any] = {"members": 0, "owners": {}}
    for _ in range(3):
        before = load.run(even(0), **nobody)
    load.run(even(12), [60.0] * PARTITIONS, range(PARTITIONS), range(PARTITIONS), **nobody)
    for _ in range(3):
        report = load.run(even(0), [60.0] * PARTITIONS, range(PARTITIONS), **nobody)
    assert [group(each, "tasks_needed") for each in (before, report)] == [(0,), (1,)]


@pytest.mark.parametrize(
    ("share", "total", "tasks"),
    [
        # Alone it is more than one member reads: a member of its own, and two for the others.
        pytest.param(0.61, 5.0, 4, id="more than one member reads"),
        # With two others it has 0.8 + 2 x 0.1: no more fit beside it.
        pytest.param(0.8 / 1.9, 1.9, 4, id="most of what one reads"),
    ],
)
def test_a_hot_partition_decides_it(share: float, total: float, tasks: int) -> None:
    whole = total * CAPACITY
    rates = [whole * share] + [whole * (1 - share) / 11] * 11
    assert needed(rates) == (tasks, contract.NEEDED_FOR_HOT_PARTITION)


@pytest.mark.parametrize(("behind", "tasks"), [(0.0, 5), (0.3, 5), (0.5, 6), (9.0, 6)])
def test_a_hot_partition_that_falls_behind_gets_fewer_beside_it(behind: float, tasks: int) -> None:
    """With fewer it is full, and never works off any of it."""
    rates = [0.9 * CAPACITY] + [0.6 * CAPACITY / 23] * 23
    lags = [rates[0] * 60 + behind * CAPACITY * 300] + [0.0] * 23
    assert needed(rates, lags) == (tasks, contract.NEEDED_FOR_HOT_PARTITION)


def test_the_hottest_partition_is_named_with_its_share() -> None:
    load = Load()
    load.run([0.0] * 4)
    report = load.run([10, 10, 10, 70])
    names = ("hottest_topic", "hottest_partition", "hottest_share")
    assert group(report, *names) == ("t", 3, pytest.approx(0.7))


def test_a_topic_that_the_group_has_left_needs_no_task() -> None:
    """Nobody has owned it for a day, and no commit on it has changed."""
    rules = Rules(
        tasks=ByName.of([("g", TaskSettings(capacity=CAPACITY))]), lookup_budget=0
    ).at_interval(MINUTE)
    memory = Memory.empty()
    found: list[int | None] = []
    for minute in (0, 1, 25 * 60, 25 * 60 + 1):
        at, end = NOON + minute * MINUTE, 1_000 + round(0.9 * CAPACITY * 60) * minute
        reading = a_reading(
            {"g": {"t": [end], "left": [1_000]}},
            {"t": [(0, end)], "left": [(0, end)]},
            at=at,
            owners={("g", "t", 0): "m"},
        )
        report = evaluate(reading, memory.previous_runs(), rules, at)
        memory = memory.add_run(report.snapshot, MINUTE, stored=True)
        found += group(report, "tasks_needed")
    assert found == [None, 2, 1, 1]


# The backlog that two more members would work off in time, and what came since the last commit.
TWO_MEMBERS, SINCE = 2 * CAPACITY * 300 / PARTITIONS, 4 * CAPACITY * 60 / PARTITIONS


@pytest.mark.parametrize(
    ("lag", "found"),
    [
        pytest.param(SINCE, (4, "rate"), id="what came since is none"),
        pytest.param(SINCE + 0.49 * TWO_MEMBERS, (4, "rate"), id="read in a quarter of the time"),
        pytest.param(SINCE + TWO_MEMBERS, (6, "backlog"), id="two members more"),
        pytest.param(SINCE + 1.5 * TWO_MEMBERS, (7, "backlog"), id="three members more"),
        pytest.param(SINCE + 100 * TWO_MEMBERS, (12, "partitions"), id="more than partitions"),
    ],
)
def test_a_backlog_is_worked_off_in_time(lag: float, found: tuple[int, str]) -> None:
    rates = even(4 * CAPACITY)
    assert needed(rates, [lag] * PARTITIONS, prefer_even=False) == found


@pytest.mark.parametrize(("seconds", "tasks"), [(600, 6), (300, 8), (150, 12)])
def test_the_time_to_catch_up_is_configured(seconds: float, tasks: int) -> None:
    lags = [SINCE + 2 * TWO_MEMBERS] * PARTITIONS
    found = needed(even(4 * CAPACITY), lags, prefer_even=False, catch_up_seconds=seconds)
    assert found[0] == tasks


@pytest.mark.parametrize(("members", "tasks"), [(6, 6), (5, 7), (4, 7), (2, 8), (1, 9)])
def test_a_backlog_grows_until_more_members_read(members: int, tasks: int) -> None:
    """Six are enough, if they are there."""
    lags = [SINCE + TWO_MEMBERS] * PARTITIONS
    assert needed(even(4 * CAPACITY), lags, members, prefer_even=False)[0] == tasks


@pytest.mark.parametrize(("each", "tasks"), [(1, 7), (4, 2), (6, 1)])
def test_a_task_that_was_called_for_brings_all_its_members(each: int, tasks: int) -> None:
    """Four members were called for before the backlog was there: more read it than one."""
    load, rates = Load({"prefer_even": False, "members_per_task": each}), even(4 * CAPACITY)
    load.run(rates)
    load.run(rates)
    behind = [SINCE + TWO_MEMBERS] * PARTITIONS
    assert group(load.run(rates, behind), "tasks_needed") == (tasks,)


def test_the_backlog_of_one_partition_is_one_task_at_most() -> None:
    lags = [1e6, *[0.0] * 11]
    assert needed(even(0), lags) == (1, contract.LIMITED_BY_PARTITIONS)
    found = needed(even(2.5 * CAPACITY), lags, prefer_even=False)
    assert found == (4, contract.NEEDED_FOR_BACKLOG)


def test_a_partition_that_was_late_keeps_its_reader_until_it_is_worked_off() -> None:
    """Then six members can read as much as is written to each of theirs, and no more."""
    load, rates = Load(), [0.9 * CAPACITY, *[1.1 * CAPACITY / 11] * 11]
    behind = (0.0, 0.6, 0.5, 0.3, 0.1, 0.04, 0.0)
    found = []
    for share in behind:
        lag = rates[0] * (60 + share * 300)
        report = load.run(rates, [lag, *[0.0] * 11], members=6)
        found.append(group(report, "tasks_needed")[0])
    assert found == [None, 12, 12, 12, 12, 6, 6]


def test_a_partition_that_stands_still_has_no_backlog_for_more_tasks() -> None:
    """Its records still need the task that they needed before."""
    load, rates = Load(), even(4 * CAPACITY)
    load.run(rates)
    found = {group(load.run(rates, stuck=[0]), *NEEDED) for _ in range(30)}
    assert found == {(4, contract.NEEDED_FOR_RATE)}


def full_store(**settings: Any) -> tuple[Any, ...]:
    """Three members that read three members' worth, then six that read no more, of nine's."""
    load, lag = Load(settings), 0.0
    for members in [3] * 8 + [6] * 5:
        lag += 6 * CAPACITY * 60 / PARTITIONS
        owners = {("g", "t", number): f"m{number % members}" for number in range(PARTITIONS)}
        report = load.run(even(9 * CAPACITY), [lag] * PARTITIONS, members=members, owners=owners)
    return group(report, *NEEDED)


@pytest.mark.parametrize(("each", "tasks"), [(1, 3), (2, 2)])
def test_more_members_than_share_what_is_full_are_not_asked_for(each: int, tasks: int) -> None:
    assert full_store(members_per_task=each) == (tasks, contract.LIMITED_BY_SHARED)


# When it is not known.


def test_without_a_capacity_there_is_no_number() -> None:
    assert needed(even(120), capacity=None) == (None, contract.NO_CAPACITY)


def test_the_first_reading_shows_no_rate() -> None:
    assert group(Load().run(even(120)), *NEEDED) == (None, contract.NO_RATE)


def test_a_partition_that_was_not_read_makes_it_unknown() -> None:
    load = Load()
    load.run(even(120))
    load.run(even(120))
    assert group(load.run(even(120), unread=[5]), *NEEDED) == (None, contract.PARTITIONS_UNREAD)
    assert group(load.run(even(120)), "tasks_needed") == (4,)


# How it rises and falls, minute by minute.


def numbers(load: Load, totals: Sequence[float]) -> list[int]:
    """Tasks needed at each of these totals, in members' worth."""
    return [group(load.run(even(total * CAPACITY)), "tasks_needed")[0] for total in totals]


def at_rest(total: float) -> Load:
    """Runs at this total, for as long as any rate counts."""
    return copy(_at_rest(total))


@cache
def _at_rest(total: float) -> Load:
    load = Load({"prefer_even": False})
    numbers(load, [total] * 17)
    return load


def test_it_rises_with_two_minutes_of_many_more_records() -> None:
    assert numbers(at_rest(3.5), [11, 11, 11]) == [4, 11, 11]


def test_it_rises_with_the_mean_of_the_last_minutes() -> None:
    found = numbers(at_rest(3.5), [5.2] * 20)
    assert (found[0], found[-1]) == (4, 6)
    assert found == sorted(found)


def late_by(load: Load, total: float, seconds: float, members: int = 4) -> int:
    """Tasks needed at this total where all partitions are so late, beyond the run of a commit."""
    rates = even(total * CAPACITY)
    report = load.run(rates, [rate * (60 + seconds) for rate in rates], members=members)
    found: int = group(report, "tasks_needed")[0]
    return found


@pytest.mark.parametrize(
    ("seconds", "tasks"),
    [
        pytest.param(0, 4, id="in time"),
        pytest.param(25, 4, id="three minutes more are within the time to catch up"),
        pytest.param(60, 5, id="they would not be, but five work it off"),
        pytest.param(150, 8, id="a backlog"),
    ],
)
def test_it_rises_by_a_task_when_those_there_are_would_fall_behind(
    seconds: float, tasks: int
) -> None:
    load = Load({"prefer_even": False})
    numbers(load, [3.5, 3.5])
    in_time = [late_by(load, 4.5, 0) for _ in range(4)]
    late = [late_by(load, 4.5, seconds) for _ in range(2)]
    assert (in_time, late[-1]) == ([4] * 4, tasks)


@pytest.mark.parametrize(
    ("stuck", "members", "last"),
    [
        pytest.param(range(PARTITIONS), 0, 5, id="no task runs"),
        pytest.param([0], 4, 4, id="one partition is stuck, the others are in time"),
    ],
)
def test_it_rises_though_nobody_reads_once_records_would_be_late(
    stuck: Sequence[int], members: int, last: int
) -> None:
    """Four tasks would fall behind, and what waits for them is a backlog of minutes."""
    load, owned = at_rest(3.5), {("g", "t", number): "m" for number in range(PARTITIONS)}
    owners = owned if members else {}
    found = []
    for _ in range(15):
        report = load.run(even(4.5 * CAPACITY), stuck=stuck, members=members, owners=owners)
        found.append(group(report, "tasks_needed")[0])
    assert (found[0], found[-1]) == (4, last)
    assert found == sorted(found)


def test_it_falls_once_the_greatest_rate_is_fifteen_minutes_ago() -> None:
    found = numbers(at_rest(9.9), [2.5] * 20)
    assert found == [10] * 13 + [3] * 7


def test_it_keeps_what_many_more_records_need() -> None:
    found = numbers(at_rest(5.5), [9.5] * 16)
    assert found == [6, *[10] * 15]


def in_waves(total: float, high: int, times: float, every: int) -> list[float]:
    """Members' worth, minute by minute for an hour: so many times the mean in the first minutes."""
    low = (every - high * times) / (every - high)
    return [total * (times if minute % every < high else low) for minute in range(60)]


@pytest.mark.parametrize(
    ("rates", "most"),
    [
        pytest.param(in_waves(2.6, 4, 1.5, 8), 3, id="four minutes of 3.9"),
        pytest.param(in_waves(1.3, 3, 2.5, 15), 2, id="three minutes of 3.25"),
    ],
)
def test_bursts_that_are_worked_off_in_time_need_no_more_than_their_mean(
    rates: list[float], most: int
) -> None:
    load = Load({"prefer_even": False})
    assert set(numbers(load, rates)[30:]) == {most}


def test_it_falls_though_one_partition_has_a_backlog() -> None:
    load, lags = Load(), [5_000.0] + [0.0] * (PARTITIONS - 1)
    for _ in range(20):
        before = load.run(even(4 * CAPACITY), lags)
    for _ in range(20):
        report = load.run(even(CAPACITY), lags)
    assert group(before, "tasks_needed") == (6,)
    assert group(report, "tasks_needed") == (2,)


def test_it_does_not_fall_while_a_task_is_missing_for_the_backlog() -> None:
    load = at_rest(3.5)
    behind = [3.5 * CAPACITY * 60 / PARTITIONS + 3_000] * PARTITIONS
    rates = even(3.5 * CAPACITY)
    raised, _ = group(load.run(rates, behind), *NEEDED)
    lags = [behind[0] * share for share in (0.9, 0.8, 0.7, 0.6)]
    found = [group(load.run(rates, [lag] * PARTITIONS), "tasks_needed")[0] for lag in lags]
    assert (raised, found) == (9, [9] * 4)
    assert group(load.run(rates), "tasks_needed") == (4,)


@pytest.mark.parametrize(("total", "tasks"), [(6.0, 6), (6.1, 7)])
def test_a_task_fewer_must_have_room_to_spare(total: float, tasks: int) -> None:
    assert numbers(at_rest(6.5), [total] * 17)[-1] == tasks
    assert numbers(at_rest(5.5), [total] * 17)[-1] == 6


def test_runs_seconds_apart_keep_no_more_rates_and_need_as_many_tasks() -> None:
    load, minutes = Load(interval=5_000), Load()
    for _ in range(40):
        found = load.run(even(4 * CAPACITY))
    for _ in range(17):
        expected = minutes.run(even(4 * CAPACITY))
    assert group(found, *NEEDED) == group(expected, *NEEDED)
    assert len(group(found, "rates_lately")[0]) <= 4
    # Five seconds of many more records are few records more in a minute.
    burst = load.run(even(20 * CAPACITY))
    assert group(burst, "tasks_needed") == group(expected, "tasks_needed")


def test_runs_five_minutes_apart_look_back_as_far() -> None:
    load = Load({"prefer_even": False}, interval=5 * MINUTE)
    found = numbers(load, [9.5] * 6 + [2.5] * 6)
    assert found[5:] == [10, 10, 10, 3, 3, 3, 3]


# Whatever the numbers are.

RATES = st.lists(st.floats(0, 100), min_size=1, max_size=8)
LAGS = st.floats(0, 1e6)


@settings(max_examples=10)
@given(RATES, LAGS, st.floats(0, 1e6), st.booleans())
def test_more_backlog_never_needs_fewer_tasks(
    rates: list[float], lag: float, more: float, prefer_even: bool
) -> None:
    less, _ = needed(rates, [lag] * len(rates), prefer_even=prefer_even)
    found, _ = needed(rates, [lag + more] * len(rates), prefer_even=prefer_even)
    assert 0 <= less <= found <= len(rates)


@settings(max_examples=5)
@given(st.permutations([0.0, 1.0, 5.0, 20.0, 40.0]), st.booleans())
def test_partitions_have_no_order(rates: list[float], prefer_even: bool) -> None:
    assert needed(rates, prefer_even=prefer_even) == needed(sorted(rates), prefer_even=prefer_even)
