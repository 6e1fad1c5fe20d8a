# SPDX-License-Identifier: Apache-2.0
"""Bills: a facts page's own sums, tiers that clusters share, totals that add up."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag_cdk.bill.lines import Bill, Line, bill_of, total
from kafka_lag_cdk.bill.prices import price_lists
from tests.infra.configured import cluster_json, deployment, moved

LISTS = price_lists()
LARGE = {"groups": 1_000, "group_topics": 5_000, "group_partitions": 100_000}


def billed(*clusters: dict[str, Any], **more: Any) -> Bill:
    return bill_of(deployment(*clusters, **more), LISTS)


def dollars(lines: tuple[Line, ...], service: str, what: str) -> float:
    (found,) = [x for x in lines if (x.item.service, x.item.what) == (service, what)]
    return found.usd


def elsewhere(name: str, region: str, **more: Any) -> dict[str, Any]:
    return moved(cluster_json(name=name, **more), region)


@pytest.mark.parametrize(
    ("levels", "what", "usd"),
    [
        pytest.param({"topics": False, "partitions": {}}, "by partition", 2_880, id="partitions"),
        pytest.param({}, "by topic", 120, id="topics"),
        pytest.param({"max_offset_lag": True}, "by topic", 180, id="topics-with-their-worst"),
        pytest.param({}, "by group", 24, id="groups"),
    ],
)
def test_4800_group_partitions_cost_what_the_facts_say(
    levels: dict[str, Any], what: str, usd: float
) -> None:
    expected = {"groups": 20, "group_topics": 200, "group_partitions": 4_800}
    told = cluster_json(expected=expected, levels={"max_metrics": 10_000} | levels)
    (place,) = billed(told).places
    assert dollars(place.clusters[0].lines, "CloudWatch metrics", what) == pytest.approx(usd)


def test_a_cluster_costs_its_lines_and_a_group_its_share() -> None:
    (place,) = billed(cluster_json()).places
    (one,) = place.clusters
    assert one.usd == pytest.approx(sum(line.usd for line in one.lines))
    assert one.usd_per_group == pytest.approx(one.usd / 20)
    assert place.usd == pytest.approx(one.usd + total(place.shared))


def test_a_cluster_without_groups_has_no_cost_a_group() -> None:
    (place,) = billed(cluster_json(expected={"groups": 0})).places
    assert place.clusters[0].usd_per_group is None


def test_clusters_of_a_region_reach_cheaper_tiers_together() -> None:
    levels = {"max_metrics": 10_000}
    made = [cluster_json(name=f"c{n}", expected=LARGE, levels=levels) for n in range(2)]
    (place,) = billed(*made).places
    found = [
        sum(line.usd for line in one.lines if line.item.price == "custom_metric")
        for one in place.clusters
    ]
    # that of the daily report is one more in the region
    metrics = 2 * 9_999 + 1
    shared = sum(line.usd for line in place.shared if line.item.price == "custom_metric")
    assert sum(found) + shared == pytest.approx(10_000 * 0.30 + (metrics - 10_000) * 0.10)
    assert found[0] == pytest.approx(found[1])


def test_regions_do_not_share_tiers() -> None:
    levels = {"max_metrics": 10_000}
    made = [
        elsewhere(f"c{n}", region, expected=LARGE, levels=levels)
        for n, region in enumerate(("eu-west-1", "us-east-1"))
    ]
    for place in billed(*made).places:
        of_metrics = [line.usd for line in place.lines if line.item.price == "custom_metric"]
        assert sum(of_metrics) == pytest.approx(10_000 * 0.30)


def test_shares_follow_quantities() -> None:
    small = cluster_json(name="small", levels={"max_metrics": 1_009}, expected=LARGE)
    large = cluster_json(name="large", levels={"max_metrics": 19_009}, expected=LARGE)
    (place,) = billed(small, large).places
    one, other = (dollars(each.lines, "CloudWatch metrics", "by group") for each in place.clusters)
    assert other / one == pytest.approx(4)


def test_twenty_clusters_in_two_regions_add_up() -> None:
    made = [
        elsewhere(f"c{n}", ("eu-west-1", "us-east-1")[n % 2], auth={"type": "iam"})
        for n in range(20)
    ]
    bill = billed(*made)
    assert [len(place.clusters) for place in bill.places] == [10, 10]
    assert bill.usd == pytest.approx(sum(line.usd for p in bill.places for line in p.lines))
    assert bill.places[0].usd == pytest.approx(bill.places[1].usd)


def test_a_region_without_prices_of_its_own_is_billed_by_the_reference() -> None:
    (place,) = billed(cluster_json()).places
    assert (place.region, place.prices.region) == ("eu-west-1", "us-east-1")
