# SPDX-License-Identifier: Apache-2.0
"""Batch jobs that begin once so many records are there, however fast these come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from dev.benchmarks.pauses.tracks import (
    A_MINUTE,
    DAY,
    HOUR,
    WEEK,
    Floats,
    Generator,
    Ints,
    Track,
    delayed,
    jobs,
    minutes_of,
    produced,
    random_bursts,
)

COUNT = 30_000
# Records a minute with which a batch is there after 21 minutes, and after 7 hours.
FAST, SLOW = COUNT / 21, COUNT / (7 * HOUR)
_NIGHT_FROM = 15 * HOUR


def _by_day(days: int, fast: float, slow: float) -> Floats:
    minutes = minutes_of(days)
    return np.where(minutes % DAY < _NIGHT_FROM, fast, slow)


def _sine(days: int, fast: float, slow: float) -> Floats:
    """From one to the other and back within a day, by equal factors in equal times."""
    swing = (1 + np.sin(minutes_of(days) * (2 * np.pi / DAY))) / 2
    rates: Floats = slow * (fast / slow) ** swing
    return rates


def _drawn(rng: Generator, days: int, hours: tuple[float, float]) -> Floats:
    """Another rate after so many hours at least and at most."""
    length = days * DAY * A_MINUTE
    count = int(days * 24 / hours[0]) + 2
    until = np.cumsum(rng.uniform(*hours, count) * HOUR * A_MINUTE)
    rates = SLOW * (FAST / SLOW) ** rng.uniform(0, 1, count)
    drawn: Floats = rates[np.searchsorted(until, np.arange(length), side="right")]
    return drawn


def _a_batch(rng: Generator, days: int) -> Floats:
    """Another rate for each batch."""
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
    """How its records come, and how the job works.

    `count` records begin a batch, or by `noise` (a share) more or less. It looks every `looks`
    minutes and takes `work` minutes. It commits while it works, or once it is done: `at_end`.
    """

    ends: Ends
    count: int = COUNT
    noise: float = 0.0
    looks: int = 1
    work: int = 2
    at_end: bool = False

    def track(self, rng: Generator, days: int) -> Track:
        """One of these."""
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
