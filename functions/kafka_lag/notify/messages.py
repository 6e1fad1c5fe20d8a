# SPDX-License-Identifier: Apache-2.0
"""Messages about changes: notices for people, events for machines; no AWS, no clock.

Subjects, texts, attributes and JSON are public interface, see docs/api.md.
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
from kafka_lag.contract.ids import hash_names
from kafka_lag.notify.changes import ENDS, TROUBLES, GroupChange
from kafka_lag.notify.texts import (
    find_lost,
    find_worst_status,
    format_kind,
    format_lag,
    format_worst,
    is_unwatched,
    write_lines,
)
from kafka_lag.wording.advice import advise
from kafka_lag.wording.evidence import read_evidence
from kafka_lag.wording.formatting import (
    format_iso_time,
    format_minute,
    format_name,
    format_quantity,
)
from kafka_lag.wording.words import find_word

# This many groups, and at least half of all, get one message together, because many groups that
# change at once usually have one cause.
_BULK_LEAST = 10
# This many groups always get one message together, because nobody reads a hundred messages, and a
# run has no time to send more.
_BULK_ALWAYS = 100
_BULK_LINES = 20
_BULK_NAME = 60
# SNS takes 256 KB of text and attributes together, and lists as JSON.
_LONGEST_LIST = 50_000
# SNS wants less than 100 characters of ASCII.
_LONGEST_SUBJECT = 99
_CLUSTER_IN_SUBJECT, _NAME_IN_SUBJECT = 30, 30
# Kafka takes names of 32,000 bytes, which would fill the 256 KB of an event.
_LONGEST_EVENT_NAME = 2_048

# The worst first.
_KINDS = (
    contract.LOSS_BEGUN,
    contract.OPENED,
    contract.WORSE,
    contract.LOSS_NEAR,
    contract.PROMISE_BROKEN,
    contract.GONE,
    contract.SKIPPED,
    contract.BETTER,
    contract.LOSS_ENDED,
    contract.LOSS_AVERTED,
    contract.PROMISE_KEPT,
    contract.RESOLVED,
    contract.CAUGHT_UP,
)
_STATUSES = (contract.ERR, contract.WARN)
# An owner is paged for the same changes as by the alarms any-group, any-sla and any-loss: for these
# kinds whatever the status is, and for these statuses if the change is not an end.
_PAGED_KINDS = (contract.LOSS_BEGUN, contract.LOSS_NEAR, contract.PROMISE_BROKEN)
_PAGED_STATUSES = (contract.ERR, contract.STATUS_GONE)
_OVER = (contract.BETTER, *ENDS)
_INCIDENT_NUMBERS = (
    "incident_peak_lag",
    "incident_peak_time_lag",
    "incident_lost",
    "incident_skipped",
)
_EVENT_NUMBERS = (
    "lag",
    "max_lag",
    "time_lag_seconds",
    "time_lag_error_seconds",
    "drain_seconds",
    "seconds_until_loss",
    "records_lost",
    "records_skipped",
    "members",
    "partitions",
    "partitions_unknown",
    "complete",
    "sla_seconds",
)
_EVENT_TIMES = ("worst_status_since", *(trouble.held_since for trouble in TROUBLES))
_EVENT_WORST = ("worst_topic", "worst_partition", "worst_leader", "worst_member")


@dataclass(frozen=True, slots=True)
class Notice:
    """A message for people: `subject` is ASCII under 100 characters, `text` a few lines.

    Subscribers filter by `attributes`, in which a tuple is a list of values. All notices of an
    incident share `thread`.
    """

    subject: str
    text: str
    attributes: Mapping[str, str | tuple[str, ...]]
    thread: str


@dataclass(frozen=True, slots=True)
class StatusEvent:
    """One change for machines. `id`: its `message_id`; `detail`: JSON; `taken_at`: ms UTC."""

    id: str
    detail: str
    taken_at: int


@dataclass(frozen=True, slots=True)
class StatusMessage:
    """A notice for people and the events that belong to it, sent once by its `id`."""

    id: str
    notice: Notice
    events: tuple[StatusEvent, ...]


def build_messages(changes: Sequence[GroupChange], groups: int) -> list[StatusMessage]:
    """Returns the messages of one run, the worst first: one per group, or one for a bulk change.

    `groups` is the number of groups in the run.
    """
    by_group: dict[str, list[GroupChange]] = {}
    for change in sorted(changes, key=_rank_severity):
        by_group.setdefault(change.group, []).append(change)
    changed = [_put_ends_first(of_group) for of_group in by_group.values()]
    if len(changed) >= _BULK_ALWAYS or (len(changed) >= _BULK_LEAST and 2 * len(changed) >= groups):
        return [_build_bulk_message(changed, groups)]
    return [
        StatusMessage(
            _join_ids(of_group), _build_notice(of_group), tuple(map(build_event, of_group))
        )
        for of_group in changed
    ]


def _rank_severity(change: GroupChange) -> tuple[bool, int, int, int, str]:
    """Returns a sort key: groups that have lost records first, then kind, status, lag and name."""
    return (
        change.kind in _OVER or not find_lost(change),
        _KINDS.index(change.kind),
        _STATUSES.index(change.status) if change.status in _STATUSES else len(_STATUSES),
        -(change.row.get("lag") or 0),
        change.group,
    )


def _put_ends_first(changes: Sequence[GroupChange]) -> list[GroupChange]:
    """Returns one group's changes; a trouble's end stands right before its new beginning."""
    begun = {change.kind for change in changes}
    ends = {trouble.begun: trouble.ended for trouble in TROUBLES if trouble.begun in begun}
    ordered: list[GroupChange] = []
    for change in changes:
        if change.kind not in ends.values():
            before = ends.get(change.kind)
            ordered += [each for each in changes if each.kind == before]
            ordered.append(change)
    return ordered


def _join_ids(changes: Sequence[GroupChange]) -> str:
    """Returns the id of one message about all these changes; other changes have another id."""
    first, *more = (change.message_id for change in changes)
    return "+".join([first, *(id_.partition("-")[2] for id_ in more)])


def _build_notice(changes: Sequence[GroupChange]) -> Notice:
    """Returns the notice of one group's changes; it does not mention unknown values."""
    return Notice(
        subject=_format_subject(changes),
        text="\n".join(write_lines(changes)),
        attributes=_build_attributes(changes),
        thread=changes[0].incident_id,
    )


def _format_subject(changes: Sequence[GroupChange]) -> str:
    """Returns status, name, what the consumer does, and all kinds of changes if there is room."""
    first = changes[0]
    # If only an SLA is broken, OK would say that nothing is wrong.
    changes_status = any(change.changes_status for change in changes)
    has_status = (changes_status or first.status != contract.OK) and not is_unwatched(first)
    status = f" {first.status}" if has_status else ""
    start = f"Kafka lag{status}: "
    words = [find_word(worst)] if (worst := find_worst_status(first)) else []
    if any(change.is_catching_up for change in changes) and first.row.get("lag"):
        words = [f"{format_quantity(first.row['lag'], 'record')} still to read"]
    # The worst comes first, and OK alone would hide it.
    if lost := find_lost(first):
        words.insert(0, f"at least {format_quantity(lost, 'record')} lost")
    word = f": {', '.join(words)}" if words else ""
    end = f" on {_format_ascii_name(first.cluster, _CLUSTER_IN_SUBJECT)}"
    # The longest ending that leaves room for the name.
    least = min(_NAME_IN_SUBJECT, len(_format_ascii_name(first.group, _NAME_IN_SUBJECT)))
    for ending in _list_endings(changes, word, status):
        room = _LONGEST_SUBJECT - len(start + end + ending)
        if room >= least:
            break
    return start + _format_ascii_name(first.group, room) + end + ending


def _list_endings(changes: Sequence[GroupChange], word: str, status: str) -> Iterator[str]:
    """Yields endings of a subject, the longest first: what the consumer does, and what changed."""
    first, *more = changes
    all_kinds = ", ".join(map(format_kind, changes))
    some = f"{format_kind(first)} and {len(more)} more" if more else all_kinds
    for kinds in dict.fromkeys((all_kinds, some)):
        yield f"{word} ({kinds})" if status else f"{word}: {kinds}"
    yield f" ({some})" if status else f": {some}"


def _build_attributes(changes: Sequence[GroupChange]) -> dict[str, str | tuple[str, ...]]:
    first = changes[0]
    owner, worst = first.row.get("owner"), find_worst_status(first)
    kinds = tuple(change.kind for change in changes)
    return {
        contract.ATTRIBUTE_CLUSTER: first.cluster,
        contract.ATTRIBUTE_GROUP: dimension_value(first.group),
        contract.ATTRIBUTE_STATUS: first.status,
        contract.ATTRIBUTE_KIND: kinds if len(kinds) > 1 else first.kind,
        **({contract.ATTRIBUTE_WORST_STATUS: worst} if worst else {}),
        **({contract.ATTRIBUTE_OWNER: owner} if owner else {}),
        **_build_owner_attributes(changes),
    }


def _build_owner_attributes(changes: Sequence[GroupChange]) -> dict[str, tuple[str, ...]]:
    """Returns two lists of owners: owners to be paged, and owners of groups with an end."""
    over = [change.row.get("owner") for change in changes if change.kind in _OVER]
    paged = [
        change.row.get("owner")
        for change in changes
        if change.kind in _PAGED_KINDS
        or (change.status in _PAGED_STATUSES and change.kind not in _OVER)
    ]
    return _build_list_attribute(contract.ATTRIBUTE_PAGE_OWNERS, paged) | _build_list_attribute(
        contract.ATTRIBUTE_END_OWNERS, over
    )


def _build_bulk_message(changed: Sequence[Sequence[GroupChange]], groups: int) -> StatusMessage:
    """Returns one notice of all groups' changes, the worst first, and an event for each change."""
    first = changed[0][0]
    message_id = f"storm-{hash_names(first.cluster, 'storm', first.taken_at)}"
    changes = [change for of_group in changed for change in of_group]
    notice = Notice(
        subject=_format_bulk_subject(changed, groups),
        text="\n".join(_write_bulk_lines(changed, groups)),
        attributes=_build_bulk_attributes(changes),
        thread=message_id,
    )
    events = tuple(build_event(change, bulk_id=message_id) for change in changes)
    return StatusMessage(message_id, notice, events)


def _format_bulk_subject(changed: Sequence[Sequence[GroupChange]], groups: int) -> str:
    cluster = _format_ascii_name(changed[0][0].cluster, _CLUSTER_IN_SUBJECT)
    counts = Counter(_name_change(of_group[0]) for of_group in changed)
    by_change = ", ".join(f"{count} {name}" for name, count in counts.items())
    lost = sum(find_lost(of_group[0]) for of_group in changed)
    first = f"at least {format_quantity(lost, 'record')} lost, " if lost else ""
    subject = f"Kafka lag storm on {cluster}: {first}{len(changed)} of {groups} groups"
    return f"{subject} ({by_change})"[:_LONGEST_SUBJECT]


def _name_change(change: GroupChange) -> str:
    """Returns the new status, or the kind of the change if the status is the same."""
    if change.changes_status and not is_unwatched(change):
        return change.status
    return format_kind(change)


def _build_bulk_attributes(changes: Sequence[GroupChange]) -> dict[str, str | tuple[str, ...]]:
    """Returns all statuses, kinds, groups and owners, so that a filter by one finds the notice."""
    values: dict[str, list[str | None]] = {
        contract.ATTRIBUTE_STATUS: [change.status for change in changes],
        contract.ATTRIBUTE_KIND: [change.kind for change in changes],
        contract.ATTRIBUTE_WORST_STATUS: [find_worst_status(change) for change in changes],
        contract.ATTRIBUTE_GROUP: [dimension_value(change.group) for change in changes],
        contract.ATTRIBUTE_OWNER: [change.row.get("owner") for change in changes],
    }
    attributes: dict[str, str | tuple[str, ...]] = {contract.ATTRIBUTE_CLUSTER: changes[0].cluster}
    for name, each in values.items():
        attributes |= _build_list_attribute(name, each)
    return attributes | _build_owner_attributes(changes)


def _build_list_attribute(name: str, values: Sequence[str | None]) -> dict[str, tuple[str, ...]]:
    """Returns an attribute with each value once, up to its longest size; none without a value."""
    fitting, room = [], _LONGEST_LIST
    for value in dict.fromkeys(value for value in values if value):
        room -= len(json.dumps(value)) + len(", ")
        if room < 0:
            break
        fitting.append(value)
    return {name: tuple(fitting)} if fitting else {}


def _write_bulk_lines(changed: Sequence[Sequence[GroupChange]], groups: int) -> Iterator[str]:
    first = changed[0][0]
    kinds = Counter(format_kind(change) for of_group in changed for change in of_group)
    by_kind = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    yield (
        f"{len(changed):,} of {format_quantity(groups, 'group')} on {first.cluster} changed in "
        f"the run of {format_minute(first.taken_at)}: {by_kind}."
    )
    yield from _write_common_leader([of_group[0] for of_group in changed])
    for of_group in changed[:_BULK_LINES]:
        yield f"- {_write_bulk_line(of_group)}"
    if len(changed) > _BULK_LINES:
        yield f"and {format_quantity(len(changed) - _BULK_LINES, 'more group')}"


def _write_bulk_line(changes: Sequence[GroupChange]) -> str:
    first = changes[0]
    row, worst_status = first.row, find_worst_status(first)
    owner, lost = row.get("owner"), find_lost(first)
    kinds = " and ".join(map(format_kind, changes))
    parts = [
        f"{format_name(first.group, _BULK_NAME)} {kinds}{_format_bulk_status(changes)}",
        worst_status and find_word(worst_status),
        f"at least {format_quantity(lost, 'record')} lost" if lost else None,
        format_lag(first),
        None if first.kind in ENDS else format_worst(row),
        owner and f"owner {format_name(owner, _BULK_NAME)}",
        f"incident {first.incident_id}",
    ]
    return "; ".join(part for part in parts if part)


def _format_bulk_status(changes: Sequence[GroupChange]) -> str:
    """Returns the status and the previous one; empty if they are the same."""
    change = next((each for each in changes if each.changes_status), None)
    if change is None:
        return ""
    if is_unwatched(change):
        return f", last known {change.previous_status}"
    return f", {change.status} after {change.previous_status}"


def _write_common_leader(changes: Sequence[GroupChange]) -> Iterator[str]:
    """Yields the broker that leads most of the groups' worst partitions, if there is one."""
    leaders = Counter(
        change.row["worst_leader"]
        for change in changes
        if change.row.get("worst_leader") is not None and change.kind not in ENDS
    )
    for broker, count in leaders.most_common(1):
        if count > 1 and 2 * count > leaders.total():
            yield f"Broker {broker} leads the worst partition of {count:,} of them."


def build_event(change: GroupChange, bulk_id: str | None = None) -> StatusEvent:
    """Returns the event with EventBridge's `detail`, in which unknown values are null.

    `bulk_id` is the id of the message about a bulk change.
    """
    row, incident = change.row, change.incident
    detail = {
        "schema_version": contract.EVENT_SCHEMA_VERSION,
        "message_id": change.message_id,
        "incident_id": change.incident_id,
        "storm_id": bulk_id,
        "kind": change.kind,
        "cluster": change.cluster,
        "consumer_group": _cut_name(change.group),
        "owner": _cut_name(row.get("owner")),
        "runbook_url": row.get("runbook_url"),
        "status": change.status,
        "previous_status": change.previous_status,
        "status_reason": row.get("status_reason"),
        "since": format_iso_time(change.since, "milliseconds"),
        "incident_since": format_iso_time(change.incident_since, "milliseconds"),
        "incident_from": _format_optional_time(incident.get("incident_from")),
        "incident_until": _format_optional_time(row.get("incident_until")),
        "ended_since": _format_optional_time(change.ended_since),
        "taken_at": format_iso_time(change.taken_at, "milliseconds"),
        "worst_status": row.get("worst_status"),
        **{name: _null_unless_finite(row.get(name)) for name in _EVENT_NUMBERS},
        **{name: _null_unless_finite(incident.get(name)) for name in _INCIDENT_NUMBERS},
        **{name: _format_optional_time(row.get(name)) for name in _EVENT_TIMES},
        "skip_reason": row.get("skip_reason"),
        "time_lag_method": row.get("time_lag_method"),
        "unusual": row.get("unusual"),
        "cause": row.get("cause"),
        "cause_since": _format_optional_time(row.get("cause_since")),
        "evidence": {name: _null_unless_finite(each) for name, each in read_evidence(row).items()},
        "advice": None if change.kind == contract.GONE else advise(row),
        "worst": {name.removeprefix("worst_"): _cut_name(row.get(name)) for name in _EVENT_WORST},
    }
    text = json.dumps(detail, ensure_ascii=False, allow_nan=False)
    return StatusEvent(change.message_id, text, change.taken_at)


def _format_optional_time(ms: int | None) -> str | None:
    return None if ms is None else format_iso_time(ms, "milliseconds")


def _null_unless_finite(value: Any) -> Any:
    """Returns None for infinity and NaN, which JSON does not have."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cut_name(value: Any) -> Any:
    return value[:_LONGEST_EVENT_NAME] if isinstance(value, str) else value


def _format_ascii_name(name: str, longest: int) -> str:
    """Returns the name in printable ASCII."""
    return format_name(name, longest).encode("ascii", "replace").decode()
