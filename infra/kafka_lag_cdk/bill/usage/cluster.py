# SPDX-License-Identifier: Apache-2.0
"""What one cluster uses in a month."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lag import contract
from kafka_lag_cdk.bill.usage import item, measured
from kafka_lag_cdk.bill.usage.alarms import alarm_metrics
from kafka_lag_cdk.bill.usage.item import Item, size
from kafka_lag_cdk.bill.usage.metrics import Published, published, wanted
from kafka_lag_cdk.bill.usage.runs import (
    log_bytes,
    run_seconds,
    runs_per_day,
    snapshot_bytes,
)
from kafka_lag_cdk.bill.usage.storage import storage
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.document import CLOUDWATCH, EMF
from kafka_lag_cdk.config.shared import Shared


def cluster_usage(cluster: Cluster, shared: Shared) -> list[Item]:
    """Every quantity of a cluster that is charged for, once what expires is as old as it gets."""
    found = published(wanted(cluster))
    of_runs = (
        *_metrics(cluster, found),
        *_log(cluster, found),
        *_function(cluster),
        *storage(cluster, shared),
        *_traffic(cluster),
        *_nat_traffic(cluster),
    )
    standing = (*_alarms(cluster, found), *_endpoint(cluster), *_nat_gateways(cluster))
    return [*standing, *(() if cluster.paused else of_runs)]


def _metrics(cluster: Cluster, found: Published) -> Iterator[Item]:
    """Those in CloudWatch's namespaces; what an OTLP endpoint takes is its owner's to charge."""
    if not cluster.sink_names:
        return
    if CLOUDWATCH in cluster.sink_names:
        a_run = -(-found.total // measured.METRICS_PER_REQUEST)
        yield Item(
            item.METRICS,
            "requests",
            "metric_request",
            quantity=runs_per_day(cluster) * measured.DAYS * a_run,
            basis=f"{a_run:,} a run",
            lever="sinks",
        )
    asked, name = found.wanted, "custom_metric"
    levels = (
        ("the reporter's own", len(contract.HEALTH_UNITS), "a cluster", ""),
        ("by group", found.group_metrics, _of_groups(found), "groups.deny"),
        ("by topic", found.topic_metrics, f"{found.topics:,} x {asked.of_topic}", "levels.topics"),
        (
            "by partition",
            found.partition_metrics,
            f"{found.partitions:,} x {asked.of_partition}",
            "levels.partitions",
        ),
    )
    for what, count, basis, lever in levels:
        if count:
            yield Item(item.METRICS, what, name, quantity=count, basis=basis, lever=lever)


def _of_groups(found: Published) -> str:
    text = f"{found.groups:,} x {found.wanted.of_group}"
    return f"{text} + {found.scaled:,} x {found.wanted.of_scaling}" if found.scaled else text


def _alarms(cluster: Cluster, found: Published) -> Iterator[Item]:
    counts = alarm_metrics(cluster, found)
    kinds = (
        ("of the reporter", "alarm_metric", counts.reporter, "", ""),
        ("of named groups", "alarm_metric", counts.groups, "", "alarms.groups"),
        ("of scaling", "alarm_metric", counts.scaling, "", "scaling"),
        ("anomalies", "anomaly_metric", counts.anomalies, "3 an alarm", "alarms.anomalies"),
        (
            "any group",
            "query_alarm_metric",
            counts.analysed,
            "1 a group and alarm",
            "alarms.any_group",
        ),
        (
            "of brokers",
            "query_alarm_metric",
            counts.brokers,
            "1 a broker and alarm",
            "alarms.brokers",
        ),
    )
    for what, price, count, basis, lever in kinds:
        if count:
            yield Item(
                item.ALARMS, what, price, quantity=count, basis=basis or "1 an alarm", lever=lever
            )
    if cluster.dashboard:
        yield Item(
            item.DASHBOARD,
            "of the cluster",
            "dashboard",
            quantity=1,
            basis="a cluster",
            lever="dashboard",
        )


def _log(cluster: Cluster, found: Published) -> Iterator[Item]:
    lines = EMF in cluster.sink_names
    written, days = log_bytes(found) if lines else measured.RUN_LOG, cluster.function.log_days
    a_day = written * runs_per_day(cluster) / measured.GB
    yield Item(
        item.LOGS,
        "ingestion",
        "log_ingestion",
        quantity=a_day * measured.DAYS,
        basis=f"{size(written)} a run",
        lever="levels",
    )
    yield Item(
        item.LOGS,
        "storage",
        "log_storage",
        quantity=a_day * days,
        basis=f"{days} days, taken as uncompressed",
        lever="function.log_days",
    )


def _function(cluster: Cluster) -> Iterator[Item]:
    runs = runs_per_day(cluster) * measured.DAYS
    memory, seconds = cluster.function.memory_mb, run_seconds(cluster)
    yield Item(
        item.LAMBDA,
        "time",
        f"lambda_{cluster.function.architecture}",
        quantity=runs * seconds * memory / 1024,
        basis=f"{seconds:.2f} s a run, {memory:,} MB",
        lever="function.memory_mb",
    )
    every = f"every {cluster.interval_minutes} min"
    for what, price in (("requests", "lambda_request"), ("schedule", "schedule")):
        yield Item(item.LAMBDA, what, price, quantity=runs, basis=every, lever="interval_seconds")


def _traffic(cluster: Cluster) -> Iterator[Item]:
    rows = cluster.expected.group_partitions + cluster.expected.topic_partitions
    a_run = rows * measured.ROW_TRAFFIC * measured.ZONE_SHARE
    both_ways = 2 * a_run * runs_per_day(cluster) * measured.DAYS / measured.GB
    yield Item(
        item.NETWORK,
        "between zones",
        "zone_traffic",
        quantity=both_ways,
        basis=f"{size(a_run)} a run, both ways",
        lever="interval_seconds",
    )


def _endpoint(cluster: Cluster) -> Iterator[Item]:
    subnets = len(cluster.vpc.subnets)
    kinds = (("secrets_manager", "secrets endpoint"), ("monitoring", "CloudWatch endpoint"))
    for key, what in kinds:
        if getattr(cluster.vpc.endpoints, key):
            yield Item(
                item.NETWORK,
                what,
                "endpoint_hour",
                quantity=subnets * measured.HOURS,
                basis=f"{subnets} subnets, all hours",
                lever=f"vpc.endpoints.{key}",
            )


_NAT = "expected.nat_gateways"


def _nat_gateways(cluster: Cluster) -> Iterator[Item]:
    gateways = cluster.expected.nat_gateways
    if gateways:
        yield Item(
            item.NETWORK,
            "NAT gateways",
            "nat_hour",
            quantity=gateways * measured.HOURS,
            basis=f"{gateways}, all hours",
            lever=_NAT,
        )


def _nat_traffic(cluster: Cluster) -> Iterator[Item]:
    """Snapshots, unless an S3 endpoint is made; metrics that other sinks send are far less."""
    if not cluster.expected.nat_gateways or cluster.vpc.endpoints.s3:
        return
    written = runs_per_day(cluster) * measured.OBJECTS_PER_RUN
    objects = written + measured.COLD_STARTS_PER_DAY * measured.COLD_READS
    of_object = snapshot_bytes(cluster.expected).total / measured.OBJECTS_PER_RUN
    yield Item(
        item.NETWORK,
        "through NAT",
        "nat_traffic",
        quantity=objects * of_object * measured.DAYS / measured.GB,
        basis=f"{objects:,.0f} objects a day of {size(of_object)}",
        lever="vpc.endpoints.s3",
    )
