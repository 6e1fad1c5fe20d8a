# SPDX-License-Identifier: Apache-2.0
"""Topics that lose records or are newly skewed, and those that are so no longer."""

import math
from collections import defaultdict
from collections.abc import Iterator

from kafka_lag_report.summary.changes.change import Change, Kind
from kafka_lag_report.summary.findings import Findings, Risk, Skew, Topic
from kafka_lag_report.summary.wording import counted, number, shown, span

LONGEST_NAME = 60


def changes(today: Findings, before: Findings) -> Iterator[Change]:
    """Of retention and of skew; nothing is over unless today knows better."""
    for topic, risk in today.risks.items():
        yield from _risk(topic, risk, before.risks.get(topic, Risk()))
    yield from _skewed(today, before)
    for topic, skew in today.skews.items():
        if not skew.skewed and _was_skewed(before, topic):
            yield Change(Kind.EVEN, topic.cluster, f"{_named(topic)}: lag is even again")


def _risk(topic: Topic, risk: Risk, was: Risk) -> Iterator[Change]:
    if risk.lost and (not was.lost or risk.records_lost > was.records_lost):
        records = counted(risk.records_lost, "record") if risk.records_lost else "records"
        more = f", {was.records_lost:,} the day before" if was.records_lost else ""
        parts = counted(risk.lost, "partition")
        text = f"{_named(topic)}: {records} of {parts} lost before they were read{more}"
        yield Change(Kind.LOST, topic.cluster, text, risk.records_lost)
    elif risk.at_risk and not (risk.lost or was.lost or was.at_risk):
        left = risk.least_seconds_until_loss
        soon = "" if left is None else f", {span(left)} left at the least"
        text = f"{_named(topic)}: {counted(risk.at_risk, 'partition')} at risk{soon}"
        yield Change(Kind.AT_RISK, topic.cluster, text, -math.inf if left is None else -left)
    elif was.lost and not risk.lost:
        rest = ", still at risk" if risk.at_risk else ""
        yield Change(Kind.SAFE, topic.cluster, f"{_named(topic)}: no records lost any more{rest}")
    elif was.at_risk and not (risk.lost or risk.at_risk):
        yield Change(Kind.SAFE, topic.cluster, f"{_named(topic)}: no longer at risk")


def _skewed(today: Findings, before: Findings) -> Iterator[Change]:
    """One for all groups of a topic that have the same cause: production skews them all."""
    alike: dict[tuple[str, str, str], list[tuple[Topic, Skew]]] = defaultdict(list)
    for topic, skew in today.skews.items():
        if skew.skewed and not _was_skewed(before, topic):
            alike[topic.cluster, topic.topic, str(skew.cause or "unknown")].append((topic, skew))
    for (cluster, _, cause), found in alike.items():
        topic, worst = max(found, key=lambda each: each[1].max_to_mean or 0)
        others = f" and {counted(len(found) - 1, 'more group')}" if len(found) > 1 else ""
        times = number(worst.max_to_mean, ".1f")
        text = f"{_named(topic)}{others}: lag is skewed, {times} times the mean; cause: {cause}"
        yield Change(Kind.SKEWED, cluster, text, worst.max_to_mean or 0)


def _was_skewed(before: Findings, topic: Topic) -> bool:
    return topic in before.skews and before.skews[topic].skewed


def _named(topic: Topic) -> str:
    return f"{shown(topic.group, LONGEST_NAME)} on {shown(topic.topic, LONGEST_NAME)}"
