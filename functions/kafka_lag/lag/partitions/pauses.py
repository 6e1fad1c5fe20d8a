# SPDX-License-Identifier: Apache-2.0
"""Recurring pauses: learnt by the work between them, so that outages are not taken for them.

What batch jobs have in common, and outages have not, is how long they work from one pause to the
next: the same time again and again, and not much longer than they pause. A pause is excused only
if the work before it was the usual one. A second level learns pauses longer than the first
excuses, such as the weekends of a job that pauses every night. All times are seconds of the
reporter's clock; `window` is W.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.partitions.memory import Seconds

# Pauses with work alike before them: as many make them known, more are not counted.
_NEEDED, _MOST = 2, 4
# Work longer than so many times the pause after it is no part of a rhythm.
_RATIO = 4.0
# Works are alike within so many windows, pauses within one, or this share.
_WINDOWS, _SHARE = 3.0, 0.15
# A pause may last so many times the usual one.
_PATIENCE = 2.0


@dataclass(frozen=True, slots=True)
class Level:
    """Pauses of one length, a row a group-partition.

    `seen` pauses in a row had work alike before them; `pause`, `work` and `left` (the age that a
    pause begins with) are the usual ones, 0 where none was seen. `worked` is the work since the
    last pause.
    """

    seen: Seconds
    pause: Seconds
    work: Seconds
    left: Seconds
    worked: Column

    @property
    def known(self) -> Mask:
        """Where pauses are known to recur."""
        mask: Mask = self.seen >= _NEEDED
        return mask

    @property
    def limit(self) -> Seconds:
        """How long a pause may last that is one of these."""
        return self.pause * _PATIENCE

    def where(self, mask: Mask, other: Level) -> Level:
        """This level where the mask is true, the other where it is false."""
        return Level(
            np.where(mask, self.seen, other.seen),
            np.where(mask, self.pause, other.pause),
            np.where(mask, self.work, other.work),
            np.where(mask, self.left, other.left),
            self.worked.where(mask, other.worked),
        )

    def take(self, rows: Rows) -> Level:
        """The level of these rows."""
        return Level(
            self.seen[rows],
            self.pause[rows],
            self.work[rows],
            self.left[rows],
            self.worked.take(rows),
        )

    def with_worked(self, worked: Column) -> Level:
        """The same but for the work since the last pause."""
        return Level(self.seen, self.pause, self.work, self.left, worked)


@dataclass(frozen=True, slots=True)
class Pauses:
    """What is known of the pauses of each row: the usual ones, and longer ones among them."""

    usual: Level
    long: Level

    def take(self, rows: Rows) -> Pauses:
        """What is known of these rows."""
        return Pauses(self.usual.take(rows), self.long.take(rows))

    def since_unknown(self) -> Pauses:
        """The same, but nobody knows the work since the last pause: it may have been any."""
        unknown = Column.unknown(len(self.usual.seen), np.float64)
        return Pauses(self.usual.with_worked(unknown), self.long.with_worked(unknown))

    def where(self, mask: Mask, other: Pauses) -> Pauses:
        """These where the mask is true, the others where it is false."""
        return Pauses(self.usual.where(mask, other.usual), self.long.where(mask, other.long))


@dataclass(frozen=True, slots=True)
class Move:
    """Commits that moved forward: for how long they `lay` still until the run before, how old
    the next record was in that run, and for how long they had not moved by now.

    `seen`: the run before was no hole ago and knew the age; else nothing can be learnt.
    """

    lay: Seconds
    age: Seconds
    took: Seconds
    seen: Mask


def alike(one: Seconds, usual: Seconds, least: float) -> Mask:
    """Times that differ as one round of a job does from another: by `least`, or by a share."""
    mask: Mask = np.abs(one - usual) <= _tolerance(usual, least)
    return mask


def after_pause(level: Level, pause: Seconds, left: Seconds, window: float) -> Level:
    """The level after a pause that began with an age of `left`."""
    worked, told = level.worked.values, level.worked.known
    left = np.where(told, np.minimum(left, worked), 0.0)
    busy = told & (worked > _RATIO * pause)
    fits = told & ~busy & (level.seen > 0) & alike(worked, level.work, _WINDOWS * window)
    fits &= (pause <= level.limit) & (
        (worked <= _WINDOWS * window) | alike(pause, level.pause, window)
    )
    less = np.maximum(level.seen - 1, 0)
    first = told & ~busy & ~fits & (less == 0)
    # Means of all that were alike, then of the last ones.
    weight = 1.0 / np.minimum(level.seen + 1, _MOST)
    seen = np.where(fits, np.minimum(level.seen + 1, _MOST), np.where(told, less, level.seen))
    again = Level(
        np.where(first, 1.0, seen),
        np.where(fits, level.pause + (pause - level.pause) * weight, level.pause),
        np.where(fits, level.work + (worked - level.work) * weight, level.work),
        np.where(fits, level.left + (left - level.left) * weight, level.left),
        Column.of(np.zeros(len(pause))),
    )
    return Level(again.seen, pause, worked, left, again.worked).where(first, again)


def after_move(pauses: Pauses, move: Move, window: float) -> Pauses:
    """What is known once a commit has moved forward; of a pause that nobody saw nothing.

    A pause is the time for which the commit lay, or the age if that is less: hours in which
    nobody produced are none of the group's. One longer than usual was reported: it teaches the
    usual ones nothing, and may be one of the long ones.
    """
    usual, long = pauses.usual, pauses.long
    pause, left = np.minimum(move.lay, move.age), np.maximum(move.age - move.lay, 0.0)
    timely, over = pause <= window, usual.known & (pause > usual.limit)
    more = _plus(long.worked, move.took).only(usual.known)
    long = after_pause(long, pause, left, window).where(over, long.with_worked(more))
    ended = after_pause(usual, pause, left, window)
    more = _plus(usual.worked, move.took).where(timely, Column.of(np.zeros(len(pause))))
    usual = usual.with_worked(more).where(timely | over, ended)
    return Pauses(usual, long).where(move.seen, pauses.since_unknown())


def excused(pauses: Pauses, age: Seconds, unmoved: Seconds, still: Mask, window: float) -> Mask:
    """Ages that recurring pauses explain; `unmoved` counts where the commit lies still."""
    usual, long = pauses.usual, pauses.long
    due = _due(usual, still, window)
    mask: Mask = due & (
        _within(usual, age, unmoved, still)
        | (_due(long, still, window) & _within(long, age, unmoved, still))
    )
    return mask


def _due(level: Level, still: Mask, window: float) -> Mask:
    """Where a pause may be on: known, and the work before it is the usual one, or goes on."""
    worked, most = level.worked.values, level.work + _tolerance(level.work, _WINDOWS * window)
    fits = np.where(still, alike(worked, level.work, _WINDOWS * window), worked <= most)
    # Pausing most of the time, and well known: any work will do.
    mostly = (level.seen >= _MOST) & (level.work <= level.pause)
    mask: Mask = level.known & (fits | ~level.worked.known | mostly)
    return mask


def _within(level: Level, age: Seconds, unmoved: Seconds, still: Mask) -> Mask:
    limit = level.limit
    mask: Mask = (age <= limit + _PATIENCE * level.left) & (
        ~still | (np.minimum(age, unmoved) <= limit)
    )
    return mask


def _tolerance(usual: Seconds, least: float) -> Seconds:
    return np.maximum(least, _SHARE * usual)


def _plus(worked: Column, took: Seconds) -> Column:
    return Column(worked.values + took, worked.known)
