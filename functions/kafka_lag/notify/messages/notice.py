# SPDX-License-Identifier: Apache-2.0
"""One group's change in words: what, how far behind, which partition, whose."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag.notify.messages.telling import Notice
from kafka_lag.notify.messages.wording import (
    LONGEST_SUBJECT,
    counted,
    in_subject,
    moment,
    shown,
    span,
)
from kafka_lag.notify.news.change import Change, Row

_CLUSTER_IN_SUBJECT = 30
_WHY = {
    contract.BEYOND_END: "Its committed offset lies beyond the end of the log: was the topic made "
    "anew?",
    contract.FALLING_BEHIND: "Why: the backlog does not shrink.",
    contract.SLOW: "Why: the backlog shrinks, but would take more than ten times its age.",
    contract.NO_MEMBER: "Why: no member of the group reads it.",
}


def notice(change: Change) -> Notice:
    """The message that SNS and chat carry; a value that is unknown is not mentioned."""
    return Notice(
        subject=_subject(change),
        text="\n".join(_lines(change)),
        attributes=_attributes(change),
        thread=change.id,
    )


def worst(row: Row) -> str | None:
    """The worst partition, its leader and its member; None: no partition is to blame."""
    if row.get("worst_topic") is None:
        return None
    told = f"{shown(row['worst_topic'])} partition {row['worst_partition']}"
    leader, member = row.get("worst_leader"), row.get("worst_member")
    told += ", no leader known" if leader is None else f", led by broker {leader}"
    return told + (", no member known" if member is None else f", read by {shown(member)}")


def behind(row: Row) -> str | None:
    """Lag and age; None where neither is known."""
    lag, age = row.get("lag"), row.get("time_lag_seconds")
    told = [] if lag is None else [f"{counted(lag, 'record')} behind"]
    if age is not None and lag != 0:
        least = "at least " if row.get("time_lag_method") == contract.METHOD_AT_LEAST else ""
        told.append(f"the oldest unread for {least}{span(age)}")
    return ", ".join(told) or None


def _subject(change: Change) -> str:
    cluster = in_subject(change.cluster, _CLUSTER_IN_SUBJECT)
    start, end = f"Kafka lag {change.status}: ", f" on {cluster} ({change.kind})"
    return start + in_subject(change.group, LONGEST_SUBJECT - len(start) - len(end)) + end


def _attributes(change: Change) -> dict[str, str | tuple[str, ...]]:
    owner = change.row.get("owner")
    return {
        contract.ATTRIBUTE_CLUSTER: change.cluster,
        contract.ATTRIBUTE_GROUP: dimension_value(change.group),
        contract.ATTRIBUTE_STATUS: change.status,
        contract.ATTRIBUTE_KIND: change.kind,
        **({contract.ATTRIBUTE_OWNER: owner} if owner else {}),
    }


def _lines(change: Change) -> Iterator[str]:
    yield _what(change)
    if told := behind(change.row):
        yield f"{'When last seen' if change.kind == contract.GONE else 'Now'}: {told}."
    if change.kind != contract.RESOLVED:
        yield from _causes(change.row)
    if owner := change.row.get("owner"):
        yield f"Owner: {shown(owner)}."
    began = f" began {moment(change.incident_since)}," if change.kind != contract.GONE else ""
    yield f"Incident {change.id}{began} read at {moment(change.taken_at)}."


def _what(change: Change) -> str:
    who = f"{shown(change.group)} on {change.cluster}"
    if change.kind == contract.GONE:
        before = "" if change.before == contract.OK else f" It was {change.before}."
        return f"{who} is gone: {_why_gone(change)}. This is no recovery.{before}"
    return f"{who} is {change.status} since {moment(change.since)}, after {change.before}."


def _why_gone(change: Change) -> str:
    if change.row.get("status_reason") == contract.GONE:
        return "somebody deleted it, or its offsets expired"
    return (
        f"no run since {moment(change.since)} has it; somebody deleted it, its offsets expired, or "
        "the configuration leaves it out"
    )


def _causes(row: Row) -> Iterator[str]:
    if told := worst(row):
        yield f"Worst: {told}."
    if lost := row.get("records_lost"):
        yield f"Lost: {counted(lost, 'record')} deleted by retention before they were read."
    elif why := _WHY.get(row.get("status_reason") or ""):
        yield why
    left = row.get("seconds_until_loss")
    if left is not None and left < contract.NO_LOSS_SECONDS:
        yield f"At risk: retention may delete unread records in {span(left)}."
    if unknown := row.get("partitions_unknown"):
        yield f"Not read: {counted(unknown, 'partition')}, counted as last seen."
    # markers of transactions are never read, and leave a group that is done one behind
    if row.get("max_lag") == 1:
        yield "Hint: if the topic is written in transactions, set its allowed_lag to 1."
