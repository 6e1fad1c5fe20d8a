# SPDX-License-Identifier: Apache-2.0
"""Partitions over weeks, at a run a minute: of steady groups, and of those that pause by design."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool_]
Generator: TypeAlias = np.random.Generator

MINUTE, HOUR, DAY, WEEK = 1, 60, 1_440, 10_080
STEP_SECONDS = 30
A_MINUTE = 60 // STEP_SECONDS
# Records a minute, unless a pattern says otherwise.
RATE = 600.0


@dataclass(frozen=True, slots=True)
class Track:
    """Offsets step by step; `owned` is false where no member owns the partition."""

    end: Ints
    committed: Ints
    owned: Mask

    @property
    def runs(self) -> int:
        """How many runs, a minute apart, see it."""
        return len(self.end) // A_MINUTE

    def at_runs(self) -> Ints:
        """The step of each run."""
        return np.arange(self.runs) * A_MINUTE

    def ages(self) -> Floats:
        """Seconds since the log first reached past each run's commit; 0 with nothing unread."""
        at = self.at_runs()
        appended = np.searchsorted(self.end, self.committed[at], side="right")
        ages: Floats = np.maximum(at - appended, 0) * float(STEP_SECONDS)
        return ages

    def moves(self) -> Mask:
        """Runs that see another commit than the run before."""
        committed = self.committed[self.at_runs()]
        return np.diff(committed, prepend=committed[0]) > 0

    def dead_from(self, minute: int) -> Track:
        """The same until then, and no commit after."""
        dead = np.minimum(self.committed, self.committed[minute * A_MINUTE])
        return Track(self.end, dead, self.owned)

    def cut(self, minutes: int) -> Track:
        """Its first minutes."""
        steps = minutes * A_MINUTE
        return Track(self.end[:steps], self.committed[:steps], self.owned[:steps])


@dataclass(frozen=True, slots=True)
class Outage:
    """Minutes in which nothing works; `again` says that a job begins anew as soon as it is over."""

    since: int
    until: int
    again: bool = False


def minutes_of(days: int) -> Ints:
    """The minute of each step."""
    return np.arange(days * DAY * A_MINUTE) // A_MINUTE


def produced(rng: np.random.Generator, days: int, rates: Floats | float = RATE) -> Ints:
    """The log's end where so many records a minute come at random."""
    steps = days * DAY * A_MINUTE
    end: Ints = rng.poisson(np.broadcast_to(np.asarray(rates) / A_MINUTE, steps)).cumsum()
    return end


def random_bursts(rng: Generator, days: int, share: float, every: float) -> Ints:
    """The log's end where bursts come at random, each written within a minute.

    They take a consumer of the usual speed this share of its time, sizes are exponential.
    """
    steps = days * DAY * A_MINUTE
    starts = np.cumsum(rng.exponential(every * A_MINUTE, int(2 * steps / every))).astype(np.int64)
    starts = starts[starts < steps - A_MINUTE]
    sizes = rng.exponential(share * every * RATE, len(starts))
    rate = np.zeros(steps)
    for shift in range(A_MINUTE):
        np.add.at(rate, starts + shift, sizes / A_MINUTE)
    end: Ints = np.floor(rate.cumsum()).astype(np.int64)
    return end


def even(days: int, rates: Floats | float = RATE) -> Ints:
    """The log's end where records come as regularly as whole ones can."""
    steps = days * DAY * A_MINUTE
    written = np.broadcast_to(np.asarray(rates) / A_MINUTE, steps).cumsum()
    end: Ints = np.floor(written).astype(np.int64)
    return end


def served(end: Ints, capacity: Floats) -> Ints:
    """Commits of a consumer of so many records a minute, step by step, whenever it is behind."""
    most = np.cumsum(capacity / A_MINUTE)
    backlog = np.minimum.accumulate(np.minimum(end, end - most + capacity / A_MINUTE))
    read = np.floor(np.minimum(most + np.minimum(backlog, 0), end))
    committed: Ints = np.maximum(read, 0).astype(np.int64)
    return committed


def delayed(committed: Ints, steps: int = 1) -> Ints:
    """The same commits, so many steps later."""
    return np.concatenate([np.zeros(steps, np.int64), committed[:-steps]])


def jobs(end: Ints, starts: Ints, works: Ints, outages: Iterable[Outage] = ()) -> Ints:
    """Commits of a job that reads at each start, given in minutes, what is there by then.

    It works for so many minutes at an even speed, 0: at once. An outage ends what it cuts.
    """
    times, values, read = [0], [0], 0
    for start, work in _without(starts, works, list(outages)):
        begin = start * A_MINUTE
        if begin >= len(end) or begin <= times[-1]:
            continue
        cut = next((o.since for o in outages if start < o.since < start + work), start + work)
        share = (cut - start) / work if work else 1.0
        target = read + int((int(end[begin]) - read) * share)
        times += [begin, max(begin + 1, cut * A_MINUTE)]
        values += [read, target]
        read = target
    return np.floor(np.interp(np.arange(len(end)), times, values)).astype(np.int64)


def _without(starts: Ints, works: Ints, outages: list[Outage]) -> list[tuple[int, int]]:
    """Starts that no outage prevents, and those that come as soon as one is over."""
    kept = [
        (int(start), int(work))
        for start, work in zip(starts, works, strict=True)
        if not any(o.since <= start < o.until for o in outages)
    ]
    usual = int(works[0]) if len(works) else 0
    return sorted(kept + [(o.until, usual) for o in outages if o.again])


def idle(minutes: Ints, outages: Iterable[Outage]) -> Mask:
    """Steps within an outage."""
    mask = np.zeros(len(minutes), bool)
    for outage in outages:
        mask |= (minutes >= outage.since) & (minutes < outage.until)
    return mask


# Starts and minutes of work of a job.
Schedule: TypeAlias = tuple[Ints, Ints]
DAYS = 60
_WORKDAYS = 5
# Pauses after which the next is known.
_NEEDED = 3
# A member that works now and then reads so many times as fast as records come.
_SPEED = 10.0
# Runs until a status is held.
_HOLD = 3


@dataclass(frozen=True, slots=True)
class Batch:
    """A way to pause; with `weekends` on two levels.

    `period`: minutes from one pause to the next, the longest one. `most` held changes are allowed
    in all of a track, and more by gaps, where pauses follow the rate of records.
    """

    name: str
    period: int
    track: Callable[[Generator, int, Sequence[Outage]], Track]
    weekends: bool = False
    most: int | None = None


def _job(
    name: str,
    schedule: Callable[[Generator, int], Schedule],
    period: int,
    *,
    weekends: bool = False,
) -> Batch:
    def track(rng: Generator, days: int, outages: Sequence[Outage]) -> Track:
        end, (starts, works) = produced(rng, days), schedule(rng, days)
        committed = jobs(end, starts, works, outages)
        return Track(end, committed, np.ones(len(end), bool))

    return Batch(name, period, track, weekends=weekends)


def _shift(name: str, on: Callable[[Ints], Mask], period: int, *, weekends: bool) -> Batch:
    def track(rng: Generator, days: int, outages: Sequence[Outage]) -> Track:
        end, minutes = produced(rng, days), minutes_of(days)
        works = on(minutes + int(rng.integers(0, 7)) * DAY) & ~idle(minutes, outages)
        committed = delayed(served(end, np.where(works, _SPEED * RATE, 0.0)))
        return Track(end, committed, works)

    return Batch(name, period, track, weekends=weekends)


def every(period: int, work: int, jitter: int = 0) -> Callable[[Generator, int], Schedule]:
    """Starts at even times, each late or early by up to `jitter` minutes."""

    def schedule(rng: Generator, days: int) -> Schedule:
        first = int(rng.integers(jitter + 1, period + jitter + 1))
        starts = np.arange(first, days * DAY, period, dtype=np.int64)
        starts = starts + rng.integers(-jitter, jitter + 1, len(starts))
        return starts, np.full(len(starts), work, np.int64)

    return schedule


def between(least: int, most: int) -> Callable[[Generator, int], Schedule]:
    """Starts at random: so many minutes after the one before, without work to speak of."""

    def schedule(rng: Generator, days: int) -> Schedule:
        starts = rng.integers(least, most + 1, days * DAY // least).cumsum()
        starts = starts[starts < days * DAY]
        return starts, np.zeros(len(starts), np.int64)

    return schedule


def workdays(work: int) -> Callable[[Generator, int], Schedule]:
    """Once a day from Monday to Friday."""

    def schedule(rng: Generator, days: int) -> Schedule:
        first, today = int(rng.integers(0, DAY)), int(rng.integers(0, 7))
        starts = np.array([d * DAY + first for d in range(days) if (d + today) % 7 < _WORKDAYS])
        return starts, np.full(len(starts), work, np.int64)

    return schedule


def _weekday(minutes: Ints) -> Mask:
    mask: Mask = minutes % WEEK < _WORKDAYS * DAY
    return mask


def _office(minutes: Ints) -> Mask:
    hours = minutes % DAY
    mask: Mask = _weekday(minutes) & (hours >= 8 * HOUR) & (hours < 18 * HOUR)
    return mask


def _by_count(rng: Generator, days: int, outages: Sequence[Outage]) -> Track:
    """A batch each time that 30,000 records are there; by day three times as many come."""
    minutes = minutes_of(days)
    rates = RATE * (1 + 0.5 * np.sin(minutes * (2 * np.pi / DAY)))
    end = produced(rng, days, rates)
    full = np.searchsorted(end, np.arange(30_000, end[-1], 30_000)) // A_MINUTE
    committed = jobs(end, full, np.full(len(full), 2, np.int64), outages)
    return Track(end, committed, np.ones(len(end), bool))


# Every third is held out: no parameter was chosen by it.
BATCHES = (
    _job("every 20 to 40 minutes at random", between(20, 40), 40),
    _job("hourly, 5 minutes of work", every(HOUR, 5), HOUR),
    _job("hourly, 20 minutes of work", every(HOUR, 20), HOUR),
    _job("hourly, 45 minutes of work", every(HOUR, 45), HOUR),
    _job("every 6 hours, 30 minutes of work", every(6 * HOUR, 30), 6 * HOUR),
    _job("every 2 hours, 80 minutes of work", every(2 * HOUR, 80), 2 * HOUR),
    _job("daily, at once", every(DAY, 0), DAY),
    _job("daily, 4 hours of work", every(DAY, 4 * HOUR), DAY),
    _job("daily, 14 hours of work", every(DAY, 14 * HOUR), DAY),
    _job("every three days, 2 hours of work", every(3 * DAY, 2 * HOUR), 3 * DAY),
    _shift("Monday to Friday, day and night", _weekday, WEEK, weekends=False),
    _job("weekly, at once", every(WEEK, 0), WEEK),
    _job("weekly, 2 hours of work", every(WEEK, 2 * HOUR), WEEK),
    _shift("office hours", _office, WEEK, weekends=True),
    _job("daily from Monday to Friday, 6 hours", workdays(6 * HOUR), WEEK, weekends=True),
    _job("daily from Monday to Friday, at once", workdays(0), WEEK, weekends=True),
    _job("hourly, 10 minutes of jitter", every(HOUR, 5, jitter=10), HOUR + 20),
    _job("every 6 hours, 10 minutes of jitter", every(6 * HOUR, 20, jitter=10), 6 * HOUR + 20),
    _job("daily, 10 minutes of jitter", every(DAY, HOUR, jitter=10), DAY),
    Batch("by a count of records", 100, _by_count, most=10),
)


def steady(days: int, outages: Sequence[Outage]) -> Track:
    """A consumer that keeps up, but for outages."""
    end, minutes = even(days), minutes_of(days)
    works = ~idle(minutes, outages)
    committed = delayed(served(end, np.where(works, 3 * RATE, 0.0)))
    return Track(end, committed, np.ones(len(end), bool))


def quiet_from(batch: Batch, track: Track) -> int:
    """The run from which on no change is due: once the end of its third pause is held, or of a job
    with weekends from its fourth one on, counted since then.
    """
    pauses = pauses_of(track)
    if len(pauses) < _NEEDED:
        return track.runs
    known = pauses[_NEEDED - 1][1] + _HOLD
    if not batch.weekends:
        return known
    weekends = [since for since, until in pauses if since >= known and until - since > 1.5 * DAY]
    return weekends[_NEEDED] if len(weekends) > _NEEDED else track.runs


def pauses_of(track: Track) -> list[tuple[int, int]]:
    """Runs between which the commit lay still for longer than the window, records unread."""
    moved, ages = np.flatnonzero(track.moves()), track.ages()
    since = np.append(0, moved[:-1]) if len(moved) else moved
    lay = np.minimum((moved - since) * 60.0, ages[moved - 1])
    return [(int(a), int(b)) for a, b, p in zip(since, moved, lay, strict=True) if p > 10 * 60.0]
