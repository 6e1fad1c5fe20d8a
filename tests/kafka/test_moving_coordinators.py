# SPDX-License-Identifier: Apache-2.0
"""Coordinators that move while runs go on: ListGroups leaves their groups out without an error."""

from __future__ import annotations

import threading

import pytest

from dev.faults.elections import elect_preferred, reorder_replicas
from dev.kafka import KafkaCluster
from kafka_lag.lag.model import LagReport
from tests.kafka.looking import ANSWERED_WITHIN, commit, create, looker, only, produce, rows

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]

COMMITS = "__consumer_offsets"
NAMES = [f"moved-{number:02d}" for number in range(12)]
MOVES = 6


def move(cluster: KafkaCluster, by: int) -> None:
    """Every group gets another coordinator."""
    nodes = cluster.node_ids
    known = cluster.admin().list_topics(COMMITS, ANSWERED_WITHIN).topics[COMMITS].partitions
    orders = {n: [nodes[(n + by + at) % len(nodes)] for at in range(len(nodes))] for n in known}
    address = cluster.broker_address(nodes[0], "PLAINTEXT")
    reorder_replicas(address, {COMMITS: orders})
    elect_preferred(address, {COMMITS: list(known)})


def lags(report: LagReport) -> dict[str, int | None]:
    """Of the groups that were read; None of those that keep a row with a reason."""
    found = rows(report.snapshot.groups)
    return {r["consumer_group"]: None if r["unread_reason"] else r["lag"] for r in found}


def test_from_the_second_run_on_a_group_is_read_or_named_while_coordinators_move(
    shared_cluster: KafkaCluster,
) -> None:
    create(shared_cluster, "moved", 1)
    produce(shared_cluster, "moved", {0: 9})
    for name in NAMES:
        commit(shared_cluster, name, "moved", [4])
    over = threading.Event()

    def moves() -> None:
        try:
            for by in range(MOVES):
                move(shared_cluster, by)
        finally:
            over.set()

    with looker(shared_cluster, only("^moved")) as eyes:
        eyes.look_until(lambda seen: set(lags(seen)) == set(NAMES))
        thread = threading.Thread(target=moves)
        thread.start()
        seen = [eyes.look(30.0)]
        while not over.is_set():
            seen.append(eyes.look(30.0))
        thread.join()
        last = eyes.look_until(lambda report: set(lags(report).values()) == {5})
    assert all(set(lags(report)) == set(NAMES) for report in [*seen, last])
    assert {lag for report in seen for lag in lags(report).values()} <= {None, 5}
    for report in seen:
        unread = {name for name, lag in lags(report).items() if lag is None}
        assert unread <= {p.name for p in report.problems if p.scope == "group"}
