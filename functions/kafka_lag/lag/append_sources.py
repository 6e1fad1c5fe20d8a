# SPDX-License-Identifier: Apache-2.0
"""The three sources of append times, and which of them wins.

- History: log ends that runs have read bound every time; a time between two ends is interpolated.
- Carried: the previous run's estimate for the same offset. It wins over history if it came from the
  time index, or if the bounds are close enough.
- Index: the result of this run's search in the brokers' time index. It wins over both if the search
  has ended; if the search was cut short, its bounds tighten those of history.

To add a source of bounds, add one step to `estimate_append_times`: columns by position
(`column.take(positions.part)` if it has a row per partition), `Bounds.between` of them, and
`history.correct_by_timestamps` with these; both choices then use it. If it may know more than in
the previous run, apply it to `carried.bounds` too: carried times count as record timestamps, which
may widen bounds again. Log ends alone decide how far back a short rest may reach
(`time_lag`).

A source that also estimates returns `AppendTimes` with a method of its own (`contract.METHOD_...`)
and needs a rule for when it wins, beside `choose_without_index`. Its estimates are carried
unchanged if its method is in `_FINAL`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.aligned import Aligned
from kafka_lag.lag.bounds import Bounds
from kafka_lag.lag.columns import Column, Mask, Rows, Strings
from kafka_lag.lag.delays import find_oldest_age
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.index_search import Search
from kafka_lag.lag.lookup_plan import is_too_wide
from kafka_lag.lag.positions import Positions
from kafka_lag.lag.rests import skip_markers

# Methods of times found in the time index, in this or an earlier run.
_FINAL = (contract.METHOD_RECORD_TIME, contract.METHOD_CARRIED)


@dataclass(frozen=True, slots=True)
class AppendTimes(Aligned):
    """Append times, ms, a row per position: the estimate `best`, within `after` and `before`.

    `after` is unknown if there is no lower bound, and all are unknown if there is no estimate.
    `record` is the timestamp of the next record if the broker named it. `method` is one of the
    contract's METHOD_ values; carried times have that of the previous run.
    """

    best: Column
    after: Column
    before: Column
    record: Column
    method: Strings

    @classmethod
    def within_bounds(
        cls, best: Column, bounds: Bounds, record: Column, method: Strings
    ) -> AppendTimes:
        """Returns the estimates; those outside the bounds are moved to the nearer bound."""
        latest = best.clip(most=bounds.before).or_else(best)
        return cls(
            latest.clip(bounds.after).or_else(latest), bounds.after, bounds.before, record, method
        ).only(best.known)

    @property
    def is_final(self) -> Mask:
        """Marks times that came from the index or were carried: a look-up would find the same."""
        return self.method.is_in(_FINAL)

    def bounds(self, where: Mask) -> Bounds:
        """Returns the bounds of these times at the marked positions."""
        return Bounds.between(self.after.only(where), self.before.only(where))


def choose_without_index(
    bounds: Bounds, carried: AppendTimes, positions: Positions, rules: Rules
) -> AppendTimes:
    """Returns the times from history, or carried ones if they win; `bounds` come from both.

    If this run's clock is behind a carried time, the age is unknown and the time is carried on.
    """
    history = interpolate(bounds, positions.offset, positions.now)
    kept = AppendTimes.within_bounds(
        carried.best,
        bounds,
        carried.record,
        Strings.constant(contract.METHOD_CARRIED, len(positions)),
    )
    # An estimate stays the same as far as the bounds allow.
    history = replace(history, best=kept.best.or_else(history.best))
    wins = carried.best.known & (carried.is_final | ~is_too_wide(bounds, positions, rules))
    ahead = carried.best > positions.now
    undated = replace(
        carried, best=carried.best.only(~ahead), method=Strings.unknown(len(positions))
    )
    return undated.where(ahead, kept.where(wins, history))


def choose_with_index(
    times: AppendTimes, found: Search, dated: Mask, positions: Positions, bounds: Bounds
) -> AppendTimes:
    """Returns these times, or those that a search `found` if they win; `bounds` precede the search.

    A `dated` position has an estimate of the previous run. Only a search that has ended, by the
    index alone, replaces it, because the clock of this run may have gone back.
    """
    by_index = combine_with_search(positions, bounds, found)
    sure = found.ended & found.brackets.are_before(positions.now)
    wins = by_index.best.known & (sure | (found.brackets.answered & ~dated))
    return by_index.where(wins, times)


def interpolate(bounds: Bounds, offset: Rows, now: Rows) -> AppendTimes:
    """Returns times from history: linear between bounds; `at_least` with an upper bound alone."""
    between, latest = _between(bounds, offset), bounds.before.only(bounds.before < now)
    linear = Strings.constant(contract.METHOD_INTERPOLATED, len(offset))
    method = linear.where(between.known, Strings.constant(contract.METHOD_AT_LEAST, len(offset)))
    return AppendTimes.within_bounds(
        between.or_else(latest), bounds, Column.unknown(len(offset)), method
    )


def _between(bounds: Bounds, offset: Rows) -> Column:
    """Returns the time at an offset, interpolated between the two bounds; unknown without a lower
    bound.
    """
    rise = bounds.end_before - bounds.end_after
    share = ((offset + 0.5 - bounds.end_after) / rise.only(rise > 0)).fill(0.5)
    width = bounds.width.clip(0).fill(0)
    later: Rows = (np.clip(share, 0.0, 1.0) * width).astype(np.int64)
    return bounds.after + later


def combine_with_search(positions: Positions, ours: Bounds, search: Search) -> AppendTimes:
    """Returns the times from the index if the search has ended, else from the bounds that it left.

    A record timestamp outside `ours`, the bounds of log ends, comes from a producer's wrong clock.
    It is moved to the nearer bound, and the bounds do not change; but they widen if a held-back
    high watermark explains the timestamp (see `bounds`). A search that was cut short widens them
    only if its upper bound is below the lower bound of `ours`.
    """
    bounds, best, record = _read_index(positions, search)
    proven = search.ended | ~ours.after.known | (bounds.after >= ours.after)
    joined = ours.correct_by_timestamps(replace(bounds, after=bounds.after.only(proven)))
    history = interpolate(joined, positions.offset, positions.now)
    named = Strings.constant(contract.METHOD_RECORD_TIME, len(positions))
    by_index = AppendTimes.within_bounds(best, joined, record, named)
    times = by_index.where(search.ended & best.known, history)
    return replace(times, record=record)


def _read_index(positions: Positions, search: Search) -> tuple[Bounds, Column, Column]:
    """Returns bounds, estimate and the next record's timestamp from the index alone.

    A timestamp ahead of `now` proves nothing, and hides those of the records after it. On a
    compacted topic the record at the position may be gone; then the nearest record named after it
    is the next to be read.
    """
    now, compact = positions.now, positions.compacted
    found = search.brackets
    low, high, beyond = found.low, found.high, found.next_time
    # Results from before and after a deletion or compaction can contradict each other.
    doubted = (low > now) | (low >= high) | (found.head & ~(beyond <= now))
    at_head = found.first & compact
    living = compact & ~found.exact & beyond.known
    last = low.where(found.exact, beyond.where(living | found.head, high - 1))
    first = beyond.where(at_head, low)
    next_is = search.ended & living & (~found.head | found.first)
    best = last.where(next_is | found.head, (first + last) // 2)
    ended = (found.exact | found.head | (low.known & high.known)) & ~doubted
    return (
        Bounds(first.only(~doubted), last.only(ended), found.low_offset, found.next_offset),
        best.only(ended),
        last.only((found.exact | next_is | at_head) & ~doubted),
    )


def carry_estimates(old: Frame, same: Mask, positions: Positions) -> AppendTimes:
    """Returns the previous run's estimates by position; unknown if no group was at the position.

    `old` holds the previous row of each row, and `same` marks rows that are still at its position.
    """
    times = AppendTimes(
        reported_append_time(old),
        old.numbers("next_record_after"),
        old.numbers("next_record_before"),
        old.numbers("next_record_time"),
        old.strings("time_lag_method"),
    )
    rows = np.flatnonzero(same & times.best.known & (positions.of_row >= 0))
    # If several groups are at one position, one with a final estimate is taken.
    rows = rows[np.argsort(times.is_final[rows], kind="stable")]
    chosen = np.full(len(positions), -1, np.int64)
    chosen[positions.of_row[rows]] = rows
    return times.take(chosen)


def find_previous_positions(old: Frame) -> Column:
    """Returns the offsets of the next unread records in the previous run, whose rows `old` holds.

    If deletion moves the log start past the commit, the next unread record is another one, and its
    time is not carried.
    """
    committed, start = old.numbers("committed_offset"), old.numbers("start_offset")
    later = start.known & (~committed.known | (start > committed))
    return skip_markers(old, start.where(later, committed))


def reported_append_time(old: Frame) -> Column:
    """Returns the append times, ms, in rows of a snapshot.

    They come from the time lag, else the next record's timestamp, else the middle of the bounds.
    """
    read_at, delay = old.numbers("read_at"), old.numbers("delay_seconds")
    after, before = old.numbers("next_record_after"), old.numbers("next_record_before")
    reported = read_at - (find_oldest_age(old) * 1000).rint()
    # A record that is not due may have any age below its delay.
    reported = reported.only(~delay.known | (old.numbers("time_lag_seconds") > 0))
    middle = ((after + before) // 2).or_else(before)
    best = reported.or_else(old.numbers("next_record_time")).or_else(middle)
    return best.only(before.known)
