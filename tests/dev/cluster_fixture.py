# SPDX-License-Identifier: Apache-2.0
"""The two real clusters that the tests of a session share."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dev.kafka import KafkaCluster

# Brokers that nobody stops: one that a busy machine keeps from its work is put out no sooner than
# one that hangs would be, and leads on.
STEADY = {
    "broker.session.timeout.ms": "240000",
    "controller.quorum.fetch.timeout.ms": "60000",
    "replica.lag.time.max.ms": "240000",
}


@pytest.fixture(scope="session")
def shared_cluster() -> Iterator[KafkaCluster]:
    """Three brokers that no test stops; each test has topic names of its own."""
    from dev.kafka import KafkaCluster

    with KafkaCluster(settings=STEADY) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def mortal_cluster() -> Iterator[KafkaCluster]:
    """Three brokers that tests stop, kill and pause; who needs them whole calls `make_whole`."""
    from dev.kafka import KafkaCluster

    with KafkaCluster() as cluster:
        yield cluster


def make_whole(cluster: KafkaCluster) -> None:
    """Return once all brokers run, see each other and serve their groups."""
    from dev.kafka.readiness import wait_for_coordinators, wait_until

    for node in cluster.node_ids:
        if cluster.alive(node):
            cluster.resume(node)
        else:
            cluster.start(node)
    for node in cluster.node_ids:
        wait_until(partial(_sees_all, cluster, node), what=f"node {node} seeing all brokers")
    wait_for_coordinators(cluster.admin(), count=6)


def _sees_all(cluster: KafkaCluster, node: int) -> bool:
    from dev.kafka.readiness import brokers_seen, quiet_admin

    # A new client asks the broker that it was given.
    admin = quiet_admin({"bootstrap.servers": cluster.broker_address(node, "PLAINTEXT")})
    return brokers_seen(admin) == set(cluster.node_ids)
