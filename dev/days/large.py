# SPDX-License-Identifier: Apache-2.0
"""Large clusters on a working day, for benchmarks: few busy topics among many, or all alike."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import numpy as np

from dev.days.describe import (
    Day,
    Event,
    Group,
    Lead,
    Member,
    Partition,
    Rebalance,
    Rows,
    Slow,
    Span,
    Surge,
    Topic,
)

# What a group has on average, and how many groups share a topic.
PARTITIONS_A_GROUP, GROUPS_A_TOPIC = 40, 2.5
_BROKERS, _ZONES = 9, 3
_SIZES, _SIZE_SHARES = (3, 6, 12, 24, 48), (0.15, 0.35, 0.3, 0.15, 0.05)
_BUSIEST_RATE, _ZIPF = 4_000.0, 0.9
_WARM_UP_HOURS = 8.0
_DOMAINS = ("payments", "orders", "inventory", "shipping", "identity", "pricing", "search", "risk")
_KINDS = ("events.v1", "commands.v1", "changelog.v2", "audit.v1", "dead-letter.v1", "snapshots.v3")
_TEAMS = ("checkout", "warehouse", "ledger", "fraud", "catalogue", "delivery", "insights")


def large(partitions: int = 10_000, cluster: str = "bench", seed: int = 1) -> Day:
    """A day of exactly so many group partitions, an odd one out making the number round."""
    rng = np.random.default_rng(seed)
    topics = list(_topics(rng, round(partitions / GROUPS_A_TOPIC)))
    groups = list(_groups(rng, topics, partitions))
    missing = partitions - _size(topics, groups)
    if missing:
        rest = _topic(rng, len(topics), [1.0] * missing)
        topics.append(rest)
        groups.append(_group(rng, len(groups), (rest.name,)))
    return Day(
        cluster=cluster,
        topics=tuple(topics),
        groups=tuple(groups),
        racks={broker: f"euw1-az{1 + broker % _ZONES}" for broker in range(1, _BROKERS + 1)},
        events=tuple(_events(rng, topics, groups)),
        warm_up_hours=_WARM_UP_HOURS,
        seed=seed,
    )


def _size(topics: list[Topic], groups: list[Group]) -> int:
    sizes = {topic.name: len(topic.partitions) for topic in topics}
    return sum(sizes[name] for group in groups for name in group.topics)


def _topics(rng: np.random.Generator, partitions: int) -> Iterator[Topic]:
    number = 0
    while partitions > 0:
        size = min(int(rng.choice(_SIZES, p=_SIZE_SHARES)), partitions)
        mean = _BUSIEST_RATE / (number + 1) ** _ZIPF / size
        keys = rng.dirichlet(np.full(size, 30.0)) * size
        yield _topic(rng, number, [round(mean * key, 3) for key in keys])
        partitions, number = partitions - size, number + 1


def _topic(rng: np.random.Generator, number: int, rates: list[float]) -> Topic:
    first = int(rng.integers(_BROKERS))
    name = f"{_DOMAINS[number % len(_DOMAINS)]}.{_KINDS[number % len(_KINDS)]}.{number:05d}"
    return Topic(
        name=name,
        topic_id=uuid.UUID(bytes=rng.bytes(16)).hex[:22],
        partitions=tuple(
            Partition(rate=rate, leader=1 + (first + place) % _BROKERS)
            for place, rate in enumerate(rates)
        ),
        swing=round(float(rng.uniform(0.2, 0.7)), 2),
        peak_hour=round(float(rng.normal(14, 2)), 1),
        bursts=round(float(rng.uniform(0.1, 0.6)), 2),
    )


def _groups(rng: np.random.Generator, topics: list[Topic], partitions: int) -> Iterator[Group]:
    """Groups of whole topics until another would be too many."""
    number, left = 0, partitions
    while left > 0:
        wanted = min(float(rng.gamma(2.0, PARTITIONS_A_GROUP / 2)) + 1, left)
        names: list[str] = []
        for place in rng.permutation(len(topics)):
            size = len(topics[place].partitions)
            if size <= min(left, max(wanted, min(_SIZES))):
                names.append(topics[place].name)
                wanted, left = wanted - size, left - size
            if wanted <= 0 or left <= 0:
                break
        if not names:
            return
        yield _group(rng, number, tuple(names))
        number += 1


def _group(rng: np.random.Generator, number: int, topics: tuple[str, ...]) -> Group:
    name = f"{_TEAMS[number % len(_TEAMS)]}-service-{number:04d}-consumer"
    members = tuple(
        Member(
            member_id=f"consumer-{name}-{place + 1}-{uuid.UUID(bytes=rng.bytes(16))}",
            client_id=f"consumer-{name}-{place + 1}",
            client_host=f"/10.{rng.integers(64)}.{rng.integers(256)}.{rng.integers(256)}",
        )
        for place in range(int(rng.integers(2, 9)))
    )
    delay = round(float(rng.uniform(2, 20)), 1)
    return Group(name=name, topics=topics, members=members, delay_seconds=delay)


def _events(rng: np.random.Generator, topics: list[Topic], groups: list[Group]) -> Iterator[Event]:
    """Slow brokers, groups that fall behind or stop, rebalances, surges and a restart."""
    yield Slow(when=Span(9.5, 12), rows=Rows(leader=3), share=0.85)
    yield Slow(when=Span(15, 15.75), rows=Rows(leader=7), share=0.4)
    yield Lead(when=Span(13, 13.2), broker=5, by=6)
    for place in rng.permutation(len(groups))[: max(1, len(groups) // 12)]:
        begin, share = rng.uniform(0, 20), rng.choice([0.0, 0.3, 0.7, 0.9])
        span = Span(round(begin, 2), round(begin + rng.uniform(0.5, 6), 2))
        yield Slow(when=span, rows=Rows(group=groups[place].name), share=float(share))
    for place in rng.permutation(len(groups))[: max(1, len(groups) // 8)]:
        for begin in rng.uniform(0, 24, int(rng.integers(1, 4))):
            span = Span(round(begin, 3), round(begin + 1 / 30, 3))
            yield Rebalance(when=span, group=groups[place].name)
    for place in rng.permutation(len(topics))[: max(1, len(topics) // 50)]:
        begin = rng.uniform(0, 23)
        yield Surge(when=Span(begin, begin + 0.5), topic=topics[place].name, factor=4.0)


def uniform(cluster: str = "bench", groups: int = 1_000, topics: int = 400) -> Day:
    """Groups of five topics of twelve partitions each; every tenth group is slow from ten to one.

    Groups are named group-0000 and on, topics topic-000 and on.
    """
    names = [f"group-{number:04}" for number in range(groups)]
    slow = [Slow(when=Span(10, 13), rows=Rows(group=name), share=0.5) for name in names[::10]]
    return Day(
        cluster=cluster,
        topics=tuple(_uniform_topic(number) for number in range(topics)),
        groups=tuple(_uniform_group(name, number, topics) for number, name in enumerate(names)),
        racks={broker: f"euw1-az{broker}" for broker in (1, 2, 3)},
        events=tuple(slow),
        warm_up_hours=1.0,
    )


def _uniform_topic(number: int) -> Topic:
    partitions = (Partition(rate=20.0, leader=1 + place % 3) for place in range(12))
    return Topic(name=f"topic-{number:03}", partitions=tuple(partitions), topic_id=f"id-{number}")


def _uniform_group(name: str, number: int, topics: int) -> Group:
    read = (f"topic-{(number * 7 + place) % topics:03}" for place in range(5))
    members = (
        Member(
            member_id=f"{name}-{place}-5d2c9a1e-77aa-4c0f-b0c6-{number:012}",
            client_id=f"{name}-{place}",
            client_host=f"/10.0.{number % 256}.{place}",
        )
        for place in range(4)
    )
    return Group(name=name, topics=tuple(read), members=tuple(members))
