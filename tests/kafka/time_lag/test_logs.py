# SPDX-License-Identifier: Apache-2.0
"""Logs with offsets that hold no record: markers, compaction, deleted heads."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from dev.kafka import KafkaCluster
from dev.kafka.readiness import wait_until
from kafka_lag import contract
from tests.kafka.looking import ANSWERED_WITHIN
from tests.kafka.time_lag.watched import (
    HOUR,
    MINUTE,
    Watched,
    ago,
    dated,
    every,
    stated,
    watched,
)

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]


COMPACTED = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.001",
    "delete.retention.ms": "0",
    "segment.ms": str(HOUR),  # by the records' own times
}
TEN_MINUTES = every(10 * MINUTE, 40)


@pytest.fixture(scope="module")
def compacted(shared_cluster: KafkaCluster) -> Watched:
    """Of forty records every tenth is left, and those of the last segment."""
    topic = watched(shared_cluster, "holes", [], config=COMPACTED)
    keys = [b"own-%d" % i if i % 10 == 0 else b"shared" for i in range(40)]
    topic.write(*([moment] for moment in TEN_MINUTES), keys=keys)
    with cleaners_in_a_hurry(shared_cluster):
        wait_until(lambda: living(topic)[:4] == [0, 10, 20, 30], what="the log compacted")
    return topic


@pytest.mark.parametrize(
    ("committed", "next_living"), [(1, 10), (10, 10), (13, 20), (29, 30), (30, 30)]
)
def test_where_records_were_compacted_away_the_next_living_one_is_dated(
    compacted: Watched, committed: int, next_living: int
) -> None:
    compacted.commit(committed)
    row = compacted.row(compacted.first_look())
    assert row["next_record_time"] == TEN_MINUTES[next_living]
    assert dated(row) == pytest.approx(TEN_MINUTES[next_living], abs=1)


# Offset 0 is its segment's newest record; without it brokers deny that any time up to it exists.
HEADED = [*ago(100 * MINUTE, 190 * MINUTE, 180 * MINUTE), *ago(30 * MINUTE, 20 * MINUTE)]


@pytest.fixture(scope="module")
def beheaded(shared_cluster: KafkaCluster) -> Watched:
    """Two segments; the newest record of the first was deleted."""
    topic = watched(shared_cluster, "no-head", [], config={"segment.ms": str(HOUR)})
    topic.write(HEADED[:3], HEADED[3:])
    topic.delete_before(1)
    return topic


@pytest.mark.parametrize("committed", [1, 2, 3, 4])
def test_a_deleted_record_dates_none_behind_it(beheaded: Watched, committed: int) -> None:
    beheaded.commit(committed)
    row = beheaded.row(beheaded.first_look())
    assert abs(dated(row) - max(HEADED[1 : committed + 1])) <= min(stated(row), 2_001)
    assert (row["records_lost"], row["retention_risk"]) == (0, contract.SAFE)


def test_a_commit_that_the_log_start_overtook_is_dated_from_there_and_is_an_error(
    beheaded: Watched,
) -> None:
    beheaded.commit(0)
    report = beheaded.first_look()
    row = beheaded.row(report)
    assert dated(row) == pytest.approx(HEADED[1], abs=1)
    assert (row["lag"], row["records_lost"], row["retention_risk"]) == (4, 1, contract.LOST)
    assert (row["status"], row["status_reason"]) == (contract.ERR, contract.RECORDS_LOST)
    assert beheaded.group(report)["status"] == contract.ERR


@contextmanager
def cleaners_in_a_hurry(cluster: KafkaCluster) -> Iterator[None]:
    """Log cleaners begin anew at once, and look again ten times a second instead of at times."""
    _let_cleaners_rest(cluster, "100", AlterConfigOpType.SET)
    try:
        yield
    finally:
        _let_cleaners_rest(cluster, None, AlterConfigOpType.DELETE)


def _let_cleaners_rest(cluster: KafkaCluster, ms: str | None, how: AlterConfigOpType) -> None:
    for node in cluster.node_ids:
        entry = ConfigEntry("log.cleaner.backoff.ms", ms, incremental_operation=how)
        broker = ConfigResource(ResourceType.BROKER, str(node), incremental_configs=[entry])
        for future in cluster.admin().incremental_alter_configs([broker]).values():
            future.result(ANSWERED_WITHIN)


def living(topic: Watched) -> list[int]:
    """The offsets at which partition 0 still has a record."""
    consumer = Consumer(
        {
            "bootstrap.servers": topic.cluster.bootstrap("PLAINTEXT"),
            "group.id": "living",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )
    consumer.assign([TopicPartition(topic.name, 0, OFFSET_BEGINNING)])
    found: list[int] = []
    deadline = time.monotonic() + ANSWERED_WITHIN
    while time.monotonic() < deadline:
        if (message := consumer.poll(1)) is None:
            continue
        if (error := message.error()) is None:
            found.append(int(message.offset() or 0))
        elif error.code() == KafkaError._PARTITION_EOF:
            break
    consumer.close()
    return found
