# SPDX-License-Identifier: Apache-2.0
"""Rebalances of real groups, in the protocol that counts them and in the one that does not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import Consumer

from dev.kafka import CONSUMER_PROTOCOL, KafkaCluster
from tests.kafka.looking import Looker, Row, create, looker, only, partitions, produce, rows
from tests.kafka_versions import needs

pytestmark = [pytest.mark.kafka, pytest.mark.thorough, pytest.mark.timeout(900)]

Join = Callable[[], Consumer]


@contextmanager
def joining(cluster: KafkaCluster, name: str, protocol: str) -> Iterator[Join]:
    """Makes members of a group on the topic of its name, which leave at the end."""
    members: list[Consumer] = []
    config = {
        **cluster.client_config("admin"),
        "log_level": 0,
        "group.id": name,
        "group.protocol": protocol,
        "auto.offset.reset": "earliest",
        "auto.commit.interval.ms": 200,
    }

    def join() -> Consumer:
        members.append(Consumer(config))
        members[-1].subscribe([name])
        return members[-1]

    try:
        yield join
    finally:
        for member in members:
            member.close()


def settled(eyes: Looker, name: str, members: list[Consumer], seconds: float = 90) -> list[Row]:
    """The group's row in each look, the last that of the first in which all members own some."""
    seen: list[Row] = []
    deadline = time.monotonic() + seconds
    while True:
        for member in members:
            member.poll(0.1)
        report = eyes.look()
        owners = {row["member_id"] for row in partitions(report, name).values()} - {None}
        seen += rows(report.snapshot.groups)
        if len(owners) == len(members) and seen[-1]["group_state"] == "Stable":
            return seen
        assert time.monotonic() < deadline, seen[-3:]


@needs(CONSUMER_PROTOCOL)
def test_a_second_member_of_a_kip_848_group_is_a_rebalance_and_peace_is_none(
    shared_cluster: KafkaCluster,
) -> None:
    name = "rebalanced-new"
    create(shared_cluster, name, 4)
    produce(shared_cluster, name, dict.fromkeys(range(4), 5))
    with (
        joining(shared_cluster, name, "consumer") as join,
        looker(shared_cluster, only(f"^{name}$")) as eyes,
    ):
        first = join()
        before = settled(eyes, name, [first])[-1]
        quiet = settled(eyes, name, [first])[-1]
        seen = settled(eyes, name, [first, join()])

    assert (quiet["group_epoch"], quiet["rebalances"]) == (before["group_epoch"], 0)
    rebalances = sum(row["rebalances"] or 0 for row in seen)
    assert rebalances >= 1
    assert rebalances == seen[-1]["group_epoch"] - quiet["group_epoch"]


def test_twenty_rebalances_of_a_classic_group_are_seen_each_between_two_readings(
    shared_cluster: KafkaCluster,
) -> None:
    """A second member joins and leaves ten times; peace between two readings is none."""
    name = "rebalanced-old"
    create(shared_cluster, name, 4)
    produce(shared_cluster, name, dict.fromkeys(range(4), 5))
    seen = []
    with (
        joining(shared_cluster, name, "classic") as join,
        looker(shared_cluster, only(f"^{name}$")) as eyes,
    ):
        first = join()
        settled(eyes, name, [first])
        quiet = settled(eyes, name, [first])[-1]
        for _ in range(10):
            second = join()
            seen.append(settled(eyes, name, [first, second]))
            second.close()
            seen.append(settled(eyes, name, [first]))

    assert (quiet["group_epoch"], quiet["rebalances"]) == (None, 0)
    assert [sum(row["rebalances"] or 0 for row in rows) >= 1 for rows in seen] == [True] * 20
