# SPDX-License-Identifier: Apache-2.0
"""Committed offsets (OffsetFetch): many groups in one request, errors kept by group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from kafka.protocol.consumer import OffsetFetchRequest

from kafka_lag import contract
from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.coordinators import ConsumerGroup, by_coordinator, chunks
from kafka_lag.brokers.errors import (
    NOT_KNOWN_YET,
    Failure,
    UnansweredError,
    failure_of,
    failure_of_code,
    left_out,
    malformed,
)
from kafka_lag.brokers.topics import TopicTable
from kafka_lag.lag.columns import Rows

_GROUPS_PER_REQUEST = 100
# From version 10 on topics are named by id; names serve every broker.
_VERSION = 8

# What a partition without a commit is answered with.
_NO_COMMIT = -1

_UNLISTED_RETRIES = 2


@dataclass(slots=True)
class CommittedOffsets:
    """Commits as flat lists: the index of the group in `names`, the table's row, the offset.

    `failures` are of rows, by group index and row, that have no offset. `read_at` is the clock,
    ms, at which a group's answer came; `unread` groups have a failure instead. `unlisted`: by group
    the partitions that it was answered with, by topic and number, and that the metadata lacks.
    """

    names: tuple[str, ...]
    group: list[int] = field(default_factory=list)
    row: list[int] = field(default_factory=list)
    offset: list[int] = field(default_factory=list)
    failures: dict[tuple[int, int], Failure] = field(default_factory=dict)
    read_at: dict[str, int] = field(default_factory=dict)
    unread: dict[str, Failure] = field(default_factory=dict)
    unlisted: dict[str, frozenset[tuple[str, int]]] = field(default_factory=dict)

    def forget(self, failures: Mapping[str, Failure]) -> None:
        """Takes back the answers for these groups, which turned out not to be whole."""
        if not failures:
            return
        indexes = {index for index, name in enumerate(self.names) if name in failures}
        kept = [at for at, index in enumerate(self.group) if index not in indexes]
        for column in (self.group, self.row, self.offset):
            column[:] = [column[at] for at in kept]
        for key in [key for key in self.failures if key[0] in indexes]:
            del self.failures[key]
        for name, failure in failures.items():
            self.read_at.pop(name, None)
            self.unread[name] = failure

    def as_arrays(self) -> tuple[Rows, Rows, Rows]:
        """Group index, row and offset as int64 arrays of one length."""
        columns = (self.group, self.row, self.offset)
        group, row, offset = (np.array(column, np.int64) for column in columns)
        return group, row, offset


async def fetch_offsets(
    connections: Connections,
    groups: Iterable[ConsumerGroup],
    table: TopicTable,
    commits: CommittedOffsets,
    committed: Collection[str],
    clock: Callable[[], float],
) -> None:
    """Fetches the commits of these groups on topics of the table and adds them to `commits`.

    A group in `committed` that is answered without any commit counts as unread.
    """
    index = {name: i for i, name in enumerate(commits.names)}
    per_request = _GROUPS_PER_REQUEST if connections.version(OffsetFetchRequest) >= _VERSION else 1

    async def fetch(node: int, names: list[str]) -> None:
        try:
            answer = await connections.send(node, _request(names, per_request))
        except UnansweredError as error:
            commits.unread.update(dict.fromkeys(names, failure_of(error)))
            return
        read_at = int(clock() * 1000)
        if per_request > 1:
            answered = {group.group_id: group for group in answer.groups or ()}
        else:
            answered = {names[0]: answer}
        for name in names:
            if name in committed and name in answered and _is_empty(answered[name]):
                commits.unread[name] = NOT_KNOWN_YET
                del answered[name]
            elif name in answered:
                _add_group(commits, name, index[name], answered.pop(name), table, read_at)
            else:
                commits.unread[name] = left_out("OffsetFetch")
        for name in answered:
            connections.note_unexpected(node, f"answered OffsetFetch for group {name!r}, unasked")

    await connections.gather(
        fetch(node, [group.name for group in part])
        for node, coordinated in by_coordinator(groups).items()
        for part in chunks(coordinated, per_request)
    )


def _request(names: list[str], per_request: int) -> OffsetFetchRequest:
    if per_request == 1:
        return OffsetFetchRequest(group_id=names[0], topics=None, min_version=2, max_version=7)
    group = OffsetFetchRequest.OffsetFetchRequestGroup
    groups = [group(group_id=name, topics=None) for name in names]
    return OffsetFetchRequest(groups=groups, min_version=_VERSION, max_version=_VERSION)


def _is_empty(group: Any) -> bool:
    return not group.error_code and not group.topics


def _add_group(
    commits: CommittedOffsets, name: str, index: int, group: Any, table: TopicTable, read_at: int
) -> None:
    failure = failure_of_code(group.error_code)
    if failure is not None:
        commits.unread[name] = failure
        return
    rows: list[int] = []
    offsets: list[int] = []
    failures: dict[tuple[int, int], Failure] = {}
    unlisted: frozenset[tuple[str, int]] = frozenset()
    for topic in group.topics or ():
        parts = topic.partitions or ()
        code = table.index.get(topic.name)
        if code is None:
            if topic.name not in table.others:
                unlisted |= {(topic.name, part.partition_index) for part in parts}
            continue
        first, count = int(table.first[code]), int(table.count[code])
        known = [part for part in parts if 0 <= part.partition_index < count]
        if len(known) < len(parts):
            # A topic may have grown since, or a commit outlive one that had more partitions.
            numbers = (part.partition_index for part in parts)
            unlisted |= {(topic.name, n) for n in numbers if not 0 <= n < count}
        rows += [first + part.partition_index for part in known]
        offsets += [part.committed_offset for part in known]
        for part in known:
            if part.error_code and (failure := failure_of_code(part.error_code)):
                failures[index, first + part.partition_index] = failure
    if unlisted and unlisted != commits.unlisted.get(name):
        # Damaged bytes differ from answer to answer; what a deleted topic left behind does not.
        commits.unlisted[name] = unlisted
        commits.unread[name] = _unlisted_failure(min(unlisted)[0])
        return
    commits.unread.pop(name, None)
    commits.read_at[name] = read_at
    commits.failures.update(failures)
    _add_malformed(commits, index, rows, offsets)
    commits.row += rows
    commits.offset += offsets
    commits.group += [index] * len(rows)


def _unlisted_failure(topic: str) -> Failure:
    detail = f"answered with commits on {topic!r} that fit no topic of the metadata"
    return Failure(contract.ERROR, detail, _UNLISTED_RETRIES)


def _add_malformed(
    commits: CommittedOffsets, index: int, rows: list[int], offsets: list[int]
) -> None:
    """Adds failures for what no commit can be."""
    if len(set(rows)) != len(rows):
        twice = (row for row, times in Counter(rows).items() if times > 1)
        commits.failures.update(((index, row), malformed("answered twice")) for row in twice)
    if min(offsets, default=_NO_COMMIT) < _NO_COMMIT:
        commits.failures.update(
            ((index, row), malformed(f"answered offset {offset}"))
            for row, offset in zip(rows, offsets, strict=True)
            if offset < _NO_COMMIT
        )
