# SPDX-License-Identifier: Apache-2.0
"""Prices in tiers: every boundary, and a file that says where each price is from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from kafka_lag_config.cost.cost import cost_of
from kafka_lag_config.cost.prices import REFERENCE_REGION, Price, load_prices
from tests.infra.configured import KEY, SECRET, cluster_json, deployment, moved
from tests.infra.cost.documents import NOTIFY, all_lines, cost

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


@pytest.mark.parametrize(
    "tiers",
    [
        pytest.param([], id="none"),
        pytest.param([{"price": 1.0, "up_to": 5}], id="an-end"),
        pytest.param([{"price": 1.0}, {"price": 0.5}], id="two-without-end"),
        pytest.param(
            [{"price": 1.0, "up_to": 5}, {"price": 1.0, "up_to": 5}, {"price": 1.0}], id="equal"
        ),
        pytest.param([{"price": -1.0}], id="negative"),
    ],
)
def test_tiers_that_make_no_sense_are_errors(tiers: list[dict[str, Any]]) -> None:
    with pytest.raises(ValidationError):
        Price.model_validate(METRIC.model_dump() | {"tiers": tiers})


def test_a_price_that_does_not_say_its_source_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('[us-east-1.secret]\nunit = "secret"\ntiers = [{price = 1.0}]\n')
    with pytest.raises(ValidationError, match="source"):
        load_prices(file)


@pytest.mark.parametrize("source", ["general knowledge", "an article of 2026", ""])
def test_a_source_that_is_not_aws_own_is_an_error(source: str) -> None:
    with pytest.raises(ValidationError, match="source"):
        Price.model_validate(METRIC.model_dump() | {"source": source})


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
    found = cost(one, other, by_otlp, status_messages={})
    return {each.price for line in all_lines(found) for each in line.charges}


def test_every_region_has_every_price_and_no_other() -> None:
    used = everything()
    assert [region for region in BY_REGION if set(BY_REGION[region]) != used] == []


def test_a_region_with_prices_has_its_own() -> None:
    own = {**PRICES, "dashboard": PRICES["secret"]}
    found = cost_of(deployment(shared={"notify": NOTIFY}), {**BY_REGION, "eu-west-1": own})
    assert [each.prices_of for each in found.regions] == ["eu-west-1"]
    charges = [each for line in all_lines(found) for each in line.charges]
    assert [each.usd for each in charges if each.price == "dashboard"] == [0.40]
    assert found.warnings == cost(moved(cluster_json(), REFERENCE_REGION)).warnings
