# SPDX-License-Identifier: Apache-2.0
"""The newest snapshot of each cluster, as far as a scrape asked for it."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag.errors import UnusableError
from kafka_lag.lag.frame import Frame
from kafka_lag.views.prometheus.question import GROUP, Question
from kafka_lag.views.snapshots import Snapshots


@dataclass(frozen=True, slots=True)
class Taken:
    """One cluster at `taken_at` (ms UTC); without rows where its snapshot is not `readable`.

    `group_partitions` and `topic_partitions` have rows only at the levels that need them. Groups
    that are gone have none.
    """

    cluster: str
    taken_at: int
    readable: bool
    groups: Frame
    group_partitions: Frame
    topic_partitions: Frame


def taken(question: Question, snapshots: Snapshots) -> list[Taken]:
    """All clusters that were asked for and have a snapshot. Raises StoreError."""
    wanted = snapshots.clusters() if question.cluster is None else [question.cluster]
    times = ((cluster, snapshots.newest(cluster)) for cluster in wanted)
    return [_taken(question, snapshots, c, at) for c, at in times if at is not None]


def _taken(question: Question, snapshots: Snapshots, cluster: str, at: int) -> Taken:
    # An object that is broken is one cluster's trouble; the others are told.
    try:
        frames = _frames(question, snapshots, cluster, at)
    except UnusableError as error:
        logging.getLogger(__name__).warning("%s", error)
        return Taken(cluster, at, False, *_nothing())
    return Taken(cluster, at, True, *frames)


def _frames(
    question: Question, snapshots: Snapshots, cluster: str, at: int
) -> tuple[Frame, Frame, Frame]:
    groups = snapshots.frame(cluster, contract.GROUPS, at)
    gone = groups.strings("status_reason").is_in([contract.GONE])
    groups = groups.where(question.takes_group(groups.strings("consumer_group")) & ~gone)
    if question.level == GROUP:
        return (groups, *_nothing()[1:])
    rows = snapshots.frame(cluster, contract.GROUP_PARTITIONS, at)
    topics = snapshots.frame(cluster, contract.TOPIC_PARTITIONS, at)
    return (
        groups,
        rows.where(question.takes_group(rows.strings("consumer_group"))),
        topics.where(question.takes_topic(topics.strings("topic"))),
    )


def _nothing() -> tuple[Frame, Frame, Frame]:
    names = (contract.GROUPS, contract.GROUP_PARTITIONS, contract.TOPIC_PARTITIONS)
    groups, rows, topics = (Frame.empty(name) for name in names)
    return groups, rows, topics
