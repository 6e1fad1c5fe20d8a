# SPDX-License-Identifier: Apache-2.0
"""Makes the group that the collector reads: it has no members, and its commit is set back later."""

from __future__ import annotations

from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from dev.kafka import KafkaCluster
from dev.kafka.access import wait_for
from dev.kafka.records import commit_offsets

GROUP, TOPIC = "billing", "invoices"
RECORDS, COMMITTED, REWOUND = 30, 24, 10
LAG = RECORDS - REWOUND

_WITHIN = 240.0


def leave_backlog(cluster: KafkaCluster) -> None:
    """Writes the topic's one partition and commits for the group, which has no members."""
    copies = len(cluster.node_ids)
    wait_for(cluster.admin().create_topics([NewTopic(TOPIC, 1, replication_factor=copies)]))
    producer = Producer({"bootstrap.servers": cluster.bootstrap("PLAINTEXT"), "log_level": 0})
    for _ in range(RECORDS):
        producer.produce(TOPIC, b"record", partition=0)
    producer.flush(_WITHIN)
    _commit(cluster, COMMITTED)


def rewind(cluster: KafkaCluster) -> None:
    """Commits an earlier offset, which is a status (REWIND) as soon as it is seen."""
    _commit(cluster, REWOUND)


def _commit(cluster: KafkaCluster, offset: int) -> None:
    commit_offsets(cluster.admin(), {GROUP: {(TOPIC, 0): offset}})
