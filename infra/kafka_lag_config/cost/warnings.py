# SPDX-License-Identifier: Apache-2.0
"""Notes for a reader of the cost: what it leaves out, and its assumptions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from kafka_lag.wording.formatting import format_list
from kafka_lag_config.alarm_rules import ANY_GROUP
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.cost.metric_counts import count_published, count_wanted
from kafka_lag_config.cost.prices import REFERENCE_REGION
from kafka_lag_config.cost.quantities import groups_in_query
from kafka_lag_config.cost.sizes import job_minutes
from kafka_lag_config.deployment import Deployment
from kafka_lag_config.doubts import find_doubts, find_shared_doubts
from kafka_lag_config.shared import Report

# Series that one query of an alarm sees [CloudWatch user guide, Metrics Insights quotas].
_QUERY_SERIES = 500
_MOST_NAMES = 3
# Of `expected`: the counts that nearly every line rests on.
_SIZES = ("groups", "group_topics", "group_partitions", "topic_partitions")

ASSUMPTIONS = (
    "An average month of 30.4 days, before tax and discounts, once all that expires is as old as "
    "it gets; what never expires as of a year after the deploy, and the topic's key once it has "
    "rotated twice.",
    "Free tiers of an account (10 metrics, 10 alarms, 3 dashboards, 5 GB of logs, a million "
    "requests) are not taken off. Tiers are those of an account and region: its clusters share "
    "them by quantity, and other metrics in it make these cheaper.",
    "Filters of partitions, of scaling and of SLAs by expressions are taken to match everything. A "
    "paused cluster collects nothing, and without a daily report snapshots are those of a year.",
    "Sizes and times of runs are measured; what Glue takes and logs, traffic between zones, ten "
    "queries a day, 50 messages a cluster and, with views, a scrape a minute are assumed "
    "(infra/kafka_lag_config/cost/sizes.py and quantities.py).",
)


def cost_warnings(deployment: Deployment, regions_with_prices: Iterable[str]) -> Iterator[str]:
    """Sentences about regions, then about clusters; those with the same warning share one."""
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
        yield from _of_report(region, clusters, deployment.shared.report)
    names: defaultdict[str, list[str]] = defaultdict(list)
    for cluster in deployment.clusters:
        for sentence in _of_cluster(cluster):
            names[sentence].append(cluster.name)
    for sentence, clusters_with_it in names.items():
        yield f"{format_list(clusters_with_it, _MOST_NAMES)}: {sentence}"


def _of_report(region: str, clusters: tuple[Cluster, ...], report: Report) -> Iterator[str]:
    minutes = job_minutes(clusters, report.workers)
    if report.enabled and minutes > report.time_limit_minutes:
        yield (
            f"The daily report of {region} may take {minutes:.0f} minutes and is ended after "
            f"{report.time_limit_minutes}: raise shared.report.workers or time_limit_minutes."
        )


def _of_cluster(cluster: Cluster) -> Iterator[str]:
    yield from (doubt.sentence for doubt in find_doubts(cluster.facts))
    if guesses := [size for size in _SIZES if size not in cluster.expected.model_fields_set]:
        values = ", ".join(f"{size} {getattr(cluster.expected, size):,}" for size in guesses)
        yield f"sizes that are guesses: {values}. Set them in `expected`."
    if cluster.paused:
        return
    published = count_published(cluster)
    if omitted := count_wanted(cluster).total - published.total:
        budget = cluster.facts.published_levels.max_metrics
        yield (
            f"levels.max_metrics of {budget:,} leaves out {omitted:,} metrics; snapshots have them "
            "all."
        )
    if cluster.otlp_endpoints:
        yield "what endpoints of OTLP charge for what they get is not counted."
    seen = groups_in_query(cluster, published, ANY_GROUP)
    if seen > _QUERY_SERIES:
        yield f"the alarm on any group sees {_QUERY_SERIES} of its {seen:,} groups."
