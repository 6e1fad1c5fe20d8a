# SPDX-License-Identifier: Apache-2.0
"""Topics and partitions as the metadata names them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import numpy as np
from kafka.protocol.metadata import MetadataRequest

from kafka_lag.brokers.failures import Failure, failure_of, failure_of_code, left_out, malformed
from kafka_lag.brokers.wire.connection import Wire
from kafka_lag.brokers.wire.refusals import UNKNOWN_TOPIC, UnansweredError
from kafka_lag.lag.columns import Column, Mask, Rows, Strings
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.rules import NameFilter


@dataclass(frozen=True, slots=True)
class TopicTable:
    """One row a partition, those of a topic side by side and in order from partition 0.

    `frame` holds topic, topic_id, partition_id, leader, leader_rack, replicas,
    in_sync_replicas; an unknown leader has no leader. `first` and `count` are per topic, in the
    order of `names`; `index` gives a topic's place in them.
    """

    names: tuple[str, ...]
    index: dict[str, int]
    first: Rows
    count: Rows
    frame: Frame

    def __len__(self) -> int:
        return len(self.frame)


def table_of(topics: list[Any], racks: dict[int, str | None]) -> TopicTable:
    """The table of the topics of a metadata response."""
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
class Listing:
    """The wanted topics, what hides those that were known or listed, and the deleted."""

    table: TopicTable
    hidden: dict[str, Failure]
    gone: frozenset[str]


@dataclass(frozen=True, slots=True)
class Named:
    """What the metadata says of topics asked for by name: a failure for each that is `hidden`."""

    found: list[Any] = field(default_factory=list)
    hidden: dict[str, Failure] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    racks: dict[int, str | None] = field(default_factory=dict)


async def list_topics(wire: Wire, wanted: NameFilter, known: frozenset[str]) -> Listing:
    """All topics this principal may describe and the filter wants.

    A listing leaves out silently what may not be described, so `known` topics that are missing
    are asked for by name. Raises UnansweredError when no broker answers.
    """
    answer = await wire.ask_any(
        lambda: MetadataRequest(topics=None, allow_auto_topic_creation=False)
    )
    racks = _racks(answer)
    wished = [t for t in answer.topics or () if t.name and wanted.accepts(t.name)]
    wire.learn(answer)
    topics, hidden = _sound([topic for topic in wished if topic.partitions])
    missing = known - {topic.name for topic in topics} - hidden.keys()
    named = await by_name(wire, sorted(name for name in missing if wanted.accepts(name)))
    table = table_of(topics + named.found, racks)
    return Listing(table, {**hidden, **named.hidden}, named.gone)


async def by_name(wire: Wire, names: list[str]) -> Named:
    """The topics found after all, the failures of those hidden, and those that do not exist."""
    if not names:
        return Named()
    try:
        answer = await wire.ask_any(
            lambda: MetadataRequest(
                topics=[MetadataRequest.MetadataRequestTopic(name=name) for name in names],
                allow_auto_topic_creation=False,
            )
        )
    except UnansweredError as error:
        return Named(hidden=dict.fromkeys(names, _no_longer_listed(failure_of(error))))
    wanted = set(names)
    told, twice = _once([topic for topic in answer.topics or () if topic.name in wanted])
    gone = frozenset(topic.name for topic in told if topic.error_code == UNKNOWN_TOPIC)
    failures = {topic.name: failure_of_code(topic.error_code) for topic in told}
    found, odd = _sound([topic for topic in told if failures[topic.name] is None])
    hidden = {**twice, **odd}
    for name in wanted - hidden.keys() - gone:
        failure = failures.get(name, left_out("Metadata"))
        if failure is not None:
            hidden[name] = _no_longer_listed(failure)
    return Named(found, hidden, gone, _racks(answer))


async def with_leaders_now(wire: Wire, table: TopicTable, rows: Rows) -> tuple[TopicTable, Mask]:
    """The table with the leaders that the metadata names by now for these rows' topics.

    The mask has the rows of the table that were found, under the topic id that they had.
    """
    names = sorted(table.frame.strings("topic").take(rows).pruned().categories)
    named = await by_name(wire, names)
    old, fresh = table.frame, table_of(named.found, named.racks).frame
    at = locate(old, fresh, ("topic", "partition_id"))
    was, now = old.strings("topic_id"), fresh.strings("topic_id").take(at)
    ids = now.codes_in(was.categories)
    found = (at >= 0) & ~(was.known & now.known & ~(ids.known & (ids.values == was.codes.values)))
    at = np.where(found, at, -1)
    words = {
        name: fresh.strings(name).take(at).or_else(old.strings(name).only(~found))
        for name in ("leader_rack", "replicas", "in_sync_replicas")
    }
    leader = fresh.numbers("leader").take(at).or_else(old.numbers("leader").only(~found))
    return replace(table, frame=old.with_columns(leader=leader, **words)), found


def _sound(topics: list[Any]) -> tuple[list[Any], dict[str, Failure]]:
    """Topics named once, their partitions numbered from 0 without a gap; failures of the others.

    Rows are found by their place in the topic, so any other would be taken for its neighbour.
    """
    topics, failures = _once(topics)
    sound = []
    for topic in topics:
        numbers = sorted(part.partition_index for part in topic.partitions or ())
        if not numbers:
            failures[topic.name] = malformed("the metadata names none of its partitions")
        elif numbers != list(range(len(numbers))):
            failures[topic.name] = malformed(_oddly_numbered(numbers))
        else:
            sound.append(topic)
    return sound, failures


def _once(topics: list[Any]) -> tuple[list[Any], dict[str, Failure]]:
    times = Counter(topic.name for topic in topics)
    twice = {n: malformed("the metadata names it twice") for n, count in times.items() if count > 1}
    return [topic for topic in topics if topic.name not in twice], twice


def _oddly_numbered(numbers: list[int]) -> str:
    place = next(i for i, number in enumerate(numbers) if number != i)
    return f"the metadata names partition {numbers[place]} where {place} should be"


def _no_longer_listed(failure: Failure) -> Failure:
    return replace(failure, detail=f"no longer listed ({failure.detail})")


def _racks(answer: Any) -> dict[int, str | None]:
    return {broker.node_id: broker.rack for broker in answer.brokers or ()}


def _topic_id(value: Any) -> str | None:
    if value is None:
        return None
    topic_id = value if isinstance(value, UUID) else UUID(str(value))
    return str(topic_id) if topic_id.int else None
