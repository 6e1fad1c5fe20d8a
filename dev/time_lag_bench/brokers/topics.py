# SPDX-License-Identifier: Apache-2.0
"""What admin requests make of a case: topics, deleted records, commits."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from dev.kafka.readiness import wait_until
from dev.time_lag_bench.brokers.reading import Place, listed

_ANSWERS_WITHIN = 60.0
_PAUSE = 0.1
# Records are days old when they are written; nothing may delete them but the case.
_KEPT = {"retention.ms": "-1"}


def create(admin: AdminClient, wanted: Mapping[str, tuple[int, Mapping[str, str]]]) -> None:
    """Topics with their number of partitions and configuration, one copy; returns when led."""
    topics = [
        NewTopic(name, count, 1, config={**_KEPT, **config})
        for name, (count, config) in wanted.items()
    ]
    for future in admin.create_topics(topics, request_timeout=_ANSWERS_WITHIN).values():
        future.result()
    places = [(name, number) for name, (count, _) in wanted.items() for number in range(count)]
    wait_until(lambda: _led(admin, places), what="a leader of each partition")


def _led(admin: AdminClient, places: Sequence[Place]) -> bool:
    try:
        return bool(listed(admin, places, earliest=False))
    except KafkaException:
        return False


def delete_before(admin: AdminClient, starts: Mapping[Place, int]) -> None:
    """Delete all records below these offsets, which become the log starts."""
    at = [TopicPartition(*place, offset) for place, offset in starts.items()]
    for future in admin.delete_records(at, request_timeout=_ANSWERS_WITHIN).values():
        future.result()


def commit(admin: AdminClient, positions: Mapping[str, Mapping[Place, int]]) -> None:
    """Commit by group, without members; returns when every partition has taken it."""
    left = {
        group: [TopicPartition(*place, offset) for place, offset in offsets.items()]
        for group, offsets in positions.items()
    }
    deadline = time.monotonic() + _ANSWERS_WITHIN
    # A coordinator that has not heard of a new topic yet refuses each partition, not the request.
    while left := _refused(admin, left):
        if time.monotonic() > deadline:
            raise TimeoutError(f"Coordinators refuse commits of {sorted(left)[:5]}")
        time.sleep(_PAUSE)


def _refused(
    admin: AdminClient, commits: Mapping[str, list[TopicPartition]]
) -> dict[str, list[TopicPartition]]:
    futures = {
        group: admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, at)])
        for group, at in commits.items()
    }
    refused = {}
    for group, at in commits.items():
        answered = futures[group][group].result(_ANSWERS_WITHIN).topic_partitions
        bad = {(each.topic, each.partition) for each in answered if each.error}
        if again := [each for each in at if (each.topic, each.partition) in bad]:
            refused[group] = again
    return refused


def steady_for(look: Callable[[], object], seconds: float, timeout: float = 60.0) -> None:
    """Returns once what `look` sees has not changed for so long. Raises TimeoutError."""
    deadline = time.monotonic() + timeout
    seen, since = look(), time.monotonic()
    while time.monotonic() - since < seconds:
        if time.monotonic() > deadline:
            raise TimeoutError("The logs go on changing")
        time.sleep(_PAUSE)
        if (now := look()) != seen:
            seen, since = now, time.monotonic()
