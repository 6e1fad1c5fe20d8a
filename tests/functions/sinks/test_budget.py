# SPDX-License-Identifier: Apache-2.0
"""The bill has an end: who keeps metrics when there are more than `max_metrics`."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions import contract
from functions.lag.model import LagReport, NameFilter, Snapshot
from functions.sinks.budget import HEALTH_METRICS, Levels, Plan, plan
from tests.builders import NOON, a_reading, a_report, table

HEALTH = len(HEALTH_METRICS)
PARTITIONS: dict[str, Any] = {"partition_groups": NameFilter(), "topics": False}


def a_cluster(**groups: dict[str, int]) -> LagReport:
    """Groups with the number of partitions they read of each topic."""
    sizes = {topic: count for topics in groups.values() for topic, count in topics.items()}
    commits = {g: {t: [0] * n for t, n in topics.items()} for g, topics in groups.items()}
    return a_report(a_reading(commits, {t: [(0, 1)] * n for t, n in sizes.items()}))


def kept(report: LagReport, chosen: Plan) -> Snapshot:
    frames = report.snapshot
    rows = frames.group_partitions.with_columns(published=chosen.published)
    return Snapshot(NOON, frames.topic_partitions, rows, frames.groups)


def chosen(report: LagReport, room: int, before: Snapshot | None = None, **more: Any) -> Plan:
    levels = Levels(max_metrics=HEALTH + room, **more)
    return plan(report, before or Snapshot.empty(), levels)


def group_names(report: LagReport, found: Plan) -> list[str]:
    return report.snapshot.groups.where(found.groups).words("consumer_group").to_list()


def pair_names(report: LagReport, found: Plan) -> list[tuple[Any, ...]]:
    return sorted(table(report.group_topics.where(found.topics), "consumer_group", "topic"))


CLUSTER = a_cluster(a={"orders": 2, "bills": 1}, b={"orders": 2}, c={"bills": 1})


def test_everything_is_published_when_it_fits() -> None:
    found = chosen(CLUSTER, 7)
    assert found.groups.all()
    assert found.topics.all()
    assert found.omitted == 0


def test_topics_are_dropped_before_groups() -> None:
    found = chosen(CLUSTER, 4)
    assert group_names(CLUSTER, found) == ["a", "b", "c"]
    assert len(pair_names(CLUSTER, found)) == 1
    assert found.omitted == 3


def test_groups_are_dropped_when_not_even_they_fit() -> None:
    found = chosen(CLUSTER, 2)
    assert group_names(CLUSTER, found) == ["a", "b"]
    assert found.omitted == 5


def test_named_groups_and_their_topics_come_first() -> None:
    found = chosen(CLUSTER, 2, named=frozenset({"c"}))
    assert group_names(CLUSTER, found) == ["c"]
    assert pair_names(CLUSTER, found) == [("c", "bills")]


def test_what_was_published_stays_when_a_stranger_comes_in_front() -> None:
    first = a_cluster(m={"orders": 1}, n={"orders": 1})
    before = kept(first, chosen(first, 4))
    now = a_cluster(a={"orders": 1}, m={"orders": 1}, n={"orders": 1})
    assert group_names(now, chosen(now, 4)) == ["a", "m", "n"]
    assert group_names(now, chosen(now, 4, before)) == ["m", "n"]
    assert pair_names(now, chosen(now, 4, before)) == [("m", "orders"), ("n", "orders")]


def test_a_group_whose_topics_were_dropped_is_published_still() -> None:
    first = a_cluster(m={"orders": 1}, n={"orders": 1})
    before = kept(first, chosen(first, 2))
    now = a_cluster(a={"orders": 1}, m={"orders": 1}, n={"orders": 1})
    assert group_names(now, chosen(now, 2, before)) == ["m", "n"]


def test_published_partitions_stay_when_a_stranger_comes_in_front() -> None:
    first = a_cluster(m={"orders": 2})
    before = kept(first, chosen(first, 3, **PARTITIONS))
    now = a_cluster(a={"orders": 2}, m={"orders": 2})
    found = chosen(now, 4, before, **PARTITIONS)
    rows = now.snapshot.group_partitions.where(found.partitions)
    assert rows.words("consumer_group").to_list() == ["m", "m"]


def test_partitions_of_named_groups_come_first() -> None:
    found = chosen(CLUSTER, 4, named=frozenset({"c"}), **PARTITIONS)
    rows = CLUSTER.snapshot.group_partitions.where(found.partitions)
    assert rows.words("consumer_group").to_list() == ["c"]


def test_max_offset_lag_doubles_the_price_of_a_topic() -> None:
    found = chosen(CLUSTER, 6, max_offset_lag=True)
    assert len(group_names(CLUSTER, found)) == 3
    assert len(pair_names(CLUSTER, found)) == 1
    assert found.omitted == 6


def test_a_topic_whose_two_metrics_do_not_both_fit_gets_none() -> None:
    assert pair_names(CLUSTER, chosen(CLUSTER, 4, max_offset_lag=True)) == []


def test_topics_are_neither_published_nor_missed_when_switched_off() -> None:
    found = chosen(CLUSTER, 3, topics=False)
    assert not found.topics.any()
    assert found.omitted == 0


def test_partitions_are_published_only_where_both_filters_take_them() -> None:
    wanted = NameFilter(allow=re.compile("a|c"))
    topics = NameFilter(allow=re.compile("orders"))
    found = chosen(CLUSTER, 100, partition_groups=wanted, partition_topics=topics)
    rows = CLUSTER.snapshot.group_partitions.where(found.partitions)
    assert table(rows, "consumer_group", "topic", "partition_id") == [
        ("a", "orders", 0),
        ("a", "orders", 1),
    ]


def test_partitions_are_not_published_by_default() -> None:
    assert not chosen(CLUSTER, 100).partitions.any()


@pytest.mark.parametrize(
    ("room", "more", "words"),
    [
        pytest.param(0, {}, {"none"}, id="none"),
        pytest.param(3, {}, {"group"}, id="group"),
        pytest.param(7, {}, {"topic"}, id="topic"),
        pytest.param(4, {}, {"group", "topic"}, id="one-topic"),
        pytest.param(99, {"partition_groups": NameFilter()}, {"partition"}, id="partition"),
    ],
)
def test_the_finest_level_is_noted_in_each_row(
    room: int, more: dict[str, Any], words: set[str]
) -> None:
    assert set(chosen(CLUSTER, room, **more).published.to_list()) == words


def test_a_group_without_partitions_costs_nothing() -> None:
    report = a_report(a_reading({"idle": {}, "g": {"orders": [0]}}, {"orders": [(0, 1)]}))
    assert group_names(report, chosen(report, 1)) == ["g"]


TOPICS = st.dictionaries(st.sampled_from("xyz"), st.just(2), max_size=3)
CLUSTERS = st.dictionaries(st.sampled_from("abcdef"), TOPICS, max_size=6)


@given(CLUSTERS, CLUSTERS, st.integers(-HEALTH, 40), st.booleans(), st.booleans())
def test_the_budget_is_never_exceeded_and_nothing_uncounted(
    then: dict[str, dict[str, int]],
    now: dict[str, dict[str, int]],
    room: int,
    double: bool,
    partitions: bool,
) -> None:
    more: dict[str, Any] = {
        "max_offset_lag": double,
        "named": frozenset("cf"),
        "partition_groups": NameFilter() if partitions else None,
    }
    earlier, report = a_cluster(**then), a_cluster(**now)
    before = kept(earlier, chosen(earlier, room, **more))
    found, all_of_it = (chosen(report, size, before, **more) for size in (room, 10_000))

    def cost(one: Plan) -> int:
        topics = int(one.topics.sum()) * (2 if double else 1)
        return int(one.groups.sum()) + topics + int(one.partitions.sum())

    assert cost(found) <= max(room, 0)
    assert cost(found) + found.omitted == cost(all_of_it)


@given(CLUSTERS, st.integers(0, 40))
def test_the_same_cluster_keeps_the_same_metrics(now: dict[str, dict[str, int]], room: int) -> None:
    report = a_cluster(**now)
    first = chosen(report, room)
    again = chosen(report, room, kept(report, first))
    assert again.published.to_list() == first.published.to_list()


def test_every_health_metric_has_a_unit() -> None:
    assert set(HEALTH_METRICS) <= contract.METRIC_UNITS.keys()
