# SPDX-License-Identifier: Apache-2.0
"""Costs of configurations for tests, and the quantities in them."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from kafka_lag_config.cost.cost import Cost, Line, cost_of
from kafka_lag_config.cost.prices import load_prices
from tests.infra.configured import deployment

PRICES = load_prices()
# A channel costs nothing.
NOTIFY = {"slack": [{"name": "ops", "workspace_id": "T0123ABCD", "channel_id": "C0123ABCD"}]}


def cost(*clusters: dict[str, Any], **shared: Any) -> Cost:
    """Of clusters whose alarms somebody gets."""
    return cost_of(deployment(*clusters, shared={"notify": NOTIFY} | shared), PRICES)


def all_lines(cost: Cost) -> list[Line]:
    return [
        line
        for region in cost.regions
        for some in (*(each.lines for each in region.clusters), region.shared)
        for line in some
    ]


def units(*clusters: dict[str, Any], **shared: Any) -> dict[str, float]:
    """Units a month by `part: price`, those of several clusters added up."""
    found: defaultdict[str, float] = defaultdict(float)
    for line in all_lines(cost(*clusters, **shared)):
        for each in line.charges:
            found[f"{line.part}: {each.price}"] += each.units
    return dict(found)
