# SPDX-License-Identifier: Apache-2.0
"""Groups and topics that an ACL hides: brokers leave them out of lists, and we report it."""

import time
from collections.abc import Callable

import pytest
from confluent_kafka.admin import AclOperation, ResourceType

from dev.kafka import KafkaCluster
from kafka_lag.lag.model import LagReport
from tests.kafka.looking import (
    ANSWERED_WITHIN,
    await_denial,
    commit,
    create,
    delete,
    delete_group,
    denied,
    group,
    looker,
    only,
    partitions,
    produce,
    rows,
)

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]


@pytest.fixture(scope="module", autouse=True)
def _topics(shared_cluster: KafkaCluster) -> None:
    for topic in ("hush-open", "hush-secret"):
        create(shared_cluster, topic, 1)
        produce(shared_cluster, topic, {0: 9})
    commit(shared_cluster, "hush-one", "hush-open", [4])
    commit(shared_cluster, "hush-two", "hush-open", [2])
    commit(shared_cluster, "hush-two", "hush-secret", [5])


def test_a_group_hidden_even_from_the_list_is_asked_for_by_name(
    shared_cluster: KafkaCluster,
) -> None:
    """Without Describe on the cluster a list holds only groups that may be described."""
    describe = AclOperation.DESCRIBE
    with looker(shared_cluster, only("^hush")) as eyes:
        # Brokers may still deny what a test before has had denied.
        eyes.look_until(lambda seen: group(seen, "hush-one")["unread_reason"] is None)
        with (
            denied(shared_cluster, ResourceType.BROKER, "kafka-cluster", describe),
            denied(shared_cluster, ResourceType.GROUP, "hush-one", describe),
        ):
            _look_anew_until(shared_cluster, lambda seen: _groups(seen) == {"hush-two"})
            report = eyes.look()
    assert group(report, "hush-one")["unread_reason"] == "denied"
    assert group(report, "hush-one")["lag"] == 5
    assert group(report, "hush-two")["lag"] == 11


def test_a_topic_denied_since_the_last_run_keeps_its_rows_and_is_named(
    shared_cluster: KafkaCluster,
) -> None:
    with looker(shared_cluster, only("^hush")) as eyes:
        eyes.look()
        with denied(shared_cluster, ResourceType.TOPIC, "hush-secret", AclOperation.DESCRIBE):
            await_denial(shared_cluster, "hush-secret")
            report = eyes.look()
    row = partitions(report, "hush-two")["hush-secret", 0]
    assert (row["unread_reason"], row["committed_offset"], row["lag"]) == ("denied", 5, None)
    assert partitions(report, "hush-two")["hush-open", 0]["lag"] == 7
    assert ("topic", "hush-secret", "denied") in [
        (p.scope, p.name, p.reason) for p in report.problems
    ]


@pytest.mark.thorough
def test_a_topic_deleted_while_denied_is_gone_once_it_may_be_described_again(
    shared_cluster: KafkaCluster,
) -> None:
    """Until then brokers deny its name like any other, whether or not there is such a topic."""
    create(shared_cluster, "hush-brief", 1)
    # Brokers before Kafka 4.0 delete a group with the last topic that it has committed on.
    commit(shared_cluster, "hush-three", "hush-open", [0])
    commit(shared_cluster, "hush-three", "hush-brief", [0])
    with looker(shared_cluster, only("^hush")) as eyes:
        eyes.look_until(lambda seen: ("hush-brief", 0) in partitions(seen, "hush-three"))
        with denied(shared_cluster, ResourceType.TOPIC, "hush-brief", AclOperation.DESCRIBE):
            await_denial(shared_cluster, "hush-brief")
            delete(shared_cluster, "hush-brief")
            row = partitions(eyes.look(), "hush-three")["hush-brief", 0]
            assert row["unread_reason"] == "denied"
        eyes.look_until(lambda seen: ("hush-brief", 0) not in partitions(seen, "hush-three"))
    delete_group(shared_cluster, "hush-three")


def test_topic_settings_that_may_not_be_read_are_unknown_and_the_lag_is_not(
    shared_cluster: KafkaCluster,
) -> None:
    what = AclOperation.DESCRIBE_CONFIGS
    with denied(shared_cluster, ResourceType.TOPIC, "hush-open", what):
        report = _look_anew_until(
            shared_cluster, lambda seen: _retention(seen)["hush-open"] is None
        )
    assert _retention(report) == {"hush-open": None, "hush-secret": 604_800_000}
    assert group(report, "hush-one")["lag"] == 5


def _groups(report: LagReport) -> set[str]:
    return {row["consumer_group"] for row in rows(report.snapshot.groups)}


def _retention(report: LagReport) -> dict[str, int | None]:
    return {r["topic"]: r["retention_ms"] for r in rows(report.snapshot.topic_partitions)}


def _look_anew_until(cluster: KafkaCluster, holds: Callable[[LagReport], bool]) -> LagReport:
    """The first report for which this holds, each by a new source that remembers nothing."""
    deadline = time.monotonic() + ANSWERED_WITHIN
    while True:
        with looker(cluster, only("^hush")) as eyes:
            report = eyes.look()
        if holds(report):
            return report
        assert time.monotonic() < deadline
