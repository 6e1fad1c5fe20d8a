# SPDX-License-Identifier: Apache-2.0
"""Dollars of a configuration: by hand, in tiers that clusters share, with sums that add up."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag_cdk.cost.cost import Line, cost_document
from tests.infra.configured import cluster_json, moved
from tests.infra.cost.documents import all_lines, cost, not_msk, serverless

SIZES = {"groups": 20, "group_topics": 200, "group_partitions": 4_800}
LARGE = {"groups": 1_000, "group_topics": 5_000, "group_partitions": 100_000}


def usd(lines: tuple[Line, ...] | list[Line], **fields: str) -> float:
    """Dollars of the lines that have these values."""
    found = [x for x in lines if all(getattr(x, k) == v for k, v in fields.items())]
    assert found
    return sum(line.usd for line in found)


def us(name: str, **changes: Any) -> dict[str, Any]:
    return moved(cluster_json(name=name, **changes), "us-east-1")


@pytest.mark.parametrize(
    ("levels", "item", "expected"),
    [
        pytest.param({"topics": False, "partitions": {}}, "by partition", 2_880, id="partitions"),
        pytest.param({}, "by topic", 120, id="topics"),
        pytest.param({"max_offset_lag": True}, "by topic", 180, id="topics-with-their-worst"),
        pytest.param({}, "by group", 24, id="groups"),
    ],
)
def test_twenty_groups_cost_what_their_metrics_cost(
    levels: dict[str, Any], item: str, expected: float
) -> None:
    levels = {"max_metrics": 10_000} | levels
    (region,) = cost(cluster_json(expected=SIZES, levels=levels)).regions
    assert usd(region.clusters[0].lines, item=item) == pytest.approx(expected)


def test_a_cluster_costs_its_lines_and_a_group_its_share() -> None:
    found = cost()
    (region,) = found.regions
    (one,) = region.clusters
    assert one.usd == pytest.approx(sum(line.usd for line in one.lines))
    assert one.usd_per_group == pytest.approx(one.usd / 20)
    assert region.usd == pytest.approx(sum(line.usd for line in all_lines(found)))


def test_a_cluster_without_groups_has_no_cost_a_group() -> None:
    (region,) = cost(cluster_json(expected={"groups": 0})).regions
    assert region.clusters[0].usd_per_group is None


def test_clusters_of_a_region_reach_cheaper_tiers_together() -> None:
    made = [
        cluster_json(name=f"c{n}", expected=LARGE, levels={"max_metrics": 10_000}) for n in range(2)
    ]
    found = cost(*made)
    # That of the daily report is one more in the region.
    metrics = 2 * 10_000 + 1
    expected = 10_000 * 0.30 + (metrics - 10_000) * 0.10
    assert usd(all_lines(found), price="custom_metric") == pytest.approx(expected)
    one, other = found.regions[0].clusters
    assert one.usd == pytest.approx(other.usd)


def test_regions_do_not_share_tiers() -> None:
    more = {"expected": LARGE, "levels": {"max_metrics": 10_000}}
    found = cost(cluster_json(name="eu", **more), us("us", **more))
    assert [region.region for region in found.regions] == ["eu-west-1", "us-east-1"]
    for region in found.regions:
        lines = [*region.clusters[0].lines, *region.shared]
        assert usd(lines, price="custom_metric") == pytest.approx(10_000 * 0.30 + 0.10)
    assert found.usd == pytest.approx(sum(line.usd for line in all_lines(found)))


def test_clusters_share_tiers_by_quantity() -> None:
    small = cluster_json(name="small", levels={"max_metrics": 1_010}, expected=LARGE)
    large = cluster_json(name="large", levels={"max_metrics": 19_010}, expected=LARGE)
    (region,) = cost(small, large).regions
    one, other = (usd(each.lines, item="by group") for each in region.clusters)
    assert other / one == pytest.approx(4)


@pytest.mark.parametrize(
    ("clusters", "metrics"),
    [
        pytest.param([cluster_json(expected=SIZES)], 14_400, id="three a group and partition"),
        pytest.param(
            [cluster_json(name=f"c{n}", expected=SIZES) for n in range(3)], 43_200, id="together"
        ),
        pytest.param([cluster_json(), serverless()], 1_800, id="not of MSK Serverless"),
        pytest.param([cluster_json(), not_msk()], 1_800, id="nor of others than MSK"),
        pytest.param([cluster_json(paused=True)], 1_800, id="whether or not it is paused here"),
    ],
)
def test_msks_own_level_stands_beside_and_in_no_sum(
    clusters: list[dict[str, Any]], metrics: int
) -> None:
    found = cost(*clusters)
    (region,) = found.regions
    assert region.msk_level
    assert region.msk_level.quantity == metrics
    tiers = min(metrics, 10_000) * 0.30 + max(metrics - 10_000, 0) * 0.10
    assert region.msk_level.usd == pytest.approx(tiers)
    assert region.usd == pytest.approx(sum(line.usd for line in all_lines(found)))


@pytest.mark.parametrize("one", [serverless(), not_msk()], ids=["serverless", "not MSK"])
def test_without_msks_own_level_there_is_nothing_beside(one: dict[str, Any]) -> None:
    found = cost(one)
    assert found.regions[0].msk_level is None
    assert cost_document(found)["places"][0]["msk_level"] is None


def test_the_document_has_every_line_rounded_and_its_price() -> None:
    found = cost(cluster_json(), us("us"))
    document = cost_document(found)
    lines = [
        line
        for place in document["places"]
        for some in (*place["clusters"], place["shared"])
        for line in some["lines"]
    ]
    assert len(lines) == len(all_lines(found))
    assert document["total"] == round(found.usd, 4)
    assert document["total"] == pytest.approx(sum(line["usd"] for line in lines), abs=0.01)
    assert {line["price"] for line in lines} <= set(document["prices"]["us-east-1"])
    (place, _) = document["places"]
    (topics,) = [line for line in place["clusters"][0]["lines"] if line["item"] == "by topic"]
    assert topics == {
        "service": "CloudWatch metrics",
        "item": "by topic",
        "price": "custom_metric",
        "quantity": 120,
        "unit": "metric",
        "basis": "60 x 2",
        "usd": 36.0,
        "verified": True,
        "lever": "levels.topics",
    }
    assert place["clusters"][0]["per_group"] == pytest.approx(
        place["clusters"][0]["total"] / 20, abs=1e-4
    )
    assert place["msk_level"]["usd"] == 540.0


def test_the_document_says_where_prices_are_from() -> None:
    document = cost_document(cost())
    metric = document["prices"]["us-east-1"]["custom_metric"]
    assert (metric["retrieved"], metric["verified"]) == ("2025-10-28", True)
    assert (document["places"][0]["region"], document["places"][0]["prices_of"]) == (
        "eu-west-1",
        "us-east-1",
    )
    assert any("no prices for eu-west-1" in sentence for sentence in document["warnings"])


def test_a_region_with_prices_of_its_own_has_these() -> None:
    assert [region.prices_of for region in cost(us("us")).regions] == ["us-east-1"]
