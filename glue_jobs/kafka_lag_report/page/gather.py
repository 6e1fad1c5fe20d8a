# SPDX-License-Identifier: Apache-2.0
"""One cluster's page from the day's report frames: about nine small jobs, each of bounded size."""

from collections.abc import Mapping, Sequence
from datetime import date

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafka_lag_report.page.frames.anomalies import unusual_hours
from kafka_lag_report.page.frames.coverage import datasets
from kafka_lag_report.page.frames.curves import DAY_MINUTES, curves
from kafka_lag_report.page.frames.groups import group_days
from kafka_lag_report.page.frames.hotspots import brokers, hot_consumers
from kafka_lag_report.page.frames.risks import topic_risks
from kafka_lag_report.page.frames.skew import bars, topic_skews
from kafka_lag_report.page.model import Coverage, Limits, Listed, Page
from kafka_lag_report.page.standing import worst_first, worst_topics

MINUTE = 60.0
GROUPS = "groups"


def gather(
    reports: Mapping[str, DataFrame],
    groups: DataFrame,
    partitions: DataFrame,
    *,
    cluster: str,
    day: date,
    limits: Limits,
) -> Page:
    """Read the page's rows of `cluster`.

    `reports` by name with a `cluster` column, `groups` the day's snapshot rows, `partitions` a row
    a group's partition: cluster, consumer_group, topic, partition_id, leader, mean_lag, produced.
    """

    def of(name: str) -> DataFrame:
        return _of_cluster(reports[name], cluster)

    coverage = datasets(of("coverage"))
    risks = topic_risks(of("retention_risk"), limits.topics)
    days = group_days(of("lag_summary"), limits.groups)
    ranked = Listed(worst_first(days.rows, worst_topics(risks.rows)), days.total)
    skews = topic_skews(of("partition_skew"), limits.topics)
    drawn = [row.group for row in ranked.rows[: limits.drawn]]
    crooked = [(row.group, row.topic) for row in skews.rows if row.lag_skewed][: limits.bars]
    seen = _of_cluster(groups, cluster)
    return Page(
        cluster=cluster,
        day=day,
        groups=ranked,
        curves=curves(seen, drawn, day, _interval(coverage), _until(coverage, day)),
        risks=risks,
        skews=skews,
        bars=bars(_of_cluster(partitions, cluster), crooked, limits.partitions),
        brokers=brokers(of("broker_hotspots"), limits.rows),
        consumers=hot_consumers(of("consumer_hotspots"), limits.rows),
        anomalies=unusual_hours(of("anomalies"), limits.rows),
        coverage=coverage,
    )


def _of_cluster(frame: DataFrame, cluster: str) -> DataFrame:
    return frame.where(sf.col("cluster") == cluster)


def _interval(coverage: Sequence[Coverage]) -> float:
    """Seconds between two runs; a minute where nobody can say."""
    known = (one.interval for one in coverage if one.dataset == GROUPS and one.interval)
    return next(known, MINUTE)


def _until(coverage: Sequence[Coverage], day: date) -> int:
    """The minute at which the timelines end: the newest run of a day in progress, or midnight."""
    last = [one.last_run for one in coverage if one.in_progress and one.last_run]
    if not last or max(last).date() != day:
        return DAY_MINUTES
    return max(last).hour * 60 + max(last).minute + 1
