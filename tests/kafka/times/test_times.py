# SPDX-License-Identifier: Apache-2.0
"""The answers of real brokers from their time index."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from confluent_kafka.admin import AclOperation, ResourceType

from dev.kafka import NEWEST_IN_BATCH, KafkaCluster
from dev.kafka.access import acl
from dev.kafka.records import delete_records
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.time_index import NEWEST
from tests.kafka.looking import ANSWERED_WITHIN, await_denial, create
from tests.kafka.times.asking import NO_ANSWER, NONE, index, write
from tests.kafka_versions import needs

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]


@pytest.mark.parametrize(
    ("times", "minute", "answer"),
    [
        ([10, 20, 30], 0, (0, 10)),
        ([10, 20, 30], 10, (0, 10)),
        ([10, 20, 30], 10.5, (1, 20)),
        ([10, 20, 30], 30, (2, 30)),
        ([10, 20, 30], 30.5, NONE),
        ([10, 20, 30], NEWEST, (2, 30)),
        ([10, 20, 20, 20, 30], 15, (1, 20)),
        ([10, 30, 20, 40], 15, (1, 30)),
        ([10, 30, 20, 40], 35, (3, 40)),
        pytest.param([10, 40, 20, 30], NEWEST, (1, 40), marks=needs(NEWEST_IN_BATCH)),
        ([], 0, NONE),
        ([], NEWEST, NONE),
    ],
)
def test_the_first_record_at_or_after_a_time_is_named_with_its_own_time(
    shared_cluster: KafkaCluster, times: list[int], minute: float, answer: Any
) -> None:
    topic = f"dated-{'-'.join(map(str, times)) or 'empty'}"
    with index(shared_cluster, f"^{topic}$") as brokers:
        if not len(brokers.read().topic_partitions):
            create(shared_cluster, topic)
            write(shared_cluster, topic, times)
        brokers.read_all(1)
        assert brokers.ask((topic, 0, minute)) == [answer]


def test_what_nobody_leads_or_knows_is_unanswered_and_the_rest_is_not(
    shared_cluster: KafkaCluster,
) -> None:
    create(shared_cluster, "led", 2)
    write(shared_cluster, "led", [10])
    with index(shared_cluster, "^led$") as brokers:
        brokers.read_all(2)
        assert brokers.partitions is not None
        led_by = brokers.partitions.numbers("leader").to_list()[0]
        partitions = Frame.of(
            {
                "topic": Strings.of(["led", "led", "led", "no-such-topic", "led"]),
                "partition_id": Column.of(np.array([0, 1, 0, 0, 77], np.int32)),
                "leader": Column.optional([led_by, None, None, 1, 1], np.int32),
            }
        )
        deadline = time.monotonic() + ANSWERED_WITHIN
        answers = brokers.source.look_up(partitions, np.zeros(5, np.int64), deadline)
    assert answers.found.tolist() == [True, False, False, False, False]
    assert not answers.none.any()


def test_a_denied_topic_is_unanswered_and_the_rest_is_not(shared_cluster: KafkaCluster) -> None:
    for topic in ("asked-open", "asked-secret"):
        create(shared_cluster, topic)
        write(shared_cluster, topic, [10])
    denial = acl("monitor", ResourceType.TOPIC, "asked-secret", AclOperation.DESCRIBE, allow=False)
    questions = ("asked-secret", 0, 0), ("asked-open", 0, 0), ("asked-secret", 0, 50)
    with index(shared_cluster, "^asked-") as brokers:
        brokers.read_all(2)
        before = brokers.ask(*questions)
        shared_cluster.add_acl(denial)
        try:
            await_denial(shared_cluster, "asked-secret")
            denied = brokers.ask(*questions)
        finally:
            shared_cluster.remove_acl(denial)
    assert (before, denied) == ([(0, 10), (0, 10), NONE], [NO_ANSWER, (0, 10), NO_ANSWER])


def test_that_there_is_none_may_be_untrue_behind_a_deleted_head(
    shared_cluster: KafkaCluster,
) -> None:
    """The deleted record was its segment's newest: times up to it are sought there alone."""
    create(shared_cluster, "misled", config={"segment.ms": "3600000"})
    write(shared_cluster, "misled", [100, 10, 20], [300, 310])
    delete_records(shared_cluster.admin(), {("misled", 0): 1})
    with index(shared_cluster, "^misled$") as brokers:
        brokers.read_all(1)
        minutes = (NEWEST, 0, 15, 50, 100, 100.5, 305, 400)
        answers = brokers.ask(*(("misled", 0, m) for m in minutes))
    assert answers == [(4, 310), (1, 10), (2, 20), NONE, NONE, (3, 300), (4, 310), NONE]


def test_closed_connections_are_made_again_for_look_ups(shared_cluster: KafkaCluster) -> None:
    create(shared_cluster, "reopened")
    write(shared_cluster, "reopened", [10])
    with index(shared_cluster, "^reopened$") as brokers:
        brokers.read_all(1)
        brokers.source.close()
        assert brokers.ask(("reopened", 0, 0)) == [(0, 10)]
