# SPDX-License-Identifier: Apache-2.0
"""A real cluster: what it offers, and whom it lets do what."""

import weakref
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AclOperation, AdminClient, NewTopic, ResourceType

from dev.kafka import KafkaCluster, Protocol
from dev.kafka.access import acl
from dev.kafka.readiness import (
    READY_WITHIN,
    brokers_seen,
    end_with_the_process,
    quiet_admin,
    wait_until,
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


def groups_seen(admin: AdminClient) -> list[str]:
    """Return the groups that brokers list to this user."""
    return [group.group_id for group in admin.list_consumer_groups().result(READY_WITHIN).valid]


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-512", "SCRAM-SHA-256"])
@pytest.mark.parametrize("protocol", ["SASL_SSL", "SASL_PLAINTEXT"])
def test_both_users_log_in_everywhere(
    shared_cluster: KafkaCluster, protocol: Protocol, mechanism: str
) -> None:
    for user in shared_cluster.users:
        config = shared_cluster.client_config(user, protocol) | {"sasl.mechanism": mechanism}

        assert brokers_seen(quiet_admin(config)) == set(shared_cluster.node_ids)


def test_both_users_have_certificates(shared_cluster: KafkaCluster) -> None:
    for user in shared_cluster.users:
        admin = quiet_admin(shared_cluster.client_config(user, "SSL"))

        assert brokers_seen(admin) == set(shared_cluster.node_ids)


def test_a_wrong_password_is_refused(shared_cluster: KafkaCluster) -> None:
    errors: list[KafkaError] = []
    config: dict[str, Any] = shared_cluster.client_config() | {"sasl.password": "wrong"}
    admin = quiet_admin(config | {"error_cb": errors.append})

    def refused() -> bool:
        admin.poll(0.1)
        return any(error.code() == KafkaError._AUTHENTICATION for error in errors)

    wait_until(refused, what="the wrong password refused")


def test_clients_learn_the_cluster_id(shared_cluster: KafkaCluster) -> None:
    assert (
        shared_cluster.admin().list_topics(timeout=READY_WITHIN).cluster_id
        == shared_cluster.cluster_id
    )


def test_commits_are_spread_over_all_brokers(shared_cluster: KafkaCluster) -> None:
    offsets = shared_cluster.admin().list_topics("__consumer_offsets")
    partitions = offsets.topics["__consumer_offsets"].partitions.values()

    assert {partition.replicas[0] for partition in partitions} == set(shared_cluster.node_ids)


def test_the_monitor_sees_topics_and_groups(monitor: AdminClient, topic: str) -> None:
    # A broker may hear of a new topic after another has taken its records.
    wait_until(
        lambda: topic in monitor.list_topics(timeout=READY_WITHIN).topics, what="the topic listed"
    )
    assert topic in groups_seen(monitor)


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


def test_a_denied_group_says_nothing_until_the_denial_is_taken_back(
    shared_cluster: KafkaCluster, monitor: AdminClient, topic: str
) -> None:
    denial = acl("monitor", ResourceType.GROUP, topic, AclOperation.DESCRIBE, allow=False)

    shared_cluster.add_acl(denial)
    try:
        wait_until(lambda: denied(monitor, topic), what="the group denied")
    finally:
        shared_cluster.remove_acl(denial)

    wait_until(lambda: not denied(monitor, topic), what="the group allowed")


def test_a_denied_topic_is_hidden_until_the_denial_is_taken_back(
    shared_cluster: KafkaCluster, monitor: AdminClient, topic: str
) -> None:
    denial = acl("monitor", ResourceType.TOPIC, topic, AclOperation.DESCRIBE, allow=False)

    shared_cluster.add_acl(denial)
    try:
        wait_until(lambda: not sees(monitor, topic), what="the topic hidden")
    finally:
        shared_cluster.remove_acl(denial)

    wait_until(lambda: sees(monitor, topic), what="the topic seen again")


def sees(admin: AdminClient, topic: str) -> bool:
    """Whether this user is shown the topic."""
    return topic in admin.list_topics(timeout=READY_WITHIN).topics


def denied(admin: AdminClient, group: str) -> bool:
    """Whether this user is refused the group's description; brokers list it all the same."""
    error = admin.describe_consumer_groups([group])[group].exception(READY_WITHIN)
    if error is None:
        return False
    return bool(error.args[0].code() == KafkaError.GROUP_AUTHORIZATION_FAILED)


def test_a_client_that_ends_with_the_process_is_not_destroyed_before() -> None:
    client = quiet_admin({"bootstrap.servers": "127.0.0.1:1"})
    left = weakref.ref(client)
    end_with_the_process(client)
    del client
    assert left() is not None
