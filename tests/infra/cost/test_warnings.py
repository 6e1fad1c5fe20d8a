# SPDX-License-Identifier: Apache-2.0
"""What a cost says beside its numbers: what it leaves out, and what it guesses."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag_cdk.cost.warnings import ASSUMPTIONS
from tests.infra.configured import cluster_json, moved
from tests.infra.cost.documents import cost

SIZES = {"groups": 20, "group_topics": 60, "group_partitions": 600, "topic_partitions": 600}
SIZED = {"expected": SIZES}
SMALL_BUDGET = {**SIZED, "levels": {"max_metrics": 100}}
MANY_GROUPS = {
    "expected": SIZES | {"groups": 510, "group_topics": 510},
    "levels": {"max_metrics": 9_000},
}


def us(**changes: Any) -> dict[str, Any]:
    return moved(cluster_json(**changes), "us-east-1")


@pytest.mark.parametrize(
    ("cluster", "shared", "sentence"),
    [
        pytest.param(
            {},
            {},
            "orders: sizes that are guesses: groups 20, group_topics 60, group_partitions 600, "
            "topic_partitions 600. Set them in `expected`.",
            id="guessed",
        ),
        pytest.param(
            {"expected": {"nat_gateways": 1, "brokers": 6}},
            {},
            "orders: sizes that are guesses: groups 20, group_topics 60,",
            id="no-size",
        ),
        pytest.param(
            {"expected": {"groups": 45, "group_topics": 130}},
            {},
            "orders: sizes that are guesses: group_partitions 600, topic_partitions 600. Set",
            id="half-of-them-guessed",
        ),
        pytest.param(
            SMALL_BUDGET,
            {},
            "orders: levels.max_metrics of 100 leaves out 110 metrics",
            id="omitted",
        ),
        pytest.param(
            {**SIZED, "levels": {"partitions": {}}},
            {},
            "orders: levels.partitions is taken to match every partition",
            id="partitions",
        ),
        pytest.param(
            {**SIZED, "levels": {"scaling": {"allow": "x"}}},
            {},
            "orders: levels.scaling is taken to match every group",
            id="scaling",
        ),
        pytest.param(
            MANY_GROUPS,
            {},
            "orders: the alarm on any group sees 500 of its 510 groups",
            id="too-many-groups-for-a-query",
        ),
        pytest.param(
            {**SIZED, "sinks": ["emf", {"otlp": {"sigv4": True}}]},
            {},
            "orders: what endpoints of OTLP charge",
            id="otlp",
        ),
        pytest.param(
            {**SIZED, "sinks": []},
            {},
            "orders: nothing is published to CloudWatch, as sinks names neither emf nor cloudwatch",
            id="no-sink-in-cloudwatch",
        ),
        pytest.param({**SIZED, "paused": True}, {}, "orders: paused", id="paused"),
        pytest.param(
            {**SIZED, "alarms": {"groups": ["billing"]}, "sla_seconds": {"^biling$": 60}},
            {},
            "orders: alarms.groups names billing, which no sla_seconds matches",
            id="no-sla",
        ),
        pytest.param(
            {**SIZED, "sla_seconds": {"billing": 60}},
            {},
            "orders: sla_seconds is taken to match every group; names, as in ^billing$, cost less.",
            id="sla-of-more-than-a-name",
        ),
        pytest.param(
            {"expected": {"group_partitions": 2_000_000}},
            {"report": {"time_limit_minutes": 10}},
            "The daily report of us-east-1 may take 122 minutes and is ended after 10",
            id="report-too-long",
        ),
        pytest.param(
            SIZED,
            {"report": {"enabled": False}},
            "Without the daily report nothing in us-east-1 is compacted",
            id="nothing-compacted",
        ),
    ],
)
def test_what_a_reader_should_know_is_said(
    cluster: dict[str, Any], shared: dict[str, Any], sentence: str
) -> None:
    found = cost(us(**cluster), **shared).warnings
    assert [each for each in found if each.startswith(sentence)], found


@pytest.mark.parametrize(
    "cluster",
    [
        pytest.param(SIZED, id="sizes"),
        pytest.param({**SIZED, "sinks": ["cloudwatch"]}, id="a sink in CloudWatch"),
        pytest.param(
            {"expected": SIZES | {"groups": 500}, "levels": {"max_metrics": 9_000}}, id="500"
        ),
        pytest.param(
            {**MANY_GROUPS, "alarms": {"groups": [f"g{n}" for n in range(11)]}},
            id="named groups are not in the query",
        ),
    ],
)
def test_where_all_is_known_nothing_is_said(cluster: dict[str, Any]) -> None:
    assert cost(us(**cluster)).warnings == ()


@pytest.mark.parametrize("cluster", [SMALL_BUDGET, {**SIZED, "sinks": []}], ids=["budget", "sinks"])
def test_of_a_paused_cluster_nothing_else_is_said(cluster: dict[str, Any]) -> None:
    (sentence,) = cost(us(**cluster, paused=True)).warnings
    assert sentence.startswith("orders: paused")


def test_a_region_without_prices_has_those_of_another_and_it_is_said() -> None:
    (sentence,) = cost(cluster_json(**SIZED)).warnings
    assert sentence.startswith("There are no prices for eu-west-1")
    assert "us-east-1's" in sentence


def test_clusters_with_the_same_warning_share_a_sentence() -> None:
    made = [us(name=f"c{n}", **SMALL_BUDGET) for n in range(4)]
    (sentence,) = cost(*made).warnings
    assert sentence.startswith("c0, c1, c2 and 1 more: levels.max_metrics")


def test_only_what_expires_is_said_to_be_as_old_as_it_gets() -> None:
    assert "once all that expires is as old as it gets" in ASSUMPTIONS[0]
