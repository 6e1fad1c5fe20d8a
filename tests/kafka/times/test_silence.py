# SPDX-License-Identifier: Apache-2.0
"""Brokers that hang or die between a reading and the look-ups after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from dev.kafka import KafkaCluster
from kafka_lag.brokers.access import Login
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.source import KafkaSource
from tests.dev.cluster_fixture import make_whole
from tests.kafka.looking import ANSWERED_WITHIN, access, create, login
from tests.kafka.times.asking import NO_ANSWER, Index, index, write

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]

VICTIM = 2
# Seconds after which a broker hangs: brokers that do not have answered by then.
HANGS = 20.0
EVERY = [("alone", number, 0.0) for number in range(6)]


@pytest.fixture(scope="module")
def cluster(mortal_cluster: KafkaCluster) -> KafkaCluster:
    """One topic, of which each broker leads some partitions that no other has."""
    make_whole(mortal_cluster)
    create(mortal_cluster, "alone", 6, replication_factor=1)
    for partition in range(6):
        write(mortal_cluster, "alone", [10], partition=partition)
    return mortal_cluster


def victims(brokers: Index) -> list[bool]:
    """For each partition whether the victim leads it."""
    assert brokers.partitions is not None
    led = brokers.partitions.numbers("leader").values == VICTIM
    assert led.any()
    assert not led.all()
    found: list[bool] = led.tolist()
    return found


@contextmanager
def paused(cluster: KafkaCluster, *nodes: int) -> Iterator[None]:
    """While this lasts the nodes keep their connections and answer nothing."""
    for node in nodes:
        cluster.pause(node)
    try:
        yield
    finally:
        for node in nodes:
            cluster.resume(node)


def without(led: list[bool]) -> list[Any]:
    return [NO_ANSWER if mine else (0, 10) for mine in led]


def test_a_broker_that_hangs_costs_its_own_answers_only(cluster: KafkaCluster) -> None:
    with index(cluster, "^alone$", broker_timeout=ANSWERED_WITHIN) as brokers:
        brokers.read_all(6)
        expected = without(victims(brokers))
        with paused(cluster, VICTIM):
            assert brokers.ask(*EVERY, seconds=HANGS) == expected
            assert brokers.ask(*EVERY, seconds=ANSWERED_WITHIN) == expected
        # Brokers may have put it out of the cluster meanwhile.
        brokers.read_all(6)
        assert brokers.ask(*EVERY) == [(0, 10)] * 6


def test_a_broker_that_hung_in_the_reading_answers_no_look_up(cluster: KafkaCluster) -> None:
    with index(cluster, "^alone$", broker_timeout=HANGS) as brokers:
        brokers.read_all(6)
        expected = without(victims(brokers))
        # Its connection is made afresh, and left behind in the middle of a handshake.
        brokers.source.close()
        with paused(cluster, VICTIM):
            assert brokers.read().problems != ()
            assert brokers.ask(*EVERY) == expected
        brokers.read_all(6)


class Counted(FixedCredentials):
    """Counts how often somebody wants to log in."""

    wanted = 0

    def candidates(self) -> Iterator[Login | None]:
        self.wanted += 1
        return super().candidates()


def test_a_cluster_that_falls_silent_answers_nothing_raises_nothing_and_is_left_alone(
    cluster: KafkaCluster,
) -> None:
    (known,) = login(cluster).candidates()
    secret = Counted(known)
    brokers = Index(KafkaSource(access(cluster), secret), "^alone$")
    brokers.read_all(6)
    before = secret.wanted
    with paused(cluster, *cluster.node_ids):
        assert brokers.ask(*EVERY, seconds=1) == [NO_ANSWER] * 6
        brokers.source.close()
        for _ in range(2):
            assert brokers.ask(*EVERY, seconds=1) == [NO_ANSWER] * 6
        assert secret.wanted == before + 1
    brokers.read_all(6)
    assert brokers.ask(*EVERY) == [(0, 10)] * 6
    brokers.source.close()
