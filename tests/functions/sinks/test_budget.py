# SPDX-License-Identifier: Apache-2.0
"""The limit of the bill: which sets keep metrics if there are more than `max_metrics`."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.lag.columns import Column
from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.lag.model import LagReport, Snapshot
from kafka_lag.sinks.budget import Plan, mark_published, omission_warnings, plan, plan_each
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.metric_sets import lag_sets
from tests.builders import table
from tests.functions.sinks.reports import Cluster, a_report, with_groups

HEALTH = len(contract.HEALTH_UNITS)
# What a set costs.
GROUP = len(contract.GROUP_METRICS)
TOPIC = ROW = len(contract.LAG_METRICS)
SCALED = len(contract.SCALING_METRICS)
PARTITIONS: dict[str, Any] = {"partition_groups": NameFilter(), "topics": False}


def with_published_set(report: LagReport, chosen: Plan) -> Snapshot:
    return mark_published(report.snapshot, chosen)


def chosen(report: LagReport, room: int, before: Snapshot | None = None, **more: Any) -> Plan:
    levels = Levels(max_metrics=HEALTH + room, **more)
    return plan(report, before or Snapshot.empty(), levels)


def group_names(report: LagReport, found: Plan) -> list[str]:
    return report.snapshot.groups.where(found.groups).strings("consumer_group").to_list()


def pair_names(report: LagReport, found: Plan) -> list[tuple[Any, ...]]:
    return sorted(table(report.group_topics.where(found.topics), "consumer_group", "topic"))


def values(report: LagReport, found: Plan, wanted: dict[str, Any]) -> int:
    """How many metrics go out, where every number is known."""
    return sum(len(one.values) for one in lag_sets(report, found, Levels(**wanted), "c"))


FIRST = a_report({"m": {"orders": 1}, "n": {"orders": 1}})
CROWD = a_report({"a": {"orders": 1}, "m": {"orders": 1}, "n": {"orders": 1}})
CLUSTER = a_report({"a": {"orders": 2, "bills": 1}, "b": {"orders": 2}, "c": {"bills": 1}})

NO_TOPICS: dict[str, Any] = {"topics": False}
NAMED: dict[str, Any] = {"named": frozenset({"c"})}
DEAR_A, DEAR_B = ({"scaling": NameFilter(allow=re.compile(group))} for group in "ab")
# Room and keys of levels, and the finest level that each row is published at, by its first letter:
# two of a's orders, one of its bills, two of b's orders, one of c's bills.
PLANS: dict[str, tuple[int, dict[str, Any], str]] = {
    "everything": (3 * GROUP + 4 * TOPIC, {}, "tttttt"),
    "one topic": (3 * GROUP + TOPIC, {}, "ttgggg"),
    "not quite two topics": (3 * GROUP + 2 * TOPIC - 1, {}, "ttgggg"),
    "no topic": (3 * GROUP, {}, "gggggg"),
    "topics not wanted": (3 * GROUP + 4 * TOPIC, NO_TOPICS, "gggggg"),
    "two groups": (2 * GROUP, {}, "gggggn"),
    "a group and not its topic": (GROUP + TOPIC - 1, {}, "gggnnn"),
    "no group": (GROUP - 1, {}, "nnnnnn"),
    "no group and no rows": (GROUP - 1, PARTITIONS, "nnnnnn"),
    "a named group first": (GROUP + TOPIC, NAMED, "nnnnnt"),
    "a named group's row first": (3 * GROUP + ROW, NAMED | PARTITIONS, "gggggp"),
    "every row": (99, {"partition_groups": NameFilter()}, "pppppp"),
    "a group that costs more": (3 * GROUP, DEAR_B, "gggggn"),
    "a cheaper group is behind": (GROUP + 1, DEAR_A | NO_TOPICS, "nnnnnn"),
}


@pytest.mark.parametrize("case", PLANS)
def test_rows_topics_and_groups_are_published_as_a_whole_while_there_is_room(case: str) -> None:
    room, more, published = PLANS[case]
    found = chosen(CLUSTER, room, **more)
    assert "".join(level[0] for level in found.published.to_list()) == published


def test_what_was_published_stays_when_a_stranger_comes_in_front() -> None:
    room = 2 * (GROUP + TOPIC)
    before = with_published_set(FIRST, chosen(FIRST, room))
    assert "a" in group_names(CROWD, chosen(CROWD, room))
    assert group_names(CROWD, chosen(CROWD, room, before)) == ["m", "n"]
    assert pair_names(CROWD, chosen(CROWD, room, before)) == [("m", "orders"), ("n", "orders")]


def test_a_group_whose_topics_were_dropped_is_published_still() -> None:
    before = with_published_set(FIRST, chosen(FIRST, 2 * GROUP))
    assert group_names(CROWD, chosen(CROWD, 2 * GROUP, before)) == ["m", "n"]


def test_a_topic_stays_before_one_of_which_only_the_group_was_published() -> None:
    room = 2 * GROUP + TOPIC
    before = with_published_set(FIRST, chosen(FIRST, room, named=frozenset({"n"})))
    assert pair_names(FIRST, chosen(FIRST, room, before)) == [("n", "orders")]


def test_published_partitions_stay_when_a_stranger_comes_in_front() -> None:
    first = a_report({"m": {"orders": 2}})
    before = with_published_set(first, chosen(first, GROUP + 2 * ROW, **PARTITIONS))
    now = a_report({"a": {"orders": 2}, "m": {"orders": 2}})
    found = chosen(now, 2 * GROUP + 2 * ROW, before, **PARTITIONS)
    rows = now.snapshot.group_partitions.where(found.partitions)
    assert rows.strings("consumer_group").to_list() == ["m", "m"]


@pytest.mark.parametrize(
    ("option", "more"),
    [
        pytest.param({"scaling": NameFilter()}, 3 * SCALED, id="scaling"),
        pytest.param({"scaling": NameFilter(allow=re.compile("a"))}, SCALED, id="scaling-of-one"),
        *(
            pytest.param({key: True}, 3 * len(metrics), id=key)
            for key, metrics in contract.CHOSEN_METRICS.items()
        ),
        pytest.param({"max_offset_lag": True}, 4, id="max-offset-lag"),
        pytest.param({"partition_groups": NameFilter()}, 6 * ROW, id="partitions"),
    ],
)
def test_what_is_published_on_demand_has_its_price(option: dict[str, Any], more: int) -> None:
    assert chosen(CLUSTER, 0, **option).omitted == chosen(CLUSTER, 0).omitted + more


def test_a_service_level_has_its_price() -> None:
    promised = Column.optional([60.0, None, 9.0], np.float64)
    report = with_groups(CLUSTER, sla_seconds=promised)
    assert chosen(report, 0).omitted == chosen(CLUSTER, 0).omitted + 2


def test_partitions_are_published_only_where_both_filters_take_them() -> None:
    wanted = NameFilter(allow=re.compile("a|c"))
    topics = NameFilter(allow=re.compile("orders"))
    found = chosen(CLUSTER, 100, partition_groups=wanted, partition_topics=topics)
    rows = CLUSTER.snapshot.group_partitions.where(found.partitions)
    assert table(rows, "consumer_group", "topic", "partition_id") == [
        ("a", "orders", 0),
        ("a", "orders", 1),
    ]


def test_a_group_without_partitions_costs_nothing() -> None:
    report = a_report({"idle": {}, "g": {"orders": 1}})
    assert group_names(report, chosen(report, GROUP)) == ["g"]


def test_only_groups_that_are_named_or_scaled_are_published_and_no_other_is_missed() -> None:
    report = a_report({name: {"orders": 1} for name in "abcd"})
    wanted: dict[str, Any] = {"named": frozenset("c"), "scaling": NameFilter(allow=re.compile("b"))}
    found = chosen(report, 10_000, named_only=True, partition_groups=NameFilter(), **wanted)
    assert group_names(report, found) == ["b", "c"]
    assert [int(sets.sum()) for sets in (found.topics, found.partitions)] == [2, 2]
    assert found.omitted == 0


TWO, ONE = (Levels(max_metrics=HEALTH + room * GROUP, topics=False) for room in (2, 1))


@pytest.mark.parametrize(
    ("places", "warned"),
    [
        pytest.param([], [], id="no-sink"),
        pytest.param([(TWO, "levels")] * 2, [(GROUP, TWO, "levels")], id="shared"),
        pytest.param([(Levels(), "x")], [], id="room-for-all"),
        pytest.param(
            [(ONE, "y"), (TWO, "levels"), (ONE, "x")],
            [(2 * GROUP, ONE, "y"), (GROUP, TWO, "levels"), (2 * GROUP, ONE, "x")],
            id="each-place-to-change",
        ),
    ],
)
def test_a_budget_that_leaves_metrics_out_is_named_where_it_stands(
    places: list[tuple[Levels, str]], warned: list[tuple[int, Levels, str]]
) -> None:
    plans = plan_each(CROWD, Snapshot.empty(), [levels for levels, _ in places])
    assert list(omission_warnings(places, plans)) == [
        f"{count} metrics over the budget of {levels.max_metrics} were left out: "
        f"raise {key}.max_metrics or narrow groups and topics"
        for count, levels, key in warned
    ]


TOPICS = st.dictionaries(st.sampled_from("xyz"), st.just(2), max_size=3)
CLUSTERS = st.dictionaries(st.sampled_from("abcdef"), TOPICS, max_size=6)
WANTED = st.fixed_dictionaries(
    {
        "topics": st.booleans(),
        "max_offset_lag": st.booleans(),
        "partition_groups": st.none() | st.just(NameFilter()),
        "named": st.just(frozenset("cf")),
        "named_only": st.booleans(),
        "scaling": st.none() | st.just(NameFilter(allow=re.compile("[bcd]"))),
        **dict.fromkeys(contract.CHOSEN_METRICS, st.booleans()),
    }
)


@given(CLUSTERS, CLUSTERS, st.integers(-HEALTH, 90), WANTED)
def test_the_budget_is_never_exceeded_and_nothing_uncounted(
    then: Cluster, now: Cluster, room: int, wanted: dict[str, Any]
) -> None:
    earlier, report = a_report(then), a_report(now)
    before = with_published_set(earlier, chosen(earlier, room, **wanted))
    found, all_of_it = (chosen(report, size, before, **wanted) for size in (room, 10_000))
    count, everything = (values(report, one, wanted) for one in (found, all_of_it))
    assert count <= max(room, 0)
    assert count + found.omitted == everything
    assert all_of_it.omitted == 0


@given(CLUSTERS, st.integers(0, 90), WANTED)
def test_the_same_cluster_keeps_the_same_metrics(
    now: Cluster, room: int, wanted: dict[str, Any]
) -> None:
    report = a_report(now)
    first = chosen(report, room, **wanted)
    again = chosen(report, room, with_published_set(report, first), **wanted)
    assert again.published.to_list() == first.published.to_list()
