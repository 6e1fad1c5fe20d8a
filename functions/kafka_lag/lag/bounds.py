# SPDX-License-Identifier: Apache-2.0
"""Bounds of append times: the two times between which a record was certainly appended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_lag.lag.aligned import Aligned
from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.group_settings import Tolerance

# A follower that hangs holds the high watermark back for this long, until it leaves the in-sync
# replicas (default of replica.lag.time.max.ms). Meanwhile records are appended, but the end that
# consumers see does not move. So a record may have been appended this long before it could be read.
HELD_BACK_MS = 30_000


@dataclass(frozen=True, slots=True)
class Bounds(Aligned):
    """Bounds of append times: from `after` to `before`, ms; unknown is unbounded.

    `end_after` and `end_before`: the log ends at these times, unknown if the bound does not come
    from a log end.
    """

    after: Column
    before: Column
    end_after: Column
    end_before: Column

    @classmethod
    def between(cls, after: Column, before: Column) -> Bounds:
        """Returns bounds from other evidence than log ends, or from an earlier run."""
        return cls(after, before, Column.unknown(len(after)), Column.unknown(len(before)))

    @property
    def width(self) -> Column:
        """Returns the time from the lower bound to the upper, ms."""
        return self.before - self.after

    def correct_by_timestamps(self, other: Bounds) -> Bounds:
        """Returns these bounds, corrected by `other`, of record timestamps; unchanged on a clash.

        The result is not an intersection: timestamps may be up to HELD_BACK_MS before these bounds,
        which are then widened to them. An `other` with a lower bound alone only tightens.
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
    """Returns the error that is allowed at this age, both in ms."""
    share = np.maximum(age, 0) * tolerance.share
    allowed: Rows = np.maximum(share.astype(np.int64), tolerance.floor_ms)
    return allowed


def _tightens(theirs: Column, ours: Column, tighter: Mask) -> Mask:
    return tighter | (theirs.known & ~ours.known)
