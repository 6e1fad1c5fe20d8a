# SPDX-License-Identifier: Apache-2.0
"""Local log starts of tiered topics: of which partitions they are read, and who reads remotely."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import table
from tests.functions.brokers.brokers import TIERED, Brokers, Runs, Topic

LOGS = [(0, 10), (0, 10), (0, 10), (0, 10)]


def brokers(**more: Any) -> Brokers:
    """A topic of which broker 1 has only what follows offset 6."""
    topic = Topic(LOGS, local=dict.fromkeys(range(4), 6), **{"settings": TIERED, **more})
    return Brokers({"t": topic, "u": Topic([(0, 10)])}, {"g": {"t": [10, 5, 6, -1], "u": [3]}})


def local_starts(cluster: Brokers) -> list[int | None]:
    return [start for (start,) in table(cluster.read().topic_partitions, "local_start_offset")]


def test_they_are_read_where_a_group_lags_on_a_tiered_topic() -> None:
    cluster = brokers()
    assert local_starts(cluster) == [None, 6, 6, None, None]
    assert cluster.kinds.count("Local") == 1


@pytest.mark.parametrize("value", ["false", None])
def test_of_other_topics_nobody_asks(value: str | None) -> None:
    cluster = brokers(settings=TIERED | {"remote.storage.enable": value})
    assert local_starts(cluster) == [None] * 5
    assert "Local" not in cluster.kinds


def test_brokers_that_do_not_know_them_are_not_asked() -> None:
    cluster = brokers()
    cluster.offers = 7
    assert local_starts(cluster) == [None] * 5
    assert "Local" not in cluster.kinds


def test_one_that_is_not_read_costs_nothing_else() -> None:
    cluster = brokers()
    cluster.lasting["Local", ("t", 1)] = 6
    reading = cluster.read()
    rows = table(reading.topic_partitions, "local_start_offset", "unread_reason")
    assert rows == [(None, None), (None, None), (6, None), (None, None), (None, None)]
    assert reading.problems == ()


def test_who_stands_below_reads_from_remote_storage() -> None:
    runs = Runs(brokers())
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


def test_a_row_that_is_not_read_keeps_what_it_was() -> None:
    runs = Runs(brokers())
    runs()
    runs.brokers.lasting["OffsetFetch", "g"] = 30
    runs()
    frame = runs.collector.memory.newest.group_partitions
    assert frame.numbers("reads_remote").to_list() == [None, True, False, None, None]
