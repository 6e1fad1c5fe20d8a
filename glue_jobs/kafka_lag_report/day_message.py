# SPDX-License-Identifier: Apache-2.0
"""Reads the findings of two days, and delivers the message about them to the log and to SNS."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from types import MappingProxyType

from kafka_lag_report.cluster_day import Job
from kafka_lag_report.errors import DataError
from kafka_lag_report.findings import Findings
from kafka_lag_report.message import Message, compose_message, make_link
from kafka_lag_report.read_findings import read_findings
from kafka_lag_report.read_snapshots import Day
from kafka_lag_report.report_files import is_first_day, page_address, read_published
from kafka_lag_report.sentences import word_name
from kafka_lag_report.sns import publish, sns_client, topic_region

_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class TwoDays:
    """The findings of a day and of the day before, by cluster; a day without a report has none.

    `failed` holds, by cluster, why its reports cannot be read. `first` means that no cluster has an
    earlier report.
    """

    today: Mapping[str, Findings]
    previous: Mapping[str, Findings]
    failed: Mapping[str, str]
    first: bool


def deliver_message(
    job: Job,
    on: date,
    days: Sequence[Day],
    failed: Mapping[str, str],
    write: Callable[[str], object] = print,
) -> None:
    """Prints the date's message and the addresses of its pages, and sends changes to the topic.

    `days` are the days of clusters that were reported or that have no data; `failed` names the
    other clusters with the reason. Nothing is sent without a topic, nor for older dates of a range.
    Raises DataError after the delivery if the reports of a cluster cannot be read, and if the topic
    refuses.
    """
    topic_arn = job.options.topic_arn if on == job.options.dates[-1] else None
    there = [day for day in days if day.source]
    if not (there or topic_arn):
        return
    found = read_two_days(job, days)
    said = _compose(on, found, links={}, failed=failed, always=True)
    if said and there:
        write(said.body)
    for day in there:
        write(f"Page of {word_name(day.cluster)}: {page_address(job.options.output, day)}")
    if topic_arn:
        changed = compose_topic_message(job, on, days, found, topic_region(topic_arn), failed)
        if changed:
            publish(changed, topic_arn, sns_client(topic_arn))
    if found.failed:
        raise DataError(". Also: ".join(found.failed.values()))


def compose_topic_message(
    job: Job,
    on: date,
    days: Sequence[Day],
    found: TwoDays,
    region: str | None,
    failed: Mapping[str, str] = _NONE,
) -> Message | None:
    """Returns what changed since the day before, with links to the pages.

    Null if nothing is to be sent.
    """
    output = job.options.output
    pages = {
        day.cluster: make_link(page_address(output, day), region) for day in days if day.source
    }
    always = job.options.always_summarise
    return _compose(on, found, links=pages, failed=failed, always=always)


def _compose(
    on: date,
    found: TwoDays,
    *,
    links: Mapping[str, str],
    failed: Mapping[str, str],
    always: bool,
) -> Message | None:
    return compose_message(
        on,
        found.today,
        found.previous,
        links=links,
        failed={**found.failed, **failed},
        first=found.first,
        always=always,
    )


def read_two_days(job: Job, days: Sequence[Day]) -> TwoDays:
    """Returns the findings of the published reports.

    A cluster that fails does not affect the others. Clusters without data today are read too,
    because a collector that died must be reported.
    """
    today, previous, failed = dict[str, Findings](), dict[str, Findings](), dict[str, str]()
    for day in days:
        try:
            before = _read_findings(job, replace(day, date=day.date - timedelta(days=1)))
            now = _read_findings(job, day) if day.source else None
        except DataError as error:
            failed[day.cluster] = str(error)
            continue
        previous |= {day.cluster: before} if before else {}
        today |= {day.cluster: now} if now else {}
    output = job.options.output
    first = all(is_first_day(job.storage, output, day) for day in days if day.cluster in today)
    return TwoDays(today, previous, failed, first)


def _read_findings(job: Job, day: Day) -> Findings | None:
    output = job.options.output
    reports = read_published(job.storage, output, day)
    first_day = is_first_day(job.storage, output, day)
    return read_findings(day.cluster, day.date, reports, first_day=first_day)
