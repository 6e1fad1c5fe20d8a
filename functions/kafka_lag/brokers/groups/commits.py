# SPDX-License-Identifier: Apache-2.0
"""Committed offsets: many groups in one request to each coordinator, errors kept by group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from kafka.protocol.consumer import OffsetFetchRequest

from kafka_lag.brokers.failures import Failure, failure_of, failure_of_code, left_out, malformed
from kafka_lag.brokers.groups.census import Group, by_coordinator, chunks
from kafka_lag.brokers.topics.table import TopicTable
from kafka_lag.brokers.wire.connection import Wire
from kafka_lag.brokers.wire.refusals import UnansweredError
from kafka_lag.lag.columns import Rows

_GROUPS_PER_REQUEST = 100
# From version 10 on topics are named by id; names serve every broker.
_VERSION = 8

# What a partition without a commit is answered with.
_NO_COMMIT = -1


@dataclass(slots=True)
class Commits:
    """Commits as flat lists: the place of the group in `names`, the table's row, the offset.

    `refused` rows have a failure instead of an offset. `read_at` is the clock, ms, at which a
    group's answer came; `silent` groups have a failure instead.
    """

    names: tuple[str, ...]
    group: list[int] = field(default_factory=list)
    row: list[int] = field(default_factory=list)
    offset: list[int] = field(default_factory=list)
    refused: dict[tuple[int, int], Failure] = field(default_factory=dict)
    read_at: dict[str, int] = field(default_factory=dict)
    silent: dict[str, Failure] = field(default_factory=dict)


async def read_commits(
    wire: Wire,
    groups: Iterable[Group],
    table: TopicTable,
    commits: Commits,
    clock: Callable[[], float],
) -> None:
    """Asks for the commits of these groups on topics of the table and adds them."""
    place = {name: i for i, name in enumerate(commits.names)}
    many = _GROUPS_PER_REQUEST if wire.version(OffsetFetchRequest) >= _VERSION else 1

    async def ask(node: int, names: list[str]) -> None:
        try:
            answer = await wire.ask(node, _request(names, many))
        except UnansweredError as error:
            commits.silent.update(dict.fromkeys(names, failure_of(error)))
            return
        read_at = int(clock() * 1000)
        told = {g.group_id: g for g in answer.groups or ()} if many > 1 else {names[0]: answer}
        for name in names:
            if name in told:
                _take(commits, name, place[name], told.pop(name), table, read_at)
            else:
                commits.silent[name] = left_out("OffsetFetch")
        for name in told:
            wire.note_odd(node, f"answered OffsetFetch for group {name!r}, unasked")

    await wire.together(
        ask(node, [group.name for group in part])
        for node, mine in by_coordinator(groups).items()
        for part in chunks(mine, many)
    )


def _request(names: list[str], many: int) -> OffsetFetchRequest:
    if many == 1:
        return OffsetFetchRequest(group_id=names[0], topics=None, min_version=2, max_version=7)
    group = OffsetFetchRequest.OffsetFetchRequestGroup
    groups = [group(group_id=name, topics=None) for name in names]
    return OffsetFetchRequest(groups=groups, min_version=_VERSION, max_version=_VERSION)


def _take(
    commits: Commits, name: str, place: int, group: Any, table: TopicTable, read_at: int
) -> None:
    failure = failure_of_code(group.error_code)
    if failure is not None:
        commits.silent[name] = failure
        return
    commits.silent.pop(name, None)
    commits.read_at[name] = read_at
    rows: list[int] = []
    offsets: list[int] = []
    for topic in group.topics or ():
        code = table.index.get(topic.name)
        if code is None:
            continue
        first, count = int(table.first[code]), int(table.count[code])
        # A topic may have grown since, or a commit outlive one that had more partitions.
        known = [part for part in topic.partitions or () if 0 <= part.partition_index < count]
        rows += [first + part.partition_index for part in known]
        offsets += [part.committed_offset for part in known]
        for part in known:
            if part.error_code and (failure := failure_of_code(part.error_code)):
                commits.refused[place, first + part.partition_index] = failure
    _check(commits, place, rows, offsets)
    commits.row += rows
    commits.offset += offsets
    commits.group += [place] * len(rows)


def _check(commits: Commits, place: int, rows: list[int], offsets: list[int]) -> None:
    """Refuses what no commit can be."""
    if len(set(rows)) != len(rows):
        twice = (row for row, times in Counter(rows).items() if times > 1)
        commits.refused.update(((place, row), malformed("answered twice")) for row in twice)
    if min(offsets, default=_NO_COMMIT) < _NO_COMMIT:
        odd = ((row, offset) for row, offset in zip(rows, offsets, strict=True))
        commits.refused.update(
            ((place, row), malformed(f"answered offset {offset}"))
            for row, offset in odd
            if offset < _NO_COMMIT
        )


def as_arrays(commits: Commits) -> tuple[Rows, Rows, Rows]:
    """Group place, row and offset as int64 arrays of one length."""
    columns = (commits.group, commits.row, commits.offset)
    group, row, offset = (np.array(column, np.int64) for column in columns)
    return group, row, offset
