# SPDX-License-Identifier: Apache-2.0
"""How a commit moves from run to run: since when it lies still, went back, and pauses as usual.

Recurring pauses are learnt by the work between them, so that outages are not taken for them. What
batch jobs have in common, and outages have not, is how long they work from one pause to the next:
the same time again and again, and not much longer than they pause. A pause is excused only if the
work before it was the usual one. A second level learns pauses longer than the first excuses, such
as the weekends of a job that pauses every night. All times are seconds of the reporter's clock;
`window` is W.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_lag.lag.carry_over import PreviousRows, Seconds, seconds_between, set_where_read
from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.frame import AnyColumn, Frame
from kafka_lag.lag.rules import Rules


def add_movement(rows: Frame, previous: PreviousRows, taken_at: int, rules: Rules) -> Frame:
    """Observations, the commit's last change, its rewind and its usual pause, where read now.

    `observations`: readings of this topic, counted up to `most_observations`.
    `commit_changed_at`: the first run, ms, that saw this commit; unknown without a commit, and
    while it is the one that a recreated topic was first read with, as it may be the old topic's.
    `rewound_from`, `rewound_at`: the highest commit before it went back, and the run, ms, that
    saw it go back last; unknown once that commit is reached again.
    Columns of pauses: see `pauses`.
    """
    now, before = rows.numbers("committed_offset"), previous.rows.numbers("committed_offset")
    forward, back = now > before, now < before
    return set_where_read(
        rows,
        observations=_observations(previous.rows, most_observations(rules)),
        commit_changed_at=_changed_at(now, before, previous, taken_at),
        **_rewinds(now, previous.rows, taken_at),
        **learnt(previous.rows, rows, forward, back, taken_at, rules),
    )


def most_observations(rules: Rules) -> int:
    """Readings that fill the window; 2 at least, as one shows no movement."""
    return max(2, rules.window_ms // rules.interval_ms)


def lies_still(rows: Frame, taken_at: int, rules: Rules) -> Mask:
    """Rows whose commit has not moved for longer than the window, as far as runs saw.

    Of a row without a commit to this topic none moved in all the readings that fill the window.
    """
    since, seen = rows.numbers("commit_changed_at"), rows.numbers("observations")
    long = since.known & ~lately(since, taken_at, rules)
    never = ~since.known & (seen >= most_observations(rules))
    still: Mask = long | never
    return still


def lately(since: Column, taken_at: int, rules: Rules) -> Mask:
    """Times, ms, that lie within the window: up to exactly its length ago."""
    return taken_at - since <= rules.window_ms


def _observations(old: Frame, most: int) -> Column:
    seen = old.numbers("observations").clip(most=most - 1).fill(0) + 1
    return Column.of(seen.astype(np.int32))


def _changed_at(now: Column, before: Column, previous: PreviousRows, taken_at: int) -> Column:
    since = previous.rows.numbers("commit_changed_at")
    this_run = Column(np.full(len(now), taken_at, np.int64), now.known & ~previous.recreated)
    return since.where(now == before, this_run)


def _rewinds(now: Column, old: Frame, taken_at: int) -> dict[str, AnyColumn]:
    """A commit of another topic, or one that this log never reached, is none to go back from."""
    before, top = old.numbers("committed_offset"), old.numbers("rewound_from")
    end = old.numbers("end_offset")
    ours = old.numbers("commit_changed_at").known & ~(before > end)
    back = ours & (now < before)
    highest = before.where(~(top > before), top)
    source = highest.where(back, top)
    below = now < source
    this_run = Column.of(np.full(len(now), taken_at, np.int64))
    since = this_run.where(back, old.numbers("rewound_at"))
    return {"rewound_from": source.only(below), "rewound_at": since.only(below)}


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
    old: Frame, rows: Frame, forward: Mask, back: Mask, taken_at: int, rules: Rules
) -> dict[str, AnyColumn]:
    """The columns of pauses after this run; `old` holds each row as the previous run left it.

    Most groups never pause: only rows that did, or do so now, are looked at closely.
    """
    kept = {name: old.numbers(name) for name in (*_USUAL, *_LONG)}
    since, age = old.numbers("commit_changed_at"), old.numbers("time_lag_seconds")
    lay = (old.numbers("read_at").values - since.values) / 1_000
    forward = forward & since.known
    window, passed = rules.window_ms / 1_000, seconds_between(rows, old).fill(0.0)
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
    return dict(_with(kept, at, after_move(_pauses_of(old, at), move, window)))


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
