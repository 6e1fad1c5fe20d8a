# SPDX-License-Identifier: Apache-2.0
"""Loads of services that are scaled, minute by minute, in tasks' worth of records."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from dev.sim.reading import Floats

HOUR, DAY = 60, 1_440
# Records/s that one task reads: 1,200, 12,000 and 60,000 a minute.
SPEEDS = (20.0, 200.0, 1_000.0)
PROMISE = 300.0
# The minute from which some stores give less.
SLOWER_FROM = 120
_HALF_DAY = 720


@dataclass(frozen=True, slots=True)
class Case:
    """One service's load.

    `load` is what is written in each minute, in tasks at full capacity. `capacity`: the share of
    `speed` records/s that a task reads in each minute. `shares`: the partitions' shares of what is
    written. `stuck`: a partition, and minutes in which its next record cannot be processed. The
    consumer reads and commits every `poll_seconds`. `promise`: the age allowed, s, and the time to
    catch up in. `store`: what all tasks share gives so many tasks' worth, and `contention` less for
    each more task. `slow`: the share of what another task reads that the first one does.
    """

    name: str
    load: Floats
    speed: float = 200.0
    capacity: Floats = field(default_factory=lambda: np.ones(DAY))
    shares: Floats = field(default_factory=lambda: even(24))
    stuck: tuple[int, range] | None = None
    poll_seconds: int = 10
    promise: float = PROMISE
    least: int = 1
    most: int = 24
    store: Floats | None = None
    contention: float = 0.0
    slow: float = 1.0

    @property
    def partitions(self) -> int:
        """Number of partitions."""
        return len(self.shares)

    @property
    def minutes(self) -> int:
        """Length in minutes."""
        return len(self.load)

    def first(self, minutes: int) -> Case:
        """Returns its first minutes."""
        store = None if self.store is None else self.store[:minutes]
        load, capacity = self.load[:minutes], self.capacity[:minutes]
        return replace(self, load=load, capacity=capacity, store=store)

    @property
    def gets_slower(self) -> bool:
        """Whether what all share is slower from `SLOWER_FROM` on."""
        return self.store is not None and bool(self.store[0] > self.store[-1])

    def fewest_that_read_as_much(self, minute: int) -> int:
        """Returns the fewest tasks that read nearly as much as `most` of them."""
        as_much = 0.95 * self.most * self.share_of_speed(minute, self.most)
        numbers = range(1, self.most + 1)
        return next(n for n in numbers if n * self.share_of_speed(minute, n) >= as_much)

    def share_of_speed(self, minute: int, tasks: int) -> float:
        """Returns the share of its speed that one of so many tasks can read."""
        own = float(self.capacity[minute])
        if self.store is None or not tasks:
            return own
        gives = float(self.store[minute]) * max(1.0 - self.contention * (tasks - 1), 0.0)
        return min(own, gives / tasks)


def constant_cases(noise: float = 0.0) -> Iterator[Case]:
    """Yields days of 0.5 to 11.5 tasks in halves at each speed; `noise` is that of each minute."""
    for speed in SPEEDS:
        for halves in range(1, 24):
            name = f"{halves / 2:g} tasks at {speed:g}/s" + (
                f", noise {noise:.0%}" if noise else ""
            )
            yield Case(name, noisy(np.full(DAY, halves / 2), noise, name), speed)


def changing_cases() -> Iterator[Case]:
    """Yields curves of days, floods, leaks, deploys, hot and stuck partitions, slow polls."""
    slow, usual, fast = SPEEDS
    wide = even(60)
    for speed in SPEEDS:
        yield Case(f"day of 2 to 9 at {speed:g}/s", curve(2, 9), speed, shares=wide)
    yield Case("day of 2 to 9 on 24 partitions", curve(2, 9))
    for speed in (usual, fast):
        yield Case(f"day of 3 to 20 at {speed:g}/s", curve(3, 20), speed, shares=wide)
    for low, high in ((2, 9), (3, 20)):
        name = f"noisy day of {low} to {high}"
        yield Case(name, noisy(curve(low, high), 0.1, name), shares=wide)
    weekend = np.concatenate([curve(2, 9), np.full(DAY, 1.3)])
    yield Case("Friday and Saturday", weekend, capacity=np.ones(2 * DAY), shares=wide)
    office = np.where((np.arange(DAY) >= 8 * HOUR) & (np.arange(DAY) < 18 * HOUR), 6.4, 1.2)
    yield Case("office hours", office, fast)
    for base, speed in ((1.0, usual), (0.6, fast)):
        yield Case(f"flood of ten times {base:g}", flood(base), speed)
    yield Case("load that grows", np.linspace(1.5, 8.5, DAY), fast, shares=wide)
    yield Case("capacity that leaks", np.full(DAY, 3.3), capacity=np.linspace(1.0, 0.4, DAY))
    halved = np.where(np.arange(DAY) < 12 * HOUR, 1.0, 0.5)
    for load, speed in ((2.6, slow), (4.3, usual)):
        name = f"deploy that halves the capacity, {load:g}"
        yield Case(name, np.full(DAY, load), speed, halved, shares=wide)
    for load, share in ((1.5, 0.6), (3.0, 0.3)):
        shares = hot(24, share)
        yield Case(f"hot partition, {share:.0%} of {load:g}", np.full(DAY, load), shares=shares)
    for load, speed in ((3.4, usual), (5.2, slow)):
        stuck = (3, range(6 * HOUR, 18 * HOUR))
        yield Case(f"stuck partition of {load:g}", np.full(DAY, load), speed, stuck=stuck)
    yield Case("polls every 5 minutes, 3.5", np.full(DAY, 3.5), poll_seconds=300, promise=900.0)
    yield Case("polls every 5 minutes, a day", curve(1, 6), poll_seconds=300, promise=900.0)


def store_cases() -> Iterator[tuple[Case, bool]]:
    """Yields half days of services that fall behind, and whether what all tasks share is full."""
    flat = np.ones(_HALF_DAY)
    for store, load, contention, speed in (
        (2.4, 6.0, 0.0, 200.0),
        (1.6, 4.0, 0.0, 20.0),
        (1.0, 2.5, 0.0, 200.0),
        (3.2, 8.0, 0.02, 1_000.0),
        (4.5, 9.0, 0.03, 200.0),
    ):
        name = f"store of {store:g}, {contention:.0%} a task, for {load:g}"
        full = Case(name, load * flat, speed, flat, store=store * flat, contention=contention)
        yield full, True
    for store, load in ((2.4, 5.0), (3.7, 6.5)):
        name = f"store of {store:g} for a noisy {load:g}"
        yield Case(name, noisy(load * flat, 0.1, name), capacity=flat, store=store * flat), True
    slower = np.where(np.arange(_HALF_DAY) < SLOWER_FROM, 9.0, 2.5)
    yield Case("store that gets slower, 4.3", 4.3 * flat, capacity=flat, store=slower), True
    grows = np.concatenate([np.linspace(0.8, 7.0, 6 * HOUR), np.full(6 * HOUR, 7.0)])
    yield Case("store of 3.4, load that grows", grows, capacity=flat, store=3.4 * flat), True
    full = Case("store of 2.8, 10% hot", 6 * flat, 200.0, flat, hot(24, 0.1), store=2.8 * flat)
    yield full, True
    for load, speed in ((3.4, 20.0), (6.6, 200.0), (11.2, 1_000.0), (17.0, 200.0)):
        yield Case(f"too few for {load:g}", load * flat, speed, flat), False
    yield Case("too few for a noisy 6", noisy(6 * flat, 0.3, "too few"), capacity=flat), False
    yield Case("too few, hot 30%", 2.6 * flat, 200.0, flat, hot(24, 0.3)), False
    yield Case("one hot partition is too much", 2.4 * flat, 200.0, flat, hot(24, 0.7)), False
    for load, left in ((3.4, 0.5), (1.6, 0.2)):
        capacity = np.where(np.arange(_HALF_DAY) < 3 * HOUR, 1.0, left)
        yield (
            Case(f"too few, capacity {left:g} from hour 3 on", load * flat, 200.0, capacity),
            False,
        )
    leaks = np.linspace(1.0, 0.3, _HALF_DAY)
    yield Case("too few, capacity that leaks", 3.3 * flat, 200.0, leaks), False
    floods = np.tile(flood(1.0)[6 * HOUR : 12 * HOUR], 2)
    yield Case("too few in a flood", floods, capacity=flat), False
    yield Case("too few, polls every 5 minutes", 3.5 * flat, capacity=flat, poll_seconds=300), False
    yield Case("a store with room, 5.5", 5.5 * flat, 200.0, flat, store=9.0 * flat), False


def even(partitions: int) -> Floats:
    """Returns equal shares."""
    return np.full(partitions, 1.0 / partitions)


def hot(partitions: int, share: float) -> Floats:
    """Returns this share of one partition, and equal shares of the rest."""
    shares = np.full(partitions, (1.0 - share) / (partitions - 1))
    shares[3] = share
    return shares


def curve(low: float, high: float) -> Floats:
    """Returns a day with the least at 3 in the morning and the most at 15."""
    hours = np.arange(DAY) / HOUR
    return low + (high - low) * (1.0 - np.cos(2 * np.pi * (hours - 3) / 24)) / 2


def flood(base: float) -> Floats:
    """Returns a day with ten times as much for twenty minutes, twice."""
    load = np.full(DAY, base)
    for hour in (7, 16):
        load[hour * HOUR : hour * HOUR + 20] = 10 * base
    return load


def noisy(load: Floats, noise: float, name: str) -> Floats:
    """Returns the load with normal noise of each minute, the same for the same name."""
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
    rng = np.random.default_rng(seed)
    return np.maximum(load * (1.0 + noise * rng.standard_normal(len(load))), 0.0)
