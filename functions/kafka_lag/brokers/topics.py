# SPDX-License-Identifier: Apache-2.0
"""Topics, their partitions and leaders, from the brokers' metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import numpy as np
from kafka.protocol.admin import DescribeClusterRequest
from kafka.protocol.metadata import MetadataRequest

from kafka_lag import contract
from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.coordinators import chunks
from kafka_lag.brokers.errors import (
    UNKNOWN_TOPIC,
    Failure,
    UnansweredError,
    failure_of,
    failure_of_code,
    malformed_failure,
    missing_failure,
)
from kafka_lag.lag.columns import Column, Mask, Rows, Strings
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.group_settings import NameFilter

# Kafka 4.4 refuses arrays of more than a million elements.
TOPICS_PER_REQUEST = 10_000
# The version of DescribeCluster that lists brokers which are away (KIP-1073).
_WITH_FENCED = 2


@dataclass(frozen=True, slots=True)
class TopicTable:
    """One row for each partition, those of a topic side by side and in order from partition 0.

    `frame` holds topic, topic_id, partition_id, leader, leader_rack, replicas, in_sync_replicas; an
    unknown leader means that there is none. `first` and `count` are per topic, in the order of
    `names`; `index` gives a topic's position in them. `others` are topics in the metadata without
    rows: they are not wanted, or were not described correctly.
    """

    names: tuple[str, ...]
    index: dict[str, int]
    first: Rows
    count: Rows
    frame: Frame
    others: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.frame)


def build_table(topics: list[Any], racks: dict[int, str | None]) -> TopicTable:
    """Returns the table of these topics of a metadata response."""
    ordered = sorted(topics, key=lambda topic: str(topic.name))
    partitions = [sorted(t.partitions, key=lambda p: int(p.partition_index)) for t in ordered]
    count = np.array([len(parts) for parts in partitions], np.int64)
    flat = [part for parts in partitions for part in parts]
    names = tuple(topic.name for topic in ordered)
    of_row = np.repeat(np.arange(len(names)), count)
    leader = np.array([part.leader_id for part in flat], np.int32)
    ids = Strings.of(_topic_id(topic.topic_id) for topic in ordered)
    frame = Frame.of(
        {
            "topic": Strings(Column.of(of_row.astype(np.int32)), names),
            "topic_id": ids.take(of_row),
            "partition_id": Column.of(np.array([p.partition_index for p in flat], np.int32)),
            "leader": Column(leader, leader >= 0),
            "leader_rack": Strings.of(racks.get(node) for node in leader.tolist()),
            "replicas": Strings.of(tuple(part.replica_nodes or ()) for part in flat),
            "in_sync_replicas": Strings.of(tuple(part.isr_nodes or ()) for part in flat),
        }
    )
    first = np.concatenate([[0], np.cumsum(count)[:-1]]) if names else np.zeros(0)
    return TopicTable(
        names, {name: i for i, name in enumerate(names)}, first.astype(np.int64), count, frame
    )


@dataclass(frozen=True, slots=True)
class TopicListing:
    """The wanted topics, the failures of topics without a description, and deleted topics."""

    table: TopicTable
    hidden: dict[str, Failure]
    gone: frozenset[str]


@dataclass(frozen=True, slots=True)
class DescribedTopics:
    """The metadata of topics requested by name; each `hidden` one has a failure."""

    found: list[Any] = field(default_factory=list)
    hidden: dict[str, Failure] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    racks: dict[int, str | None] = field(default_factory=dict)


async def list_topics(
    connections: Connections, wanted: NameFilter, known: frozenset[str]
) -> TopicListing:
    """Returns all topics that this principal may describe and the filter wants.

    A listing leaves out topics that may not be described, without saying so. Therefore `known`
    topics that are missing are requested by name, as are those listed without partitions. Raises
    UnansweredError if no broker answers.
    """
    answer = await connections.send_to_any(
        lambda: MetadataRequest(topics=None, allow_auto_topic_creation=False)
    )
    racks = _racks(answer)
    listed = [t for t in answer.topics or () if t.name and wanted.accepts(t.name)]
    others = {t.name for t in answer.topics or () if t.name}
    connections.update_brokers(answer)
    topics, hidden = _check_partitions([topic for topic in listed if topic.partitions])
    missing = known | {topic.name for topic in listed}
    missing -= {topic.name for topic in topics} | hidden.keys()
    named = await describe_topics(
        connections, sorted(name for name in missing if wanted.accepts(name))
    )
    table = build_table(topics + named.found, racks)
    hidden |= named.hidden
    others = (others | hidden.keys()) - named.gone - table.index.keys()
    return TopicListing(replace(table, others=frozenset(others)), hidden, named.gone)


async def describe_topics(connections: Connections, names: list[str]) -> DescribedTopics:
    """Returns the topics found, the failures of hidden topics, and the topics that do not exist."""
    parts = chunks(names, TOPICS_PER_REQUEST)
    answers = await connections.gather(_describe_part(connections, part) for part in parts)
    return DescribedTopics(
        [topic for answer in answers for topic in answer.found],
        {name: failure for answer in answers for name, failure in answer.hidden.items()},
        frozenset(name for answer in answers for name in answer.gone),
        {node: rack for answer in answers for node, rack in answer.racks.items()},
    )


async def _describe_part(connections: Connections, names: list[str]) -> DescribedTopics:
    try:
        answer = await connections.send_to_any(
            lambda: MetadataRequest(
                topics=[MetadataRequest.MetadataRequestTopic(name=name) for name in names],
                allow_auto_topic_creation=False,
            )
        )
    except UnansweredError as error:
        return DescribedTopics(
            hidden=dict.fromkeys(names, _mark_no_longer_listed(failure_of(error)))
        )
    wanted = set(names)
    topics, duplicates = _drop_duplicates([t for t in answer.topics or () if t.name in wanted])
    gone = frozenset(topic.name for topic in topics if topic.error_code == UNKNOWN_TOPIC)
    failures = {topic.name: failure_of_code(topic.error_code) for topic in topics}
    found, misnumbered = _check_partitions([t for t in topics if failures[t.name] is None])
    hidden = {**duplicates, **misnumbered}
    for name in wanted - hidden.keys() - gone:
        failure = failures.get(name, missing_failure("Metadata"))
        if failure is not None:
            hidden[name] = _mark_no_longer_listed(failure)
    return DescribedTopics(found, hidden, gone, _racks(answer))


async def find_addresses(connections: Connections, nodes: Collection[int]) -> None:
    """Stores the addresses of brokers that the metadata does not list.

    Since Kafka 4.0 brokers remember other brokers that are away.
    """
    unknown = [node for node in nodes if connections.address_of(node) is None]
    if not unknown or connections.version(DescribeClusterRequest) < _WITH_FENCED:
        return
    try:
        answer = await connections.send_to_any(
            lambda: DescribeClusterRequest(include_fenced_brokers=True, min_version=_WITH_FENCED)
        )
    except UnansweredError:
        return
    found = {each.broker_id: (each.host, each.port) for each in answer.brokers or ()}
    connections.note_addresses({node: found[node] for node in unknown if node in found})


async def refresh_leaders(
    connections: Connections, table: TopicTable, rows: Rows
) -> tuple[TopicTable, Mask]:
    """Returns the table with the leaders that the metadata now names for these rows' topics.

    The mask marks the rows of the table that were found under the same topic id.
    """
    names = sorted(table.frame.strings("topic").take(rows).pruned().categories)
    named = await describe_topics(connections, names)
    old, fresh = table.frame, build_table(named.found, named.racks).frame
    at = locate(old, fresh, contract.PARTITION_KEY)
    old_id, new_id = old.strings("topic_id"), fresh.strings("topic_id").take(at)
    ids = new_id.codes_in(old_id.categories)
    same = ids.known & (ids.values == old_id.codes.values)
    found = (at >= 0) & ~(old_id.known & new_id.known & ~same)
    at = np.where(found, at, -1)
    strings = {
        name: fresh.strings(name).take(at).or_else(old.strings(name).only(~found))
        for name in ("leader_rack", "replicas", "in_sync_replicas")
    }
    leader = fresh.numbers("leader").take(at).or_else(old.numbers("leader").only(~found))
    return replace(table, frame=old.with_columns(leader=leader, **strings)), found


def _check_partitions(topics: list[Any]) -> tuple[list[Any], dict[str, Failure]]:
    """Returns topics named once and numbered from 0 without a gap, and failures of the others.

    A row is found by its position in the topic, so a gap would shift the rows behind it.
    """
    topics, failures = _drop_duplicates(topics)
    well_numbered = []
    for topic in topics:
        numbers = sorted(part.partition_index for part in topic.partitions or ())
        if not numbers:
            failures[topic.name] = malformed_failure("the metadata names none of its partitions")
        elif numbers != list(range(len(numbers))):
            failures[topic.name] = malformed_failure(_describe_gap(numbers))
        else:
            well_numbered.append(topic)
    return well_numbered, failures


def _drop_duplicates(topics: list[Any]) -> tuple[list[Any], dict[str, Failure]]:
    times = Counter(topic.name for topic in topics)
    twice = {
        n: malformed_failure("the metadata names it twice")
        for n, count in times.items()
        if count > 1
    }
    return [topic for topic in topics if topic.name not in twice], twice


def _describe_gap(numbers: list[int]) -> str:
    expected = next(i for i, number in enumerate(numbers) if number != i)
    return f"the metadata names partition {numbers[expected]} where {expected} should be"


def _mark_no_longer_listed(failure: Failure) -> Failure:
    return replace(failure, detail=f"no longer listed ({failure.detail})")


def _racks(answer: Any) -> dict[int, str | None]:
    return {broker.node_id: broker.rack for broker in answer.brokers or ()}


def _topic_id(value: Any) -> str | None:
    if value is None:
        return None
    topic_id = value if isinstance(value, UUID) else UUID(str(value))
    return str(topic_id) if topic_id.int else None
