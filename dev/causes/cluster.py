# SPDX-License-Identifier: Apache-2.0
"""A cluster in steps of ten seconds: topics that are written to, groups that read them.

It is seen once a minute, as the broker adapter would see it. A case changes it from minute to
minute; what the collector is given holds nothing of what was planted.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import DTYPES, AnyColumn, Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import ClusterReading, Snapshot
from kafka_lag.snapshots.previous import Memory

Floats = npt.NDArray[np.float64]

BEGIN = 1_769_860_800_000  # 2026-01-31T12:00:00Z
MINUTE = 60_000
STEP = 10
_STEPS = 60 // STEP
_BROKERS = 3
# After a run began its commits are read, then the ends of the logs, ms.
_COMMITS_READ, _ENDS_READ = 150, 200


@dataclass(slots=True)
class Topic:
    """`rates` are records/s written to each partition. Partitions are led by brokers in turn, and
    have two replicas more; `in_sync` of them are up to date. One without a leader is neither
    written nor read."""

    name: str
    rates: Floats
    noise: float = 0.1
    first_leader: int = 0
    retention_ms: int = 7 * 86_400_000
    # A log whose start follows this many seconds behind its end; None: nothing is deleted.
    kept_seconds: float | None = None
    generation: int = 0
    end: Floats = field(init=False)
    start: Floats = field(init=False)
    in_sync: npt.NDArray[np.int64] = field(init=False)
    has_leader: npt.NDArray[np.bool_] = field(init=False)
    # Up to where a reader of committed records may read; infinity: no transaction is open.
    stable: Floats = field(init=False)

    def __post_init__(self) -> None:
        count = len(self.rates)
        self.end, self.start = np.full(count, 1_000.0), np.zeros(count)
        self.in_sync = np.full(count, _BROKERS)
        self.has_leader = np.ones(count, bool)
        self.stable = np.full(count, np.inf)

    @property
    def partitions(self) -> int:
        return len(self.rates)

    @property
    def leaders(self) -> npt.NDArray[np.int64]:
        return (np.arange(self.partitions) + self.first_leader) % _BROKERS + 1

    def recreate(self) -> None:
        """Deletes the topic and makes it anew, with its first records."""
        self.generation += 1
        self.end[:], self.start[:] = 50.0, 0.0


@dataclass(slots=True)
class Group:
    """`speed` is records/s of each member, by its name. Partitions are assigned in turn.

    `slow` are records/s at most by partition, `stuck` the offsets that are not got past.
    `commit_every` in steps. While it is `rebalancing` it reads nothing. `commit_epoch` is what its
    commits say of the leader.
    """

    name: str
    topic: Topic
    speed: dict[str, float]
    slow: dict[int, float] = field(default_factory=dict)
    stuck: dict[int, float] = field(default_factory=dict)
    commit_every: int = 1
    epoch: int | None = None
    commit_epoch: int | None = None
    state: str = "Stable"
    rebalancing: bool = False
    generation: int = 0
    position: Floats = field(init=False)
    committed: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.position = self.topic.end.copy()
        self.committed = self.position.copy()

    def owners(self) -> list[str | None]:
        """The member that owns each partition."""
        members = sorted(self.speed)
        if not members:
            return [None] * self.topic.partitions
        return [members[number % len(members)] for number in range(self.topic.partitions)]


@dataclass(slots=True)
class Cluster:
    """All of it, and what its brokers let through: records/s a partition, by broker."""

    topics: list[Topic]
    groups: list[Group]
    rng: np.random.Generator
    broker_limit: dict[int, float] = field(default_factory=dict)
    _step: int = 0

    def live_a_minute(self, each_step: Callable[[int], None] | None = None) -> None:
        """Six steps; `each_step` is called with its number before each."""
        for number in range(_STEPS):
            if each_step is not None:
                each_step(number)
            for topic in self.topics:
                self._write(topic)
            for group in self.groups:
                self._read(group)
            self._step += 1

    def _write(self, topic: Topic) -> None:
        noise = 1.0 + topic.noise * self.rng.standard_normal(topic.partitions)
        mean = np.maximum(topic.rates * STEP * noise, 0.0) * topic.has_leader
        topic.end += self.rng.poisson(mean)
        if topic.kept_seconds is not None:
            start = np.floor(topic.end - topic.rates * topic.kept_seconds)
            topic.start = np.maximum(topic.start, start)

    def _read(self, group: Group) -> None:
        topic, owners = group.topic, group.owners()
        group.position = np.maximum(group.position, topic.start)
        if not group.rebalancing:
            readable = np.minimum(topic.end, topic.stable) * topic.has_leader
            for number, offset in group.stuck.items():
                readable[number] = min(readable[number], offset)
            most = np.maximum(readable - group.position, 0.0)
            for number, limit in group.slow.items():
                most[number] = min(most[number], limit * STEP)
            limits = [self.broker_limit.get(int(leader), np.inf) for leader in topic.leaders]
            most = np.minimum(most, np.array(limits) * STEP)
            for member, speed in group.speed.items():
                own = np.array([owner == member for owner in owners], bool)
                group.position[own] += _share_out(most[own], speed * STEP)
        if self._step % group.commit_every == 0 and group.speed and not group.rebalancing:
            group.committed = np.floor(group.position)


def _share_out(wanted: Floats, budget: float) -> Floats:
    """To each what it wants, or an equal part of what is left where that is less."""
    given = np.zeros(len(wanted))
    for place, at in enumerate(np.argsort(wanted)):
        part = budget / (len(wanted) - place)
        given[at] = min(wanted[at], part)
        budget -= given[at]
    return given


def run_minutes(
    cluster: Cluster,
    minutes: int,
    change: Callable[[Cluster, int], Callable[[int], None] | None],
    rules: Rules | None = None,
    unseen: Container[int] = (),
) -> Iterator[Snapshot]:
    """The snapshot of each minute but those in which the collector is away; `change` is called at
    its beginning, and may return what is to be called before each of its steps."""
    rules = rules or Rules(lookup_budget=0)
    memory = Memory.empty()
    for minute in range(minutes):
        cluster.live_a_minute(change(cluster, minute))
        if minute in unseen:
            continue
        at = BEGIN + minute * MINUTE
        reading = read_cluster(cluster, at)
        snapshot = evaluate(reading, memory.previous_runs(), rules, at).snapshot
        memory = memory.add_run(snapshot, rules.interval_ms, stored=True)
        yield snapshot


def read_cluster(cluster: Cluster, at: int) -> ClusterReading:
    """What the run of `at` is answered, ms."""
    return ClusterReading(
        _frame(contract.TOPIC_PARTITIONS, list(_list_partitions(cluster.topics, at))),
        _frame(contract.GROUP_PARTITIONS, list(_list_commits(cluster.groups, at))),
        _frame(contract.GROUPS, list(_list_groups(cluster.groups, at))),
    )


def _list_partitions(topics: Sequence[Topic], at: int) -> Iterator[Mapping[str, Any]]:
    for topic in topics:
        for number in range(topic.partitions):
            led = bool(topic.has_leader[number])
            leader = int(topic.leaders[number])
            brokers = [(leader + more - 1) % _BROKERS + 1 for more in range(_BROKERS)]
            yield {
                "topic": topic.name,
                "topic_id": f"{topic.name}-{topic.generation}",
                "partition_id": number,
                "leader": leader if led else None,
                "replicas": tuple(brokers),
                "in_sync_replicas": tuple(brokers[: topic.in_sync[number]]),
                "unread_reason": None if led else contract.NO_LEADER,
                "start_offset": int(topic.start[number]) if led else None,
                "end_offset": int(topic.end[number]) if led else None,
                "stable_offset": int(min(topic.end[number], topic.stable[number])) if led else None,
                "asked_at": at + _COMMITS_READ if led else None,
                "read_at": at + _ENDS_READ if led else None,
                "retention_ms": topic.retention_ms,
                "retention_bytes": -1,
                "cleanup_policy": "delete",
            }


def _list_commits(groups: Sequence[Group], at: int) -> Iterator[Mapping[str, Any]]:
    for group in groups:
        waiting = group.state in contract.REBALANCING_STATES
        for number, owner in enumerate(group.owners()):
            member = None if waiting else owner
            yield {
                "consumer_group": group.name,
                "topic": group.topic.name,
                "topic_id": f"{group.topic.name}-{group.topic.generation}",
                "partition_id": number,
                "read_at": at + _COMMITS_READ,
                "unread_reason": None,
                "member_id": member,
                "client_id": member,
                "client_host": member and f"/{member}",
                "committed_offset": int(group.committed[number]),
                "commit_epoch": group.commit_epoch,
            }


def _list_groups(groups: Sequence[Group], at: int) -> Iterator[Mapping[str, Any]]:
    for group in groups:
        members = f"{group.generation} {sorted(group.speed)}"
        yield {
            "consumer_group": group.name,
            "read_at": at + _COMMITS_READ,
            "unread_reason": None,
            "group_state": group.state if group.speed else "Empty",
            "group_type": "classic" if group.epoch is None else "consumer",
            "protocol": "consumer",
            "members": len(group.speed),
            "members_hash": crc32(members.encode()) if group.epoch is None else None,
            "group_epoch": group.epoch,
        }


def _frame(dataset: str, rows: Sequence[Mapping[str, Any]]) -> Frame:
    columns: dict[str, AnyColumn] = {}
    for name, kind in contract.COLUMNS[dataset].items():
        if not rows or name not in rows[0]:
            continue
        cells = [row[name] for row in rows]
        if kind == contract.STRING or kind in contract.LISTS:
            columns[name] = Strings.of(cells)
        else:
            columns[name] = Column.optional(cells, DTYPES[kind])
    return Frame.of(columns)
