# SPDX-License-Identifier: Apache-2.0
"""Commits and assignments of groups as rows of the snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from kafka_lag.brokers.coordinators import ConsumerGroup
from kafka_lag.brokers.group_members import GroupDescription, GroupMember
from kafka_lag.brokers.group_offsets import CommittedOffsets
from kafka_lag.brokers.topics import TopicTable
from kafka_lag.lag.columns import Column, Rows, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.sets import unique


def group_rows(
    groups: Iterable[ConsumerGroup],
    commits: CommittedOffsets,
    descriptions: Mapping[str, GroupDescription],
) -> Frame:
    """Returns a row for each group; a group whose commits were not read has an unread_reason.

    `members` is unknown if the group could not be described. `group_epoch` is also unknown for a
    classic group, and for one listed as empty, which is therefore not described.
    """
    known = list(groups)
    described = [descriptions.get(group.name, GroupDescription()) for group in known]
    members = [None if d.members is None else len(d.members) for d in described]
    both = list(zip(known, described, strict=True))
    return Frame.of(
        {
            "consumer_group": Strings.of(group.name for group in known),
            "read_at": Column.optional([commits.read_at.get(group.name) for group in known]),
            "unread_reason": Strings.of(
                failure and failure.reason
                for failure in (g.failure or commits.unread.get(g.name) for g in known)
            ),
            "group_state": Strings.of(d.state or g.state for g, d in both),
            "group_type": Strings.of(group.kind for group in known),
            "protocol": Strings.of(g.protocol or d.protocol for g, d in both),
            "members": Column.optional(members, np.int32),
            "group_epoch": Column.optional([d.epoch for d in described]),
            "members_hash": Column.optional([d.members_hash for d in described]),
        }
    )


def group_partition_rows(
    table: TopicTable,
    commits: CommittedOffsets,
    descriptions: Mapping[str, GroupDescription],
    end: Column,
) -> Frame:
    """Returns a row for every partition of each topic that a group commits on or is assigned to.

    `end` are the log ends of the table's partitions. `lag` is known only for share groups, if their
    coordinator says it, and where records after the commit are finished.
    """
    group, row, offset, epoch, broker_lag, finished = commits.as_arrays()
    left = end.take(row) - offset - finished
    # The commit's own record is unfinished; else the map is about other records.
    left = left.only((finished > 0) & (left > 0))
    owner_group, owner_row, owner, members = _assignments(table, commits, descriptions)
    cells = _Cells(table, np.concatenate([group, owner_group]), np.concatenate([row, owner_row]))
    committed = Column.unknown(len(cells.row)).writable()
    at = cells.at(group, row)
    committed.values[at], committed.known[at] = offset, offset >= 0
    epochs = Column.unknown(len(cells.row), np.int32).writable()
    epochs.values[at], epochs.known[at] = epoch, (offset >= 0) & (epoch >= 0)
    lag = Column.unknown(len(cells.row)).writable()
    lag.values[at] = left.fill(broker_lag)
    lag.known[at] = (offset >= 0) & (left.known | (broker_lag >= 0))
    owned_by = np.full(len(cells.row), -1, np.int64)
    owned_by[cells.at(owner_group, owner_row)] = owner
    reasons: list[str | None] = [None] * len(cells.row)
    for (group_index, partition_row), failure in commits.failures.items():
        failed = int(cells.at(np.array([group_index]), np.array([partition_row]))[0])
        reasons[failed], committed.known[failed] = failure.reason, False
        lag.known[failed] = False
    read_at = Column.optional([commits.read_at.get(name) for name in commits.names])
    return Frame.of(
        {
            "read_at": read_at.take(cells.group),
            "unread_reason": Strings.of(reasons),
            "consumer_group": Strings(Column.of(cells.group.astype(np.int32)), commits.names),
            "topic": table.frame.strings("topic").take(cells.row),
            "topic_id": table.frame.strings("topic_id").take(cells.row),
            "partition_id": table.frame.numbers("partition_id").take(cells.row),
            "client_id": Strings.of(m.client_id for m in members).take(owned_by),
            "client_host": Strings.of(m.client_host for m in members).take(owned_by),
            "member_id": Strings.of(m.member_id for m in members).take(owned_by),
            "committed_offset": committed,
            "commit_epoch": epochs,
            "lag": lag,
        }
    )


class _Cells:
    """Pairs of group and partition, for whole topics, and their positions in the result."""

    def __init__(self, table: TopicTable, group: Rows, row: Rows) -> None:
        topic = table.frame.strings("topic").codes.values.astype(np.int64)
        self._topics = max(len(table.names), 1)
        self._table, self._topic = table, topic
        self._pairs = unique(group * self._topics + topic[row])
        pair_group, pair_topic = np.divmod(self._pairs, self._topics)
        size = table.count[pair_topic]
        self._begin = np.cumsum(size) - size
        self.group: Rows = np.repeat(pair_group, size)
        within = np.arange(int(size.sum())) - np.repeat(self._begin, size)
        self.row: Rows = np.repeat(table.first[pair_topic], size) + within

    def at(self, group: Rows, row: Rows) -> Rows:
        """Returns the positions of pairs that these cells were made with."""
        topic = self._topic[row]
        pair = np.searchsorted(self._pairs, group * self._topics + topic)
        position: Rows = self._begin[pair] + row - self._table.first[topic]
        return position


def _assignments(
    table: TopicTable, commits: CommittedOffsets, descriptions: Mapping[str, GroupDescription]
) -> tuple[Rows, Rows, Rows, list[GroupMember]]:
    groups: list[int] = []
    rows: list[int] = []
    owners: list[int] = []
    members: list[GroupMember] = []
    for index, name in enumerate(commits.names):
        described = descriptions.get(name, GroupDescription())
        for member in described.members or () if name in commits.read_at else ():
            owned = _owned_rows(table, member)
            groups += [index] * len(owned)
            owners += [len(members)] * len(owned)
            rows += owned
            members.append(member)
    return np.array(groups, np.int64), np.array(rows, np.int64), np.array(owners, np.int64), members


def _owned_rows(table: TopicTable, member: GroupMember) -> list[int]:
    rows: list[int] = []
    for topic, partitions in member.assignment:
        code = table.index.get(topic)
        if code is not None:
            first, count = int(table.first[code]), int(table.count[code])
            # The group's own client wrote these numbers, so they may be anything.
            rows += [first + partition for partition in partitions if 0 <= partition < count]
    return rows
