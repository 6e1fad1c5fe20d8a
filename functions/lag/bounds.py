# SPDX-License-Identifier: Apache-2.0
"""Hard bounds for the time at which a record was appended, by the reporter's own clock."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from functions.lag.columns import Column, Mask, Rows


@dataclass(frozen=True, slots=True)
class Bounds:
    """`after` and `before`, ms, hold the append time between them; unknown is unbounded.

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
        """These bounds, tightened by others about the same; these alone where they contradict."""
        clash = self.after.known & other.before.known & (other.before.values < self.after.values)
        clash |= self.before.known & other.after.known & (other.after.values > self.before.values)
        later = _better(self.after, other.after, clash, other.after.values > self.after.values)
        sooner = _better(self.before, other.before, clash, other.before.values < self.before.values)
        return Bounds(
            other.after.where(later, self.after),
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
