# SPDX-License-Identifier: Apache-2.0
"""The day's message, on its way to the job's log and to a topic."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from types import MappingProxyType

from kafka_lag_report.cluster_day import Job
from kafka_lag_report.findings import Findings
from kafka_lag_report.message import Message, link, message
from kafka_lag_report.read_findings import read_findings
from kafka_lag_report.read_snapshots import Day
from kafka_lag_report.report_files import is_first_day, page_address, published
from kafka_lag_report.sentences import name_of
from kafka_lag_report.sns import publish, sns_client, topic_region

_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class TwoDays:
    """Findings by cluster of a day, and of the one before: empty without a report of it."""

    today: Mapping[str, Findings]
    previous: Mapping[str, Findings]


def deliver_message(
    job: Job, day: Day, failed: Mapping[str, str], write: Callable[[str], object] = print
) -> None:
    """Print the day's message, if it has any report, and where the pages lie; send what changed.

    `failed` are clusters without a report, and why. DataError if the topic refuses. Without a topic
    nothing is sent, and of a range only the newest day is news.
    """
    topic_arn = job.options.topic_arn if day.date == job.options.dates[-1] else None
    if not (day.clusters or topic_arn):
        return
    days = read_two_days(job, day)
    said = message(day.date, days.today, days.previous, links={}, failed=failed, always=True)
    if said and day.clusters:
        write(said.body)
    for cluster in day.clusters:
        write(f"Page of {name_of(cluster)}: {page_address(job.options.output, day, cluster)}")
    if not topic_arn:
        return
    if changed := topic_message(job, day, days, topic_region(topic_arn), failed):
        publish(changed, topic_arn, sns_client(topic_arn))


def topic_message(
    job: Job, day: Day, days: TwoDays, region: str | None, failed: Mapping[str, str] = _NONE
) -> Message | None:
    """What changed since the day before, with links to the pages; null: nothing to tell."""
    pages = {c: link(page_address(job.options.output, day, c), region) for c in day.clusters}
    always = job.options.always_summarise
    return message(day.date, days.today, days.previous, links=pages, failed=failed, always=always)


def read_two_days(job: Job, day: Day) -> TwoDays:
    """The findings of what is published; CorruptObjectsError names a file that cannot be read."""
    # with those that have nothing today, as a collector that died is news
    known = replace(day, clusters={**day.clusters, **day.absent})
    eve = day.date - timedelta(days=1)
    previous = {
        cluster: findings
        for cluster in known.clusters
        if (findings := _read(job, known, cluster, eve))
    }
    today = {
        cluster: findings
        for cluster in day.clusters
        if (findings := _read(job, day, cluster, day.date, previous.get(cluster)))
    }
    return TwoDays(today, previous)


def _read(
    job: Job, day: Day, cluster: str, on: date, previous: Findings | None = None
) -> Findings | None:
    output = job.options.output
    reports = published(job.storage, output, day, cluster, on)
    first_day = is_first_day(job.storage, output, replace(day, date=on), cluster)
    return read_findings(cluster, on, reports, first_day=first_day, previous=previous)
