# SPDX-License-Identifier: Apache-2.0
"""Reads a real cluster for tests: with our reader, and with Kafka's own console tool."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from confluent_kafka import (
    KafkaError,
    KafkaException,
    Producer,
)
from confluent_kafka.admin import AclOperation, AdminClient, NewTopic, ResourceType

from dev.kafka import KafkaCluster
from dev.kafka.access import acl
from dev.kafka.cluster import run_group_tool
from dev.kafka.readiness import READY_WITHIN, quiet_admin
from dev.kafka.records import commit_offsets
from kafka_lag.brokers.access import Access, Credentials
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import KafkaSource, look_up_until
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import NameFilter, Rules
from kafka_lag.lag.model import LagReport
from kafka_lag.snapshots.previous import Memory

Row = dict[str, Any]

# Seconds that are waited at most, for brokers and for whatever a test waits for: on a machine that
# is busy as well nothing but what hangs takes so long.
ANSWERED_WITHIN = READY_WITHIN


@dataclass(slots=True)
class Looker:
    """A source and what it last said, so that one look knows of the one before."""

    source: KafkaSource
    rules: Rules
    memory: Memory

    def look(self, seconds: float = ANSWERED_WITHIN) -> LagReport:
        """One reading and its evaluation, which the next look starts from."""
        before = self.memory.newest
        request = ReadRequest(
            groups=self.rules.groups,
            topics=self.rules.topics,
            known_groups=frozenset(before.groups.strings("consumer_group").to_list()),
            committed_groups=frozenset(
                before.group_partitions.strings("consumer_group").categories
            ),
            known_topics=frozenset(before.topic_partitions.strings("topic").categories),
        )
        deadline = time.monotonic() + seconds
        reading = self.source.read(request, deadline)
        look_up = look_up_until(self.source, deadline, time.monotonic)
        now = int(time.time() * 1000)
        report = evaluate(reading, self.memory.previous_runs(), self.rules, now, look_up)
        self.memory = self.memory.add_run(report.snapshot, self.rules.interval_ms, stored=True)
        return report

    def look_until(self, holds: Callable[[LagReport], bool]) -> LagReport:
        """The first report for which this holds; brokers take a moment to hear of changes."""
        deadline = time.monotonic() + ANSWERED_WITHIN
        while not holds(report := self.look()):
            assert time.monotonic() < deadline, report.problems[:20]
            time.sleep(0.1)
        return report


def access(cluster: KafkaCluster, **changes: Any) -> Access:
    """The way in over SASL_SSL, with time enough for every answer."""
    options: Row = {
        "bootstrap_servers": tuple(cluster.bootstrap("SASL_SSL").split(",")),
        "cafile": str(cluster.cafile),
        "broker_timeout": ANSWERED_WITHIN,
    }
    return Access(**{**options, **changes})


def login(cluster: KafkaCluster, user: str = "monitor") -> FixedCredentials:
    """The credentials of one of the cluster's users."""
    known = cluster.users[user]
    return FixedCredentials(Credentials(known.username, known.password))


def await_denial(cluster: KafkaCluster, topic: str) -> None:
    """Returns once every broker hides the topic from the monitor: they hear of it one by one."""
    deadline = time.monotonic() + ANSWERED_WITHIN
    for node in cluster.node_ids:
        own = {"bootstrap.servers": cluster.broker_address(node)}
        while True:
            # A new client asks the broker that it was given; one that knows others asks any.
            reported = quiet_admin(cluster.client_config("monitor") | own).list_topics(
                topic, ANSWERED_WITHIN
            )
            if reported.topics[topic].error is not None:
                break
            assert time.monotonic() < deadline, f"broker {node} does not deny {topic}"


@contextmanager
def denied(
    cluster: KafkaCluster, kind: ResourceType, name: str, what: AclOperation
) -> Iterator[None]:
    """While this lasts the monitor may not do this to this resource."""
    binding = acl("monitor", kind, name, what, allow=False)
    cluster.add_acl(binding)
    try:
        yield
    finally:
        cluster.remove_acl(binding)


@contextmanager
def looker(cluster: KafkaCluster, rules: Rules | None = None, **changes: Any) -> Iterator[Looker]:
    """A looker as the user `monitor`; its connections are closed at the end."""
    source = KafkaSource(access(cluster, **changes), login(cluster))
    try:
        yield Looker(source, rules or Rules(), Memory.empty())
    finally:
        source.close()


def only(pattern: str) -> Rules:
    """Rules for the groups and topics of one test among others on the same cluster."""
    mine = NameFilter(allow=re.compile(pattern))
    return Rules(groups=mine, topics=mine)


def rows(frame: Frame) -> list[Row]:
    """A frame as Python dictionaries, None for unknown."""
    columns = [column.to_list() for column in frame.columns.values()]
    return [dict(zip(frame.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def partitions(report: LagReport, group: str) -> dict[tuple[str, int], Row]:
    """The group's rows by topic and partition."""
    found = rows(report.snapshot.group_partitions)
    return {(r["topic"], r["partition_id"]): r for r in found if r["consumer_group"] == group}


def group(report: LagReport, name: str) -> Row:
    """The one row of a group."""
    (found,) = [r for r in rows(report.snapshot.groups) if r["consumer_group"] == name]
    return found


def create(cluster: KafkaCluster, topic: str, count: int = 1, **options: Any) -> None:
    """A topic, with three replicas by default, or as many as there are brokers."""
    options = {"replication_factor": min(3, len(cluster.node_ids)), **options}
    for future in cluster.admin().create_topics([NewTopic(topic, count, **options)]).values():
        future.result(ANSWERED_WITHIN)


def delete(cluster: KafkaCluster, topic: str) -> None:
    """Deletes a topic and returns when no broker lists it any more."""
    for future in (
        cluster.admin().delete_topics([topic], operation_timeout=ANSWERED_WITHIN).values()
    ):
        future.result(ANSWERED_WITHIN)
    deadline = time.monotonic() + ANSWERED_WITHIN
    while any(topic in _topics_of(cluster, node) for node in cluster.node_ids):
        assert time.monotonic() < deadline


def delete_group(cluster: KafkaCluster, name: str) -> None:
    """Deletes a group; librdkafka asks again when an answer is late, and then there is none."""
    for future in cluster.admin().delete_consumer_groups([name]).values():
        try:
            future.result(ANSWERED_WITHIN)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.GROUP_ID_NOT_FOUND:
                raise


def _topics_of(cluster: KafkaCluster, node: int) -> set[str]:
    client = AdminClient({"bootstrap.servers": cluster.broker_address(node, "PLAINTEXT")})
    return set(client.list_topics(timeout=ANSWERED_WITHIN).topics)


def produce(cluster: KafkaCluster, topic: str, counts: Mapping[int, int]) -> None:
    """Writes so many records to each partition."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap("PLAINTEXT"), "log_level": 0})
    for partition, count in counts.items():
        for _ in range(count):
            producer.produce(topic, b"record", partition=partition)
    assert producer.flush(ANSWERED_WITHIN) == 0


def commit(cluster: KafkaCluster, name: str, topic: str, offsets: Iterable[int]) -> None:
    """Commits for a group without members, partition 0 onwards."""
    at = {(topic, partition): offset for partition, offset in enumerate(offsets)}
    commit_offsets(cluster.admin(), {name: at})


def tool_says(cluster: KafkaCluster) -> dict[tuple[str, str, int], Row]:
    """What Kafka's console tool describes of all groups: committed, end and lag as it counts."""
    said = {}
    for line in run_group_tool(cluster, "--describe", "--all-groups").splitlines():
        cells = line.split()
        if len(cells) > 5 and cells[2].isdigit():
            committed, end, lag = (int(c) if c != "-" else None for c in cells[3:6])
            key = cells[0], cells[1], int(cells[2])
            said[key] = {"committed": committed, "end": end, "lag": lag}
    return said
