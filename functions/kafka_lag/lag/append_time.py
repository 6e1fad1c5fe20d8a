# SPDX-License-Identifier: Apache-2.0
"""The append time of the next unread record of each group-partition: an estimate within bounds.

Groups at one offset share an estimate (`positions`). It is of one of three sources
(`append_sources`): log ends of this and earlier runs, what the previous run found where the commit
did not move, and the brokers' time index, where these leave too wide a bracket. Which positions are
looked up there, and in which order, is planned under a budget (`lookup_plan`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_lag.lag.append_sources import (
    AppendTimes,
    carry_estimates,
    choose_without_index,
    combine_with_search,
)
from kafka_lag.lag.bounds import Bounds
from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.index_search import SearchTargets, search
from kafka_lag.lag.log_ends import Ends, align_ends, compare_with_schedule, find_bounds
from kafka_lag.lag.lookup_plan import LookupPlan, is_due, is_too_wide, is_worth_a_look_up
from kafka_lag.lag.model import PreviousRuns
from kafka_lag.lag.positions import Backlog, Positions, find_positions
from kafka_lag.lag.rests import find_short_rests
from kafka_lag.lag.time_index import LookUp

_ENDS = ("topic", "topic_id", "partition_id", "asked_at", "read_at", "unread_reason", "end_offset")
_REQUEST = ("topic", "partition_id", "leader")


@dataclass(frozen=True, slots=True)
class AppendTimeEstimates:
    """Append times by row, unknown where nothing is unread, and how they were found.

    `look_ups` were sent; `contradicted` log ends were left out because of wrong clocks.
    """

    times: AppendTimes
    look_ups: int
    contradicted: int


def estimate_append_times(
    rows: Frame,
    topics: Frame,
    backlog: Backlog,
    old: Frame,
    previous_runs: PreviousRuns,
    rules: Rules,
    taken_at: int,
    look_up: LookUp,
) -> AppendTimeEstimates:
    """Append times of the next unread records, within proven bounds.

    `old` holds the previous row of each row. Groups at the same offset share an estimate.
    """
    positions = find_positions(backlog, topics.numbers("read_at").take(backlog.part))
    partitions, column, ends = _align_ends_of(
        topics, positions.part, previous_runs, rules, taken_at
    )
    compacted = is_compacted(partitions)
    history = _bounds_from_ends(ends, column, positions, compacted[column])
    carried = carry_estimates(backlog.offset, old, positions, ends.doubted.take(column))
    times = choose_without_index(
        history.within(carried.bounds(~carried.ahead)), carried, positions, rules
    )

    again = is_due(partitions, taken_at, rules.interval_ms)[column]
    anew = carried.ahead | (compacted[column] & again)
    bounds = history.within(carried.bounds(~anew))
    wide = is_too_wide(bounds, positions, rules) & (~carried.settled | again | anew)
    needed = wide & is_worth_a_look_up(rows, positions, bounds, carried.moved, rules)
    turn = taken_at // rules.interval_ms
    plan = LookupPlan(needed, wide & ~needed, rows, backlog, carried.moved, positions, turn)
    start, request = partitions.numbers("start_offset").fill(0), _columns(partitions, _REQUEST)
    targets = SearchTargets(
        request, start, compacted, column, positions.offset, positions.now, bounds
    )
    times, look_ups = look_up_times(times, targets, plan, carried.times.best.known, rules, look_up)
    return AppendTimeEstimates(times.take(positions.of_row), look_ups, ends.contradicted)


def look_up_times(
    times: AppendTimes,
    targets: SearchTargets,
    plan: LookupPlan,
    dated: Mask,
    rules: Rules,
    look_up: LookUp,
) -> tuple[AppendTimes, int]:
    """The times, replaced where a search in the index gives better ones, and the look-ups sent.

    A position that is `dated` has an estimate of the previous run. Only a search that has ended, by
    the index alone, replaces it: the clock of this run may have gone back.
    """
    left = rules.lookup_budget
    for at, most in plan.parts(rules.lookup_budget):
        part, budget = targets.take(at), min(most, left)
        limits = replace(rules, lookup_budget=budget)
        found = search(part, plan.queue(at, budget), limits, look_up)
        better = combine_with_search(part, found)
        sure = found.ended & found.alone(part.now)
        use = np.flatnonzero(better.best.known & (sure | (found.answered & ~dated[at])))
        times = times.put(at[use], better.take(use))
        left -= found.look_ups
    return times, rules.lookup_budget - left


@dataclass(frozen=True, slots=True)
class ShortRests:
    """Rows in `mask` rest before markers, or are about to read what is taken for them.

    The first of that was appended `after` this time, ms; unknown where no run goes so far back.
    """

    mask: Mask
    after: Column


def bound_short_rests(
    rows: Frame,
    topics: Frame,
    rests: Backlog,
    old: Frame,
    previous_runs: PreviousRuns,
    rules: Rules,
    taken_at: int,
) -> ShortRests:
    """Of the rows that stand below their next record: the `offset` of `rests` is the position of
    the group, and its `lag` counts to that record. `old` holds the previous row of each row.
    """
    mask, after = np.zeros(len(rows), bool), Column.unknown(len(rows))
    at = np.flatnonzero(rests.mask & (rests.part >= 0))
    if len(at):
        _, column, ends = _align_ends_of(topics, rests.part[at], previous_runs, rules, taken_at)
        offset = rests.offset.take(at).fill(0)
        last = offset + rests.lag.take(at).fill(0) - 1
        seen = find_bounds(ends, column, last).before
        mask[at] = find_short_rests(rows.lazy_take(at), old.lazy_take(at), seen, taken_at, rules)
        after = after.put(at, find_bounds(ends, column, offset).after)
    return ShortRests(mask, after)


def _align_ends_of(
    topics: Frame, part: Rows, previous_runs: PreviousRuns, rules: Rules, taken_at: int
) -> tuple[Frame, Rows, Ends]:
    """The partitions that are meant, each once; which of them each of `part` is; and their ends."""
    used, column = np.unique(part, return_inverse=True)
    partitions = topics.lazy_take(used)
    reading = _columns(partitions, _ENDS)
    schedule = compare_with_schedule(reading, previous_runs, taken_at, rules.interval_ms)
    return partitions, column, align_ends(reading, previous_runs.ends, schedule)


def _bounds_from_ends(ends: Ends, column: Rows, positions: Positions, compacted: Mask) -> Bounds:
    """Bounds by log ends. On a compacted topic the record at the offset may be gone, and the next
    one may be as new as this run.
    """
    proven = find_bounds(ends, column, positions.offset)
    now, end = Column.of(positions.now), Column.of(ends.end[-1][column])
    before, end_before = proven.before, proven.end_before
    return replace(
        proven,
        before=now.where(compacted, before).only(before.known),
        end_before=end.where(compacted, end_before).only(end_before.known),
    )


def is_compacted(partitions: Frame) -> Mask:
    """Partitions of compacted topics: single records may be gone."""
    policy = partitions.strings("cleanup_policy")
    return policy.is_in(word for word in policy.categories if "compact" in word)


def _columns(frame: Frame, names: tuple[str, ...]) -> Frame:
    return Frame.of({name: frame.columns[name] for name in names})
