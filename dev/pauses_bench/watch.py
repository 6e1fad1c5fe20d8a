# SPDX-License-Identifier: Apache-2.0
"""The rule alone, run by run, for thousands of partitions at once: a row each."""

from __future__ import annotations

import numpy as np

from dev.pauses_bench.tracks import Floats, Ints, Mask
from kafka_lag.lag.columns import Column
from kafka_lag.lag.pauses import Level, Move, Pauses, is_explained, learn_from_move

WINDOW = 600.0
_HOLD = 3


class Watch:
    """What the reporter remembers of each row; STOP and STALL are one here: reported."""

    def __init__(self, rows: int) -> None:
        self.pauses = unlearnt(rows)
        self._changed = np.zeros(rows)
        self._read = np.full(rows, -np.inf)
        self._age = np.zeros(rows)

    def run(self, second: float, moved: Mask, age: Floats, read: Mask | None = None) -> Mask:
        """Rows reported in this run; rows that are not read keep what is known, and are not."""
        read = np.ones(len(age), bool) if read is None else read
        moved = moved & read
        self._learn(second, moved)
        self._changed[moved] = second
        still = read & (second - self._changed > WINDOW)
        self._read[read], self._age[read] = second, age[read]
        bad: Mask = still & (age > WINDOW)
        at = np.flatnonzero(bad & self.pauses.usual.known)
        if len(at):
            unmoved = second - self._changed[at]
            known = self.pauses.take(at)
            bad[at] = ~is_explained(known, age[at], unmoved, np.ones(len(at), bool), WINDOW)
        return bad

    def plain(self, second: float, age: Floats) -> Mask:
        """What a judge without excuses would report."""
        mask: Mask = (second - self._changed > WINDOW) & (age > WINDOW)
        return mask

    def _learn(self, second: float, moved: Mask) -> None:
        lay = self._read - self._changed
        traced = self.pauses.usual.worked.known | self.pauses.long.worked.known
        at = np.flatnonzero(moved & (traced | (np.minimum(lay, self._age) > WINDOW)))
        if not len(at):
            return
        near = second - self._read[at] <= WINDOW / 2
        move = Move(lay[at], self._age[at], second - self._changed[at], near)
        _put(self.pauses, at, learn_from_move(self.pauses.take(at), move, WINDOW))


class Held:
    """Changes of a status that lasted the usual three runs, counted as they come."""

    def __init__(self, rows: int) -> None:
        self.held = np.zeros(rows, bool)
        self._last, self._streak = np.zeros(rows, bool), np.zeros(rows, np.int64)

    def run(self, status: Mask, read: Mask | None = None) -> Mask:
        """Rows whose held status changes in this run; one that is not read proves nothing."""
        read = np.ones(len(status), bool) if read is None else read
        same = status == self._last
        self._streak = np.where(read, np.where(same, self._streak + 1, 1), self._streak)
        self._last = np.where(read, status, self._last)
        changed: Mask = read & (self._streak >= _HOLD) & (self._last != self.held)
        self.held = np.where(changed, self._last, self.held)
        return changed


def _put(pauses: Pauses, at: Ints, new: Pauses) -> None:
    """Overwrite these rows in place: copies of all rows in each run would take most of the time."""
    for old, other in ((pauses.usual, new.usual), (pauses.long, new.long)):
        _put_level(old, at, other)


def _put_level(old: Level, at: Ints, new: Level) -> None:
    old.seen[at], old.pause[at], old.work[at] = new.seen, new.pause, new.work
    old.left[at] = new.left
    old.worked.values[at], old.worked.known[at] = new.worked.values, new.worked.known


def unlearnt(rows: int) -> Pauses:
    """Pauses of which each level has arrays of its own."""
    return Pauses(_level(rows), _level(rows))


def _level(rows: int) -> Level:
    seen, pause, work, left = np.zeros((4, rows))
    return Level(seen, pause, work, left, Column.unknown(rows, np.float64))
