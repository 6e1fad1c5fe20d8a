# SPDX-License-Identifier: Apache-2.0
"""The usage times prices: dollars a month by account and region, cluster and part of the bill.

Tiers are for all that an account uses in a region, so what its clusters use is priced together,
and each quantity gets its share of that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kafka_lag.wording.formatting import format_list
from kafka_lag_config.alarm_rules import ANY_GROUP
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.cost.metric_counts import count_published, count_wanted
from kafka_lag_config.cost.prices import REFERENCE_REGION, Prices, PricesByRegion
from kafka_lag_config.cost.sizes import job_minutes
from kafka_lag_config.cost.usage import (
    LEVERS,
    Part,
    Quantity,
    cluster_usage,
    groups_in_query,
    shared_usage,
)
from kafka_lag_config.deployment import Deployment
from kafka_lag_config.document import EMF, PartitionsSection
from kafka_lag_config.doubts import find_doubts, find_shared_doubts
from kafka_lag_config.promql import MOST_CONTRIBUTORS, MOST_SERIES
from kafka_lag_config.settings import CLASSIC, CLOUDWATCH_ENDPOINT, OTLP
from kafka_lag_config.shared import Report

# Series that one query of an alarm by Metrics Insights sees [CloudWatch user guide, its quotas].
_QUERY_SERIES = 500
_MOST_NAMES = 3
_NO_BUDGET = 1_000_000
# Of `expected`: the counts that nearly every line rests on.
_SIZES = ("groups", "group_topics", "group_partitions", "topic_partitions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """The units of one price with their dollars a month; `unit` is the price's."""

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
    """One account (None: whichever deploys) and region, and the region whose prices were taken."""

    account: str | None
    region: str
    prices_of: str
    clusters: tuple[ClusterCost, ...]
    shared: tuple[Line, ...]

    @property
    def usd(self) -> float:
        return sum(each.usd for each in self.clusters) + sum_usd(self.shared)


@dataclass(frozen=True, slots=True)
class Cost:
    """The whole configuration's cost for an average month, and what to look at."""

    regions: tuple[RegionCost, ...]
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
    return Cost(regions, tuple(_find_warnings(deployment, prices)))


def compare_ways(
    deployment: Deployment, prices: PricesByRegion
) -> Iterator[tuple[str, float, float]]:
    """Yields levels of metrics, each with the whole cost as classic metrics and by OTLP."""
    for word, more in (
        ("groups", {"topics": False, "partitions": None}),
        ("and topics", {"topics": True, "partitions": None}),
        ("and every partition", {"topics": True, "partitions": PartitionsSection()}),
    ):
        update = {**more, "max_metrics": _NO_BUDGET}
        classic, otlp = (
            cost_of(
                deployment.model_copy(
                    update={
                        "clusters": tuple(_by(each, way, update) for each in deployment.clusters)
                    }
                ),
                prices,
            ).usd
            for way in (CLASSIC, OTLP)
        )
        yield word, classic, otlp


def _by(cluster: Cluster, way: str, levels: Mapping[str, Any]) -> Cluster:
    """Returns the cluster with metrics on one way alone, and these levels."""
    words = tuple(each for each in cluster.sinks if isinstance(each, str)) or (EMF,)
    sinks = words if way == CLASSIC else (*words, CLOUDWATCH_ENDPOINT)
    changed = cluster.levels.model_copy(update=dict(levels))
    return cluster.model_copy(update={"metrics": way, "sinks": sinks, "levels": changed})


def sum_usd(lines: Iterable[Line]) -> float:
    return sum(line.usd for line in lines)


def _cost_of_region(
    deployment: Deployment, account: str | None, region: str, prices_by_region: PricesByRegion
) -> RegionCost:
    clusters, shared = deployment.places()[account, region], deployment.shared
    prices_of = region if region in prices_by_region else REFERENCE_REGION
    prices = prices_by_region[prices_of]
    of_clusters = [list(cluster_usage(each, shared)) for each in clusters]
    of_region = list(shared_usage(shared, clusters, deployment.kms_keys(account, region)))
    rates = _find_rates([each for some in (*of_clusters, of_region) for each in some], prices)
    return RegionCost(
        account=account,
        region=region,
        prices_of=prices_of,
        clusters=tuple(
            ClusterCost(cluster, _make_lines(quantities, prices, rates))
            for cluster, quantities in zip(clusters, of_clusters, strict=True)
        ),
        shared=_make_lines(of_region, prices, rates),
    )


def _find_rates(quantities: Iterable[Quantity], prices: Prices) -> Mapping[str, float]:
    """Returns dollars a unit of each price, over all tiers that the quantities reach together."""
    units: defaultdict[str, float] = defaultdict(float)
    for each in quantities:
        units[each.price] += each.units
    return {key: prices[key].cost(total) / total for key, total in units.items() if total}


def _make_lines(
    quantities: Iterable[Quantity], prices: Prices, rates: Mapping[str, float]
) -> tuple[Line, ...]:
    charges: defaultdict[Part, list[Charge]] = defaultdict(list)
    for each in quantities:
        if each.units:
            charges[each.part].append(
                Charge(
                    price=each.price,
                    units=each.units,
                    unit=prices[each.price].unit,
                    usd=each.units * rates[each.price],
                    verified=prices[each.price].verified,
                )
            )
    return tuple(
        Line(part, tuple(sorted(charges[part], key=lambda charge: -charge.usd)))
        for part in Part
        if part in charges
    )


def _find_warnings(deployment: Deployment, regions_with_prices: Iterable[str]) -> Iterator[str]:
    """Yields sentences about regions, then about clusters; those with the same one share it."""
    known = set(regions_with_prices)
    doubts = (
        doubt.sentence
        for place in deployment.places()
        for doubt in find_shared_doubts(deployment, *place)
    )
    yield from dict.fromkeys(doubts)
    for (_, region), clusters in deployment.places().items():
        if region not in known:
            yield (
                f"There are no prices for {region} in prices.toml: these are {REFERENCE_REGION}'s, "
                "and most regions cost more."
            )
        yield from _warn_of_report(region, clusters, deployment.shared.report)
    names: defaultdict[str, list[str]] = defaultdict(list)
    for cluster in deployment.clusters:
        for sentence in _warn_of_cluster(cluster):
            names[sentence].append(cluster.name)
    for sentence, clusters_with_it in names.items():
        yield f"{format_list(clusters_with_it, _MOST_NAMES)}: {sentence}"


def _warn_of_report(region: str, clusters: tuple[Cluster, ...], report: Report) -> Iterator[str]:
    minutes = job_minutes(clusters, report.workers)
    if report.enabled and minutes > report.time_limit_minutes:
        yield (
            f"The daily report of {region} may take {minutes:.0f} minutes and is ended after "
            f"{report.time_limit_minutes}: raise shared.report.workers or time_limit_minutes."
        )


def _warn_of_cluster(cluster: Cluster) -> Iterator[str]:
    yield from (doubt.sentence for doubt in find_doubts(cluster.facts))
    if guesses := [size for size in _SIZES if size not in cluster.expected.model_fields_set]:
        values = ", ".join(f"{size} {getattr(cluster.expected, size):,}" for size in guesses)
        yield f"sizes that are guesses: {values}. Set them in `expected`."
    if cluster.paused:
        return
    published = count_published(cluster)
    by_otlp = [each for each in cluster.otlp_endpoints if each.sigv4 and cluster.by_otlp]
    for levels in (cluster.facts.published_levels, *map(cluster.facts.levels_at, by_otlp)):
        omitted = count_wanted(cluster, levels).total - count_published(cluster, levels).total
        if omitted:
            yield (
                f"levels.max_metrics of {levels.max_metrics:,} leaves out {omitted:,} metrics; "
                "snapshots have them all."
            )
    if not all(each.sigv4 for each in cluster.otlp_endpoints):
        yield "what OTLP endpoints of others charge for what they get is not counted."
    if cluster.by_otlp:
        yield from _warn_of_promql(cluster)
        return
    seen = groups_in_query(cluster, published, ANY_GROUP)
    if seen > _QUERY_SERIES:
        yield f"the alarm on any group sees {_QUERY_SERIES} of its {seen:,} groups."


def _warn_of_promql(cluster: Cluster) -> Iterator[str]:
    """Yields the way of metrics by OTLP, and the limit of their alarms if it can be reached."""
    ways = cluster.facts.reach.ways_out
    if ways.nat or "monitoring" in ways.endpoints:
        way = "the endpoint monitoring" if "monitoring" in ways.endpoints else "NAT"
        made = (
            "in network above" if cluster.vpc.endpoints.monitoring else "not counted, as it exists"
        )
        yield f"metrics by OTLP leave by {way}: {made}."
    groups = cluster.expected.groups
    if cluster.facts.watches_any_group and groups > MOST_CONTRIBUTORS:
        yield (
            f"an alarm by PromQL sees {MOST_SERIES} groups that break at once and names "
            f"{MOST_CONTRIBUTORS}, and {groups:,} groups are expected: name the urgent ones in "
            "alarms.groups."
        )
