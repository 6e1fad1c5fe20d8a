# SPDX-License-Identifier: Apache-2.0
"""Times of records, ms, in the order they are written; `now` is where they should end."""

from __future__ import annotations

import numpy as np

from dev.time_lag_bench.cases.case import DAY, HOUR, Random, Records
from dev.time_lag_bench.logs import Ints

MINUTE = 60_000


def steady(rng: Random, now: int, count: int = 4_000, every: int = MINUTE) -> Ints:
    """One record after the other, each up to a quarter of the step early or late."""
    step = max(1, every // 4)
    return now - every * np.arange(count, 0, -1) + rng.integers(-step, step, count)


def by_chance(rng: Random, now: int, count: int = 3_000, span: int = 3 * DAY) -> Ints:
    """As customers come: no step at all."""
    return np.sort(now - rng.integers(0, span, count))


def bursty(rng: Random, now: int, bursts: int = 24, size: int = 150) -> Ints:
    """A minute of records, then two to nine hours of silence."""
    begins = now - np.cumsum(rng.integers(2 * HOUR, 9 * HOUR, bursts))
    return np.sort((begins[:, None] + rng.integers(0, MINUTE, (bursts, size))).ravel())


def equal(rng: Random, now: int, runs: int = 3, size: int = 2_500) -> Ints:
    """Thousands of records of one millisecond, a few alone around them."""
    return np.sort(np.append(np.repeat(by_chance(rng, now, runs), size), by_chance(rng, now, 40)))


def late(rng: Random, now: int) -> Ints:
    """Every tenth record comes up to six hours after its time."""
    times = steady(rng, now)
    some = rng.choice(len(times), len(times) // 10, replace=False)
    times[some] -= rng.integers(0, 6 * HOUR, len(some))
    return times


def back_filled(rng: Random, now: int) -> Ints:
    """In the middle a thousand records that are days older than those around them."""
    times = steady(rng, now)
    middle = len(times) // 2
    return np.insert(times, middle, times[middle] - 2 * DAY + np.arange(1_000) * 1_000)


def falling(rng: Random, now: int) -> Ints:
    """The newest record first."""
    return steady(rng, now, count=1_000)[::-1].copy()


def ahead(rng: Random, now: int, by: int = HOUR // 2, share: float = 0.002) -> Records:
    """A few records of a producer whose clock is ahead, one of them minutes ago."""
    came = steady(rng, now)
    wrong = rng.random(len(came)) < share
    wrong[-10] = True
    return Records(came + by * wrong, np.maximum.accumulate(came))


def ahead_at_first(rng: Random, now: int) -> Records:
    """In the first third a clock was a day ahead now and then."""
    came = steady(rng, now)
    times = came.copy()
    times[rng.choice(len(came) // 3, len(came) // 60)] += DAY
    return Records(times, came)


def years_ahead(rng: Random, now: int) -> Records:
    """One record in the middle is dated two years ahead."""
    came = steady(rng, now)
    times = came.copy()
    times[len(times) // 2] += 730 * DAY
    return Records(times, came)


def back_filled_last(rng: Random, now: int) -> Ints:
    """The first third is new, the rest was written after it and is older."""
    new, old = steady(rng, now - HOUR, 1_000), steady(rng, now - 3 * DAY, 2_000)
    return np.append(new, old)
