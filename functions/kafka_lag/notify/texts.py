# SPDX-License-Identifier: Apache-2.0
"""Lines about a group's changes for people; no AWS, no clock.

Unknown values are not mentioned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Set

from kafka_lag import contract
from kafka_lag.notify.changes import (
    ENDS,
    LOSS,
    PROMISE,
    RISK,
    GroupChange,
    Row,
    Trouble,
)
from kafka_lag.notify.msk_state import MSK_STATE
from kafka_lag.snapshots.keys import object_key
from kafka_lag.wording.advice import (
    advise,
    advise_on_deleted,
    advise_on_records_below_commit,
    advise_on_skip,
)
from kafka_lag.wording.causes import CauseText, describe_cause
from kafka_lag.wording.evidence import read_evidence
from kafka_lag.wording.formatting import (
    format_minute,
    format_name,
    format_quantity,
    format_rate,
    format_short_duration,
)
from kafka_lag.wording.words import (
    MEANINGS,
    SAME_RATE,
    describe_skip,
    find_word,
    is_always_rebalancing,
)

# A backlog is not mentioned if it was written in less time, or if it is worked off sooner.
_SHORT_SECONDS = 60.0
# The configuration's limit for a runbook's URL.
_LONGEST_URL = 2_048
_UNWATCHED = (contract.UNWATCHED, contract.TOPIC_UNWATCHED)
_RECOVERED = frozenset({contract.RESOLVED, contract.CAUGHT_UP})


def write_lines(changes: Sequence[GroupChange]) -> Iterator[str]:
    """Yields the lines of a message about one group's changes in a run, the worst first."""
    first, kinds = changes[0], {change.kind for change in changes}
    row, is_gone = first.row, first.kind == contract.GONE
    for change in changes:
        yield _write_headline(change)
    # The topics that are still watched are healthy, and the message is not about them.
    is_watched = row.get("status_reason") not in _UNWATCHED
    if is_watched and (lag := format_lag(first)):
        yield f"{'When last seen' if is_gone else 'Now'}: {lag}."
    if is_watched:
        yield from _write_peak(first, kinds)
        if contract.RESOLVED in kinds and not first.is_catching_up:
            yield from _write_unknown_while_beyond(first)
        if not kinds <= _RECOVERED | {contract.SKIPPED}:
            yield from _write_who(first, kinds)
        yield from _write_costs(first, kinds)
        if row.get("status_reason") == contract.GONE and (lag := row.get("lag")):
            yield (
                f"Cost: {format_quantity(lag, 'record')} not read yet; should it come back, it "
                "reads them only with auto.offset.reset=earliest."
            )
            if (seen := row.get("taken_at")) is not None:
                key = object_key(contract.GROUP_PARTITIONS, first.cluster, seen)
                yield f"Its last offsets, of {format_minute(seen)}: in the reporter's bucket, {key}"
        if not kinds <= _RECOVERED:
            yield from _write_hints(first)
        elif row.get("skip_reason") in contract.SKIPPED_BEYOND_END:
            yield f"To do: {advise_on_records_below_commit()}."
    elif is_unwatched(first):
        yield f"To do: {_advise_unwatched(row)}."
    if owner := row.get("owner"):
        yield f"Owner: {format_name(owner)}."
    if (runbook := row.get("runbook_url")) and not kinds <= _RECOVERED:
        yield f"Runbook: {format_name(runbook, _LONGEST_URL)}"
    since = first.incident.get("incident_from") or first.incident_since
    opened = "" if is_gone else f" began {format_minute(since)},"
    at = "given up" if is_unwatched(first) else "read"
    yield f"Incident {first.incident_id}{opened} {at} at {format_minute(first.taken_at)}."


def _write_headline(change: GroupChange) -> str:
    group = f"{format_name(change.group)} on {change.cluster}"
    since = format_minute(change.since)
    if change.ended is not None:
        return _write_end(change, change.ended, group)
    match change.kind:
        case contract.GONE if is_unwatched(change):
            return _write_unwatched(change, group)
        case contract.GONE:
            was = _describe_open(change)
            return f"{group} is {_explain_end(change)}. It has not recovered.{was}"
        case contract.LOSS_BEGUN:
            lost = find_lost(change)
            records = f"at least {format_quantity(lost, 'record')}" if lost else "records"
            return (
                f"{group} has lost {records} since {since}: retention deletes what it had not "
                "committed."
            )
        case contract.LOSS_NEAR:
            left = _format_time_left(change.row)
            return f"{group} is near a loss since {since}{f': {left}' if left else ''}."
        case contract.SKIPPED:
            return f"{group}, {since}: {describe_skip(change.row)}."
        case contract.PROMISE_BROKEN:
            return _write_broken_sla(change, group)
        case contract.RESOLVED:
            restless = "; it rebalanced all the time" if is_always_rebalancing(change.row) else ""
            past = f"{_describe_past(change, change.since)}{restless}"
            left = change.row.get("lag")
            if not (change.is_catching_up and left):
                return f"{group} is OK since {since}{past}."
            return (
                f"{group} is OK again since {since}, with {format_quantity(left, 'record')} left "
                f"to catch up{past}."
            )
        case contract.CAUGHT_UP:
            ok_since = change.row.get("held_since") or change.since
            past = _describe_past(change, ok_since)
            ok = f", OK again since {format_minute(ok_since)}" if past else ""
            return f"{group} has caught up at {since}{ok}{past}."
        case contract.OPENED:
            before = "" if _has_kept_up(change.row) else ", and no run has seen it keep up"
            return f"{group} is {change.status}{before}."
    return f"{group} is {change.status} since {since}, after {change.previous_status}."


def _has_kept_up(row: Row) -> bool:
    return row.get("kept_up_at", 0) is not None


def _write_broken_sla(change: GroupChange, group: str) -> str:
    """Writes by how much the SLA is broken, and that the status is OK if it is."""
    age, sla = (change.row.get(name) for name in ("time_lag_seconds", "sla_seconds"))
    of = "" if sla is None else f" of {format_short_duration(sla)}"
    waited = "" if age is None else _format_waited(age, change.row, precise=True)
    has = f": the oldest unread has waited {waited}" if waited else ""
    is_ok = "; its status is OK" if change.status == contract.OK else ""
    since = format_minute(change.since)
    return f"{group} breaks its SLA{of} since {since}{has}{is_ok}."


def _describe_past(change: GroupChange, ended: int) -> str:
    """Returns the worst consumer status until the group was OK, since when and for how long."""
    incident = change.incident
    worst, since = (incident.get(f"incident_worst_status{each}") for each in ("", "_since"))
    if worst is None or since is None:
        before = change.previous_status
        return "" if before == contract.OK else f", after {before}"
    began = _format_beginning(since, worst, change)
    if worst == contract.REWOUND:
        return f": it was set back at {began}"
    lasted = format_short_duration(max(ended - since, 0) / 1_000, round)
    about = "at least " if began.endswith("earlier") else ""
    about = "about " if began.startswith("about") else about
    did = "had no member" if worst == contract.NO_MEMBER else f"was {find_word(worst)}"
    return f": it {did} since {began}, for {about}{lasted}"


def _write_peak(first: GroupChange, kinds: Set[str]) -> Iterator[str]:
    """Writes the largest backlog of an incident once its status is OK again."""
    incident, written = first.incident, first.row.get("produce_rate") or 0.0
    peak, at = incident.get("incident_peak_lag"), incident.get("incident_peak_lag_at")
    if peak is None or at is None or not kinds <= set(ENDS) or first.status != contract.OK:
        return
    if peak <= written * _SHORT_SECONDS:
        return
    parts = [f"{format_quantity(peak, 'record')} behind, at {format_minute(at)}"]
    # A record that is read again had already been read, so its age is not a wait.
    waited = incident.get("incident_peak_time_lag")
    if waited and incident.get("incident_worst_status") != contract.REWOUND:
        parts.append(f"the longest wait was {_format_age(waited)}")
    if incident.get("incident_lost") == 0:
        parts.append("retention deleted none of them")
    yield f"At the most: {'; '.join(parts)}."


def find_lost(change: GroupChange) -> int:
    """Returns how many unread records retention deleted in the incident, as far as known."""
    return max(
        change.incident.get("incident_lost") or 0,
        change.row.get("records_lost") or 0,
    )


def _write_unknown_while_beyond(change: GroupChange) -> Iterator[str]:
    """Writes that it is unknown which records a group read while its commit was beyond the end."""
    row, incident = change.row, change.incident
    since, written = incident.get("incident_worst_status_since"), row.get("produce_rate")
    is_beyond = incident.get("incident_worst_status") == contract.BEYOND_END
    if not is_beyond or row.get("skip_reason") in contract.SKIPPED_BEYOND_END:
        return
    if since is None or not written:
        what = "what was written"
    else:
        # The rate is an average, so only the first two digits of the product mean anything.
        records = float(f"{written * (change.since - since) / 1_000:.2g}")
        what = f"the records (about {records:,.0f}, at {format_rate(written)}) that were written"
    yield f"Not known: whether it read {what} while its commit was beyond the end."


def _write_end(change: GroupChange, ended: Trouble, group: str) -> str:
    """Writes which trouble ended, from when to when it lasted, and its largest extent."""
    row, lost = change.row, find_lost(change)
    begun = change.since if change.ended_since is None else change.ended_since
    lasted = f"from {format_minute(begun)} to {format_minute(change.since)}"
    if ended is LOSS:
        records = f"at least {format_quantity(lost, 'record')}" if lost else "some records"
        return f"{group} loses no more records: {lasted} retention deleted {records} unread."
    if ended is RISK:
        nothing = " Nothing was lost." if change.incident.get("incident_lost") == 0 else ""
        speed = ", if it keeps its speed" if row.get("drain_seconds") and row.get("lag") else ""
        return f"{group} is no longer near a loss{speed}. It was near one {lasted}.{nothing}"
    if row.get("sla_seconds") is None:
        return f"{group} has no SLA any more: it was broken {lasted}."
    waited = change.incident.get("incident_peak_time_lag")
    oldest = f"; the longest wait was {_format_age(waited)}" if waited else ""
    sla = format_short_duration(row["sla_seconds"])
    return f"{group} keeps its SLA of {sla} again: it was broken {lasted}{oldest}."


def _describe_open(change: GroupChange) -> str:
    """Describes the troubles of a group when it was last seen."""
    parts = []
    if change.previous_status != contract.OK:
        parts.append(f"was {change.previous_status}")
    words = {LOSS: "lost records", PROMISE: "broke its SLA", RISK: "was near a loss"}
    parts += [
        f"{word} since {format_minute(change.before[trouble.held_since])}"
        for trouble, word in words.items()
        if change.before.get(trouble.held_since) is not None
    ]
    return f" It {' and '.join(parts)}." if parts else ""


def _explain_end(change: GroupChange) -> str:
    reason = change.row.get("status_reason")
    seen = change.row.get("taken_at")
    last = "" if seen is None else f" (last seen {format_minute(seen)})"
    if reason == contract.GONE:
        since = format_minute(change.since)
        # Offsets expire only if no member is left.
        expired = "" if change.row.get("members") else ", or its offsets expired"
        return f"gone since {since}{last}: somebody deleted it{expired}"
    return (
        f"gone{last}: no run since {format_minute(change.since)} has it; somebody deleted it, its "
        "offsets expired, or the configuration leaves it out"
    )


def _write_unwatched(change: GroupChange, group: str) -> str:
    """Writes which group or topic is given up because it could not be read for days."""
    row = change.row
    since = format_minute(change.since - contract.UNWATCHED_AFTER_MS)
    worst = change.incident.get("incident_worst_status") or row.get("worst_status")
    known = [change.previous_status] if change.previous_status != contract.OK else []
    known += [find_word(worst)] if known and worst else []
    was = f"Last known: {', '.join(known)}; whether" if known else "Whether"
    days = contract.UNWATCHED_AFTER_MS // 86_400_000
    return (
        f"{group} is no longer watched: brokers have shown the reporter nothing of "
        f"{_name_unwatched(row)} since {since} ({days} days). {was} it "
        "recovered is unknown."
    )


def _name_unwatched(row: Row) -> str:
    """Names the group or topic that the reporter may not see."""
    is_topic, name = row["status_reason"] == contract.TOPIC_UNWATCHED, row.get("worst_topic")
    if not is_topic:
        return "the group"
    return "one of its topics" if name is None else f"topic {format_name(name)}"


def _advise_unwatched(row: Row) -> str:
    """Advises how to watch it again, or how to stop watching it on purpose."""
    kind = "topics" if row["status_reason"] == contract.TOPIC_UNWATCHED else "groups"
    return (
        f"see whether the reporter may Describe {_name_unwatched(row)}, and allow it; or name it "
        f"in {kind}.deny of the configuration"
    )


def _write_who(change: GroupChange, kinds: Set[str]) -> Iterator[str]:
    """Writes what the consumer does, and the worst partition with its broker and member."""
    row, worst_status = change.row, find_worst_status(change)
    if is_always_rebalancing(row):
        yield _write_rebalancing(worst_status, change)
    elif worst_status:
        yield _write_worst_status(worst_status, change)
    if worst_status == contract.BEYOND_END:
        written = row.get("produce_rate")
        rate = f" ({format_rate(written)})" if written else ""
        yield f"Cost: it reads nothing of what is written now{rate}."
    if worst_status == contract.REWOUND and (again := row.get("records_rewound")):
        yield f"Cost: {_format_rewound(row, again)}."
    by_rates = worst_status in contract.STATUSES_BY_RATES or (
        worst_status is None and contract.PROMISE_BROKEN in kinds
    )
    if by_rates and (speed := _describe_speed(row)):
        yield speed
    # No partition is the worst once all is over.
    held_up = worst_status is None and row.get("held_up_records") is not None
    if (worst_status or not kinds <= set(ENDS)) and not held_up and (worst := format_worst(row)):
        yield f"Worst: {worst}."


def _format_rewound(row: Row, again: int) -> str:
    """Returns how many records are read a second time, and how many of them are still to come."""
    evidence = read_evidence(row)
    at, before = (evidence.get(name) for name in ("committed_offset", "rewound_from"))
    # The evidence is about one partition, and the costs are about all.
    if evidence.get("partitions") == 1 and isinstance(at, int) and isinstance(before, int):
        every = before - at
        if every > again:
            records = format_quantity(every, "record")
            return f"{records} are read a second time; of these {again:,} are still to come"
    return f"{format_quantity(again, 'record')} to read again, up to where it was before"


def _write_costs(change: GroupChange, kinds: Set[str]) -> Iterator[str]:
    """Writes lost records, records at risk and a broken SLA, even if the status is OK again."""
    row, lost = change.row, find_lost(change)
    if lost and not kinds & {LOSS.begun, LOSS.ended}:
        since = _format_since(LOSS, row, kinds)
        records = format_quantity(lost, "record")
        yield f"Lost so far: retention deleted at least {records} unread{since}."
    elif contract.LOSS_NEAR not in kinds and (left := _format_time_left(row)):
        yield f"At risk{_format_since(RISK, row, kinds)}: {left}."
    if contract.SKIPPED not in kinds:
        yield from _write_skipped(change, kinds)
    if contract.PROMISE_BROKEN not in kinds and row.get(PROMISE.held_since) is not None:
        yield f"SLA broken{_format_since(PROMISE, row, kinds)}{_format_sla(row)}."


def _write_skipped(change: GroupChange, kinds: Set[str]) -> Iterator[str]:
    """Writes how many records were skipped in the incident.

    Once the incident is over it also writes how many may have been skipped.
    """
    row, reason = change.row, change.row.get("skip_reason")
    skipped = change.incident.get("incident_skipped")
    if reason in (*contract.SKIPPED_BEYOND_END, contract.GONE):
        yield f"Skipped: {describe_skip(row)}."
        return
    if reason == contract.READ_OR_SKIPPED:
        if kinds & _RECOVERED and (maybe := describe_skip(row)):
            yield f"{maybe[0].upper()}{maybe[1:]}."
    else:
        skipped = max(skipped or 0, row.get("records_skipped") or 0)
    if skipped:
        records = format_quantity(skipped, "record")
        yield f"Skipped: {records} that it never read, because its offsets were set ahead."


def _write_hints(change: GroupChange) -> Iterator[str]:
    """Writes further facts about the group, then its cause and the advice."""
    row = change.row
    if unknown := row.get("partitions_unknown"):
        yield f"Not read: {format_quantity(unknown, 'partition')}, counted as last seen."
    if row.get("unusual"):
        yield f"Unusual: {_describe_usual(row)}."
    held_up, cause = row.get("held_up_records"), _describe_cause(change)
    if held_up is not None and row.get("cause") != contract.OPEN_TRANSACTION:
        where = f"{format_name(row['open_transaction_topic'])}"
        yield (
            f"Open transaction: in {where} partition {row['open_transaction_partition']}, since "
            f"{format_minute(row['open_transaction_since'])}; "
            f"{format_quantity(held_up, 'record')} of the group cannot be read."
        )
    # A transaction's marker is never read, so a group that has read everything stays one behind.
    if row.get("max_lag") == 1:
        yield "Hint: if the topic is written in transactions, set its allowed_lag to 1."
    if cause is not None:
        yield f"Cause: {cause.happened}."
        if state := row.get(MSK_STATE):
            yield f"MSK: the cluster is in the state {state}."
    if to_do := _advise(change):
        yield f"To do: {to_do}."
    if cause is not None:
        yield f"To look: {cause.command}"
        if cause.repair is not None:
            yield f"To repair: {cause.repair}"


def _describe_cause(change: GroupChange) -> CauseText | None:
    """Returns the cause of a group that is still in trouble; None if none is known."""
    cause = change.row.get("cause")
    if cause in (None, contract.UNEXPLAINED) or change.kind == contract.GONE:
        return None
    return describe_cause(change.row)


def _write_worst_status(worst_status: str, change: GroupChange) -> str:
    """Writes what the consumer does, since when, and what that means."""
    since = change.row.get("worst_status_since")
    began = "" if since is None else f" since {_format_beginning(since, worst_status, change)}"
    meaning = MEANINGS[worst_status]
    if read_evidence(change.row).get("topic_was") is not None:
        meaning = meaning.partition(";")[0]
    if worst_status == contract.FALLING_BEHIND and change.row.get("trend") == contract.GROWING:
        meaning = "the backlog grows"
    if worst_status == contract.STALLED and change.row.get("members") == 0:
        meaning = "no member is left, and its commit does not move"
    if worst_status == contract.SLOW and _is_worked_off_soon(change.row):
        # The status stays `slow` for some runs, until the group is surely fast enough.
        meaning = "the backlog shrinks, but only lately fast enough"
    text = f"{find_word(worst_status).capitalize()}{began}: {meaning}"
    return text if text.endswith("?") else f"{text}."


def _is_worked_off_soon(row: Row) -> bool:
    """Returns true if the present speed is too high for the status `slow`."""
    drain, age = row.get("drain_seconds"), row.get("time_lag_seconds")
    return drain is not None and age is not None and drain <= age * contract.SLOW_FROM_AGES


def _format_beginning(since: int, worst_status: str, change: GroupChange) -> str:
    """Returns the time, with `about` or `or earlier` if no run saw the beginning.

    No run saw it if no run has seen the group keep up.
    """
    if worst_status == contract.FALLING_BEHIND:
        return f"about {format_minute(since)}"
    # If the status changed in the same run, that run saw the beginning, such as the end of a stop.
    is_seen = since == change.row.get("status_since") or change.kind in ENDS
    or_earlier = (worst_status == contract.SLOW and not is_seen) or not _has_kept_up(change.row)
    return f"{format_minute(since)}{' or earlier' if or_earlier else ''}"


def _write_rebalancing(worst_status: str | None, change: GroupChange) -> str:
    """Writes that the group rebalances, and what follows from it."""
    since = change.row.get("worst_status_since")
    if worst_status in (contract.STALLED, contract.STOPPED):
        nothing = "nothing" if since is None else f"nothing since {format_minute(since)}"
        return f"Rebalancing all the time: it commits {nothing} ({find_word(worst_status)})."
    if worst_status is None:
        return "Rebalancing all the time: it reads little meanwhile."
    return f"Rebalancing all the time. {_write_worst_status(worst_status, change)}"


def _format_rates(row: Row) -> str | None:
    """Formats both rates so that different rates look different; None unless both are known."""
    produced, consumed = row.get("produce_rate"), row.get("consume_rate")
    if produced is None or consumed is None:
        return None
    written, read = format_rate(produced), format_rate(consumed)
    for digits in range(1, 4):
        if written == read and produced != consumed:
            written, read = f"{produced:,.{digits}f}/s", f"{consumed:,.{digits}f}/s"
    return f"{written} written to its topics, {read} read"


def _describe_speed(row: Row) -> str | None:
    """Returns how the backlog changes: by the rates, or by the last lags if they contradict them.

    Rates are averages, so they lag behind for some minutes after the trend turned.
    """
    rates, trend, lags = _format_rates(row), row.get("trend"), row.get("lags_lately")
    produced, consumed = (row.get(f"{name}_rate") or 0.0 for name in ("produce", "consume"))
    agrees = {
        contract.GROWING: consumed < produced,
        contract.SHRINKING: consumed > produced,
        contract.STEADY: abs(consumed - produced) <= SAME_RATE * produced,
    }.get(str(trend), True)
    if trend is None or not lags or (rates and agrees):
        return f"Rates, averaged over the last minutes: {rates}." if rates else None
    ways = {contract.GROWING: "grew", contract.SHRINKING: "went"}
    way = ways.get(str(trend), "changed little,")
    last = format_quantity(round(lags[-1]), "record")
    return f"Lately: the backlog {way} from {lags[0]:,.0f} to {last} in {len(lags)} runs."


def _describe_usual(row: Row) -> str:
    """Describes the group's usual values; unknown ones are not mentioned."""
    lag, age, rate = (row.get(f"usual_{name}") for name in ("lag", "time_lag", "produce_rate"))
    parts = [] if lag is None else [f"{format_quantity(round(lag), 'record')} behind"]
    parts += [] if age is None else [f"the oldest {_format_age(age)} old"]
    if rate is not None:
        now = row.get("produce_rate")
        than = "" if now is None else f" (now {format_rate(now)})"
        parts.append(f"with {format_rate(rate)} written to its topics{than}")
    if not parts:
        return "the group is not like that at this hour of other weeks"
    return f"at this hour it is usually {', '.join(parts)}"


def _format_since(trouble: Trouble, row: Row, kinds: Set[str]) -> str:
    """Returns since when the trouble lasts, unless a headline says it."""
    since = row.get(trouble.held_since)
    return "" if since is None or trouble.begun in kinds else f" since {format_minute(since)}"


def _format_time_left(row: Row) -> str | None:
    """Returns how soon a loss may come after the run; None if no loss is near, or it has come."""
    left, taken_at = row.get("seconds_until_loss"), row.get("taken_at")
    if left is None or not 0 < left < contract.NO_LOSS_SECONDS:
        return None
    at = "" if taken_at is None else f", at {format_minute(int(taken_at + 1_000 * left))}"
    return f"retention may delete unread records in {format_short_duration(left)}{at}"


def _format_sla(row: Row) -> str:
    """Formats by how much the SLA is broken."""
    age, sla = row.get("time_lag_seconds"), row.get("sla_seconds")
    if age is None or sla is None:
        return ""
    waited = _format_waited(age, row, precise=True)
    limit = format_short_duration(sla)
    return f": the oldest unread has waited {waited}, the SLA is {limit}"


def _format_waited(age: float, row: Row, *, precise: bool = False) -> str:
    """Formats the age of the oldest unread record."""
    is_least = row.get("time_lag_method") == contract.METHOD_AT_LEAST
    return _format_bounded(age, is_least=is_least, precise=precise)


def _format_bounded(seconds: float, *, is_least: bool, precise: bool = False) -> str:
    """Returns a duration in words; a lower bound is cut, not rounded."""
    if is_least:
        return f"at least {format_short_duration(seconds, precise=precise)}"
    return format_short_duration(seconds, round, precise=precise)


def _advise(change: GroupChange) -> str | None:
    if change.kind == contract.GONE:
        return advise_on_deleted(change.row)
    if change.kind == contract.SKIPPED and (
        change.row.get("skip_reason") == contract.READ_OR_SKIPPED
    ):
        return advise_on_skip()
    return advise(change.row)


def format_worst(row: Row) -> str | None:
    """Returns the worst partition, its leader and its member; None if no partition is the worst."""
    if row.get("worst_topic") is None:
        return None
    worst = f"{format_name(row['worst_topic'])} partition {row['worst_partition']}"
    leader, member = row.get("worst_leader"), row.get("worst_member")
    worst += ", no leader known" if leader is None else f", led by broker {leader}"
    if member is not None:
        # While members come and go, another member owns it a moment later.
        owned = "owned just then" if is_always_rebalancing(row) else "owned"
        return f"{worst}, {owned} by {format_name(member)}"
    return worst + (", owned by nobody" if row.get("members") == 0 else ", no member known")


def format_lag(change: GroupChange) -> str | None:
    """Returns lag, age and the time to work off the backlog; None if lag and age are unknown.

    A commit beyond the end has no lag that can be counted.
    """
    row = change.row
    lag, age = row.get("lag"), row.get("time_lag_seconds")
    if lag == 0 and row.get("worst_status") == contract.BEYOND_END:
        return None
    left = "still to read" if change.is_catching_up else "behind"
    parts = [] if lag is None else [f"{format_quantity(lag, 'record')} {left}"]
    was_rewound = contract.REWOUND in (
        row.get("worst_status"),
        change.incident.get("incident_worst_status"),
    )
    if age is not None and lag != 0:
        waited = _format_waited(age, row)
        # A record that is read again has not been unread since it was written.
        oldest = f"written {waited} ago" if was_rewound else f"unread for {waited}"
        parts.append(f"the oldest {oldest}")
    drain = _estimate_drain(change)
    if parts and drain is not None and drain > _SHORT_SECONDS:
        parts.append(f"worked off in {format_short_duration(drain, math.ceil)} at this speed")
    return ", ".join(parts) or None


def _estimate_drain(change: GroupChange) -> float | None:
    """Returns the seconds to work off the backlog; None unless it shrank in the last runs."""
    row = change.row
    is_over = row.get("cause") == contract.CATCHING_UP
    numbers: Row = read_evidence(row) if is_over else row
    drain: float | None = numbers.get("drain_seconds")
    shrinks = row.get("trend") == contract.SHRINKING and change.kind != contract.CAUGHT_UP
    return drain if shrinks else None


def _format_age(seconds: float) -> str:
    return format_short_duration(seconds, round)


def is_unwatched(change: GroupChange) -> bool:
    """Returns true if the reporter gives the group up although it may still exist."""
    return change.kind == contract.GONE and change.row.get("status_reason") in _UNWATCHED


def format_kind(change: GroupChange) -> str:
    """Returns the kind of a change in words."""
    if is_unwatched(change):
        return find_word(contract.UNWATCHED)
    # "resolved" reads as over.
    if change.is_catching_up:
        return "catching up"
    if change.kind == contract.SKIPPED:
        reasons = {contract.READ_OR_SKIPPED: "read or skipped", contract.GONE: "offsets gone"}
        return reasons.get(change.row.get("skip_reason") or "", "skipped")
    return change.kind.replace("promise", "SLA").replace("_", " ")


def find_worst_status(change: GroupChange) -> str | None:
    """Returns what the consumer does; None if the group is OK again, or gone."""
    if change.kind in (contract.RESOLVED, contract.GONE):
        return None
    worst: str | None = change.row.get("worst_status")
    return worst if worst in MEANINGS else None
