# SPDX-License-Identifier: Apache-2.0
"""Groups whose load and capacity are set: what is written, where to, and who reads how much.

Loads are in members' worth of records, times in minutes of the cases' clock, which runs faster
than the wall's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

_EVERY_THIRD = 3


@dataclass(frozen=True, slots=True)
class Bursts:
    """Of each `every` minutes the first `high` have `times` the mean load, the others the rest."""

    every: float
    high: float
    times: float

    def written(self, minutes: float) -> float:
        """What has been written since minute 0, in minutes of the mean load."""
        whole, part = divmod(minutes, self.every)
        rest = (self.every - self.high * self.times) / (self.every - self.high)
        begun = min(part, self.high) * self.times + max(part - self.high, 0.0) * rest
        return whole * self.every + begun


@dataclass(frozen=True, slots=True)
class Case:
    """One topic and the group that reads it, from `start` members on.

    `load`: what is written, in members; `shares`: the partitions' of it. `slow`: what the first
    member reads of what another does. `store`: what all together read at most, in members, and
    `contention` what each member beyond the first takes away from that. `behind`: minutes written
    before anyone reads. Members read every `poll_minutes`; 0: all the time.
    """

    name: str
    load: float
    shares: tuple[float, ...] = (1 / 24,) * 24
    start: int = 1
    bursts: Bursts | None = None
    slow: float = 1.0
    store: float | None = None
    contention: float = 0.0
    behind: float = 0.0
    poll_minutes: float = 0.0
    grows_to: int | None = None

    @property
    def held_out(self) -> bool:
        """Whether it is of the third, by the name, that judges a rule made by the others."""
        return hashlib.sha256(self.name.encode()).digest()[0] % _EVERY_THIRD == 0

    @property
    def topic(self) -> str:
        """Its topic, which begins the names of its groups."""
        return "".join(each if each.isalnum() else "-" for each in self.name)

    def written(self, minutes: float) -> Floats:
        """Records by partition since minute 0, in minutes of one member."""
        mean = minutes if self.bursts is None else self.bursts.written(minutes)
        return mean * self.load * np.array(self.shares)

    def member_reads(self, number: int) -> float:
        """What a member reads at most, of a usual one."""
        return self.slow if number == 0 else 1.0

    def store_gives(self, members: int) -> float:
        """What all of so many read at most, in members; without a store no limit."""
        if self.store is None:
            return float("inf")
        return self.store * max(1.0 - self.contention * (members - 1), 0.0)


def even(partitions: int) -> tuple[float, ...]:
    """Each as much as any other."""
    return (1 / partitions,) * partitions


def skewed(partitions: int, power: float) -> tuple[float, ...]:
    """Falling as the rank to a power, in an order that is not that of the ranks."""
    ranks = np.arange(1, partitions + 1) ** -power
    order = np.random.default_rng(partitions).permutation(partitions)
    return tuple((ranks / ranks.sum())[order].tolist())


def hot(partitions: int, share: float) -> tuple[float, ...]:
    """One of them has this share, the others the rest alike."""
    shares = [(1.0 - share) / (partitions - 1)] * partitions
    shares[partitions // 2] = share
    return tuple(shares)


def advice_cases() -> Iterator[Case]:
    """Groups of one to eight members whose tasks needed are followed, then tried."""
    yield Case("even 0.7", 0.7, behind=12)
    for load, start in ((1.4, 1), (2.5, 2), (3.6, 2), (5.3, 3), (7.2, 6)):
        yield Case(f"even {load:g}", load, start=start)
    for load, start in ((1.6, 1), (2.4, 1), (3.3, 2), (4.4, 3)):
        yield Case(f"skewed {load:g}", load, skewed(16, 0.5), start)
    yield Case("hot partition 40% of 2.2", 2.2, hot(12, 0.4), 1)
    waves, peaks = Bursts(8, 4, 1.5), Bursts(15, 3, 2.5)
    for load, start in ((1.5, 1), (2.6, 1), (4.4, 3)):
        yield Case(f"waves of {load:g}", load, start=start, bursts=waves)
    for load, start in ((1.3, 1), (3.3, 2)):
        yield Case(f"peaks of {load:g}", load, start=start, bursts=peaks)
    for load, start in ((1.4, 1), (2.4, 2), (3.4, 2), (4.3, 3)):
        yield Case(f"one slow of {load:g}", load, start=start, slow=0.6)


def unknown_cases() -> Iterator[Case]:
    """Groups that keep up all the time, and so say nothing of their capacity."""
    yield Case("enough for 1.5", 1.5, start=3)
    yield Case("enough for 0.4", 0.4, start=1)
    yield Case("enough for skewed 2.4", 2.4, skewed(16, 0.5), start=6)
    yield Case("enough for waves of 1.6", 1.6, start=4, bursts=Bursts(8, 4, 1.5))
    yield Case("enough, polls every 3 minutes", 1.2, start=3, poll_minutes=3)


def limited_cases() -> Iterator[tuple[Case, bool]]:
    """Groups that fall behind, and whether more tasks help them."""
    for load, share, start in ((2.5, 0.6, 2), (3.0, 0.45, 3), (4.5, 0.3, 4), (1.6, 0.8, 1)):
        yield Case(f"hot {share:.0%} of {load:g}", load, hot(12, share), start), False
    yield Case("hot 70% of 2 on 6", 2.0, hot(6, 0.7), 3), False
    for partitions, load, start in (
        (1, 1.6, 1),
        (2, 3.2, 2),
        (3, 4.4, 2),
        (4, 5.5, 4),
        (3, 4.0, 5),
    ):
        name = f"{partitions} partitions for {load:g}, {start} members"
        yield Case(name, load, even(partitions), start), False
    for load, start in ((2.6, 1), (3.5, 2), (5.4, 4)):
        yield Case(f"too few for {load:g}", load, start=start), True
    for load, start in ((2.4, 1), (3.5, 2)):
        yield Case(f"too few for skewed {load:g}", load, skewed(16, 0.5), start), True
    for load, share, start in ((2.0, 0.4, 1), (2.6, 0.3, 1)):
        yield Case(f"too few, hot {share:.0%} of {load:g}", load, hot(12, share), start), True
    yield Case("too few on 4 partitions for 3.2", 3.2, even(4), 2), True
    yield Case("too few for waves of 2.6", 2.6, start=1, bursts=Bursts(8, 4, 1.5)), True
    yield Case("too few, one slow of 3.3", 3.3, start=2, slow=0.6), True


def shared_cases() -> Iterator[tuple[Case, bool]]:
    """Groups that get more members behind a backlog, and whether a shared store is full."""
    for store, few, many, contention in (
        (2.4, 3, 6, 0.0),
        (1.6, 2, 5, 0.0),
        (2.2, 3, 6, 0.04),
        (3.2, 3, 7, 0.05),
        (1.0, 2, 4, 0.0),
    ):
        name = f"store of {store:g}, {contention:.0%} a member, {few} to {many}"
        yield Case(name, 9.0, even(24), few, None, 1.0, store, contention, 4.0, 0.0, many), True
    for few, many in ((2, 4), (3, 6), (2, 5)):
        case = Case(f"too few, {few} to {many}", 9.0, start=few, behind=4.0, grows_to=many)
        yield case, False
    slow = Case("too few and one slow, 2 to 5", 9.0, start=2, slow=0.6, behind=4.0, grows_to=5)
    yield slow, False
    waves = Case("too few in waves, 3 to 6", 9.0, start=3, behind=4.0, grows_to=6)
    yield replace(waves, bursts=Bursts(8, 4, 1.5)), False
