# SPDX-License-Identifier: Apache-2.0
"""What a reader of the bill should know: what it leaves out, what it rests on, what to turn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_lag.formatting import format_list
from kafka_lag_cdk.bill.lines import Bill, PlaceBill
from kafka_lag_cdk.bill.usage.alarms import alarm_metrics
from kafka_lag_cdk.bill.usage.metrics import Published, published, scaling_is_filtered, wanted
from kafka_lag_cdk.bill.usage.runs import job_minutes
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.document import CLOUDWATCH, EMF
from kafka_lag_cdk.config.shared import Report

# Series that one query of an alarm sees [CloudWatch user guide, Metrics Insights quotas].
_QUERY_SERIES = 500
_LEVERS = 4
# More clusters of a region with the same warning share a sentence.
_FEW = 3
_LEAST_SHARE = 0.03

ASSUMPTIONS = (
    "An average month of 30.4 days, before tax and discounts, once all that expires is as old as "
    "it gets; what never expires as of a year after the deploy, and the topic's key once it has "
    "rotated twice.",
    "Free tiers of an account (10 metrics, 10 alarms, 3 dashboards, 5 GB of logs, a million "
    "requests) are not taken off. Tiers are those of an account and region: its clusters share "
    "them by quantity, and other metrics in it make these cheaper.",
    "Sizes and times of runs are measured; what Glue takes and logs, traffic between zones, ten "
    "queries a day, 50 messages a cluster and, with views, a scrape a minute are assumed "
    "(infra/kafka_lag_cdk/bill/usage/measured.py).",
)


@dataclass(frozen=True, slots=True)
class Lever:
    """A key of the configuration and the dollars a month that hang on it."""

    key: str
    what: str
    usd: float
    share: float


def levers(bill: Bill) -> list[Lever]:
    """Where most of the money goes that a key can change, the most first."""
    sums: defaultdict[tuple[str, str], float] = defaultdict(float)
    for place in bill.places:
        for line in place.lines:
            if line.item.lever:
                sums[line.item.lever, line.item.service] += line.usd
    found = [
        Lever(key, what, usd, usd / bill.usd if bill.usd else 0.0)
        for (key, what), usd in sorted(sums.items(), key=lambda entry: -entry[1])
    ]
    return [lever for lever in found if lever.share >= _LEAST_SHARE][:_LEVERS]


def warnings(bill: Bill, report: Report) -> list[str]:
    """Sentences about single clusters and regions, in the order of the configuration."""
    return [sentence for place in bill.places for sentence in _of_place(place, report)]


def _of_place(place: PlaceBill, report: Report) -> Iterator[str]:
    region, clusters = place.region, tuple(one.cluster for one in place.clusters)
    if place.prices.region != region:
        yield (
            f"There are no prices for {region} in prices.toml: these are {place.prices.region}'s, "
            "and most regions cost more."
        )
    guessed = [
        cluster.name
        for cluster in clusters
        if not cluster.expected.model_fields_set - {"nat_gateways"}
    ]
    if guessed:
        yield (
            f"The sizes of {format_list(guessed, _FEW)} are guesses: set `expected` (groups, "
            "group_topics, group_partitions, topic_partitions)."
        )
    minutes = job_minutes(clusters, report.workers)
    if not report.enabled:
        yield (
            f"Without the daily report nothing in {region} is compacted, so no snapshot is "
            "ever deleted: their storage is that of a year after the deploy, and grows."
        )
    if report.enabled and minutes > report.time_limit_minutes:
        yield (
            f"The daily report of {region} may take {minutes:.0f} minutes and is ended after "
            f"{report.time_limit_minutes}: raise shared.report.workers or time_limit_minutes."
        )
    running = [cluster for cluster in clusters if not cluster.paused]
    yield from _omissions({cluster.name: published(wanted(cluster)) for cluster in running})
    for cluster in clusters:
        yield from _of_cluster(cluster)


def _of_cluster(cluster: Cluster) -> Iterator[str]:
    found, name = published(wanted(cluster)), cluster.name
    if cluster.paused:
        yield f"{name} is paused: what it keeps runs out, and is not counted."
        return
    if not cluster.sink_names:
        yield _unseen(cluster)
    if found.wanted.partitions:
        yield f"{name}: levels.partitions is taken to match every partition; filters cost less."
    if cluster.otlp_endpoints:
        yield f"{name}: what endpoints of OTLP charge for what they get is not counted."
    if scaling_is_filtered(cluster):
        yield f"{name}: levels.scaling is taken to match every group; names cost less."
    seen = alarm_metrics(cluster, found).seen
    if seen > _QUERY_SERIES:
        yield f"{name}: the alarm on any group sees {_QUERY_SERIES} of its {seen:,} groups."


def _unseen(cluster: Cluster) -> str:
    """Of a cluster without a sink in CloudWatch: what is left of what looks there."""
    told = (
        f"{cluster.name}: nothing is published to CloudWatch, as sinks names neither {EMF} nor "
        f"{CLOUDWATCH}"
    )
    if cluster.alarms.any_group:
        told += "; there is no alarm on any group"
    if cluster.dashboard:
        told += "; its dashboard is made, and shows nothing of groups: set dashboard to false"
    return f"{told}."


def _omissions(found: Mapping[str, Published]) -> Iterator[str]:
    """Each cluster whose budget is too small, or all in one sentence where they are many."""
    short = {name: one for name, one in found.items() if one.omitted}
    if len(short) > _FEW:
        named = ", ".join(f"{name} {one.omitted:,}" for name, one in short.items())
        yield (
            f"levels.max_metrics leaves out metrics of {len(short)} clusters ({named}); snapshots "
            "have them all."
        )
        return
    for name, one in short.items():
        yield (
            f"{name}: levels.max_metrics of {one.wanted.max_metrics:,} leaves out "
            f"{one.omitted:,} metrics ({_left_out(one)}); snapshots have them all."
        )


def _left_out(found: Published) -> str:
    asked = found.wanted
    left = (
        (asked.groups - found.groups, asked.groups, "groups"),
        (asked.topics - found.topics, asked.topics, "topics of groups"),
        (asked.partitions - found.partitions, asked.partitions, "partitions"),
    )
    return ", ".join(f"{missing:,} of {of:,} {what}" for missing, of, what in left if missing)
