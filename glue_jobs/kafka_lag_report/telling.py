# SPDX-License-Identifier: Apache-2.0
"""What a run says in the end, to its log and to a topic: the message of the day."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import date, timedelta
from types import MappingProxyType

from pyspark.sql import DataFrame

from kafka_lag_report.cluster_day import Job
from kafka_lag_report.message import Message, link, message
from kafka_lag_report.read_findings import read_findings
from kafka_lag_report.read_snapshots import Day, naming_corrupt_files
from kafka_lag_report.report_files import first_reported, page_address, stored, stored_folders
from kafka_lag_report.schemas import REPORTS
from kafka_lag_report.sentences import name_of
from kafka_lag_report.sns import publish, sns_client, topic_region

_NONE: Mapping[str, str] = MappingProxyType({})


def tell(
    job: Job, day: Day, failed: Mapping[str, str], write: Callable[[str], object] = print
) -> None:
    """Print the message of the day, whatever changed, and where the pages lie."""
    if said := _message(job, day, links={}, failed=failed, always=True):
        write(said.body)
    for cluster in day.clusters:
        write(f"Page of {name_of(cluster)}: {page_address(job.options.output, day, cluster)}")


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
    job: Job, day: Day, region: str | None, failed: Mapping[str, str] = _NONE
) -> Message | None:
    """What changed since the day before, with links to the pages; null: nothing to tell."""
    pages = {c: link(page_address(job.options.output, day, c), region) for c in day.clusters}
    always = job.options.always_summarise
    return _message(job, day, links=pages, failed=failed, always=always)


def _message(
    job: Job, day: Day, *, links: Mapping[str, str], failed: Mapping[str, str], always: bool
) -> Message | None:
    # with those that have nothing today, as a collector that died is news
    asked = replace(day, clusters={**day.clusters, **day.absent})
    with _naming_corrupt_reports(job, asked):
        eve = day.date - timedelta(days=1)
        previous = read_findings(_published(job, asked, eve), eve)
        today = read_findings(
            _published(job, day, day.date),
            day.date,
            first_days=first_reported(job.storage, job.options.output, day),
            previous=previous,
        )
    return message(day.date, today, previous, links=links, failed=failed, always=always)


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
