# SPDX-License-Identifier: Apache-2.0
"""Bytes and seconds of runs, snapshots and reports: measured of the collector, or assumed.

Tests hold what is measured against the collector's own writers. A month is the average one.
"""

from __future__ import annotations

from math import ceil

from kafka_lag import contract
from kafka_lag.contract.otlp import (
    MOST_POINTS,
    OTEL_ATTRIBUTES,
    count_point_bytes,
    count_request_bytes,
    name_otel_metric,
)
from kafka_lag.sinks.config import Levels
from kafka_lag_config.cluster import Cluster, Expected
from kafka_lag_config.cost.metric_counts import MetricCounts

DAYS = 30.4
HOURS = DAYS * 24
GB = 1024.0**3

# Embedded metric lines, by the level of a set: names of 15 to 25 characters, then each metric.
_HEALTH_LINES = 870
_GROUP_LINE, _TOPIC_LINE, _PARTITION_LINE = 225, 265, 290
_LINE_PER_METRIC = 60
# What Lambda writes of a run (start, end, report) and room for a warning or two.
RUN_LOG = 800

# Assumed of names by OTLP, as of those above. OpenTelemetry's partition is a number.
_NAME_LENGTH = 20
_LENGTHS = {
    contract.DIMENSION_GROUP: _NAME_LENGTH,
    contract.DIMENSION_TOPIC: _NAME_LENGTH,
    contract.DIMENSION_PARTITION: 0,
}

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
# opened at once. Measured by dev.benchmarks.report: rows that a core compacts and reduces a second,
# rounded down. A G.1X worker is one DPU of 4 cores, and one of the workers drives.
_JOB_START_MINUTES = 1.9
_OPEN_SECONDS = 0.003
_ROWS_PER_CORE_SECOND = 100_000
_CORES = 4
# Assumed: bytes of the daily reports a group-partition and a group, whose hours are in them, and
# those of a page.
_REPORT_ROW, _REPORT_GROUP, _REPORT_PAGE = 120, 2_000, 500_000


def daily_runs(cluster: Cluster) -> float:
    """Scheduled runs, none while paused."""
    return 0.0 if cluster.paused else 24 * 60 / cluster.interval_minutes


def monthly_runs(cluster: Cluster) -> float:
    return daily_runs(cluster) * DAYS


def run_seconds(cluster: Cluster) -> float:
    """Return the seconds of a warm run on the share of a core that comes with the memory."""
    share = min(1.0, cluster.function.memory_mb / _CORE_MB)
    rows = cluster.expected.group_partitions * _ROW_CPU_SECONDS
    return (_RUN_CPU_SECONDS + rows) / share + _RUN_WAITING_SECONDS


def log_bytes(published: MetricCounts) -> float:
    """Return the log bytes of a run with the sink EMF: a line a metric set, and Lambda's."""
    lines = (
        published.groups * _GROUP_LINE
        + published.topics * _TOPIC_LINE
        + published.partitions * _PARTITION_LINE
    )
    metrics = published.group_metrics + published.topic_metrics + published.partition_metrics
    return lines + metrics * _LINE_PER_METRIC + _HEALTH_LINES + RUN_LOG


def otlp_bytes(cluster: Cluster, counts: MetricCounts, levels: Levels) -> float:
    """Return the bytes of a run's requests to an OTLP endpoint, before they are compressed.

    Names are OpenTelemetry's; CloudWatch's differ by few percent.
    """
    group, topic, partition = _LENGTHS
    scaled = dict.fromkeys(contract.SCALING_METRICS, counts.scaled)
    by_topic = dict.fromkeys(contract.LAG_METRICS, counts.topics)
    if levels.max_offset_lag:
        by_topic[contract.MAX_OFFSET_LAG] = counts.topics
    points = {
        (): dict.fromkeys(contract.HEALTH_UNITS, 1),
        (group,): dict.fromkeys(levels.group_metrics, counts.groups)
        | scaled
        | {contract.SLA_USED: counts.with_sla},
        (group, topic): by_topic,
        (group, topic, partition): dict.fromkeys(contract.LAG_METRICS, counts.partitions),
    }
    total = 0.0
    for dimensions, by_metric in points.items():
        lengths = {OTEL_ATTRIBUTES[each]: _LENGTHS[each] for each in dimensions}
        lengths[OTEL_ATTRIBUTES[contract.DIMENSION_CLUSTER]] = len(cluster.name)
        names = [name_otel_metric(name, dimensions) for name, many in by_metric.items() if many]
        many = sum(by_metric.values())
        requests = ceil(many / MOST_POINTS)
        total += requests * count_request_bytes(names, cluster.namespace)
        total += many * count_point_bytes(lengths)
    return total


def snapshot_bytes(expected: Expected) -> dict[str, float]:
    """The object of each dataset that a run writes."""
    return {
        dataset: an_object + row * getattr(expected, dataset)
        for dataset, (an_object, row, _) in _DATASET_SIZES.items()
    }


def compacted_bytes(expected: Expected, runs: float) -> dict[str, float]:
    """The same rows of so many runs in one object a dataset."""
    return {
        dataset: an_object + row * getattr(expected, dataset) * runs
        for dataset, (an_object, _, row) in _DATASET_SIZES.items()
    }


def report_bytes(expected: Expected) -> float:
    """Return the bytes of a day's reports and page, without the history."""
    rows = expected.group_partitions * _REPORT_ROW
    return rows + expected.groups * _REPORT_GROUP + _REPORT_PAGE


def job_minutes(clusters: tuple[Cluster, ...], workers: int) -> float:
    """Return the minutes of the daily job for these clusters, without a limit."""
    opening = reading = 0.0
    for cluster in clusters:
        rows = sum(getattr(cluster.expected, dataset) for dataset in _DATASET_SIZES)
        opening += daily_runs(cluster) * OBJECTS_PER_RUN * _OPEN_SECONDS
        reading += daily_runs(cluster) * rows / _ROWS_PER_CORE_SECOND
    return _JOB_START_MINUTES + (opening + reading) / ((workers - 1) * _CORES) / 60
