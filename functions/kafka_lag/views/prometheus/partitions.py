# SPDX-License-Identifier: Apache-2.0
"""What is told of topics and partitions, under the names and labels of kafka_exporter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from prometheus_client.core import Metric

from kafka_lag.contract import exposition
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.rollup import group_topics
from kafka_lag.lag.sets import distinct
from kafka_lag.views.prometheus.families import Labelled, gauge, gauges
from kafka_lag.views.prometheus.taken import Taken

# Labels and their columns.
_TOPIC = {exposition.LABEL_TOPIC: "topic"}
_GROUP_TOPIC = {exposition.LABEL_GROUP: "consumer_group", **_TOPIC}
_PARTITION = {exposition.LABEL_PARTITION: "partition_id"}
_TOPIC_GAUGES = {
    exposition.TOPIC_LAG: ("lag", "Records behind, all partitions of the topic."),
    exposition.TOPIC_OFFSET: ("committed_offset", "Sum of the offsets committed."),
    exposition.TOPIC_TIME_LAG: ("time_lag_seconds", "Age of the oldest next unread record."),
}


def topic_families(parts: Sequence[Taken]) -> Iterator[Metric]:
    """Each group's topics, and how many partitions each topic has."""
    rows = [Labelled.of(p.cluster, group_topics(p.group_partitions), _GROUP_TOPIC) for p in parts]
    yield from gauges(rows, _TOPIC_GAUGES)
    topics = [Labelled.of(part.cluster, _sizes(part.topic_partitions), _TOPIC) for part in parts]
    told = ("partitions", "Partitions of the topic.")
    yield from gauges(topics, {exposition.TOPIC_PARTITIONS_GAUGE: told})


def partition_families(parts: Sequence[Taken]) -> Iterator[Metric]:
    """Each group's partitions, and the logs that they are of."""
    names = {**_GROUP_TOPIC, **_PARTITION}
    rows = [Labelled.of(part.cluster, part.group_partitions, names) for part in parts]
    yield from gauges(rows, exposition.PARTITION_GAUGES)
    logs = [Labelled.of(p.cluster, p.topic_partitions, {**_TOPIC, **_PARTITION}) for p in parts]
    yield from gauges(logs, exposition.LOG_GAUGES)
    whole = [(part.labels, _length(part.frame.strings("replicas"))) for part in logs]
    in_sync = [(part.labels, _length(part.frame.strings("in_sync_replicas"))) for part in logs]
    short = [(a, _fewer(b, c)) for (a, b), (_, c) in zip(in_sync, whole, strict=True)]
    yield gauge(exposition.LOG_REPLICAS, "Replicas of the partition.", whole)
    yield gauge(exposition.LOG_IN_SYNC, "Replicas in sync.", in_sync)
    yield gauge(exposition.LOG_UNDER_REPLICATED, "1 where a replica is not in sync.", short)


def _sizes(partitions: Frame) -> Frame:
    topics = partitions.strings("topic")
    sets, first = distinct(topics.codes.values)
    return Frame.of({"topic": topics.take(first), "partitions": sets.rows()})


def _length(lists: Strings) -> Column:
    lengths = np.array([len(each) for each in lists.categories] or [0], np.int64)
    return Column(lengths[np.where(lists.known, lists.codes.values, 0)], lists.known)


def _fewer(some: Column, whole: Column) -> Column:
    return Column((some.values < whole.values).astype(np.int64), some.known & whole.known)
