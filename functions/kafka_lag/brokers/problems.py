# SPDX-License-Identifier: Apache-2.0
"""Describes the brokers, topics, groups and partitions that a reading could not read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from kafka_lag import contract
from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.coordinators import ConsumerGroup
from kafka_lag.brokers.errors import Failure, UnansweredError
from kafka_lag.brokers.group_members import GroupDescription
from kafka_lag.brokers.group_offsets import NO_COMMIT, CommittedOffsets
from kafka_lag.brokers.topics import TopicTable
from kafka_lag.lag.model import Problem
from kafka_lag.wording.formatting import format_list, format_quantity

_REPLICAS_NAMED = 5


def name_brokers(connections: Connections, unlisted: Iterable[Problem]) -> Iterator[Problem]:
    """Yields a problem for each broker that could not be read well.

    The broker did not respond, could not list its groups, or answered about something that was
    not requested.
    """
    brokers = {
        str(node): name_broker(connections, node, contract.ERROR, detail)
        for node, detail in connections.unexpected_answers().items()
    }
    brokers |= {problem.name: problem for problem in unlisted}
    for node, why in connections.down().items():
        brokers[str(node)] = name_broker(connections, node, why.reason, without_name(node, why))
    yield from brokers.values()


def name_broker(
    connections: Connections, node: int, reason: contract.UnreadReason, detail: str
) -> Problem:
    """Returns the problem of one broker."""
    return Problem("broker", str(node), reason, detail, str(node), connections.address_of(node))


def find_absent(
    connections: Connections, table: TopicTable, failures: Mapping[int, Failure]
) -> dict[int, int]:
    """Returns, by row of a partition without a leader, the absent broker that would lead it.

    A partition is left out if none of its brokers is absent.
    """
    listed = set(connections.nodes)
    absent: dict[int, int] = {}
    for row, failure in failures.items():
        if failure.reason == contract.NO_LEADER:
            wanted = (*_nodes(table, row, "in_sync_replicas"), *_nodes(table, row, "replicas"))
            away = [node for node in wanted if node not in listed]
            if away:
                absent[row] = away[0]
    return absent


def name_topics(
    settings: Mapping[str, Failure], hidden: Mapping[str, Failure], gone: Collection[str]
) -> Iterator[Problem]:
    """Yields the problems of topics whose settings or partitions were not read.

    Settings get one problem for each cause, because a missing right concerns all topics. A topic
    that was not read at all gets its own.
    """
    causes: dict[Failure, list[str]] = defaultdict(list)
    for topic, failure in sorted(settings.items(), key=lambda item: item[0]):
        if topic not in hidden and topic not in gone:
            causes[failure].append(topic)
    for failure, (first, *others) in causes.items():
        more = f", nor those of {len(others):,} more topics" if others else ""
        detail = f"settings not read (DescribeConfigs): {failure.detail}{more}"
        yield Problem("topic", first, failure.reason, detail)
    for topic, failure in hidden.items():
        yield Problem("topic", topic, failure.reason, failure.detail)


def name_groups(
    connections: Connections,
    groups: list[ConsumerGroup],
    commits: CommittedOffsets,
    descriptions: Mapping[str, GroupDescription],
) -> Iterator[Problem]:
    """Yields a problem for each group that was not read or not described."""
    for group in groups:
        described = descriptions.get(group.name, GroupDescription()).failure
        if group.failure is not None:
            detail = f"not listed by the brokers that answered: {group.failure.detail}"
            yield _problem(connections, "group", group.name, group.failure, detail)
        elif group.name in commits.unread:
            unread = commits.unread[group.name]
            detail = f"commits: {unread.detail}"
            yield _problem(connections, "group", group.name, unread, detail)
        elif described is not None:
            detail = f"members: {described.detail}"
            yield _problem(connections, "group", group.name, described, detail)


def name_partitions(
    connections: Connections,
    table: TopicTable,
    failures: Mapping[int, Failure],
    commits: CommittedOffsets,
    lost: Collection[str],
    absent: Mapping[int, int],
) -> Iterator[Problem]:
    """Yields the problems of partitions without a log start or end, then of single commits.

    Topics that were `lost` as a whole are left out.
    """
    for row, failure in sorted(failures.items(), key=lambda item: item[0]):
        topic, number = _topic_and_number(table, row)
        if topic not in lost:
            where = _replicas(table, row) if failure.reason == contract.NO_LEADER else ""
            detail = f"offsets: {failure.detail}{where}"
            name = f"{topic}-{number}"
            caused = replace(failure, broker=absent.get(row, failure.broker))
            yield _problem(connections, "partition", name, caused, detail)
    for (index, row), failure in commits.failures.items():
        topic, number = _topic_and_number(table, row)
        if topic not in lost:
            detail = f"commit of {topic}-{number}: {failure.detail}"
            yield Problem("group", commits.names[index], failure.reason, detail)


def note_negative_commits(table: TopicTable, commits: CommittedOffsets) -> Iterator[str]:
    """Yields one sentence if clients committed negative offsets, else nothing."""
    group, row, offset, *_ = commits.as_arrays()
    negative = np.flatnonzero(offset < NO_COMMIT)
    if len(negative):
        first = negative[np.lexsort((row[negative], group[negative]))[0]]
        topic, number = _topic_and_number(table, int(row[first]))
        others = format_quantity(len(negative) - 1, "other partition")
        yield (
            f"group {commits.names[int(group[first])]!r} committed offset {offset[first]} on "
            f"{topic}-{number}, which is not a position to read from: the partition counts as "
            "uncommitted" + (f", like {others} with such a commit" if len(negative) > 1 else "")
        )


def _problem(
    connections: Connections, scope: str, name: str, failure: Failure, detail: str
) -> Problem:
    if failure.broker is None:
        return Problem(scope, name, failure.reason, detail)
    address = connections.address_of(failure.broker)
    return Problem(scope, name, failure.reason, detail, str(failure.broker), address)


def _replicas(table: TopicTable, row: int) -> str:
    """Returns text that names the replicas, because a leader that is down is not listed."""
    nodes = _nodes(table, row, "replicas")
    listed = format_list([str(node) for node in nodes], _REPLICAS_NAMED)
    return f"; its replicas: {listed}" if nodes else ""


def _nodes(table: TopicTable, row: int, column: str) -> tuple[int, ...]:
    nodes = table.frame.strings(column)
    found: tuple[int, ...] = nodes.categories[nodes.codes.values[row]] if nodes.known[row] else ()
    return found


def _topic_and_number(table: TopicTable, row: int) -> tuple[str, int]:
    code = int(table.frame.strings("topic").codes.values[row])
    return table.names[code], row - int(table.first[code])


def without_name(node: int, why: UnansweredError) -> str:
    """Returns the problem without the broker's name, for texts that have it already."""
    return why.detail.removeprefix(f"broker {node}: ")
