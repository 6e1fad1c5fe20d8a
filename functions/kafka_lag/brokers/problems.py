# SPDX-License-Identifier: Apache-2.0
"""What a run could not read, named for a person: brokers, topics, groups and partitions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from kafka_lag import contract
from kafka_lag.brokers.failures import Failure
from kafka_lag.brokers.groups.census import Group
from kafka_lag.brokers.groups.commits import Commits
from kafka_lag.brokers.groups.members import Description
from kafka_lag.brokers.topics.table import TopicTable
from kafka_lag.brokers.wire.connection import Wire
from kafka_lag.brokers.wire.refusals import UnansweredError
from kafka_lag.lag.model import Problem


def problems_of_brokers(wire: Wire, unlisted: Iterable[Problem]) -> Iterator[Problem]:
    """One for each that did not respond, could not list, or answered what was not asked."""
    odd = wire.odd_answers().items()
    brokers = {str(node): Problem("broker", str(node), contract.ERROR, why) for node, why in odd}
    brokers |= {problem.name: problem for problem in unlisted}
    for node, silence in wire.down().items():
        detail = unnamed(node, silence)
        brokers[str(node)] = Problem("broker", str(node), silence.reason, detail)
    yield from brokers.values()


def problems_of_topics(
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


def problems_of_groups(
    groups: list[Group], commits: Commits, descriptions: Mapping[str, Description]
) -> Iterator[Problem]:
    """Groups that were not read or not described."""
    for group in groups:
        described = descriptions.get(group.name, Description()).failure
        if group.failure is not None:
            detail = f"no broker lists it any more: {group.failure.detail}"
            yield Problem("group", group.name, group.failure.reason, detail)
        elif group.name in commits.silent:
            unread = commits.silent[group.name]
            yield Problem("group", group.name, unread.reason, f"commits: {unread.detail}")
        elif described is not None:
            yield Problem("group", group.name, described.reason, f"members: {described.detail}")


def problems_of_partitions(
    table: TopicTable, failures: Mapping[int, Failure], commits: Commits, lost: Collection[str]
) -> Iterator[Problem]:
    """Partitions whose log start or end was not read, then single commits; none of topics that
    were `lost` as a whole.
    """
    for row, failure in sorted(failures.items(), key=lambda item: item[0]):
        topic, number = _named(table, row)
        if topic not in lost:
            detail = f"offsets: {failure.detail}"
            yield Problem("partition", f"{topic}-{number}", failure.reason, detail)
    for (place, row), failure in commits.refused.items():
        topic, number = _named(table, row)
        if topic not in lost:
            detail = f"commit of {topic}-{number}: {failure.detail}"
            yield Problem("group", commits.names[place], failure.reason, detail)


def _named(table: TopicTable, row: int) -> tuple[str, int]:
    """The topic and partition of a row."""
    code = int(table.frame.strings("topic").codes.values[row])
    return table.names[code], row - int(table.first[code])


def unnamed(node: int, why: UnansweredError) -> str:
    """What a broker did not do, for a problem that has its name already."""
    return why.detail.removeprefix(f"broker {node}: ")
