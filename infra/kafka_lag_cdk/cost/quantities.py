# SPDX-License-Identifier: Apache-2.0
"""The usage of a deployment in an average month, for each thing that AWS charges.

What expires is counted once it is as old as it gets, what never expires as of a year after the
deploy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass

from kafka_lag import contract
from kafka_lag.wording.formatting import format_bytes, format_quantity
from kafka_lag_cdk.alarm_rules import (
    ANY_SLA,
    OF_ANY_GROUP,
    OF_MESSAGES,
    Rule,
    broker_rules,
    group_thresholds,
    left_out,
    reporter_rules,
)
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.document import CLOUDWATCH, EMF
from kafka_lag_cdk.config.login import SecretAuth
from kafka_lag_cdk.config.scaling import Scaling
from kafka_lag_cdk.config.shared import KmsKeys, Report, Shared, StatusMessages, Views
from kafka_lag_cdk.config.watched import Function
from kafka_lag_cdk.cost import sizes
from kafka_lag_cdk.cost.metric_counts import MetricCounts, count_published
from kafka_lag_cdk.cost.sizes import DAYS, GB, HOURS, MB, OBJECTS_PER_RUN, RUN_LOG, TB
from kafka_lag_cdk.scaling_rules import rules_of

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


@dataclass(frozen=True, slots=True)
class Quantity:
    """So many units a month of what `price` is the price of.

    `basis` says how they are counted, `lever` which key of the configuration changes them.
    """

    price: str
    item: str
    units: float
    _: KW_ONLY
    basis: str
    lever: str | None = None


def cluster_quantities(cluster: Cluster, shared: Shared) -> list[Quantity]:
    """Return one cluster's usage; a paused one keeps alarms, dashboard, endpoints and gateways."""
    published = count_published(cluster)
    found = [*_alarms(cluster, published), *_standing_network(cluster)]
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
    """Return what the clusters of an account and region share; `keys` are the user's there."""
    found = [
        *(_job(shared.report, clusters) if shared.report.enabled else ()),
        *(_queries(clusters) if shared.athena else ()),
        *_messages(shared, len(clusters)),
        *_secrets(clusters, keys, encrypted=shared.notify.encrypted),
        *(_views(shared.views, len(clusters)) if shared.views else ()),
    ]
    if shared.status_messages:
        runs = sum(map(sizes.monthly_runs, clusters))
        found += _status_messages(shared.status_messages, runs, compacts=shared.report.enabled)
    return _not_zero(found)


def msk_level_quantities(clusters: Iterable[Cluster]) -> list[Quantity]:
    """The metrics of MSK's level PER_TOPIC_PER_PARTITION, beside those by broker and topic.

    None where no cluster has it. MSK charges what it adds to its free level as CloudWatch
    does for metrics of one's own; that the tiers are the same ones is not written down by AWS.
    """
    having = [each for each in clusters if each.arn and not each.is_serverless]
    units = _MSK_METRICS_PER_PARTITION * sum(each.expected.group_partitions for each in having)
    basis = f"PER_TOPIC_PER_PARTITION on {format_quantity(len(having), 'cluster')}"
    return _not_zero([Quantity("custom_metric", "MSK's own level", units, basis=basis)])


def groups_in_query(cluster: Cluster, published: MetricCounts, rule: Rule) -> int:
    """Return how many groups the query of an alarm on any group looks at."""
    if not cluster.watches_any_group:
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
    """Yield metrics in CloudWatch; those at an OTLP endpoint are charged by its owner."""
    if not cluster.sink_names:
        return
    if CLOUDWATCH in cluster.sink_names:
        requests = math.ceil(published.total / _METRICS_PER_REQUEST)
        units = sizes.monthly_runs(cluster) * requests
        basis = f"{requests:,} a run"
        yield Quantity("metric_request", "requests", units, basis=basis, lever="sinks")
    groups = f"{published.groups:,} x {published.per_group}"
    if published.scaled:
        groups += f" + {published.scaled:,} x {published.per_scaled}"
    if published.with_sla:
        groups += f" + {published.with_sla:,} x 1"
    topics = f"{published.topics:,} x {published.per_topic}"
    partitions = f"{published.partitions:,} x {published.per_partition}"
    for item, units, basis, lever in (
        ("the reporter's own", len(contract.HEALTH_UNITS), "a cluster", None),
        ("by group", published.group_metrics, groups, "groups.deny"),
        ("by topic", published.topic_metrics, topics, "levels.topics"),
        ("by partition", published.partition_metrics, partitions, "levels.partitions"),
    ):
        yield Quantity("custom_metric", item, units, basis=basis, lever=lever)


def _count_scaling_alarms(scaling: Scaling) -> int:
    """Metrics that the alarms of a service watch; those of a target are two of AWS's own."""
    if scaling.tracking:
        return _ALARMS_OF_TRACKING
    return sum(len(rule.metrics) for rule in rules_of(scaling))


def _alarms(cluster: Cluster, published: MetricCounts) -> Iterator[Quantity]:
    """Alarms are charged by the metrics that they watch, and a dashboard as a whole."""
    alarms = cluster.alarms
    reporter = len(reporter_rules(paused=cluster.paused, sinks=cluster.sink_names))
    named = sum(1 for _ in group_thresholds(cluster))
    scaling = sum(_count_scaling_alarms(each) for each in cluster.scaling)
    anomalies = _METRICS_PER_ANOMALY_ALARM * len(alarms.anomalies)
    any_group = sum(groups_in_query(cluster, published, rule) for rule in OF_ANY_GROUP)
    unusual = published.groups if cluster.watches_unusual else 0
    rules = broker_rules(brokers=cluster.watches_brokers, disks=cluster.has_disks)
    brokers = cluster.expected.brokers * len(rules)
    for price, item, units, basis, lever in (
        ("alarm_metric", "of the reporter", reporter, "1 an alarm", None),
        ("alarm_metric", "of named groups", named, "1 an alarm", "alarms.groups"),
        ("alarm_metric", "of scaling", scaling, "1 an alarm", "scaling"),
        ("anomaly_metric", "anomalies", anomalies, "3 an alarm", "alarms.anomalies"),
        ("query_alarm_metric", "any group", any_group, "1 a group and alarm", "alarms.any_group"),
        ("query_alarm_metric", "unusual", unusual, "1 a group", "alarms.any_unusual"),
        ("query_alarm_metric", "of brokers", brokers, "1 a broker and alarm", "alarms.brokers"),
        ("dashboard", "of the cluster", int(cluster.dashboard), "a cluster", "dashboard"),
    ):
        yield Quantity(price, item, units, basis=basis, lever=lever)


def _log(cluster: Cluster, published: MetricCounts) -> Iterator[Quantity]:
    a_run = sizes.log_bytes(published) if EMF in cluster.sink_names else RUN_LOG
    a_day = a_run * sizes.daily_runs(cluster) / GB
    basis = f"{format_bytes(a_run)} a run"
    yield Quantity("log_ingestion", "ingestion", a_day * DAYS, basis=basis, lever="levels")
    days = cluster.function.log_days
    basis, lever = f"{days} days, taken as uncompressed", "function.log_days"
    yield Quantity("log_storage", "storage", a_day * days, basis=basis, lever=lever)


def _function(cluster: Cluster) -> Iterator[Quantity]:
    runs, seconds = sizes.monthly_runs(cluster), sizes.run_seconds(cluster)
    function = cluster.function
    time = f"{seconds:.2f} s a run, {function.memory_mb:,} MB"
    every = f"every {cluster.interval_minutes} min"
    gb_seconds = runs * seconds * function.memory_mb / 1024
    for price, item, units, basis, lever in (
        (f"lambda_{function.architecture}", "time", gb_seconds, time, "function.memory_mb"),
        ("lambda_request", "requests", runs, every, "interval_seconds"),
        ("schedule", "schedule", runs, every, "interval_seconds"),
    ):
        yield Quantity(price, item, units, basis=basis, lever=lever)


def _storage(cluster: Cluster, shared: Shared) -> Iterator[Quantity]:
    """Without a daily job nothing is compacted, and no snapshot ever expires."""
    runs, expected, keep = sizes.daily_runs(cluster), cluster.expected, shared.keep
    compacts = shared.report.enabled
    objects = runs * OBJECTS_PER_RUN
    writes = (objects + _COLD_STARTS_PER_DAY * _COLD_LISTS) * DAYS
    # One that is compacted is deleted later, which is free.
    job_reads = objects * _JOB_READS if compacts else 0
    reads = (job_reads + _COLD_STARTS_PER_DAY * _COLD_READS) * DAYS
    lever = "interval_seconds"
    basis = f"{OBJECTS_PER_RUN} objects a run"
    yield Quantity("s3_write", "writes", writes, basis=basis, lever=lever)
    basis = "cold starts and the daily job"
    yield Quantity("s3_read", "reads", reads, basis=basis, lever=lever)
    snapshots = sum(sizes.snapshot_bytes(expected).values()) * runs
    # Where snapshots never expire, there are no days to change, only the runs that write them.
    stored = [("snapshots", snapshots, _FIRST_YEAR_DAYS, lever)]
    if compacts:
        history = sum(sizes.compacted_bytes(expected, runs).values())
        reports = sizes.report_bytes(expected)
        stored = [
            ("snapshots", snapshots, keep.snapshot_days, "shared.keep.snapshot_days"),
            ("history", history, keep.history_days, "shared.keep.history_days"),
            ("reports", reports, keep.report_days, "shared.keep.report_days"),
        ]
    for item, a_day, days, lever in stored:
        basis = f"{format_bytes(a_day)} a day, {days} days"
        yield Quantity("s3_storage", item, a_day * days / GB, basis=basis, lever=lever)


def _standing_network(cluster: Cluster) -> Iterator[Quantity]:
    """Endpoints in each of their subnets, and NAT gateways, whether or not they are used."""
    vpc = cluster.vpc
    endpoints, subnets = vpc.endpoints, len(vpc.endpoint_subnets or vpc.subnets)
    for key, item in (
        ("secrets_manager", "secrets endpoint"),
        ("monitoring", "CloudWatch endpoint"),
    ):
        hours = subnets * HOURS * getattr(endpoints, key)
        basis = f"{subnets} subnets, all hours"
        yield Quantity("endpoint_hour", item, hours, basis=basis, lever=f"vpc.endpoints.{key}")
    gateways = cluster.expected.nat_gateways
    basis, lever = f"{gateways}, all hours", "expected.nat_gateways"
    yield Quantity("nat_hour", "NAT gateways", gateways * HOURS, basis=basis, lever=lever)


def _traffic(cluster: Cluster) -> Iterator[Quantity]:
    rows = cluster.expected.group_partitions + cluster.expected.topic_partitions
    a_run = rows * _ROW_TRAFFIC * _ZONE_SHARE
    both_ways = 2 * a_run * sizes.monthly_runs(cluster) / GB
    basis, lever = f"{format_bytes(a_run)} a run, both ways", "interval_seconds"
    yield Quantity("zone_traffic", "between zones", both_ways, basis=basis, lever=lever)
    if not cluster.expected.nat_gateways or cluster.vpc.endpoints.s3:
        return
    # Metrics that other sinks than the log send are far less than snapshots.
    objects = sizes.daily_runs(cluster) * OBJECTS_PER_RUN + _COLD_STARTS_PER_DAY * _COLD_READS
    of_object = sum(sizes.snapshot_bytes(cluster.expected).values()) / OBJECTS_PER_RUN
    basis = f"{objects:,.0f} objects a day of {format_bytes(of_object)}"
    units, lever = objects * of_object * DAYS / GB, "vpc.endpoints.s3"
    yield Quantity("nat_traffic", "through NAT", units, basis=basis, lever=lever)


def _job(report: Report, clusters: tuple[Cluster, ...]) -> Iterator[Quantity]:
    """The daily job, its log, and its metric, with an alarm if any cluster runs."""
    minutes = min(sizes.job_minutes(clusters, report.workers), report.time_limit_minutes)
    hours = report.workers * minutes / 60 * DAYS
    time = f"{report.workers} DPU, {minutes:.1f} min a day"
    a_day = sizes.JOB_LOG * len(clusters) / GB
    logged = f"{format_bytes(sizes.JOB_LOG)} a cluster and day"
    stored = a_day * report.log_days
    alarms = int(any(not cluster.paused for cluster in clusters))
    lever = "shared.report.enabled"
    for price, item, units, basis in (
        ("custom_metric", "of the report", 1, "a region"),
        ("alarm_metric", "of the report", alarms, "a region"),
        ("log_ingestion", "daily report: ingestion", a_day * DAYS, logged),
        ("log_storage", "daily report: storage", stored, f"{logged}, {report.log_days} days"),
        ("glue_dpu_hour", "daily report", hours, time),
    ):
        yield Quantity(price, item, units, basis=basis, lever=lever)


def _queries(clusters: tuple[Cluster, ...]) -> Iterator[Quantity]:
    """Each over one cluster's groups of one day, an average cluster's."""
    queries = _QUERIES_PER_DAY * DAYS
    objects = sum(map(sizes.daily_runs, clusters)) / len(clusters)
    scanned = sum(
        sizes.snapshot_bytes(each.expected)[contract.GROUPS] * sizes.daily_runs(each)
        for each in clusters
    )
    scan = max(scanned / len(clusters), _LEAST_SCAN)
    basis = f"{_QUERIES_PER_DAY} a day, {format_bytes(scan)} each"
    yield Quantity("athena_scan", "queries", queries * scan / TB, basis=basis)
    basis = f"{objects:,.0f} objects a query"
    yield Quantity("s3_read", "reads of queries", queries * objects, basis=basis)


def _messages(shared: Shared, clusters: int) -> Iterator[Quantity]:
    """Yield messages about alarms, and as many about changed statuses if the topic gets them."""
    statuses = bool(shared.status_messages and shared.status_messages.topic)
    for price, item, receivers, kinds in (
        ("email", "e-mail", shared.notify.email, 1 + statuses),
        ("https_message", "https", shared.notify.https, 1),
    ):
        of_cluster = _MESSAGES_PER_CLUSTER * kinds
        units = of_cluster * clusters * len(receivers)
        basis = f"{of_cluster} a cluster and receiver"
        yield Quantity(price, item, units, basis=basis, lever="shared.notify")
    # A message about a group goes to its owner alone.
    owners = shared.notify.owners.values()
    for price, item, found in (
        ("email", "e-mail to owners", [len(each.email) for each in owners]),
        ("https_message", "https to owners", [len(each.https) for each in owners]),
    ):
        if sum(found):
            mean = _MESSAGES_PER_CLUSTER * clusters * sum(found) / len(found)
            basis = f"{_MESSAGES_PER_CLUSTER} a cluster, to the owner's addresses"
            yield Quantity(price, item, mean, basis=basis, lever="shared.notify.owners")


def _secrets(clusters: tuple[Cluster, ...], own: KmsKeys, *, encrypted: bool) -> Iterator[Quantity]:
    """Each of the user's secrets and keys once, however many clusters and purposes share it.

    Unless the topic is `encrypted`, or has a key of the user's, none is made for it.
    """
    logins = [each.auth for each in clusters if isinstance(each.auth, SecretAuth)]
    secrets = {login.secret_arn for login in logins}
    login_keys = {login.kms_key_arn for login in logins} - {None}
    other_keys = {own.bucket, own.logs, own.topic} - login_keys - {None}
    made = int(encrypted and own.topic is None)
    rotations, lever = _CHARGED_ROTATIONS * made, "shared.notify.encrypted"
    for price, item, units, basis, key in (
        ("secret", "logins", len(secrets), "your secrets", "auth"),
        ("kms_key", "keys of logins", len(login_keys), "your keys, not rotated", "auth"),
        ("kms_key", "keys of data and logs", len(other_keys), "your keys", "shared.kms_keys"),
        ("kms_key", "key of the topics", made, "a region", lever),
        ("kms_rotation", "rotations of that key", rotations, "from the third year on", lever),
    ):
        yield Quantity(price, item, units, basis=basis, lever=key)


def _views(views: Views, clusters: int) -> Iterator[Quantity]:
    """Answers leave AWS at the user's price of traffic, which is not counted."""
    lever = "shared.views"
    seconds = _SCRAPE_SECONDS * clusters
    yield from _shared_function("views", _SCRAPES, seconds, memory_mb=views.memory_mb, lever=lever)
    lists = _LISTS_PER_SCRAPE + _LISTS_PER_CLUSTER * clusters
    for price, item, units, basis in (
        ("s3_write", "views: lists", _SCRAPES * lists, f"{lists} a scrape"),
        ("s3_read", "views: reads", _SCRAPES * clusters, "1 a scrape and cluster"),
        ("secret", "token of views", int(views.auth == "bearer"), "a region"),
    ):
        yield Quantity(price, item, units, basis=basis, lever=lever)


def _status_messages(
    messages: StatusMessages, runs: float, *, compacts: bool
) -> Iterator[Quantity]:
    """Each run is compared; of each channel the hour is listed, the cursor read and written.

    Snapshots that the daily job compacts are deleted later, which is an event as well.
    """
    lever = "shared.status_messages"
    memory = messages.memory_mb
    yield from _shared_function("messages", runs, _NOTIFY_SECONDS, memory_mb=memory, lever=lever)
    channels = messages.topic + (messages.event_bus is not None)
    events = OBJECTS_PER_RUN * (2 if compacts else 1) + channels
    for price, item, a_run, basis in (
        ("s3_write", "messages: writes", channels, "the cursors"),
        ("s3_write", "messages: lists", channels, "the hour, of each channel"),
        ("s3_read", "messages: reads", 1 + channels, "snapshot and cursors"),
        ("event", "of the bucket", events, "whatever happens to an object"),
    ):
        yield Quantity(price, item, runs * a_run, basis=f"{a_run} a run: {basis}", lever=lever)
    alarms = len(OF_MESSAGES)
    yield Quantity("alarm_metric", "of messages", alarms, basis="a region", lever=lever)


def _shared_function(
    name: str, calls: float, seconds: float, *, memory_mb: int, lever: str
) -> Iterator[Quantity]:
    """Yield the usage of a shared function, which has the default architecture."""
    gb_seconds = calls * seconds * memory_mb / 1024
    for price, item, units, basis in (
        (f"lambda_{Function().architecture}", "time", gb_seconds, f"{seconds:.2f} s each"),
        ("lambda_request", "requests", calls, f"{memory_mb:,} MB"),
        ("log_ingestion", "ingestion", calls * RUN_LOG / GB, f"{RUN_LOG} bytes each"),
    ):
        yield Quantity(price, f"{name}: {item}", units, basis=basis, lever=lever)
