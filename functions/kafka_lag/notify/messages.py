# SPDX-License-Identifier: Apache-2.0
"""Status changes as messages: text for people, JSON for machines; no AWS, no clock.

Subjects, texts, attributes and JSON are public interface, see docs/notifications.md.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag.formatting import (
    cut_end,
    escape_name,
    format_iso_time,
    format_minute,
    format_quantity,
    format_short_duration,
    question_mark,
)
from kafka_lag.notify.changes import Row, StatusChange, hash_incident

# So many, and at least half of all groups, are a bulk change: many groups at once have one cause.
_BULK_LEAST = 10
# So many are one in any case: nobody reads a hundred messages, and no run has the time for more.
_BULK_ALWAYS = 100
_BULK_LINES = 20
_BULK_NAME = 60
# SNS takes 256 KB of text and attributes together, and lists as JSON.
_LONGEST_LIST = 50_000
# SNS wants less than 100 characters of ASCII.
_LONGEST_SUBJECT = 99
_CLUSTER_IN_SUBJECT = 30
# Kafka takes names of 32,000 bytes; nobody reads them whole.
_LONGEST_NAME = 200
# So that such names do not fill the 256 KB of an event.
_LONGEST_EVENT_NAME = 2_048

# The worst first.
_KINDS = (
    contract.OPENED,
    contract.WORSE,
    contract.GONE,
    contract.BETTER,
    contract.RESOLVED,
)
_STATUSES = (contract.ERR, contract.WARN)
_REASONS = {
    contract.BEYOND_END: "Its committed offset lies beyond the end of the log: was the topic made "
    "anew?",
    contract.FALLING_BEHIND: "Why: the backlog does not shrink.",
    contract.SLOW: "Why: the backlog shrinks, but would take more than ten times its age.",
    contract.NO_MEMBER: "Why: no member of the group reads it.",
}
_UNWATCHED = (contract.UNWATCHED, contract.TOPIC_UNWATCHED)
_EVENT_NUMBERS = (
    "lag",
    "max_lag",
    "time_lag_seconds",
    "time_lag_error_seconds",
    "drain_seconds",
    "seconds_until_loss",
    "records_lost",
    "members",
    "partitions",
    "partitions_unknown",
    "complete",
)
_EVENT_WORST = ("worst_topic", "worst_partition", "worst_leader", "worst_member")


@dataclass(frozen=True, slots=True)
class Notice:
    """For people: `subject` is printable ASCII under 100 characters, `text` a few lines.

    `attributes` are what subscribers filter by, a tuple being a list of values; `thread` is shared
    by all notices of an incident.
    """

    subject: str
    text: str
    attributes: Mapping[str, str | tuple[str, ...]]
    thread: str


@dataclass(frozen=True, slots=True)
class StatusEvent:
    """For machines: `id` is its `message_id`, `detail` is JSON, `taken_at` ms UTC."""

    id: str
    detail: str
    taken_at: int


@dataclass(frozen=True, slots=True)
class StatusMessage:
    """A notice for people and the events that belong to it; claimed by `id`, sent once."""

    id: str
    notice: Notice
    events: tuple[StatusEvent, ...]


def build_messages(changes: Sequence[StatusChange], groups: int) -> list[StatusMessage]:
    """The messages of one run, the worst first: one a change, or one for a bulk change.

    `groups` is how many the run has.
    """
    changes = sorted(changes, key=_rank_severity)
    if len(changes) >= _BULK_ALWAYS or (len(changes) >= _BULK_LEAST and 2 * len(changes) >= groups):
        return [_build_bulk_message(changes, groups)]
    return [
        StatusMessage(change.message_id, _build_notice(change), (build_event(change),))
        for change in changes
    ]


def _rank_severity(change: StatusChange) -> tuple[int, int, int, str]:
    """Sorts by kind, then by status, then by lag, then by name."""
    return (
        _KINDS.index(change.kind),
        _STATUSES.index(change.status) if change.status in _STATUSES else len(_STATUSES),
        -(change.row.get("lag") or 0),
        change.group,
    )


def _build_notice(change: StatusChange) -> Notice:
    """One group's change; a value that is unknown is not mentioned."""
    return Notice(
        subject=_format_subject(change),
        text="\n".join(_write_lines(change)),
        attributes=_build_attributes(change),
        thread=change.incident_id,
    )


def _format_subject(change: StatusChange) -> str:
    cluster = _format_ascii_name(change.cluster, _CLUSTER_IN_SUBJECT)
    start, end = f"Kafka lag {change.status}: ", f" on {cluster} ({change.kind})"
    return start + _format_ascii_name(change.group, _LONGEST_SUBJECT - len(start) - len(end)) + end


def _build_attributes(change: StatusChange) -> dict[str, str | tuple[str, ...]]:
    owner = change.row.get("owner")
    return {
        contract.ATTRIBUTE_CLUSTER: change.cluster,
        contract.ATTRIBUTE_GROUP: dimension_value(change.group),
        contract.ATTRIBUTE_STATUS: change.status,
        contract.ATTRIBUTE_KIND: change.kind,
        **({contract.ATTRIBUTE_OWNER: owner} if owner else {}),
    }


def _write_lines(change: StatusChange) -> Iterator[str]:
    yield _write_headline(change)
    # What is still watched of such a group is well, and not what the message is about.
    is_watched = change.row.get("status_reason") not in _UNWATCHED
    if is_watched and (lag := _format_lag(change.row)):
        yield f"{'When last seen' if change.kind == contract.GONE else 'Now'}: {lag}."
    if is_watched and change.kind != contract.RESOLVED:
        yield from _write_causes(change.row)
    if owner := change.row.get("owner"):
        yield f"Owner: {_format_name(owner)}."
    began = (
        f" began {format_minute(change.incident_since)}," if change.kind != contract.GONE else ""
    )
    yield f"Incident {change.incident_id}{began} read at {format_minute(change.taken_at)}."


def _write_headline(change: StatusChange) -> str:
    group = f"{_format_name(change.group)} on {change.cluster}"
    previous = change.previous_status
    if change.kind == contract.GONE:
        incident = "" if previous == contract.OK else f" It was {previous}."
        return f"{group} is {_explain_end(change)}. This is no recovery.{incident}"
    return f"{group} is {change.status} since {format_minute(change.since)}, after {previous}."


def _explain_end(change: StatusChange) -> str:
    reason = change.row.get("status_reason")
    if reason == contract.GONE:
        return "gone: somebody deleted it, or its offsets expired"
    if reason in _UNWATCHED:
        return f"no longer watched: {_explain_unwatched(change)}"
    return (
        f"gone: no run since {format_minute(change.since)} has it; somebody deleted it, its "
        "offsets expired, or the configuration leaves it out"
    )


def _explain_unwatched(change: StatusChange) -> str:
    row = change.row
    is_topic = row["status_reason"] == contract.TOPIC_UNWATCHED
    what = f"topic {_format_name(row['worst_topic'])}" if is_topic else "it"
    since = format_minute(change.since - contract.UNWATCHED_AFTER_MS)
    return (
        f"{what} is unread since {since} or earlier, and no broker says that it was deleted. Give "
        "the reporter its right to Describe back, or deny the name in its configuration"
    )


def _write_causes(row: Row) -> Iterator[str]:
    if worst := _format_worst(row):
        yield f"Worst: {worst}."
    if lost := row.get("records_lost"):
        yield f"Lost: {format_quantity(lost, 'record')} deleted by retention before they were read."
    elif reason := _REASONS.get(row.get("status_reason") or ""):
        yield reason
    left = row.get("seconds_until_loss")
    if left is not None and left < contract.NO_LOSS_SECONDS:
        yield f"At risk: retention may delete unread records in {format_short_duration(left)}."
    if unknown := row.get("partitions_unknown"):
        yield f"Not read: {format_quantity(unknown, 'partition')}, counted as last seen."
    # markers of transactions are never read, and leave a group that is done one behind
    if row.get("max_lag") == 1:
        yield "Hint: if the topic is written in transactions, set its allowed_lag to 1."


def _format_worst(row: Row) -> str | None:
    """The worst partition, its leader and its member; None: no partition is the cause."""
    if row.get("worst_topic") is None:
        return None
    worst = f"{_format_name(row['worst_topic'])} partition {row['worst_partition']}"
    leader, member = row.get("worst_leader"), row.get("worst_member")
    worst += ", no leader known" if leader is None else f", led by broker {leader}"
    return worst + (", no member known" if member is None else f", read by {_format_name(member)}")


def _format_lag(row: Row) -> str | None:
    """Lag and age; None where neither is known."""
    lag, age = row.get("lag"), row.get("time_lag_seconds")
    parts = [] if lag is None else [f"{format_quantity(lag, 'record')} behind"]
    if age is not None and lag != 0:
        least = "at least " if row.get("time_lag_method") == contract.METHOD_AT_LEAST else ""
        parts.append(f"the oldest unread for {least}{format_short_duration(age)}")
    return ", ".join(parts) or None


def _build_bulk_message(changes: Sequence[StatusChange], groups: int) -> StatusMessage:
    """One notice of all changes, the worst first as they come, and an event of each."""
    first = changes[0]
    message_id = f"storm-{hash_incident(first.cluster, 'storm', first.taken_at)}"
    notice = Notice(
        subject=_format_bulk_subject(changes, groups),
        text="\n".join(_write_bulk_lines(changes, groups)),
        attributes=_build_bulk_attributes(changes),
        thread=message_id,
    )
    events = tuple(build_event(change, bulk_id=message_id) for change in changes)
    return StatusMessage(message_id, notice, events)


def _format_bulk_subject(changes: Sequence[StatusChange], groups: int) -> str:
    cluster = _format_ascii_name(changes[0].cluster, _CLUSTER_IN_SUBJECT)
    counts = Counter(change.status for change in changes)
    by_status = ", ".join(f"{count} {status}" for status, count in counts.items())
    subject = f"Kafka lag storm on {cluster}: {len(changes)} of {groups} groups ({by_status})"
    return subject[:_LONGEST_SUBJECT]


def _build_bulk_attributes(changes: Sequence[StatusChange]) -> dict[str, str | tuple[str, ...]]:
    """All statuses, kinds, groups and owners, so that a filter by one of them finds it."""
    groups = [dimension_value(change.group) for change in changes]
    owners = [change.row.get("owner") for change in changes]
    return {
        contract.ATTRIBUTE_CLUSTER: changes[0].cluster,
        **_build_list_attribute(contract.ATTRIBUTE_STATUS, [change.status for change in changes]),
        **_build_list_attribute(contract.ATTRIBUTE_KIND, [change.kind for change in changes]),
        **_build_list_attribute(contract.ATTRIBUTE_GROUP, groups),
        **_build_list_attribute(contract.ATTRIBUTE_OWNER, owners),
    }


def _build_list_attribute(name: str, values: Sequence[str | None]) -> dict[str, tuple[str, ...]]:
    """Each value once, as many as there is room for; none: no attribute."""
    fitting, room = [], _LONGEST_LIST
    for value in dict.fromkeys(value for value in values if value):
        room -= len(json.dumps(value)) + len(", ")
        if room < 0:
            break
        fitting.append(value)
    return {name: tuple(fitting)} if fitting else {}


def _write_bulk_lines(changes: Sequence[StatusChange], groups: int) -> Iterator[str]:
    first = changes[0]
    kinds = Counter(change.kind for change in changes)
    by_kind = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    yield (
        f"{len(changes):,} of {format_quantity(groups, 'group')} on {first.cluster} changed in "
        f"the run of {format_minute(first.taken_at)}: {by_kind}."
    )
    yield from _write_common_leader(changes)
    for change in changes[:_BULK_LINES]:
        yield f"- {_write_bulk_line(change)}"
    if len(changes) > _BULK_LINES:
        yield f"and {format_quantity(len(changes) - _BULK_LINES, 'more group')}"


def _write_bulk_line(change: StatusChange) -> str:
    owner = change.row.get("owner")
    group = _format_name(change.group, _BULK_NAME)
    parts = [
        f"{group} {change.kind}, {change.status} after {change.previous_status}",
        _format_lag(change.row),
        None if change.kind == contract.RESOLVED else _format_worst(change.row),
        owner and f"owner {_format_name(owner, _BULK_NAME)}",
        f"incident {change.incident_id}",
    ]
    return "; ".join(part for part in parts if part)


def _write_common_leader(changes: Sequence[StatusChange]) -> Iterator[str]:
    """The broker to look at first, where most worst partitions have one."""
    leaders = Counter(
        change.row["worst_leader"]
        for change in changes
        if change.row.get("worst_leader") is not None and change.kind != contract.RESOLVED
    )
    for broker, count in leaders.most_common(1):
        if count > 1 and 2 * count > leaders.total():
            yield f"Broker {broker} leads the worst partition of {count:,} of them."


def build_event(change: StatusChange, bulk_id: str | None = None) -> StatusEvent:
    """EventBridge's `detail`, unknown values as null; `bulk_id` is that of a bulk change."""
    detail = {
        "schema_version": contract.EVENT_SCHEMA_VERSION,
        "message_id": change.message_id,
        "incident_id": change.incident_id,
        "storm_id": bulk_id,
        "kind": change.kind,
        "cluster": change.cluster,
        "consumer_group": _cut_name(change.group),
        "owner": _cut_name(change.row.get("owner")),
        "status": change.status,
        "previous_status": change.previous_status,
        "status_reason": change.row.get("status_reason"),
        "since": format_iso_time(change.since, "milliseconds"),
        "incident_since": format_iso_time(change.incident_since, "milliseconds"),
        "taken_at": format_iso_time(change.taken_at, "milliseconds"),
        **{name: _null_unless_finite(change.row.get(name)) for name in _EVENT_NUMBERS},
        "time_lag_method": change.row.get("time_lag_method"),
        "worst": {
            name.removeprefix("worst_"): _cut_name(change.row.get(name)) for name in _EVENT_WORST
        },
    }
    text = json.dumps(detail, ensure_ascii=False, allow_nan=False)
    return StatusEvent(change.message_id, text, change.taken_at)


def _null_unless_finite(value: Any) -> Any:
    """JSON has no word for what is beyond all numbers."""
    return value if value is None or math.isfinite(value) else None


def _cut_name(value: Any) -> Any:
    return value[:_LONGEST_EVENT_NAME] if isinstance(value, str) else value


def _format_name(name: str, longest: int = _LONGEST_NAME) -> str:
    return cut_end(escape_name(name, question_mark, "(no name)"), longest)


def _format_ascii_name(name: str, longest: int) -> str:
    """The name in printable ASCII."""
    return _format_name(name, longest).encode("ascii", "replace").decode()
