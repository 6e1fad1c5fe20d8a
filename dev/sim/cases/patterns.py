# SPDX-License-Identifier: Apache-2.0
"""Groups over weeks: steady ones, batch jobs, bursts, jobs by count, and some that fall behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from dev.sim.reading import Floats, Ints, Mask
from dev.sim.tracks import (
    A_MINUTE,
    DAY,
    HOUR,
    RATE,
    WEEK,
    Generator,
    Outage,
    Track,
    delayed,
    even,
    idle,
    jobs,
    minutes_of,
    produced,
    random_bursts,
    served,
)

# Starts and minutes of work of a job.
Schedule: TypeAlias = tuple[Ints, Ints]
_WORKDAYS = 5
# Pauses after which the next is known.
_NEEDED = 3
# A member that works now and then reads so many times as fast as records come.
_SPEED = 10.0
# Runs until a status is held.
_HOLD = 3


@dataclass(frozen=True, slots=True)
class Batch:
    """A way to pause; with `weekends` there are pauses of two lengths.

    `period`: the most minutes from one pause to the next. `most`: held changes that are allowed in
    a whole track, for a job whose pauses follow the rate of records.
    """

    name: str
    period: int
    track: Callable[[Generator, int], Track]
    weekends: bool = False
    most: int | None = None


def _job(
    name: str,
    schedule: Callable[[Generator, int], Schedule],
    period: int,
    *,
    weekends: bool = False,
) -> Batch:
    def track(rng: Generator, days: int) -> Track:
        end, (starts, works) = produced(rng, days), schedule(rng, days)
        committed = jobs(end, starts, works)
        return Track(end, committed, np.ones(len(end), bool))

    return Batch(name, period, track, weekends=weekends)


def _shift(name: str, on: Callable[[Ints], Mask], period: int, *, weekends: bool) -> Batch:
    def track(rng: Generator, days: int) -> Track:
        end, minutes = produced(rng, days), minutes_of(days)
        works = on(minutes + int(rng.integers(0, 7)) * DAY)
        committed = delayed(served(end, np.where(works, _SPEED * RATE, 0.0)))
        return Track(end, committed, works)

    return Batch(name, period, track, weekends=weekends)


def every(period: int, work: int, jitter: int = 0) -> Callable[[Generator, int], Schedule]:
    """Returns a schedule of even times, each late or early by up to `jitter` minutes."""

    def schedule(rng: Generator, days: int) -> Schedule:
        first = int(rng.integers(jitter + 1, period + jitter + 1))
        starts = np.arange(first, days * DAY, period, dtype=np.int64)
        starts = starts + rng.integers(-jitter, jitter + 1, len(starts))
        return starts, np.full(len(starts), work, np.int64)

    return schedule


def between(least: int, most: int) -> Callable[[Generator, int], Schedule]:
    """Returns a schedule of random times, so many minutes apart, without work."""

    def schedule(rng: Generator, days: int) -> Schedule:
        starts = rng.integers(least, most + 1, days * DAY // least).cumsum()
        starts = starts[starts < days * DAY]
        return starts, np.zeros(len(starts), np.int64)

    return schedule


def workdays(work: int) -> Callable[[Generator, int], Schedule]:
    """Returns a schedule of once a day from Monday to Friday."""

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


def _full_batches(rng: Generator, days: int) -> Track:
    """A batch whenever 30,000 records are there; by day three times as many come."""
    minutes = minutes_of(days)
    rates = RATE * (1 + 0.5 * np.sin(minutes * (2 * np.pi / DAY)))
    end = produced(rng, days, rates)
    full = np.searchsorted(end, np.arange(30_000, end[-1], 30_000)) // A_MINUTE
    committed = jobs(end, full, np.full(len(full), 2, np.int64))
    return Track(end, committed, np.ones(len(end), bool))


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
    Batch("by a count of records", 100, _full_batches, most=10),
)


def steady(days: int, outages: Sequence[Outage]) -> Track:
    """Returns a consumer that keeps up except in outages."""
    end, minutes = even(days), minutes_of(days)
    works = ~idle(minutes, outages)
    committed = delayed(served(end, np.where(works, 3 * RATE, 0.0)))
    return Track(end, committed, np.ones(len(end), bool))


def quiet_from(batch: Batch, track: Track) -> int:
    """Returns the run from which on no change is due.

    It is the one in which the end of the third pause is held; for a job with weekends it is the
    fourth weekend after that.
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
    """Returns runs between which a commit stood for longer than the window with records unread."""
    moved, ages = np.flatnonzero(track.moves()), track.ages()
    since = np.append(0, moved[:-1]) if len(moved) else moved
    lay = np.minimum((moved - since) * 60.0, ages[moved - 1])
    return [(int(a), int(b)) for a, b, p in zip(since, moved, lay, strict=True) if p > 10 * 60.0]


COUNT = 30_000
# Records a minute with which a batch is there after 21 minutes, and after 7 hours.
FAST, SLOW = COUNT / 21, COUNT / (7 * HOUR)
_NIGHT_FROM = 15 * HOUR


def _by_day(days: int, fast: float, slow: float) -> Floats:
    minutes = minutes_of(days)
    return np.where(minutes % DAY < _NIGHT_FROM, fast, slow)


def _sine(days: int, fast: float, slow: float) -> Floats:
    """The rate goes from one to the other and back within a day, by equal factors."""
    swing = (1 + np.sin(minutes_of(days) * (2 * np.pi / DAY))) / 2
    rates: Floats = slow * (fast / slow) ** swing
    return rates


def _drawn(rng: Generator, days: int, hours: tuple[float, float]) -> Floats:
    """The rate changes after so many hours at least and at most."""
    length = days * DAY * A_MINUTE
    count = int(days * 24 / hours[0]) + 2
    until = np.cumsum(rng.uniform(*hours, count) * HOUR * A_MINUTE)
    rates = SLOW * (FAST / SLOW) ** rng.uniform(0, 1, count)
    drawn: Floats = rates[np.searchsorted(until, np.arange(length), side="right")]
    return drawn


def _a_batch(rng: Generator, days: int) -> Floats:
    """Each batch has its own rate."""
    length = days * DAY * A_MINUTE
    minutes = np.exp(rng.uniform(np.log(21), np.log(7 * HOUR), days * DAY // 21))
    until = np.cumsum(minutes * A_MINUTE)
    drawn: Floats = (COUNT / minutes)[np.searchsorted(until, np.arange(length), side="right")]
    return drawn


def _weekends(days: int) -> Floats:
    return np.where(minutes_of(days) % WEEK < 5 * DAY, 1.0, 0.1) * _sine(days, FAST, FAST / 3)


Ends: TypeAlias = Callable[[Generator, int], Ints]


@dataclass(frozen=True, slots=True)
class ByCount:
    """A job that begins once so many records are there, however fast they come.

    `count` records begin a batch, or a share `noise` more or less. The job looks every `looks`
    minutes and works for `work` minutes. It commits while it works, or once it is done: `at_end`.
    """

    ends: Ends
    count: int = COUNT
    noise: float = 0.0
    looks: int = 1
    work: int = 2
    at_end: bool = False

    def track(self, rng: Generator, days: int) -> Track:
        """Returns the track of such a job."""
        end = self.ends(rng, days)
        starts: list[int] = []
        read, now = 0, 0
        while True:
            due = read + self.count * (1 + rng.uniform(-self.noise, self.noise))
            step = int(np.searchsorted(end, due))
            start = max(-(-step // A_MINUTE), now)
            start = -(-start // self.looks) * self.looks
            if start * A_MINUTE >= len(end):
                break
            starts.append(start)
            read, now = int(end[start * A_MINUTE]), start + self.work + 1
        works = np.full(len(starts), 0 if self.at_end else self.work, np.int64)
        committed = jobs(end, np.array(starts, np.int64), works)
        committed = delayed(committed, self.work * A_MINUTE) if self.at_end else committed
        return Track(end, committed, np.ones(len(end), bool))


def _at(rates: Callable[[Generator, int], Floats]) -> Ends:
    return lambda rng, days: produced(rng, days, rates(rng, days))


_SINE = ByCount(_at(lambda _, days: _sine(days, FAST, SLOW)))
_NIGHTS = ByCount(_at(lambda _, days: _by_day(days, FAST, SLOW)))
_HOURLY = ByCount(_at(lambda rng, days: _drawn(rng, days, (1, 3))))
_EACH = ByCount(_at(_a_batch))
JOBS: Mapping[str, ByCount] = {
    "a sine of 3 times": ByCount(_at(lambda _, days: _sine(days, FAST, FAST / 3))),
    "a sine of 20 times": _SINE,
    "a sine of 20 times, batches differ by 10 %": replace(_SINE, noise=0.1),
    "by day and night": _NIGHTS,
    "by day and night, 20 minutes of work": replace(_NIGHTS, work=20),
    "by day and night, looks every 5 minutes": replace(_NIGHTS, looks=5),
    "drawn every 1 to 3 hours": _HOURLY,
    "drawn every 1 to 3 hours, batches differ by 10 %": replace(_HOURLY, noise=0.1),
    "drawn every 1 to 3 hours, 10 minutes of work": replace(_HOURLY, work=10),
    "drawn every 4 to 12 hours": ByCount(_at(lambda rng, days: _drawn(rng, days, (4, 12)))),
    "drawn for each batch": _EACH,
    "drawn for each batch, batches differ by 10 %": replace(_EACH, noise=0.1),
    "drawn for each batch, looks every 5 minutes": replace(_EACH, looks=5),
    "minutes by day, hours by night": replace(_NIGHTS, count=COUNT // 3),
    "a tenth at weekends": ByCount(_at(lambda _, days: _weekends(days))),
    "few records": replace(_SINE, count=1_000, ends=_at(lambda _, d: _sine(d, 1_000 / 21, 2.4))),
    "a sine of 3 times, 10 minutes of work before it commits": ByCount(
        _at(lambda _, days: _sine(days, FAST, FAST / 3)), work=10, at_end=True
    ),
    "by day and night, 5 minutes of work before it commits": replace(_NIGHTS, work=5, at_end=True),
    "bursts of some hundred": ByCount(lambda rng, days: random_bursts(rng, days, 0.7, 1)),
    "bursts of some thousand": ByCount(lambda rng, days: random_bursts(rng, days, 0.7, 10)),
}


@dataclass(frozen=True, slots=True)
class Pattern:
    """A group of one partition, and what the collector should say of it.

    From run `quiet_from` on, `most` held changes a day are allowed. A group that is in trouble from
    run `trouble` on must be reported within `soon` runs.
    """

    name: str
    track: Track
    quiet_from: int = 60
    most: float = 0.0
    trouble: int | None = None
    soon: int = 13


def patterns(days: int, seed: int) -> dict[str, Pattern]:
    """Returns all patterns by name."""
    rngs = (np.random.default_rng([seed, number]) for number in range(1_000))
    found = [
        *_healthy(days, next(rngs)),
        *(_batch(batch, days, next(rngs)) for batch in BATCHES),
        *_bursts(days, rngs),
        *_troubled(days, next(rngs)),
        *_jobs_by_count(days, next(rngs)),
    ]
    return {pattern.name: pattern for pattern in found}


def _healthy(days: int, rng: Generator) -> list[Pattern]:
    noisy, minutes = produced(rng, days), minutes_of(days)
    rare = np.cumsum(np.arange(len(minutes)) % (HOUR * A_MINUTE) == 0)
    nights = produced(rng, days, np.where(minutes % DAY < 15 * HOUR, RATE, 0.0))
    rebalancing = minutes // 2 % 2 == 1
    followed = delayed(noisy)
    made: Mapping[str, Track] = {
        "steady": _owned(noisy, followed),
        "micro-batch of 5 minutes": _owned(noisy, _every(noisy, 5)),
        "micro-batch of 8 minutes": _owned(noisy, _every(noisy, 8)),
        "10 minutes, 3 late": _owned(noisy, delayed(_every(noisy, 10), 3 * A_MINUTE)),
        "a burst every 3 hours": _worked(_regular(days, 3 * HOUR, 4 * RATE), 20 * RATE),
        "the same, 30 minutes of work": _worked(_regular(days, 3 * HOUR, 20_000.0), 1_333.0),
        "one record an hour": _owned(rare, delayed(rare)),
        "endless rebalance": Track(noisy, followed, ~rebalancing),
        "no records at night": _worked(nights, 3 * RATE),
    }
    return [Pattern(name, track) for name, track in made.items()]


def _batch(batch: Batch, days: int, rng: Generator) -> Pattern:
    track = batch.track(rng, days)
    if batch.most is not None:
        return Pattern(batch.name, track, 0, batch.most / days)
    return Pattern(batch.name, track, quiet_from(batch, track))


# Held changes a day of a job by a count of records.
_MOST_BY_COUNT = 2.4


def _jobs_by_count(days: int, rng: Generator) -> list[Pattern]:
    found: list[Pattern] = []
    for name, job in JOBS.items():
        track = job.track(rng, days)
        known = pauses_of(track)[2][1]
        found.append(Pattern(f"by count: {name}", track, known, _MOST_BY_COUNT))
    return found


def _bursts(days: int, rngs: Iterator[Generator]) -> list[Pattern]:
    found: list[Pattern] = []
    for share in (0.7, 0.8, 0.9):
        for minutes in (10, 20, 40, 80):
            end = random_bursts(next(rngs), days, share, minutes)
            name = f"random bursts, {share:.0%}, every {minutes} min"
            found.append(Pattern(name, _worked(end, RATE), 60, 4.0))
    return found


def _troubled(days: int, rng: Generator) -> list[Pattern]:
    when = min(days - 3, 12) * DAY + HOUR
    slow = {"a twelfth": 1 / 12, "half": 0.5, "four fifths": 0.8}
    soon = {"a twelfth": 15, "half": 25, "four fifths": 60}
    found = [
        Pattern(f"reads {name} of it", _slower(days, when, share), 60, 0, when, soon[name])
        for name, share in slow.items()
    ]
    for name, outages in FAILURES.items():
        track = steady(days, outages).dead_from(when)
        found.append(Pattern(f"stuck after {name}", track, when + 30, 0.0, when))
    for batch in BATCHES[1], BATCHES[6]:
        dead = when + int(rng.integers(0, batch.period))
        track = batch.track(rng, days).dead_from(dead)
        name = f"dead: {batch.name}"
        found.append(Pattern(name, track, dead + 3 * DAY, 0.0, dead, 2 * batch.period))
    return found


FAILURES: Mapping[str, tuple[Outage, ...]] = {
    "two outages of 2 h": (Outage(DAY, DAY + 120), Outage(2 * DAY, 2 * DAY + 120)),
    "two outages of 15 min": (Outage(DAY, DAY + 15), Outage(2 * DAY, 2 * DAY + 15)),
    "two outages of 8 h": (Outage(DAY, DAY + 480), Outage(2 * DAY, 2 * DAY + 480)),
    "three of 2 h, two days apart": tuple(Outage(d * DAY, d * DAY + 120) for d in (1, 3, 5)),
}


def _slower(days: int, when: int, share: float) -> Track:
    end = even(days)
    capacity = np.where(minutes_of(days) >= when, RATE * share, 3 * RATE)
    return _owned(end, delayed(served(end, capacity)))


def _regular(days: int, every: int, a_minute: float) -> Ints:
    return even(days, np.where(minutes_of(days) % every < 2, a_minute, 0.0))  # noqa: PLR2004


def _every(end: Ints, minutes: int) -> Ints:
    runs = len(end) // A_MINUTE
    starts = np.arange(minutes, runs, minutes, dtype=np.int64)
    return jobs(end, starts, np.zeros(len(starts), np.int64))


def _worked(end: Ints, a_minute: float) -> Track:
    capacity: Floats = np.full(len(end), a_minute)
    return _owned(end, delayed(served(end, capacity)))


def _owned(end: Ints, committed: Ints) -> Track:
    return Track(end, committed, np.ones(len(end), bool))


# The share of what is written that a group reads, and runs within which it must be reported.
SOON: Mapping[str, tuple[float, int]] = {
    "a twelfth": (1 / 12, 15),
    "half": (0.5, 25),
    "four fifths": (0.8, 60),
    "nine tenths": (0.9, 120),
}
# Minutes between two commits, at least and at most.
COMMITS: Mapping[str, tuple[float, float]] = {
    "every 15 s": (0.25, 0.25),
    "every minute": (1, 1),
    "every 2 minutes": (2, 2),
    "every 5 minutes": (5, 5),
    "every 8 minutes": (8, 8),
    "every 15 minutes": (15, 15),
    "every 50 s": (5 / 6, 5 / 6),
    "every 1 to 8 minutes": (1, 8),
    "every 1 to 3 minutes": (1, 3),
}
_PERIODS = 3


def slow_groups(runs: int, since: int, seed: int = 0) -> list[Pattern]:
    """Returns groups with every share and every way to commit, in trouble from a run on."""
    found: list[Pattern] = []
    for way, (commit, gaps) in enumerate(COMMITS.items()):
        for number, (share, (read, soon)) in enumerate(SOON.items()):
            rng = np.random.default_rng([seed, way, number])
            track = slow(rng, runs, since, read, gaps)
            due = soon + int(np.ceil(_PERIODS * gaps[1]))
            name = f"reads {share} of it, commits {commit}"
            found.append(Pattern(name, track, trouble=since, soon=due))
    return found


def slow(rng: Generator, runs: int, since: int, share: float, gaps: tuple[float, float]) -> Track:
    """Returns a group that keeps up until a run, then reads a share, and commits now and then."""
    end = produced(rng, 1 + runs // DAY)[: runs * A_MINUTE]
    minutes = np.arange(len(end)) / A_MINUTE
    position = served(end, np.where(minutes >= since, RATE * share, 3 * RATE))
    return Track(end, delayed(committed_at(rng, position, gaps)), np.ones(len(end), bool))


def committed_at(rng: Generator, position: Ints, gaps: tuple[float, float]) -> Ints:
    """Returns commits of a position, so many minutes apart."""
    least, most = gaps
    length = len(position)
    times: Floats = rng.uniform(least, most, int(length / A_MINUTE / least) + 2).cumsum()
    times = (times - rng.uniform(0, least)) * A_MINUTE
    steps = np.unique(np.maximum(times.astype(np.int64), 0))
    last = np.searchsorted(steps, np.arange(length), side="right") - 1
    committed: Ints = np.where(last >= 0, position[steps[np.maximum(last, 0)] % length], 0)
    return committed
