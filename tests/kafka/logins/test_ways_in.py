# SPDX-License-Identifier: Apache-2.0
"""Every way in leads to the same reading."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dev.kafka import KafkaCluster
from kafka_lag.brokers.source import KafkaSource
from tests.kafka.logins.ways import (
    Way,
    by_certificate,
    by_password,
    by_token,
    certificate,
    read,
    token,
)
from tests.kafka.looking import commit, create, produce, rows

pytestmark = pytest.mark.kafka

Reported = list[list[dict[str, Any]]]


@pytest.fixture(name="expected", scope="module")
def _expected(shared_cluster: KafkaCluster) -> Reported:
    create(shared_cluster, "wayfarer", 3)
    produce(shared_cluster, "wayfarer", {0: 3, 1: 4, 2: 5})
    commit(shared_cluster, "wayfarers", "wayfarer", [1, 2, 3])
    groups, partitions, topics = reported(by_password(shared_cluster, "SCRAM-SHA-512"))
    assert [row["consumer_group"] for row in groups] == ["wayfarers"]
    assert sorted(row["committed_offset"] for row in partitions) == [1, 2, 3]
    assert sorted(row["end_offset"] for row in topics) == [3, 4, 5]
    return [groups, partitions, topics]


def reported(way: Way) -> Reported:
    """All that one reading tells, but for when."""
    source = KafkaSource(*way)
    reading = read(source)
    source.close()
    return [
        [{name: value for name, value in row.items() if not name.endswith("_at")} for row in found]
        for found in map(rows, (reading.groups, reading.group_partitions, reading.topic_partitions))
    ]


def _by_certificate(cluster: KafkaCluster) -> Way:
    return by_certificate(cluster, certificate(cluster.client_pair("monitor"), cluster.cafile))


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(lambda cluster: by_password(cluster, "SCRAM-SHA-256"), id="scram-256"),
        pytest.param(lambda cluster: by_token(cluster, token), id="token"),
        pytest.param(_by_certificate, id="certificate"),
    ],
)
def test_what_is_read_does_not_depend_on_the_way_in(
    shared_cluster: KafkaCluster, expected: Reported, way: Callable[[KafkaCluster], Way]
) -> None:
    assert reported(way(shared_cluster)) == expected
