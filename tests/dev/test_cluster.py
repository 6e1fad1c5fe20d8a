# SPDX-License-Identifier: Apache-2.0
"""A real cluster: its features, and the rights of its users."""

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from dev.kafka import KafkaCluster
from dev.kafka.readiness import (
    READY_WITHIN,
    quiet_admin,
)

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]
TOPIC = "cluster-test"


@pytest.fixture(scope="module")
def topic(shared_cluster: KafkaCluster) -> str:
    """A topic of three partitions and, under the same name, a group with one commit."""
    created = shared_cluster.admin().create_topics([NewTopic(TOPIC, 3)])
    created[TOPIC].result(READY_WITHIN)
    consumer = Consumer({**shared_cluster.client_config(), "group.id": TOPIC})
    consumer.commit(offsets=[TopicPartition(TOPIC, 0, 0)], asynchronous=False)
    consumer.close()
    return TOPIC


@pytest.fixture
def monitor(shared_cluster: KafkaCluster) -> AdminClient:
    """An admin client that logs in as the user with the fewest permissions."""
    return quiet_admin(shared_cluster.client_config("monitor"))


def test_the_monitor_may_not_create_topics(monitor: AdminClient) -> None:
    with pytest.raises(KafkaException, match="TOPIC_AUTHORIZATION_FAILED"):
        monitor.create_topics([NewTopic("not-for-the-monitor", 1)])["not-for-the-monitor"].result(
            READY_WITHIN
        )


def test_the_monitor_may_not_read_records(shared_cluster: KafkaCluster, topic: str) -> None:
    config = shared_cluster.client_config("monitor")
    consumer = Consumer({**config, "group.id": "monitor", "log_level": 0})
    consumer.assign([TopicPartition(topic, 0, 0)])

    message = consumer.poll(READY_WITHIN)
    consumer.close()

    error = message.error() if message else None
    assert error is not None
    assert error.code() in (
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
    )
