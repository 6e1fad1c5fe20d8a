# SPDX-License-Identifier: Apache-2.0
"""Logs that are not a record an offset: markers, compaction, deleted heads."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from dev.kafka import KafkaCluster
from dev.kafka.readiness import wait_until
from kafka_lag import contract
from kafka_lag.lag.group_settings import ByName
from tests.kafka.looking import ANSWERED_WITHIN
from tests.kafka.time_lag.watched import (
    HOUR,
    MINUTE,
    Watched,
    ago,
    dated,
    every,
    said,
    stated,
    watched,
)

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]


@pytest.fixture(scope="module")
def caught_up(shared_cluster: KafkaCluster) -> Watched:
    """Two transactions of one record, both read: what is left is the marker of the second."""
    topic = watched(shared_cluster, "markers", [])
    config = {"bootstrap.servers": shared_cluster.bootstrap("PLAINTEXT"), "log_level": 0}
    producer = Producer({**config, "transactional.id": "markers"})
    producer.init_transactions(ANSWERED_WITHIN)
    for moment in ago(2 * HOUR, HOUR):
        producer.begin_transaction()
        producer.produce("markers", b"record", timestamp=moment)
        producer.commit_transaction(ANSWERED_WITHIN)
    topic.commit(3)
    return topic


def test_a_consumer_that_rests_before_a_marker_grows_older(caught_up: Watched) -> None:
    with caught_up.looker() as eyes:
        first, later = caught_up.row(eyes.look()), caught_up.row(eyes.look())
    assert (first["lag"], later["lag"]) == (1, 1)
    grown = later["time_lag_seconds"] - first["time_lag_seconds"]
    assert grown == pytest.approx((later["read_at"] - first["read_at"]) / 1000)
    assert 0 < first["time_lag_seconds"] < later["time_lag_seconds"]


def test_a_marker_that_is_allowed_is_no_time_lag(caught_up: Watched) -> None:
    report = caught_up.first_look(allowed_lag=ByName.of([("^markers$", 1)]))
    assert said(caught_up.row(report)) == (0.0, 0.0, contract.METHOD_ALLOWED)
    assert said(caught_up.group(report)) == (0.0, 0.0, contract.METHOD_ALLOWED)
    assert caught_up.group(report)["status"] == contract.OK


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


def test_the_error_of_a_hole_reaches_back_to_the_record_before_it(compacted: Watched) -> None:
    compacted.commit(13)
    row = compacted.row(compacted.first_look())
    assert stated(row) >= TEN_MINUTES[20] - TEN_MINUTES[13]


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


def test_a_deleted_record_that_was_the_newest_dates_none_that_live(
    shared_cluster: KafkaCluster,
) -> None:
    times = ago(100 * MINUTE, 190 * MINUTE, 185 * MINUTE, 180 * MINUTE)
    topic = watched(shared_cluster, "newest-gone", times)
    topic.delete_before(1)
    topic.commit(3)
    assert dated(topic.row(topic.first_look())) == pytest.approx(times[3], abs=1)


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


def test_a_date_is_not_carried_when_the_log_start_overtakes_its_record(
    shared_cluster: KafkaCluster,
) -> None:
    times = every(HOUR, 10)
    topic = watched(shared_cluster, "overtaken", times)
    topic.commit(2)
    with topic.looker() as eyes:
        first = topic.row(eyes.look())
        topic.delete_before(7)
        later = topic.row(eyes.look())
    assert dated(first) == pytest.approx(times[2], abs=1)
    assert dated(later) == pytest.approx(times[7], abs=1)
    assert (later["records_lost"], later["retention_risk"]) == (5, contract.LOST)


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
