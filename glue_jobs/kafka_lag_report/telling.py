# SPDX-License-Identifier: Apache-2.0
"""What a run says in the end, to its log and to a topic: the message of the day."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta

from pyspark.sql import DataFrame

from kafka_lag_report.job import Job
from kafka_lag_report.message import Message, link, message
from kafka_lag_report.page.serving import serve_as_html
from kafka_lag_report.read_findings import read_findings
from kafka_lag_report.schemas import REPORTS
from kafka_lag_report.sentences import name_of
from kafka_lag_report.sns import publish, sns_client, topic_region
from kafka_lag_report.storage.objects import s3_client, s3_place
from kafka_lag_report.storage.parquet import naming_broken_files
from kafka_lag_report.storage.reports import first_reported, page_address, stored
from kafka_lag_report.storage.snapshots import Day


def tell(job: Job, day: Day, write: Callable[[str], object] = print) -> None:
    """Print the message of the day, whatever changed, and where the pages lie."""
    if said := _message(job, day, links={}, always=True):
        write(said.body)
    for cluster in day.clusters:
        write(f"Page of {name_of(cluster)}: {page_address(job.options.output, day, cluster)}")


def serve(job: Job, day: Day) -> None:
    """Let browsers open the day's pages where they lie."""
    output = job.options.output
    if s3_place(output):
        serve_as_html((page_address(output, day, c) for c in day.clusters), s3_client())


def send(job: Job, day: Day) -> None:
    """Publish what changed since the day before; DataError if the topic refuses.

    Without a topic nothing is sent, and of a range only the newest day is news.
    """
    topic_arn = job.options.topic_arn
    if not topic_arn or day.date != job.options.dates[-1]:
        return
    if changed := summary(job, day, topic_region(topic_arn)):
        publish(changed, topic_arn, sns_client(topic_arn))


def summary(job: Job, day: Day, region: str | None) -> Message | None:
    """What changed since the day before, with links to the pages; null: nothing to tell."""
    pages = {c: link(page_address(job.options.output, day, c), region) for c in day.clusters}
    return _message(job, day, links=pages, always=job.options.always_summarise)


def _message(job: Job, day: Day, *, links: Mapping[str, str], always: bool) -> Message | None:
    # with those that have nothing today, as a collector that died is news
    asked = replace(day, clusters={**day.clusters, **day.absent})
    with naming_broken_files():
        eve = day.date - timedelta(days=1)
        previous = read_findings(_published(job, asked, eve), eve)
        today = read_findings(
            _published(job, day, day.date),
            day.date,
            first_days=first_reported(job.files, job.options.output, day),
            previous=previous,
        )
    return message(day.date, today, previous, links=links, always=always)


def _published(job: Job, day: Day, on: date) -> Mapping[str, DataFrame]:
    return {
        name: stored(job.spark, job.files, job.options.output, name, day, [on]).drop("dt")
        for name in REPORTS
    }
