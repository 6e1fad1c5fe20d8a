# SPDX-License-Identifier: Apache-2.0
"""A look at the described cluster at one second, as the broker adapter would give it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dev.days.cluster import Consumers, Mask, Numbers
from dev.days.describe import HOUR, Absent, Events, Hidden, Rebalance, Rows, Unread
from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import AnyColumn, Frame
from kafka_lag.lag.model import ClusterReading


class UnreadReasons:
    """The reasons, where there is one, at a second of the day."""

    def __init__(self, consumers: Consumers, events: Events) -> None:
        self._consumers, self._events = consumers, events

    def of_groups(self, second: float) -> list[str | None]:
        """The reason why a group cannot be read, by group."""
        whole = {
            event.group: event.reason
            for event in self._events.on(Unread, second)
            if event.group is not None and event.topic is None
        }
        return [whole.get(group.name) for group in self._consumers.day.groups]

    def of_commits(self, second: float) -> Strings:
        """The reason why a group's commit cannot be read, by row of the consumers."""
        reason = Strings.unknown(len(self._consumers))
        for event in self._events.on(Unread, second):
            if event.group is not None and event.topic is not None:
                rows = Rows(group=event.group, topic=event.topic, partitions=event.partitions)
                reason = reason.or_else(_reason(event.reason, self._consumers.fit(rows, second)))
        return reason

    def of_partitions(self, second: float) -> Strings:
        """The reason why a log's ends cannot be read, by row of the logs."""
        logs = self._consumers.logs
        reason = _reason(contract.NO_LEADER, self._consumers.leaders(second) < 0)
        for event in self._events.on(Unread, second):
            if event.group is None and event.topic is not None:
                hit = self.named({event.topic})
                if event.partitions is not None:
                    hit &= np.isin(logs.partition, event.partitions)
                reason = _reason(event.reason, hit).or_else(reason)
        return reason

    def hidden(self, second: float) -> dict[str, str]:
        """Topics that are not listed, with the reason."""
        return {event.topic: contract.DENIED for event in self._events.on(Hidden, second)}

    def named(self, topics: set[str]) -> Mask:
        """Rows of the logs whose topic has one of these names."""
        logs = self._consumers.logs
        return np.array([t.name in topics for t in self._consumers.day.topics] + [False])[
            logs.topic
        ]


def _reason(reason: str, rows: Mask) -> Strings:
    return Strings.constant(reason, len(rows)).only(rows)


# Milliseconds after its scheduled time at which a run has commits, asks for ends, has ends.
_COMMITS_MS, _ASKED_MS, _ENDS_MS = 150, 400, 450
# Big clusters' groups are not all answered at once.
_SPREAD_MS = 200
_REPLICAS = 3


class Reader:
    """Answers what a collector's source would; `midnight` in ms UTC."""

    def __init__(self, consumers: Consumers, events: Events, midnight: int) -> None:
        self._consumers, self._events, self._midnight = consumers, events, midnight
        self._day, self._logs = consumers.day, consumers.logs
        self._unread = UnreadReasons(consumers, events)
        self._brokers = sorted(self._day.racks)
        twice = self._brokers * 2
        copies = min(_REPLICAS, len(self._brokers))
        self._replicas = [tuple(twice[n : n + copies]) for n in range(len(self._brokers))]

    def read(self, second: float, commits: Numbers) -> ClusterReading:
        """The reading of the run at this second of the day; a commit of -1 is none."""
        hidden = self._unread.hidden(second)
        gone = (g.name for g in self._day.groups if g.exists.end * HOUR <= second)
        return ClusterReading(
            topic_partitions=self._topics(second, hidden),
            group_partitions=self._commits(second, commits, hidden),
            groups=self._groups(second),
            hidden_topics=hidden,
            gone_groups=frozenset(gone),
        )

    def _topics(self, second: float, hidden: dict[str, str]) -> Frame:
        logs, of, now = self._logs, self._logs.topic, self._ms(second)
        reason, leader = self._unread.of_partitions(second), self._consumers.leaders(second)
        read = ~reason.known
        at = np.where(leader >= 0, np.searchsorted(self._brokers, leader), -1)
        columns: dict[str, AnyColumn] = {
            "asked_at": Column(np.full(len(logs), now + _ASKED_MS), read),
            "read_at": Column(np.full(len(logs), now + _ENDS_MS), read),
            "unread_reason": reason,
            "partition_id": Column.of(logs.partition),
            "leader": Column(leader, leader >= 0),
            "leader_rack": _strings([self._day.racks[broker] for broker in self._brokers], at),
            "replicas": _strings(self._replicas, at),
            "in_sync_replicas": _strings(self._replicas, at),
            "start_offset": Column(logs.starts(second), read),
            "end_offset": Column(logs.ends(second), read),
        }
        frame = Frame.of({**columns, **self._named(of), **self._configured(of)})
        return _where(frame, logs.exist(second) & ~self._unread.named(set(hidden)))

    def _named(self, of: npt.NDArray[np.int32]) -> dict[str, AnyColumn]:
        topics = self._day.topics
        return {
            "topic": _strings([topic.name for topic in topics], of),
            "topic_id": _strings([topic.topic_id for topic in topics], of),
        }

    def _configured(self, of: npt.NDArray[np.int32]) -> dict[str, AnyColumn]:
        topics = self._day.topics
        known = np.array([topic.settings_known for topic in topics] + [False])[of]
        retention = [
            -1 if t.retention_seconds is None else t.retention_seconds * 1_000 for t in topics
        ]
        return {
            "retention_ms": Column(_numbers(retention)[of], known),
            "retention_bytes": Column(_numbers(t.retention_bytes for t in topics)[of], known),
            "cleanup_policy": _strings([topic.cleanup_policy for topic in topics], of).only(known),
            "timestamp_type": _strings([topic.timestamp_type for topic in topics], of).only(known),
        }

    def _commits(self, second: float, commits: Numbers, hidden: dict[str, str]) -> Frame:
        consumers, of = self._consumers, self._logs.topic[self._consumers.row]
        owner, members = consumers.owners(second), consumers.members
        reason = self._unread.of_commits(second)
        columns: dict[str, AnyColumn] = {
            "read_at": Column(self._answered_ms(second)[consumers.group], ~reason.known),
            "unread_reason": reason,
            "consumer_group": _strings([group.name for group in self._day.groups], consumers.group),
            "partition_id": Column.of(self._logs.partition[consumers.row]),
            "client_id": _strings([member.client_id for member in members], owner),
            "client_host": _strings([member.client_host for member in members], owner),
            "member_id": _strings([member.member_id for member in members], owner),
            "committed_offset": Column(commits, (commits >= 0) & ~reason.known),
        }
        reasons = self._unread.of_groups(second)
        mute = np.array([reason is not None for reason in reasons] + [False])[consumers.group]
        mute |= self._unread.named(set(hidden))[consumers.row]
        return _where(Frame.of({**columns, **self._named(of)}), consumers.exist(second) & ~mute)

    def _groups(self, second: float) -> Frame:
        groups, every = self._day.groups, np.arange(len(self._day.groups))
        reasons = self._unread.of_groups(second)
        read = np.array([reason is None for reason in reasons], bool)
        states = [self._state(group.name, second) for group in groups]
        staffed = zip(groups, states, strict=True)
        members = _numbers(0 if state == "Empty" else len(g.members) for g, state in staffed)[every]
        # Its members came one by one before the day began, and it was rebalanced for each.
        counted = np.array([group.group_type == "consumer" for group in groups], bool)
        frame = Frame.of(
            {
                "consumer_group": _strings([group.name for group in groups], every),
                "read_at": Column(self._answered_ms(second)[every], read),
                "unread_reason": _strings(reasons, every),
                "group_state": _strings(states, every).only(read),
                "group_type": _strings([group.group_type for group in groups], every).only(read),
                "protocol": _strings([group.protocol for group in groups], every).only(read),
                "members": Column(members.astype(np.int32), read),
                "group_epoch": Column(members, read & counted & (members > 0)),
                "members_hash": Column(members, read & ~counted),
            }
        )
        return _where(frame, np.array([g.exists.holds(second) for g in groups], bool))

    def _state(self, group: str, second: float) -> str:
        for event in self._events.on(Rebalance, second):
            if event.group == group:
                return event.state
        absent = any(event.group == group for event in self._events.on(Absent, second))
        return "Empty" if absent else "Stable"

    def _answered_ms(self, second: float) -> Numbers:
        spread = np.arange(len(self._day.groups) + 1, dtype=np.int64) * 37 % _SPREAD_MS
        return self._ms(second) + _COMMITS_MS + spread

    def _ms(self, second: float) -> int:
        return self._midnight + round(second * 1_000)


def _strings(values: Sequence[Hashable | None], codes: npt.NDArray[Any]) -> Strings:
    """The value at each code, unknown where that is None and at -1; equal values are one."""
    index: dict[Hashable, int] = {}
    table = [-1 if value is None else index.setdefault(value, len(index)) for value in values]
    places = np.array([*table, -1], np.int32)[codes]
    return Strings(Column(places, places >= 0), tuple(index))


def _numbers(values: Iterable[float]) -> Numbers:
    return np.array([*values, 0], np.int64)


def _where(frame: Frame, mask: Mask) -> Frame:
    return frame if mask.all() else frame.where(mask)
