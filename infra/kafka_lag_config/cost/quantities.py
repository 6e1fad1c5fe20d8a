# SPDX-License-Identifier: Apache-2.0
"""The usage of a deployment in an average month, for each thing that AWS charges.

What expires is counted once it is as old as it gets, what never expires as of a year after the
deploy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from kafka_lag import contract
from kafka_lag_config.alarm_rules import (
    ANY_SLA,
    OF_ANY_GROUP,
    OF_MESSAGES,
    Rule,
    broker_rules,
    group_thresholds,
    left_out,
    reporter_rules,
)
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.cost import sizes
from kafka_lag_config.cost.metric_counts import MetricCounts, count_published
from kafka_lag_config.cost.sizes import DAYS, GB, HOURS, MB, OBJECTS_PER_RUN, RUN_LOG, TB
from kafka_lag_config.document import CLOUDWATCH, EMF
from kafka_lag_config.login import SecretAuth
from kafka_lag_config.scaling import Scaling
from kafka_lag_config.scaling_rules import rules_of
from kafka_lag_config.settings import Function
from kafka_lag_config.shared import KmsKeys, Notify, Report, Shared, StatusMessages, Views

_FIRST_YEAR_DAYS = 365

# What one request of PutMetricData holds [botocore cloudwatch PutMetricData].
_METRICS_PER_REQUEST = 1000
# OffsetLag, EstimatedTimeLag and RollingEstimatedTimeLag of each group and partition.
_MSK_METRICS_PER_PARTITION = 3
# A metric and the two bounds of its band.
_METRICS_PER_ANOMALY_ALARM = 3
# Out and in, made by Application Auto Scaling itself.
_ALARMS_OF_TRACKING = 2

# Assumed: a function's environment lives for two hours; the next looks for its state in S3.
_COLD_STARTS_PER_DAY, _COLD_LISTS, _COLD_READS = 12, 6, 35
# Reads of each of a day's objects: footer and rows, and once more the footer before it is deleted,
# each with a question for its size.
_JOB_READS = 6

# Assumed: bytes between collector and brokers a row and run, two thirds of them between zones,
# where both ways are charged.
_ROW_TRAFFIC, _ZONE_SHARE = 60, 2 / 3

# A key's first two rotations are charged, each from then on; the topic's key rotates each year.
_CHARGED_ROTATIONS = 2

# Assumed of people: queries a day in a region, each over one cluster's groups of a day, and
# messages a month in each cluster's name.
_QUERIES_PER_DAY, _LEAST_SCAN = 10, 10 * MB
_MESSAGES_PER_CLUSTER = 50

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
    ALARMS = "alarms"
    LOGS = "logs"
    FUNCTION = "function"
    REQUESTS = "requests to S3"
    STORAGE = "storage in S3"
    NETWORK = "network"
    REPORT = "daily report"
    VIEWS = "views"
    MESSAGES = "status messages"
    REST = "everything else"


# The key of the configuration that changes a part most.
LEVERS = {
    Part.GROUPS: "groups.deny",
    Part.DETAILS: "levels.topics",
    Part.ALARMS: "alarms",
    Part.LOGS: "levels",
    Part.FUNCTION: "function.memory_mb",
    Part.REQUESTS: "interval_seconds",
    Part.STORAGE: "shared.keep",
    Part.NETWORK: "vpc",
    Part.REPORT: "shared.report",
    Part.VIEWS: "shared.views",
    Part.MESSAGES: "shared.status_messages",
}


@dataclass(frozen=True, slots=True)
class Quantity:
    """So many units a month of what `price` is the price of; `item` says of what."""

    part: Part
    item: str
    price: str
    units: float


def cluster_quantities(cluster: Cluster, shared: Shared) -> list[Quantity]:
    """Returns one cluster's usage; a paused one keeps alarms, dashboard, endpoints and gateways."""
    published = count_published(cluster)
    found = [*_alarms(cluster, published), *_standing_network(cluster)]
    found.append(Quantity(Part.REST, "dashboard", "dashboard", int(cluster.dashboard)))
    if not cluster.paused:
        found += [
            *_metrics(cluster, published),
            *_log(cluster, published),
            *_function(cluster),
            *_storage(cluster, shared),
            *_traffic(cluster),
        ]
    return _not_zero(found)


def shared_quantities(
    shared: Shared, clusters: tuple[Cluster, ...], keys: KmsKeys
) -> list[Quantity]:
    """Returns what the clusters of an account and region share; `keys` are the user's there."""
    found = [
        *(_job(shared.report, clusters) if shared.report.enabled else ()),
        *(_queries(clusters) if shared.athena else ()),
        *_messages(shared.notify, shared.status_messages, len(clusters)),
        *_secrets(clusters, keys, encrypted=shared.notify.encrypted),
        *(_views(shared.views, len(clusters)) if shared.views else ()),
    ]
    if shared.status_messages:
        runs = sum(map(sizes.monthly_runs, clusters))
        found += _status_messages(shared.status_messages, runs, compacts=shared.report.enabled)
    return _not_zero(found)


def count_msk_metrics(clusters: Iterable[Cluster]) -> int:
    """Returns the metrics of MSK's level PER_TOPIC_PER_PARTITION, beside those by broker and topic.

    MSK charges what it adds to its free level as CloudWatch does for metrics of one's own; that the
    tiers are the same ones is not written down by AWS.
    """
    having = (each for each in clusters if each.facts.reach.has_brokers)
    return _MSK_METRICS_PER_PARTITION * sum(each.expected.group_partitions for each in having)


def groups_in_query(cluster: Cluster, published: MetricCounts, rule: Rule) -> int:
    """Returns how many groups the query of an alarm on any group looks at."""
    if not cluster.facts.watches_any_group:
        return 0
    without = left_out(rule, cluster.namespace, cluster.name, cluster.alarms.groups)
    if rule is ANY_SLA:
        with_sla = [group for group in without if cluster.sla_of(group) is not None]
        return max(0, published.with_sla - len(with_sla))
    # Where every group is taken to be scaled, not all that are named may fit into the budget.
    return max(0, published.groups - len(without))


def _not_zero(quantities: Iterable[Quantity]) -> list[Quantity]:
    return [each for each in quantities if each.units]


def _metrics(cluster: Cluster, published: MetricCounts) -> Iterator[Quantity]:
    """Yields metrics in CloudWatch; those at an OTLP endpoint are charged by its owner."""
    if not cluster.sink_names:
        return
    if CLOUDWATCH in cluster.sink_names:
        requests = math.ceil(published.total / _METRICS_PER_REQUEST)
        units = sizes.monthly_runs(cluster) * requests
        yield Quantity(Part.GROUPS, "requests", "metric_request", units)
    own = len(contract.HEALTH_UNITS)
    yield Quantity(Part.GROUPS, "of the reporter", "custom_metric", own)
    yield Quantity(Part.GROUPS, "by group", "custom_metric", published.group_metrics)
    yield Quantity(Part.DETAILS, "by topic", "custom_metric", published.topic_metrics)
    yield Quantity(Part.DETAILS, "by partition", "custom_metric", published.partition_metrics)


def _count_scaling_alarms(scaling: Scaling) -> int:
    """Returns the metrics that a service's alarms watch; those of a target are two of AWS's own."""
    if scaling.tracking:
        return _ALARMS_OF_TRACKING
    return sum(len(rule.metrics) for rule in rules_of(scaling))


def _alarms(cluster: Cluster, published: MetricCounts) -> Iterator[Quantity]:
    """Yields the metrics that alarms watch, by which they are charged."""
    plain = {
        "of the reporter": len(reporter_rules(cluster.facts)),
        "of named groups": sum(1 for _ in group_thresholds(cluster.facts)),
        "of scaling": sum(_count_scaling_alarms(each) for each in cluster.scaling),
    }
    queries = {
        "any group": sum(groups_in_query(cluster, published, rule) for rule in OF_ANY_GROUP),
        "unusual": published.groups if cluster.facts.watches_unusual else 0,
        "of brokers": cluster.expected.brokers * len(broker_rules(cluster.facts)),
    }
    anomalies = _METRICS_PER_ANOMALY_ALARM * len(cluster.alarms.anomalies)
    for item, units in plain.items():
        yield Quantity(Part.ALARMS, item, "alarm_metric", units)
    yield Quantity(Part.ALARMS, "anomalies", "anomaly_metric", anomalies)
    for item, units in queries.items():
        yield Quantity(Part.ALARMS, item, "query_alarm_metric", units)


def _log(cluster: Cluster, published: MetricCounts) -> Iterator[Quantity]:
    """Yields what is logged, taken as uncompressed."""
    a_run = sizes.log_bytes(published) if EMF in cluster.sink_names else RUN_LOG
    a_day = a_run * sizes.daily_runs(cluster) / GB
    yield Quantity(Part.LOGS, "ingestion", "log_ingestion", a_day * DAYS)
    yield Quantity(Part.LOGS, "storage", "log_storage", a_day * cluster.function.log_days)


def _function(cluster: Cluster) -> Iterator[Quantity]:
    runs, function = sizes.monthly_runs(cluster), cluster.function
    gb_seconds = runs * sizes.run_seconds(cluster) * function.memory_mb / 1024
    yield Quantity(Part.FUNCTION, "time", f"lambda_{function.architecture}", gb_seconds)
    yield Quantity(Part.FUNCTION, "requests", "lambda_request", runs)
    yield Quantity(Part.FUNCTION, "schedule", "schedule", runs)


def _storage(cluster: Cluster, shared: Shared) -> Iterator[Quantity]:
    """Without a daily job nothing is compacted, and no snapshot ever expires."""
    runs, expected, keep = sizes.daily_runs(cluster), cluster.expected, shared.keep
    compacts = shared.report.enabled
    objects = runs * OBJECTS_PER_RUN
    writes = (objects + _COLD_STARTS_PER_DAY * _COLD_LISTS) * DAYS
    # One that is compacted is deleted later, which is free.
    job_reads = objects * _JOB_READS if compacts else 0
    reads = (job_reads + _COLD_STARTS_PER_DAY * _COLD_READS) * DAYS
    yield Quantity(Part.REQUESTS, "writes", "s3_write", writes)
    yield Quantity(Part.REQUESTS, "reads", "s3_read", reads)
    days = keep.snapshot_days if compacts else _FIRST_YEAR_DAYS
    stored = {"snapshots": sum(sizes.snapshot_bytes(expected).values()) * runs * days}
    if compacts:
        history = sum(sizes.compacted_bytes(expected, runs).values())
        stored["history"] = history * keep.history_days
        stored["reports"] = sizes.report_bytes(expected) * keep.report_days
    for item, found in stored.items():
        yield Quantity(Part.STORAGE, item, "s3_storage", found / GB)


def _standing_network(cluster: Cluster) -> Iterator[Quantity]:
    """Yields endpoints in each of their subnets, and NAT gateways, whether or not they are used."""
    vpc = cluster.vpc
    endpoints, subnets = vpc.endpoints, len(vpc.endpoint_subnets or vpc.subnets)
    hours = subnets * HOURS * (endpoints.secrets_manager + endpoints.monitoring)
    yield Quantity(Part.NETWORK, "endpoints", "endpoint_hour", hours)
    gateways = cluster.expected.nat_gateways
    yield Quantity(Part.NETWORK, "NAT gateways", "nat_hour", gateways * HOURS)


def _traffic(cluster: Cluster) -> Iterator[Quantity]:
    rows = cluster.expected.group_partitions + cluster.expected.topic_partitions
    a_run = rows * _ROW_TRAFFIC * _ZONE_SHARE
    both_ways = 2 * a_run * sizes.monthly_runs(cluster) / GB
    yield Quantity(Part.NETWORK, "between zones", "zone_traffic", both_ways)
    if not cluster.expected.nat_gateways or cluster.vpc.endpoints.s3:
        return
    # Metrics that other sinks than the log send are far less than snapshots.
    objects = sizes.daily_runs(cluster) * OBJECTS_PER_RUN + _COLD_STARTS_PER_DAY * _COLD_READS
    of_object = sum(sizes.snapshot_bytes(cluster.expected).values()) / OBJECTS_PER_RUN
    units = objects * of_object * DAYS / GB
    yield Quantity(Part.NETWORK, "through NAT", "nat_traffic", units)


def _job(report: Report, clusters: tuple[Cluster, ...]) -> Iterator[Quantity]:
    """Yields the daily job, its log, and its metric, with an alarm if any cluster runs."""
    minutes = min(sizes.job_minutes(clusters, report.workers), report.time_limit_minutes)
    a_day = sizes.JOB_LOG * len(clusters) / GB
    hours = report.workers * minutes / 60 * DAYS
    alarms = int(any(not cluster.paused for cluster in clusters))
    yield Quantity(Part.REPORT, "job", "glue_dpu_hour", hours)
    yield Quantity(Part.REPORT, "metric", "custom_metric", 1)
    yield Quantity(Part.REPORT, "alarm", "alarm_metric", alarms)
    yield Quantity(Part.REPORT, "ingestion", "log_ingestion", a_day * DAYS)
    yield Quantity(Part.REPORT, "storage", "log_storage", a_day * report.log_days)


def _queries(clusters: tuple[Cluster, ...]) -> Iterator[Quantity]:
    """Yields queries, each over one cluster's groups of one day, an average cluster's."""
    queries = _QUERIES_PER_DAY * DAYS
    objects = sum(map(sizes.daily_runs, clusters)) / len(clusters)
    scanned = sum(
        sizes.snapshot_bytes(each.expected)[contract.GROUPS] * sizes.daily_runs(each)
        for each in clusters
    )
    scan = max(scanned / len(clusters), _LEAST_SCAN)
    yield Quantity(Part.REST, "queries", "athena_scan", queries * scan / TB)
    yield Quantity(Part.REST, "reads of queries", "s3_read", queries * objects)


def _messages(notify: Notify, statuses: StatusMessages | None, clusters: int) -> Iterator[Quantity]:
    """Yields messages about alarms, and as many about changed statuses if the topic gets them."""
    month = _MESSAGES_PER_CLUSTER * clusters
    kinds = 1 + bool(statuses and statuses.topic)
    # A message about a group goes to its owner alone.
    owners, number = notify.owners.values(), max(len(notify.owners), 1)
    emails = kinds * len(notify.email) + sum(len(each.email) for each in owners) / number
    https = len(notify.https) + sum(len(each.https) for each in owners) / number
    yield Quantity(Part.REST, "e-mail", "email", month * emails)
    yield Quantity(Part.REST, "https", "https_message", month * https)


def _secrets(clusters: tuple[Cluster, ...], own: KmsKeys, *, encrypted: bool) -> Iterator[Quantity]:
    """Yields each of the user's secrets and keys once, however many clusters and purposes share it.

    Unless the topic is `encrypted`, or has a key of the user's, none is made for it.
    """
    logins = [each.auth for each in clusters if isinstance(each.auth, SecretAuth)]
    made = int(encrypted and own.topic is None)
    keys = {*(login.kms_key_arn for login in logins), own.bucket, own.logs, own.topic} - {None}
    yield Quantity(Part.REST, "secrets", "secret", len({login.secret_arn for login in logins}))
    yield Quantity(Part.REST, "your keys", "kms_key", len(keys))
    yield Quantity(Part.REST, "key of the topics", "kms_key", made)
    yield Quantity(Part.REST, "rotations of that key", "kms_rotation", _CHARGED_ROTATIONS * made)


def _views(views: Views, clusters: int) -> Iterator[Quantity]:
    """Yields the usage of views; answers leave AWS at the user's price, which is not counted."""
    seconds = _SCRAPE_SECONDS * clusters
    yield from _shared_function(Part.VIEWS, _SCRAPES, seconds, views.memory_mb)
    lists = _LISTS_PER_SCRAPE + _LISTS_PER_CLUSTER * clusters
    yield Quantity(Part.VIEWS, "lists", "s3_write", _SCRAPES * lists)
    yield Quantity(Part.VIEWS, "reads", "s3_read", _SCRAPES * clusters)
    yield Quantity(Part.VIEWS, "token", "secret", int(views.auth == "bearer"))


def _status_messages(
    messages: StatusMessages, runs: float, *, compacts: bool
) -> Iterator[Quantity]:
    """Each run is compared; of each channel the hour is listed, the cursor read and written.

    Snapshots that the daily job compacts are deleted later, which is an event as well.
    """
    yield from _shared_function(Part.MESSAGES, runs, _NOTIFY_SECONDS, messages.memory_mb)
    channels = messages.topic + (messages.event_bus is not None)
    events = OBJECTS_PER_RUN * (2 if compacts else 1) + channels
    yield Quantity(Part.MESSAGES, "writes and lists", "s3_write", 2 * runs * channels)
    yield Quantity(Part.MESSAGES, "reads", "s3_read", runs * (1 + channels))
    yield Quantity(Part.MESSAGES, "events of the bucket", "event", runs * events)
    yield Quantity(Part.MESSAGES, "alarms", "alarm_metric", len(OF_MESSAGES))


def _shared_function(
    part: Part, calls: float, seconds: float, memory_mb: int
) -> Iterator[Quantity]:
    """Yields the usage of a shared function, which has the default architecture."""
    gb_seconds = calls * seconds * memory_mb / 1024
    yield Quantity(part, "time", f"lambda_{Function().architecture}", gb_seconds)
    yield Quantity(part, "calls", "lambda_request", calls)
    yield Quantity(part, "ingestion", "log_ingestion", calls * RUN_LOG / GB)
