# SPDX-License-Identifier: Apache-2.0
"""The usage of a deployment in an average month: ten lines of a bill, and everything else.

What a run of the expected size takes was measured of the collector, or is assumed. Tests hold what
is measured against what the collector and the daily job write. Only a running cluster knows its
names. Filters of partition metrics and scaling that list exact names, `^(a|b)$`, are counted; other
filters by expressions are taken to match everything, and groups to have equally many topics and
partitions.

Objects and logs that expire are counted once they are as old as they get, others as of a year after
the deploy. Items below a few percent at any size are left out: traffic, messages, queries, calls of
functions and their starts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from kafka_lag import contract
from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.sinks.config import Levels
from kafka_lag_config.alarm_rules import (
    ANY_SLA,
    OF_ANY_GROUP,
    OF_MESSAGES,
    Rule,
    broker_rules,
    group_thresholds,
    reporter_rules,
)
from kafka_lag_config.cluster import Cluster, Expected
from kafka_lag_config.document import CLOUDWATCH, EMF
from kafka_lag_config.login import SecretAuth
from kafka_lag_config.promql import groups_apart
from kafka_lag_config.scaling import Scaling
from kafka_lag_config.scaling_rules import rules_of
from kafka_lag_config.settings import Function
from kafka_lag_config.shared import KmsKeys, Shared
from kafka_lag_config.types import find_names

DAYS = 30.4
HOURS = DAYS * 24
GB = 1024.0**3

# Embedded metric lines, by the level of a set: names of 15 to 25 characters, then each metric.
_HEALTH_LINES = 870
_GROUP_LINE, _TOPIC_LINE, _PARTITION_LINE = 225, 265, 290
_LINE_PER_METRIC = 60
# What Lambda writes of a run (start, end, report) and room for a warning or two.
RUN_LOG = 800

# A point by OTLP: of a group, a topic and a partition, with names as long as those above.
_GROUP_POINT, _TOPIC_POINT, _PARTITION_POINT = 86, 119, 137

# Parquet objects of a run: what an empty one takes, then each row (members have long names), and a
# row where those of many runs lie in one object, by partition and then by time.
_DATASET_SIZES = {
    contract.TOPIC_PARTITIONS: (6_700, 33, 18),
    contract.GROUP_PARTITIONS: (19_500, 36, 39),
    contract.GROUPS: (26_700, 385, 74),
}
OBJECTS_PER_RUN = len(_DATASET_SIZES)

# A warm run of 60,000 group-partitions takes 0.34 s on a whole core, as measured by
# `python -m dev.benchmarks.collect`. Objects are written to S3 one after another.
_RUN_CPU_SECONDS, _ROW_CPU_SECONDS = 0.03, 0.31 / 60_000
_RUN_WAITING_SECONDS = 0.15
# Lambda gives so much memory with a whole core [AWS Lambda developer guide, function memory].
_CORE_MB = 1769

# Assumed of the daily job, which has not been measured on Glue: minutes to start and for what does
# not grow with the rows, and seconds that one of a day's objects makes it wait, 32 of them being
# opened at once. A core of a busy machine wrote 45,000 rows a second into the history, and its
# aggregates read 200,000: both together handle so many rows a core and second, rounded down.
# A G.1X worker is one DPU of 4 cores, and one of the workers drives.
_JOB_START_MINUTES = 1.9
_OPEN_SECONDS = 0.003
_ROWS_PER_CORE_SECOND = 35_000
_CORES = 4
# Assumed: bytes of the daily reports a group-partition and a group, whose hours are in them, and
# those of a page.
_REPORT_ROW, _REPORT_GROUP, _REPORT_PAGE = 120, 2_000, 500_000

_FIRST_YEAR_DAYS = 365

# Metrics in one request of PutMetricData [botocore cloudwatch PutMetricData].
_METRICS_PER_REQUEST = 1000
# A metric and the two bounds of its band.
_METRICS_PER_ANOMALY_ALARM = 3
# Out and in, made by Application Auto Scaling itself.
_ALARMS_OF_TRACKING = 2

# Reads of each of a day's objects: footer and rows, and once more the footer before it is deleted,
# each with a question for its size.
_JOB_READS = 6

# A key costs as much again for each of its first two rotations; the topics' key rotates each year.
_ROTATED_KEY = 3

# Assumed of views: a scrape each minute, seconds of a warm answer a cluster at 512 MB, and requests
# that find the newest snapshots: the clusters, then day, hour and run of each.
_SCRAPES = 1440 * DAYS
_SCRAPE_SECONDS = 0.3
_LISTS_PER_SCRAPE, _LISTS_PER_CLUSTER = 1, 3
# Assumed of status messages: seconds of a run at 512 MB, in which little but S3 is waited for.
_NOTIFY_SECONDS = 0.4


class Part(StrEnum):
    """The parts of a bill, each a line for people, in the order of the table."""

    GROUPS = "metrics of groups"
    DETAILS = "metrics of topics and partitions"
    OTLP = "metrics by OTLP"
    ALARMS = "alarms"
    LOGS = "logs"
    FUNCTION = "function"
    SNAPSHOTS = "snapshots in S3"
    NETWORK = "network"
    REPORT = "daily report"
    VIEWS = "views and messages"
    REST = "everything else"


# The key of the configuration that changes a part most.
LEVERS = {
    Part.GROUPS: "groups.deny",
    Part.DETAILS: "levels",
    Part.OTLP: "levels",
    Part.ALARMS: "alarms",
    Part.LOGS: "levels",
    Part.FUNCTION: "function.memory_mb",
    Part.SNAPSHOTS: "interval_seconds",
    Part.NETWORK: "vpc",
    Part.REPORT: "shared.report",
    Part.VIEWS: "shared.views",
}


@dataclass(frozen=True, slots=True)
class Quantity:
    """The units that are used in a month of what the price of that key is for."""

    part: Part
    price: str
    units: float


def cluster_usage(cluster: Cluster, shared: Shared) -> Iterator[Quantity]:
    """Yields one cluster's usage; a paused one keeps alarms, dashboard, endpoints and gateways."""
    published, vpc = count_metrics(cluster), cluster.vpc
    yield from _alarms(cluster, published)
    # Endpoints are paid in each of their subnets, and gateways, whether or not they are used.
    subnets = len(vpc.endpoint_subnets or vpc.subnets)
    endpoints = subnets * (vpc.endpoints.secrets_manager + vpc.endpoints.monitoring)
    yield Quantity(Part.NETWORK, "endpoint_hour", endpoints * HOURS)
    yield Quantity(Part.NETWORK, "nat_hour", cluster.expected.nat_gateways * HOURS)
    yield Quantity(Part.REST, "dashboard", int(cluster.dashboard))
    if not cluster.paused:
        yield from _metrics(cluster, published)
        a_day = daily_runs(cluster) / GB
        a_day *= log_bytes(published) if EMF in cluster.sink_names else RUN_LOG
        yield Quantity(Part.LOGS, "log_ingestion", a_day * DAYS)
        yield Quantity(Part.LOGS, "log_storage", a_day * cluster.function.log_days)
        seconds = run_seconds(cluster) * monthly_runs(cluster)
        function = cluster.function
        yield _time(Part.FUNCTION, seconds, function.memory_mb, function.architecture)
        yield from _snapshots(cluster, shared)


def shared_usage(
    shared: Shared, clusters: tuple[Cluster, ...], keys: KmsKeys
) -> Iterator[Quantity]:
    """Yields what the clusters of an account and region share; `keys` are the user's there.

    Answers of views leave AWS at the user's price, which is not counted. Each secret and key counts
    once, however many clusters and purposes share it.
    """
    report, views = shared.report, shared.views
    if report.enabled:
        minutes = min(job_minutes(clusters, report.workers), report.time_limit_minutes)
        yield Quantity(Part.REPORT, "glue_dpu_hour", report.workers * minutes / 60 * DAYS)
        yield Quantity(Part.REPORT, "custom_metric", 1)
        is_watched = any(not cluster.paused for cluster in clusters)
        yield Quantity(Part.REPORT, "alarm_metric", int(is_watched))
    if views:
        lists = _LISTS_PER_SCRAPE + _LISTS_PER_CLUSTER * len(clusters)
        yield _time(Part.VIEWS, _SCRAPES * _SCRAPE_SECONDS * len(clusters), views.memory_mb)
        yield Quantity(Part.VIEWS, "s3_write", _SCRAPES * lists)
        yield Quantity(Part.REST, "secret", int(views.auth == "bearer"))
    if messages := shared.status_messages:
        # Each run is compared; of each channel the hour is listed and the cursor written.
        runs = sum(map(monthly_runs, clusters))
        channels = messages.topic + (messages.event_bus is not None)
        # Snapshots that the daily job compacts are deleted later, which is an event as well.
        events = OBJECTS_PER_RUN * (2 if report.enabled else 1) + channels
        yield _time(Part.VIEWS, runs * _NOTIFY_SECONDS, messages.memory_mb)
        yield Quantity(Part.VIEWS, "s3_write", 2 * runs * channels)
        yield Quantity(Part.VIEWS, "event", runs * events)
        yield Quantity(Part.VIEWS, "alarm_metric", len(OF_MESSAGES))
    logins = [each.auth for each in clusters if isinstance(each.auth, SecretAuth)]
    yield Quantity(Part.REST, "secret", len({login.secret_arn for login in logins}))
    of_user = {*(login.kms_key_arn for login in logins), keys.bucket, keys.logs, keys.topic}
    # Unless the topic has a key of the user's, one is made for it.
    made = int(shared.notify.encrypted and keys.topic is None)
    yield Quantity(Part.REST, "kms_key", len(of_user - {None}) + _ROTATED_KEY * made)


def groups_in_query(cluster: Cluster, published: MetricCounts, rule: Rule) -> int:
    """Returns how many groups the query of an alarm on any group looks at."""
    if not cluster.facts.watches_any_group:
        return 0
    without = groups_apart(cluster.facts, rule)
    if rule is ANY_SLA:
        with_sla = [group for group in without if cluster.sla_of(group) is not None]
        return max(0, published.with_sla - len(with_sla))
    # Not all that are named may fit into the budget.
    return max(0, published.groups - len(without))


def _metrics(cluster: Cluster, published: MetricCounts) -> Iterator[Quantity]:
    """Yields metrics in CloudWatch; those at other OTLP endpoints are charged by their owners.

    AWS counts the bytes of each point with its name and resource, which requests hold once for
    many points: whether its sum is larger than theirs is not documented.
    """
    runs = monthly_runs(cluster)
    for endpoint in cluster.otlp_endpoints:
        if endpoint.sigv4:
            a_run = otlp_bytes(count_metrics(cluster, cluster.facts.levels_at(endpoint)))
            yield Quantity(Part.OTLP, "otlp_ingestion", a_run * runs / GB)
    if not cluster.sink_names:
        return
    if CLOUDWATCH in cluster.sink_names:
        requests = math.ceil(published.total / _METRICS_PER_REQUEST)
        yield Quantity(Part.GROUPS, "metric_request", runs * requests)
    yield Quantity(Part.GROUPS, "custom_metric", published.total - published.details)
    yield Quantity(Part.DETAILS, "custom_metric", published.details)


def _count_scaling_alarms(scaling: Scaling) -> int:
    """Returns the metrics that a service's alarms watch; those of a target are two of AWS's own."""
    if scaling.tracking:
        return _ALARMS_OF_TRACKING
    return sum(len(rule.metrics) for rule in rules_of(scaling))


def _alarms(cluster: Cluster, published: MetricCounts) -> Iterator[Quantity]:
    """Yields the metrics that alarms watch, by which they are charged."""
    facts = cluster.facts
    if cluster.by_otlp:
        endpoints = (each for each in cluster.otlp_endpoints if each.sigv4)
        published = count_metrics(cluster, facts.levels_at(next(endpoints)))
    plain = len(reporter_rules(facts)) + sum(1 for _ in group_thresholds(facts))
    plain += sum(map(_count_scaling_alarms, cluster.scaling))
    plain += len(facts.alarms.deployments)
    seen = sum(groups_in_query(cluster, published, rule) for rule in OF_ANY_GROUP)
    seen += published.groups if facts.watches_unusual else 0
    of_brokers = cluster.expected.brokers * len(broker_rules(facts))
    anomalies = _METRICS_PER_ANOMALY_ALARM * len(cluster.alarms.anomalies)
    yield Quantity(Part.ALARMS, "alarm_metric", plain)
    yield Quantity(Part.ALARMS, "promql_series" if cluster.by_otlp else "query_alarm_metric", seen)
    yield Quantity(Part.ALARMS, "query_alarm_metric", of_brokers)
    yield Quantity(Part.ALARMS, "anomaly_metric", anomalies)


def _snapshots(cluster: Cluster, shared: Shared) -> Iterator[Quantity]:
    """Yields requests and storage: without a daily job nothing is compacted, and nothing expires.

    An object that is compacted is deleted later, which is free.
    """
    runs, expected, keep = daily_runs(cluster), cluster.expected, shared.keep
    objects, compacts = runs * OBJECTS_PER_RUN * DAYS, shared.report.enabled
    days = keep.snapshot_days if compacts else _FIRST_YEAR_DAYS
    stored = snapshot_bytes(expected) * runs * days
    if compacts:
        history, report = day_bytes(expected, runs)
        stored += history * keep.history_days + report * keep.report_days
    yield Quantity(Part.SNAPSHOTS, "s3_write", objects)
    yield Quantity(Part.SNAPSHOTS, "s3_read", objects * _JOB_READS if compacts else 0)
    yield Quantity(Part.SNAPSHOTS, "s3_storage", stored / GB)


def _time(part: Part, seconds: float, memory_mb: int, architecture: str | None = None) -> Quantity:
    """Returns a function's usage; the shared ones have the default architecture."""
    price = f"lambda_{architecture or Function().architecture}"
    return Quantity(part, price, seconds * memory_mb / 1024)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricCounts:
    """Groups, topics and partitions with metrics in a run, those with an SLA, and the metrics.

    `omitted` are the metrics that the budget leaves out; `details` those of topics and partitions.
    """

    groups: int
    with_sla: int
    topics: int
    partitions: int
    of_groups: int
    details: int
    omitted: int

    @property
    def total(self) -> int:
        """All metrics, the reporter's own among them."""
        return len(contract.HEALTH_UNITS) + self.of_groups + self.details


def count_metrics(cluster: Cluster, levels: Levels | None = None) -> MetricCounts:
    """Returns the metrics that levels choose, by default the cluster's, within their budget.

    Groups come first, then topics, then partitions. The collector gives named groups their topics
    before others, so that it may publish a few more or fewer where the budget is used up.
    """
    levels, expected = levels or cluster.facts.published_levels, cluster.expected
    services = {group for each in cluster.scaling for group in each.groups}
    scaled = _find_scaled(cluster, services)
    named = len(levels.named if scaled is None else levels.named | scaled)
    is_narrow = levels.named_only and scaled is not None
    wanted = named if is_narrow else max(expected.groups, named)
    more = (wanted if scaled is None else len(scaled)) * len(contract.SCALING_METRICS)
    with_sla = min(_count_with_sla(cluster, wanted), wanted)
    more += with_sla + len(levels.releases)
    # A fraction of all wanted groups is rounded once, or a budget that just fits would not.
    of_all = len(levels.group_metrics) * wanted + more
    left = max(0, levels.max_metrics - len(contract.HEALTH_UNITS))
    groups = min(wanted, left * wanted // of_all) if of_all else 0
    of_groups = round(groups * of_all / wanted) if wanted else 0
    left -= of_groups
    # Both are of groups: without any there are none, whatever is expected.
    share = min(1.0, wanted / max(expected.groups, 1)) if wanted else 0
    all_topics = int(expected.group_topics * share) if levels.topics else 0
    shown = _count_accepted(levels.partition_groups, wanted)
    all_partitions = int(expected.group_partitions * share * shown / max(wanted, 1))
    published = groups / max(wanted, 1)
    per_topic = len(contract.LAG_METRICS) + levels.max_offset_lag
    topics = int(min(all_topics * published, left / per_topic))
    left -= topics * per_topic
    per_partition = len(contract.LAG_METRICS)
    partitions = int(min(all_partitions * published, left / per_partition))
    return MetricCounts(
        groups=groups,
        with_sla=min(with_sla, groups),
        topics=topics,
        partitions=partitions,
        of_groups=of_groups,
        details=topics * per_topic + partitions * per_partition,
        omitted=of_all
        - of_groups
        + (all_topics - topics) * per_topic
        + (all_partitions - partitions) * per_partition,
    )


def _find_scaled(cluster: Cluster, services: set[str]) -> set[str] | None:
    """Returns the groups that get metrics for scaling; None if any group may."""
    scaling = cluster.levels.scaling
    if scaling is None:
        return services
    names = _find_accepted(scaling.names)
    return None if names is None else services | names


def _count_with_sla(cluster: Cluster, groups: int) -> int:
    """Returns how many of so many groups have an SLA: all unless each expression lists names."""
    names = [find_names(expression) for expression in cluster.sla_seconds]
    return groups if None in names else len({name for each in names for name in each or ()})


def _count_accepted(names: NameFilter | None, groups: int) -> int:
    """Returns how many of so many groups a filter accepts; none if there is no filter."""
    if names is None:
        return 0
    accepted = _find_accepted(names)
    return groups if accepted is None else min(groups, len(accepted))


def _find_accepted(names: NameFilter) -> set[str] | None:
    """Returns the names that a filter accepts; None unless it lists exact names."""
    listed = find_names(names.allow.pattern) if names.allow else None
    return None if listed is None else set(filter(names.accepts, listed))


def daily_runs(cluster: Cluster) -> float:
    """Returns the scheduled runs, none while paused."""
    return 0.0 if cluster.paused else 24 * 60 / cluster.interval_minutes


def monthly_runs(cluster: Cluster) -> float:
    return daily_runs(cluster) * DAYS


def run_seconds(cluster: Cluster) -> float:
    """Returns the seconds of a warm run on the share of a core that comes with the memory."""
    share = min(1.0, cluster.function.memory_mb / _CORE_MB)
    rows = cluster.expected.group_partitions * _ROW_CPU_SECONDS
    return (_RUN_CPU_SECONDS + rows) / share + _RUN_WAITING_SECONDS


def log_bytes(published: MetricCounts) -> float:
    """Returns the log bytes of a run with the sink EMF: a line a metric set, and Lambda's."""
    lines = (
        published.groups * _GROUP_LINE
        + published.topics * _TOPIC_LINE
        + published.partitions * _PARTITION_LINE
    )
    metrics = published.of_groups + published.details
    return lines + metrics * _LINE_PER_METRIC + _HEALTH_LINES + RUN_LOG


def otlp_bytes(counts: MetricCounts) -> float:
    """Returns the bytes of a run's requests to an OTLP endpoint, before they are compressed."""
    of_partitions = counts.partitions * len(contract.LAG_METRICS)
    return (
        (len(contract.HEALTH_UNITS) + counts.of_groups) * _GROUP_POINT
        + (counts.details - of_partitions) * _TOPIC_POINT
        + of_partitions * _PARTITION_POINT
    )


def snapshot_bytes(expected: Expected) -> float:
    """Returns the bytes of the objects that a run writes."""
    found = 0.0
    for dataset, (an_object, row, _) in _DATASET_SIZES.items():
        found += an_object + row * getattr(expected, dataset)
    return found


def day_bytes(expected: Expected, runs: float) -> tuple[float, float]:
    """Returns the bytes of a day's runs in the history, and those of its reports and page."""
    history = 0.0
    for dataset, (an_object, _, row) in _DATASET_SIZES.items():
        history += an_object + row * getattr(expected, dataset) * runs
    rows = expected.group_partitions * _REPORT_ROW
    return history, rows + expected.groups * _REPORT_GROUP + _REPORT_PAGE


def job_minutes(clusters: tuple[Cluster, ...], workers: int) -> float:
    """Returns the minutes of the daily job for these clusters, without a limit."""
    opening = reading = 0.0
    for cluster in clusters:
        rows = sum(getattr(cluster.expected, dataset) for dataset in _DATASET_SIZES)
        opening += daily_runs(cluster) * OBJECTS_PER_RUN * _OPEN_SECONDS
        reading += daily_runs(cluster) * rows / _ROWS_PER_CORE_SECOND
    return _JOB_START_MINUTES + (opening + reading) / ((workers - 1) * _CORES) / 60
