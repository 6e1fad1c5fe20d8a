# SPDX-License-Identifier: Apache-2.0
"""Topics and partitions as the metadata names them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from kafka.protocol.metadata import MetadataRequest

from functions.broker.wire.connection import Wire
from functions.broker.wire.refusals import UNKNOWN_TOPIC, UnansweredError, reason_of_code
from functions.lag.columns import Column, Rows, Words
from functions.lag.frame import Frame
from functions.lag.rules import NameFilter


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
    ids = Words.of(_topic_id(topic.topic_id) for topic in ordered)
    frame = Frame.of(
        {
            "topic": Words(Column.of(of_row.astype(np.int32)), names),
            "topic_id": ids.take(of_row),
            "partition_id": Column.of(np.array([p.partition_index for p in flat], np.int32)),
            "leader": Column(leader, leader >= 0),
            "leader_rack": Words.of(racks.get(node) for node in leader.tolist()),
            "replicas": Words.of(tuple(part.replica_nodes) for part in flat),
            "in_sync_replicas": Words.of(tuple(part.isr_nodes) for part in flat),
        }
    )
    first = np.concatenate([[0], np.cumsum(count)[:-1]]) if names else np.zeros(0)
    return TopicTable(
        names, {name: i for i, name in enumerate(names)}, first.astype(np.int64), count, frame
    )


@dataclass(frozen=True, slots=True)
class Listing:
    """The wanted topics, what hides the known ones that were not listed, and the deleted."""

    table: TopicTable
    hidden: dict[str, str]
    gone: frozenset[str]
    cluster_id: str | None


async def list_topics(wire: Wire, wanted: NameFilter, known: frozenset[str]) -> Listing:
    """All topics this principal may describe and the filter wants.

    A listing leaves out silently what may not be described, so `known` topics that are missing
    are asked for by name. Raises UnansweredError when no broker answers.
    """
    answer = await wire.ask_any(
        lambda: MetadataRequest(topics=None, allow_auto_topic_creation=False)
    )
    racks = {broker.node_id: broker.rack for broker in answer.brokers}
    topics = [topic for topic in answer.topics if topic.name and wanted.accepts(topic.name)]
    cluster_id = answer.cluster_id
    wire.learn(answer)
    listed = {topic.name for topic in topics}
    missing = sorted(name for name in known - listed if wanted.accepts(name))
    found, hidden, gone = await by_name(wire, missing)
    usable = [topic for topic in topics + found if topic.partitions]
    return Listing(table_of(usable, racks), hidden, gone, cluster_id)


async def by_name(wire: Wire, names: list[str]) -> tuple[list[Any], dict[str, str], frozenset[str]]:
    """The topics found after all, the reasons for those hidden, and those that do not exist."""
    if not names:
        return [], {}, frozenset()
    try:
        answer = await wire.ask_any(
            lambda: MetadataRequest(
                topics=[MetadataRequest.MetadataRequestTopic(name=name) for name in names],
                allow_auto_topic_creation=False,
            )
        )
    except UnansweredError as error:
        return [], dict.fromkeys(names, error.reason), frozenset()
    gone = frozenset(t.name for t in answer.topics if t.error_code == UNKNOWN_TOPIC)
    hidden, found = {}, []
    for topic in answer.topics:
        reason = reason_of_code(topic.error_code)
        if reason is None:
            found.append(topic)
        elif topic.name not in gone:
            hidden[topic.name] = reason
    return found, hidden, gone


def _topic_id(value: Any) -> str | None:
    if value is None:
        return None
    topic_id = value if isinstance(value, UUID) else UUID(str(value))
    return str(topic_id) if topic_id.int else None
