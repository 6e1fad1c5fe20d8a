# SPDX-License-Identifier: Apache-2.0
"""The date of each position: its bracket, its best value, and how that was found."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.bounds import Bounds
from kafka_lag.lag.columns import Column, Mask, Rows, Words
from kafka_lag.lag.time_index.search import Searched, Sought

METHODS = (
    contract.METHOD_CARRIED,
    contract.METHOD_INTERPOLATED,
    contract.METHOD_RECORD_TIME,
    contract.METHOD_AT_LEAST,
)
_CARRIED, _INTERPOLATED, _RECORD_TIME, _AT_LEAST = range(len(METHODS))


@dataclass(frozen=True, slots=True)
class Dates:
    """Append times, ms, a row a position: `best`, proven to be `after` and `before`.

    All are unknown where nothing is known; `after` alone where it is unbounded. `record` is the
    next record's own timestamp where the broker named that record.
    """

    best: Column
    after: Column
    before: Column
    record: Column
    method: Words

    def take(self, rows: Rows) -> Dates:
        """The dates at these positions, all unknown at a negative one."""
        return Dates(
            self.best.take(rows),
            self.after.take(rows),
            self.before.take(rows),
            self.record.take(rows),
            self.method.take(rows),
        )

    def hidden(self, where: Mask, after: Column, before: Column, record: Column) -> Dates:
        """These dates, but at the mask no value, and these bounds and record."""
        return Dates(
            self.best.only(~where),
            after.where(where, self.after),
            before.where(where, self.before),
            record.where(where, self.record),
            self.method.only(~where),
        )

    def replaced(self, at: Rows, other: Dates) -> Dates:
        """These dates, with another's put in at the given positions."""
        rows = np.arange(len(self.best))
        rows[at] = len(self.best) + np.arange(len(at))
        return Dates(
            self.best.concat(other.best).take(rows),
            self.after.concat(other.after).take(rows),
            self.before.concat(other.before).take(rows),
            self.record.concat(other.record).take(rows),
            self.method.concat(other.method).take(rows),
        )


def from_bounds(bounds: Bounds, offset: Rows, now: Rows) -> Dates:
    """By the log's ends alone: linear between two, at least as old as one, else unknown."""
    seen = bounds.before.known & (bounds.before.values < now)
    best = np.where(bounds.after.known, _between(bounds, offset), bounds.before.values)
    known = bounds.after.known | seen
    method = np.where(bounds.after.known, _INTERPOLATED, _AT_LEAST)
    return _dates(best, known, bounds.after, bounds.before, method)


def from_carried(best: Column, after: Column, before: Column, record: Column) -> Dates:
    """As an earlier run said; the offset did not move, so its record is still the same."""
    method = np.full(len(best), _CARRIED)
    dates = _dates(best.values, best.known, after, before, method)
    return Dates(dates.best, dates.after, dates.before, record.only(best.known), dates.method)


def from_search(sought: Sought, searched: Searched) -> Dates:
    """By the index where it came to an end, by history where it did not or contradicts it.

    A record time outside the bounds of the reporter's own clock is moved to the nearer of them,
    and their whole bracket is stated, as the producer's clock is not to be trusted then; but one
    that a high watermark which stood still explains widens them. A search that was cut short does
    so only where it put the record before them.
    """
    told = _told(sought, searched)
    after, ours = told.bounds.after, sought.bounds.after
    proven = searched.ended | ~ours.known | (after.values >= ours.values)
    joined = sought.bounds.within(replace(told.bounds, after=after.only(proven)))
    dates = from_bounds(joined, sought.offset, sought.now)
    method = np.full(len(told.best), _RECORD_TIME)
    by_index = _dates(told.best.values, told.best.known, joined.after, joined.before, method)
    ended = np.flatnonzero(searched.ended & told.best.known)
    dates = dates.replaced(ended, by_index.take(ended))
    return Dates(dates.best, dates.after, dates.before, told.record, dates.method)


@dataclass(frozen=True, slots=True)
class _Told:
    """What the index alone says: bounds, the best value in them, the next record's timestamp."""

    bounds: Bounds
    best: Column
    record: Column


def _told(sought: Sought, searched: Searched) -> _Told:
    """A timestamp ahead of now says nothing; it also hides what the records behind it say.

    On compacted topics the record at the position may be gone: the next living one, which is the
    nearest record named beyond it, is what will be read.
    """
    found, compact = searched.brackets, sought.compact[sought.part]
    low, high, beyond = found.low, found.high, found.next_time
    believed = ~low.known | (low.values <= sought.now)
    # Answers of a log that was cut or compacted between them can contradict each other.
    believed &= ~(low.known & high.known & (low.values >= high.values))
    believed &= ~searched.head | (beyond.values <= sought.now)
    at_head = searched.first & compact
    living = compact & ~found.exact & beyond.known
    last = np.where(living | searched.head, beyond.values, high.values - 1)
    last = np.where(found.exact, low.values, last)
    first = np.where(at_head, beyond.values, low.values)
    next_is = searched.ended & living & (~searched.head | searched.first)
    best = np.where(next_is | searched.head, last, (first + last) // 2)
    ended = found.exact | searched.head | (low.known & high.known)
    return _Told(
        Bounds(
            Column(first, (low.known | at_head) & believed),
            Column(last, ended & believed),
            found.low_offset,
            found.next_offset,
        ),
        Column(best, ended & believed),
        Column(last, (found.exact | next_is | at_head) & believed),
    )


def _between(bounds: Bounds, offset: Rows) -> Rows:
    """Half a record past its own place among the records appended between the two moments."""
    known = bounds.end_after.known & bounds.end_before.known
    rise = np.where(known, bounds.end_before.values - bounds.end_after.values, 0)
    share = np.where(rise > 0, (offset + 0.5 - bounds.end_after.values) / np.maximum(rise, 1), 0.5)
    width = np.maximum(bounds.before.values - bounds.after.values, 0)
    between: Rows = bounds.after.values + (np.clip(share, 0.0, 1.0) * width).astype(np.int64)
    return between


def _dates(best: Rows, known: Mask, after: Column, before: Column, method: Rows) -> Dates:
    latest = np.where(before.known, np.minimum(best, before.values), best)
    inside = np.where(after.known, np.maximum(latest, after.values), latest)
    return Dates(
        Column(inside, known),
        after.only(known),
        before.only(known),
        Column.unknown(len(best)),
        Words(Column(method.astype(np.int32), known), METHODS),
    )
