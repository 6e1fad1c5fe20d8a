# SPDX-License-Identifier: Apache-2.0
"""Append times by three sources, and which of them wins.

- History: log ends that runs have read bound every time, and one between two ends is interpolated.
- Carried: what the previous run found for the same offset. It wins over history where it came from
  the time index, or where the bounds are near enough to each other.
- Index: what a search in the brokers' time index found in this run. It wins over both where the
  search has ended, and its bounds tighten those of history where it was cut short.

Another source of bounds is one step in `estimate_append_times`: columns by position
(`column.take(positions.part)`, where it has a row a partition), `Bounds.between` of them, and
`history.dated_by` that; both choices then use it. Where it knows more in this run than in the one
before, `carried.bounds` need it too: what is carried counts as a record timestamp, which may widen
bounds again. How far back a short rest may reach is by log ends alone
(`time_lag.widen_for_short_rests`).

A source that has an estimate, too, gives `AppendTimes` with a method of its own
(`contract.METHOD_...`) and needs a rule of where it wins, beside `choose_without_index`; what it
found is carried as it is if its method is in `_SETTLED`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.bounds import Bounds
from kafka_lag.lag.columns import Column, Mask, Rows, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.index_search import Search
from kafka_lag.lag.lookup_plan import is_too_wide
from kafka_lag.lag.positions import Positions
from kafka_lag.lag.rests import skip_markers

# Found in the time index, in this or an earlier run.
_SETTLED = (contract.METHOD_RECORD_TIME, contract.METHOD_CARRIED)


@dataclass(frozen=True, slots=True)
class AppendTimes:
    """Append times, ms, a row per position: the estimate `best`, within `after` and `before`.

    `after` is unknown where there is no lower bound, and all are where there is none at all.
    `record` is the timestamp of the next record where the broker named it. `method` is one of the
    contract's METHOD_ values; of carried times it is that of the previous run.
    """

    best: Column
    after: Column
    before: Column
    record: Column
    method: Strings

    @classmethod
    def clipped(cls, best: Column, bounds: Bounds, record: Column, method: Strings) -> AppendTimes:
        """Estimates moved to the nearer of the two bounds where they are outside them."""
        latest = best.clip(most=bounds.before).or_else(best)
        return cls(
            latest.clip(bounds.after).or_else(latest), bounds.after, bounds.before, record, method
        ).only(best.known)

    @property
    def settled(self) -> Mask:
        """Where the time is of the index, or was carried: a look-up would find the same."""
        return self.method.is_in(_SETTLED)

    def bounds(self, where: Mask) -> Bounds:
        """The bounds of these times at the marked positions."""
        return Bounds.between(self.after.only(where), self.before.only(where))

    def take(self, rows: Rows) -> AppendTimes:
        """The times at these positions, all unknown at a negative one."""
        return AppendTimes(
            self.best.take(rows),
            self.after.take(rows),
            self.before.take(rows),
            self.record.take(rows),
            self.method.take(rows),
        )

    def only(self, mask: Mask) -> AppendTimes:
        """Unknown wherever the mask is false."""
        return AppendTimes(
            self.best.only(mask),
            self.after.only(mask),
            self.before.only(mask),
            self.record.only(mask),
            self.method.only(mask),
        )

    def where(self, mask: Mask, other: AppendTimes) -> AppendTimes:
        """These times where the mask is true, the other where it is false."""
        return AppendTimes(
            self.best.where(mask, other.best),
            self.after.where(mask, other.after),
            self.before.where(mask, other.before),
            self.record.where(mask, other.record),
            self.method.where(mask, other.method),
        )

    def put(self, at: Rows, other: AppendTimes) -> AppendTimes:
        """These times, with those of `other` at the positions `at`."""
        return AppendTimes(
            self.best.put(at, other.best),
            self.after.put(at, other.after),
            self.before.put(at, other.before),
            self.record.put(at, other.record),
            self.method.put(at, other.method),
        )


def choose_without_index(
    bounds: Bounds, carried: AppendTimes, positions: Positions, rules: Rules
) -> AppendTimes:
    """History, or what is carried where that wins; `bounds` are of both.

    Where this run's clock is behind a carried time, the age is unknown and the time is carried on.
    """
    history = interpolate(bounds, positions.offset, positions.now)
    kept = AppendTimes.clipped(
        carried.best,
        bounds,
        carried.record,
        Strings.constant(contract.METHOD_CARRIED, len(positions)),
    )
    # As far as the bounds allow, an estimate stays what it was.
    history = replace(history, best=kept.best.or_else(history.best))
    wins = carried.best.known & (carried.settled | ~is_too_wide(bounds, positions, rules))
    ahead = carried.best > positions.now
    undated = replace(
        carried, best=carried.best.only(~ahead), method=Strings.unknown(len(positions))
    )
    return undated.where(ahead, kept.where(wins, history))


def choose_with_index(
    times: AppendTimes, found: Search, dated: Mask, positions: Positions, bounds: Bounds
) -> AppendTimes:
    """These times, or what a search has `found` where that wins; `bounds` are those of before it.

    A position that is `dated` has an estimate of the previous run. Only a search that has ended, by
    the index alone, replaces it: the clock of this run may have gone back.
    """
    by_index = combine_with_search(positions, bounds, found)
    sure = found.ended & found.brackets.are_before(positions.now)
    wins = by_index.best.known & (sure | (found.brackets.answered & ~dated))
    return by_index.where(wins, times)


def interpolate(bounds: Bounds, offset: Rows, now: Rows) -> AppendTimes:
    """By history: linear between two bounds, at least as old as a single upper one."""
    between, latest = _between(bounds, offset), bounds.before.only(bounds.before < now)
    linear = Strings.constant(contract.METHOD_INTERPOLATED, len(offset))
    method = linear.where(between.known, Strings.constant(contract.METHOD_AT_LEAST, len(offset)))
    return AppendTimes.clipped(between.or_else(latest), bounds, Column.unknown(len(offset)), method)


def _between(bounds: Bounds, offset: Rows) -> Column:
    """The time at an offset between the two bounds, by linear interpolation between their ends;
    unknown without a lower one.
    """
    rise = bounds.end_before - bounds.end_after
    share = ((offset + 0.5 - bounds.end_after) / rise.only(rise > 0)).fill(0.5)
    width = bounds.width.clip(0).fill(0)
    later: Rows = (np.clip(share, 0.0, 1.0) * width).astype(np.int64)
    return bounds.after + later


def combine_with_search(positions: Positions, ours: Bounds, search: Search) -> AppendTimes:
    """By index where the search has ended, else by the bounds that it left.

    A record timestamp outside `ours`, the bounds of log ends, is of a producer's wrong clock: it is
    moved to the nearer bound, and the bounds stay as they are. But a timestamp that a high
    watermark held back explains (see `bounds`) widens them. A search that was cut short widens them
    only if its upper bound is below theirs.
    """
    bounds, best, record = _read_index(positions, search)
    proven = search.ended | ~ours.after.known | (bounds.after >= ours.after)
    joined = ours.dated_by(replace(bounds, after=bounds.after.only(proven)))
    history = interpolate(joined, positions.offset, positions.now)
    named = Strings.constant(contract.METHOD_RECORD_TIME, len(positions))
    by_index = AppendTimes.clipped(best, joined, record, named)
    times = by_index.where(search.ended & best.known, history)
    return replace(times, record=record)


def _read_index(positions: Positions, search: Search) -> tuple[Bounds, Column, Column]:
    """What the index alone says: bounds, the estimate within, and the next record's timestamp.

    A timestamp ahead of `now` proves nothing, and hides those of the records after it. On a
    compacted topic the record at the position may be gone: then the nearest record named after it
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


def carry_estimates(old: Frame, same: Mask, positions: Positions, doubted: Column) -> AppendTimes:
    """Estimates of the previous run, by position; unknown where no group was there.

    `old` holds the previous row of each row, and `same` marks those that are still at its position.
    A time that reaches `doubted`, ms, by position (see `Ends`), is not carried.
    """
    times = AppendTimes(
        reported_append_time(old),
        old.numbers("next_record_after"),
        old.numbers("next_record_before"),
        old.numbers("next_record_time"),
        old.strings("time_lag_method"),
    )
    rows = np.flatnonzero(same & times.best.known & (positions.of_row >= 0))
    # Of several groups at one position, one with a settled estimate is taken.
    rows = rows[np.argsort(times.settled[rows], kind="stable")]
    chosen = np.full(len(positions), -1, np.int64)
    chosen[positions.of_row[rows]] = rows
    times = times.take(chosen)
    return times.only(~((times.before >= doubted) | (times.after >= doubted)))


def find_previous_positions(old: Frame) -> Column:
    """Offsets of the records that were next in the previous run, of which `old` holds the rows.

    Where deletion moves the log start past the commit, the next unread record is another one, and
    its time is not carried.
    """
    committed, start = old.numbers("committed_offset"), old.numbers("start_offset")
    later = start.known & (~committed.known | (start > committed))
    return skip_markers(old, start.where(later, committed))


def reported_append_time(old: Frame) -> Column:
    """Append times, ms, by rows of a snapshot: by their time lag, else by the next record's
    timestamp, else the middle of the bounds.
    """
    read_at, lag = old.numbers("read_at"), old.numbers("time_lag_seconds")
    after, before = old.numbers("next_record_after"), old.numbers("next_record_before")
    reported = read_at - (lag * 1000).rint()
    middle = ((after + before) // 2).or_else(before)
    best = reported.or_else(old.numbers("next_record_time")).or_else(middle)
    return best.only(before.known)
