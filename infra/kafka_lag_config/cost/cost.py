# SPDX-License-Identifier: Apache-2.0
"""The usage times prices: dollars a month by account and region, cluster and part of the bill.

Tiers are for all that an account uses in a region, so what its clusters use is priced together,
and each quantity gets its share of that.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, TypeAlias

from kafka_lag.wording.formatting import format_list
from kafka_lag_config.alarm_rules import ANY_GROUP
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.cost.usage import (
    LEVERS,
    Part,
    Quantity,
    cluster_usage,
    count_metrics,
    groups_in_query,
    job_minutes,
    shared_usage,
)
from kafka_lag_config.deployment import Deployment
from kafka_lag_config.document import EMF, PartitionsSection
from kafka_lag_config.doubts import find_doubts, find_shared_doubts
from kafka_lag_config.promql import MOST_SERIES
from kafka_lag_config.settings import CLASSIC, CLOUDWATCH_ENDPOINT, OTLP

FILE = Path(__file__).with_name("prices.toml")

# Whose prices stand in for those of a region that the file does not hold.
REFERENCE_REGION = "us-east-1"

_MOST_NAMES = 3
_NO_BUDGET = 1_000_000
# Of `expected`: the counts that nearly every line rests on.
_SIZES = ("groups", "group_topics", "group_partitions", "topic_partitions")


@dataclass(frozen=True, slots=True)
class Price:
    """A price: of each tier up to how many units of a month it goes, and its dollars a unit."""

    unit: str
    tiers: tuple[tuple[float, float], ...]
    verified: bool

    def cost(self, units: float) -> float:
        """Returns dollars for so many units within one month, account and region."""
        total, below = 0.0, 0.0
        for up_to, dollars in self.tiers:
            total += max(0.0, min(units, up_to) - below) * dollars
            below = up_to
        return total


# The prices of one region by their keys, and those of all regions.
Prices: TypeAlias = Mapping[str, Price]
PricesByRegion: TypeAlias = Mapping[str, Prices]


def load_prices() -> PricesByRegion:
    """Returns every region's prices."""
    return {
        region: {
            key: _read_price(price, read["verified"])
            for read in lists
            for key, price in read["prices"].items()
        }
        for region, lists in tomllib.loads(FILE.read_text()).items()
    }


def _read_price(price: Mapping[str, Any], verified: bool) -> Price:
    tiers = price.get("tiers", [price])
    bounds = tuple((tier.get("up_to", inf), tier["price"]) for tier in tiers)
    return Price(price["unit"], bounds, verified)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A part of the bill of a cluster, null: of what the clusters of a place share.

    `account` is null for whichever deploys; `units` are those of the most expensive quantity.
    """

    account: str | None
    region: str
    cluster: str | None
    part: Part
    units: float
    unit: str
    usd: float
    verified: bool

    @property
    def lever(self) -> str | None:
        """The key of the configuration that changes it most."""
        return LEVERS.get(self.part)


@dataclass(frozen=True, slots=True)
class Cost:
    """The whole configuration's cost for an average month, and what to look at."""

    lines: tuple[Line, ...]
    warnings: tuple[str, ...]

    @property
    def usd(self) -> float:
        return sum_usd(self.lines)


def sum_usd(lines: Iterable[Line]) -> float:
    return sum(line.usd for line in lines)


def cost_of(deployment: Deployment, prices: PricesByRegion) -> Cost:
    """Returns the monthly cost of a configuration, once stored data has reached its full age."""
    lines = (
        line
        for account, region in deployment.places()
        for line in _price_place(
            deployment, account, region, prices.get(region, prices[REFERENCE_REGION])
        )
    )
    return Cost(tuple(lines), tuple(_find_warnings(deployment, prices)))


def _price_place(
    deployment: Deployment, account: str | None, region: str, prices: Prices
) -> Iterator[Line]:
    """Yields the lines of each cluster of an account and region, then the shared ones."""
    clusters, shared = deployment.places()[account, region], deployment.shared
    usage: dict[str | None, list[Quantity]] = {
        each.name: list(cluster_usage(each, shared)) for each in clusters
    }
    usage[None] = list(shared_usage(shared, clusters, deployment.kms_keys(account, region)))
    together: defaultdict[str, float] = defaultdict(float)
    for each in (each for quantities in usage.values() for each in quantities):
        together[each.price] += each.units
    a_unit = {key: prices[key].cost(units) / units for key, units in together.items() if units}
    for cluster, quantities in usage.items():
        for part in Part:
            used = [each for each in quantities if each.part is part and each.units]
            if used:
                most = max(used, key=lambda each: each.units * a_unit[each.price])
                yield Line(
                    account=account,
                    region=region,
                    cluster=cluster,
                    part=part,
                    units=most.units,
                    unit=prices[most.price].unit,
                    usd=sum(each.units * a_unit[each.price] for each in used),
                    verified=all(prices[each.price].verified for each in used),
                )


def compare_ways(
    deployment: Deployment, prices: PricesByRegion
) -> Iterator[tuple[str, float, float]]:
    """Yields levels of metrics, each with the whole cost as classic metrics and by OTLP."""
    for word, more in (
        ("groups", {"topics": False, "partitions": None}),
        ("and topics", {"topics": True, "partitions": None}),
        ("and every partition", {"topics": True, "partitions": PartitionsSection()}),
    ):
        levels = {**more, "max_metrics": _NO_BUDGET}
        classic, otlp = (_all_by(deployment, way, levels) for way in (CLASSIC, OTLP))
        yield word, cost_of(classic, prices).usd, cost_of(otlp, prices).usd


def _all_by(deployment: Deployment, way: str, levels: Mapping[str, Any]) -> Deployment:
    clusters = tuple(_by(each, way, levels) for each in deployment.clusters)
    return deployment.model_copy(update={"clusters": clusters})


def _by(cluster: Cluster, way: str, levels: Mapping[str, Any]) -> Cluster:
    """Returns the cluster with metrics on one way alone, and these levels."""
    words = tuple(each for each in cluster.sinks if isinstance(each, str)) or (EMF,)
    sinks = words if way == CLASSIC else (*words, CLOUDWATCH_ENDPOINT)
    changed = cluster.levels.model_copy(update=dict(levels))
    return cluster.model_copy(update={"metrics": way, "sinks": sinks, "levels": changed})


def _find_warnings(deployment: Deployment, regions_with_prices: Iterable[str]) -> Iterator[str]:
    """Yields sentences about places, then about clusters; those with the same one share it."""
    places, report = deployment.places(), deployment.shared.report
    doubts = (each for place in places for each in find_shared_doubts(deployment, *place))
    yield from dict.fromkeys(each.sentence for each in doubts)
    for region in sorted({region for _, region in places} - set(regions_with_prices)):
        yield (
            f"There are no prices for {region} in prices.toml: these are {REFERENCE_REGION}'s, "
            "and most regions cost more."
        )
    for (_, region), clusters in places.items():
        minutes = job_minutes(clusters, report.workers)
        if report.enabled and minutes > report.time_limit_minutes:
            yield (
                f"The daily report of {region} may take {minutes:.0f} minutes and is ended after "
                f"{report.time_limit_minutes}: raise shared.report.workers or time_limit_minutes."
            )
    names: defaultdict[str, list[str]] = defaultdict(list)
    for cluster in deployment.clusters:
        for sentence in _warn_of_cluster(cluster):
            names[sentence].append(cluster.name)
    for sentence, clusters_with_it in names.items():
        yield f"{format_list(clusters_with_it, _MOST_NAMES)}: {sentence}"


def _warn_of_cluster(cluster: Cluster) -> Iterator[str]:
    facts, groups = cluster.facts, cluster.expected.groups
    yield from (doubt.sentence for doubt in find_doubts(facts))
    if guesses := [size for size in _SIZES if size not in cluster.expected.model_fields_set]:
        values = ", ".join(f"{size} {getattr(cluster.expected, size):,}" for size in guesses)
        yield f"sizes that are guesses: {values}. Set them in `expected`."
    if cluster.paused:
        return
    by_otlp = [each for each in cluster.otlp_endpoints if each.sigv4 and cluster.by_otlp]
    for levels in (facts.published_levels, *map(facts.levels_at, by_otlp)):
        if omitted := count_metrics(cluster, levels).omitted:
            yield (
                f"levels.max_metrics of {levels.max_metrics:,} leaves out {omitted:,} metrics; "
                "snapshots have them all."
            )
    seen = groups_in_query(cluster, count_metrics(cluster), ANY_GROUP)
    seen = groups if cluster.by_otlp and facts.watches_any_group else seen
    if seen > MOST_SERIES:
        yield f"the alarm on any group sees {MOST_SERIES} of its {seen:,} groups."
