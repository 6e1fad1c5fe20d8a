# SPDX-License-Identifier: Apache-2.0
"""A password that changes while connections with the old one are open."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from dev.kafka import Credentials as Account
from dev.kafka import KafkaCluster
from dev.kafka.access import create_users
from dev.kafka.readiness import brokers_seen, quiet_admin
from kafka_lag.brokers.access import Credentials, Login
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.errors import SourceError
from tests.dev.cluster_fixture import make_whole
from tests.kafka.looking import ANSWERED_WITHIN, access

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]


class Rotated(FixedCredentials):
    """Candidates in turn, then `new` once it is asked for others; remembers what was taken."""

    def __init__(self, *candidates: Login) -> None:
        super().__init__()
        self._in_turn = candidates
        self.taken: list[Login | None] = []
        self.new: Login | None = None

    def candidates(self) -> Iterator[Login | None]:
        yield from self._in_turn

    def others(self) -> Iterator[Login | None]:
        if self.new is not None and self.new not in self.taken:
            yield self.new

    def remember(self, login: Login | None) -> None:
        self.taken.append(login)


@pytest.fixture(name="cluster", scope="module")
def _cluster(mortal_cluster: KafkaCluster) -> KafkaCluster:
    make_whole(mortal_cluster)
    return mortal_cluster


def test_a_password_rotated_while_connected_is_learnt_when_a_broker_refuses_the_old(
    cluster: KafkaCluster,
) -> None:
    """Open connections go on with the old one; a broker that restarted wants the new."""
    old, new = (Account("rotating", password) for password in ("old-password", "new-password"))
    create_users(cluster.admin(), {"rotating": old})
    secret = Rotated(Credentials("rotating", old.password))
    secret.new = Credentials("rotating", new.password)
    source = KafkaSource(access(cluster), secret)
    _until(lambda: not _problems(source))
    create_users(cluster.admin(), {"rotating": new})
    cluster.stop(3)
    cluster.start(3)
    # Brokers of 3.6 open their listeners before they have read which passwords have changed.
    _until(lambda: bool(brokers_seen(_client(cluster, 3, new))))
    _until(lambda: _problems(source) == () and secret.taken[-1] == secret.new)
    source.close()


def _client(cluster: KafkaCluster, node: int, account: Account) -> AdminClient:
    login = {"sasl.username": account.username, "sasl.password": account.password}
    address = {"bootstrap.servers": cluster.broker_address(node)}
    return quiet_admin(cluster.client_config("monitor") | address | login)


def _problems(source: KafkaSource) -> Any:
    try:
        return source.read(ReadRequest(), time.monotonic() + ANSWERED_WITHIN).problems
    except SourceError as error:
        return (error,)


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + ANSWERED_WITHIN
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)
