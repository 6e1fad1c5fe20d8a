# SPDX-License-Identifier: Apache-2.0
"""Topics whose records have known times, each with one group, and this group's values."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from dev.kafka import KafkaCluster
from dev.kafka.readiness import wait_until
from dev.kafka.records import delete_records
from kafka_lag.lag.model import LagReport
from tests.kafka.looking import (
    ANSWERED_WITHIN,
    Looker,
    Row,
    commit,
    create,
    group,
    looker,
    only,
    partitions,
    rows,
)

# Milliseconds; records are dated back from NOW.
NOW = int(time.time() * 1000)
SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000

# Brokers here look every second for what is too old, and records are days old when written.
_KEPT = {"retention.ms": "-1"}


@dataclass(frozen=True, slots=True)
class Watched:
    """A topic, one copy of each partition, and the group `on-<topic>`, which has no members."""

    cluster: KafkaCluster
    name: str

    def write(
        self,
        *batches: Iterable[int],
        partition: int = 0,
        keys: Iterable[bytes | None] = repeat(None),
    ) -> None:
        """Records with these times, ms, each iterable a batch of its own; `keys` one a record."""
        errors: list[str] = []
        producer = Producer(
            {
                "bootstrap.servers": self.cluster.bootstrap("PLAINTEXT"),
                "log_level": 0,
                "linger.ms": 20,
                "delivery.report.only.error": True,
                "on_delivery": lambda error, _: errors.append(str(error)),
            }
        )
        next_keys = iter(keys)
        for batch in batches:
            for moment in batch:
                producer.produce(self.name, b"record", next(next_keys), partition, timestamp=moment)
            assert producer.flush(ANSWERED_WITHIN) == 0
        assert not errors

    def commit(self, *offsets: int) -> None:
        """Commits of the group, partition 0 onwards."""
        commit(self.cluster, f"on-{self.name}", self.name, offsets)

    def delete_before(self, offset: int) -> None:
        """Deletes what partition 0 holds below this offset."""
        delete_records(self.cluster.admin(), {(self.name, 0): offset})

    @contextmanager
    def looker(self, **rules: Any) -> Iterator[Looker]:
        """Looks at this topic and group only, by rules that may differ from the usual."""
        mine = replace(only(f"^(on-)?{self.name}$"), **rules)
        with looker(self.cluster, mine) as eyes:
            yield eyes

    def first_look(self, **rules: Any) -> LagReport:
        """What is said on a cold start."""
        with self.looker(**rules) as eyes:
            return eyes.look()

    def row(self, report: LagReport, partition: int = 0) -> Row:
        """What a report says of the group on one partition."""
        return partitions(report, f"on-{self.name}")[self.name, partition]

    def group(self, report: LagReport) -> Row:
        """What a report says of the whole group."""
        return group(report, f"on-{self.name}")


def watched(
    cluster: KafkaCluster,
    name: str,
    *logs: Iterable[int],
    config: Mapping[str, str] | None = None,
) -> Watched:
    """A new topic with a partition for each log of times, ms; returns when all brokers know it."""
    create(cluster, name, len(logs), replication_factor=1, config={**_KEPT, **(config or {})})
    wait_until_led(cluster, name, len(logs))
    topic = Watched(cluster, name)
    for partition, times in enumerate(logs):
        topic.write(times, partition=partition)
    return topic


def wait_until_led(cluster: KafkaCluster, name: str, count: int) -> None:
    """Returns when every broker tells a leader of each of so many partitions."""
    clients = [
        AdminClient(
            {"bootstrap.servers": cluster.broker_address(node, "PLAINTEXT"), "log_level": 0}
        )
        for node in cluster.node_ids
    ]
    wait_until(lambda: all(_led(client, name, count) for client in clients), what=name)


def _led(client: AdminClient, name: str, count: int) -> bool:
    reported = client.list_topics(name, timeout=ANSWERED_WITHIN).topics[name].partitions.values()
    return [partition.leader > 0 for partition in reported] == [True] * count


def ago(*ages: int) -> list[int]:
    """Times so many ms before NOW."""
    return [NOW - age for age in ages]


def every(step: int, count: int) -> list[int]:
    """Times with so many ms between them, the last one a step before NOW."""
    return [NOW - step * number for number in range(count, 0, -1)]


def dated(row: Row) -> float:
    """When the next unread record was appended, ms, as the row's time lag has it."""
    return float(row["read_at"] - row["time_lag_seconds"] * 1000)


def stated(row: Row) -> float:
    """How far off that may be as the row says, ms, and what rounding to a millisecond takes."""
    return float(row["time_lag_error_seconds"] * 1000 + 1)


def said(row: Row) -> tuple[float | None, float | None, str | None]:
    """Time lag, error and method, as they are."""
    return row["time_lag_seconds"], row["time_lag_error_seconds"], row["time_lag_method"]


def times_told(report: LagReport) -> list[float]:
    """Every time lag and error in a report, of partitions, topics and groups."""
    names = ("time_lag_seconds", "time_lag_error_seconds")
    frames = report.snapshot.group_partitions, report.snapshot.groups, report.group_topics
    every_row = [row for frame in frames for row in rows(frame)]
    return [row[n] for row in every_row for n in names if row.get(n) is not None]
