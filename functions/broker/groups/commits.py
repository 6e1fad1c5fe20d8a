# SPDX-License-Identifier: Apache-2.0
"""Committed offsets: many groups in one request to each coordinator, errors kept by group."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from kafka.protocol.consumer import OffsetFetchRequest

from functions import contract
from functions.broker.groups.census import Group, by_coordinator, chunks, seek
from functions.broker.topics.table import TopicTable
from functions.broker.wire.connection import Wire
from functions.broker.wire.refusals import UnansweredError, name_of_code, reason_of_code
from functions.lag.columns import Rows

_GROUPS_PER_REQUEST = 100
# From version 10 on topics are named by id; names serve every broker.
_VERSION = 8


@dataclass(slots=True)
class Commits:
    """Commits as flat lists: the place of the group in `names`, the table's row, the offset.

    `refused` rows have a reason instead of an offset. `read_at` is the clock, ms, at which a
    group's answer came; `silent` groups have a reason and a detail instead.
    """

    names: tuple[str, ...]
    group: list[int] = field(default_factory=list)
    row: list[int] = field(default_factory=list)
    offset: list[int] = field(default_factory=list)
    refused: dict[tuple[int, int], str] = field(default_factory=dict)
    read_at: dict[str, int] = field(default_factory=dict)
    silent: dict[str, tuple[str, str]] = field(default_factory=dict)


async def read_commits(
    wire: Wire,
    groups: Iterable[Group],
    table: TopicTable,
    clock: Callable[[], float] = time.time,
) -> Commits:
    """The commits of all groups on topics of the table.

    A group whose coordinator moved in the meantime is sought and asked once more.
    """
    wanted = list(groups)
    commits = Commits(tuple(group.name for group in wanted))
    await _read(wire, wanted, table, commits, clock)
    again = await _moved(wire, {group.name: group for group in wanted}, commits)
    await _read(wire, again, table, commits, clock)
    return commits


async def _moved(wire: Wire, groups: dict[str, Group], commits: Commits) -> list[Group]:
    """Silent groups that another broker may answer for by now."""
    silent = {name: why for name, (why, _) in commits.silent.items() if why != contract.DENIED}
    found = await seek(wire, silent)
    return [
        group
        for name, group in found.items()
        if group.coordinator is not None
        and (
            group.coordinator != groups[name].coordinator or silent[name] == contract.NO_COORDINATOR
        )
    ]


async def _read(
    wire: Wire,
    groups: list[Group],
    table: TopicTable,
    commits: Commits,
    clock: Callable[[], float],
) -> None:
    place = {name: i for i, name in enumerate(commits.names)}
    many = _GROUPS_PER_REQUEST if wire.version(OffsetFetchRequest) >= _VERSION else 1

    async def ask(node: int, names: list[str]) -> None:
        try:
            answer = await wire.ask(node, _request(names, many))
        except UnansweredError as error:
            commits.silent.update(dict.fromkeys(names, (error.reason, error.detail)))
            return
        read_at = int(clock() * 1000)
        for group in answer.groups if many > 1 else [answer]:
            name = group.group_id if many > 1 else names[0]
            _take(commits, name, place[name], group, table, read_at)

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
    reason = reason_of_code(group.error_code)
    if reason is not None:
        commits.silent[name] = (reason, name_of_code(group.error_code))
        return
    commits.silent.pop(name, None)
    commits.read_at[name] = read_at
    before = len(commits.row)
    for topic in group.topics:
        code = table.index.get(topic.name)
        if code is None:
            continue
        first, count = int(table.first[code]), int(table.count[code])
        known = [part for part in topic.partitions if 0 <= part.partition_index < count]
        commits.row += [first + part.partition_index for part in known]
        commits.offset += [part.committed_offset for part in known]
        for part in known:
            if part.error_code:
                why = reason_of_code(part.error_code) or contract.ERROR
                commits.refused[place, first + part.partition_index] = why
    commits.group += [place] * (len(commits.row) - before)


def as_arrays(commits: Commits) -> tuple[Rows, Rows, Rows]:
    """Group place, row and offset as int64 arrays of one length."""
    columns = (commits.group, commits.row, commits.offset)
    group, row, offset = (np.array(column, np.int64) for column in columns)
    return group, row, offset
