# SPDX-License-Identifier: Apache-2.0
"""Nodes one by one: stopped, killed, paused, started again."""

import pytest
from confluent_kafka import KafkaException

from dev.kafka import KafkaCluster, KafkaClusterError
from dev.kafka.readiness import brokers_seen, groups_served, quiet_admin, wait_until
from tests.dev.cluster_fixture import make_whole

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]
VICTIM = 3


@pytest.fixture
def cluster(mortal_cluster: KafkaCluster) -> KafkaCluster:
    """Whole, whatever a test left of it."""
    make_whole(mortal_cluster)
    return mortal_cluster


def seen(cluster: KafkaCluster) -> set[int]:
    """Return the brokers that node 1 takes to be alive."""
    config = {"bootstrap.servers": cluster.broker_address(1, "PLAINTEXT")}
    return set(brokers_seen(quiet_admin(config)))


def answers(cluster: KafkaCluster, node: int) -> bool:
    """Whether this very broker answers a client within two seconds."""
    config = {"bootstrap.servers": cluster.broker_address(node, "PLAINTEXT")}
    try:
        return bool(quiet_admin(config).list_topics(timeout=2).brokers)
    except KafkaException:
        return False


def test_a_stopped_node_is_missed_and_comes_back(cluster: KafkaCluster) -> None:
    cluster.stop(VICTIM)

    assert not cluster.alive(VICTIM)
    wait_until(lambda: seen(cluster) == {1, 2}, what="node 3 missed")
    cluster.start(VICTIM)
    wait_until(lambda: answers(cluster, VICTIM), what="node 3 answering")


def test_a_killed_node_comes_back_to_a_client_that_asked_for_a_group_meanwhile(
    cluster: KafkaCluster,
) -> None:
    cluster.kill(VICTIM)
    address = cluster.broker_address(VICTIM, "PLAINTEXT")
    admin = quiet_admin({"bootstrap.servers": address, "reconnect.backoff.max.ms": 500})

    assert not cluster.alive(VICTIM)
    assert not groups_served(admin, ["a"], timeout=0.5)
    cluster.start(VICTIM)
    wait_until(lambda: answers(cluster, VICTIM), what="node 3 answering")
    # A request that had timed out would abort this very process now.
    wait_until(lambda: groups_served(admin, ["a"]), what="the group served")


def test_a_paused_node_lives_and_does_not_answer_until_it_goes_on(cluster: KafkaCluster) -> None:
    cluster.pause(VICTIM)

    assert cluster.alive(VICTIM)
    assert not answers(cluster, VICTIM)
    cluster.resume(VICTIM)
    wait_until(lambda: answers(cluster, VICTIM), what="node 3 answering")


def test_a_running_node_cannot_be_started(cluster: KafkaCluster) -> None:
    with pytest.raises(KafkaClusterError, match="Node 3 runs already"):
        cluster.start(VICTIM)
