# SPDX-License-Identifier: Apache-2.0
"""Which values go out, under which dimensions; what is unknown does not go out at all."""

from __future__ import annotations

from typing import Any

import pytest

from functions import contract
from functions.lag.model import LagReport, NameFilter, Problem, Snapshot
from functions.sinks.budget import HEALTH_METRICS, Levels, plan
from functions.sinks.metrics import MetricSet, health_set, lag_sets, success_set
from tests.builders import a_reading, a_report

TOPICS = {"orders": [(0, 10), (0, 10)], "bills": [(0, 7)]}
REPORT = a_report(a_reading({"g": {"orders": [5, 9], "bills": [0]}}, TOPICS))
G = ("c", "g")


def published(report: LagReport, **levels: Any) -> dict[tuple[tuple[str, ...], str], float]:
    """Values by dimension values and metric name; each combination once."""
    wanted = Levels(**levels)
    sets = lag_sets(report, plan(report, Snapshot.empty(), wanted), wanted, "c")
    values = [
        ((tuple(value for _, value in one.dimensions), name), value)
        for one in sets
        for name, value in one.values
    ]
    assert len(dict(values)) == len(values)
    assert all(one.values for one in sets)
    return dict(values)


def test_groups_and_topics_are_published_by_default() -> None:
    assert published(REPORT) == {
        (G, "OffsetLag"): 13,
        ((*G, "orders"), "OffsetLag"): 6,
        ((*G, "bills"), "OffsetLag"): 7,
    }


def test_topics_can_be_left_out() -> None:
    assert published(REPORT, topics=False) == {(G, "OffsetLag"): 13}


def test_the_worst_partition_of_a_topic_is_published_on_demand() -> None:
    values = published(REPORT, max_offset_lag=True)
    assert values[(*G, "orders"), "MaxOffsetLag"] == 5
    assert (G, "MaxOffsetLag") not in values


def test_partitions_of_the_allow_list_are_published() -> None:
    values = published(REPORT, partition_groups=NameFilter())
    assert values[(*G, "orders", "0"), "OffsetLag"] == 5
    assert values[(*G, "orders", "1"), "OffsetLag"] == 1


def test_dimensions_have_the_names_of_the_contract_in_their_order() -> None:
    levels = Levels(partition_groups=NameFilter())
    sets = lag_sets(REPORT, plan(REPORT, Snapshot.empty(), levels), levels, "c")
    names = {tuple(name for name, _ in one.dimensions) for one in sets}
    all_of_them = ("Cluster Name", "Consumer Group", "Topic", "Partition")
    assert names == {all_of_them[:length] for length in (2, 3, 4)}


def test_one_set_has_all_values_of_its_dimensions() -> None:
    levels = Levels(max_offset_lag=True)
    sets = lag_sets(REPORT, plan(REPORT, Snapshot.empty(), levels), levels, "c")
    assert len({one.dimensions for one in sets}) == len(sets) == 3


def test_what_is_unknown_is_absent() -> None:
    topics: Any = {**TOPICS, "orders": [(0, 10), contract.TIMEOUT]}
    report = a_report(a_reading({"g": {"orders": [5, 9], "bills": [0]}}, topics))
    values = published(report, partition_groups=NameFilter())
    assert values == {
        ((*G, "bills"), "OffsetLag"): 7,
        ((*G, "bills", "0"), "OffsetLag"): 7,
        ((*G, "orders", "0"), "OffsetLag"): 5,
    }


def test_a_caught_up_group_is_published_as_zero() -> None:
    report = a_report(a_reading({"g": {"bills": [7]}}, TOPICS))
    assert published(report, topics=False) == {(G, "OffsetLag"): 0}


def test_every_metric_published_is_in_the_contract() -> None:
    values = published(REPORT, max_offset_lag=True, partition_groups=NameFilter())
    assert {name for _, name in values} <= contract.METRIC_UNITS.keys()


def health(report: LagReport) -> MetricSet:
    return health_set(report, plan(report, Snapshot.empty(), Levels(max_metrics=9)), "c", 1.23456)


def test_health_is_told_in_full_under_the_cluster_alone() -> None:
    topics: Any = {"orders": [(0, 10), contract.TIMEOUT, (0, 3), (0, 4)]}
    groups: Any = {"g": {"orders": [12, 5, None, 0]}, "h": contract.DENIED}
    problem = Problem("group", "h", contract.DENIED, "no right")
    one = health(a_report(a_reading(groups, topics, problems=[problem])))
    assert one.dimensions == (("Cluster Name", "c"),)
    assert dict(one.values) == {
        "CollectorDuration": 1.235,
        "GroupsRead": 1,
        "PartitionsUnknown": 1,
        "PartitionsUncommitted": 1,
        "ReadErrors": 1,
        "LagsClamped": 1,
        "MetricsOmitted": 1,
    }


def test_a_group_that_is_gone_is_no_group_read() -> None:
    before = a_report(a_reading({"g": {"bills": [0]}}, TOPICS)).snapshot
    report = a_report(a_reading({}, TOPICS, gone_groups=["g"]), before)
    assert dict(health(report).values)["GroupsRead"] == 0


@pytest.mark.parametrize("report", [REPORT, a_report(a_reading())], ids=["busy", "empty"])
def test_health_and_success_are_what_the_budget_reserves(report: LagReport) -> None:
    told = [name for one in (health(report), success_set("c")) for name, _ in one.values]
    assert sorted(told) == sorted(HEALTH_METRICS)
    assert set(told) <= contract.METRIC_UNITS.keys()
