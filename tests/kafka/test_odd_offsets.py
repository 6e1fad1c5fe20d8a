# SPDX-License-Identifier: Apache-2.0
"""Offsets out of range, topics that vanish, and clusters with nothing in them."""

import time

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import NewPartitions

from dev.kafka import KafkaCluster
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.model import PreviousRuns
from tests.kafka.interrupted import asked_of, read_while
from tests.kafka.looking import (
    commit,
    create,
    delete,
    delete_group,
    group,
    looker,
    only,
    partitions,
    produce,
    rows,
)

pytestmark = pytest.mark.kafka


def test_a_commit_beyond_the_end_of_a_recreated_topic_is_lag_zero_and_counted(
    shared_cluster: KafkaCluster,
) -> None:
    create(shared_cluster, "recreated", 1)
    produce(shared_cluster, "recreated", {0: 50})
    commit(shared_cluster, "on-recreated", "recreated", [40])
    with looker(shared_cluster, only("recreated")) as eyes:
        first = partitions(eyes.look(), "on-recreated")["recreated", 0]
        delete(shared_cluster, "recreated")
        create(shared_cluster, "recreated", 1)
        produce(shared_cluster, "recreated", {0: 5})
        commit(shared_cluster, "on-recreated", "recreated", [40])
        report = eyes.look()
    row = partitions(report, "on-recreated")["recreated", 0]
    assert (first["lag"], row["lag"], row["end_offset"]) == (10, 0, 5)
    assert row["topic_id"] != first["topic_id"]
    assert report.lags_clamped == 1


def test_a_commit_before_the_log_start_lags_from_there_and_names_what_was_lost(
    shared_cluster: KafkaCluster,
) -> None:
    create(shared_cluster, "shortened", 1)
    produce(shared_cluster, "shortened", {0: 30})
    commit(shared_cluster, "on-shortened", "shortened", [10])
    request = [TopicPartition("shortened", 0, 25)]
    for future in shared_cluster.admin().delete_records(request).values():
        future.result(20)
    with looker(shared_cluster, only("shortened")) as eyes:
        row = partitions(eyes.look(), "on-shortened")["shortened", 0]
    assert (row["lag"], row["records_lost"], row["retention_margin"]) == (5, 15, 0)


def test_partitions_without_a_commit_are_counted_apart_unless_they_are_empty(
    shared_cluster: KafkaCluster,
) -> None:
    create(shared_cluster, "partly", 3)
    produce(shared_cluster, "partly", {0: 8, 1: 6})
    commit(shared_cluster, "on-partly", "partly", [3])
    with looker(shared_cluster, only("partly")) as eyes:
        report = eyes.look()
    found = partitions(report, "on-partly")
    assert [found["partly", number]["lag"] for number in range(3)] == [5, None, 0]
    assert group(report, "on-partly")["partitions_uncommitted"] == 1
    assert group(report, "on-partly")["lag"] == 5


def test_a_deleted_topic_ends_without_a_trace_of_trouble(shared_cluster: KafkaCluster) -> None:
    create(shared_cluster, "fleeting", 2)
    produce(shared_cluster, "fleeting", {0: 4})
    commit(shared_cluster, "on-fleeting", "fleeting", [1, 0])
    with looker(shared_cluster, only("fleeting")) as eyes:
        assert len(partitions(eyes.look(), "on-fleeting")) == 2
        delete(shared_cluster, "fleeting")
        report = eyes.look()
    assert partitions(report, "on-fleeting") == {}
    assert report.problems == ()


def test_a_topic_deleted_between_the_two_reads_costs_nothing_else(
    shared_cluster: KafkaCluster,
) -> None:
    create(shared_cluster, "midway-a", 1)
    create(shared_cluster, "midway-b", 1)
    produce(shared_cluster, "midway-a", {0: 4})
    commit(shared_cluster, "on-midway", "midway-a", [1])
    commit(shared_cluster, "on-midway", "midway-b", [0])
    reading = read_while(shared_cluster, "midway", lambda: delete(shared_cluster, "midway-b"))
    assert reading.gone_topics == {"midway-b"}
    assert [row["topic"] for row in rows(reading.group_partitions)] == ["midway-a"]
    assert [row["end_offset"] for row in rows(reading.topic_partitions)] == [4]


def test_a_deleted_group_is_proven_gone_by_the_brokers(shared_cluster: KafkaCluster) -> None:
    create(shared_cluster, "left", 1)
    commit(shared_cluster, "leaving", "left", [0])
    with looker(shared_cluster, only("^lea?[fv]")) as eyes:
        eyes.look()
        delete_group(shared_cluster, "leaving")
        last = group(eyes.look(), "leaving")
    assert (last["status_reason"], last["lag"], last["unread_reason"]) == ("gone", None, None)


def test_a_topic_that_grew_has_its_new_partitions_at_once(shared_cluster: KafkaCluster) -> None:
    create(shared_cluster, "growing", 1)
    commit(shared_cluster, "on-growing", "growing", [0])
    with looker(shared_cluster, only("growing")) as eyes:
        eyes.look()
        grown = shared_cluster.admin().create_partitions([NewPartitions("growing", 3)])
        for future in grown.values():
            future.result(20)
        eyes.look_until(lambda report: len(partitions(report, "on-growing")) == 3)


def test_a_cluster_without_topics_and_groups_is_read_as_empty(shared_cluster: KafkaCluster) -> None:
    with looker(shared_cluster, only("nothing is called this")) as eyes:
        report = eyes.look()
    assert (len(report.snapshot.groups), len(report.snapshot.topic_partitions)) == (0, 0)
    assert report.problems == ()


def test_starts_and_groups_are_asked_for_before_commits_and_ends_after_them(
    shared_cluster: KafkaCluster,
) -> None:
    """Any other order makes a moving consumer lag negatively, or a purge look like loss."""
    create(shared_cluster, "ordered", 3)
    commit(shared_cluster, "on-ordered", "ordered", [0, 0, 0])
    asked = asked_of(shared_cluster, "ordered")
    first, last = {kind: asked.index(kind) for kind in asked}, {k: i for i, k in enumerate(asked)}
    assert max(last["ListOffsets"], last["ListGroups"]) < first["OffsetFetch"]
    assert last["OffsetFetch"] < first["Ends"]


def test_a_commit_that_moves_while_it_is_read_makes_no_negative_lag(
    shared_cluster: KafkaCluster,
) -> None:
    create(shared_cluster, "moving", 1)
    produce(shared_cluster, "moving", {0: 5})
    commit(shared_cluster, "on-moving", "moving", [5])

    def move() -> None:
        produce(shared_cluster, "moving", {0: 7})
        commit(shared_cluster, "on-moving", "moving", [12])

    reading = read_while(shared_cluster, "moving", move)
    report = evaluate(reading, PreviousRuns.empty(), only("moving"), int(time.time() * 1000))
    assert partitions(report, "on-moving")["moving", 0]["lag"] == 7
    assert report.lags_clamped == 0
