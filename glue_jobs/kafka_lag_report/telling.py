# SPDX-License-Identifier: Apache-2.0
"""What a run says in the end: the worst rows to its log, and what changed to a topic."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import date, timedelta
from types import MappingProxyType

from pyspark.sql import DataFrame

from kafka_lag_report.cluster_day import Job
from kafka_lag_report.read_snapshots import Day, naming_corrupt_files
from kafka_lag_report.report_files import page_address, stored, stored_folders
from kafka_lag_report.schemas import REPORTS
from kafka_lag_report.summary.changes import changes
from kafka_lag_report.summary.collecting import findings
from kafka_lag_report.summary.console import print_reports
from kafka_lag_report.summary.links import link
from kafka_lag_report.summary.message import Message, message
from kafka_lag_report.summary.publishing import publish, sns_client, topic_region


def tell(job: Job, day: Day, write: Callable[[str], object] = print) -> None:
    """Print what was published of the day, and where it lies."""
    with _naming_corrupt_reports(job, day):
        print_reports(_published(job, day, day.date), day.date, job.options.show, write)
    output = job.options.output
    write(f"\nWritten for {', '.join(day.clusters)}: {output}/reports")
    for cluster in day.clusters:
        write(f"Page of {cluster}: {page_address(output, day, cluster)}")


def send(job: Job, day: Day, failed: Mapping[str, str]) -> None:
    """Publish what changed since the day before; DataError if the topic refuses.

    `failed` are clusters without a report, and why. Without a topic nothing is sent, and of a
    range only the newest day is news.
    """
    topic_arn = job.options.topic_arn
    if not topic_arn or day.date != job.options.dates[-1]:
        return
    if changed := summary(job, day, topic_region(topic_arn), failed):
        publish(changed, topic_arn, sns_client(topic_arn))


def summary(
    job: Job, day: Day, region: str | None, failed: Mapping[str, str] = MappingProxyType({})
) -> Message | None:
    """What changed since the day before, in words; null: nothing to tell."""
    # with those that have nothing today, as a collector that died is news
    asked = replace(day, clusters={**day.clusters, **day.absent})
    with _naming_corrupt_reports(job, asked):
        eve = _published(job, asked, day.date - timedelta(days=1))
        before = None if eve["coverage"].isEmpty() else findings(eve)
        today = findings(_published(job, day, day.date), before)
    pages = {c: link(page_address(job.options.output, day, c), region) for c in day.clusters}
    return message(
        changes(today, before),
        day=day.date,
        today=today,
        before=before,
        links=pages,
        failed=failed,
        always=job.options.always_summarise,
    )


def _published(job: Job, day: Day, on: date) -> Mapping[str, DataFrame]:
    return {
        name: stored(job.spark, job.storage, job.options.output, name, day, [on]).drop("dt")
        for name in REPORTS
    }


def _naming_corrupt_reports(job: Job, day: Day) -> AbstractContextManager[None]:
    """Of the day and the day before."""
    dates = [day.date, day.date - timedelta(days=1)]

    def folders() -> list[str]:
        output = job.options.output
        every = (stored_folders(job.storage, output, name, day, dates) for name in REPORTS)
        return [folder for found in every for folder in found]

    return naming_corrupt_files(job.storage, folders)
