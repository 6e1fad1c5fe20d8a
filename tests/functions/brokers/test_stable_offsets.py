# SPDX-License-Identifier: Apache-2.0
"""Last stable offsets: of which partitions they are read, and what becomes of odd answers."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag.brokers.errors import UnansweredError
from kafka_lag.contract import TIMEOUT
from tests.builders import table
from tests.functions.brokers.brokers import Brokers, Topic

LOGS = [(0, 10), (0, 10), (0, 10), (3, 10)]


def brokers(**more: Any) -> Brokers:
    return Brokers({"a": Topic(LOGS, **more)}, {"g": {"a": [10, 9, 4, -1]}})


def stable_of(cluster: Brokers) -> list[int | None]:
    return [offset for (offset,) in table(cluster.read().topic_partitions, "stable_offset")]


def test_they_are_read_last_and_only_where_a_group_lags() -> None:
    cluster = brokers(stable={1: 9, 2: 7})
    assert stable_of(cluster) == [None, 9, 7, None]
    offsets = [
        kind for kind in cluster.kinds if kind in ("Starts", "OffsetFetch", "Ends", "Stable")
    ]
    assert offsets == ["Starts", "OffsetFetch", "Ends", "Stable"]


def test_where_nobody_lags_nobody_asks() -> None:
    cluster = Brokers({"a": Topic([(0, 10)])}, {"g": {"a": [10]}})
    assert stable_of(cluster) == [None]
    assert "Stable" not in cluster.kinds


def test_each_leader_is_asked_for_its_own() -> None:
    cluster = brokers(leaders={1: 2})
    cluster.nodes = [1, 2]
    assert stable_of(cluster) == [None, 10, 10, None]
    assert cluster.kinds.count("Stable") == 2


@pytest.mark.parametrize(("stable", "expected"), [(12, 10), (10, 10), (3, 3), (2, None)])
def test_one_beyond_the_end_is_the_end_and_one_below_the_start_is_none(
    stable: int, expected: int | None
) -> None:
    cluster = Brokers({"a": Topic([(3, 10)], stable={0: stable})}, {"g": {"a": [5]}})
    assert stable_of(cluster) == [expected]


def test_one_that_is_not_read_costs_nothing_else_and_is_not_retried() -> None:
    cluster = brokers(stable={1: 9, 2: 7})
    cluster.lasting["Stable", ("a", 1)] = 6
    reading = cluster.read()
    rows = table(reading.topic_partitions, "stable_offset", "unread_reason")
    assert rows == [(None, None), (None, None), (7, None), (None, None)]
    assert reading.problems == ()
    assert cluster.kinds.count("Stable") == 1


def test_a_broker_that_does_not_answer_it_costs_nothing_else() -> None:
    cluster = brokers()
    silence = UnansweredError(TIMEOUT, "no answer")
    cluster.change = lambda request, answer: (
        silence if getattr(request, "isolation_level", 0) else answer
    )
    reading = cluster.read()
    assert table(reading.topic_partitions, "end_offset", "stable_offset")[1] == (10, None)
    assert reading.problems == ()
