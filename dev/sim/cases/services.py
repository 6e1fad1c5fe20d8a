# SPDX-License-Identifier: Apache-2.0
"""Services that are scaled, with their load by the minute, in multiples of one task's capacity.

`services.txt` has days in a closed loop. `tasks.txt` has services with a number of tasks needed, or
for which more tasks do not help. `scorers.tasks` finds their truth by trying other numbers of
tasks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dev.sim.cases.text import read_options, read_sections, value_of
from dev.sim.reading import Floats

HOUR, DAY = 60, 1_440
# The age that is allowed, and the time to catch up in, in seconds.
PROMISE = 300.0
# Records/s that one task reads: 1,200, 12,000 and 60,000 a minute.
SPEEDS = (20.0, 200.0, 1_000.0)
# The minute from which some stores give less.
SLOWER_FROM = 120
# Of `tasks.txt`: minutes of a trial, minutes in which the collector sees a service, and the most
# tasks of it.
MINUTES, SEEN, MOST = 100, 72, 12


def even(partitions: int) -> Floats:
    """Returns equal shares."""
    return np.full(partitions, 1.0 / partitions)


def hot(partitions: int, share: float) -> Floats:
    """Returns this share of one partition, and equal shares of the rest."""
    shares = np.full(partitions, (1.0 - share) / (partitions - 1))
    shares[3] = share
    return shares


def _skewed(partitions: int) -> Floats:
    """Returns shares that fall with the root of the rank, in an order that is not that of ranks."""
    ranks = np.arange(1, partitions + 1) ** -0.5
    order = np.random.default_rng(partitions).permutation(partitions)
    shares: Floats = (ranks / ranks.sum())[order]
    return shares


@dataclass(frozen=True, slots=True)
class Case:
    """One service's load.

    `load` is what is written in each minute, in tasks at full capacity. `capacity`: the share of
    `speed` records/s that a task reads in each minute. `shares`: the partitions' shares of what is
    written. The consumer reads and commits every `poll_seconds`. `store`: what all tasks share
    gives so many tasks' worth, and `contention` less for each more task. `slow`: the share of what
    another task reads that the first one does.

    It begins with `start` tasks and what is written in `behind` minutes, and has `grows_to` tasks
    in the second half of its time.
    """

    name: str
    load: Floats
    speed: float = 200.0
    capacity: Floats = field(default_factory=lambda: np.ones(DAY))
    shares: Floats = field(default_factory=lambda: even(24))
    poll_seconds: int = 10
    most: int = 24
    store: Floats | None = None
    contention: float = 0.0
    slow: float = 1.0
    share_group: bool = False
    start: int = 1
    behind: int = 0
    grows_to: int | None = None

    @property
    def partitions(self) -> int:
        """Number of partitions."""
        return len(self.shares)

    @property
    def minutes(self) -> int:
        """Length in minutes."""
        return len(self.load)

    @property
    def behind_case(self) -> Case:
        """The case with its backlog, which comes in the first minute."""
        load = self.load.copy()
        load[0] *= 1 + self.behind
        return replace(self, load=load)

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


def _flood(now: Floats, base: float, *hours: int) -> Floats:
    """Returns ten times as much for twenty minutes from each of the hours on."""
    is_flood = np.any([(now >= hour * HOUR) & (now < hour * HOUR + 20) for hour in hours], axis=0)
    return np.where(is_flood, 10 * base, base)


def _fall(now: Floats, at: int, first: float, last: float) -> Floats:
    found: Floats = np.where(now < at, first, last)
    return found


# Curves by name, which get the minutes; `a:1:2+b:3` is one curve and then another.
_CURVES: Mapping[str, Callable[..., Floats]] = {
    "flat": lambda now, value: np.full(len(now), value),
    "line": lambda now, first, last: np.linspace(first, last, len(now)),
    "fall": _fall,
    "flood": _flood,
}
_SHARES: Mapping[str, Callable[..., Floats]] = {"even": even, "hot": hot, "skewed": _skewed}


def _draw(words: str, minutes: int) -> Floats:
    parts = [each.split(":") for each in words.split("+")]
    now = np.arange(minutes // len(parts))
    return np.concatenate([_CURVES[name](now, *map(value_of, rest)) for name, *rest in parts]) * 1.0


def _read(name: str, text: str, minutes: int, **more: Any) -> Case:
    options: dict[str, Any] = {"capacity": "flat:1", **read_options(text), **more}
    noise = options.pop("noise", 0.0)
    for each in {"load", "capacity", "store"} & set(options):
        options[each] = _draw(options[each], minutes)
    if "shares" in options:
        kind, *rest = options["shares"].split(":")
        options["shares"] = _SHARES[kind](*map(value_of, rest))
    case = Case(name, **options)
    return replace(case, load=noisy(case.load, noise, name)) if noise else case


def noisy(load: Floats, noise: float, name: str) -> Floats:
    """Returns the load with normal noise of each minute, the same for the same name."""
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
    rng = np.random.default_rng(seed)
    return np.maximum(load * (1.0 + noise * rng.standard_normal(len(load))), 0.0)


def constant_cases(noise: float = 0.0) -> Iterator[Case]:
    """Yields days of 0.5 to 11 tasks at each speed; `noise` is that of each minute."""
    for speed in SPEEDS:
        for halves in range(1, 24, 3):
            more = f", noise {noise:.0%}" if noise else ""
            name = f"{halves / 2:g} tasks at {speed:g}/s{more}"
            yield Case(name, noisy(np.full(DAY, halves / 2), noise, name), speed)


def store_cases() -> Iterator[tuple[Case, bool]]:
    """Yields half days of services that fall behind, and whether what all tasks share is full."""
    for section in ("full", "few"):
        for name, (text,) in read_sections("services.txt")[section]:
            yield _read(name, text, DAY // 2), section == "full"


def _read_waves(name: str, text: str) -> Case:
    """Reads a case; `wave=8,4,1.5`: in the first 4 of each 8 minutes 1.5 times the mean."""
    options = read_options(text)
    loads = np.full(MINUTES, float(options.pop("load")))
    if "wave" in options:
        every, high, times = options.pop("wave")
        rest = (every - high * times) / (every - high)
        loads *= np.where(np.arange(MINUTES) % every < high, times, rest)
    return replace(_read(name, "load=flat:1", MINUTES, most=MOST, **options), load=loads)


def read_kind(kind: str) -> list[Case]:
    """Returns the services of a kind, by what they are said to need, or not."""
    return [_read_waves(name, text) for name, (text,) in read_sections("tasks.txt")[kind]]


KINDS = ("advised", "enough", "limited", "shared")
