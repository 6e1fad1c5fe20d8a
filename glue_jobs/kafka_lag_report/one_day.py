# SPDX-License-Identifier: Apache-2.0
"""One date from snapshots to history, reports and pages: the order of the steps.

Snapshots are scanned once, into the history, and the reports read its few files. A day in progress
has no history yet: there the one scan is the reports'.
"""

from collections.abc import Mapping
from datetime import timedelta
from functools import partial

from pyspark.sql import DataFrame

from kafka_lag_report.day.partitions import group_partition_days
from kafka_lag_report.day.reduced import Keeper, Reduced, keeping, reduced
from kafka_lag_report.day.topic_partitions import TOPIC, produced
from kafka_lag_report.history.keeping import keep
from kafka_lag_report.job import Job
from kafka_lag_report.page.render import read_page, render
from kafka_lag_report.read_findings import read_findings
from kafka_lag_report.reports.anomalies import anomalies
from kafka_lag_report.reports.broker_hotspots import broker_hotspots
from kafka_lag_report.reports.consumer_hotspots import consumer_hotspots
from kafka_lag_report.reports.coverage import coverage
from kafka_lag_report.reports.lag_hourly import lag_hourly
from kafka_lag_report.reports.lag_summary import lag_summary
from kafka_lag_report.reports.partition_skew import partition_skew
from kafka_lag_report.reports.retention_risk import retention_risk
from kafka_lag_report.storage.reports import first_reported, staged, stored
from kafka_lag_report.storage.snapshots import Day, leaving_out_bad, read

# As `reduced` takes them.
DATASETS = ("groups", "group_partitions", "topic_partitions")

# Days that an hour is compared with.
DAYS_BEFORE = 14


def report_day(job: Job, day: Day) -> Day:
    """Write all there is to write of the day; what of it was left out is in the day returned.

    DataError if something cannot be read or written; earlier output of the day stands then, but
    for a history that is ready sooner.
    """
    if job.options.history and not day.in_progress:
        with job.timings.stage("history"):
            work = partial(keep, job.spark, job.files, job.objects)
            day, _ = leaving_out_bad(job.spark, day, work)
        day = day.from_history()
    with keeping() as keeper:
        with job.timings.stage("reduce"):
            day, frames = leaving_out_bad(job.spark, day, partial(_reduced, job, keeper))
        with staged(job.files, job.options.output, day) as staging:
            with job.timings.stage("reports"):
                written = staging.write(_reports(job, day, frames))
            with job.timings.stage("pages"):
                staging.write_pages(_pages(job, day, frames, written))
            with job.timings.stage("publish"):
                staging.publish()
    return day


def _reduced(job: Job, keeper: Keeper, day: Day) -> Reduced:
    keeper.release()
    groups, group_rows, topic_rows = (read(job.spark, day, name) for name in DATASETS)
    return reduced(groups, group_rows, topic_rows, keeper)


def _reports(job: Job, day: Day, frames: Reduced) -> dict[str, DataFrame]:
    f = frames
    hours = lag_hourly(f.groups, f.weights)
    dates = [day.date - timedelta(days=back) for back in range(1, DAYS_BEFORE + 1)]
    before = stored(job.spark, job.files, job.options.output, "lag_hourly", day, dates)
    return {
        "lag_summary": lag_summary(f.groups, f.minutes, f.segments, f.weights, f.intervals),
        "partition_skew": partition_skew(
            f.segments, f.minutes, f.topic_segments, f.topic_minutes, f.weights, f.intervals
        ),
        "retention_risk": retention_risk(f.segments, f.topic_segments, day.date),
        "lag_hourly": hours,
        "anomalies": anomalies(hours, before),
        "broker_hotspots": broker_hotspots(f.segments, f.topic_segments),
        "consumer_hotspots": consumer_hotspots(f.segments),
        "coverage": coverage(job.spark, day),
    }


def _pages(job: Job, day: Day, frames: Reduced, written: Mapping[str, DataFrame]) -> dict[str, str]:
    first_days = first_reported(job.files, job.options.output, day)
    days = read_findings(written, day.date, first_days=first_days)
    partitions = group_partition_days(frames.segments).join(
        produced(frames.topic_segments), [*TOPIC, "partition_id"], "left"
    )
    return {
        cluster: render(read_page(findings, frames.groups, partitions))
        for cluster, findings in days.items()
    }
