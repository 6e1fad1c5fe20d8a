# SPDX-License-Identifier: Apache-2.0
"""Costs of configurations for tests, and the quantities in them."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from kafka_lag_config.cost.cost import Cost, cost_of, load_prices
from kafka_lag_config.cost.usage import Quantity, cluster_usage, shared_usage
from tests.infra.configured import deployment

PRICES = load_prices()
# A channel costs nothing.
NOTIFY = {"slack": [{"name": "ops", "workspace_id": "T0123ABCD", "channel_id": "C0123ABCD"}]}


def cost(*clusters: dict[str, Any], **shared: Any) -> Cost:
    """Of clusters whose alarms somebody gets."""
    return cost_of(deployment(*clusters, shared={"notify": NOTIFY} | shared), PRICES)


def quantities(*clusters: dict[str, Any], **shared: Any) -> list[Quantity]:
    """The usage of all clusters, and of what they share."""
    made = deployment(*clusters, shared={"notify": NOTIFY} | shared)
    found = [each for one in made.clusters for each in cluster_usage(one, made.shared)]
    for place, those in made.places().items():
        found += shared_usage(made.shared, those, made.kms_keys(*place))
    return found


def units(*clusters: dict[str, Any], **shared: Any) -> dict[str, float]:
    """Units a month by `part: price`, those of several clusters added up."""
    found: defaultdict[str, float] = defaultdict(float)
    for each in quantities(*clusters, **shared):
        found[f"{each.part}: {each.price}"] += each.units
    return dict(found)
