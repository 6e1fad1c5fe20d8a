# SPDX-License-Identifier: Apache-2.0
"""The usage of a deployment in an average month: ten lines of a bill, and everything else.

Objects and logs that expire are counted once they are as old as they get, others as of a year after
the deploy. Items below a few percent at any size are left out: traffic, messages, queries, calls of
functions and their starts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from kafka_lag_config.alarm_rules import (
    ANY_SLA,
    OF_ANY_GROUP,
    OF_MESSAGES,
    Rule,
    broker_rules,
    group_thresholds,
    reporter_rules,
)
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.cost import sizes
from kafka_lag_config.cost.sizes import (
    DAYS,
    GB,
    HOURS,
    OBJECTS_PER_RUN,
    RUN_LOG,
    MetricCounts,
    count_metrics,
)
from kafka_lag_config.document import CLOUDWATCH, EMF
from kafka_lag_config.login import SecretAuth
from kafka_lag_config.promql import groups_apart
from kafka_lag_config.scaling import Scaling
from kafka_lag_config.scaling_rules import rules_of
from kafka_lag_config.settings import Function
from kafka_lag_config.shared import KmsKeys, Shared

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
    Part.DETAILS: "levels.topics",
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
        a_day = sizes.daily_runs(cluster) / GB
        a_day *= sizes.log_bytes(published) if EMF in cluster.sink_names else RUN_LOG
        yield Quantity(Part.LOGS, "log_ingestion", a_day * DAYS)
        yield Quantity(Part.LOGS, "log_storage", a_day * cluster.function.log_days)
        seconds = sizes.run_seconds(cluster) * sizes.monthly_runs(cluster)
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
        minutes = min(sizes.job_minutes(clusters, report.workers), report.time_limit_minutes)
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
        runs = sum(map(sizes.monthly_runs, clusters))
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
    runs = sizes.monthly_runs(cluster)
    for endpoint in cluster.otlp_endpoints:
        if endpoint.sigv4:
            a_run = sizes.otlp_bytes(count_metrics(cluster, cluster.facts.levels_at(endpoint)))
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
    runs, expected, keep = sizes.daily_runs(cluster), cluster.expected, shared.keep
    objects, compacts = runs * OBJECTS_PER_RUN * DAYS, shared.report.enabled
    days = keep.snapshot_days if compacts else _FIRST_YEAR_DAYS
    stored = sizes.snapshot_bytes(expected) * runs * days
    if compacts:
        history, report = sizes.day_bytes(expected, runs)
        stored += history * keep.history_days + report * keep.report_days
    yield Quantity(Part.SNAPSHOTS, "s3_write", objects)
    yield Quantity(Part.SNAPSHOTS, "s3_read", objects * _JOB_READS if compacts else 0)
    yield Quantity(Part.SNAPSHOTS, "s3_storage", stored / GB)


def _time(part: Part, seconds: float, memory_mb: int, architecture: str | None = None) -> Quantity:
    """Returns a function's usage; the shared ones have the default architecture."""
    price = f"lambda_{architecture or Function().architecture}"
    return Quantity(part, price, seconds * memory_mb / 1024)
