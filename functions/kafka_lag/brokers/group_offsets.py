# SPDX-License-Identifier: Apache-2.0
"""Committed offsets: many groups in one request, errors kept by group.

A share group (KIP-932) commits no offsets. Its coordinator knows for each partition the start
offset, below which the group has finished every record, and since Kafka 4.2 how many records are
left (KIP-1226), because members finish records above the start offset in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from kafka.protocol.api_message import ApiMessage

from kafka_lag import contract
from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.coordinators import ConsumerGroup, by_coordinator, chunks
from kafka_lag.brokers.errors import (
    NOT_KNOWN_YET,
    Failure,
    UnansweredError,
    failure_of,
    failure_of_code,
    malformed_failure,
    missing_failure,
)
from kafka_lag.brokers.offset_codec import FetchedOffsets, OffsetFetchRequest
from kafka_lag.brokers.topics import TopicTable
from kafka_lag.lag.columns import Mask, Rows

_SCHEMAS = "kafka_lag.brokers.schemas"


class DescribeShareGroupOffsetsRequest(ApiMessage, load_json=_SCHEMAS):  # type: ignore[call-arg,misc]
    """Requests the start offsets of share groups, and since version 1 their lag."""


class DescribeShareGroupOffsetsResponse(ApiMessage, load_json=_SCHEMAS):  # type: ignore[call-arg,misc]
    """The answer: one entry a group, each with its own error code."""


_GROUPS_PER_REQUEST = 100
# Several groups a request, since Kafka 3.0. Version 10 names topics by id; names work everywhere.
_VERSION = 8
# Since this version an answer about share groups has their lag. A start offset alone would count
# finished records as unread.
_VERSION_WITH_LAG = 1

# The answer for a partition without a commit. Clients can commit any other number, too. Brokers
# store it, but nobody can read from a negative offset.
NO_COMMIT = -1

_UNLISTED_RETRIES = 2


def _no_commits() -> Rows:
    return np.zeros((6, 0), np.int64)


@dataclass(slots=True)
class CommittedOffsets:
    """Commits as columns: index of the group in `names`, row of the table, offset, epoch, lag, and
    records that are finished after the commit.

    A client writes the leader epoch with its commit; -1 if it wrote none. A negative offset means
    that there is no commit. The offset of a share group is its start offset. Its lag is the
    broker's, -1 if the broker does not know it; the lag of other groups is -1. `failures` are of
    rows without an offset, by group index and row. `read_at` is the clock in ms at which a group's
    answer came; `unread` groups have a failure instead. `unlisted` are, by group, partitions
    (topic, number) in its answer that the metadata lacks.
    """

    names: tuple[str, ...]
    _columns: list[Rows] = field(default_factory=lambda: [_no_commits()])
    failures: dict[tuple[int, int], Failure] = field(default_factory=dict)
    read_at: dict[str, int] = field(default_factory=dict)
    unread: dict[str, Failure] = field(default_factory=dict)
    unlisted: dict[str, frozenset[tuple[str, int]]] = field(default_factory=dict)

    def forget(self, failures: Mapping[str, Failure]) -> None:
        """Removes the answers for these groups, because they turned out to be incomplete."""
        if not failures:
            return
        indexes = {index for index, name in enumerate(self.names) if name in failures}
        columns = self._joined()
        self._columns = [columns[:, ~np.isin(columns[0], list(indexes))]]
        for key in [key for key in self.failures if key[0] in indexes]:
            del self.failures[key]
        for name, failure in failures.items():
            self.read_at.pop(name, None)
            self.unread[name] = failure

    def add(self, *columns: Rows) -> None:
        """Adds commits, by column, of groups that have none yet."""
        self._columns.append(np.stack(columns))

    def as_arrays(self) -> tuple[Rows, Rows, Rows, Rows, Rows, Rows]:
        """Returns the columns as int64 arrays of one length."""
        group, row, offset, epoch, lag, finished = self._joined()
        return group, row, offset, epoch, lag, finished

    def _joined(self) -> Rows:
        if len(self._columns) > 1:
            self._columns = [np.concatenate(self._columns, axis=1)]
        return self._columns[0]


async def fetch_offsets(
    connections: Connections,
    groups: Iterable[ConsumerGroup],
    table: TopicTable,
    commits: CommittedOffsets,
    committed: Collection[str],
    clock: Callable[[], float],
) -> None:
    """Fetches the commits of these groups on topics of the table and adds them to `commits`.

    Share groups stay without an answer if the brokers do not know their lag.
    A group in `committed` counts as unread if its answer has no commit.
    """
    index = {name: i for i, name in enumerate(commits.names)}

    async def fetch(node: int, part: list[ConsumerGroup]) -> None:
        names, is_shared = [group.name for group in part], part[0].is_shared
        try:
            if is_shared:
                shared = await connections.send(node, _request_shared(names))
                answer = FetchedOffsets.of_share_groups(shared)
            else:
                answer = await connections.send(node, _request(names))
        except UnansweredError as error:
            commits.unread.update(dict.fromkeys(names, failure_of(error)))
            return
        read_at = int(clock() * 1000)
        for name in _add_answer(commits, names, index, answer, table, committed, read_at):
            connections.note_unexpected(
                node, f"answered OffsetFetch for group {name!r}, not requested"
            )

    def divide(coordinated: list[ConsumerGroup]) -> Iterator[list[ConsumerGroup]]:
        others = [group for group in coordinated if not group.is_shared]
        yield from chunks(others, _GROUPS_PER_REQUEST)
        if connections.version(DescribeShareGroupOffsetsRequest) >= _VERSION_WITH_LAG:
            shared = [group for group in coordinated if group.is_shared]
            yield from chunks(shared, _GROUPS_PER_REQUEST)

    await connections.gather(
        fetch(node, part)
        for node, coordinated in by_coordinator(groups).items()
        for part in divide(coordinated)
    )


def _request(names: list[str]) -> OffsetFetchRequest:
    group = OffsetFetchRequest.OffsetFetchRequestGroup
    groups = [group(group_id=name, topics=None) for name in names]
    return OffsetFetchRequest(groups=groups, min_version=_VERSION, max_version=_VERSION)


def _request_shared(names: list[str]) -> DescribeShareGroupOffsetsRequest:
    group = DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestGroup
    return DescribeShareGroupOffsetsRequest(
        groups=[group(group_id=name, topics=None) for name in names]
    )


def _add_answer(
    commits: CommittedOffsets,
    names: list[str],
    index: Mapping[str, int],
    answer: FetchedOffsets,
    table: TopicTable,
    committed: Collection[str],
    read_at: int,
) -> list[str]:
    """Adds an answer about the groups `names`; returns the other groups in it."""
    at = {name: i for i, name in enumerate(answer.groups)}
    topics = _Topics(answer, table)
    whole: list[tuple[int, int]] = []
    for name in names:
        position = at.pop(name, None)
        if position is None:
            commits.unread[name] = missing_failure("OffsetFetch")
        elif failure := failure_of_code(answer.errors[position]):
            commits.unread[name] = failure
        elif name in committed and not answer.topics[position]:
            commits.unread[name] = NOT_KNOWN_YET
        elif (unlisted := topics.unlisted(position)) and unlisted != commits.unlisted.get(name):
            # Damaged bytes differ from answer to answer; commits on a deleted topic do not.
            commits.unlisted[name] = unlisted
            commits.unread[name] = _unlisted_failure(min(unlisted)[0])
        else:
            commits.unread.pop(name, None)
            commits.read_at[name] = read_at
            whole.append((position, index[name]))
    _add_commits(commits, topics, whole)
    return list(at)


class _Topics:
    """The partitions of an answer as rows of the table; `group` is the position in the answer.

    `listed` marks partitions that the table has. It lacks partitions of a topic that has grown
    since, and of an earlier topic of the same name that had more partitions.
    """

    def __init__(self, answer: FetchedOffsets, table: TopicTable) -> None:
        partitions = answer.partitions
        self.groups = len(answer.groups)
        codes = [table.index.get(topic, -1) for topic in partitions.topics]
        code = partitions.by_partition(codes)
        number = partitions.partition_id
        self.listed: Mask = (code >= 0) & (number >= 0) & (number < _take(table.count, code))
        self.row: Rows = _take(table.first, code) + number
        self.group: Rows = partitions.by_partition(
            np.repeat(np.arange(len(answer.groups)), answer.topics)
        )
        self.offset, self.error = partitions.offset, partitions.error
        self.epoch, self.lag = partitions.commit_epoch, partitions.lag
        self.finished = partitions.finished
        self._unlisted = self._find_unlisted(answer, table)

    def unlisted(self, group: int) -> frozenset[tuple[str, int]]:
        """Returns topics and numbers of this group's partitions that the metadata lacks."""
        return frozenset(self._unlisted.get(group, ()))

    def _find_unlisted(
        self, answer: FetchedOffsets, table: TopicTable
    ) -> dict[int, set[tuple[str, int]]]:
        partitions = answer.partitions
        found: dict[int, set[tuple[str, int]]] = {}
        odd = np.flatnonzero(~self.listed)
        topics = partitions.by_partition(range(len(partitions.topics)))
        columns = (self.group[odd], topics[odd], partitions.partition_id[odd])
        for group, topic, number in zip(*(c.tolist() for c in columns), strict=True):
            name = partitions.topics[topic]
            if name not in table.others:
                found.setdefault(group, set()).add((name, number))
        return found


def _add_commits(commits: CommittedOffsets, topics: _Topics, groups: list[tuple[int, int]]) -> None:
    """Adds the commits of these groups, given as pairs of position in the answer and index.

    A broker's error and a partition that is answered twice become failures.
    """
    # Rows follow the order in which the groups were requested.
    rank = np.full(topics.groups, -1, np.int64)
    rank[[position for position, _ in groups]] = np.arange(len(groups))
    index = np.array([each for _, each in groups], np.int64)
    taken = topics.listed & (rank[topics.group] >= 0)
    order, row = rank[topics.group[taken]], topics.row[taken]
    offset, error = topics.offset[taken], topics.error[taken]
    failures = [
        *((at, 0, failure_of_code(int(error[at]))) for at in np.flatnonzero(error).tolist()),
        *((at, 1, malformed_failure("answered twice")) for at in _find_repeated(order, row)),
    ]
    for at, _, failure in sorted(failures, key=lambda each: (order[each[0]], each[1], each[0])):
        if failure is not None:
            commits.failures[int(index[order[at]]), int(row[at])] = failure
    of_commit = (topics.epoch, topics.lag, topics.finished)
    commits.add(index[order], row, offset, *(column[taken] for column in of_commit))


def _find_repeated(group: Rows, row: Rows) -> list[int]:
    """Returns the first places of pairs that occur more than once."""
    cell = group * (int(row.max(initial=0)) + 1) + row
    ordered = np.sort(cell)
    if not (ordered[1:] == ordered[:-1]).any():
        return []
    _, first, times = np.unique(cell, return_index=True, return_counts=True)
    found: list[int] = first[times > 1].tolist()
    return found


def _unlisted_failure(topic: str) -> Failure:
    detail = f"answered with commits on {topic!r} that fit no topic of the metadata"
    return Failure(contract.ERROR, detail, _UNLISTED_RETRIES)


def _take(values: Rows, at: Rows) -> Rows:
    """Returns the values at these places, 0 if a place is negative."""
    taken: Rows = np.where(at >= 0, np.append(values, 0)[at], 0)
    return taken
