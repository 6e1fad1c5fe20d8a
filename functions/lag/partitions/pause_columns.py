# SPDX-License-Identifier: Apache-2.0
"""Pauses in the snapshot's columns: what a run learns of them, and which ages they excuse."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from functions.lag.columns import Column, Mask, Rows
from functions.lag.frame import AnyColumn, Frame
from functions.lag.partitions.memory import elapsed
from functions.lag.partitions.pauses import Level, Move, Pauses, after_move, excused
from functions.lag.rules import Rules

A = TypeVar("A", bound=np.generic)

# Columns of a level: seen, pause, work, left, worked.
_USUAL = (
    "pauses_seen",
    "pause_seconds",
    "work_between_pauses",
    "pause_age_left",
    "work_since_pause",
)
_LONG = (
    "long_pauses_seen",
    "long_pause_seconds",
    "work_between_long_pauses",
    "long_pause_age_left",
    "work_since_long_pause",
)
# Runs farther apart than half a window, and than so many intervals, leave a hole between them.
_HOLE_INTERVALS = 1.5


def learnt(
    was: Frame, rows: Frame, forward: Mask, back: Mask, taken_at: int, rules: Rules
) -> dict[str, AnyColumn]:
    """The columns of pauses after this run; `was` holds each row as the run before left it.

    Most groups never pause: only rows that did, or do so now, are looked at closely.
    """
    before = _pauses_of(was)
    since, age = was.numbers("commit_changed_at"), was.numbers("time_lag_seconds")
    lay = (was.numbers("read_at").values - since.values) / 1_000
    forward = forward & since.known
    window, passed = rules.window_ms / 1_000, elapsed(rows, was)
    near = passed <= max(window / 2, _HOLE_INTERVALS * rules.interval_ms / 1_000)
    traced = before.usual.worked.known | before.long.worked.known
    long = age.known & (np.minimum(lay, age.values) > window)
    at = np.flatnonzero((forward & (traced | long)) | (back & traced))
    move = Move(
        lay=lay[at],
        age=age.values[at],
        took=(taken_at - since.values[at]) / 1_000,
        seen=age.known[at] & near[at] & forward[at],
    )
    return _columns_of(before, at, after_move(before.take(at), move, window))


def usual(rows: Frame, ages: Column, still: Mask, taken_at: int, rules: Rules) -> Mask:
    """Rows whose age known pauses explain; an idle producer's hours are none of it.

    Of a commit that lies still the pause counts, if it is less: an old backlog may pause as well.
    """
    mask = np.zeros(len(rows), bool)
    at = np.flatnonzero(rows.numbers("pauses_seen").known)
    if not len(at):
        return mask
    age = rows.numbers("time_lag_seconds").or_else(ages).take(at)
    since = rows.numbers("commit_changed_at").take(at)
    old = np.where(age.known, age.values, np.inf)
    unmoved = np.where(since.known, (taken_at - since.values) / 1_000, np.inf)
    known, window = _pauses_of(rows.take(at)), rules.window_ms / 1_000
    mask[at] = excused(known, old, unmoved, still[at], window)
    return mask


def _pauses_of(frame: Frame) -> Pauses:
    return Pauses(_level_of(frame, _USUAL), _level_of(frame, _LONG))


def _level_of(frame: Frame, names: tuple[str, ...]) -> Level:
    """A level; versions before 2.1 counted pauses without the work between them: none of these."""
    seen, pause, work, left, worked = (frame.numbers(name) for name in names)
    counts = seen.known & pause.known & work.known & left.known
    return Level(
        np.where(counts, seen.values, 0.0),
        np.where(counts, pause.values, 0.0),
        np.where(counts, work.values, 0.0),
        np.where(counts, left.values, 0.0),
        worked,
    )


def _columns_of(before: Pauses, at: Rows, after: Pauses) -> dict[str, AnyColumn]:
    """The pauses before, with those after at the given rows."""
    columns: dict[str, AnyColumn] = {}
    for names, old, new in ((_USUAL, before.usual, after.usual), (_LONG, before.long, after.long)):
        seen = _put(old.seen, at, new.seen)
        counts = seen > 0
        pairs = ((old.pause, new.pause), (old.work, new.work), (old.left, new.left))
        numbers = [seen, *(_put(one, at, other) for one, other in pairs)]
        values = _put(old.worked.values, at, new.worked.values)
        worked = Column(values, _put(old.worked.known, at, new.worked.known))
        levels = [*(Column(number, counts) for number in numbers), worked]
        columns.update(zip(names, levels, strict=True))
    return columns


def _put(old: npt.NDArray[A], at: Rows, new: npt.NDArray[A]) -> npt.NDArray[A]:
    values = old.copy()
    values[at] = new
    return values
