# SPDX-License-Identifier: Apache-2.0
"""What changed, as messages: text for people, JSON for machines; no AWS, no clock.

Subjects, texts, attributes and JSON are public interface, see docs/notifications.md.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag.contract.words import MEANINGS, find_word
from kafka_lag.formatting import (
    cut_end,
    escape_name,
    format_iso_time,
    format_minute,
    format_quantity,
    format_rate,
    format_short_duration,
    question_mark,
)
from kafka_lag.notify.changes import (
    ENDS,
    LOSS,
    PROMISE,
    RISK,
    TROUBLES,
    GroupChange,
    OpenTrouble,
    Row,
    Trouble,
    hash_incident,
)

# So many, and at least half of all groups, are a bulk change: many groups at once have one cause.
_BULK_LEAST = 10
# So many are one in any case: nobody reads a hundred messages, and no run has the time for more.
_BULK_ALWAYS = 100
_BULK_LINES = 20
_BULK_NAME = 60
# What is worked off sooner is not worth a word.
_SHORT_DRAIN_SECONDS = 60.0
# SNS takes 256 KB of text and attributes together, and lists as JSON.
_LONGEST_LIST = 50_000
# SNS wants less than 100 characters of ASCII.
_LONGEST_SUBJECT = 99
_CLUSTER_IN_SUBJECT, _NAME_IN_SUBJECT = 30, 30
# Kafka takes names of 32,000 bytes; nobody reads them whole.
_LONGEST_NAME = 200
# So that such names do not fill the 256 KB of an event.
_LONGEST_EVENT_NAME = 2_048

# The worst first.
_KINDS = (
    contract.LOSS_BEGUN,
    contract.OPENED,
    contract.WORSE,
    contract.LOSS_NEAR,
    contract.PROMISE_BROKEN,
    contract.GONE,
    contract.BETTER,
    contract.LOSS_ENDED,
    contract.LOSS_AVERTED,
    contract.PROMISE_KEPT,
    contract.RESOLVED,
)
_STATUSES = (contract.ERR, contract.WARN)
# What to do about each worst_status.
_START = "start its consumers, or delete the group if nobody needs it"
_SPEED_UP = "add consumers, as many as there are partitions at most, or find the slow step"
# Those that rates explain.
_BY_RATES = (contract.FALLING_BEHIND, contract.SLOW)
_TO_DO = {
    contract.STOPPED: _START,
    contract.STALLED: "see the member's log: usually one record fails again and again, or a call "
    "hangs",
    contract.REWOUND: "ask who set its offsets back; if it was meant, it catches up by itself",
    contract.BEYOND_END: "set the group's offsets anew",
    contract.FALLING_BEHIND: _SPEED_UP,
    contract.SLOW: _SPEED_UP,
    contract.NO_MEMBER: _START,
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
    "sla_seconds",
)
_EVENT_TIMES = ("worst_status_since", *(trouble.held_since for trouble in TROUBLES))
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
    """For machines, of one change: `id` is its `message_id`, `detail` JSON, `taken_at` ms UTC."""

    id: str
    detail: str
    taken_at: int


@dataclass(frozen=True, slots=True)
class StatusMessage:
    """A notice for people and the events that belong to it; claimed by `id`, sent once."""

    id: str
    notice: Notice
    events: tuple[StatusEvent, ...]


def build_messages(changes: Sequence[GroupChange], groups: int) -> list[StatusMessage]:
    """The messages of one run, the worst first: one a group, or one for a bulk change.

    `groups` is how many the run has.
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


def _rank_severity(change: GroupChange) -> tuple[int, int, int, str]:
    """Sorts by kind, then by status, then by lag, then by name."""
    return (
        _KINDS.index(change.kind),
        _STATUSES.index(change.status) if change.status in _STATUSES else len(_STATUSES),
        -(change.row.get("lag") or 0),
        change.group,
    )


def _put_ends_first(changes: Sequence[GroupChange]) -> list[GroupChange]:
    """One group's changes, but what ended stands right before what began anew."""
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
    """The id of one message about all of them: no other ones have it, so that none is left out."""
    first, *more = (change.message_id for change in changes)
    return "+".join([first, *(id_.partition("-")[2] for id_ in more)])


def _build_notice(changes: Sequence[GroupChange]) -> Notice:
    """One group's changes, the worst first; a value that is unknown is not mentioned."""
    return Notice(
        subject=_format_subject(changes),
        text="\n".join(_write_lines(changes)),
        attributes=_build_attributes(changes),
        thread=changes[0].incident_id,
    )


def _format_subject(changes: Sequence[GroupChange]) -> str:
    """Status, name, what the consumer does, and all kinds of changes if there is room."""
    first, *more = changes
    # Where only a promise is broken, OK would say that nothing is.
    changes_status = any(change.status != change.previous_status for change in changes)
    status = f" {first.status}" if changes_status or first.status != contract.OK else ""
    start = f"Kafka lag{status}: "
    word = f": {find_word(worst)}" if (worst := _find_worst_status(first)) else ""
    end = f" on {_format_ascii_name(first.cluster, _CLUSTER_IN_SUBJECT)}{word}"
    kinds = f" ({', '.join(_format_kind(change.kind) for change in changes)})"
    if len(start + end + kinds) > _LONGEST_SUBJECT - _NAME_IN_SUBJECT:
        kinds = f" ({_format_kind(first.kind)}{f' +{len(more)}' if more else ''})"
    room = _LONGEST_SUBJECT - len(start + end + kinds)
    return start + _format_ascii_name(first.group, room) + end + kinds


def _format_kind(kind: str) -> str:
    return kind.replace("_", " ")


def _find_worst_status(change: GroupChange) -> str | None:
    """What the consumer does, unless the change is that all is well, or nobody knows any more."""
    if change.kind in (contract.RESOLVED, contract.GONE):
        return None
    worst: str | None = change.row.get("worst_status")
    return worst if worst in MEANINGS else None


def _build_attributes(changes: Sequence[GroupChange]) -> dict[str, str | tuple[str, ...]]:
    first = changes[0]
    owner, worst = first.row.get("owner"), _find_worst_status(first)
    kinds = tuple(change.kind for change in changes)
    return {
        contract.ATTRIBUTE_CLUSTER: first.cluster,
        contract.ATTRIBUTE_GROUP: dimension_value(first.group),
        contract.ATTRIBUTE_STATUS: first.status,
        contract.ATTRIBUTE_KIND: kinds if len(kinds) > 1 else first.kind,
        **({contract.ATTRIBUTE_WORST_STATUS: worst} if worst else {}),
        **({contract.ATTRIBUTE_OWNER: owner} if owner else {}),
    }


def _write_lines(changes: Sequence[GroupChange]) -> Iterator[str]:
    first, kinds = changes[0], {change.kind for change in changes}
    row, is_gone = first.row, first.kind == contract.GONE
    for change in changes:
        yield _write_headline(change)
    # What is still watched of such a group is well, and not what the message is about.
    is_watched = row.get("status_reason") not in _UNWATCHED
    if is_watched and (lag := _format_lag(row)):
        yield f"{'When last seen' if is_gone else 'Now'}: {lag}."
    if is_watched and kinds != {contract.RESOLVED}:
        yield from _write_causes(first, kinds)
    if owner := row.get("owner"):
        yield f"Owner: {_format_name(owner)}."
    began = "" if is_gone else f" began {format_minute(first.incident_since)},"
    yield f"Incident {first.incident_id}{began} read at {format_minute(first.taken_at)}."


def _write_headline(change: GroupChange) -> str:
    group = f"{_format_name(change.group)} on {change.cluster}"
    since = format_minute(change.since)
    if change.ended is not None:
        return _write_end(change, change.ended, group)
    match change.kind:
        case contract.GONE:
            was = f"{_describe_open(change)}"
            return f"{group} is {_explain_end(change)}. This is no recovery.{was}"
        case contract.LOSS_BEGUN:
            return (
                f"{group} loses records since {since}: retention deletes what it had not committed."
            )
        case contract.LOSS_NEAR:
            return f"{group} is near a loss since {since}: {_format_time_left(change.row)}."
        case contract.PROMISE_BROKEN:
            return f"{group} breaks its promise since {since}{_format_promise(change.row)}."
    return f"{group} is {change.status} since {since}, after {change.previous_status}."


def _write_end(change: GroupChange, ended: OpenTrouble, group: str) -> str:
    """What ended, from when to when it was so, and what it was at the most."""
    row = change.row
    lasted = f"from {format_minute(ended.since)} to {format_minute(ended.seen_at)}"
    if change.kind == LOSS.ended:
        lost = f", at least {format_quantity(int(ended.most), 'record')}" if ended.most else ""
        return f"{group} loses no more records: it did {lasted}{lost}."
    if change.kind == RISK.ended:
        return f"{group} is no longer near a loss: it was {lasted}."
    if row.get("sla_seconds") is None:
        return f"{group} has no promise any more: it was broken {lasted}."
    oldest = f", the oldest unread for {format_short_duration(ended.most)}" if ended.most else ""
    promised = format_short_duration(row["sla_seconds"])
    return f"{group} keeps its promise of {promised} again: it was broken {lasted}{oldest}."


def _describe_open(change: GroupChange) -> str:
    """What a group was in when it was last seen."""
    parts = []
    if change.previous_status != contract.OK:
        parts.append(f"was {change.previous_status}")
    words = {
        LOSS.name: "lost records",
        PROMISE.name: "broke its promise",
        RISK.name: "was near a loss",
    }
    parts += [
        f"{words[name]} since {format_minute(trouble.since)}"
        for name, trouble in change.open_troubles.items()
        if name in words
    ]
    return f" It {' and '.join(parts)}." if parts else ""


def _explain_end(change: GroupChange) -> str:
    reason = change.row.get("status_reason")
    if reason == contract.GONE:
        return "gone: somebody deleted it, or its offsets expired"
    if reason in _UNWATCHED:
        return f"no longer watched: {_explain_unwatched(change)}"
    return (
        f"gone: no run since {format_minute(change.since)} has it; somebody deleted it, its "
        "offsets expired, or the configuration leaves it out"
    )


def _explain_unwatched(change: GroupChange) -> str:
    row = change.row
    is_topic = row["status_reason"] == contract.TOPIC_UNWATCHED
    what = f"topic {_format_name(row['worst_topic'])}" if is_topic else "it"
    since = format_minute(change.since - contract.UNWATCHED_AFTER_MS)
    return (
        f"{what} is unread since {since} or earlier, and no broker says that it was deleted. Give "
        "the reporter its right to Describe back, or deny the name in its configuration"
    )


def _write_causes(change: GroupChange, kinds: Set[str]) -> Iterator[str]:
    """What the consumer does, who it is, what it costs and what to do."""
    row = change.row
    worst_status = _find_worst_status(change)
    if worst_status:
        yield _write_worst_status(worst_status, row)
    if worst_status in _BY_RATES and (rates := _format_rates(row)):
        yield f"Rates: {rates}."
    # Where all is over nobody is to blame.
    if (worst_status or not kinds <= set(ENDS)) and (worst := _format_worst(row)):
        yield f"Worst: {worst}."
    lost = row.get("records_lost")
    if lost:
        since = _format_since(LOSS, row, kinds)
        records = format_quantity(lost, "record")
        yield f"Lost so far: {records} that retention deleted{since} before it had committed them."
    elif contract.LOSS_NEAR not in kinds and (left := _format_time_left(row)):
        yield f"At risk: {left}{_format_since(RISK, row, kinds)}."
    if contract.PROMISE_BROKEN not in kinds and row.get(PROMISE.held_since) is not None:
        yield f"Promise broken{_format_since(PROMISE, row, kinds)}{_format_promise(row)}."
    if unknown := row.get("partitions_unknown"):
        yield f"Not read: {format_quantity(unknown, 'partition')}, counted as last seen."
    if row.get("unusual"):
        yield f"Unusual: {_describe_usual(row)}."
    if (row.get("rebalancing_share") or 0.0) >= contract.MOSTLY_REBALANCING:
        yield "Rebalancing: the group does so all the time, and reads little meanwhile."
    # markers of transactions are never read, and leave a group that is done one behind
    if row.get("max_lag") == 1:
        yield "Hint: if the topic is written in transactions, set its allowed_lag to 1."
    if change.kind != contract.GONE and (to_do := _advise(row, worst_status)):
        yield f"To do: {to_do}."


def _write_worst_status(worst_status: str, row: Row) -> str:
    """What the consumer does, since when, and what that means."""
    since = row.get("worst_status_since")
    began = "" if since is None else f" since {format_minute(since)}"
    text = f"{find_word(worst_status).capitalize()}{began}: {MEANINGS[worst_status]}"
    return text if text.endswith("?") else f"{text}."


def _format_rates(row: Row) -> str | None:
    """What is written and read; None unless both are known."""
    produced, consumed = row.get("produce_rate"), row.get("consume_rate")
    if produced is None or consumed is None:
        return None
    return f"{format_rate(produced)} written to its topics, {format_rate(consumed)} read"


def _describe_usual(row: Row) -> str:
    """What the group is like otherwise; what was not learnt is not mentioned."""
    lag, age, rate = (row.get(f"usual_{name}") for name in ("lag", "time_lag", "produce_rate"))
    parts = [] if lag is None else [f"{format_quantity(round(lag), 'record')} behind"]
    parts += [] if age is None else [f"the oldest unread for {format_short_duration(age)}"]
    if rate is not None:
        now = row.get("produce_rate")
        than = "" if now is None else f" (now {format_rate(now)})"
        parts.append(f"{format_rate(rate)} written to its topics{than}")
    usual = f"; usual are {', '.join(parts)}" if parts else ""
    return f"this is not what the group is like at this hour of this weekday{usual}"


def _format_since(trouble: Trouble, row: Row, kinds: Set[str]) -> str:
    """Since when it is so, unless a headline says it."""
    since = row.get(trouble.held_since)
    return "" if since is None or trouble.begun in kinds else f" since {format_minute(since)}"


def _format_time_left(row: Row) -> str | None:
    """How soon a loss may come; None: none is in sight."""
    left = row.get("seconds_until_loss")
    if left is None or left >= contract.NO_LOSS_SECONDS:
        return None
    return f"retention may delete unread records in {format_short_duration(left)}"


def _format_promise(row: Row) -> str:
    """By how much it is broken."""
    age, promised = row.get("time_lag_seconds"), row.get("sla_seconds")
    if age is None or promised is None:
        return ""
    times = format_short_duration(promised), format_short_duration(age, precise=True)
    return f": the oldest unread has waited {times[1]}, promised are {times[0]} at most"


def _advise(row: Row, worst_status: str | None) -> str:
    """What to do first, and then."""
    left = row.get("seconds_until_loss")
    parts = []
    if row.get("records_lost") or (left is not None and left < contract.NO_LOSS_SECONDS):
        is_only = row.get("topics") == 1 and row.get("worst_topic") is not None
        topic = _format_name(row["worst_topic"]) if is_only else "the topic"
        parts.append(f"raise retention.ms or retention.bytes of {topic}")
    if (row.get("rebalancing_share") or 0.0) >= contract.MOSTLY_REBALANCING:
        parts.append(
            "find out why members come and go: crashes, session.timeout.ms, max.poll.interval.ms"
        )
    elif worst_status:
        parts.append(_TO_DO[worst_status])
    elif row.get(PROMISE.held_since) is not None:
        parts.append(_SPEED_UP)
    return "; then ".join(parts)


def _format_worst(row: Row) -> str | None:
    """The worst partition, its leader and its member; None: no partition is the cause."""
    if row.get("worst_topic") is None:
        return None
    worst = f"{_format_name(row['worst_topic'])} partition {row['worst_partition']}"
    leader, member = row.get("worst_leader"), row.get("worst_member")
    worst += ", no leader known" if leader is None else f", led by broker {leader}"
    if member is not None:
        return f"{worst}, read by {_format_name(member)}"
    return worst + (", read by nobody" if row.get("members") == 0 else ", no member known")


def _format_lag(row: Row) -> str | None:
    """Lag, age and how soon it is worked off; None where neither of the first is known.

    A commit beyond the end lags by nothing that can be counted.
    """
    lag, age = row.get("lag"), row.get("time_lag_seconds")
    if lag == 0 and row.get("worst_status") == contract.BEYOND_END:
        return None
    parts = [] if lag is None else [f"{format_quantity(lag, 'record')} behind"]
    if age is not None and lag != 0:
        least = "at least " if row.get("time_lag_method") == contract.METHOD_AT_LEAST else ""
        parts.append(f"the oldest unread for {least}{format_short_duration(age)}")
    drain = row.get("drain_seconds")
    if parts and drain is not None and drain > _SHORT_DRAIN_SECONDS:
        parts.append(f"worked off in {format_short_duration(drain)} at this speed")
    return ", ".join(parts) or None


def _build_bulk_message(changed: Sequence[Sequence[GroupChange]], groups: int) -> StatusMessage:
    """One notice of all groups' changes, the worst first as they come, and an event of each."""
    first = changed[0][0]
    message_id = f"storm-{hash_incident(first.cluster, 'storm', first.taken_at)}"
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
    subject = f"Kafka lag storm on {cluster}: {len(changed)} of {groups} groups ({by_change})"
    return subject[:_LONGEST_SUBJECT]


def _name_change(change: GroupChange) -> str:
    """The new status, or the kind where not the status changed."""
    if change.status != change.previous_status:
        return change.status
    return _format_kind(change.kind)


def _build_bulk_attributes(changes: Sequence[GroupChange]) -> dict[str, str | tuple[str, ...]]:
    """All statuses, kinds, groups and owners, so that a filter by one of them finds it."""
    values: dict[str, list[str | None]] = {
        contract.ATTRIBUTE_STATUS: [change.status for change in changes],
        contract.ATTRIBUTE_KIND: [change.kind for change in changes],
        contract.ATTRIBUTE_WORST_STATUS: [_find_worst_status(change) for change in changes],
        contract.ATTRIBUTE_GROUP: [dimension_value(change.group) for change in changes],
        contract.ATTRIBUTE_OWNER: [change.row.get("owner") for change in changes],
    }
    attributes: dict[str, str | tuple[str, ...]] = {contract.ATTRIBUTE_CLUSTER: changes[0].cluster}
    for name, each in values.items():
        attributes |= _build_list_attribute(name, each)
    return attributes


def _build_list_attribute(name: str, values: Sequence[str | None]) -> dict[str, tuple[str, ...]]:
    """Each value once, as many as there is room for; none: no attribute."""
    fitting, room = [], _LONGEST_LIST
    for value in dict.fromkeys(value for value in values if value):
        room -= len(json.dumps(value)) + len(", ")
        if room < 0:
            break
        fitting.append(value)
    return {name: tuple(fitting)} if fitting else {}


def _write_bulk_lines(changed: Sequence[Sequence[GroupChange]], groups: int) -> Iterator[str]:
    first = changed[0][0]
    kinds = Counter(change.kind for of_group in changed for change in of_group)
    by_kind = ", ".join(f"{count:,} {_format_kind(kind)}" for kind, count in kinds.items())
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
    row, worst_status = first.row, _find_worst_status(first)
    owner, lost = row.get("owner"), row.get("records_lost")
    kinds = " and ".join(_format_kind(change.kind) for change in changes)
    status = next((each for each in changes if each.status != each.previous_status), None)
    parts = [
        f"{_format_name(first.group, _BULK_NAME)} {kinds}"
        + (f", {status.status} after {status.previous_status}" if status else ""),
        worst_status and find_word(worst_status),
        lost and f"{format_quantity(lost, 'record')} lost",
        _format_lag(row),
        None if first.kind in ENDS else _format_worst(row),
        owner and f"owner {_format_name(owner, _BULK_NAME)}",
        f"incident {first.incident_id}",
    ]
    return "; ".join(part for part in parts if part)


def _write_common_leader(changes: Sequence[GroupChange]) -> Iterator[str]:
    """The broker to look at first, where most worst partitions have one."""
    leaders = Counter(
        change.row["worst_leader"]
        for change in changes
        if change.row.get("worst_leader") is not None and change.kind not in ENDS
    )
    for broker, count in leaders.most_common(1):
        if count > 1 and 2 * count > leaders.total():
            yield f"Broker {broker} leads the worst partition of {count:,} of them."


def build_event(change: GroupChange, bulk_id: str | None = None) -> StatusEvent:
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
        "ended_since": _format_optional_time(change.ended.since if change.ended else None),
        "taken_at": format_iso_time(change.taken_at, "milliseconds"),
        "worst_status": change.row.get("worst_status"),
        **{name: _null_unless_finite(change.row.get(name)) for name in _EVENT_NUMBERS},
        **{name: _format_optional_time(change.row.get(name)) for name in _EVENT_TIMES},
        "time_lag_method": change.row.get("time_lag_method"),
        "unusual": change.row.get("unusual"),
        "worst": {
            name.removeprefix("worst_"): _cut_name(change.row.get(name)) for name in _EVENT_WORST
        },
    }
    text = json.dumps(detail, ensure_ascii=False, allow_nan=False)
    return StatusEvent(change.message_id, text, change.taken_at)


def _format_optional_time(ms: int | None) -> str | None:
    return None if ms is None else format_iso_time(ms, "milliseconds")


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
