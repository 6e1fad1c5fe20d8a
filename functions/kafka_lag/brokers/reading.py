# SPDX-License-Identifier: Apache-2.0
"""One reading of a cluster: start offsets with the groups, then commits, then end offsets.

In this order neither a commit made in between nor a purge can look like loss or negative lag. A
temporary failure is retried before the next step. The last step reads the stable offsets of
partitions in which a group lags, and the local log starts if they are tiered.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kafka_lag import contract
from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.errors import Failure, UnansweredError, malformed_failure
from kafka_lag.brokers.group_offsets import CommittedOffsets
from kafka_lag.brokers.group_rows import group_partition_rows, group_rows
from kafka_lag.brokers.groups import find_groups, read_groups
from kafka_lag.brokers.offsets import END, START, LogOffsets, OffsetReader
from kafka_lag.brokers.problems import (
    find_absent,
    name_brokers,
    name_groups,
    name_partitions,
    name_topics,
    note_negative_commits,
)
from kafka_lag.brokers.retries import RetryBudget
from kafka_lag.brokers.topic_settings import (
    TopicSettings,
    TopicSettingsCache,
    add_settings,
    is_tiered,
)
from kafka_lag.brokers.topics import (
    TopicListing,
    TopicTable,
    describe_topics,
    find_addresses,
    list_topics,
)
from kafka_lag.errors import SourceError
from kafka_lag.lag.columns import Column, Mask, Strings
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.lag.model import ClusterReading

_LEFT_OUT = "the listing of topics left out"


def _no_partitions() -> Frame:
    return Frame.empty(contract.TOPIC_PARTITIONS)


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """A request for one reading: name filters, and facts from earlier runs.

    `committed_groups` had a commit that may be read. `taken_at` is the run's scheduled time in ms;
    the age of cached settings counts from it. The settings of `topics_near_loss` are read in this
    run. Groups and partitions (topic, partition_id) that were unread in the previous run are
    requested once and not retried.
    """

    groups: NameFilter = field(default_factory=NameFilter)
    topics: NameFilter = field(default_factory=NameFilter)
    known_groups: frozenset[str] = frozenset()
    committed_groups: frozenset[str] = frozenset()
    known_topics: frozenset[str] = frozenset()
    topics_near_loss: frozenset[str] = frozenset()
    unread_groups: frozenset[str] = frozenset()
    unread_partitions: Frame = field(default_factory=_no_partitions)
    taken_at: int = 0


async def read_cluster(
    connections: Connections,
    request: ReadRequest,
    settings_cache: TopicSettingsCache,
    clock: Callable[[], float] = time.time,
) -> ClusterReading:
    """Reads the whole cluster once. Raises SourceError only if no broker answers at all."""
    retries = RetryBudget(connections)
    topics = await _list_topics(connections, request)
    table = topics.table
    once = locate(table.frame, request.unread_partitions, contract.PARTITION_KEY) >= 0
    reader = OffsetReader(connections, retries, table, clock)
    first: list[Coroutine[Any, Any, Any]] = [
        reader.read(START, once),
        find_groups(
            connections, retries, request.groups, request.known_groups, request.unread_groups
        ),
        settings_cache.read(connections, table, request.topics_near_loss, request.taken_at),
    ]
    start, listing, settings = await connections.gather(first)
    once_groups = request.unread_groups
    commits, descriptions = await read_groups(
        connections, retries, listing, table, request.committed_groups, once_groups, clock
    )
    end = await reader.read(END, once | ~start.offset.known)
    start, end = _drop_contradictions(start, end)
    lagging = _find_lagging(commits, end.offset)
    middle = await _read_between(connections, reader, lagging, _find_tiered(table, settings))
    failures = {**start.failures, **end.failures}
    absent = find_absent(connections, end.table, failures)
    await find_addresses(connections, set(absent.values()))
    hidden, gone = await _find_hidden_and_gone(
        connections, topics, start.missing | end.missing | settings.unknown
    )
    hidden |= await _forget_partly_listed(connections, request, table, commits)
    lost = gone | hidden.keys()
    rows = _topic_rows(add_settings(end.table, settings.values), start, end, failures)
    within = {
        name: offset.only(~(offset < start.offset)).clip(most=end.offset)
        for name, offset in middle.items()
    }
    rows = rows.with_columns(**within)
    commit_rows = group_partition_rows(table, commits, descriptions, end.offset)
    return ClusterReading(
        topic_partitions=_drop_topics(lost, rows),
        group_partitions=_drop_topics(lost, commit_rows),
        groups=group_rows(listing.groups, commits, descriptions),
        problems=(
            *name_brokers(connections, listing.problems),
            *name_topics(settings.failures, hidden, gone),
            *name_groups(connections, listing.groups, commits, descriptions),
            *name_partitions(connections, end.table, failures, commits, lost, absent),
        ),
        notes=tuple(note_negative_commits(table, commits)),
        hidden_topics={topic: failure.reason for topic, failure in hidden.items()},
        unlisted_groups=frozenset(group.name for group in listing.groups if group.failure),
        gone_topics=gone,
        gone_groups=listing.gone,
        lists_groups=len(listing.problems) < len(connections.nodes),
    )


async def _list_topics(connections: Connections, request: ReadRequest) -> TopicListing:
    try:
        return await list_topics(connections, request.topics, request.known_topics)
    except UnansweredError as error:
        raise SourceError(f"No broker answers: {error.detail}.") from error


def _drop_contradictions(start: LogOffsets, end: LogOffsets) -> tuple[LogOffsets, LogOffsets]:
    """Returns both without the rows whose log start lies beyond the log end."""
    beyond = start.offset.known & end.offset.known & (start.offset.values > end.offset.values)
    first, last = start.offset.values, end.offset.values
    crossed = {
        row: malformed_failure(f"log start {first[row]} beyond log end {last[row]}")
        for row in np.flatnonzero(beyond).tolist()
    }
    return start.without(crossed), end.without(crossed)


async def _read_between(
    connections: Connections, reader: OffsetReader, lagging: Mask, tiered: Mask
) -> dict[str, Column]:
    """Returns offsets between start and end, of partitions in which a group lags."""
    last: list[Coroutine[Any, Any, Column]] = [
        reader.read_stable(lagging),
        reader.read_local_start(lagging & tiered),
    ]
    stable, local_start = await connections.gather(last)
    return {"stable_offset": stable, "local_start_offset": local_start}


def _find_lagging(commits: CommittedOffsets, end: Column) -> Mask:
    """Returns a mask of the table's rows in which a group has not read to the end.

    In other rows the last stable offset says nothing about any group.
    """
    _, row, offset, *_ = commits.as_arrays()
    lagging = np.zeros(len(end), bool)
    lagging[row[(offset >= 0) & (end.take(row) > offset)]] = True
    return lagging


def _find_tiered(table: TopicTable, settings: TopicSettings) -> Mask:
    """Returns a mask of the rows of topics whose old segments lie in remote storage."""
    tiered = [is_tiered(settings.values.get(name, {})) for name in table.names]
    return np.repeat(np.array(tiered, bool), table.count)


async def _find_hidden_and_gone(
    connections: Connections, listing: TopicListing, missing: frozenset[str]
) -> tuple[dict[str, Failure], frozenset[str]]:
    """Returns why topics are hidden, and which are deleted.

    Both include topics that went missing during the reading.
    """
    named = await describe_topics(connections, sorted(missing))
    return {**listing.hidden, **named.hidden}, listing.gone | named.gone


async def _forget_partly_listed(
    connections: Connections, request: ReadRequest, table: TopicTable, commits: CommittedOffsets
) -> dict[str, Failure]:
    """Returns failures of existing topics that the listing left out but groups committed on.

    Without such a topic a group would be read in part, so the group counts as unread. A topic that
    does not exist may have left commits behind.
    """
    unlisted = {
        name: {topic for topic, _ in partitions if topic not in table.index}
        for name, partitions in commits.unlisted.items()
        if name in commits.read_at
    }
    names: set[str] = set().union(*unlisted.values())
    wanted = {name for name in names if request.topics.accepts(name)}
    left_out = wanted - (await describe_topics(connections, sorted(wanted))).gone
    commits.forget(
        {
            group: malformed_failure(f"names topic {min(topics & left_out)!r}, which {_LEFT_OUT}")
            for group, topics in unlisted.items()
            if topics & left_out
        }
    )
    return {topic: malformed_failure(f"{_LEFT_OUT}, and groups commit on it") for topic in left_out}


def _drop_topics(topics: frozenset[str], rows: Frame) -> Frame:
    return rows.where(~rows.strings("topic").is_in(topics))


def _topic_rows(
    frame: Frame, start: LogOffsets, end: LogOffsets, failures: dict[int, Failure]
) -> Frame:
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
