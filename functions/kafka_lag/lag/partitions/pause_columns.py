# SPDX-License-Identifier: Apache-2.0
"""Pauses in the snapshot's columns: what a run learns of them, and which ages they excuse."""

from __future__ import annotations

import numpy as np

from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.frame import AnyColumn, Frame
from kafka_lag.lag.partitions.memory import elapsed
from kafka_lag.lag.partitions.pauses import Level, Move, Pauses, after_move, excused
from kafka_lag.lag.rules import Rules

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
    kept = {name: was.numbers(name) for name in (*_USUAL, *_LONG)}
    since, age = was.numbers("commit_changed_at"), was.numbers("time_lag_seconds")
    lay = (was.numbers("read_at").values - since.values) / 1_000
    forward = forward & since.known
    window, passed = rules.window_ms / 1_000, elapsed(rows, was)
    near = passed <= max(window / 2, _HOLE_INTERVALS * rules.interval_ms / 1_000)
    traced = kept[_USUAL[-1]].known | kept[_LONG[-1]].known
    long = age.known & (np.minimum(lay, age.values) > window)
    at = np.flatnonzero((forward & (traced | long)) | (back & traced))
    move = Move(
        lay=lay[at],
        age=age.values[at],
        took=(taken_at - since.values[at]) / 1_000,
        seen=age.known[at] & near[at] & forward[at],
    )
    if not len(at):
        return dict(kept)
    return dict(_with(kept, at, after_move(_pauses_of(was, at), move, window)))


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
    mask[at] = excused(_pauses_of(rows, at), old, unmoved, still[at], rules.window_ms / 1_000)
    return mask


def _pauses_of(frame: Frame, at: Rows) -> Pauses:
    return Pauses(_level_of(frame, at, _USUAL), _level_of(frame, at, _LONG))


def _level_of(frame: Frame, at: Rows, names: tuple[str, ...]) -> Level:
    """A level; versions before 2.1 counted pauses without the work between them: none of these."""
    seen, pause, work, left, worked = (frame.numbers(name).take(at) for name in names)
    counts = seen.known & pause.known & work.known & left.known
    return Level(
        np.where(counts, seen.values, 0.0),
        np.where(counts, pause.values, 0.0),
        np.where(counts, work.values, 0.0),
        np.where(counts, left.values, 0.0),
        worked,
    )


def _with(kept: dict[str, Column], at: Rows, after: Pauses) -> dict[str, Column]:
    """The columns as they were, with what is known now at the given rows."""
    columns: dict[str, Column] = {}
    for names, level in ((_USUAL, after.usual), (_LONG, after.long)):
        counts = level.seen > 0
        numbers = (level.seen, level.pause, level.work, level.left)
        new = [*(Column(number, counts) for number in numbers), level.worked]
        for name, column in zip(names, new, strict=True):
            values, known = kept[name].values.copy(), kept[name].known.copy()
            values[at], known[at] = column.values, column.known
            columns[name] = Column(values, known)
    return columns
