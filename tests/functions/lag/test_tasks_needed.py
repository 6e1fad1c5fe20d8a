# SPDX-License-Identifier: Apache-2.0
"""Tasks that a group needs: for the rate, for the backlog, and when they are not known."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias
from unittest.mock import ANY

import pytest

from kafka_lag import contract
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.group_settings import ByName, Rules, TaskSettings
from kafka_lag.snapshots.previous import Memory
from tests.builders import MINUTE, NOON, a_reading
from tests.functions.lag.builders import group
from tests.functions.lag.strips import Strips, strip_of

# Records/s that one member reads, and partitions of the topic, unless a case says otherwise.
CAPACITY, PARTITIONS = 30.0, 12
# One value for each partition.
Each: TypeAlias = Sequence[float]
ALL = range(PARTITIONS)


@dataclass(frozen=True, slots=True)
class Load:
    """One group run by run: records/s written to each partition before it, and its lags then.

    `lags`, `members` and `each_owns` go on with their last value. `stuck` partitions are not read
    from that run on, and in the run `unread` none of them is seen.
    """

    rates: Sequence[Each]
    lags: Sequence[Each] = ()
    members: Sequence[int] = (1,)
    stuck: Sequence[int] = ()
    since: int = 1
    unread: Mapping[int, Sequence[int]] = field(default_factory=dict)
    is_shared: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    def strip(self, interval: int = MINUTE) -> str:
        """What the runs see of it."""
        lines: dict[str, Sequence[object]] = {"members": self.members}
        for number in range(len(self.rates[0])):
            end, ends, commits, owners = 1e6, list[object](), list[object](), list[str]()
            brokers_lags = list[object]()
            for run, rates in enumerate(self.rates):
                end += rates[number] * interval / 1_000
                lag = self.lags[min(run, len(self.lags) - 1)][number] if self.lags else 0.0
                is_stuck = number in self.stuck and run >= self.since
                commits.append(commits[-1] if is_stuck else round(end - lag))
                brokers_lags.append(round(lag))
                is_unread = number in self.unread.get(run, ())
                ends.append(contract.NO_LEADER if is_unread else round(end))
                members = self.members[min(run, len(self.members) - 1)]
                owners.append(f"m{number % members}" if members else "-")
            if self.is_shared:
                owners = [contract.SHARED_MEMBER]
                lines[f"shared.{number}"] = brokers_lags
            lines |= {f"end.{number}": ends, f"commit.{number}": commits, f"owner.{number}": owners}
        return strip_of(**lines)


def even(total: float, partitions: int = PARTITIONS) -> Each:
    """So many members' worth, evenly."""
    return [total * CAPACITY / partitions] * partitions


def two(rates: Each, lags: Each | None = None, members: int = PARTITIONS, **settings: Any) -> Load:
    """Two runs at these rates, with these lags and members at both."""
    return Load([[0.0] * len(rates), rates], [lags] if lags else (), (members,), settings=settings)


def minutes(*totals: float, **more: Any) -> Load:
    """Members' worth minute by minute."""
    return Load([even(total) for total in totals], settings={"prefer_even": False}, **more)


def rest(total: float) -> list[float]:
    """Minutes at this total, for as long as any rate counts."""
    return [total] * 17


def hot(share: float, total: float) -> Each:
    whole = total * CAPACITY
    return [whole * share] + [whole * (1 - share) / 11] * 11


def behind(share: float) -> Load:
    """A hot partition of 24 that is behind by this share of what a member reads in time."""
    rates = [0.9 * CAPACITY] + [0.6 * CAPACITY / 23] * 23
    return two(rates, [rates[0] * 60 + share * CAPACITY * 300] + [0.0] * 23)


# The backlog that two more members would work off in time, and what came since the last commit.
TWO_MEMBERS, SINCE = 2 * CAPACITY * 300 / PARTITIONS, 4 * CAPACITY * 60 / PARTITIONS


def backlog(lag: float, members: int = PARTITIONS, **settings: Any) -> Load:
    return two(even(4), [SINCE + lag] * PARTITIONS, members, prefer_even=False, **settings)


def shared(load: Load) -> Load:
    return replace(load, is_shared=True)


def full_store(each: int) -> Load:
    """Three members that read three members' worth, then six that read no more, of nine's."""
    lags = [[6 * CAPACITY * 60 / PARTITIONS * (run + 1)] * PARTITIONS for run in range(13)]
    settings = {"members_per_task": each}
    return Load([even(9)] * 13, lags, [3] * 8 + [6], settings=settings)


def one_slow(share: float) -> Load:
    """Four members, each with what 0.7 of one read; from run 15 on one reads this share of that."""
    behind = 0.7 * CAPACITY / 3 * 60 * (1 - share)
    lags = [
        [max(run - 14, 0) * behind if number % 4 == 0 else 0.0 for number in ALL]
        for run in range(70)
    ]
    return Load([even(2.8)] * 70, lags, (4,))


RATE, HOT = contract.NEEDED_FOR_RATE, contract.NEEDED_FOR_HOT_PARTITION
BACKLOG, FEW = contract.NEEDED_FOR_BACKLOG, contract.LIMITED_BY_PARTITIONS
SHARED = contract.LIMITED_BY_SHARED
LATE = [1e6, *[0.0] * 11]
# Tasks and reason in the last run.
CASES: dict[str, tuple[Load, int | None, str]] = {
    # Partitions are shared out evenly, so that five would leave one with three.
    "a tenth": (two(even(0.1)), 1, RATE),
    "one": (two(even(1.0)), 1, RATE),
    "a little more than one": (two(even(1.1)), 2, RATE),
    "three partitions each": (two(even(3.5)), 4, RATE),
    "whole": (two(even(4.0)), 4, RATE),
    "five would leave one with three": (two(even(4.5)), 6, RATE),
    "seven would leave five with two": (two(even(6.5)), 12, RATE),
    "one each": (two(even(12.0)), 12, RATE),
    "not evenly": (two(even(4.5), prefer_even=False), 5, RATE),
    "tasks of two members": (two(even(12), members_per_task=2), 6, RATE),
    "tasks of five members": (two(even(12), members_per_task=5), 3, RATE),
    "tasks of a hundred members": (two(even(12), members_per_task=100), 1, RATE),
    "nothing written and nothing to read": (two(even(0)), 0, RATE),
    "a backlog that nobody reads": (
        Load([even(0)] * 31, [[1e5] * 12], (1, 0), stuck=ALL),
        1,
        ANY,
    ),
    # Alone it is more than one member reads: a member of its own, and two for the others.
    "a hot partition": (two(hot(0.61, 5.0)), 4, HOT),
    # Fewer members would put others beside it, although its member reads all it can.
    "a hot partition with a small backlog": (
        two(hot(0.61, 2.5), [1.7 * CAPACITY * 60, *[0.0] * 11], members=5),
        5,
        HOT,
    ),
    # With two others it has 0.8 + 2 x 0.1: no more fit beside it.
    "a partition of most of what one reads": (two(hot(0.8 / 1.9, 1.9)), 4, HOT),
    # With fewer beside it a hot partition is full, and never works off any of its backlog.
    "a hot partition in time": (behind(0.0), 5, HOT),
    "a hot partition a little behind": (behind(0.3), 5, HOT),
    "a hot partition behind": (behind(0.5), 6, HOT),
    "a hot partition far behind": (behind(9.0), 6, HOT),
    "what came since is no backlog": (backlog(0), 4, RATE),
    "a backlog read in a quarter of the time": (backlog(0.49 * TWO_MEMBERS), 4, RATE),
    "a backlog of two members": (backlog(TWO_MEMBERS), 6, BACKLOG),
    "a backlog of three members": (backlog(1.5 * TWO_MEMBERS), 7, BACKLOG),
    "a backlog of more than partitions": (backlog(100 * TWO_MEMBERS), 12, FEW),
    # Members of a share group read the same partitions, so that more than there are help.
    "shared by more than partitions": (shared(two(even(9, 3))), 9, RATE),
    "a shared partition that gets most": (shared(two(hot(0.61, 5.0))), 5, RATE),
    "a shared backlog of twenty members": (shared(backlog(10 * TWO_MEMBERS)), 25, BACKLOG),
    "in ten minutes": (backlog(2 * TWO_MEMBERS, catch_up_seconds=600), 6, ANY),
    "in five minutes": (backlog(2 * TWO_MEMBERS, catch_up_seconds=300), 8, ANY),
    "in 150 s": (backlog(2 * TWO_MEMBERS, catch_up_seconds=150), 12, ANY),
    # A backlog grows until more members read: six are enough, if they are there.
    "six are there": (backlog(TWO_MEMBERS, 6), 6, ANY),
    "five are there": (backlog(TWO_MEMBERS, 5), 7, ANY),
    "two are there": (backlog(TWO_MEMBERS, 2), 8, ANY),
    "one is there": (backlog(TWO_MEMBERS, 1), 9, ANY),
    "the backlog of one partition is one task at most": (two(even(0), LATE), 1, FEW),
    "the backlog of one partition, and a rate": (
        two(even(2.5), LATE, prefer_even=False),
        4,
        BACKLOG,
    ),
    "a partition that stands still": (
        Load([even(4)] * 31, stuck=[0]),
        4,
        RATE,
    ),
    # A backlog that only the repair of one member works off calls for no more than the rate.
    "one member hardly reads": (one_slow(0.2), 3, RATE),
    "one member reads less": (one_slow(0.75), 6, BACKLOG),
    # More members than share what is full are not called for.
    "a full store": (full_store(1), 3, SHARED),
    "a full store and tasks of two": (full_store(2), 2, SHARED),
    "no capacity": (two(even(4), capacity=None), None, contract.NO_CAPACITY),
    "the first reading": (Load([even(4)]), None, contract.NO_RATE),
    "a partition that was not read": (
        Load([even(4)] * 3, unread={2: [5]}),
        None,
        contract.PARTITIONS_UNREAD,
    ),
    "a task fewer must have room to spare": (minutes(*rest(6.5), *rest(6.0)), 6, ANY),
    "a task fewer would have too little": (minutes(*rest(6.5), *rest(6.1)), 7, ANY),
    "nor is one more needed": (minutes(*rest(5.5), *rest(6.1)), 6, ANY),
}


def called_for(each: int) -> Load:
    """Four members were called for before the backlog was there: more read it than one."""
    settings = {"prefer_even": False, "members_per_task": each}
    lags = [even(0), even(0), [SINCE + TWO_MEMBERS] * PARTITIONS]
    return Load([even(4)] * 3, lags, settings=settings)


def fall_behind(seconds: float) -> Load:
    """From 3.5 members' worth to 4.5: in time for four minutes, then so late."""
    rates = [*[even(3.5)] * 2, *[even(4.5)] * 6]
    late = [[rate * 60 for rate in even(4.5)]] * 4
    late += [[rate * (60 + seconds) for rate in even(4.5)]] * 2
    lags = [even(0), even(0), *late]
    return Load(rates, lags, (1, 1, 4), settings={"prefer_even": False})


HOT_RATES = [0.9 * CAPACITY, *[1.1 * CAPACITY / 11] * 11]
WAITING = [3.5 * CAPACITY * 60 / PARTITIONS + 3_000] * PARTITIONS
# What one partition lags by that gets half as much again as its member reads.
BEHIND_ALONE = [[CAPACITY * 30.0 * max(n - 17, 0)] + [0.0] * 11 for n in range(45)]
# Tasks in the last runs.
SEQUENCES: dict[str, tuple[Load, list[Any]]] = {
    "records came in a run that was not read": (
        # Nothing more is written, and a backlog that nobody reads calls for none.
        Load(
            [*[even(0)] * 3, even(12 / CAPACITY), *[even(0)] * 3],
            members=(0,),
            stuck=ALL,
            since=3,
            unread={3: ALL},
        ),
        [0, ANY, ANY, ANY, 1],
    ),
    "a task that was called for brings its member": (called_for(1), [7]),
    "a task that was called for brings four members": (called_for(4), [2]),
    "a task that was called for brings six members": (called_for(6), [1]),
    # Then six members can read as much as is written to each of theirs, and no more.
    "a partition that was late keeps its reader until it is worked off": (
        Load(
            [HOT_RATES] * 7,
            [
                [HOT_RATES[0] * (60 + share * 300), *[0.0] * 11]
                for share in (0.0, 0.6, 0.5, 0.3, 0.1, 0.04, 0.0)
            ],
            (6,),
        ),
        [None, 12, 12, 12, 12, 6, 6],
    ),
    "a partition is read again": (Load([even(4)] * 4, unread={2: [5]}), [4, None, 4]),
    "two minutes of many more records": (minutes(*rest(3.5), 11, 11, 11), [4, 11, 11]),
    "the greatest rate is fifteen minutes ago": (
        minutes(*rest(9.9), *[2.5] * 20),
        [10] * 13 + [3] * 7,
    ),
    "many more records are kept": (minutes(*rest(5.5), *[9.5] * 16), [6, *[10] * 15]),
    "in time": (fall_behind(0), [4, 4, 4, 4, ANY, 4]),
    "three minutes more are within the time to catch up": (
        fall_behind(25),
        [4, 4, 4, 4, ANY, 4],
    ),
    "they would not be, but five work it off": (fall_behind(60), [4, 4, 4, 4, ANY, 5]),
    "a backlog": (fall_behind(150), [4, 4, 4, 4, ANY, 8]),
    "fewer records, though one partition has a backlog": (
        Load([*[even(4)] * 20, *[even(1)] * 20], [[5_000.0] + [0.0] * 11], (6,)),
        [6, *[ANY] * 19, 2],
    ),
    "it does not rise while one partition alone is behind": (
        Load([*[even(1)] * 12, *[even(4)] * 20], [[5_000.0] + [0.0] * 11], (2,)),
        [2, 2, 2],
    ),
    "nor does it fall while that gets more than a member reads": (
        Load([*[even(4)] * 17, *[hot(0.61, 2.5)] * 28], BEHIND_ALONE, (5,)),
        [5, 5, 5],
    ),
    "it does not fall while a task is missing for the backlog": (
        minutes(
            *rest(3.5),
            *[3.5] * 6,
            lags=[
                *[even(0)] * 17,
                *[[each * share for each in WAITING] for share in (1, 0.9, 0.8, 0.7, 0.6)],
                even(0),
            ],
        ),
        [9, 9, 9, 9, 9, 4],
    ),
}
# Runs after a rest at 3.5 members' worth in which it rises bit by bit to so many.
SLOWLY = {
    "with the mean of the last minutes": (minutes(*rest(3.5), *[5.2] * 20), 20, 6),
    # Four tasks would fall behind, and what waits for them is a backlog of minutes.
    "though no task runs": (
        minutes(*rest(3.5), *[4.5] * 15, members=[*[1] * 17, 0], stuck=ALL, since=17),
        15,
        5,
    ),
    "not for one partition that is stuck": (
        minutes(*rest(3.5), *[4.5] * 15, members=[*[1] * 17, 4], stuck=[0], since=17),
        15,
        4,
    ),
}


def in_waves(total: float, high: int, times: float, every: int) -> Load:
    """An hour in which so many times the mean is written in the first minutes of each wave."""
    low = (every - high * times) / (every - high)
    return minutes(*(total * (times if n % every < high else low) for n in range(60)))


# Bursts that are worked off in time need no more than their mean.
BURSTS = {
    "four minutes of 3.9": (in_waves(2.6, 4, 1.5, 8), 3),
    "three minutes of 3.25": (in_waves(1.3, 3, 2.5, 15), 2),
}
HOTTEST = Load([[0.0] * 4, [10, 10, 10, 70]])
LOADS: dict[str, Load] = {
    **{name: load for name, (load, *_) in (CASES | SEQUENCES | SLOWLY | BURSTS).items()},
    "hottest": HOTTEST,
}


def rules_of(loads: Mapping[str, Load], interval: int = MINUTE) -> Rules:
    tasks = [
        (f"^{re.escape(name)}$", TaskSettings(**{"capacity": CAPACITY, **load.settings}))
        for name, load in loads.items()
    ]
    return Rules(tasks=ByName.of(tasks), lookup_budget=0).at_interval(interval)


RUNS = Strips({name: load.strip() for name, load in LOADS.items()}, rules_of(LOADS))


def tasks_of(name: str) -> list[Any]:
    return RUNS.said(name, "group.tasks_needed")


@pytest.mark.parametrize("name", CASES)
def test_a_group_needs_so_many_tasks_for_a_reason(name: str) -> None:
    _, tasks, reason = CASES[name]
    assert tasks_of(name)[-1] == tasks
    assert RUNS.said(name, "group.tasks_needed_reason")[-1] == reason


@pytest.mark.parametrize("name", SEQUENCES)
def test_tasks_rise_and_fall_run_by_run(name: str) -> None:
    _, expected = SEQUENCES[name]
    assert tasks_of(name)[-len(expected) :] == expected


@pytest.mark.parametrize("name", SLOWLY)
def test_tasks_rise_bit_by_bit(name: str) -> None:
    _, runs, last = SLOWLY[name]
    found = tasks_of(name)[-runs:]
    assert (found[0], found[-1]) == (4, last)
    assert found == sorted(found)


@pytest.mark.parametrize("name", BURSTS)
def test_bursts_that_are_worked_off_in_time_need_no_more_than_their_mean(name: str) -> None:
    assert set(tasks_of(name)[30:]) == {BURSTS[name][1]}


def test_the_hottest_partition_is_named_with_its_share() -> None:
    names = ("hottest_topic", "hottest_partition", "hottest_share")
    found = [RUNS.said("hottest", f"group.{name}")[-1] for name in names]
    assert found == ["hottest", 3, pytest.approx(0.7)]


def test_a_topic_that_the_group_has_left_needs_no_task() -> None:
    """Nobody has owned it for a day, and no commit on it has changed."""
    rules = rules_of({"g": HOTTEST})
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


def at_interval(interval: int, load: Load) -> Strips:
    return Strips({"g": load.strip(interval)}, rules_of({"g": load}, interval))


def test_runs_seconds_apart_keep_no_more_rates_and_need_as_many_tasks() -> None:
    """Five seconds of many more records are few records more in a minute."""
    runs = at_interval(5_000, Load([*[even(4)] * 40, even(20)]))
    assert runs.said("g", "group.tasks_needed")[-2:] == [4, 4]
    assert len(runs.said("g", "group.rates_lately")[-2]) <= 4


def test_runs_five_minutes_apart_look_back_as_far() -> None:
    runs = at_interval(5 * MINUTE, minutes(*[9.5] * 6, *[2.5] * 6))
    assert runs.said("g", "group.tasks_needed")[5:] == [10, 10, 10, 3, 3, 3, 3]
