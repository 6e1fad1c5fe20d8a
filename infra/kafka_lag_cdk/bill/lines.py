# SPDX-License-Identifier: Apache-2.0
"""Quantities times prices: a bill by account and region, cluster and line.

Tiers are for all that an account uses in a region, so what clusters use together is priced
together, and each line gets its share of that by quantity.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kafka_lag_cdk.bill.comparison import Comparison, compared
from kafka_lag_cdk.bill.prices import PriceList, prices_for
from kafka_lag_cdk.bill.usage.cluster import cluster_usage
from kafka_lag_cdk.bill.usage.item import Item
from kafka_lag_cdk.bill.usage.shared import shared_usage
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.deployment import Deployment


@dataclass(frozen=True, slots=True)
class Line:
    """One item and its dollars a month."""

    item: Item
    usd: float


@dataclass(frozen=True, slots=True)
class ClusterBill:
    """The lines of one cluster."""

    cluster: Cluster
    lines: tuple[Line, ...]

    @property
    def usd(self) -> float:
        """Dollars a month, without what the region shares."""
        return total(self.lines)

    @property
    def usd_per_group(self) -> float | None:
        """The same for one of the expected groups, None where none is expected."""
        groups = self.cluster.expected.groups
        return self.usd / groups if groups else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceBill:
    """One account (None: whichever deploys) and region, and whose prices were taken."""

    account: str | None
    region: str
    prices: PriceList
    clusters: tuple[ClusterBill, ...]
    shared: tuple[Line, ...]
    comparison: Comparison

    @property
    def lines(self) -> tuple[Line, ...]:
        """Every line, clusters first."""
        return (*(line for one in self.clusters for line in one.lines), *self.shared)

    @property
    def usd(self) -> float:
        """Dollars a month."""
        return total(self.lines)


@dataclass(frozen=True, slots=True)
class Bill:
    """The whole configuration's bill for an average month."""

    places: tuple[PlaceBill, ...]

    @property
    def usd(self) -> float:
        """Dollars a month."""
        return sum(place.usd for place in self.places)


def bill_of(deployment: Deployment, lists: Mapping[str, PriceList]) -> Bill:
    """What a configuration will cost a month, once all that expires is as old as it gets.

    Without a daily job no snapshot ever expires: those of the first year are counted.
    """
    return Bill(
        tuple(
            _place(deployment, account, region, clusters, prices_for(region, lists))
            for (account, region), clusters in deployment.places().items()
        )
    )


def total(lines: Iterable[Line]) -> float:
    """Dollars of some lines together."""
    return sum(line.usd for line in lines)


def _place(
    deployment: Deployment,
    account: str | None,
    region: str,
    clusters: tuple[Cluster, ...],
    prices: PriceList,
) -> PlaceBill:
    usages = [cluster_usage(cluster, deployment.shared) for cluster in clusters]
    together = shared_usage(deployment.shared, clusters, deployment.kms_keys(account, region))
    rates = _rates([item for usage in (*usages, together) for item in usage], prices)
    return PlaceBill(
        account=account,
        region=region,
        prices=prices,
        clusters=tuple(
            ClusterBill(cluster, _lines(usage, rates))
            for cluster, usage in zip(clusters, usages, strict=True)
        ),
        shared=_lines(together, rates),
        comparison=compared(clusters, prices["custom_metric"]),
    )


def _rates(items: Iterable[Item], prices: PriceList) -> dict[str, float]:
    """Dollars a unit of each price, over all tiers that the items reach together."""
    used: defaultdict[str, float] = defaultdict(float)
    for item in items:
        used[item.price] += item.quantity
    return {key: prices[key].cost(all_) / all_ if all_ else 0.0 for key, all_ in used.items()}


def _lines(items: Iterable[Item], rates: Mapping[str, float]) -> tuple[Line, ...]:
    return tuple(Line(item, item.quantity * rates[item.price]) for item in items)
