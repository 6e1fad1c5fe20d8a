# SPDX-License-Identifier: Apache-2.0
"""The append time of the next unread record of each group-partition: an estimate within bounds.

Groups at one offset share an estimate (`positions`). It comes from one of three sources
(`append_sources`): log ends of this and earlier runs (`log_ends`), the previous run if the commit
did not move, and the brokers' time index (`index_search`) if the first two leave the bounds too far
apart. `lookup_plan` decides which positions are looked up in the index, and in which order, within
a budget.

An age of 60 +- 3 s has its farther bound 3 s from the estimate (`time_lag.add_time_lag`). Its row
has both bounds (`next_record_after` and `_before`), and `time_lag_method` names the source:

- `interpolated`: two log ends, about an interval apart: +- 30 s or more at a run a minute. Or a
  search tightened these bounds, and was cut short by its budget, its deadline or a broker.
- `record_time`: a search ended, usually because the bounds were close enough. The tolerance
  (`bounds.compute_allowance`: 1 s or a share of the age) limits their distance. They may be farther
  apart on a compacted topic, with a producer's wrong clock, if records have no plausible time, and
  at a gap of the index.
- `carried`: the estimate of an earlier run, whose row names its source.
- `at_least`: there is no lower bound, so no error is known.

After a follower hung, bounds may be 30 s wider than stated above (`bounds.HELD_BACK_MS`). Three
steps widen an error but not the bounds in the row: log cleaning (`Ages.allow_for_cleaning`), short
rests (`time_lag`), and a group's roll-up.
"""

from __future__ import annotations

from dataclasses import replace

from kafka_lag.lag.append_sources import (
    AppendTimes,
    carry_estimates,
    choose_with_index,
    choose_without_index,
    find_previous_positions,
)
from kafka_lag.lag.bounds import Bounds
from kafka_lag.lag.columns import Column
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.index_search import search
from kafka_lag.lag.log_ends import Ends, align_ends, find_bounds
from kafka_lag.lag.lookup_plan import (
    is_due,
    is_too_wide,
    is_worth_a_look_up,
    share_budget,
)
from kafka_lag.lag.positions import Positions, find_positions


def estimate_append_times(e: Evaluation, unread: Column, old: Frame) -> AppendTimes:
    """Returns the append time of each row's next unread record, within proven bounds.

    `unread`: the offset of that record, unknown if there is none. `old` holds the previous row of
    each row. Sets `e.look_ups`, and `e.contradicted`: log ends left out because
    of wrong clocks.
    """
    run, rules = e.run, e.run.rules
    positions = find_positions(e.topics, e.at_topic, unread)
    ends = align_ends(positions.partitions, e.previous_runs.ends)
    history = _bound_by_ends(ends, positions)
    previous = find_previous_positions(old)
    same, moved = previous == unread, previous != unread
    carried = carry_estimates(old, same, positions)
    ahead = carried.best > positions.now
    times = choose_without_index(
        history.correct_by_timestamps(carried.bounds(~ahead)), carried, positions, rules
    )

    due = is_due(positions.partitions, run.taken_at, rules.interval_ms)[positions.part]
    dropped = ahead | (positions.compacted & due)
    bounds = history.correct_by_timestamps(carried.bounds(~dropped))
    wide = is_too_wide(bounds, positions, rules) & (~carried.is_final | due | dropped)
    worth = is_worth_a_look_up(e.rows, positions, bounds, moved, rules)
    moves, left = ~positions.any_of(~moved), rules.lookup_budget
    for at, most in share_budget(wide, worth, rules.lookup_budget):
        some, known = positions.take(at), bounds.take(at)
        limits = replace(rules, lookup_budget=min(most, left))
        found = search(some, known, moves[at], limits, e.look_up)
        chosen = choose_with_index(times.take(at), found, carried.best.known[at], some, known)
        times, left = times.put(at, chosen), left - found.look_ups
    e.look_ups, e.contradicted = rules.lookup_budget - left, ends.contradicted
    return times.take(positions.of_row)


def _bound_by_ends(ends: Ends, positions: Positions) -> Bounds:
    """Returns the bounds from log ends.

    On a compacted topic the record at the offset may be gone, and the next one may be as new as
    this run.
    """
    proven = find_bounds(ends, positions.part, positions.offset)
    gone = positions.compacted & proven.before.known
    return replace(
        proven,
        before=Column.of(positions.now).where(gone, proven.before),
        end_before=Column.of(ends.end[-1][positions.part]).where(gone, proven.end_before),
    )
