# SPDX-License-Identifier: Apache-2.0
"""Hard bounds for the time from which a record could be read, by the reporter's own clock."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_lag.lag.columns import Column, Mask, Rows

# A follower that hangs holds the high watermark back for so long before it leaves the in-sync
# replicas (replica.lag.time.max.ms, by default): the log's end as consumers see it stands still,
# though records are appended, and a record's time may be as much earlier than it could be read.
HELD_BACK_MS = 30_000


@dataclass(frozen=True, slots=True)
class Bounds:
    """`after` and `before`, ms, hold that time between them; unknown is unbounded.

    `end_after` and `end_before` are the log's ends at those moments; unknown where a bound is
    not from a reading of the log's end.
    """

    after: Column
    before: Column
    end_after: Column
    end_before: Column

    @property
    def width(self) -> Column:
        """How far the bounds are apart, ms."""
        known = self.after.known & self.before.known
        return Column(np.where(known, self.before.values - self.after.values, 0), known)

    def take(self, rows: Rows) -> Bounds:
        """The bounds of these records."""
        return Bounds(
            self.after.take(rows),
            self.before.take(rows),
            self.end_after.take(rows),
            self.end_before.take(rows),
        )

    def within(self, other: Bounds) -> Bounds:
        """These bounds, tightened by record times; these alone where the two contradict.

        Times that come before these by HELD_BACK_MS at most do not: then the bounds hold both.
        """
        both = self.after.known & other.before.known
        floor = self.after.values - HELD_BACK_MS
        clash = both & (other.before.values < floor)
        clash |= self.before.known & other.after.known & (other.after.values > self.before.values)
        early = both & (other.before.values < self.after.values)
        held_back = early | (both & other.after.known & (other.after.values < self.after.values))
        low = np.where(other.after.known, np.maximum(other.after.values, floor), floor)
        later = _better(self.after, other.after, clash, other.after.values > self.after.values)
        sooner = _better(self.before, other.before, clash, other.before.values < self.before.values)
        sooner &= ~early
        return Bounds(
            Column.of(low).where(held_back & ~clash, other.after.where(later, self.after)),
            other.before.where(sooner, self.before),
            other.end_after.where(later, self.end_after),
            other.end_before.where(sooner, self.end_before),
        )


def carried_bounds(after: Column, before: Column) -> Bounds:
    """Bounds that an earlier run found; the log's ends at those moments are not known any more."""
    return Bounds(after, before, Column.unknown(len(after)), Column.unknown(len(before)))


def _better(ours: Column, theirs: Column, clash: Mask, tighter: Mask) -> Mask:
    mask: Mask = theirs.known & ~clash & (~ours.known | tighter)
    return mask
