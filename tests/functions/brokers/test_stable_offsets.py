# SPDX-License-Identifier: Apache-2.0
"""Last stable offsets, and local log starts of tiered topics.

The tests hold for which partitions they are read, the effect of odd answers, and which groups read
remotely.
"""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag.brokers.errors import UnansweredError
from kafka_lag.contract import TIMEOUT
from tests.builders import table
from tests.functions.brokers.brokers import TIERED, Brokers, Runs, Topic

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


def test_each_leader_is_asked_for_its_own_and_nobody_where_nobody_lags() -> None:
    cluster = brokers(leaders={1: 2})
    cluster.nodes = [1, 2]
    assert stable_of(cluster) == [None, 10, 10, None]
    assert cluster.kinds.count("Stable") == 2
    caught_up = Brokers({"a": Topic([(0, 10)])}, {"g": {"a": [10]}})
    assert stable_of(caught_up) == [None]
    assert "Stable" not in caught_up.kinds


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


FOUR = [(0, 10)] * 4


def tiered(**more: Any) -> Brokers:
    """A topic of which broker 1 has only what follows offset 6."""
    topic = Topic(FOUR, local=dict.fromkeys(range(4), 6), **{"settings": TIERED, **more})
    return Brokers({"t": topic, "u": Topic([(0, 10)])}, {"g": {"t": [10, 5, 6, -1], "u": [3]}})


def local_starts(cluster: Brokers) -> list[int | None]:
    return [start for (start,) in table(cluster.read().topic_partitions, "local_start_offset")]


def test_local_starts_are_read_where_a_group_lags_on_a_tiered_topic() -> None:
    cluster = tiered()
    assert local_starts(cluster) == [None, 6, 6, None, None]
    assert cluster.kinds.count("Local") == 1
    # One that is not read costs nothing else.
    cluster.lasting["Local", ("t", 1)] = 6
    assert local_starts(cluster) == [None, None, 6, None, None]
    assert cluster.read().problems == ()


@pytest.mark.parametrize(("value", "version"), [("false", 8), (None, 8), ("true", 7)])
def test_they_are_not_asked_of_other_topics_or_of_brokers_that_do_not_know_them(
    value: str | None, version: int
) -> None:
    cluster = tiered(settings=TIERED | {"remote.storage.enable": value})
    cluster.offers = version
    assert local_starts(cluster) == [None] * 5
    assert "Local" not in cluster.kinds


def test_who_stands_below_reads_from_remote_storage() -> None:
    runs = Runs(tiered())
    runs()
    rows = table(
        runs.collector.memory.newest.group_partitions, "topic", "committed_offset", "reads_remote"
    )
    assert rows == [
        ("t", 10, None),
        ("t", 5, True),
        ("t", 6, False),
        ("t", None, None),
        ("u", 3, None),
    ]
    # A row that is not read keeps what it was.
    runs.brokers.lasting["OffsetFetch", "g"] = 30
    runs()
    frame = runs.collector.memory.newest.group_partitions
    assert frame.numbers("reads_remote").to_list() == [None, True, False, None, None]
