# SPDX-License-Identifier: Apache-2.0
"""The day's message, on its way to the job's log and to a topic."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from types import MappingProxyType

from kafka_lag_report.cluster_day import Job
from kafka_lag_report.errors import DataError
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
    """Findings by cluster of a day, and of the one before: empty without a report of it.

    `failed` says by cluster why its reports cannot be read. `first`: no cluster has an earlier one.
    """

    today: Mapping[str, Findings]
    previous: Mapping[str, Findings]
    failed: Mapping[str, str]
    first: bool


def deliver_message(
    job: Job, day: Day, failed: Mapping[str, str], write: Callable[[str], object] = print
) -> None:
    """Print the day's message, if it has any report, and where the pages lie; send what changed.

    `failed` are clusters without a report, and why. Without a topic nothing is sent, and of a range
    only the newest day is news. DataError once all is delivered if a cluster's reports cannot be
    read; also if the topic refuses.
    """
    topic_arn = job.options.topic_arn if day.date == job.options.dates[-1] else None
    if not (day.clusters or topic_arn):
        return
    days = read_two_days(job, day)
    said = _message(day, days, links={}, failed=failed, always=True)
    if said and day.clusters:
        write(said.body)
    for cluster in day.clusters:
        write(f"Page of {name_of(cluster)}: {page_address(job.options.output, day, cluster)}")
    if topic_arn and (changed := topic_message(job, day, days, topic_region(topic_arn), failed)):
        publish(changed, topic_arn, sns_client(topic_arn))
    if days.failed:
        raise DataError(". Also: ".join(days.failed.values()))


def topic_message(
    job: Job, day: Day, days: TwoDays, region: str | None, failed: Mapping[str, str] = _NONE
) -> Message | None:
    """What changed since the day before, with links to the pages; null: nothing to send."""
    pages = {c: link(page_address(job.options.output, day, c), region) for c in day.clusters}
    always = job.options.always_summarise
    return _message(day, days, links=pages, failed=failed, always=always)


def _message(
    day: Day,
    days: TwoDays,
    *,
    links: Mapping[str, str],
    failed: Mapping[str, str],
    always: bool,
) -> Message | None:
    return message(
        day.date,
        days.today,
        days.previous,
        links=links,
        failed={**days.failed, **failed},
        first=days.first,
        always=always,
    )


def read_two_days(job: Job, day: Day) -> TwoDays:
    """The findings of what is published, each cluster's by itself."""
    # with those that have nothing today, as a collector that died is news
    known = replace(day, clusters={**day.clusters, **day.absent})
    eve = day.date - timedelta(days=1)
    today, previous, failed = dict[str, Findings](), dict[str, Findings](), dict[str, str]()
    for cluster in known.clusters:
        try:
            before = _read(job, known, cluster, eve)
            now = _read(job, day, cluster, day.date) if cluster in day.clusters else None
        except DataError as error:
            failed[cluster] = str(error)
            continue
        previous |= {cluster: before} if before else {}
        today |= {cluster: now} if now else {}
    first = all(is_first_day(job.storage, job.options.output, day, each) for each in today)
    return TwoDays(today, previous, failed, first)


def _read(job: Job, day: Day, cluster: str, on: date) -> Findings | None:
    output = job.options.output
    reports = published(job.storage, output, day, cluster, on)
    first_day = is_first_day(job.storage, output, replace(day, date=on), cluster)
    return read_findings(cluster, on, reports, first_day=first_day)
