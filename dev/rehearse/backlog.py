# SPDX-License-Identifier: Apache-2.0
"""What the collector reads: a group that nobody runs, whose commit then goes back."""

from __future__ import annotations

from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import NewTopic

from dev.kafka import KafkaCluster
from dev.kafka.readiness import wait_until

GROUP, TOPIC = "billing", "invoices"
RECORDS, COMMITTED, REWOUND = 30, 24, 10
LAG = RECORDS - REWOUND

_WITHIN = 240.0


def leave_backlog(cluster: KafkaCluster) -> None:
    """Writes the topic's one partition and commits for the group, which has no members."""
    admin = cluster.admin()
    topic = NewTopic(TOPIC, 1, replication_factor=len(cluster.node_ids))
    for created in admin.create_topics([topic]).values():
        created.result(_WITHIN)
    producer = Producer({"bootstrap.servers": cluster.bootstrap("PLAINTEXT"), "log_level": 0})
    for _ in range(RECORDS):
        producer.produce(TOPIC, b"record", partition=0)
    producer.flush(_WITHIN)
    _commit(cluster, COMMITTED)


def rewind(cluster: KafkaCluster) -> None:
    """Commits an earlier offset, which is a status (REWIND) as soon as it is seen."""
    _commit(cluster, REWOUND)


def _commit(cluster: KafkaCluster, offset: int) -> None:
    def committed() -> bool:
        offsets = ConsumerGroupTopicPartitions(GROUP, [TopicPartition(TOPIC, 0, offset)])
        (future,) = cluster.admin().alter_consumer_group_offsets([offsets]).values()
        return not any(each.error for each in future.result(_WITHIN).topic_partitions)

    # A coordinator that has not heard of a new topic yet refuses the partition.
    wait_until(committed, what="the commit of a group", timeout=_WITHIN)
