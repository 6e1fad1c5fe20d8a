# SPDX-License-Identifier: Apache-2.0
"""Append times by three sources, and which of them wins.

- History: log ends that runs have read bound every time, and one between two ends is interpolated.
- Carried: what the previous run found for the same offset. It wins over history where it came from
  the time index, or where the bounds are near enough to each other.
- Index: what a search in the brokers' time index found in this run. It wins over both where the
  search has ended, and its bounds tighten those of history where it was cut short.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.bounds import Bounds, carry_bounds
from kafka_lag.lag.columns import Column, Mask, Rows, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.index_search import SearchResult, SearchTargets
from kafka_lag.lag.lookup_plan import is_too_wide
from kafka_lag.lag.positions import Positions
from kafka_lag.lag.rests import skip_markers

METHODS = (
    contract.METHOD_CARRIED,
    contract.METHOD_INTERPOLATED,
    contract.METHOD_RECORD_TIME,
    contract.METHOD_AT_LEAST,
)
_CARRIED, _INTERPOLATED, _RECORD_TIME, _AT_LEAST = range(len(METHODS))
# Found in the time index, in this or an earlier run: a look-up would find the same.
_SETTLED = (contract.METHOD_RECORD_TIME, contract.METHOD_CARRIED)


@dataclass(frozen=True, slots=True)
class AppendTimes:
    """Append times, ms, a row per position: the estimate `best`, within `after` and `before`.

    `after` is unknown where there is no lower bound, and all are where there is none at all.
    `record` is the timestamp of the next record where the broker named it. `method` is of METHODS.
    """

    best: Column
    after: Column
    before: Column
    record: Column
    method: Strings

    @classmethod
    def clipped(cls, best: Column, bounds: Bounds, record: Column, method: Rows) -> AppendTimes:
        """Estimates moved to the nearer of the two bounds where they are outside them."""
        latest = best.clip(most=bounds.before).or_else(best)
        return cls(
            latest.clip(bounds.after).or_else(latest),
            bounds.after.only(best.known),
            bounds.before.only(best.known),
            record.only(best.known),
            Strings(Column(method.astype(np.int32), best.known), METHODS),
        )

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
            Strings(self.method.codes.where(mask, other.method.codes), METHODS),
        )

    def put(self, at: Rows, other: AppendTimes) -> AppendTimes:
        """These times, with those of `other` at the positions `at`."""
        return AppendTimes(
            self.best.put(at, other.best),
            self.after.put(at, other.after),
            self.before.put(at, other.before),
            self.record.put(at, other.record),
            Strings(self.method.codes.put(at, other.method.codes), METHODS),
        )


@dataclass(frozen=True, slots=True)
class CarriedEstimates:
    """Estimates of the previous run, by position; unknown where no group was there.

    `settled`: found in the time index. `ahead`: later than this run's clock, which has gone back.
    `moved`, by row: the group was at another position.
    """

    times: AppendTimes
    settled: Mask
    ahead: Mask
    moved: Mask

    def bounds(self, where: Mask) -> Bounds:
        """The bounds by the previous run, at the marked positions."""
        return carry_bounds(self.times.after.only(where), self.times.before.only(where))


def choose_without_index(
    bounds: Bounds, carried: CarriedEstimates, positions: Positions, rules: Rules
) -> AppendTimes:
    """History, or what is carried where that wins; `bounds` are of both.

    Where this run's clock is behind a carried time, the age is unknown and the time is carried on.
    """
    old = carried.times
    history = interpolate(bounds, positions.offset, positions.now)
    kept = AppendTimes.clipped(old.best, bounds, old.record, np.full(len(positions), _CARRIED))
    # As far as the bounds allow, an estimate stays what it was.
    history = replace(history, best=kept.best.or_else(history.best))
    wins = old.best.known & (carried.settled | ~is_too_wide(bounds, positions, rules))
    hidden = replace(
        old, best=old.best.only(~carried.ahead), method=old.method.only(~carried.ahead)
    )
    return hidden.where(carried.ahead, kept.where(wins, history))


def interpolate(bounds: Bounds, offset: Rows, now: Rows) -> AppendTimes:
    """By history: linear between two bounds, at least as old as a single upper one."""
    between, latest = _between(bounds, offset), bounds.before.only(bounds.before < now)
    method = np.where(between.known, _INTERPOLATED, _AT_LEAST)
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


def combine_with_search(targets: SearchTargets, searched: SearchResult) -> AppendTimes:
    """By index where the search has ended, else by the bounds that it left.

    A record timestamp outside the bounds of log ends is of a producer's wrong clock: it is moved to
    the nearer bound, and the bounds stay as they are. But a timestamp that a high watermark held
    back explains (see `bounds`) widens them. A search that was cut short widens them only if its
    upper bound is below theirs.
    """
    bounds, best, record = _read_index(targets, searched)
    ours = targets.bounds
    proven = searched.ended | ~ours.after.known | (bounds.after >= ours.after)
    joined = ours.within(replace(bounds, after=bounds.after.only(proven)))
    history = interpolate(joined, targets.offset, targets.now)
    by_index = AppendTimes.clipped(best, joined, record, np.full(len(best), _RECORD_TIME))
    times = by_index.where(searched.ended & best.known, history)
    return replace(times, record=record)


def _read_index(targets: SearchTargets, searched: SearchResult) -> tuple[Bounds, Column, Column]:
    """What the index alone says: bounds, the estimate within, and the next record's timestamp.

    A timestamp ahead of `now` proves nothing, and hides those of the records after it. On a
    compacted topic the record at the position may be gone: then the nearest record named after it
    is the next to be read.
    """
    found, compact = searched.brackets, targets.compact[targets.part]
    low, high, beyond = found.low, found.high, found.next_time
    # Results from before and after a deletion or compaction can contradict each other.
    doubted = (low > targets.now) | (low >= high) | (searched.head & ~(beyond <= targets.now))
    at_head = searched.first & compact
    living = compact & ~found.exact & beyond.known
    last = low.where(found.exact, beyond.where(living | searched.head, high - 1))
    first = beyond.where(at_head, low)
    next_is = searched.ended & living & (~searched.head | searched.first)
    best = last.where(next_is | searched.head, (first + last) // 2)
    ended = (found.exact | searched.head | (low.known & high.known)) & ~doubted
    return (
        Bounds(first.only(~doubted), last.only(ended), found.low_offset, found.next_offset),
        best.only(ended),
        last.only((found.exact | next_is | at_head) & ~doubted),
    )


def carry_estimates(
    offset: Column, old: Frame, positions: Positions, doubted: Column
) -> CarriedEstimates:
    """From the `offset` of each row in this run, and its previous row `old`.

    Where deletion moves the log start past the commit, the next unread record is another one, and
    its time is not carried. Nor is a time that reaches `doubted`, ms, by position (see `Ends`).
    """
    stood = _find_previous_positions(old)
    same = stood == offset
    best = reported_append_time(old)
    settled = old.strings("time_lag_method").is_in(_SETTLED)
    rows = np.flatnonzero(same & best.known & (positions.of_row >= 0))
    # Of several groups at one position, one with a settled estimate is taken.
    rows = rows[np.argsort(settled[rows], kind="stable")]
    chosen = np.full(len(positions), -1, np.int64)
    chosen[positions.of_row[rows]] = rows
    times = AppendTimes(
        best.take(chosen),
        old.numbers("next_record_after").take(chosen),
        old.numbers("next_record_before").take(chosen),
        old.numbers("next_record_time").take(chosen),
        Strings(Column.of(np.full(len(chosen), _CARRIED, np.int32)), METHODS).only(chosen >= 0),
    )
    sure = ~((times.before >= doubted) | (times.after >= doubted))
    return CarriedEstimates(
        times=times.only(sure),
        settled=np.append(settled, False)[chosen] & sure,
        ahead=(times.best > positions.now) & sure,
        moved=stood.known & ~same,
    )


def _find_previous_positions(old: Frame) -> Column:
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
