# SPDX-License-Identifier: Apache-2.0
"""Sinks with levels of their own: what one gets changes nothing of what another does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.lag.model import LagReport, Snapshot
from kafka_lag.sinks.budget import Plan, mark_published, omission_warnings, plan, plan_each
from kafka_lag.sinks.config import Levels
from tests.functions.sinks.reports import a_report

HEALTH = len(contract.HEALTH_UNITS)
# What a set costs.
GROUP = len(contract.GROUP_METRICS)
CLUSTER = Levels(max_metrics=HEALTH + 2 * GROUP, topics=False)
OWN = Levels(max_metrics=HEALTH + GROUP, topics=False)

FIRST = a_report({"m": {"orders": 1}, "n": {"orders": 1}})
CROWD = a_report({"a": {"orders": 1}, "m": {"orders": 1}, "n": {"orders": 1}})


def groups(report: LagReport, found: Plan) -> list[str]:
    return report.snapshot.groups.where(found.groups).strings("consumer_group").to_list()


def test_sinks_that_share_their_levels_share_a_plan() -> None:
    own = [Levels(max_metrics=HEALTH + GROUP, topics=False) for _ in range(2)]
    assert list(plan_each(FIRST, Snapshot.empty(), [CLUSTER, CLUSTER, *own])) == [CLUSTER, OWN]


def test_own_levels_begin_with_what_the_snapshot_holds() -> None:
    named = Levels(max_metrics=HEALTH + GROUP, topics=False, named=frozenset("n"))
    before = mark_published(CROWD.snapshot, plan(CROWD, Snapshot.empty(), named))
    assert groups(CROWD, plan_each(CROWD, before, [CLUSTER, OWN])[OWN]) == ["n"]


@pytest.mark.parametrize(
    ("places", "warned"),
    [
        pytest.param([], [], id="no-sink"),
        pytest.param([(CLUSTER, "levels")] * 2, [(GROUP, CLUSTER, "levels")], id="shared"),
        pytest.param([(OWN, "x")], [(2 * GROUP, OWN, "x")], id="own-alone"),
        pytest.param([(Levels(), "x")], [], id="room-for-all"),
        pytest.param(
            [(OWN, "y"), (CLUSTER, "levels"), (OWN, "x")],
            [(2 * GROUP, OWN, "y"), (GROUP, CLUSTER, "levels"), (2 * GROUP, OWN, "x")],
            id="each-place-to-change",
        ),
    ],
)
def test_a_budget_that_leaves_metrics_out_is_named_where_it_stands(
    places: list[tuple[Levels, str]], warned: list[tuple[int, Levels, str]]
) -> None:
    own = [levels for levels, _ in places]
    plans = plan_each(CROWD, Snapshot.empty(), [CLUSTER, *own])
    assert list(omission_warnings(places, plans)) == [
        f"{count} metrics over the budget of {levels.max_metrics} were left out: "
        f"raise {key}.max_metrics or narrow groups and topics"
        for count, levels, key in warned
    ]


CLUSTERS = st.dictionaries(
    st.sampled_from("abcdef"),
    st.dictionaries(st.sampled_from("xyz"), st.integers(1, 3), max_size=3),
    max_size=6,
)
LEVELS = st.builds(
    Levels,
    max_metrics=st.integers(0, 90),
    topics=st.booleans(),
    max_offset_lag=st.booleans(),
    partition_groups=st.none() | st.just(NameFilter()),
    named=st.sampled_from([frozenset(), frozenset("cf")]),
)


def shape(found: Plan) -> tuple[Any, ...]:
    masks = (found.groups, found.topics, found.partitions)
    return (*(mask.tolist() for mask in masks), found.omitted, found.published.to_list())


@given(st.lists(CLUSTERS.map(a_report), max_size=4), LEVELS, st.lists(LEVELS, max_size=3))
def test_each_plan_is_what_it_were_without_the_others(
    reports: list[LagReport], cluster: Levels, others: list[Levels]
) -> None:
    before = Snapshot.empty()
    for report in reports:
        plans = plan_each(report, before, [cluster, *others])
        for levels in (cluster, *others):
            assert shape(plans[levels]) == shape(plan(report, before, levels))
        before = mark_published(report.snapshot, plans[cluster])
