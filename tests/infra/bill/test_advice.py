# SPDX-License-Identifier: Apache-2.0
"""What the bill says beside its numbers: omissions, guesses, and which key to turn."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag_cdk.bill.advice import ASSUMPTIONS, levers, warnings
from kafka_lag_cdk.bill.lines import bill_of
from kafka_lag_cdk.bill.prices import price_lists
from tests.infra.configured import cluster_json, deployment, moved

LISTS = price_lists()
SIZED = {"expected": {"groups": 20, "group_topics": 60}}
REGION = "There are no prices for eu-west-1"


def told(*clusters: dict[str, Any], **shared: Any) -> list[str]:
    found = deployment(*clusters, shared=shared)
    return warnings(bill_of(found, LISTS), found.shared.report)


def test_a_region_without_prices_is_told() -> None:
    (sentence,) = told(cluster_json(**SIZED))
    assert sentence.startswith(REGION)
    assert "us-east-1's" in sentence


def test_a_region_with_prices_needs_no_words() -> None:
    assert told(moved(cluster_json(**SIZED), "us-east-1")) == []


@pytest.mark.parametrize(
    ("cluster", "shared", "words"),
    [
        pytest.param({}, {}, "The sizes of orders are guesses", id="guessed"),
        pytest.param(
            {"expected": {"nat_gateways": 1}}, {}, "sizes of orders are guesses", id="no-size"
        ),
        pytest.param(
            {**SIZED, "levels": {"max_metrics": 100}},
            {},
            "orders: levels.max_metrics of 100 leaves out 110 metrics (55 of 60 topics of groups)",
            id="topics-omitted",
        ),
        pytest.param(
            {**SIZED, "levels": {"max_metrics": 49}},
            {},
            "leaves out 160 metrics (10 of 20 groups, 60 of 60 topics of groups)",
            id="groups-omitted",
        ),
        pytest.param(
            {**SIZED, "levels": {"partitions": {}}},
            {},
            "levels.partitions is taken to match every partition",
            id="partitions",
        ),
        pytest.param(
            {**SIZED, "levels": {"scaling": {"allow": "x"}}},
            {},
            "levels.scaling is taken to match every group",
            id="scaling",
        ),
        pytest.param(
            {"expected": {"groups": 700}, "levels": {"max_metrics": 9_000}},
            {},
            "the alarm on any group sees 500 of its 700 groups",
            id="too-many-groups-for-a-query",
        ),
        pytest.param(
            {**SIZED, "sinks": ["emf", {"otlp": {"sigv4": True}}]},
            {},
            "orders: what endpoints of OTLP charge",
            id="otlp",
        ),
        pytest.param({**SIZED, "paused": True}, {}, "orders is paused", id="paused"),
        pytest.param(
            {"expected": {"group_partitions": 2_000_000}},
            {"report": {"time_limit_minutes": 10}},
            "is ended after 10",
            id="report-too-long",
        ),
    ],
)
def test_what_a_reader_should_know_is_told(
    cluster: dict[str, Any], shared: dict[str, Any], words: str
) -> None:
    found = told(cluster_json(**cluster), **shared)
    assert any(words in sentence for sentence in found), found


@pytest.mark.parametrize("sinks", [["emf"], ["cloudwatch"], []])
def test_without_an_endpoint_of_otlp_nothing_is_said_of_one(sinks: list[str]) -> None:
    assert not [each for each in told(cluster_json(**SIZED, sinks=sinks)) if "OTLP" in each]


NO_ALARM, NO_GROUPS = "there is no alarm on any group", "its dashboard is made, and shows nothing"


@pytest.mark.parametrize("sinks", [[], [{"otlp": {"endpoint": "https://x.example/v1/metrics"}}]])
@pytest.mark.parametrize(
    ("more", "said", "left"),
    [
        ({}, (NO_ALARM, NO_GROUPS), ()),
        ({"dashboard": False}, (NO_ALARM,), (NO_GROUPS,)),
        ({"alarms": {"any_group": False}}, (NO_GROUPS,), (NO_ALARM,)),
    ],
)
def test_what_shows_nothing_without_a_sink_in_cloudwatch_is_told(
    sinks: list[Any], more: dict[str, Any], said: tuple[str, ...], left: tuple[str, ...]
) -> None:
    found = told(cluster_json(**SIZED, **more, sinks=sinks))
    (sentence,) = [each for each in found if "nothing is published to CloudWatch" in each]
    assert sentence.startswith("orders: ")
    assert [words for words in said if words not in sentence] == []
    assert [words for words in left if words in sentence] == []


@pytest.mark.parametrize("more", [{"sinks": ["cloudwatch"]}, {}, {"sinks": [], "paused": True}])
def test_of_what_publishes_or_is_paused_nothing_is_said(more: dict[str, Any]) -> None:
    found = told(cluster_json(**SIZED, **more))
    assert [each for each in found if "nothing is published" in each] == []


def test_named_groups_that_the_query_leaves_out_are_not_among_those_that_it_sees() -> None:
    more = {"expected": {"groups": 510}, "levels": {"max_metrics": 9_000}}
    named = [f"g{number}" for number in range(11)]
    (sentence,) = [each for each in told(cluster_json(**more)) if "any group" in each]
    assert "500 of its 510 groups" in sentence
    few = told(cluster_json(**more, alarms={"groups": named}))
    assert [each for each in few if "any group" in each] == []


def test_only_what_expires_is_said_to_be_as_old_as_it_gets() -> None:
    assert "once all that expires is as old as it gets" in ASSUMPTIONS[0]


def test_snapshots_that_never_expire_are_told_where_nothing_compacts_them() -> None:
    (sentence,) = told(moved(cluster_json(**SIZED), "us-east-1"), report={"enabled": False})
    assert "so no snapshot is ever deleted: their storage is that of a year" in sentence


def test_many_clusters_with_too_small_a_budget_share_a_sentence() -> None:
    more = {**SIZED, "levels": {"max_metrics": 100}}
    found = told(*(cluster_json(name=f"c{n}", **more) for n in range(4)))
    (sentence,) = [each for each in found if "max_metrics" in each]
    assert "of 4 clusters (c0 110, c1 110, c2 110, c3 110)" in sentence


def test_the_key_on_which_most_hangs_comes_first() -> None:
    bill = bill_of(deployment(cluster_json()), LISTS)
    first, second, *rest = levers(bill)
    assert [first.key, second.key] == ["levels.topics", "groups.deny"]
    assert [first.usd, second.usd] == pytest.approx([36.0, 24.0])
    assert first.share == pytest.approx(36.0 / bill.usd)
    assert all(lever.share >= 0.03 for lever in rest)


def test_a_lever_sums_all_clusters() -> None:
    made = [cluster_json(name=f"c{n}") for n in range(3)]
    first, *_ = levers(bill_of(deployment(*made), LISTS))
    assert first.usd == pytest.approx(3 * 36.0)
