# SPDX-License-Identifier: Apache-2.0
"""Groups for whole runs: healthy, pausing by design, bursty, and in trouble from some moment on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from dev.pauses_bench.batch import BATCHES, Batch, Generator, quiet_from, steady
from dev.pauses_bench.tracks import (
    A_MINUTE,
    DAY,
    HOUR,
    RATE,
    Floats,
    Ints,
    Outage,
    Track,
    delayed,
    even,
    jobs,
    minutes_of,
    produced,
    served,
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A group of one partition, and what is to be said of it.

    From run `quiet_from` on `most` held changes a day are allowed. One in trouble from run
    `trouble` on is to be reported, as one of `statuses`, within `soon` runs.
    """

    name: str
    track: Track
    quiet_from: int = 60
    most: float = 0.0
    trouble: int | None = None
    soon: int = 13


def patterns(days: int, seed: int) -> dict[str, Pattern]:
    """All of them, by name; every third is held out."""
    rngs = (np.random.default_rng([seed, number]) for number in range(1_000))
    found = [
        *_healthy(days, next(rngs)),
        *(_batch(batch, days, next(rngs)) for batch in BATCHES),
        *_bursts(days, rngs),
        *_troubled(days, next(rngs)),
    ]
    return {pattern.name: pattern for pattern in found}


def _healthy(days: int, rng: Generator) -> list[Pattern]:
    noisy, minutes = produced(rng, days), minutes_of(days)
    rare = np.cumsum(np.arange(len(minutes)) % (HOUR * A_MINUTE) == 0)
    nights = produced(rng, days, np.where(minutes % DAY < 15 * HOUR, RATE, 0.0))
    rebalancing = minutes // 2 % 2 == 1
    kept = delayed(noisy)
    made: Mapping[str, Track] = {
        "steady": _owned(noisy, kept),
        "micro-batch of 5 minutes": _owned(noisy, _every(noisy, 5)),
        "micro-batch of 8 minutes": _owned(noisy, _every(noisy, 8)),
        "10 minutes, 3 late": _owned(noisy, delayed(_every(noisy, 10), 3 * A_MINUTE)),
        "a burst every 3 hours": _worked(_regular(days, 3 * HOUR, 4 * RATE), 20 * RATE),
        "the same, 30 minutes of work": _worked(_regular(days, 3 * HOUR, 20_000.0), 1_333.0),
        "one record an hour": _owned(rare, delayed(rare)),
        "endless rebalance": Track(noisy, kept, ~rebalancing),
        "no records at night": _worked(nights, 3 * RATE),
    }
    return [Pattern(name, track) for name, track in made.items()]


def _batch(batch: Batch, days: int, rng: Generator) -> Pattern:
    track = batch.track(rng, days, ())
    if batch.most is not None:
        return Pattern(batch.name, track, 0, batch.most / days)
    return Pattern(batch.name, track, quiet_from(batch, track))


def _bursts(days: int, rngs: Iterator[Generator]) -> list[Pattern]:
    found: list[Pattern] = []
    for share in (0.7, 0.8, 0.9):
        for minutes in (10, 20, 40, 80):
            end = random_bursts(next(rngs), days, share, minutes)
            name = f"random bursts, {share:.0%}, every {minutes} min"
            found.append(Pattern(name, _worked(end, RATE), 60, 4.0))
    return found


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
        track = batch.track(rng, days, ()).dead_from(dead)
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
