# SPDX-License-Identifier: Apache-2.0
"""What changed in a group, in the lines that people read; no AWS, no clock.

What is unknown is not mentioned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from kafka_lag import contract
from kafka_lag.contract.words import MEANINGS, find_word
from kafka_lag.formatting import (
    cut_end,
    escape_name,
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
    GroupChange,
    OpenTrouble,
    Row,
    Trouble,
)

# What is worked off sooner is not worth a word.
_SHORT_DRAIN_SECONDS = 60.0
# Kafka takes names of 32,000 bytes; nobody reads them whole.
_LONGEST_NAME = 200
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


def write_lines(changes: Sequence[GroupChange]) -> Iterator[str]:
    """One group's changes in a run, the worst first."""
    first, kinds = changes[0], {change.kind for change in changes}
    row, is_gone = first.row, first.kind == contract.GONE
    for change in changes:
        yield _write_headline(change)
    # What is still watched of such a group is well, and not what the message is about.
    is_watched = row.get("status_reason") not in _UNWATCHED
    if is_watched and (lag := format_lag(row)):
        yield f"{'When last seen' if is_gone else 'Now'}: {lag}."
    if is_watched:
        if kinds != {contract.RESOLVED}:
            yield from _write_who(first, kinds)
        yield from _write_costs(row, kinds)
        if kinds != {contract.RESOLVED}:
            yield from _write_hints(first)
    if owner := row.get("owner"):
        yield f"Owner: {format_name(owner)}."
    began = "" if is_gone else f" began {format_minute(first.incident_since)},"
    yield f"Incident {first.incident_id}{began} read at {format_minute(first.taken_at)}."


def _write_headline(change: GroupChange) -> str:
    group = f"{format_name(change.group)} on {change.cluster}"
    since = format_minute(change.since)
    if change.ended is not None:
        return _write_end(change, change.ended, group)
    match change.kind:
        case contract.GONE:
            was = _describe_open(change)
            return f"{group} is {_explain_end(change)}. This is no recovery.{was}"
        case contract.LOSS_BEGUN:
            return (
                f"{group} loses records since {since}: retention deletes what it had not committed."
            )
        case contract.LOSS_NEAR:
            left = _format_time_left(change.row)
            return f"{group} is near a loss since {since}{f': {left}' if left else ''}."
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
    what = f"topic {format_name(row['worst_topic'])}" if is_topic else "it"
    since = format_minute(change.since - contract.UNWATCHED_AFTER_MS)
    return (
        f"{what} is unread since {since} or earlier, and no broker says that it was deleted. Give "
        "the reporter its right to Describe back, or deny the name in its configuration"
    )


def _write_who(change: GroupChange, kinds: Set[str]) -> Iterator[str]:
    """What the consumer does, and the worst partition with broker and member."""
    row, worst_status = change.row, find_worst_status(change)
    if worst_status:
        yield _write_worst_status(worst_status, row)
    if worst_status in _BY_RATES and (rates := _format_rates(row)):
        yield f"Rates: {rates}."
    # Where all is over nobody is to blame.
    if (worst_status or not kinds <= set(ENDS)) and (worst := format_worst(row)):
        yield f"Worst: {worst}."


def _write_costs(row: Row, kinds: Set[str]) -> Iterator[str]:
    """What is lost, or soon will be, and what was promised; also where the status is OK again."""
    if lost := row.get("records_lost"):
        since = _format_since(LOSS, row, kinds)
        records = format_quantity(lost, "record")
        yield f"Lost so far: {records} that retention deleted{since} before it had committed them."
    elif contract.LOSS_NEAR not in kinds and (left := _format_time_left(row)):
        yield f"At risk: {left}{_format_since(RISK, row, kinds)}."
    if contract.PROMISE_BROKEN not in kinds and row.get(PROMISE.held_since) is not None:
        yield f"Promise broken{_format_since(PROMISE, row, kinds)}{_format_promise(row)}."


def _write_hints(change: GroupChange) -> Iterator[str]:
    """What else is to be known of it, and what to do."""
    row = change.row
    if unknown := row.get("partitions_unknown"):
        yield f"Not read: {format_quantity(unknown, 'partition')}, counted as last seen."
    if row.get("unusual"):
        yield f"Unusual: {_describe_usual(row)}."
    if (row.get("rebalancing_share") or 0.0) >= contract.MOSTLY_REBALANCING:
        yield "Rebalancing: the group does so all the time, and reads little meanwhile."
    # markers of transactions are never read, and leave a group that is done one behind
    if row.get("max_lag") == 1:
        yield "Hint: if the topic is written in transactions, set its allowed_lag to 1."
    if change.kind != contract.GONE and (to_do := _advise(row, find_worst_status(change))):
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
    waited = f"{_at_least(row)}{format_short_duration(age, precise=True)}"
    promise = format_short_duration(promised)
    return f": the oldest unread has waited {waited}, promised are {promise} at most"


def _at_least(row: Row) -> str:
    """Before an age that may be any longer."""
    return "at least " if row.get("time_lag_method") == contract.METHOD_AT_LEAST else ""


def _advise(row: Row, worst_status: str | None) -> str:
    """What to do first, and then."""
    left = row.get("seconds_until_loss")
    parts = []
    if row.get("records_lost") or (left is not None and left < contract.NO_LOSS_SECONDS):
        is_only = row.get("topics") == 1 and row.get("worst_topic") is not None
        topic = format_name(row["worst_topic"]) if is_only else "the topic"
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


def format_worst(row: Row) -> str | None:
    """The worst partition, its leader and its member; None: no partition is the cause."""
    if row.get("worst_topic") is None:
        return None
    worst = f"{format_name(row['worst_topic'])} partition {row['worst_partition']}"
    leader, member = row.get("worst_leader"), row.get("worst_member")
    worst += ", no leader known" if leader is None else f", led by broker {leader}"
    if member is not None:
        return f"{worst}, read by {format_name(member)}"
    return worst + (", read by nobody" if row.get("members") == 0 else ", no member known")


def format_lag(row: Row) -> str | None:
    """Lag, age and how soon it is worked off; None where neither of the first is known.

    A commit beyond the end lags by nothing that can be counted.
    """
    lag, age = row.get("lag"), row.get("time_lag_seconds")
    if lag == 0 and row.get("worst_status") == contract.BEYOND_END:
        return None
    parts = [] if lag is None else [f"{format_quantity(lag, 'record')} behind"]
    if age is not None and lag != 0:
        parts.append(f"the oldest unread for {_at_least(row)}{format_short_duration(age)}")
    drain = row.get("drain_seconds")
    if parts and drain is not None and drain > _SHORT_DRAIN_SECONDS:
        parts.append(f"worked off in {format_short_duration(drain)} at this speed")
    return ", ".join(parts) or None


def format_kind(kind: str) -> str:
    """The kind of a change in words."""
    return kind.replace("_", " ")


def find_worst_status(change: GroupChange) -> str | None:
    """What the consumer does, unless the change is that all is well, or nobody knows any more."""
    if change.kind in (contract.RESOLVED, contract.GONE):
        return None
    worst: str | None = change.row.get("worst_status")
    return worst if worst in MEANINGS else None


def format_name(name: str, longest: int = _LONGEST_NAME) -> str:
    """A stranger's name where it can break no line, its end cut off."""
    return cut_end(escape_name(name, question_mark, "(no name)"), longest)
