# SPDX-License-Identifier: Apache-2.0
"""Prices in tiers: every boundary, and a file that names the source of each price."""

from __future__ import annotations

import tomllib
from datetime import date

import pytest

from kafka_lag_config.cost.cost import FILE, REFERENCE_REGION, cost_of, load_prices
from kafka_lag_config.cost.usage import Part
from tests.infra.configured import KEY, SECRET, cluster_json, deployment, moved
from tests.infra.cost.documents import NOTIFY, cost, quantities

BY_REGION = load_prices()
PRICES = BY_REGION[REFERENCE_REGION]
METRIC = PRICES["custom_metric"]


@pytest.mark.parametrize(
    ("metrics", "dollars"),
    [
        *((0, 0), (1, 0.30)),
        # Each tier full, and one metric more.
        *((10_000, 3_000), (10_001, 3_000.10)),
        *((250_000, 27_000), (250_001, 27_000.05)),
        *((1_000_000, 64_500), (1_000_001, 64_500.02), (2_000_000, 84_500)),
    ],
)
def test_metrics_are_priced_tier_by_tier(metrics: int, dollars: float) -> None:
    assert METRIC.cost(metrics) == pytest.approx(dollars)


def test_each_price_says_where_it_was_read_and_its_tiers_rise() -> None:
    for lists in tomllib.loads(FILE.read_text()).values():
        for read in lists:
            assert set(read) == {"source", "retrieved", "verified", "prices"}
            assert read["source"].startswith(("aws.amazon.com/", "AWS Pricing API"))
            assert isinstance(read["retrieved"], date)
            for key, price in read["prices"].items():
                assert set(price) in ({"unit", "price"}, {"unit", "tiers"}), key
                *bounded, last = price.get("tiers", [price])
                bounds = [tier["up_to"] for tier in bounded]
                assert bounds == sorted(set(bounds))
                assert "up_to" not in last
                assert all(tier["price"] > 0 for tier in (*bounded, last))


def everything() -> set[str]:
    """The keys of all prices that some configuration uses."""
    login = {"type": "scram", "secret_arn": SECRET, "kms_key_arn": KEY}
    vpc = cluster_json()["vpc"] | {"cidr": "10.0.0.0/16", "endpoints": {"secrets_manager": True}}
    one = cluster_json(
        auth=login,
        vpc=vpc,
        alarms={"groups": ["billing"], "anomalies": ["billing"]},
        expected={"nat_gateways": 1},
    )
    other = cluster_json(name="intel", function={"architecture": "x86_64"}, sinks=["cloudwatch"])
    by_otlp = cluster_json(name="by-otlp", metrics="otlp")
    found = quantities(one, other, by_otlp, status_messages={})
    return {each.price for each in found if each.units}


def test_every_region_has_every_price_and_no_other() -> None:
    used = everything()
    assert [region for region in BY_REGION if set(BY_REGION[region]) != used] == []


def test_a_region_with_prices_has_its_own() -> None:
    own = {**PRICES, "dashboard": PRICES["secret"]}
    found = cost_of(deployment(shared={"notify": NOTIFY}), {**BY_REGION, "eu-west-1": own})
    assert [line.usd for line in found.lines if line.cluster and line.part is Part.REST] == [0.40]
    assert found.warnings == cost(moved(cluster_json(), REFERENCE_REGION)).warnings
