# SPDX-License-Identifier: Apache-2.0
"""Quantities times prices: dollars a month by account and region, cluster and part of the bill.

Tiers are for all that an account uses in a region, so what its clusters use is priced together,
and each quantity gets its share of that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kafka_lag_config.cluster import Cluster
from kafka_lag_config.cost.prices import REFERENCE_REGION, Prices, PricesByRegion
from kafka_lag_config.cost.quantities import (
    LEVERS,
    Part,
    Quantity,
    cluster_quantities,
    count_msk_metrics,
    shared_quantities,
)
from kafka_lag_config.cost.sizes import DAYS
from kafka_lag_config.cost.warnings import ASSUMPTIONS, cost_warnings
from kafka_lag_config.deployment import Deployment

_METRIC = "custom_metric"


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """A quantity with its dollars a month; `price` is the key of its price, `unit` that one's."""

    item: str
    price: str
    units: float
    unit: str
    usd: float
    verified: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A part of the bill: what is charged for it, the most expensive first."""

    part: Part
    charges: tuple[Charge, ...]

    @property
    def usd(self) -> float:
        return sum(each.usd for each in self.charges)

    @property
    def lever(self) -> str | None:
        """The key of the configuration that changes it most."""
        return LEVERS.get(self.part)


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

    `msk_metrics` and `msk_usd` are in no sum: what MSK's own level by partition would cost.
    """

    account: str | None
    region: str
    prices_of: str
    clusters: tuple[ClusterCost, ...]
    shared: tuple[Line, ...]
    msk_metrics: int
    msk_usd: float

    @property
    def usd(self) -> float:
        return sum(each.usd for each in self.clusters) + sum_usd(self.shared)


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
    """Returns the monthly cost of a configuration, once stored data has reached its full age."""
    regions = tuple(
        _cost_of_region(deployment, account, region, prices)
        for account, region in deployment.places()
    )
    taken = {each.prices_of: prices[each.prices_of] for each in regions}
    return Cost(regions, taken, tuple(cost_warnings(deployment, prices)))


def sum_usd(lines: Iterable[Line]) -> float:
    return sum(line.usd for line in lines)


def _cost_of_region(
    deployment: Deployment, account: str | None, region: str, prices_by_region: PricesByRegion
) -> RegionCost:
    clusters, shared = deployment.places()[account, region], deployment.shared
    prices_of = region if region in prices_by_region else REFERENCE_REGION
    prices = prices_by_region[prices_of]
    of_clusters = [cluster_quantities(each, shared) for each in clusters]
    of_region = shared_quantities(shared, clusters, deployment.kms_keys(account, region))
    rates = _find_rates([each for some in (*of_clusters, of_region) for each in some], prices)
    msk_metrics = count_msk_metrics(clusters)
    return RegionCost(
        account=account,
        region=region,
        prices_of=prices_of,
        clusters=tuple(
            ClusterCost(cluster, _make_lines(quantities, prices, rates))
            for cluster, quantities in zip(clusters, of_clusters, strict=True)
        ),
        shared=_make_lines(of_region, prices, rates),
        msk_metrics=msk_metrics,
        msk_usd=prices[_METRIC].cost(msk_metrics),
    )


def _find_rates(quantities: Iterable[Quantity], prices: Prices) -> Mapping[str, float]:
    """Returns dollars a unit of each price, over all tiers that the quantities reach together."""
    units: defaultdict[str, float] = defaultdict(float)
    for each in quantities:
        units[each.price] += each.units
    return {key: prices[key].cost(total) / total for key, total in units.items()}


def _make_lines(
    quantities: Iterable[Quantity], prices: Prices, rates: Mapping[str, float]
) -> tuple[Line, ...]:
    charges: defaultdict[Part, list[Charge]] = defaultdict(list)
    for each in quantities:
        price = prices[each.price]
        charges[each.part].append(
            Charge(
                item=each.item,
                price=each.price,
                units=each.units,
                unit=price.unit,
                usd=each.units * rates[each.price],
                verified=price.verified,
            )
        )
    return tuple(
        Line(part, tuple(sorted(charges[part], key=lambda charge: -charge.usd)))
        for part in Part
        if part in charges
    )


def cost_document(cost: Cost) -> dict[str, Any]:
    """Returns all charges, and the source of each price, as JSON has them."""
    return {
        "currency": "USD",
        "month_days": DAYS,
        "total": _round(cost.usd),
        "places": [_place_document(each) for each in cost.regions],
        "warnings": list(cost.warnings),
        "assumptions": list(ASSUMPTIONS),
        "prices": {
            region: {key: price.model_dump(mode="json") for key, price in prices.items()}
            for region, prices in cost.prices.items()
        },
    }


def _place_document(region: RegionCost) -> dict[str, Any]:
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
                "lines": _line_documents(each.lines),
            }
            for each in region.clusters
        ],
        "shared": {
            "total": _round(sum_usd(region.shared)),
            "lines": _line_documents(region.shared),
        },
        "msk_level": {"metrics": region.msk_metrics, "usd": _round(region.msk_usd)},
    }


def _line_documents(lines: Iterable[Line]) -> list[dict[str, Any]]:
    return [
        {
            "part": line.part,
            "usd": _round(line.usd),
            "lever": line.lever,
            "charges": [asdict(each) | {"usd": _round(each.usd)} for each in line.charges],
        }
        for line in lines
    ]


def _round(usd: float | None) -> float | None:
    """Returns dollars to a hundredth of a cent."""
    return None if usd is None else round(usd, 4)
