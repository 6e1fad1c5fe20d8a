# SPDX-License-Identifier: Apache-2.0
"""Moves leaders: replicas in another order (KIP-455), then the preferred ones are elected.

confluent-kafka 2.16 cannot reorder replicas, and its `elect_leaders` ends in a SystemError.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing

from kafka import TopicPartition
from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError

from dev.kafka import KafkaClusterError

_PREFERRED, _ANSWERS_WITHIN_MS = 0, 10_000


def reorder_replicas(address: str, replicas: Mapping[str, Mapping[int, Sequence[int]]]) -> None:
    """Sets the order of replicas by topic and partition; no data moves when they stay the same.

    `address` is that of a listener without login. Raises KafkaClusterError.
    """
    orders = {
        TopicPartition(topic, number): [*order]
        for topic, partitions in replicas.items()
        for number, order in partitions.items()
    }
    try:
        with closing(KafkaAdminClient(bootstrap_servers=address)) as admin:
            admin.alter_partition_reassignments(orders, timeout_ms=_ANSWERS_WITHIN_MS)
    except KafkaError as error:
        raise KafkaClusterError(f"The brokers refused to reorder replicas: {error}") from error


def elect_preferred(address: str, partitions: Mapping[str, Iterable[int]]) -> None:
    """Makes the first of its replicas the leader of each of these partitions, by topic.

    Raises KafkaClusterError. A partition whose replica is out of sync keeps its leader.
    """
    wanted = {topic: [*numbers] for topic, numbers in partitions.items()}
    try:
        with closing(KafkaAdminClient(bootstrap_servers=address)) as admin:
            admin.elect_leaders(
                _PREFERRED, wanted, timeout_ms=_ANSWERS_WITHIN_MS, raise_errors=False
            )
    except KafkaError as error:
        raise KafkaClusterError(f"The brokers refused to move leaders: {error}") from error
