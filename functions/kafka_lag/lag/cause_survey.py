# SPDX-License-Identifier: Apache-2.0
"""A run's partitions for the cause rules: which are behind, and which broker is to blame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.cause_case import GROUP_COLUMNS, Broker, Case
from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.previous_rows import PreviousRows
from kafka_lag.lag.rollup import Counts
from kafka_lag.lag.run import Run
from kafka_lag.lag.sets import Sets, distinct, unique

# A partition is behind if its age is this share of its group's oldest, and of a window.
_BEHIND_SHARE, _BEHIND_WINDOWS = 0.25, 0.2
# A broker is to blame for at least this many groups, on at least this many partitions, and for this
# share of the groups that read from it, and of each group's partitions there.
_LEAST_GROUPS, _LEAST_PARTITIONS, _OF_GROUPS, _OF_PARTITIONS = 2, 3, 0.5, 0.8


@dataclass(frozen=True, slots=True)
class Partitions:
    """All group-partitions of a run, a row each.

    `topics` holds their partitions, `at_group` their groups. `leaderless` rows had no leader in two
    runs. `previous`: their previous rows, None if the previous run is not available.
    """

    rows: Frame
    topics: Frame
    at_group: Rows
    counts: Counts
    leaderless: Mask
    run: Run
    previous: PreviousRows | None = None


@dataclass(frozen=True, slots=True)
class Survey:
    """Partitions that are behind or have records to read, and the brokers to blame by group."""

    sets: Sets
    behind: Mask
    active: Mask
    brokers: Mapping[int, Broker]


def survey_partitions(groups: Frame, every: Partitions) -> Survey:
    sets = every.counts.sets(Sets(every.at_group, len(groups)))
    rates = every.topics.numbers("produce_rate")
    least = _BEHIND_WINDOWS * every.run.window_seconds
    error = every.rows.numbers("time_lag_error_seconds").fill(0.0)
    # If the error is large, only the proven part of an age counts.
    proven = (every.counts.age - error).clip(0.0)
    age = every.counts.age.where(error <= least, proven)
    behind, active = _find_behind(sets, age, every.counts.lagging(), rates, least)
    brokers = _blame_brokers(sets, every.rows, age, active, behind, least)
    return Survey(sets, behind, active, brokers)


def list_cases(chosen: Rows, groups: Frame, every: Partitions, survey: Survey) -> Iterator[Case]:
    """Yields the case of each chosen group."""
    sets, behind, active, brokers = survey.sets, survey.behind, survey.active, survey.brokers
    rates = every.topics.numbers("produce_rate")
    age, produced = every.counts.age.fill(0.0), rates.fill(0.0)
    consumed = every.rows.numbers("consume_rate").fill(0.0)
    unchanged = every.run.seconds_since(every.rows.numbers("commit_changed_at"))
    still = behind & (unchanged >= every.run.window_seconds / 2)
    members = every.rows.strings("member_id").codes.fill(-1)
    place = np.full(len(groups) + 1, -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    of_row = place[sets.of_row]
    order = np.argsort(of_row, kind="stable")
    bounds = np.searchsorted(of_row[order], np.arange(len(chosen) + 1))
    table = groups.lazy_take(chosen)
    columns = {name: table.columns[name].to_list() for name in GROUP_COLUMNS}
    for number, group in enumerate(chosen.tolist()):
        at = order[bounds[number] : bounds[number + 1]]
        yield Case(
            group={name: values[number] for name, values in columns.items()},
            rows=every.rows.lazy_take(at),
            topics=every.topics.lazy_take(at),
            age=age[at],
            produced=produced[at],
            consumed=consumed[at],
            active=active[at],
            behind=behind[at],
            still=still[at],
            leaderless=every.leaderless[at],
            recreated=None if every.previous is None else every.previous.recreated[at],
            made_anew=None if every.previous is None else every.previous.made_anew[at],
            old=None if every.previous is None else every.previous.rows.lazy_take(at),
            members=members[at],
            window=every.run.window_seconds,
            broker=brokers.get(group),
        )


def _find_behind(
    sets: Sets, age: Column, lagging: Mask, produce_rate: Column, least: float
) -> tuple[Mask, Mask]:
    """Marks rows that are behind by a share of their group's oldest age and by `least` seconds, and
    rows with records to read."""
    oldest = sets.maximum(age.only(lagging)).fill(0.0)
    limit = np.maximum(np.append(oldest, 0.0) * _BEHIND_SHARE, least)[sets.of_row]
    behind = lagging & (age >= limit)
    active = lagging | (produce_rate > 0)
    return behind, active


def _blame_brokers(
    sets: Sets, rows: Frame, age: Column, active: Mask, behind: Mask, least: float
) -> dict[int, Broker]:
    """Returns the broker to blame for a group's lag, by group.

    A broker is to blame if it leads all partitions that are behind, if these are most of those that
    the group reads there, and if that is so for most groups that read there. Then a group that is
    behind elsewhere as well is included if it was behind at this broker first, by `least` seconds.
    """
    leader = rows.numbers("leader")
    leaders = leader.fill(-1)
    counts = active & leader.known & (sets.of_row < sets.count)
    bad = behind & counts
    if not bad.any():
        return {}
    found: dict[int, Broker] = {}
    for broker in unique(leaders[bad]).tolist():
        here = counts & (leaders == broker)
        there, ill = sets.rows(here), sets.rows(here & bad)
        elsewhere = sets.rows(bad) > ill
        others = sets.rows(counts & ~here)
        blamed = (ill > 0) & ~elsewhere & (others > 0) & (ill >= there * _OF_PARTITIONS)
        groups = np.flatnonzero(blamed)
        if len(groups) < max(_LEAST_GROUPS, _OF_GROUPS * (there > 0).sum()):
            continue
        among = np.flatnonzero(here & bad & np.append(blamed, False)[sets.of_row])
        topics, numbers = rows.strings("topic").codes, rows.numbers("partition_id")
        partitions, _ = distinct(topics.take(among), numbers.take(among))
        if partitions.count < _LEAST_PARTITIONS:
            continue
        ages = (sets.minimum(age.only(here)), sets.maximum(age.only(counts & ~here)))
        first = elsewhere & (ill == there) & (ages[0] >= ages[1] + least)
        for group in np.flatnonzero(blamed | first).tolist():
            found[group] = Broker(broker, len(groups), partitions.count)
    return found


def find_leaderless(rows: Frame, run: Run) -> Mask:
    """Marks rows without a leader in this run and the previous one: no election takes that long."""
    reason = rows.strings("unread_reason").is_in([contract.NO_LEADER])
    if not reason.any():
        return reason
    return reason & (run.taken_at - rows.numbers("read_at") > 1.5 * run.rules.interval_ms)
