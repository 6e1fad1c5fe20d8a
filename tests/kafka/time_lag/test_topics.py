# SPDX-License-Identifier: Apache-2.0
"""Topics that are made anew, grow, or are hidden between two looks."""

from __future__ import annotations

import time

import pytest
from confluent_kafka.admin import AclOperation, NewPartitions, ResourceType

from dev.kafka import KafkaCluster
from kafka_lag import contract
from kafka_lag.lag.group_settings import Rules
from tests.kafka.looking import (
    ANSWERED_WITHIN,
    Row,
    await_denial,
    commit,
    delete,
    denied,
    group,
    looker,
    only,
    partitions,
)
from tests.kafka.time_lag.watched import (
    DAY,
    GRACE,
    HOUR,
    dated,
    every,
    said,
    wait_until_led,
    watched,
)

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]


def test_a_topic_made_anew_has_no_bounds_from_the_old_one(shared_cluster: KafkaCluster) -> None:
    topic = watched(shared_cluster, "anew-unasked", every(DAY, 10))
    topic.commit(5)
    with topic.looker(lookup_budget=0) as eyes:
        eyes.look()
        before = topic.row(eyes.look())
        delete(shared_cluster, "anew-unasked")
        topic = watched(shared_cluster, "anew-unasked", every(HOUR, 12))
        topic.commit(5)
        row = topic.row(eyes.look())
    assert before["time_lag_method"] == contract.METHOD_AT_LEAST
    assert said(row) == (None, None, None)


def test_records_in_partitions_that_were_added_are_dated_at_once(
    shared_cluster: KafkaCluster,
) -> None:
    times = every(HOUR, 10)
    topic = watched(shared_cluster, "wider", times)
    topic.commit(3)
    with topic.looker() as eyes:
        eyes.look()
        grown = shared_cluster.admin().create_partitions([NewPartitions("wider", 2)])
        for future in grown.values():
            future.result(ANSWERED_WITHIN)
        wait_until_led(shared_cluster, "wider", 2)
        topic.write(times, partition=1)
        topic.commit(3, 6)
        report = eyes.look_until(lambda seen: topic.reported(seen) == 2)
    found = [dated(topic.row(report, partition)) for partition in range(2)]
    assert found == pytest.approx([times[3], times[6]], abs=1)


TIMES = every(HOUR, 10)
OPEN, VEILED = ("plain", 0), ("veiled", 0)


@pytest.fixture(scope="module")
def both(shared_cluster: KafkaCluster) -> Rules:
    """The group `on-plain` reads two topics, of which it has read less of `veiled`."""
    for name, offset in (("plain", 6), ("veiled", 3)):
        watched(shared_cluster, name, TIMES)
        commit(shared_cluster, "on-plain", name, [offset])
    return only("^(on-plain|plain|veiled)$")


def test_a_topic_that_may_be_described_no_more_goes_on_growing_in_its_group(
    shared_cluster: KafkaCluster, both: Rules
) -> None:
    with looker(shared_cluster, both) as eyes:
        first = partitions(eyes.look(), "on-plain")
        with denied(shared_cluster, ResourceType.TOPIC, "veiled", AclOperation.DESCRIBE):
            # A coordinator that hears of it first leaves the topic out without a word, as if the
            # group had no commit there.
            await_denial(shared_cluster, "veiled")
            report = eyes.look_until(
                lambda seen: (
                    partitions(seen, "on-plain")[VEILED]["unread_reason"] == contract.DENIED
                )
            )
    found, whole = partitions(report, "on-plain"), group(report, "on-plain")
    assert dated(first[VEILED]) == pytest.approx(TIMES[3], abs=1)
    assert said(found[VEILED]) == (None, None, None)
    assert dated(found[OPEN]) == pytest.approx(TIMES[6], abs=1)
    assert dated(whole) == pytest.approx(TIMES[3], abs=GRACE)
    assert said(whole)[1:] == (None, contract.METHOD_AT_LEAST)


def test_a_topic_that_may_not_be_described_costs_no_other_its_date(
    shared_cluster: KafkaCluster, both: Rules
) -> None:
    with denied(shared_cluster, ResourceType.TOPIC, "veiled", AclOperation.DESCRIBE):
        deadline = time.monotonic() + ANSWERED_WITHIN
        while VEILED in (found := _first_look(shared_cluster, both)):
            assert time.monotonic() < deadline
    assert list(found) == [OPEN]
    assert dated(found[OPEN]) == pytest.approx(TIMES[6], abs=1)


def _first_look(cluster: KafkaCluster, rules: Rules) -> dict[tuple[str, int], Row]:
    with looker(cluster, rules) as eyes:
        return partitions(eyes.look(), "on-plain")
