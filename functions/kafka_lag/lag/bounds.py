# SPDX-License-Identifier: Apache-2.0
"""Bounds of append times: between which two times a record was appended for sure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.group_settings import Tolerance

# A follower that hangs holds the high watermark back for so long, until it leaves the in-sync
# replicas (default of replica.lag.time.max.ms). Meanwhile records are appended, and the end that
# consumers see stands still: a record may be older by so much than the time it could be read from.
HELD_BACK_MS = 30_000


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of append times: from `after` to `before`, ms; unknown is unbounded.

    `end_after` and `end_before`: the log ends at these times, unknown where the bound is not by a
    log end.
    """

    after: Column
    before: Column
    end_after: Column
    end_before: Column

    @classmethod
    def between(cls, after: Column, before: Column) -> Bounds:
        """Bounds by other evidence than log ends, or by those of an earlier run."""
        return cls(after, before, Column.unknown(len(after)), Column.unknown(len(before)))

    @property
    def width(self) -> Column:
        """From the lower bound to the upper, ms."""
        return self.before - self.after

    def take(self, rows: Rows) -> Bounds:
        """The bounds of these records."""
        return Bounds(
            self.after.take(rows),
            self.before.take(rows),
            self.end_after.take(rows),
            self.end_before.take(rows),
        )

    def dated_by(self, other: Bounds) -> Bounds:
        """These bounds, corrected by `other`, of record timestamps; unchanged where they clash.

        No intersection: timestamps may be before these bounds by HELD_BACK_MS, and then the bounds
        are widened to them. What has a lower bound alone only tightens.
        """
        floor = self.after - HELD_BACK_MS
        clash = (other.before < floor) | (other.after > self.before)
        early = other.before < self.after
        held_back = early | ((other.after < self.after) & other.before.known)
        later = _tightens(other.after, self.after, other.after > self.after) & ~clash
        sooner = _tightens(other.before, self.before, other.before < self.before) & ~clash & ~early
        oldest = other.after.clip(floor).or_else(floor)
        return Bounds(
            oldest.where(held_back & ~clash, other.after.where(later, self.after)),
            other.before.where(sooner, self.before),
            other.end_after.where(later, self.end_after),
            other.end_before.where(sooner, self.end_before),
        )


def compute_allowance(tolerance: Tolerance, age: Rows) -> Rows:
    """The error that is allowed at this age, both in ms."""
    share = np.maximum(age, 0) * tolerance.share
    allowed: Rows = np.maximum(share.astype(np.int64), tolerance.floor_ms)
    return allowed


def _tightens(theirs: Column, ours: Column, tighter: Mask) -> Mask:
    return tighter | (theirs.known & ~ours.known)
