# SPDX-License-Identifier: Apache-2.0
"""Quantities times prices: dollars a month by account and region, cluster and line.

Tiers are for all that an account uses in a region, so what its clusters use is priced together,
and each line gets its share of that by quantity.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.deployment import Deployment
from kafka_lag_cdk.cost.prices import REFERENCE_REGION, Prices, PricesByRegion
from kafka_lag_cdk.cost.quantities import (
    Quantity,
    cluster_quantities,
    msk_level_quantities,
    shared_quantities,
)
from kafka_lag_cdk.cost.sizes import DAYS
from kafka_lag_cdk.cost.warnings import ASSUMPTIONS, cost_warnings


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A quantity with its dollars a month; `price` is the key of its price, `unit` that one's."""

    service: str
    item: str
    price: str
    quantity: float
    unit: str
    basis: str
    usd: float
    verified: bool
    lever: str | None


@dataclass(frozen=True, slots=True)
class ClusterCost:
    """One cluster's lines, without what the region shares."""

    cluster: Cluster
    lines: tuple[Line, ...]

    @property
    def usd(self) -> float:
        return sum_usd(self.lines)

    @property
    def usd_per_group(self) -> float | None:
        """The cost for one expected group; null if none is expected."""
        groups = self.cluster.expected.groups
        return self.usd / groups if groups else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionCost:
    """One account (None: whichever deploys) and region, and the region whose prices were taken.

    `msk_level` is in no sum: what MSK's own level would cost; None without clusters that have it.
    """

    account: str | None
    region: str
    prices_of: str
    clusters: tuple[ClusterCost, ...]
    shared: tuple[Line, ...]
    msk_level: Line | None

    @property
    def usd(self) -> float:
        return sum(each.usd for each in self.clusters) + sum_usd(self.shared)

    @property
    def largest(self) -> tuple[Line, float] | None:
        """The line that costs most, one of those that clusters have alike, with all their dollars.

        None where nothing costs anything.
        """
        lines: dict[tuple[str, str], Line] = {}
        usd: defaultdict[tuple[str, str], float] = defaultdict(float)
        for line in (*(each for one in self.clusters for each in one.lines), *self.shared):
            lines.setdefault((line.service, line.item), line)
            usd[line.service, line.item] += line.usd
        if not any(usd.values()):
            return None
        most = max(usd, key=lambda each: usd[each])
        return lines[most], usd[most]


@dataclass(frozen=True, slots=True)
class Cost:
    """The whole configuration's cost for an average month; `prices` are those that were taken."""

    regions: tuple[RegionCost, ...]
    prices: PricesByRegion
    warnings: tuple[str, ...]

    @property
    def usd(self) -> float:
        return sum(each.usd for each in self.regions)


def cost_of(deployment: Deployment, prices: PricesByRegion) -> Cost:
    """Return the monthly cost of a configuration, once its stored data has reached its full age."""
    regions = tuple(
        _cost_of_region(deployment, account, region, prices)
        for account, region in deployment.places()
    )
    taken = {each.prices_of: prices[each.prices_of] for each in regions}
    return Cost(regions, taken, tuple(cost_warnings(deployment, prices)))


def sum_usd(lines: Iterable[Line]) -> float:
    return sum(line.usd for line in lines)


def cost_document(cost: Cost) -> dict[str, Any]:
    """Everything that the table shows, and the source of each price, as JSON has it."""
    return {
        "currency": "USD",
        "month_days": DAYS,
        "total": _round(cost.usd),
        "places": [_region_document(each) for each in cost.regions],
        "warnings": list(cost.warnings),
        "assumptions": list(ASSUMPTIONS),
        "prices": {
            region: {key: price.model_dump(mode="json") for key, price in prices.items()}
            for region, prices in cost.prices.items()
        },
    }


def _cost_of_region(
    deployment: Deployment, account: str | None, region: str, prices_by_region: PricesByRegion
) -> RegionCost:
    clusters, shared = deployment.places()[account, region], deployment.shared
    prices_of = region if region in prices_by_region else REFERENCE_REGION
    prices = prices_by_region[prices_of]
    of_clusters = [cluster_quantities(each, shared) for each in clusters]
    of_region = shared_quantities(shared, clusters, deployment.kms_keys(account, region))
    of_msk = msk_level_quantities(clusters)
    rates = _rates([each for some in (*of_clusters, of_region) for each in some], prices)
    return RegionCost(
        account=account,
        region=region,
        prices_of=prices_of,
        clusters=tuple(
            ClusterCost(cluster, _lines(quantities, prices, rates))
            for cluster, quantities in zip(clusters, of_clusters, strict=True)
        ),
        shared=_lines(of_region, prices, rates),
        msk_level=next(iter(_lines(of_msk, prices, _rates(of_msk, prices))), None),
    )


def _rates(quantities: Iterable[Quantity], prices: Prices) -> dict[str, float]:
    """Dollars a unit of each price, over all tiers that the quantities reach together."""
    units: defaultdict[str, float] = defaultdict(float)
    for each in quantities:
        units[each.price] += each.units
    return {key: prices[key].cost(total) / total for key, total in units.items()}


def _lines(
    quantities: Iterable[Quantity], prices: Prices, rates: dict[str, float]
) -> tuple[Line, ...]:
    """Return the lines in the order of the price file."""
    keys = list(prices)
    return tuple(
        Line(
            service=prices[each.price].service,
            item=each.item,
            price=each.price,
            quantity=each.units,
            unit=prices[each.price].unit,
            basis=each.basis,
            usd=each.units * rates[each.price],
            verified=prices[each.price].verified,
            lever=each.lever,
        )
        for each in sorted(quantities, key=lambda each: keys.index(each.price))
    )


def _region_document(region: RegionCost) -> dict[str, Any]:
    return {
        "account": region.account,
        "region": region.region,
        "prices_of": region.prices_of,
        "total": _round(region.usd),
        "clusters": [
            {
                "name": each.cluster.name,
                "total": _round(each.usd),
                "per_group": _round(each.usd_per_group),
                "expected": each.cluster.expected.model_dump(),
                "lines": [_line_document(line) for line in each.lines],
            }
            for each in region.clusters
        ],
        "shared": {
            "total": _round(sum_usd(region.shared)),
            "lines": [_line_document(line) for line in region.shared],
        },
        "msk_level": region.msk_level and _line_document(region.msk_level),
    }


def _line_document(line: Line) -> dict[str, Any]:
    return asdict(line) | {"usd": _round(line.usd)}


def _round(usd: float | None) -> float | None:
    """To a hundredth of a cent."""
    return None if usd is None else round(usd, 4)
