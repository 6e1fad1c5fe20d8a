# SPDX-License-Identifier: Apache-2.0
"""What the clusters of one account and region use together in a month."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lag_cdk.bill.usage import item, measured
from kafka_lag_cdk.bill.usage.answering import answering
from kafka_lag_cdk.bill.usage.item import Item, size
from kafka_lag_cdk.bill.usage.runs import job_minutes, runs_per_day, snapshot_bytes
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.network import ScramAuth, TlsAuth
from kafka_lag_cdk.config.shared import KmsKeys, Report, Shared


def shared_usage(
    shared: Shared, clusters: tuple[Cluster, ...], own: KmsKeys | None = None
) -> list[Item]:
    """The daily job, queries, who is told, and what answers; `own` are the user's keys there."""
    return [
        *_job(shared.report, clusters),
        *(_queries(clusters) if shared.athena else ()),
        *_messages(shared, len(clusters)),
        *_secrets(clusters, own or KmsKeys(), encrypted=shared.notify.encrypted),
        *answering(shared, clusters),
    ]


def _job(report: Report, clusters: tuple[Cluster, ...]) -> Iterator[Item]:
    if not report.enabled:
        return
    minutes = min(job_minutes(clusters, report.workers), report.time_limit_minutes)
    yield Item(
        item.GLUE,
        "daily report",
        "glue_dpu_hour",
        quantity=report.workers * minutes / 60 * measured.DAYS,
        basis=f"{report.workers} DPU, {minutes:.1f} min a day",
        lever="shared.report.enabled",
    )
    # DailyReportSuccess, and the alarm on it.
    for service, price in ((item.METRICS, "custom_metric"), (item.ALARMS, "alarm_metric")):
        yield Item(service, "of the report", price, quantity=1, basis="a region")
    a_day = measured.JOB_LOG * len(clusters) / measured.GB
    logged = f"{size(measured.JOB_LOG)} a cluster and day"
    for what, price, days, basis in (
        ("daily report: ingestion", "log_ingestion", measured.DAYS, logged),
        ("daily report: storage", "log_storage", measured.FIRST_YEAR, f"{logged}, of a year"),
    ):
        yield Item(
            item.LOGS,
            what,
            price,
            quantity=a_day * days,
            basis=basis,
            lever="shared.report.enabled",
        )


def _queries(clusters: tuple[Cluster, ...]) -> Iterator[Item]:
    """Each over one cluster's groups of one day, an average cluster's."""
    queries = measured.QUERIES_PER_DAY * measured.DAYS
    objects = sum(runs_per_day(cluster) for cluster in clusters) / len(clusters)
    sizes = [snapshot_bytes(c.expected).groups * runs_per_day(c) for c in clusters]
    scan = max(sum(sizes) / len(clusters), measured.LEAST_SCAN)
    yield Item(
        item.ATHENA,
        "queries",
        "athena_scan",
        quantity=queries * scan / measured.TB,
        basis=f"{measured.QUERIES_PER_DAY} a day, {size(scan)} each",
    )
    yield Item(
        item.S3,
        "reads of queries",
        "s3_read",
        quantity=queries * objects,
        basis=f"{objects:,.0f} objects a query",
    )


def _messages(shared: Shared, clusters: int) -> Iterator[Item]:
    """Of alarms, and as many of changed statuses where the topic has these too."""
    notify, both = shared.notify, shared.status_messages and shared.status_messages.topic
    of_cluster = measured.MESSAGES_PER_CLUSTER * (2 if both else 1)
    messages = of_cluster * clusters
    for what, price, receivers in (
        ("e-mail", "email", len(notify.email)),
        ("https", "https_message", len(notify.https)),
    ):
        if receivers:
            yield Item(
                item.MESSAGES,
                what,
                price,
                quantity=messages * receivers,
                basis=f"{of_cluster} a cluster and receiver",
                lever="shared.notify",
            )


def _secrets(clusters: tuple[Cluster, ...], own: KmsKeys, *, encrypted: bool) -> Iterator[Item]:
    """Logins are the user's own, and clusters may share them and their keys.

    Unless the topic is `encrypted`, or has a key of the user's, none is made for it.
    """
    logins = [c.auth for c in clusters if isinstance(c.auth, ScramAuth | TlsAuth)]
    secrets = {login.secret_arn for login in logins}
    keys = {login.kms_key_arn for login in logins} - {None}
    others = {own.bucket, own.logs, own.topic} - keys - {None}
    made = encrypted and own.topic is None
    kinds = (
        ("logins", "secret", len(secrets), "your secrets", "auth"),
        ("keys of logins", "kms_key", len(keys), "your keys, not rotated", "auth"),
        ("keys of data and logs", "kms_key", len(others), "your keys", "shared.kms_keys"),
        ("key of the topics", "kms_key", int(made), "a region", "shared.notify.encrypted"),
        (
            "rotations of that key",
            "kms_rotation",
            measured.CHARGED_ROTATIONS * made,
            "from the third year on",
            "shared.notify.encrypted",
        ),
    )
    for what, price, count, basis, lever in kinds:
        if count:
            yield Item(item.SECRETS, what, price, quantity=count, basis=basis, lever=lever)
