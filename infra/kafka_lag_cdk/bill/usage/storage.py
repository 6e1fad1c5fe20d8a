# SPDX-License-Identifier: Apache-2.0
"""What a cluster's snapshots, history and reports use of S3."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lag_cdk.bill.usage import measured
from kafka_lag_cdk.bill.usage.item import S3, Item, size
from kafka_lag_cdk.bill.usage.runs import (
    compacted_bytes,
    report_bytes,
    runs_per_day,
    snapshot_bytes,
)
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.shared import Shared


def storage(cluster: Cluster, shared: Shared) -> Iterator[Item]:
    """Requests of the runs and of the daily job, and all that is kept.

    Without a daily job nothing is compacted, and no snapshot ever expires: theirs are those of the
    first year.
    """
    yield from _requests(cluster, shared)
    yield from _kept(cluster, shared)


def _requests(cluster: Cluster, shared: Shared) -> Iterator[Item]:
    objects = runs_per_day(cluster) * measured.OBJECTS_PER_RUN
    compacted = objects if shared.report.enabled else 0.0
    cold = 0 if cluster.paused else measured.COLD_STARTS_PER_DAY
    writes = (objects + cold * measured.COLD_LISTS) * measured.DAYS
    # One that is compacted is deleted later, which is free.
    reads = (compacted * measured.JOB_READS + cold * measured.COLD_READS) * measured.DAYS
    kinds = (
        ("writes", "s3_write", writes, f"{measured.OBJECTS_PER_RUN} objects a run"),
        ("reads", "s3_read", reads, "cold starts and the daily job"),
    )
    for what, price, quantity, basis in kinds:
        if quantity:
            yield Item(S3, what, price, quantity=quantity, basis=basis, lever="interval_seconds")


def _kept(cluster: Cluster, shared: Shared) -> Iterator[Item]:
    runs, expected, keep = runs_per_day(cluster), cluster.expected, shared.keep
    compacts = shared.report.enabled
    # What never expires has no days to turn, only runs that write it.
    raw_days, raw_lever = (
        (keep.snapshot_days, "shared.keep.snapshot_days")
        if compacts
        else (measured.FIRST_YEAR, "interval_seconds")
    )
    history = compacted_bytes(expected, runs).total if compacts else 0.0
    reports = report_bytes(expected) if compacts and runs else 0.0
    kinds = (
        ("snapshots", snapshot_bytes(expected).total * runs, raw_days, raw_lever),
        ("history", history, keep.history_days, "shared.keep.history_days"),
        ("reports", reports, keep.report_days, "shared.keep.report_days"),
    )
    for what, a_day, days, lever in kinds:
        if a_day:
            yield Item(
                S3,
                what,
                "s3_storage",
                quantity=a_day * days / measured.GB,
                basis=f"{size(a_day)} a day, {days} days",
                lever=lever,
            )
