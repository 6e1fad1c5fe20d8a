# SPDX-License-Identifier: Apache-2.0
"""Recurring pauses of a consumer, such as those of a batch job, are learnt, not reported as stops.

A pause is a time in which the commit does not move. A batch job, unlike an outage, works for about
the same time between pauses, and not much longer than it pauses. So a pause counts as usual only if
the work before it was as long as usual.

A job's first three pauses are reported as stops: an hourly job is known after some three hours.

There are two levels: the second learns pauses that are longer than the first allows, such as the
weekends of a job that also pauses every night. Times are in seconds, by the reporter's clock;
`window` is W.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_lag.lag.aligned import Aligned
from kafka_lag.lag.columns import Column, Mask, Rows, Seconds
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.previous_rows import is_read
from kafka_lag.lag.run import Run
from kafka_lag.lag.transactions import find_readable_time_lag

# The time since the last pause, s.
WORKED = "work_since_pause"
# Columns of the two levels, in the order of the fields of `PauseLevel`.
_USUAL = (
    "pauses_seen",
    "pause_seconds",
    "work_between_pauses",
    "pause_age_left",
    WORKED,
)
_LONG = (
    "long_pauses_seen",
    "long_pause_seconds",
    "work_between_long_pauses",
    "long_pause_age_left",
    "work_since_long_pause",
)
# A run is missing between two that are more than half a window and this many intervals apart.
_HOLE_INTERVALS = 1.5


def learn_pauses(old: Frame, move: Move, window: float) -> dict[str, Column]:
    """Returns the columns of both levels after this run; `old` holds each row's previous row.

    Only rows with a long pause, now or before, are computed, because most groups never pause.
    """
    columns = {name: old.numbers(name) for name in (*_USUAL, *_LONG)}
    traced = columns[_USUAL[-1]].known | columns[_LONG[-1]].known
    at = np.flatnonzero(((move.forward | move.back) & traced) | move.ends_pause(window))
    if not len(at):
        return columns
    return _replace_rows(columns, at, learn_from_move(_read_pauses(old, at), move.take(at), window))


def find_moves(old: Frame, forward: Mask, back: Mask, run: Run) -> Move:
    """Returns the movement of each commit since the previous run, whose rows `old` holds.

    `forward` and `back` mark the commits that moved.
    """
    since, age = old.numbers("commit_changed_at"), find_readable_time_lag(old)
    seen = _find_last_seen(old)
    passed, window = run.seconds_since(seen), run.window_seconds
    near = passed <= max(window / 2, _HOLE_INTERVALS * run.interval_seconds)
    forward = forward & since.known & seen.known
    return Move(
        still_for=((seen - since) / 1_000).fill(0.0),
        age=age.fill(0.0),
        took=run.seconds_since(since).fill(0.0),
        observed=age.known & near & forward,
        forward=forward,
        back=back,
    )


def _find_last_seen(old: Frame) -> Column:
    """Returns the scheduled time, ms, of the run that last read each row.

    Commits are dated by scheduled times, and must not be compared with a run's clock, which may be
    wrong or late. An unread row was last read earlier; for it only the clock is known.
    """
    taken_at, read_at = old.numbers("taken_at"), old.numbers("read_at")
    return taken_at.where(is_read(old), read_at.clip(most=taken_at))


@dataclass(frozen=True, slots=True)
class UsualPauses:
    """Rows in a pause of a usual length, and rows whose age such pauses `explain`.

    If a group reads less than is written, its pauses are as long as usual and explain nothing.
    """

    usual: Mask
    explain: Mask


def find_usual_pauses(
    rows: Frame, ages: Column, still: Mask, warned: Mask, run: Run
) -> UsualPauses:
    """Finds the rows in a usual pause, and those whose age it explains.

    `ages` (s) stand in for an unknown `time_lag_seconds`; `still` marks commits that have not moved
    for a window, `warned` rows that were WARN. The lesser of pause and age counts for still rows: a
    group with an old backlog may pause as well, and hours without records are no pause.
    """
    found = UsualPauses(np.zeros(len(rows), bool), np.zeros(len(rows), bool))
    at = np.flatnonzero(rows.numbers("pauses_seen").known)
    if not len(at):
        return found
    age = rows.numbers("time_lag_seconds").or_else(ages).take(at)
    since = rows.numbers("commit_changed_at").take(at)
    known_age = age.fill(np.inf)
    unmoved = run.seconds_since(since).fill(np.inf)
    pauses, window = _read_pauses(rows, at), run.window_seconds
    usual = is_explained(pauses, known_age, unmoved, still[at], window)
    behind = (still | warned)[at] & ~is_left_as_usual(pauses, known_age - unmoved, window)
    found.usual[at], found.explain[at] = usual, usual & ~behind
    return found


def find_due_pause(rows: Frame, run: Run) -> Column:
    """Returns how long, s, the pause usually is that each row may be in.

    It applies to commits that do not move. It is unknown if no pause is learnt, or if the work
    before was not as long as usual.
    """
    at = np.flatnonzero(rows.numbers("pauses_seen").known)
    pauses, window = _read_pauses(rows, at), run.window_seconds
    usual, long = (
        Column(level.pause, _is_due(level, np.ones(len(at), bool), window))
        for level in (pauses.usual, pauses.long)
    )
    longest = usual.clip(long.fill(0.0))
    return Column.unknown(len(rows), np.float64).put(at, longest)


def _read_pauses(frame: Frame, at: Rows) -> Pauses:
    return Pauses(_read_level(frame, at, _USUAL), _read_level(frame, at, _LONG))


def _read_level(frame: Frame, at: Rows, names: tuple[str, ...]) -> PauseLevel:
    """Returns one level of these rows.

    Versions before 2.1 counted pauses without the work between them; such counts become 0.
    """
    seen, pause, work, left, worked = (frame.numbers(name).take(at) for name in names)
    counts = seen.known & pause.known & work.known & left.known
    return PauseLevel(
        seen.only(counts).fill(0.0),
        pause.only(counts).fill(0.0),
        work.only(counts).fill(0.0),
        left.only(counts).fill(0.0),
        worked,
    )


def _replace_rows(columns: dict[str, Column], at: Rows, pauses: Pauses) -> dict[str, Column]:
    """Returns the columns with these pauses at the given rows."""
    replaced: dict[str, Column] = {}
    for names, level in ((_USUAL, pauses.usual), (_LONG, pauses.long)):
        counts = level.seen > 0
        numbers = (level.seen, level.pause, level.work, level.left)
        new = [*(Column(number, counts) for number in numbers), level.worked]
        for name, column in zip(names, new, strict=True):
            replaced[name] = columns[name].put(at, column)
    return replaced


# Pauses recur once this many of them had similar work before them. The third pause is the second
# that counts, because the work before the first is unknown. So the fourth is not reported. Counting
# ends at the second number.
_NEEDED, _MOST = 2, 4
# Work that lasts more than this many times the pause after it does not belong to a rhythm.
_RATIO = 4.0
# Two times of work are alike if they differ by at most this many windows (two pauses: by one), or
# by this share of the usual time.
_WINDOWS, _SHARE = 3.0, 0.15
# A pause may last this many times the usual one.
_LIMIT_RATIO = 2.0


@dataclass(frozen=True, slots=True)
class PauseLevel(Aligned):
    """Recurring pauses of about one length, a row per group-partition.

    `seen`: how many pauses in a row had similar work before them. Their usual values, 0 if none was
    seen: `pause` (how long), `work` (time from one to the next), `left` (the age of the next unread
    record when the pause begins). `worked`: time since the last pause, unknown if it was not seen.
    """

    seen: Seconds
    pause: Seconds
    work: Seconds
    left: Seconds
    worked: Column

    @property
    def known(self) -> Mask:
        """Marks rows whose pauses are known to recur."""
        mask: Mask = self.seen >= _NEEDED
        return mask

    @property
    def limit(self) -> Seconds:
        """Returns how long a pause of this level may last."""
        return self.pause * _LIMIT_RATIO

    def with_worked(self, worked: Column) -> PauseLevel:
        """Returns this level with another time of work since the last pause."""
        return PauseLevel(self.seen, self.pause, self.work, self.left, worked)


@dataclass(frozen=True, slots=True)
class Pauses(Aligned):
    """The usual pauses of each row, and the longer pauses that some of them are."""

    usual: PauseLevel
    long: PauseLevel

    def without_work(self) -> Pauses:
        """Returns the same pauses with an unknown time of work since the last one."""
        unknown = Column.unknown(len(self.usual.seen), np.float64)
        return Pauses(self.usual.with_worked(unknown), self.long.with_worked(unknown))


@dataclass(frozen=True, slots=True)
class Move(Aligned):
    """The movement of each commit since the previous run: `forward`, `back`, or neither.

    `still_for`: how long the commit had not moved by the previous run. `age`: the age of the next
    unread record in that run. `took`: the time from the commit's last change to this run.
    `observed` is false, and the times mean nothing, if the commit did not move forward, runs are
    missing in between, or the age is unknown.
    """

    still_for: Seconds
    age: Seconds
    took: Seconds
    observed: Mask
    forward: Mask
    back: Mask

    @property
    def pause(self) -> Seconds:
        """Returns how long the commit had not moved, or the age if that is less.

        Hours in which nothing is produced are not a pause.
        """
        pause: Seconds = np.minimum(self.still_for, self.age)
        return pause

    def ends_pause(self, window: float) -> Mask:
        """Marks commits that ended a pause longer than `window`, s."""
        mask: Mask = self.observed & (self.pause > window)
        return mask


def is_alike(one: Seconds, usual: Seconds, least: float = 0.0) -> Mask:
    """Marks values that differ from the usual one by at most `least`, or by a share of it."""
    mask: Mask = np.abs(one - usual) <= _tolerance(usual, least)
    return mask


def is_busy(worked: Column, pause: Seconds) -> Mask:
    """Marks pauses that do not belong to a rhythm, because the work before was much longer."""
    return worked > _RATIO * pause


def learn_from_pause(level: PauseLevel, pause: Seconds, left: Seconds, window: float) -> PauseLevel:
    """Returns the level after one more pause, which began at an age of `left`."""
    worked, known = level.worked.fill(0.0), level.worked.known
    left = np.where(known, np.minimum(left, worked), 0.0)
    busy = is_busy(level.worked, pause)
    fits = known & ~busy & (level.seen > 0) & is_alike(worked, level.work, _WINDOWS * window)
    fits &= (pause <= level.limit) & (
        (worked <= _WINDOWS * window) | is_alike(pause, level.pause, window)
    )
    less = np.maximum(level.seen - 1, 0)
    first = known & ~busy & ~fits & (less == 0)
    # The mean of all pauses that were alike; from the fourth on a moving mean.
    weight = 1.0 / np.minimum(level.seen + 1, _MOST)
    seen = np.where(fits, np.minimum(level.seen + 1, _MOST), np.where(known, less, level.seen))
    again = PauseLevel(
        np.where(first, 1.0, seen),
        np.where(fits, level.pause + (pause - level.pause) * weight, level.pause),
        np.where(fits, level.work + (worked - level.work) * weight, level.work),
        np.where(fits, level.left + (left - level.left) * weight, level.left),
        Column.of(np.zeros(len(pause))),
    )
    return PauseLevel(again.seen, pause, worked, left, again.worked).where(first, again)


def learn_from_move(pauses: Pauses, move: Move, window: float) -> Pauses:
    """Returns the pauses after commits have moved; a move that was not observed teaches nothing.

    A pause longer than the usual limit was reported. It does not change the usual level, and counts
    for the long one.
    """
    usual, long = pauses.usual, pauses.long
    pause = move.pause
    left = np.maximum(move.age - move.still_for, 0.0)
    timely, over = pause <= window, usual.known & (pause > usual.limit)
    more = (long.worked + move.took).only(usual.known)
    long = learn_from_pause(long, pause, left, window).where(over, long.with_worked(more))
    ended = learn_from_pause(usual, pause, left, window)
    more = (usual.worked + move.took).where(timely, Column.of(np.zeros(len(pause))))
    usual = usual.with_worked(more).where(timely | over, ended)
    return Pauses(usual, long).where(move.observed, pauses.without_work())


def is_explained(
    pauses: Pauses, age: Seconds, unmoved: Seconds, still: Mask, window: float
) -> Mask:
    """Marks ages that recurring pauses explain; `unmoved` counts only if the commit is `still`."""
    usual, long = pauses.usual, pauses.long
    due = _is_due(usual, still, window)
    mask: Mask = due & (
        _is_within(usual, age, unmoved, still)
        | (_is_due(long, still, window) & _is_within(long, age, unmoved, still))
    )
    return mask


def _is_due(level: PauseLevel, still: Mask, window: float) -> Mask:
    """Marks rows that may be in a pause: pauses recur, and the work before was as long as usual.

    While the commit moves, the work may also be shorter than usual.
    """
    worked, most = level.worked.fill(0.0), level.work + _tolerance(level.work, _WINDOWS * window)
    fits = np.where(still, is_alike(worked, level.work, _WINDOWS * window), worked <= most)
    # A well-known job that pauses most of the time may work for any time.
    mostly = (level.seen >= _MOST) & (level.work <= level.pause)
    mask: Mask = level.known & (fits | ~level.worked.known | mostly)
    return mask


def _is_within(level: PauseLevel, age: Seconds, unmoved: Seconds, still: Mask) -> Mask:
    """Marks rows whose pause (age, if the commit moves) is no longer than this level allows."""
    limit = level.limit
    mask: Mask = np.where(
        still, np.minimum(age, unmoved) <= limit, age <= limit + _LIMIT_RATIO * level.left
    )
    return mask


def is_left_as_usual(pauses: Pauses, left: Seconds, window: float) -> Mask:
    """Marks rows whose last commit left no greater age than usual; `left` is that age.

    The age grows from pause to pause if less is read than is written.
    """
    usual = np.maximum(pauses.usual.left, np.where(pauses.long.known, pauses.long.left, 0.0))
    mask: Mask = left <= usual + np.maximum(window, (_LIMIT_RATIO - 1.0) * usual)
    return mask


def _tolerance(usual: Seconds, least: float) -> Seconds:
    return np.maximum(least, _SHARE * usual)
