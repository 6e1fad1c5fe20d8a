# SPDX-License-Identifier: Apache-2.0
"""Dollars of a configuration: by hand, in tiers that clusters share, with sums that add up."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag_cdk.cost.cost import Line, cost_document
from tests.infra.configured import cluster_json, moved
from tests.infra.cost.documents import all_lines, cost

LARGE = {"groups": 1_000, "group_topics": 5_000, "group_partitions": 100_000}


def usd(lines: tuple[Line, ...] | list[Line], **fields: str) -> float:
    """Dollars of the lines that have these values."""
    found = [x for x in lines if all(getattr(x, k) == v for k, v in fields.items())]
    assert found
    return sum(line.usd for line in found)


def us(name: str, **changes: Any) -> dict[str, Any]:
    return moved(cluster_json(name=name, **changes), "us-east-1")


def test_a_cluster_costs_its_lines_and_a_group_its_share() -> None:
    found = cost()
    (region,) = found.regions
    (one,) = region.clusters
    assert one.usd == pytest.approx(sum(line.usd for line in one.lines))
    assert one.usd_per_group == pytest.approx(one.usd / 20)
    assert region.usd == pytest.approx(sum(line.usd for line in all_lines(found)))


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
