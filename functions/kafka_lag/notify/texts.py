# SPDX-License-Identifier: Apache-2.0
"""Lines about a group's changes for people; no AWS, no clock.

Unknown values are not mentioned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from kafka_lag import contract
from kafka_lag.notify.backlog import READINGS, Backlog, find_growth, find_speed
from kafka_lag.notify.group_change import ENDS, GroupChange, is_catching_up
from kafka_lag.notify.group_rows import (
    YOUNG_SECONDS,
    Row,
    count_skipped,
    identify_members,
    is_behind,
)
from kafka_lag.notify.troubles import LOSS, PROMISE, RISK, OpenTrouble, Trouble
from kafka_lag.snapshots.keys import object_key
from kafka_lag.wording.advice import advise, advise_on_deleted, advise_on_skip
from kafka_lag.wording.causes import CauseText, describe_cause
from kafka_lag.wording.evidence import read_evidence
from kafka_lag.wording.formatting import (
    format_minute,
    format_name,
    format_quantity,
    format_rate,
    format_short_duration,
)
from kafka_lag.wording.words import MEANINGS, describe_skip, find_word, is_always_rebalancing

# What is worked off sooner is not worth a word.
_SHORT_DRAIN_SECONDS = 60.0
# An age that is a least one may begin a run later.
_NEAR_MS = 120_000
# A backlog that falls so many times as fast as in the run before is not worked off alone.
_JUMP_TIMES = 3.0
# As long as a document lets one be.
_LONGEST_URL = 2_048
# A backlog that grows by less of what is written may as well stand still.
_CLEAR_GROWTH = 0.05
# Rates that are off by more of what is written are of another time.
_OFF_RATES = 0.25
# Those that rates explain.
_BY_RATES = (contract.FALLING_BEHIND, contract.SLOW)
_UNWATCHED = (contract.UNWATCHED, contract.TOPIC_UNWATCHED)
_RECOVERED = frozenset({contract.RESOLVED, contract.CAUGHT_UP})


def write_lines(changes: Sequence[GroupChange]) -> Iterator[str]:
    """One group's changes in a run, the worst first."""
    first, kinds = changes[0], {change.kind for change in changes}
    row, is_gone = first.row, first.kind == contract.GONE
    for change in changes:
        yield _write_headline(change)
    # What is still watched of such a group is well, and not what the message is about.
    is_watched = row.get("status_reason") not in _UNWATCHED
    if is_watched and (lag := format_lag(first)):
        yield f"{'When last seen' if is_gone else 'Now'}: {lag}."
    if is_watched:
        yield from _write_peak(changes, kinds)
        for change in changes:
            yield from _write_what_became(change)
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
    elif is_unwatched(first):
        yield f"To do: {_advise_unwatched(row)}."
    if owner := row.get("owner"):
        yield f"Owner: {format_name(owner)}."
    if (runbook := row.get("runbook_url")) and not kinds <= _RECOVERED:
        yield f"Runbook: {format_name(runbook, _LONGEST_URL)}"
    opened = "" if is_gone else f" opened {format_minute(first.incident.since)},"
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
            return f"{group} is {_explain_end(change)}. This is no recovery.{was}"
        case contract.LOSS_BEGUN:
            return (
                f"{group} loses records since {since}: retention deletes what it had not committed."
            )
        case contract.LOSS_NEAR:
            left = _format_time_left(change.row)
            return f"{group} is near a loss since {since}{f': {left}' if left else ''}."
        case contract.SKIPPED:
            return f"{group}, {since}: {describe_skip(change.row)}."
        case contract.PROMISE_BROKEN:
            return _write_broken_promise(change, group)
        case contract.RESOLVED:
            restless = "; it rebalanced all the time" if is_always_rebalancing(change.row) else ""
            past = f"{_describe_what_ended(change)}{restless}"
            if not is_catching_up(change):
                return f"{group} is OK since {since}{past}."
            left = format_quantity(change.row["lag"], "record")
            return (
                f"{group} is OK again since {since}, as it reads faster than is written, with "
                f"{left} left to catch up{past}."
            )
        case contract.CAUGHT_UP:
            return _write_caught_up(change, group)
        case contract.OPENED:
            before = ", and was never seen OK" if change.incident.first_seen_ill else ""
            return f"{group} is {change.status} since {since}{before}."
    return f"{group} is {change.status} since {since}, after {change.previous_status}."


def _write_caught_up(change: GroupChange, group: str) -> str:
    """Write that the backlog is gone, or that the rest of it stays."""
    was = _describe_past(change)
    ok = "" if change.ok_since is None else f", OK again since {format_minute(change.ok_since)}"
    if is_behind(change.row):
        return (
            f"{group} no longer catches up: what is left has not become less for half an hour, and "
            f"its status is OK{ok.removeprefix(', OK again')}{was}."
        )
    return f"{group} has caught up at {format_minute(change.since)}{ok}{was}."


def _write_broken_promise(change: GroupChange, group: str) -> str:
    """Write by how much the SLA is broken, and that the status is OK if it is."""
    age, promised = (change.row.get(name) for name in ("time_lag_seconds", "sla_seconds"))
    of = "" if promised is None else f" of {format_short_duration(promised)}"
    waited = "" if age is None else _format_waited(age, change.row, precise=True)
    has = f": the oldest unread has waited {waited}" if waited else ""
    is_ok = "; its status is OK" if change.status == contract.OK else ""
    since = format_minute(change.since)
    return f"{group} breaks its promise{of} (sla_seconds) since {since}{has}{is_ok}."


def _describe_what_ended(change: GroupChange) -> str:
    """Describe what the consumer did before it was OK, since when and for how long; else its
    status."""
    if past := _describe_past(change):
        return past
    worst, since = change.incident.worst_status, change.incident.status_since
    lasted = "" if since is None else f" for {_format_age((change.since - since) / 1_000)}"
    why = f" ({find_word(worst)})" if worst else ""
    return f", after {change.previous_status}{lasted}{why}"


def _describe_past(change: GroupChange) -> str:
    """Describe what the consumer did, since when and for how long; empty if unknown."""
    worst, since = change.incident.worst_status, change.incident.worst_since
    if worst is None or since is None:
        return ""
    began = _format_beginning(since, worst, change)
    end = change.since if change.ok_since is None else change.ok_since
    if worst == contract.REWOUND and (is_catching_up(change) or change.ok_since is not None):
        return f": it was set back at {began}"
    is_least = began.endswith(("earlier", "first seen"))
    lasted = _format_age((end - since) / 1_000)
    about = "at least " if is_least else "about " if began.startswith("about") else ""
    did = "had no member" if worst == contract.NO_MEMBER else f"was {find_word(worst)}"
    return f": it {did} since {began}, for {about}{lasted}"


def _write_peak(changes: Sequence[GroupChange], kinds: Set[str]) -> Iterator[str]:
    """Write the largest backlog of an incident, once its status is OK again."""
    first = changes[0]
    peak, written = first.incident.peak, first.row.get("produce_rate") or 0.0
    if peak is None or not kinds <= set(ENDS) or first.status != contract.OK:
        return
    if peak.records <= written * YOUNG_SECONDS:
        return
    parts = [f"{format_quantity(peak.records, 'record')} behind, at {format_minute(peak.at)}"]
    is_same_run = peak.seconds_at in (None, peak.at)
    # What was read again was not unread since then; and a bound goes with the backlog it is of.
    is_known = is_same_run or not peak.is_least
    if peak.seconds and is_known and first.incident.worst_status != contract.REWOUND:
        waited = _format_bounded(peak.seconds, is_least=peak.is_least)
        later = f"the longest wait was {waited}, at {format_minute(peak.seconds_at or peak.at)}"
        parts.append(f"the oldest had waited {waited}" if is_same_run else later)
    if peak.lost == 0:
        parts.append("retention deleted none of them")
    elif peak.lost:
        lost = format_quantity(peak.lost, "record")
        parts.append(f"not counting at least {lost} that retention deleted unread")
    yield f"At the most: {'; '.join(parts)}."


def find_lost(changes: Sequence[GroupChange]) -> int:
    """Records of an incident that retention is known to have deleted unread."""
    peak = changes[0].incident.peak
    ended = [change.ended.most for change in changes if change.kind == LOSS.ended and change.ended]
    return int(max(0, (peak and peak.lost) or 0, *(most or 0 for most in ended)))


def _write_what_became(change: GroupChange) -> Iterator[str]:
    """Write what became of the records that were unread during the incident.

    A commit says where a group reads on, and not what it has read.
    """
    if change.kind not in _RECOVERED or is_catching_up(change):
        return
    row, written = change.row, change.row.get("produce_rate") or 0.0
    is_beyond = change.incident.worst_status == contract.BEYOND_END
    is_beyond &= row.get("skip_reason") not in contract.SKIPPED_BEYOND_END
    if is_beyond and change.kind == contract.RESOLVED:
        yield _write_unknown_while_beyond(change, written)
    # A jump that was seen is one of the costs.
    before = _find_passed(change)
    skip = change.incident.skip
    is_reported = count_skipped(row) if skip is None else skip.before == before
    if before is None or is_reported or before.records <= written * YOUNG_SECONDS:
        return
    speed = _describe_speed(change, before, written)
    records = f"{format_quantity(before.records, 'record')} that were unread at"
    passed = f"the {records} {format_minute(before.at)}"
    now = identify_members(row)
    if before.members is not None and before.members == now:
        yield (
            f"Passed by its own members: {passed}{speed and f', {speed}'}. The same members were "
            "there before and after, so no tool set its offsets; they read these records, unless "
            "a member itself went ahead."
        )
        return
    others = "" if before.members is None or now is None else ", by other members than before"
    yield (
        f"Not known: whether {passed} were read or skipped. Its commit passed them"
        f"{speed and f' {speed}'}{others}; compare its results with the topic."
    )


def _write_unknown_while_beyond(change: GroupChange, written: float) -> str:
    """Write what is unknown about a group whose commit was beyond the end."""
    since = change.incident.worst_since
    if since is None or not written:
        what = "what was written"
    else:
        # Of the digits of such a product the first two say something.
        records = float(f"{written * (change.since - since) / 1_000:.2g}")
        what = f"the records (about {records:,.0f}, at {format_rate(written)}) that were written"
    return f"Not known: whether it read {what} while its commit was beyond the end."


def _find_passed(change: GroupChange) -> Backlog | None:
    """Return the backlog that the commit passed all at once; null if it went bit by bit."""
    if change.kind == contract.RESOLVED:
        return change.incident.backlog
    match change.incident.lately:
        case (*_, first, before, now) if not is_behind(change.row):
            speed = max(first.records - before.records, 0)
            return before if before.records - now.records > _JUMP_TIMES * speed else None
    return None


def _describe_speed(change: GroupChange, before: Backlog, written: float) -> str:
    """Describe how fast the commit passed the backlog, records/s; empty if unknown."""
    passed = (change.since - before.at) / 1_000
    if passed <= 0:
        return ""
    speed, usual = before.records / passed, before.consume_rate
    times = ""
    # Of a group that stood still there is no speed to compare with.
    if usual and usual > written * _CLEAR_GROWTH and speed > _JUMP_TIMES * usual:
        times = f", {speed / usual:,.0f} times as fast as it read before"
    return f"within {format_short_duration(passed)}, at {format_rate(speed)} or faster{times}"


def _write_end(change: GroupChange, ended: OpenTrouble, group: str) -> str:
    """Write which trouble ended, from when to when it lasted, and its largest extent."""
    row = change.row
    lasted = f"from {format_minute(ended.since)} to {format_minute(ended.seen_at)}"
    if change.kind == LOSS.ended:
        lost = f"at least {format_quantity(int(ended.most), 'record')}" if ended.most else "some"
        return (
            f"{group} loses no more records: {lasted} retention deleted {lost} that it had not "
            "committed."
        )
    if change.kind == RISK.ended:
        nothing = " Nothing was lost." if ended.most == 0 else ""
        speed = ", if it keeps its speed" if row.get("drain_seconds") and row.get("lag") else ""
        return f"{group} is no longer near a loss{speed}. It was near one {lasted}.{nothing}"
    if row.get("sla_seconds") is None:
        return f"{group} has no promise any more: it was broken {lasted}."
    oldest = f"; the longest wait was {_format_age(ended.most)}" if ended.most else ""
    promised = format_short_duration(row["sla_seconds"])
    return f"{group} keeps its promise of {promised} again: it was broken {lasted}{oldest}."


def _describe_open(change: GroupChange) -> str:
    """Describe the troubles of a group when it was last seen."""
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
        for name, trouble in change.incident.troubles.items()
        if name in words
    ]
    return f" It {' and '.join(parts)}." if parts else ""


def _explain_end(change: GroupChange) -> str:
    reason = change.row.get("status_reason")
    seen = change.row.get("taken_at")
    last = "" if seen is None else f" (last seen {format_minute(seen)})"
    if reason == contract.GONE:
        since = format_minute(change.since)
        # Offsets expire only where no member is left.
        expired = "" if change.row.get("members") else ", or its offsets expired"
        return f"gone since {since}{last}: somebody deleted it{expired}"
    return (
        f"gone{last}: no run since {format_minute(change.since)} has it; somebody deleted it, its "
        "offsets expired, or the configuration leaves it out"
    )


def _write_unwatched(change: GroupChange, group: str) -> str:
    """Write which group or topic is given up, because it was unreadable for so long."""
    row = change.row
    since = format_minute(change.since - contract.UNWATCHED_AFTER_MS)
    worst = change.incident.worst_status or row.get("worst_status")
    known = [change.previous_status] if change.previous_status != contract.OK else []
    known += [find_word(worst)] if known and worst else []
    was = f"Last known: {', '.join(known)}; whether" if known else "Whether"
    days = contract.UNWATCHED_AFTER_MS // 86_400_000
    return (
        f"{group} is no longer watched: brokers have shown the reporter nothing of "
        f"{_name_unwatched(row)} since {since} ({days} days). {was} it "
        f"recovered is unknown.{_describe_open(change) if change.incident.troubles else ''}"
    )


def _name_unwatched(row: Row) -> str:
    """Name the group or topic that the reporter may not see."""
    is_topic, name = row["status_reason"] == contract.TOPIC_UNWATCHED, row.get("worst_topic")
    if not is_topic:
        return "the group"
    return "one of its topics" if name is None else f"topic {format_name(name)}"


def _advise_unwatched(row: Row) -> str:
    """Advise how to watch it again, or how to stop watching it on purpose."""
    kind = "topics" if row["status_reason"] == contract.TOPIC_UNWATCHED else "groups"
    return (
        f"see whether the reporter may Describe {_name_unwatched(row)}, and allow it; or name it "
        f"in {kind}.deny of the configuration"
    )


def _write_who(change: GroupChange, kinds: Set[str]) -> Iterator[str]:
    """Write what the consumer does, and the worst partition with its broker and member."""
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
    by_rates = worst_status in _BY_RATES or (
        worst_status is None and contract.PROMISE_BROKEN in kinds
    )
    if by_rates and _has_turned(change):
        yield f"Lately: {_describe_growth(change)}."
    elif by_rates and (rates := _format_rates(row)):
        yield f"Rates, averaged over the last minutes: {rates}."
    # Where all is over nobody is to blame.
    if (worst_status or not kinds <= set(ENDS)) and (worst := format_worst(row)):
        yield f"Worst: {worst}."


def _format_rewound(row: Row, again: int) -> str:
    """Records that are read a second time, and how many of them are still to come."""
    evidence = read_evidence(row)
    at, before = (evidence.get(name) for name in ("committed_offset", "rewound_from"))
    # Evidence is of one partition, the costs are of all.
    if evidence.get("partitions") == 1 and isinstance(at, int) and isinstance(before, int):
        every = before - at
        if every > again:
            records = format_quantity(every, "record")
            return f"{records} are read a second time; of these {again:,} are still to come"
    return f"{format_quantity(again, 'record')} to read again, up to where it was before"


def _write_costs(change: GroupChange, kinds: Set[str]) -> Iterator[str]:
    """Write what is lost, or soon will be, and the SLA; also if the status is OK again."""
    row = change.row
    if lost := row.get("records_lost"):
        since = _format_since(LOSS, row, kinds)
        records = format_quantity(lost, "record")
        yield f"Lost so far: {records} that retention deleted{since} before it had committed them."
    elif contract.LOSS_NEAR not in kinds and (left := _format_time_left(row)):
        yield f"At risk: {left}{_format_since(RISK, row, kinds)}."
    skip = change.incident.skip
    if skip is not None and contract.RESOLVED in kinds:
        before, after = skip.before, skip.after
        yield (
            f"Skipped: {format_quantity(skip.records, 'record')} that it never read, as "
            f"its offsets were set ahead: {before.records:,} behind at {format_minute(before.at)}, "
            f"{after.records:,} at {format_minute(after.at)}, and nobody read on then."
        )
    elif contract.SKIPPED in kinds:
        pass
    elif row.get("skip_reason") in (*contract.SKIPPED_BEYOND_END, contract.GONE):
        yield f"Skipped: {describe_skip(row)}."
    elif skipped := count_skipped(row):
        records = format_quantity(skipped, "record")
        yield f"Skipped: {records} that it never read, as its offsets were set ahead."
    if contract.PROMISE_BROKEN not in kinds and row.get(PROMISE.held_since) is not None:
        yield f"Promise broken{_format_since(PROMISE, row, kinds)}{_format_promise(row)}."


def _write_hints(change: GroupChange) -> Iterator[str]:
    """Write further facts about the group, and what to do."""
    row = change.row
    if unknown := row.get("partitions_unknown"):
        yield f"Not read: {format_quantity(unknown, 'partition')}, counted as last seen."
    if row.get("unusual"):
        yield f"Unusual: {_describe_usual(row)}."
    if (held_up := row.get("held_up_records")) is not None:
        where = f"{format_name(row['open_transaction_topic'])}"
        yield (
            f"Open transaction: in {where} partition {row['open_transaction_partition']}, since "
            f"{format_minute(row['open_transaction_since'])}; it holds up "
            f"{format_quantity(held_up, 'record')}."
        )
    # markers of transactions are never read, and leave a group that is done one behind
    if row.get("max_lag") == 1:
        yield "Hint: if the topic is written in transactions, set its allowed_lag to 1."
    cause = _describe_cause(change)
    if cause is not None:
        # It keeps the numbers of the run that named it.
        as_found = ", with the rates of when it was found" if "/s" in cause.happened else ""
        yield f"Cause{as_found}: {cause.happened}."
    if to_do := _advise(change):
        yield f"To do: {to_do}."
    if cause is not None:
        yield f"To look: {cause.command}"
        if cause.repair is not None:
            yield f"To repair: {cause.repair}"


def _describe_cause(change: GroupChange) -> CauseText | None:
    """The cause of a group that is still in trouble; None where none is known."""
    cause = change.row.get("cause")
    if cause in (None, contract.UNEXPLAINED) or change.kind == contract.GONE:
        return None
    return describe_cause(change.row, first_seen_at=change.incident.first_seen_at)


def _write_worst_status(worst_status: str, change: GroupChange) -> str:
    """Write what the consumer does, since when, and what that means."""
    since = change.row.get("worst_status_since")
    began = "" if since is None else f" since {_format_beginning(since, worst_status, change)}"
    meaning = MEANINGS[worst_status]
    if read_evidence(change.row).get("topic_was") is not None:
        meaning = meaning.partition(";")[0]
    if worst_status == contract.FALLING_BEHIND and _grows(change.row):
        meaning = "the backlog grows"
    if worst_status == contract.SLOW and _is_worked_off_soon(change.row):
        # What was too slow stays so for some runs, until it surely is not.
        meaning = "the backlog shrinks, but only lately fast enough"
    text = f"{find_word(worst_status).capitalize()}{began}: {meaning}"
    return text if text.endswith("?") else f"{text}."


def _is_worked_off_soon(row: Row) -> bool:
    """Return true if the present speed is too high for the status `slow`."""
    drain, age = row.get("drain_seconds"), row.get("time_lag_seconds")
    return drain is not None and age is not None and drain <= age * contract.SLOW_FROM_AGES


def _grows(row: Row) -> bool:
    """Return true if clearly less is read than is written."""
    produced, consumed = row.get("produce_rate"), row.get("consume_rate")
    if produced is None or consumed is None:
        return False
    return bool(consumed < produced * (1 - _CLEAR_GROWTH))


def _format_beginning(since: int, worst_status: str, change: GroupChange) -> str:
    """The moment, and how sure it is: nobody saw what was so at first sight begin."""
    if worst_status == contract.FALLING_BEHIND:
        return f"about {format_minute(since)}"
    incident, first_seen_at = change.incident, change.incident.first_seen_at
    if first_seen_at is not None and _is_near(since, first_seen_at):
        return f"before {format_minute(first_seen_at)}, when the group was first seen"
    # Of a backlog that a run saw begin, as a stop ended, nothing is earlier.
    is_seen = since in (change.row.get("status_since"), incident.status_since)
    or_earlier = (worst_status == contract.SLOW and not is_seen) or incident.first_seen_ill
    return f"{format_minute(since)}{' or earlier' if or_earlier else ''}"


def _is_near(one: int, other: int) -> bool:
    return abs(one - other) < _NEAR_MS


def _write_rebalancing(worst_status: str | None, change: GroupChange) -> str:
    """Write that the group rebalances, and what follows from it."""
    since = change.row.get("worst_status_since")
    if worst_status in (contract.STALLED, contract.STOPPED):
        nothing = "nothing" if since is None else f"nothing since {format_minute(since)}"
        return f"Rebalancing all the time: it commits {nothing} ({find_word(worst_status)})."
    if worst_status is None:
        return "Rebalancing all the time: it reads little meanwhile."
    return f"Rebalancing all the time. {_write_worst_status(worst_status, change)}"


def _format_rates(row: Row) -> str | None:
    """Format both rates, so that rates that differ look different; null unless both are known."""
    produced, consumed = row.get("produce_rate"), row.get("consume_rate")
    if produced is None or consumed is None:
        return None
    written, read = format_rate(produced), format_rate(consumed)
    for digits in range(1, 4):
        if written == read and produced != consumed:
            written, read = f"{produced:,.{digits}f}/s", f"{consumed:,.{digits}f}/s"
    return f"{written} written to its topics, {read} read"


def _has_turned(change: GroupChange) -> bool:
    """Return true if the backlog turned in the last runs: the rates, which are averages, show that
    minutes later."""
    growth = find_growth(change.incident.lately)
    produced, consumed = (change.row.get(name) for name in ("produce_rate", "consume_rate"))
    if growth is None or not produced or consumed is None:
        return False
    off = _OFF_RATES * produced
    return bool(growth[0] > produced - consumed + off or growth[1] < produced - consumed - off)


def _describe_growth(change: GroupChange) -> str:
    """Describe how the backlog changed in the last runs."""
    lately = change.incident.lately
    first, last = lately[-READINGS], lately[-1]
    span = format_short_duration((last.at - first.at) / 1_000)
    written = f"{format_rate(change.row['produce_rate'])} are written to its topics"
    behind = format_quantity(last.records, "record")
    if _keeps_pace(change):
        return f"it keeps pace, {behind} behind for {span}; {written}"
    way = "grew" if last.records > first.records else "went"
    nothing = ", and nothing was read" if _reads_nothing(change) else ""
    return f"the backlog {way} from {first.records:,} to {behind} in {span}; {written}{nothing}"


def _keeps_pace(change: GroupChange) -> bool:
    """Return true if as much was read as written in the last runs."""
    growth, written = find_growth(change.incident.lately), change.row.get("produce_rate")
    if growth is None or not written:
        return False
    return bool(max(map(abs, growth)) < _CLEAR_GROWTH * written)


def _reads_nothing(change: GroupChange) -> bool:
    """Return true if the backlog grew by all that was written in the last runs."""
    growth, written = find_growth(change.incident.lately), change.row.get("produce_rate")
    return bool(growth and written and growth[0] >= (1 - _CLEAR_GROWTH) * written)


def _describe_usual(row: Row) -> str:
    """Describe the group's usual values; unknown ones are not mentioned."""
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
    """Since when it is so, unless a headline says it."""
    since = row.get(trouble.held_since)
    return "" if since is None or trouble.begun in kinds else f" since {format_minute(since)}"


def _format_time_left(row: Row) -> str | None:
    """Format how soon after the run a loss may come; null if none is in sight."""
    left, taken_at = row.get("seconds_until_loss"), row.get("taken_at")
    if left is None or not left < contract.NO_LOSS_SECONDS:
        return None
    at = "" if taken_at is None else f", at {format_minute(int(taken_at + 1_000 * left))}"
    return f"retention may delete unread records in {format_short_duration(left)}{at}"


def _format_promise(row: Row) -> str:
    """Format by how much the SLA is broken."""
    age, promised = row.get("time_lag_seconds"), row.get("sla_seconds")
    if age is None or promised is None:
        return ""
    waited = _format_waited(age, row, precise=True)
    promise = format_short_duration(promised)
    return f": the oldest unread has waited {waited}, promised are {promise} at most"


def _format_waited(age: float, row: Row, *, precise: bool = False) -> str:
    """The age of the oldest unread record."""
    is_least = row.get("time_lag_method") == contract.METHOD_AT_LEAST
    return _format_bounded(age, is_least=is_least, precise=precise)


def _format_bounded(seconds: float, *, is_least: bool, precise: bool = False) -> str:
    """A duration; one that may be any longer is cut, not rounded."""
    if is_least:
        return f"at least {format_short_duration(seconds, precise=precise)}"
    return format_short_duration(seconds, round, precise=precise)


def _advise(change: GroupChange) -> str | None:
    if change.kind == contract.GONE:
        return advise_on_deleted(change.row)
    if change.kind == contract.SKIPPED and not count_skipped(change.row):
        return advise_on_skip()
    return advise(change.row)


def format_worst(row: Row) -> str | None:
    """The worst partition, its leader and its member; None: no partition is the cause."""
    if row.get("worst_topic") is None:
        return None
    worst = f"{format_name(row['worst_topic'])} partition {row['worst_partition']}"
    leader, member = row.get("worst_leader"), row.get("worst_member")
    worst += ", no leader known" if leader is None else f", led by broker {leader}"
    if member is not None:
        # While members come and go, it is another one a moment later.
        owned = "owned just then" if is_always_rebalancing(row) else "read"
        return f"{worst}, {owned} by {format_name(member)}"
    return worst + (", read by nobody" if row.get("members") == 0 else ", no member known")


def format_lag(change: GroupChange) -> str | None:
    """Lag, age and how soon it is worked off; None where neither of the first is known.

    A commit beyond the end lags by nothing that can be counted.
    """
    row = change.row
    lag, age = row.get("lag"), row.get("time_lag_seconds")
    if lag == 0 and row.get("worst_status") == contract.BEYOND_END:
        return None
    left = "still to read" if is_catching_up(change) else "behind"
    parts = [] if lag is None else [f"{format_quantity(lag, 'record')} {left}"]
    was_rewound = contract.REWOUND in (row.get("worst_status"), change.incident.worst_status)
    if age is not None and lag != 0:
        waited = _format_waited(age, row)
        # What is read again was not unread since then.
        oldest = f"written {waited} ago" if was_rewound else f"unread for {waited}"
        parts.append(f"the oldest {oldest}")
    drain = _estimate_drain(change)
    if parts and drain is not None and drain > _SHORT_DRAIN_SECONDS:
        parts.append(f"worked off in {_format_age(drain)} at this speed")
    return ", ".join(parts) or None


def _estimate_drain(change: GroupChange) -> float | None:
    """Seconds until nothing is unread, by what the last runs saw; else by the rates.

    Those are averages: for some minutes after a turn they are of what was before it.
    """
    row, lag, lately = change.row, change.row.get("lag"), change.incident.lately
    speed = find_speed(lately)
    if speed is not None and lag:
        return float(lag / speed)
    turned = change.status == contract.OK or change.kind == contract.BETTER
    was_rewound = row.get("worst_status") == contract.REWOUND
    grew = len(lately) > 1 and lately[0].records <= lately[-1].records
    drain: float | None = row.get("drain_seconds")
    return None if turned or was_rewound or grew else drain


def _format_age(seconds: float) -> str:
    return format_short_duration(seconds, round)


def is_unwatched(change: GroupChange) -> bool:
    """Return true if the reporter gives the group up although it may still exist."""
    return change.kind == contract.GONE and change.row.get("status_reason") in _UNWATCHED


def format_kind(change: GroupChange) -> str:
    """The kind of a change in words."""
    if is_unwatched(change):
        return find_word(contract.UNWATCHED)
    # "resolved" reads as over.
    if is_catching_up(change):
        return "catching up"
    if change.kind == contract.SKIPPED:
        reasons = {contract.READ_OR_SKIPPED: "read or skipped", contract.GONE: "offsets gone"}
        return reasons.get(change.row.get("skip_reason") or "", "skipped")
    return change.kind.replace("_", " ")


def find_worst_status(change: GroupChange) -> str | None:
    """Return what the consumer does; null if the group is OK again, or gone."""
    if change.kind in (contract.RESOLVED, contract.GONE):
        return None
    worst: str | None = change.row.get("worst_status")
    return worst if worst in MEANINGS else None
