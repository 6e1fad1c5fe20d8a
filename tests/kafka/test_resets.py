# SPDX-License-Identifier: Apache-2.0
"""Commits of real clients, and tools that set offsets: only the tools skip records."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from confluent_kafka import Consumer

from dev.kafka import KafkaCluster
from dev.kafka.cluster import run_group_tool
from kafka_lag import contract
from tests.kafka.looking import (
    ANSWERED_WITHIN,
    Row,
    commit,
    create,
    group,
    looker,
    only,
    partitions,
    produce,
)

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]

WRITTEN, READ = 30, 10


def read(cluster: KafkaCluster, name: str, count: int) -> None:
    """Reads so many records of partition 0, commits each one and leaves."""
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap("PLAINTEXT"),
            "group.id": name,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "log_level": 0,
        }
    )
    consumer.subscribe([name])
    deadline, found = time.monotonic() + ANSWERED_WITHIN, 0
    while found < count:
        assert time.monotonic() < deadline
        message = consumer.poll(1.0)
        if message is not None and message.error() is None:
            found += 1
            consumer.commit(message=message, asynchronous=False)
    consumer.close()


def prepared(cluster: KafkaCluster, name: str) -> None:
    """A topic of which the group has read some records."""
    create(cluster, name)
    produce(cluster, name, {0: WRITTEN})
    read(cluster, name, READ)


def seen(cluster: KafkaCluster, name: str, act: Callable[[], object]) -> Row:
    """The group's partition after two looks, between which something is done."""
    with looker(cluster, only(f"^{name}$")) as looking:
        before = looking.look_until(
            lambda report: (
                partitions(report, name).get((name, 0), {}).get("committed_offset") == READ
                and group(report, name)["members"] == 0
            )
        )
        assert partitions(before, name)[name, 0]["commit_epoch"] is not None
        act()
        after = looking.look_until(lambda report: group(report, name)["members"] == 0)
        return partitions(after, name)[name, 0]


def test_a_small_reset_is_a_skip(shared_cluster: KafkaCluster) -> None:
    name = "reset"
    prepared(shared_cluster, name)
    to_latest = ("--reset-offsets", "--to-latest", "--execute", "--group", name, "--topic", name)

    row = seen(shared_cluster, name, lambda: run_group_tool(shared_cluster, *to_latest))

    assert (row["skipped_from"], row["skipped_to"]) == (READ, WRITTEN)
    assert (row["consume_rate"], row["commit_epoch"]) == (None, None)


def test_what_was_read_between_two_looks_is_none(shared_cluster: KafkaCluster) -> None:
    name = "read-on"
    prepared(shared_cluster, name)

    row = seen(shared_cluster, name, lambda: read(shared_cluster, name, WRITTEN - READ))

    assert (row["committed_offset"], row["skipped_at"]) == (WRITTEN, None)
    assert row["consume_rate"] > 0


def test_offsets_that_are_gone_leave_records_unread(shared_cluster: KafkaCluster) -> None:
    name, other = "offsets-gone", "offsets-kept"
    for topic in (name, other):
        create(shared_cluster, topic)
        produce(shared_cluster, topic, {0: WRITTEN})
        commit(shared_cluster, name, topic, [READ])
    with looker(shared_cluster, only("^offsets-")) as looking:
        looking.look_until(lambda report: len(partitions(report, name)) == 2)
        run_group_tool(shared_cluster, "--delete-offsets", "--group", name, "--topic", name)
        report = looking.look_until(lambda report: len(partitions(report, name)) == 1)

    row = group(report, name)
    assert (row["records_skipped"], row["skip_reason"]) == (WRITTEN - READ, contract.GONE)
    assert f"in topic '{name}' any more" in " ".join(report.warnings)
