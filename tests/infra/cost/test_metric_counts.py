# SPDX-License-Identifier: Apache-2.0
"""The counted metrics are those that the collector publishes for a cluster of that size."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.lag.model import LagReport, Snapshot
from kafka_lag.sinks.budget import plan
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.metric_sets import health_set, lag_sets, success_set
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.cost.usage import count_metrics
from tests.functions.sinks.reports import a_report
from tests.infra.configured import cluster

OWN = len(contract.HEALTH_UNITS)
# Metrics of a group with everything that can be chosen, and of its topics.
ONE_SET = 30
SIZES = {"groups": 20, "group_topics": 200, "group_partitions": 4_800, "topic_partitions": 240}
TRACKING = {"ecs_cluster": "c", "max": 4, "partitions": 4, "tracking": {"lag_per_member": 9}}


def scaled(*groups: str) -> list[dict[str, Any]]:
    return [{"group": group, "service": group, **TRACKING} for group in groups]


def sized(levels: dict[str, Any], **more: Any) -> Cluster:
    return cluster(expected=SIZES, levels={"max_metrics": 1_000_000} | levels, **more)


@pytest.mark.parametrize(
    ("expressions", "promised"),
    [
        ([], 0),
        (["^billing$"], 1),
        (["^billing$", r"^a\.b-c$"], 2),
        (["billing"], 20),
        (["^a|b$"], 20),
        (["^a.b$"], 20),
        (["^billing$", ".*"], 20),
        ([f"^g{at}$" for at in range(30)], 20),
        (["^(billing|stock)$", "^billing$"], 2),
        (["^billing|stock$"], 20),
    ],
)
def test_groups_with_a_service_level_have_one_more(expressions: list[str], promised: int) -> None:
    levels = dict.fromkeys(expressions, 60)
    one = sized({"topics": True}, sla_seconds=levels)
    found = count_metrics(one)
    assert found.of_groups == 20 * 4 + promised
    assert found.total == OWN + found.of_groups + 400
    assert found.omitted == 0


@pytest.mark.parametrize(
    ("allow", "deny", "groups"),
    [
        ("^(a|b)$", None, 2),
        (r"^(?:a|b\.c)$", None, 2),
        ("^(a|b)$", "^b", 1),
        ("^a$", None, 1),
        ("^(a|b.*)$", None, 20),
        ("a|b", None, 20),
        (None, "^a$", 20),
        (None, None, 20),
    ],
)
def test_a_filter_that_lists_names_is_counted(
    allow: str | None, deny: str | None, groups: int
) -> None:
    names = {key: text for key, text in (("allow", allow), ("deny", deny)) if text is not None}
    levels = {"max_metrics": 100_000}
    assert count_metrics(sized({**levels, "partitions": {"groups": names}})).partitions == (
        4_800 // 20 * groups
    )
    assert count_metrics(sized({**levels, "scaling": names})).of_groups == 20 * 4 + groups * 3


def test_groups_with_a_deployment_alarm_have_one_more() -> None:
    named = {"deployments": ["billing", "stock"]}
    found = count_metrics(sized({"releases": ["stock", "audit"]}, alarms=named))
    assert found.of_groups == 20 * 4 + 3


def test_there_are_at_least_as_many_groups_as_are_named() -> None:
    one = cluster(alarms={"groups": ["a", "b"]}, expected={"groups": 1})
    assert count_metrics(one).groups == 2


def real(report: LagReport, levels: Levels) -> tuple[int, int]:
    """Distinct metrics that the collector publishes, and how many it leaves out."""
    chosen = plan(report, Snapshot.empty(), levels)
    sets = [
        *lag_sets(report, chosen, levels, "c"),
        health_set(report, chosen.omitted, "c", 1.0),
        success_set("c"),
    ]
    names = {(one.dimensions, name) for one in sets for name, _ in one.values}
    return len(names), chosen.omitted


LEVELS = st.fixed_dictionaries(
    {
        "max_metrics": st.integers(0, 250),
        "topics": st.booleans(),
        "named_only": st.booleans(),
        "max_offset_lag": st.booleans(),
        **dict.fromkeys(contract.CHOSEN_METRICS, st.booleans()),
    }
)


@pytest.mark.parametrize(("budget", "omitted"), [(38, 4), (39, 0)])
def test_a_budget_that_just_fits_leaves_out_nothing(budget: int, omitted: int) -> None:
    one = cluster(
        expected={"groups": 7}, levels={"max_metrics": budget}, sla_seconds={"^g0$": 60}, alarms={}
    )
    assert count_metrics(one).omitted == omitted


@settings(max_examples=25, deadline=None)
@given(
    st.tuples(st.integers(1, 8), st.integers(1, 3), st.integers(1, 3)),
    LEVELS,
    st.integers(0, 4),
    st.integers(0, 4),
    st.booleans(),
)
def test_the_collector_chooses_exactly_as_many_and_publishes_no_more_than_fit(
    size: tuple[int, int, int],
    levels: dict[str, Any],
    in_policies: int,
    in_alarms: int,
    with_partitions: bool,
) -> None:
    groups, topics, partitions = size
    # Named groups must fit: a configuration in which they do not is refused.
    largest = len(Levels(**levels).group_metrics) + len(contract.SCALING_METRICS)
    assume(levels["max_metrics"] >= OWN + largest * max(in_policies, in_alarms))
    names = [f"g{number}" for number in range(groups)]
    in_both = names[:in_policies]
    all_levels = levels | ({"partitions": {}} if with_partitions else {})
    one = cluster(
        expected={
            "groups": groups,
            "group_topics": groups * topics,
            "group_partitions": groups * topics * partitions,
        },
        levels=all_levels,
        scaling=scaled(*in_both),
        alarms={"groups": names[:in_alarms], "any_group": not levels["named_only"]},
    )
    collectors = Levels(
        **levels,
        named=frozenset({*in_both, *names[:in_alarms]}),
        scaling=NameFilter(allow=re.compile(rf"^(?:{'|'.join(in_both)})$")) if in_both else None,
        partition_groups=NameFilter() if with_partitions else None,
    )
    report = a_report({name: {f"t{n}": partitions for n in range(topics)} for name in names})
    found = count_metrics(one)
    published, omitted = real(report, collectors)
    assert found.total + found.omitted == published + omitted
    # Which sets fit is decided one by one in the collector.
    assert found.total <= max(OWN, levels["max_metrics"])
    assert abs(found.total - published) <= ONE_SET
    if not omitted:
        assert found.omitted == 0
