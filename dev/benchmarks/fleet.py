# SPDX-License-Identifier: Apache-2.0
"""Large clusters on a working day, for benchmarks: few busy topics among many, or all alike.

A `World` of so many groups would take hours. Here all of them live at once, minute by minute.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dev.sim.reading import Floats, Layout, Sight

# Groups that share a topic, and partitions of a group, on average.
_GROUPS_A_TOPIC, _PARTITIONS_A_GROUP = 2.5, 40
_BROKERS, _HOUR, _DAY = 9, 60, 1_440
_SIZES, _SIZE_SHARES = (3, 6, 12, 24, 48), (0.15, 0.35, 0.3, 0.15, 0.05)
_BUSIEST_RATE, _ZIPF = 4_000.0, 0.9
# What a group reads at most while it is behind, as a multiple of the usual rate, and its delay.
_CATCH_UP, _DELAY_SECONDS = 3.0, 8.0


@dataclass(frozen=True, slots=True)
class Spell:
    """Minutes in which a group, by its place, reads a share of what is written."""

    group: int
    since: int
    until: int
    share: float


class Fleet:
    """Topics, with records/s of each partition, and groups that read some of them.

    Rates rise and fall with the hour. Partitions change owners in each of the `rebalances`, which
    are pairs of a minute and a group's place.
    """

    def __init__(
        self,
        topics: Mapping[str, Floats],
        groups: Mapping[str, Sequence[str]],
        spells: Sequence[Spell] = (),
        rebalances: Sequence[tuple[int, int]] = (),
        seed: int = 1,
    ) -> None:
        rng = np.random.default_rng(seed)
        sizes = {name: len(rates) for name, rates in topics.items()}
        self._layout = Layout.of(sizes, groups, (150, 450))
        self._rate = np.concatenate(list(topics.values()))
        self._swing, self._peak = rng.uniform(0.2, 0.7, len(sizes)), rng.normal(14, 2, len(sizes))
        self._members = rng.integers(2, 9, len(groups))
        self._first = np.cumsum([0, *self._members])[:-1]
        self._names = tuple(
            f"consumer-{name}-{number}-5d2c9a1e-77aa-4c0f-b0c6"
            for name, count in zip(groups, self._members.tolist(), strict=True)
            for number in range(count)
        )
        self._end = self._rate * 86_400.0
        self._committed = np.floor(self._end[self._layout.partition])
        self._turns = np.zeros(len(groups), np.int64)
        self._spells, self._rebalances = spells, rebalances
        self._minute = -1

    def layout(self) -> Layout:
        """Returns the rows of all readings."""
        return self._layout

    def live_a_minute(self) -> None:
        """Lets a minute pass."""
        self._minute += 1
        rows, group = self._layout.partition, self._layout.group
        wave = 1 + self._swing * np.cos(2 * np.pi * (self._minute / _HOUR - self._peak) / 24)
        written = self._rate * 60.0 * wave[self._layout.topic]
        self._end += written
        most = np.maximum(self._rate * 60.0 * _CATCH_UP, written * 1.1)[rows]
        for spell in self._spells:
            if spell.since <= self._minute < spell.until:
                most = np.where(group == spell.group, written[rows] * spell.share, most)
        near = np.floor(self._end - self._rate * _DELAY_SECONDS)[rows]
        reached = np.minimum(near, np.floor(self._committed + most))
        self._committed = np.maximum(self._committed, reached)
        for minute, place in self._rebalances:
            self._turns[place] += minute == self._minute

    def sight(self) -> Sight:
        """Returns what the brokers know now."""
        layout, members = self._layout, self._members[self._layout.group]
        number = layout.number[layout.partition] + self._turns[layout.group]
        return Sight(
            end=np.floor(self._end).astype(np.int64),
            committed=self._committed.astype(np.int64),
            owner=self._first[layout.group] + number % members,
            members=self._names,
            counts=self._members,
            leader=(layout.number + layout.topic) % _BROKERS + 1,
            retention_ms=np.full(len(layout.topics), 7 * 86_400_000),
        )


def make_large(partitions: int = 10_000, seed: int = 1) -> Fleet:
    """Returns a cluster of so many group-partitions, whose groups fall behind and rebalance."""
    rng = np.random.default_rng(seed)
    topics = dict(_draw_topics(rng, round(partitions / _GROUPS_A_TOPIC)))
    groups = dict(
        _draw_groups(rng, {name: len(rates) for name, rates in topics.items()}, partitions)
    )
    missing = partitions - sum(len(topics[name]) for names in groups.values() for name in names)
    if missing:
        topics["rest"], groups["rest-consumer"] = np.ones(missing), ("rest",)
    each = rng.permutation(len(groups))
    starts = rng.integers(0, 20 * _HOUR, len(groups))
    spells = [
        Spell(int(group), int(start), int(start + rng.integers(30, 360)), float(share))
        for group, start, share in zip(
            each[: len(groups) // 12 + 1],
            starts,
            rng.choice([0.0, 0.3, 0.7, 0.9], len(groups)),
            strict=False,
        )
    ]
    rebalances = [
        (int(minute), int(group))
        for group in each[: len(groups) // 8 + 1]
        for minute in rng.integers(0, _DAY, 3)
    ]
    return Fleet(topics, groups, spells, rebalances, seed)


def _draw_topics(rng: np.random.Generator, partitions: int) -> Iterator[tuple[str, Floats]]:
    number = 0
    while partitions > 0:
        size = min(int(rng.choice(_SIZES, p=_SIZE_SHARES)), partitions)
        mean = _BUSIEST_RATE / (number + 1) ** _ZIPF / size
        yield f"payments.events.v1.{number:05d}", mean * size * rng.dirichlet(np.full(size, 30.0))
        partitions, number = partitions - size, number + 1


def _draw_groups(
    rng: np.random.Generator, sizes: Mapping[str, int], partitions: int
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields groups of whole topics until another would be too many."""
    number, left, names = 0, partitions, list(sizes)
    while left >= max(_SIZES):
        wanted, read = float(rng.gamma(2.0, _PARTITIONS_A_GROUP / 2)) + 1, []
        for place in rng.permutation(len(names)):
            if wanted <= 0 or left < max(_SIZES):
                break
            size = sizes[names[place]]
            read.append(names[place])
            wanted, left = wanted - size, left - size
        yield f"checkout-service-{number:04d}-consumer", tuple(read)
        number += 1


def make_uniform(groups: int = 1_000, topics: int = 400) -> Fleet:
    """Returns groups of five topics of twelve partitions each; every tenth group is slow.

    Groups are named group-0000 and on, topics topic-000 and on.
    """
    return Fleet(
        {f"topic-{number:03}": np.full(12, 20.0) for number in range(topics)},
        {
            f"group-{number:04}": [f"topic-{(number * 7 + n) % topics:03}" for n in range(5)]
            for number in range(groups)
        },
        [Spell(group, _HOUR, _DAY, 0.5) for group in range(0, groups, 10)],
    )
