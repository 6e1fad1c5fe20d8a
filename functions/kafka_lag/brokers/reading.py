# SPDX-License-Identifier: Apache-2.0
"""One look at a cluster: start offsets with the groups, then commits, then end offsets.

In this order neither a commit made in between nor a purge can look like loss or negative lag.
What fails for a reason that passes is asked for again before the next of these steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from kafka_lag import contract
from kafka_lag.brokers.failures import Failure, malformed
from kafka_lag.brokers.groups.reading import find_groups, read_groups
from kafka_lag.brokers.problems import (
    problems_of_brokers,
    problems_of_groups,
    problems_of_partitions,
    problems_of_topics,
)
from kafka_lag.brokers.retries import Retries
from kafka_lag.brokers.rows import group_partition_rows, group_rows
from kafka_lag.brokers.topics.configs import ConfigCache, with_configs
from kafka_lag.brokers.topics.offsets import END, START, OffsetReader, Offsets
from kafka_lag.brokers.topics.table import Listing, by_name, list_topics
from kafka_lag.brokers.wire.connection import Wire
from kafka_lag.brokers.wire.refusals import UnansweredError
from kafka_lag.errors import SourceError
from kafka_lag.lag.columns import Strings
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.model import ClusterReading
from kafka_lag.lag.rules import NameFilter


def _no_partitions() -> Frame:
    return Frame.empty(contract.TOPIC_PARTITIONS)


@dataclass(frozen=True, slots=True)
class Question:
    """What to read: name filters, and what an earlier run knew and this one must account for.

    Settings of `topics_near_loss` are read in this run. What was unread in the run before, groups
    and partitions (topic, partition_id), is asked for once and not waited for again.
    """

    groups: NameFilter = field(default_factory=NameFilter)
    topics: NameFilter = field(default_factory=NameFilter)
    known_groups: frozenset[str] = frozenset()
    known_topics: frozenset[str] = frozenset()
    topics_near_loss: frozenset[str] = frozenset()
    unread_groups: frozenset[str] = frozenset()
    unread_partitions: Frame = field(default_factory=_no_partitions)


async def read_cluster(
    wire: Wire,
    question: Question,
    configs: ConfigCache,
    clock: Callable[[], float] = time.time,
) -> ClusterReading:
    """All that one run can learn. Raises SourceError only when no broker answers at all."""
    retries = Retries(wire)
    listing = await _listed(wire, question)
    table = listing.table
    once = locate(table.frame, question.unread_partitions, ("topic", "partition_id")) >= 0
    reader = OffsetReader(wire, retries, table, clock)
    start, roll, settings = await wire.together_any(
        reader.read(START, once),
        find_groups(wire, retries, question.groups, question.known_groups, question.unread_groups),
        configs.of(wire, table, question.topics_near_loss),
    )
    once_groups = question.unread_groups
    commits, descriptions = await read_groups(wire, retries, roll, table, once_groups, clock)
    end = await reader.read(END, once | ~start.offset.known)
    start, end = _checked(start, end)
    failures = {**start.failures, **end.failures}
    hidden, gone = await _vanished(wire, listing, start.missing | end.missing | settings.unknown)
    lost = gone | hidden.keys()
    topics = _topic_rows(with_configs(end.table, settings.values), start, end, failures)
    return ClusterReading(
        topic_partitions=_without(lost, topics),
        group_partitions=_without(lost, group_partition_rows(table, commits, descriptions)),
        groups=group_rows(roll.groups, commits, descriptions),
        problems=(
            *problems_of_brokers(wire, roll.problems),
            *problems_of_topics(settings.failures, hidden, gone),
            *problems_of_groups(roll.groups, commits, descriptions),
            *problems_of_partitions(table, failures, commits, lost),
        ),
        hidden_topics={topic: failure.reason for topic, failure in hidden.items()},
        unlisted_groups=frozenset(group.name for group in roll.groups if group.failure),
        gone_topics=gone,
        gone_groups=roll.gone,
    )


async def _listed(wire: Wire, question: Question) -> Listing:
    try:
        return await list_topics(wire, question.topics, question.known_topics)
    except UnansweredError as error:
        raise SourceError(f"No broker answers: {error.detail}.") from error


def _checked(start: Offsets, end: Offsets) -> tuple[Offsets, Offsets]:
    """Both without the rows in which they contradict each other: no log starts beyond its end."""
    beyond = start.offset.known & end.offset.known & (start.offset.values > end.offset.values)
    first, last = start.offset.values, end.offset.values
    crossed = {
        row: malformed(f"log start {first[row]} beyond log end {last[row]}")
        for row in np.flatnonzero(beyond).tolist()
    }
    return start.without(crossed), end.without(crossed)


async def _vanished(
    wire: Wire, listing: Listing, missing: frozenset[str]
) -> tuple[dict[str, Failure], frozenset[str]]:
    """What hides topics, and which are deleted, those that went missing meanwhile included."""
    named = await by_name(wire, sorted(missing))
    return {**listing.hidden, **named.hidden}, listing.gone | named.gone


def _without(topics: frozenset[str], rows: Frame) -> Frame:
    return rows.where(~rows.strings("topic").is_in(topics))


def _topic_rows(frame: Frame, start: Offsets, end: Offsets, failures: dict[int, Failure]) -> Frame:
    reasons: list[str | None] = [None] * len(frame)
    for row, failure in failures.items():
        reasons[row] = failure.reason
    return frame.with_columns(
        start_offset=start.offset,
        end_offset=end.offset,
        asked_at=end.asked_at,
        read_at=end.read_at,
        unread_reason=Strings.of(reasons),
    )
