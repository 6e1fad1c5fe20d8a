# SPDX-License-Identifier: Apache-2.0
"""What the runs of a month write: bytes of log, bytes of Parquet, seconds of a function."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lag_cdk.bill.usage import measured
from kafka_lag_cdk.bill.usage.metrics import Published
from kafka_lag_cdk.config.cluster import Cluster, Expected


def runs_per_day(cluster: Cluster) -> float:
    """Scheduled runs, none while paused."""
    return 0.0 if cluster.paused else 24 * 60 / cluster.interval_minutes


def log_bytes(published: Published) -> float:
    """What one run writes: a line a metric set, and Lambda's own."""
    lines = (
        published.groups * measured.GROUP_LINE
        + published.topics * measured.TOPIC_LINE
        + published.partitions * measured.PARTITION_LINE
    )
    metrics = published.group_metrics + published.topic_metrics + published.partition_metrics
    of_metrics = metrics * measured.LINE_PER_METRIC
    return lines + of_metrics + measured.HEALTH_LINES + measured.RUN_LOG


@dataclass(frozen=True, slots=True)
class RowBytes:
    """Bytes of the three datasets."""

    topic_partitions: float
    group_partitions: float
    groups: float

    @property
    def total(self) -> float:
        """All three."""
        return self.topic_partitions + self.group_partitions + self.groups


def snapshot_bytes(expected: Expected) -> RowBytes:
    """The three objects that a run writes."""
    return RowBytes(
        measured.TOPIC_OBJECT + expected.topic_partitions * measured.TOPIC_ROW,
        measured.PARTITION_OBJECT + expected.group_partitions * measured.PARTITION_ROW,
        measured.GROUP_OBJECT + expected.groups * measured.GROUP_ROW,
    )


def compacted_bytes(expected: Expected, runs: float) -> RowBytes:
    """The same rows of so many runs in one object a dataset; nothing without a run."""
    if not runs:
        return RowBytes(0.0, 0.0, 0.0)
    topics, partitions = expected.topic_partitions * runs, expected.group_partitions * runs
    return RowBytes(
        measured.TOPIC_OBJECT + topics * measured.TOPIC_ROW_COMPACTED,
        measured.PARTITION_OBJECT + partitions * measured.PARTITION_ROW_COMPACTED,
        measured.GROUP_OBJECT + expected.groups * runs * measured.GROUP_ROW_COMPACTED,
    )


def report_bytes(expected: Expected) -> float:
    """What the daily job writes of a day beside the history: all reports, and the page."""
    rows = expected.group_partitions * measured.REPORT_ROW
    return rows + expected.groups * measured.REPORT_GROUP + measured.REPORT_PAGE


def run_seconds(cluster: Cluster) -> float:
    """How long a warm run takes on the share of a core that comes with the memory."""
    share = min(1.0, cluster.function.memory_mb / measured.CORE_MB)
    rows = cluster.expected.group_partitions * measured.ROW_CPU_SECONDS
    return (measured.RUN_CPU_SECONDS + rows) / share + measured.RUN_WAITING_SECONDS


def job_minutes(clusters: tuple[Cluster, ...], workers: int) -> float:
    """How long the daily job takes for these clusters, were it not limited."""
    cores = (workers - 1) * measured.CORES
    days = [(cluster.expected, runs_per_day(cluster)) for cluster in clusters]
    opening = sum(runs for _, runs in days) * measured.OBJECTS_PER_RUN * measured.OPEN_SECONDS
    rows = sum((e.topic_partitions + e.group_partitions + e.groups) * runs for e, runs in days)
    reading = rows / measured.ROWS_PER_CORE_SECOND
    return measured.JOB_START_MINUTES + (opening + reading) / cores / 60
