# SPDX-License-Identifier: Apache-2.0
"""The brokers' answers about a simulated cluster, as the broker adapter reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import AnyColumn, Frame
from kafka_lag.lag.model import ClusterReading

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool_]

FIRST = 1_769_904_000_000  # 2026-02-01T00:00:00Z
MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Layout:
    """The rows that all readings of a cluster have, in their order.

    A partition has its topic's place in `topics` and a number. A row of a group has its group's
    place in `groups` and the place of its partition. A run reads commits and log ends so many ms
    after it began.
    """

    topics: tuple[str, ...]
    topic: Ints
    number: Ints
    groups: tuple[str, ...]
    group: Ints
    partition: Ints
    commits_read: int = 0
    ends_read: int = 0

    @classmethod
    def of(
        cls,
        topics: Mapping[str, int],
        groups: Mapping[str, str | Sequence[str]],
        read: tuple[int, int] = (0, 0),
    ) -> Layout:
        """Returns the layout of topics (number of partitions) and groups that read some of them."""
        sizes = list(topics.values())
        first = dict(zip(topics, np.cumsum([0, *sizes]).tolist(), strict=False))
        rows = [
            [
                first[topic] + number
                for topic in ((names,) if isinstance(names, str) else names)
                for number in range(topics[topic])
            ]
            for names in groups.values()
        ]
        return cls(
            tuple(topics),
            np.repeat(np.arange(len(sizes)), sizes),
            np.concatenate([np.arange(size) for size in sizes]),
            tuple(groups),
            np.repeat(np.arange(len(groups)), [len(each) for each in rows]),
            np.array([row for each in rows for row in each], np.int64),
            *read,
        )


@dataclass(frozen=True, slots=True)
class Sight:
    """The state of a cluster in one moment, in the order of a `Layout`.

    Each partition has `end`, `start` (None: 0), `stable` (up to where committed records can be
    read), `leader` (-1: none), `replicas`, `in_sync`. Each row of a group has `committed`, `owner`
    (place in `members`, -1: none), `commit_epoch`. Each group has `counts` of members, `states`,
    `epochs` (unknown: classic protocol), `hashes` of the membership. Each topic has `ids`,
    `retention_ms`. All are `compacted`, or none. If a field is None, the brokers report nothing
    about it. Groups that are `shared` are share groups, whose rows have the brokers' `lag`.

    `unread`, `commits_unread` and `groups_unread` are the reasons why partitions, rows of groups
    and groups are not answered. Rows `without_commit` do not exist; `there` and `alive` say which
    partitions and groups do. Topics may be `hidden`; the brokers know that groups are `gone`.
    """

    end: Ints
    committed: Ints
    owner: Ints
    members: tuple[str, ...]
    counts: Ints
    states: Strings | None = None
    start: Ints | None = None
    stable: Column | None = None
    leader: Ints | None = None
    replicas: Sequence[tuple[int, ...]] | None = None
    in_sync: Sequence[tuple[int, ...]] | None = None
    ids: tuple[str, ...] | None = None
    retention_ms: Ints | None = None
    commit_epoch: Column | None = None
    epochs: Column | None = None
    hashes: Column | None = None
    compacted: bool = False
    unread: Strings | None = None
    commits_unread: Strings | None = None
    groups_unread: Strings | None = None
    without_commit: Mask | None = None
    there: Mask | None = None
    alive: Mask | None = None
    hidden: Mapping[str, str] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    shared: Mask | None = None
    lag: Column | None = None


def read_sight(layout: Layout, sight: Sight, at: int) -> ClusterReading:
    """Returns the answers to the run of `at`, in ms."""
    hidden = np.array([name in sight.hidden for name in layout.topics], bool)[layout.topic]
    there = ~hidden if sight.there is None else sight.there & ~hidden
    alive = np.ones(len(layout.groups), bool) if sight.alive is None else sight.alive
    answered = alive if sight.groups_unread is None else alive & ~sight.groups_unread.known
    rows = there[layout.partition] & answered[layout.group]
    if sight.without_commit is not None:
        rows &= ~sight.without_commit
    return ClusterReading(
        _where(Frame.of(_list_partitions(layout, sight, at)), there),
        _where(Frame.of(_list_commits(layout, sight, at)), rows),
        _where(Frame.of(_list_groups(layout, sight, at)), alive),
        hidden_topics=sight.hidden,
        gone_groups=sight.gone,
    )


def _where(frame: Frame, mask: Mask) -> Frame:
    return frame if mask.all() else frame.where(mask)


def _list_partitions(layout: Layout, sight: Sight, at: int) -> dict[str, AnyColumn]:
    count = len(layout.number)
    topic = layout.topic.astype(np.int32)
    leader = layout.number % 3 + 1 if sight.leader is None else sight.leader
    led = leader >= 0
    reason = Strings.constant(contract.NO_LEADER, count).only(~led)
    if sight.unread is not None:
        reason = sight.unread.or_else(reason)
    read = ~reason.known
    start = np.zeros(count, np.int64) if sight.start is None else sight.start
    columns: dict[str, AnyColumn] = {
        "topic": Strings(Column.of(topic), layout.topics),
        "topic_id": Strings(Column.of(topic), sight.ids or layout.topics),
        "partition_id": Column.of(layout.number.astype(np.int32)),
        "unread_reason": reason,
        "leader": Column.of(leader.astype(np.int32), led),
        "start_offset": Column.of(start, read),
        "end_offset": Column.of(sight.end, read),
        "asked_at": Column.of(np.full(count, at + layout.commits_read), read),
        "read_at": Column.of(np.full(count, at + layout.ends_read), read),
    }
    if sight.stable is not None:
        columns["stable_offset"] = Column.of(sight.stable.values, sight.stable.known & read)
    if sight.replicas is not None and sight.in_sync is not None:
        columns["replicas"] = Strings.of(sight.replicas)
        columns["in_sync_replicas"] = Strings.of(sight.in_sync)
    if sight.retention_ms is not None:
        columns["retention_ms"] = Column.of(sight.retention_ms[layout.topic])
        columns["retention_bytes"] = Column.constant(-1, count)
        policy = "compact" if sight.compacted else "delete"
        columns["cleanup_policy"] = Strings.constant(policy, count)
    return columns


def _list_commits(layout: Layout, sight: Sight, at: int) -> dict[str, AnyColumn]:
    count, topic = len(layout.group), layout.topic[layout.partition].astype(np.int32)
    owner = Column.of(sight.owner.astype(np.int32), sight.owner >= 0)
    member = Strings(owner, sight.members)
    reason = Strings.unknown(count) if sight.commits_unread is None else sight.commits_unread
    read = ~reason.known
    columns: dict[str, AnyColumn] = {
        "consumer_group": Strings(Column.of(layout.group.astype(np.int32)), layout.groups),
        "topic": Strings(Column.of(topic), layout.topics),
        "topic_id": Strings(Column.of(topic), sight.ids or layout.topics),
        "partition_id": Column.of(layout.number[layout.partition].astype(np.int32)),
        "read_at": Column.of(np.full(count, at + layout.commits_read), read),
        "unread_reason": reason,
        "member_id": member,
        "client_id": member,
        "client_host": Strings(owner, tuple(f"/{name}" for name in sight.members)),
        "committed_offset": Column.of(sight.committed, read),
    }
    if sight.commit_epoch is not None:
        columns["commit_epoch"] = sight.commit_epoch
    if sight.lag is not None:
        columns["lag"] = sight.lag.only(read)
    return columns


def _list_groups(layout: Layout, sight: Sight, at: int) -> dict[str, AnyColumn]:
    count = len(layout.groups)
    classic = np.ones(count, bool) if sight.epochs is None else ~sight.epochs.known
    reason = Strings.unknown(count) if sight.groups_unread is None else sight.groups_unread
    read = ~reason.known
    kind = np.where(classic, 0, 1) if sight.shared is None else np.where(sight.shared, 2, 0)
    kinds = Column.of(kind.astype(np.int32), read)
    states = sight.states or Strings.constant("Stable", count)
    columns: dict[str, AnyColumn] = {
        "consumer_group": Strings(Column.of(np.arange(count, dtype=np.int32)), layout.groups),
        "read_at": Column.of(np.full(count, at + layout.commits_read), read),
        "unread_reason": reason,
        "group_state": states.only(read),
        "group_type": Strings(kinds, ("classic", "consumer", contract.SHARE)),
        "protocol": Strings.constant("consumer", count).only(read),
        "members": Column.of(sight.counts.astype(np.int32), read),
    }
    if sight.epochs is not None:
        columns["group_epoch"] = sight.epochs.only(read)
    if sight.hashes is not None:
        columns["members_hash"] = sight.hashes.only(read)
    return columns
