# SPDX-License-Identifier: Apache-2.0
"""The rule on pauses alone, for thousands of partitions at once, against its thresholds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dev.benchmarks.pauses.tracks import (
    BATCHES,
    DAY,
    DAYS,
    HOUR,
    Batch,
    Floats,
    Ints,
    Mask,
    Outage,
    Track,
    quiet_from,
    steady,
)
from kafka_lag.lag.columns import Column
from kafka_lag.lag.pauses import Move, PauseLevel, Pauses, is_explained, learn_from_move

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


def _put_level(old: PauseLevel, at: Ints, new: PauseLevel) -> None:
    old.seen[at], old.pause[at], old.work[at] = new.seen, new.pause, new.work
    old.left[at] = new.left
    old.worked.values[at], old.worked.known[at] = new.worked.values, new.worked.known


def unlearnt(rows: int) -> Pauses:
    """Pauses of which each level has arrays of its own."""
    return Pauses(_level(rows), _level(rows))


def _level(rows: int) -> PauseLevel:
    seen, pause, work, left = np.zeros((4, rows))
    return PauseLevel(seen, pause, work, left, Column.unknown(rows, np.float64))


_GAPS, _AGAIN_SHARE = 12, 0.5


@dataclass(frozen=True, slots=True)
class Observations:
    """Tracks as runs see them: a row a run, a column a track."""

    moves: Mask
    ages: Floats

    @classmethod
    def of(cls, tracks: Sequence[Track]) -> Observations:
        """Tracks of one length."""
        moves = np.stack([track.moves() for track in tracks], axis=1)
        return cls(moves, np.stack([track.ages().astype(np.float32) for track in tracks], axis=1))

    @property
    def columns(self) -> int:
        """How many tracks."""
        return int(self.moves.shape[1])


@dataclass(frozen=True, slots=True)
class Changes:
    """Held changes by track, as runs; and the pauses known in the end."""

    changes: tuple[tuple[int, ...], ...]
    known: Mask


def watch_all(observed: Observations, read: Mask | None = None) -> Changes:
    """Held changes of each track; `read` has a column a track as well."""
    watch, held = Watch(observed.columns), Held(observed.columns)
    changes: list[list[int]] = [[] for _ in range(observed.columns)]
    moved = np.zeros(observed.columns, bool)
    for run, (moves, ages) in enumerate(zip(observed.moves, observed.ages, strict=True)):
        now = None if read is None else read[run]
        moved |= moves
        bad = watch.run(run * 60.0, moved, ages.astype(np.float64), now)
        for column in np.flatnonzero(held.run(bad, now)):
            changes[column].append(run)
        moved &= False if now is None else ~now
    return Changes(tuple(map(tuple, changes)), watch.pauses.usual.known)


def calm(tracks: Sequence[tuple[Batch, Track]]) -> list[int]:
    """B: held changes of each track from when on none is due."""
    since = [0 if batch.most else quiet_from(batch, track) for batch, track in tracks]
    found = watch_all(Observations.of([track for _, track in tracks]))
    return [
        sum(run >= first for run in runs) for runs, first in zip(found.changes, since, strict=True)
    ]


def added_by_gaps(tracks: Sequence[tuple[Batch, Track]], seeds: Sequence[int]) -> list[int]:
    """C: held changes that 12 gaps of 5 minutes to 8 hours in which no run is add to each track,
    once its pauses are known."""
    observed = Observations.of([track for _, track in tracks])
    since = [quiet_from(batch, track) for batch, track in tracks]
    read = np.stack(
        [_gaps(seed, first, len(observed.moves)) for seed, first in zip(seeds, since, strict=True)],
        axis=1,
    )
    without, gaps = watch_all(observed), watch_all(observed, read)
    pairs = zip(gaps.changes, without.changes, strict=True)
    return [max(len(some) - len(others), 0) for some, others in pairs]


def steady_with_gaps(seeds: Sequence[int], days: int = 10) -> Mask:
    """C: steady groups that take gaps without runs for pauses."""
    tracks = [steady(days, ()) for _ in seeds]
    observed = Observations.of(tracks)
    read = np.stack([_gaps(seed, HOUR, len(observed.moves)) for seed in seeds], axis=1)
    return watch_all(observed, read).known


def _gaps(seed: int, first: int, runs: int) -> Mask:
    rng = np.random.default_rng([seed, 1])
    read = np.ones(runs, bool)
    for since in rng.integers(min(first, runs - 9 * HOUR), runs - 8 * HOUR, _GAPS):
        read[since : since + int(np.exp(rng.uniform(np.log(5), np.log(8 * HOUR))))] = False
    return read


def unreported(cases: Sequence[tuple[Batch, int]], days: int, *, outages: bool) -> Floats:
    """D, and F after outages: for how many of its periods each dead job goes unreported.

    A case is a batch and a seed; `days` must hold its death and four periods more.
    """
    tracks, died = [], []
    for batch, seed in cases:
        rng = np.random.default_rng([seed, 2])
        learnt = 5 * batch.period + batch.weekends * batch.period
        failed = _failures(rng, learnt) if outages else []
        when = int((failed[-1].until if failed else learnt) + rng.uniform(HOUR, 2 * batch.period))
        tracks.append(batch.track(rng, days, failed).dead_from(when))
        died.append(when)
    observed, reported_at = Observations.of(tracks), np.full(len(tracks), np.inf)
    watch, dead = Watch(observed.columns), np.array(died)
    for run, (moves, ages) in enumerate(zip(observed.moves, observed.ages, strict=True)):
        bad = watch.run(run * 60.0, moves, ages.astype(np.float64))
        reported_at = np.where((run >= dead) & bad, np.minimum(reported_at, run), reported_at)
    late: Floats = (reported_at - dead) / np.array([batch.period for batch, _ in cases])
    return late


def _failures(rng: np.random.Generator, since: int) -> list[Outage]:
    """One to four outages of 1 to 12 h, some days apart at most."""
    found: list[Outage] = []
    for _ in range(int(rng.integers(1, 5))):
        start = since + int(rng.uniform(HOUR, 3 * DAY))
        since = start + int(np.exp(rng.uniform(np.log(HOUR), np.log(12 * HOUR))))
        found.append(Outage(start, since, again=bool(rng.random() < _AGAIN_SHARE)))
    return found


def track_of(batch: Batch, seed: int, days: int = DAYS) -> Track:
    """What a seed makes of it."""
    return batch.track(np.random.default_rng([seed, 0]), days, ())


CASES = 1_000  # of one seed
OUTAGES = 4
_SPEED = 3.0  # of a group that works off what an outage left, against its producers
_LONGEST = 30 * HOUR
# Minutes between two outages, at least: some alike within hours of one another are a rhythm, and
# no rule can tell them from a job's.
_APART = 3 * HOUR
_HALF = 0.5
_LATE_RUNS = 2
_EVERY_THIRD = 3

# Minutes between two commits, between two beginnings of production, and for how long it lasts;
# every third kind is held out: no parameter was chosen by it.
KINDS = {
    "steady": (1, DAY, DAY),
    "micro-batch": (5, DAY, DAY),
    "micro-batch of 8 minutes": (8, DAY, DAY),
    "bursty": (1, 3 * HOUR, 20),
    "diurnal": (1, DAY, 15 * HOUR),
    "sparse": (1, 47, 1),
}


def is_held_out(number: int) -> bool:
    """Every third seed, and every third pattern of a list, is left for the end."""
    return number % _EVERY_THIRD == _EVERY_THIRD - 1


@dataclass(frozen=True, slots=True)
class Cases:
    """Minutes, a row a case; `since` and `until` have a column an outage, the last is for good."""

    kind: Ints
    every: Floats
    cycle: Floats
    lasting: Floats
    since: Floats
    until: Floats

    @property
    def incident(self) -> Floats:
        """When each is stuck for good."""
        last: Floats = self.since[:, -1]
        return last


@dataclass(frozen=True, slots=True)
class Late:
    """Runs by which each case was reported later than by a judge without excuses."""

    kind: Ints
    runs: Floats

    @property
    def late(self) -> Mask:
        """More than two runs."""
        mask: Mask = self.runs > _LATE_RUNS
        return mask


def cases(
    seed: int,
    count: int = CASES,
    *,
    held_out: bool = False,
    longest: int = 3 * DAY,
    history: int = 7 * DAY,
) -> Cases:
    """Cases of one seed, of the kinds that are held out or of the others.

    `longest`: minutes from one outage to the next, at most. Half of the cases were seen for
    `history` minutes before.
    """
    rng = np.random.default_rng(seed)
    kinds = [k for k in range(len(KINDS)) if is_held_out(k) == held_out]
    kind = rng.choice(kinds, count)
    shape = np.array(list(KINDS.values()), np.float64)[kind]
    cold = rng.random(count) < _HALF
    time = np.where(
        cold,
        rng.integers(15, 180, count),
        history + rng.integers(0, DAY, count),
    )
    number = rng.integers(1, OUTAGES + 1, count)
    since, until = np.full((count, OUTAGES + 1), np.inf), np.full((count, OUTAGES + 1), np.inf)
    for outage in range(OUTAGES):
        has = outage < number
        length = np.rint(np.exp(rng.uniform(np.log(5), np.log(12 * HOUR), count)))
        since[:, outage] = np.where(has, time, np.inf)
        until[:, outage] = np.where(has, time + length, np.inf)
        gap = np.rint(np.exp(rng.uniform(np.log(_APART), np.log(longest), count)))
        soon = (outage == number - 1) & (rng.random(count) < _HALF)
        time = np.where(has, time + length + np.where(soon, HOUR, gap), time)
    since[:, -1] = time
    return Cases(kind, shape[:, 0], shape[:, 1], shape[:, 2], since, until)


def judged(some: Cases) -> Late:
    """Runs until each is reported for good, later than without excuses."""
    rows = len(some.kind)
    watch, position = Watch(rows), np.zeros(rows)
    plain, reported_at = np.full(rows, np.inf), np.full(rows, np.inf)
    for minute in range(1, int(some.incident.max()) + _LONGEST):
        written = _written(some, minute)
        before, position = position, _read_on(some, position, written, minute)
        age = _age(some, position, written, minute)
        reported = watch.run(minute * 60.0, position > before, age)
        after = minute >= some.incident
        plain = np.where(after & watch.plain(minute * 60.0, age), np.minimum(plain, minute), plain)
        reported_at = np.where(after & reported, np.minimum(reported_at, minute), reported_at)
    return Late(some.kind, reported_at - plain)


def _written(some: Cases, minute: int) -> Floats:
    """Minutes of production until now."""
    whole, rest = np.divmod(float(minute), some.cycle)
    written: Floats = whole * some.lasting + np.minimum(rest, some.lasting)
    return written


def _read_on(some: Cases, position: Floats, written: Floats, minute: int) -> Floats:
    """Minutes of production that each has committed."""
    out = ((some.since <= minute) & (minute < some.until)).any(axis=1)
    due = (minute % some.every == 0) & ~out
    read: Floats = np.where(due, np.minimum(position + _SPEED * some.every, written), position)
    return read


def _age(some: Cases, position: Floats, written: Floats, minute: int) -> Floats:
    """Seconds since the first record that is not committed; 0 where there is none."""
    whole, rest = np.divmod(position, some.lasting)
    age: Floats = np.where(position < written, (minute - whole * some.cycle - rest) * 60.0, 0.0)
    return age


_STEADY = 60
# Days that hold five periods to learn by, outages, and the death of jobs with short and long ones.
_SHORT_DAYS, _LONG_DAYS = 35, 110


@dataclass(frozen=True, slots=True)
class Figure:
    """The worst of some cases, and how bad it may be."""

    name: str
    of: str
    held_out: bool
    cases: int
    worst: float
    allowed: float

    @property
    def missed(self) -> bool:
        """Worse than allowed."""
        return self.worst > self.allowed


def rule_alone(
    thousands: int, seeds: int, days: int, say: Callable[[str], None]
) -> Iterator[Figure]:
    """A, B, C, D and F."""
    for held_out in (False, True):
        chosen = [seed for seed in range(thousands) if is_held_out(seed) == held_out]
        say(f"A: {len(chosen)} thousand cases")
        late = [judged(cases(seed, held_out=held_out)) for seed in chosen]
        count = sum(len(some.kind) for some in late)
        worst = sum(int(some.late.sum()) for some in late)
        yield Figure("A late", "groups that fail", held_out, count, worst, 0)
    for held_out in (False, True):
        batches = [b for n, b in enumerate(BATCHES) if is_held_out(n) == held_out]
        chosen = [seed for seed in range(seeds) if is_held_out(seed) == held_out]
        if batches and chosen:
            yield from _learnt(batches, chosen, days, say, held_out=held_out)


def _learnt(
    batches: list[Batch], seeds: list[int], days: int, say: Callable[[str], None], *, held_out: bool
) -> Iterator[Figure]:
    say(f"B, C: {len(batches)} ways to pause, {len(seeds)} seeds, {days} days")
    pairs = [(batch, seed) for batch in batches for seed in seeds]
    tracks = [(batch, track_of(batch, seed, days)) for batch, seed in pairs]
    changes = calm(tracks)
    added = added_by_gaps(tracks, [seed for _, seed in pairs])
    for name, found in (("B held changes", changes), ("C added by gaps", added)):
        for batch in batches:
            own = [n for (b, _), n in zip(pairs, found, strict=True) if b is batch]
            yield Figure(name, batch.name, held_out, len(own), max(own), batch.most or 0)
    learnt = steady_with_gaps([seed + 100 * n for seed in seeds for n in range(_STEADY)])
    yield Figure("C learnt by gaps", "steady", held_out, len(learnt), int(learnt.sum()), 0)
    for name, outages, most in (("D periods", False, 2.0), ("F periods", True, 2.5)):
        say(name)
        for long in (False, True):
            some = [(b, seed) for b, seed in pairs if (b.period > DAY) == long]
            late = unreported(some, _LONG_DAYS if long else _SHORT_DAYS, outages=outages)
            for batch in dict.fromkeys(batch for batch, _ in some):
                own_late = [x for (b, _), x in zip(some, late.tolist(), strict=True) if b is batch]
                longest = round(max(own_late), 2)
                yield Figure(name, batch.name, held_out, len(own_late), longest, most)
