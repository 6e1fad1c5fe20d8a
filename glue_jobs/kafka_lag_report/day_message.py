# SPDX-License-Identifier: Apache-2.0
"""Reads the findings of two days, and delivers the message about them to the log and to SNS."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from types import MappingProxyType
from typing import Any

from kafka_lag_report.aws import make_client, naming_refusals
from kafka_lag_report.cluster_day import Job
from kafka_lag_report.errors import DataError, UsageError
from kafka_lag_report.findings import Findings
from kafka_lag_report.message import Message, compose_message, make_link
from kafka_lag_report.read_findings import read_findings
from kafka_lag_report.read_snapshots import Day
from kafka_lag_report.report_files import is_first_day, page_address, read_published
from kafka_lag_report.sentences import word_name

# Characters that chat reads as a mention, a link or a style, and similar ones that replace them.
_PLAIN = str.maketrans("<>[]*`~", "\u2039\u203a()\u2217'\u223c")


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

    def compose(
        self,
        on: date,
        failed: Mapping[str, str],
        *,
        links: Mapping[str, str] = MappingProxyType({}),
        always: bool = False,
    ) -> Message | None:
        """Returns what changed since the day before; null if nothing did, unless `always` is set.

        `failed` names more clusters without a report. `links` has the address of each page.
        """
        failures = {**self.failed, **failed}
        return compose_message(
            on,
            self.today,
            self.previous,
            links=links,
            failed=failures,
            first=self.first,
            always=always,
        )


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
    options = job.options
    topic_arn = options.topic_arn if on == options.dates[-1] else None
    pages = {day.cluster: page_address(options.output, day) for day in days if day.source}
    if not (pages or topic_arn):
        return
    found = read_two_days(job, days)
    if pages and (said := found.compose(on, failed, always=True)):
        write(said.body)
    for cluster, address in pages.items():
        write(f"Page of {word_name(cluster)}: {address}")
    if topic_arn:
        region = topic_region(topic_arn)
        links = {cluster: make_link(address, region) for cluster, address in pages.items()}
        if changed := found.compose(on, failed, links=links, always=options.always_summarise):
            send(changed, topic_arn, make_client("sns", region))
    if found.failed:
        raise DataError(". Also: ".join(found.failed.values()))


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


def topic_region(topic_arn: str) -> str:
    """Returns the region in the ARN of an SNS topic; raises UsageError for any other text."""
    parts = topic_arn.split(":")
    whole = len(parts) == 6 and all(parts) and parts[0] == "arn" and parts[2] == "sns"  # noqa: PLR2004
    if not whole:
        raise UsageError(
            f"{topic_arn!r} is not the ARN of an SNS topic (arn:aws:sns:<region>:<account>:<name>)"
        )
    return parts[3]


def send(message: Message, topic_arn: str, client: Any) -> None:
    """Sends the message to a topic.

    Raises DataError if it is refused. The reports are published by then, and stay.
    """
    failed = f"the reports are written, but their summary could not be sent to {topic_arn}"
    with naming_refusals(
        failed, "that the topic exists and that the job may publish and use its key"
    ):
        client.publish(
            TopicArn=topic_arn,
            Subject=message.subject,
            Message=json.dumps({"default": write_for_chat(message), "email": message.body}),
            MessageStructure="json",
        )


def write_for_chat(message: Message) -> str:
    """Returns the message as a custom notification; AWS's chat integration shows no other form.

    Names of strangers may look like mentions, links or styles of the chat; these characters are
    replaced.
    """
    plain = message.body.translate(_PLAIN)
    content = {"textType": "client-markdown", "title": message.subject, "description": plain}
    return json.dumps({"version": "1.0", "source": "custom", "content": content})
