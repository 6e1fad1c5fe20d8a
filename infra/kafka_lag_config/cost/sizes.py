# SPDX-License-Identifier: Apache-2.0
"""Metrics, bytes and seconds of a run of the expected size: measured of the collector, or assumed.

Tests hold what is measured against what the collector and the daily job write. Only a running
cluster knows its names, so filters by expressions are taken to match everything, and groups to have
equally many topics and partitions.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag.sinks.config import Levels
from kafka_lag_config.cluster import Cluster, Expected
from kafka_lag_config.types import find_one_name

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
# opened at once. Measured by dev.benchmarks.report: rows that a core compacts and reduces a second,
# rounded down. A G.1X worker is one DPU of 4 cores, and one of the workers drives.
_JOB_START_MINUTES = 1.9
_OPEN_SECONDS = 0.003
_ROWS_PER_CORE_SECOND = 100_000
_CORES = 4
# Assumed: bytes of the daily reports a group-partition and a group, whose hours are in them, and
# those of a page.
_REPORT_ROW, _REPORT_GROUP, _REPORT_PAGE = 120, 2_000, 500_000


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
    scaling = cluster.levels.scaling
    all_scaled = scaling is not None and bool(scaling.model_fields_set)
    named = len(levels.named)
    wanted = named if levels.named_only and not all_scaled else max(expected.groups, named)
    scaled = len({group for each in cluster.scaling for group in each.groups})
    with_sla = min(len(cluster.sla_seconds), wanted)
    if any(find_one_name(expression) is None for expression in cluster.sla_seconds):
        with_sla = wanted
    more = (wanted if all_scaled else scaled) * len(contract.SCALING_METRICS)
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
    all_partitions = int(expected.group_partitions * share) if levels.partition_groups else 0
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
