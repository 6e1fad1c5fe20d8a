# SPDX-License-Identifier: Apache-2.0
"""Records and commits of brokers: reads them back, deletes them, and commits without members."""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec

from dev.kafka.readiness import NEVER_TIMES_OUT

Place: TypeAlias = tuple[str, int]
Ints: TypeAlias = npt.NDArray[np.int64]

_WITHIN, _APPLIED_WITHIN, _ANSWERS_WITHIN = 120.0, 60.0, 20.0
_PAUSE = 0.1


@dataclass(frozen=True, slots=True)
class Living:
    """The records that a log still holds, and the offsets it begins and ends at."""

    offsets: Ints
    times: Ints
    start: int
    end: int


def read_back(
    admin: AdminClient, bootstrap: str, places: Sequence[Place]
) -> Mapping[Place, Living]:
    """Returns all records from the log start, without control records; raises TimeoutError."""
    offsets: dict[Place, array[int]] = {place: array("q") for place in places}
    times: dict[Place, array[int]] = {place: array("q") for place in places}
    for message in read_messages(bootstrap, places):
        offsets[message.topic(), message.partition()].append(message.offset())
        times[message.topic(), message.partition()].append(message.timestamp()[1])
    first, last = (listed(admin, places, earliest=earliest) for earliest in (True, False))
    return {
        place: Living(_ints(offsets[place]), _ints(times[place]), first[place], last[place])
        for place in places
    }


def read_messages(bootstrap: str, places: Sequence[Place]) -> Iterator[Any]:
    """Yields all records from the log start to the end. Raises TimeoutError after two minutes."""
    consumer = Consumer(_config(bootstrap))
    consumer.assign([TopicPartition(*place, OFFSET_BEGINNING) for place in places])
    left, deadline = set(places), time.monotonic() + _WITHIN
    while left:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{len(left)} partitions were not read to their ends")
        for message in consumer.consume(10_000, timeout=1):
            if (error := message.error()) is None:
                yield message
            elif error.code() == KafkaError._PARTITION_EOF:
                # A delivered message has both, whatever the client's types say.
                left.discard((message.topic() or "", message.partition() or 0))
            else:
                raise KafkaException(error)
    consumer.close()


def listed(admin: AdminClient, places: Sequence[Place], *, earliest: bool) -> dict[Place, int]:
    """Returns log starts or ends; raises KafkaException if one is not answered."""
    spec = OffsetSpec.earliest() if earliest else OffsetSpec.latest()  # type: ignore[no-untyped-call]
    request = {TopicPartition(*place): spec for place in places}
    futures = admin.list_offsets(request, request_timeout=_ANSWERS_WITHIN)
    return {(at.topic, at.partition): future.result().offset for at, future in futures.items()}


def _config(bootstrap: str) -> dict[str, str | bool | int]:
    return {
        "bootstrap.servers": bootstrap,
        "group.id": "read-back",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "log_level": 0,
    }


def _ints(values: array[int]) -> Ints:
    return np.frombuffer(values, np.int64) if values else np.zeros(0, np.int64)


def delete_records(admin: AdminClient, starts: Mapping[Place, int]) -> None:
    """Deletes all records below these offsets, which become the log starts."""
    at = [TopicPartition(*place, offset) for place, offset in starts.items()]
    for future in admin.delete_records(at, request_timeout=_APPLIED_WITHIN).values():
        future.result()


def read_commits(
    admin: AdminClient, group: str, places: Sequence[Place]
) -> dict[Place, int | None]:
    """Returns the group's commits, null for a partition without one. Raises KafkaException."""
    request = [ConsumerGroupTopicPartitions(group, [TopicPartition(*each) for each in places])]
    futures = admin.list_consumer_group_offsets(request, request_timeout=NEVER_TIMES_OUT)
    answered = futures[group].result(_ANSWERS_WITHIN).topic_partitions
    found = {(each.topic, each.partition): each.offset for each in answered}
    return {at: offset if offset >= 0 else None for at, offset in found.items()}


def commit_offsets(admin: AdminClient, positions: Mapping[str, Mapping[Place, int]]) -> None:
    """Commits for a group without members; returns when every partition has accepted it."""
    left = {
        group: [TopicPartition(*place, offset) for place, offset in offsets.items()]
        for group, offsets in positions.items()
    }
    deadline = time.monotonic() + _APPLIED_WITHIN
    # A coordinator that does not know a new topic yet rejects each partition, not the request.
    while left := _commit_errors(admin, left):
        if time.monotonic() > deadline:
            raise TimeoutError(f"Coordinators reject commits of {sorted(left)[:5]}")
        time.sleep(_PAUSE)


def _commit_errors(
    admin: AdminClient, commits: Mapping[str, list[TopicPartition]]
) -> dict[str, list[TopicPartition]]:
    futures = {
        group: admin.alter_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group, at)], request_timeout=NEVER_TIMES_OUT
        )
        for group, at in commits.items()
    }
    rejected = {}
    for group, at in commits.items():
        answered = futures[group][group].result(_APPLIED_WITHIN).topic_partitions
        bad = {(each.topic, each.partition) for each in answered if each.error}
        if again := [each for each in at if (each.topic, each.partition) in bad]:
            rejected[group] = again
    return rejected
