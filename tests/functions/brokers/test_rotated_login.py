# SPDX-License-Identifier: Apache-2.0
"""A password that changes: brokers learn of it one by one, and no broker is lost meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from kafka_lag.brokers.access import Credentials, Login
from kafka_lag.brokers.aws_login import SecretCredentials
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import KafkaSource
from tests.functions.brokers.listening import ALL, Cluster

OLD, NEW, NEWER = "old", "new", "newer"


@pytest.fixture(autouse=True)
def _old_password(brokers: Cluster) -> None:
    for broker in brokers.brokers:
        broker.passwords = {OLD}


class Secret:
    """A Secrets Manager with one secret; `versions` are passwords, the current one last."""

    def __init__(self, *versions: str) -> None:
        self.versions = list(versions)
        self.read = 0

    def get_secret_value(self, SecretId: str, VersionStage: str) -> dict[str, str]:  # noqa: N803
        self.read += 1
        password = self.versions[-1 if VersionStage == "AWSCURRENT" else -2]
        return {"SecretString": f'{{"username": "monitor", "password": "{password}"}}'}


class Reader:
    """A source that logs in, and which brokers its last reading is of."""

    def __init__(self, brokers: Cluster, *versions: str) -> None:
        self.secret = Secret(*versions)
        access = brokers.access(
            security_protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN", broker_timeout=2.0
        )
        self.source = KafkaSource(access, SecretCredentials(self.secret, "secret"))

    def __call__(self) -> list[int]:
        reading = self.source.read(ReadRequest(), time.monotonic() + 60)
        ends = reading.topic_partitions.strings("unread_reason").to_list()
        return [at + 1 for at, why in enumerate(ends) if why is None]


def cut(brokers: Cluster, *nodes: int) -> None:
    """Ends the connections, as a broker that restarts does."""
    for node in nodes:
        brokers[node].cut()


@pytest.mark.parametrize("knowing", [{1}, {3}, {1, 2}, {2, 3}], ids=str)
def test_a_cold_run_is_of_every_broker_that_accepts_either_login(
    brokers: Cluster, knowing: set[int]
) -> None:
    for node in knowing:
        brokers[node].passwords = {NEW}
    read = Reader(brokers, OLD, NEW)
    assert [read() for _ in range(3)] == [[1, 2, 3]] * 3
    # While no broker refuses, the secret is not read.
    before = read.secret.read
    cut(brokers, 1, 2, 3)
    assert read() == [1, 2, 3]
    assert read.secret.read == before


def test_a_warm_run_is_of_every_broker_while_they_learn_one_by_one(brokers: Cluster) -> None:
    read = Reader(brokers, "older", OLD)
    assert read() == [1, 2, 3]
    made = brokers[3].connections_made
    read.secret.versions.append(NEW)
    for node in (2, 1):
        brokers[node].passwords = {NEW}
        cut(brokers, node)
        assert read() == [1, 2, 3]
        assert read() == [1, 2, 3]
    # A connection that works is kept when another login is learnt.
    assert brokers[3].connections_made == made
    brokers[3].passwords = {NEW}
    cut(brokers, 3)
    assert read() == [1, 2, 3]


def test_a_broker_that_learns_late_is_read_once_the_login_is_known(brokers: Cluster) -> None:
    read = Reader(brokers, OLD, NEW)
    brokers[3].passwords = {NEWER}
    assert read() == [1, 2]
    assert read() == [1, 2]
    read.secret.versions.append(NEWER)
    assert read() == [1, 2, 3]
    brokers[3].passwords = {OLD}
    cut(brokers, 3)
    assert read() == [1, 2, 3]


def test_a_hung_broker_is_waited_for_once_though_another_refuses_a_login(
    brokers: Cluster,
) -> None:
    brokers[2].hangs_on = {ALL}
    brokers[3].passwords = {NEW}
    read = Reader(brokers, OLD, NEW)
    began = time.monotonic()
    assert read() == [1, 3]
    # Twice would be four seconds.
    assert time.monotonic() - began < 3.0


def test_a_login_that_a_broker_learns_runs_later_is_what_new_connections_begin_with(
    brokers: Cluster,
) -> None:
    read = Reader(brokers, "older", OLD)
    read()
    read.secret.versions.append(NEW)
    brokers[3].passwords = {NEWER}
    cut(brokers, 3)
    assert read() == [1, 2]
    for broker in brokers.brokers:
        broker.passwords = {NEW}
    assert read() == [1, 2, 3]
    read.source.close()
    before = read.secret.read
    assert read() == [1, 2, 3]
    assert read.secret.read == before


class Two:
    """Logins in turn, with none to offer afterwards."""

    def candidates(self) -> Iterator[Login | None]:
        yield Credentials("monitor", OLD)

    def others(self) -> Iterator[Login | None]:
        yield Credentials("monitor", OLD)

    def remember(self, login: Login | None) -> None:
        """Not remembered."""


def test_a_login_that_is_known_is_no_reason_to_read_again(brokers: Cluster) -> None:
    brokers[3].passwords = {NEW}
    access = brokers.access(security_protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN")
    KafkaSource(access, Two()).read(ReadRequest(), time.monotonic() + 60)
    assert brokers[1].requests.count("ListGroups") == 1
