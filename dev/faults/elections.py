# SPDX-License-Identifier: Apache-2.0
"""Moves leaders: changes the order of replicas (KIP-455), then elects the preferred ones.

confluent-kafka 2.16 cannot reorder replicas, and its `elect_leaders` ends in a SystemError.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing

from kafka import TopicPartition
from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError

from dev.kafka import KafkaClusterError

_PREFERRED, _ANSWERS_WITHIN_MS, _ORDERED_WITHIN = 0, 10_000, 0.3


def elect_first(address: str, replicas: Mapping[str, Mapping[int, Sequence[int]]]) -> None:
    """Makes the first of its replicas the leader of each partition; no data moves.

    `replicas` are the present replicas of each partition, by topic and number. `address` is the
    address of a listener without login. Raises KafkaClusterError. A partition whose replica is out
    of sync keeps its leader.
    """
    orders = {
        TopicPartition(topic, number): [*order]
        for topic, partitions in replicas.items()
        for number, order in partitions.items()
    }
    wanted = {topic: [*numbers] for topic, numbers in replicas.items()}
    try:
        with closing(KafkaAdminClient(bootstrap_servers=address)) as admin:
            admin.alter_partition_reassignments(orders, timeout_ms=_ANSWERS_WITHIN_MS)
            time.sleep(_ORDERED_WITHIN)
            admin.elect_leaders(
                _PREFERRED, wanted, timeout_ms=_ANSWERS_WITHIN_MS, raise_errors=False
            )
    except KafkaError as error:
        raise KafkaClusterError(f"The brokers refused to move leaders: {error}") from error
