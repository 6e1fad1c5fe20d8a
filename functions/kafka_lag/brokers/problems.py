# SPDX-License-Identifier: Apache-2.0
"""What one reading could not read, in words: brokers, topics, groups and partitions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

import numpy as np

from kafka_lag import contract
from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.coordinators import ConsumerGroup
from kafka_lag.brokers.errors import Failure, UnansweredError
from kafka_lag.brokers.group_members import GroupDescription
from kafka_lag.brokers.group_offsets import NO_COMMIT, CommittedOffsets
from kafka_lag.brokers.topics import TopicTable
from kafka_lag.formatting import format_list, format_quantity
from kafka_lag.lag.model import Problem

_REPLICAS_NAMED = 5


def name_brokers(connections: Connections, unlisted: Iterable[Problem]) -> Iterator[Problem]:
    """One for each that did not respond, could not list, or answered what was not requested."""
    brokers = {
        str(node): Problem("broker", str(node), contract.ERROR, detail)
        for node, detail in connections.unexpected_answers().items()
    }
    brokers |= {problem.name: problem for problem in unlisted}
    for node, why in connections.down().items():
        brokers[str(node)] = Problem("broker", str(node), why.reason, without_name(node, why))
    yield from brokers.values()


def name_topics(
    settings: Mapping[str, Failure], hidden: Mapping[str, Failure], gone: Collection[str]
) -> Iterator[Problem]:
    """One for each cause of settings not read, as a missing right is that of all topics; then one
    for each topic that was not read as a whole.
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
    groups: list[ConsumerGroup],
    commits: CommittedOffsets,
    descriptions: Mapping[str, GroupDescription],
) -> Iterator[Problem]:
    """Groups that were not read or not described."""
    for group in groups:
        described = descriptions.get(group.name, GroupDescription()).failure
        if group.failure is not None:
            detail = f"not listed by the brokers that answered: {group.failure.detail}"
            yield Problem("group", group.name, group.failure.reason, detail)
        elif group.name in commits.unread:
            unread = commits.unread[group.name]
            yield Problem("group", group.name, unread.reason, f"commits: {unread.detail}")
        elif described is not None:
            yield Problem("group", group.name, described.reason, f"members: {described.detail}")


def name_partitions(
    table: TopicTable,
    failures: Mapping[int, Failure],
    commits: CommittedOffsets,
    lost: Collection[str],
) -> Iterator[Problem]:
    """Partitions whose log start or end was not read, then single commits; none of topics that
    were `lost` as a whole.
    """
    for row, failure in sorted(failures.items(), key=lambda item: item[0]):
        topic, number = _topic_and_number(table, row)
        if topic not in lost:
            where = _replicas(table, row) if failure.reason == contract.NO_LEADER else ""
            detail = f"offsets: {failure.detail}{where}"
            yield Problem("partition", f"{topic}-{number}", failure.reason, detail)
    for (index, row), failure in commits.failures.items():
        topic, number = _topic_and_number(table, row)
        if topic not in lost:
            detail = f"commit of {topic}-{number}: {failure.detail}"
            yield Problem("group", commits.names[index], failure.reason, detail)


def note_negative_commits(table: TopicTable, commits: CommittedOffsets) -> Iterator[str]:
    """One sentence if clients committed negative offsets; nothing if none did."""
    group, row, offset, _ = commits.as_arrays()
    negative = np.flatnonzero(offset < NO_COMMIT)
    if len(negative):
        first = negative[np.lexsort((row[negative], group[negative]))[0]]
        topic, number = _topic_and_number(table, int(row[first]))
        others = format_quantity(len(negative) - 1, "other partition")
        yield (
            f"group {commits.names[int(group[first])]!r} committed offset {offset[first]} on "
            f"{topic}-{number}, which is no position to read from: the partition counts as "
            "uncommitted" + (f", like {others} with such a commit" if len(negative) > 1 else "")
        )


def _replicas(table: TopicTable, row: int) -> str:
    """The brokers of a partition without a leader, as the one that is down is not listed."""
    replicas = table.frame.strings("replicas")
    nodes = replicas.categories[replicas.codes.values[row]] if replicas.known[row] else ()
    listed = format_list([str(node) for node in nodes], _REPLICAS_NAMED)
    return f"; its replicas: {listed}" if nodes else ""


def _topic_and_number(table: TopicTable, row: int) -> tuple[str, int]:
    code = int(table.frame.strings("topic").codes.values[row])
    return table.names[code], row - int(table.first[code])


def without_name(node: int, why: UnansweredError) -> str:
    """What a broker did not do, for a problem that has its name already."""
    return why.detail.removeprefix(f"broker {node}: ")
