# SPDX-License-Identifier: Apache-2.0
"""Texts of causes, and what to do first: one table for messages, status page, terminal and report.

Sentences are filled with the group's own names and numbers, from its row of `groups`. Strangers
chose the names, so they are escaped here against line breaks and quoted in commands; HTML escapes
them once more.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kafka_lag import contract
from kafka_lag.contract.words import find_word
from kafka_lag.formatting import (
    cut_end,
    escape_name,
    format_minute,
    format_quantity,
    format_rate,
    format_share,
    format_short_duration,
    question_mark,
)

_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class CauseText:
    """A group's cause: a sentence on what happened, what to do first, and a command to check it."""

    happened: str
    to_do: str
    command: str


@dataclass(frozen=True, slots=True)
class _Template:
    """Sentences for a cause; the first of `happened` whose fields are all known is used."""

    happened: tuple[str, ...]
    to_do: str
    command: str


# Advice that is also used for statuses, whatever the cause.
START = "start its consumers"
FIND_RESTLESS = (
    "find out why members come and go: crashes, session.timeout.ms, max.poll.interval.ms"
)
ASK_WHO_REWOUND = "ask who set its offsets back; if it was meant, it catches up by itself"
SET_ANEW = (
    "stop the group and set its offsets anew: to the earliest, if it shall read all that is there"
)
ASK_WHETHER_MADE_ANEW = f"ask whether the topic was deleted and made anew; if so, {SET_ANEW}"


_TOOL = "--bootstrap-server BROKERS"
_MEMBERS = f"kafka-consumer-groups {_TOOL} --describe --group {{group_arg}} --members --verbose"
_OFFSETS = f"kafka-consumer-groups {_TOOL} --describe --group {{group_arg}}"
_STATE = f"kafka-consumer-groups {_TOOL} --describe --group {{group_arg}} --state"
_RECORD = (
    f"kafka-console-consumer {_TOOL} --topic {{topic_arg}} --partition {{partition}} "
    "--offset {offset} --max-messages 1"
)
_TOPIC = f"kafka-topics {_TOOL} --describe --topic {{topic_arg}}"

_TEMPLATES: Mapping[str, _Template] = {
    contract.MORE_PRODUCED: _Template(
        (
            "More is written than before: {produce_rate}, {produce_rate_before} until "
            "{kept_up_at}; the group reads {consume_rate}, as much as it did or more",
            "More is written than is usual at this hour: {produce_rate}, usually "
            "{usual_produce_rate}",
        ),
        "ask the producers what changed; if it lasts, {more_members}",
        _OFFSETS,
    ),
    contract.CAPACITY_FELL: _Template(
        (
            "Less is read than before: it reads {consume_rate} of the {produce_rate} written, and "
            "read {consume_rate_before} until {kept_up_at}",
            "Less is read than before: it reads {consume_rate}, and read {consume_rate_before} "
            "until {kept_up_at}",
        ),
        "look at what its members need: a database or service they call, a new release, their "
        "processor; more members may make it worse",
        _MEMBERS,
    ),
    contract.TOO_FEW_MEMBERS: _Template(
        (
            "Too few members: {members}, {members_before} until {kept_up_at}; those that are left "
            "read {consume_rate} of {produce_rate}",
            "Too few members: {members}, of which each reads {capacity} at the most; "
            "{produce_rate} are written",
            "Too few members: {members}; they read {consume_rate} of {produce_rate}",
        ),
        "start the members that are missing, or raise the number of tasks; see why they left",
        _MEMBERS,
    ),
    contract.HOT_PARTITION: _Template(
        (
            "Partition {partition} of {topic} gets {produce_rate}, others {produce_rate_of_others} "
            "on average: too many records have its keys; {consume_rate} of it are read",
            "Partition {partition} of {topic} alone is behind, as its records take longer: "
            "{consume_rate} of {produce_rate} are read, and its member reads its others in time",
        ),
        "look at the keys and records of that partition; more members do not help, as it has one "
        "reader",
        f"kafka-console-consumer {_TOOL} --topic {{topic_arg}} --partition {{partition}} "
        "--offset latest --property print.key=true --max-messages 100",
    ),
    contract.SLOW_MEMBER: _Template(
        (
            "One member does not read: {member} on {host} has committed nothing since "
            "{stands_since}; no other member is behind",
            "One member is slow: {member} on {host} reads {consume_rate} of {produce_rate}; no "
            "other member is behind",
            "One member is slow: {member} reads {consume_rate} of {produce_rate}; no other member "
            "is behind",
        ),
        "restart {member}, or look at its host and log",
        _MEMBERS,
    ),
    contract.STUCK_RECORD: _Template(
        (
            "One record is not processed: partition {partition} of {topic} stands at offset "
            "{offset} since {stuck_since}, though {member} owns it and others move",
        ),
        "look at that record, and at the log of {member}; skip it, or repair what fails",
        _RECORD,
    ),
    contract.STOPPED: _Template(
        (
            "Nobody reads: no commit was seen since {first_seen_at}, when the group was first "
            "seen, and no member owns what is behind",
            "Nobody reads: no commit was seen after {last_commit_at}, and no member owns what is "
            "behind",
            "Nobody reads: no member owns what is behind",
        ),
        START,
        _STATE,
    ),
    contract.REBALANCES: _Template(
        (
            "The group rebalances again and again (in {rebalancing_share} of the reporter's last "
            "runs), and reads {consume_rate} of {produce_rate}",
            "The group rebalances again and again (in {rebalancing_share} of the reporter's last "
            "runs)",
        ),
        FIND_RESTLESS,
        _STATE,
    ),
    contract.SLOW_BROKER: _Template(
        ("Broker {broker}: {groups} are behind on {partitions} that it leads, and on no others",),
        "look at broker {broker}: its processor, disk and network; consumers need nothing",
        f"kafka-topics {_TOOL} --describe --under-replicated-partitions",
    ),
    contract.UNAVAILABLE: _Template(
        (
            "No leader: partition {partition} of {topic} can neither be written nor read since "
            "{last_read_at}; so it is with {partitions_without_leader} of {partitions_of_group} of "
            "the group",
            "Only under-replicated partitions are behind ({partitions_under_replicated}), such as "
            "partition {partition} of {topic}: {in_sync_replicas} of {replicas} replicas are in "
            "sync, led by broker {broker}",
        ),
        "look at the brokers that hold its replicas; consumers need nothing",
        f"kafka-topics {_TOOL} --describe --topic {{topic_arg}}",
    ),
    contract.OPEN_TRANSACTION: _Template(
        (
            "An open transaction holds up partition {partition} of {topic} since {open_since}: "
            "{held_up_records} after it cannot be read",
            "An open transaction holds up what is to be read",
        ),
        "find its producer and end it, or abort the transaction; consumers need nothing",
        f"kafka-transactions {_TOOL} describe-producers --topic {{topic_arg}} "
        "--partition {partition}",
    ),
    contract.RETENTION_RACE: _Template(
        (
            "Retention deletes records of partition {partition} of {topic} before they are read: "
            "they are kept for {retention_ms}, and {records_lost} of it are lost; the group reads "
            "{consume_rate} of {produce_rate}",
            "Retention deletes records of partition {partition} of {topic} before they are read",
        ),
        "raise retention.ms or retention.bytes of {topic}",
        f"kafka-configs {_TOOL} --describe --entity-type topics --entity-name {{topic_arg}}",
    ),
    contract.OFFSETS_RESET: _Template(
        (
            "Offsets were set back: that of partition {partition} of {topic} from {rewound_from} "
            "to {committed_offset}",
            "The commit of partition {partition} of {topic} ({committed_offset}) lies beyond the "
            "end of the log ({end_offset}): the topic was {topic_was}",
            "The commit of partition {partition} of {topic} ({committed_offset}) lies beyond the "
            "end of the log ({end_offset}): the topic was made anew, or cut",
        ),
        "{advice_on_reset}",
        _OFFSETS,
    ),
    contract.UNEXPLAINED: _Template(
        (
            "Not known: no cause fits the figures alone ({consume_rate} read of {produce_rate} "
            "written, {members})",
            "Not known: no cause fits the figures alone",
        ),
        "look at the log of its members",
        _MEMBERS,
    ),
}


_UNSETTLED = (
    "{rebalancing_share} of the last runs saw a rebalance: below {rebalancing_share_below} what it "
    "reads would say something"
)
# Why a cause does not fit, as a clause; the first whose fields are all known is used.
_RULED_OUT: Mapping[str, tuple[str, ...]] = {
    contract.UNAVAILABLE: (
        "no partition is without a leader for a second run; of those behind "
        "{behind_under_replicated} of {partitions_behind} are under-replicated, of those in time "
        "{in_time_under_replicated} of {partitions_in_time}",
    ),
    contract.OFFSETS_RESET: (
        "no commit was set back; of {partitions_read_again} a little was read again",
        "{partitions_set_back} of {partitions} had its commit set back, or beyond the end",
    ),
    contract.REBALANCES: (
        "{rebalancing_share} of the last runs saw one, but it is one that goes on: its epoch is "
        "{same_epoch}, as before",
        "{rebalancing_share} of the last runs saw one; {rebalancing_share_from} would count",
        "how often it rebalances is not known",
    ),
    contract.OPEN_TRANSACTION: (
        "an open transaction holds up {held_up_records}, and the {status} has another reason",
        "an open transaction holds up {held_up_records}",
    ),
    contract.STOPPED: (
        "{partitions_owned} of {partitions_behind} partitions behind have an owner, and the "
        "status is {worst_status}",
        "{partitions_owned} of {partitions_behind} partitions behind have an owner",
    ),
    contract.RETENTION_RACE: (
        "{partitions_with_losses} partitions lost records; {of_these_read} of them are read, and "
        "the status is {worst_status}",
        "{partitions_with_losses} partitions lost records; {of_these_read} of them are read",
    ),
    contract.HOT_PARTITION: (
        "{partitions_behind} of {partitions_read} are behind (fewer than {partitions_behind_below} "
        "would fit); to these {produce_rate} are written at least, {produce_rate_from} would fit",
        "{partitions_behind} behind, of which {partitions_unmoved} do not move; one alone that "
        "moves would fit, of several of its member (it has {partitions_of_member})",
        "{partitions_unmoved} of {partitions_behind} partitions behind do not move",
        "{partitions_behind} of {partitions_read} partitions are behind: no others to compare with",
    ),
    contract.SLOW_BROKER: (
        "{partitions_behind} of {partitions_there} that broker {broker} leads are behind; nearly "
        "all, and those of another group, would fit",
        "what is behind is led by {brokers_of_what_is_behind} brokers",
    ),
    contract.STUCK_RECORD: (
        "the member moves none of its {partitions_of_member_unmoved} partitions, not one alone",
        "{partitions_stalled} of {partitions_behind} partitions behind stand still with an owner; "
        "{partitions_moving} others move",
    ),
    contract.TOO_FEW_MEMBERS: (
        _UNSETTLED,
        "{members}, {members_before} before, but more is written: {produce_rate}, "
        "{produce_rate_before} before",
        "{members}, {members_before} before; each reads {read_by_each}, and "
        "{read_by_each_from} would be as much as before",
        "{members}, {members_before} before",
        "it was never seen to keep up; {members} with {capacity} each, {produce_rate} are written "
        "to {partitions_read} partitions",
        "{partitions_behind} of {partitions_read} are behind; {produce_rate} are written to them",
        "how many members it has, or had, is not known",
    ),
    contract.SLOW_MEMBER: (
        _UNSETTLED,
        "{partitions_behind} of the {partitions_of_member} partitions of one member are behind; "
        "{partitions_behind_from} would fit",
        "one member is behind, but it gets {produce_rate}, others {produce_rate_of_others}",
        "{members_behind} of {members_read} members are behind",
        "{read_share} of what was read before of what is behind, but {read_of_written} of what is "
        "written to it",
        "{read_share} of what was read before of what is behind; below {read_share_below} would "
        "be less",
        "{partitions_behind} of {partitions_read} are behind; {produce_rate} are written to them",
    ),
    contract.MORE_PRODUCED: (
        _UNSETTLED,
        "more is written, {produce_rate} after {produce_rate_before}, but less is read as well: "
        "{read_share} of before",
        "{produce_rate} are written, {produce_rate_before} before; {produce_rate_from} would be "
        "more",
        "{produce_rate} are written, {usual_produce_rate} usually; {produce_rate_from} would be "
        "more",
        "{partitions_behind} of {partitions_read} are behind; {produce_rate} are written to them",
        "what is usual is not known",
    ),
    contract.CAPACITY_FELL: (
        _UNSETTLED,
        "{read_share} of before is read of what is behind, but {members_behind} of {members_read} "
        "members alone are behind",
        "{read_share} of before is read of what is behind; below {read_share_below} would be less",
        "{partitions_behind} of {partitions_read} are behind; {produce_rate} are written to them",
    ),
}
# Clauses used instead if the named number is 0.
_NONE_OF_IT: Mapping[str, tuple[str, str]] = {
    contract.OPEN_TRANSACTION: ("held_up_records", "no open transaction holds it up"),
    contract.OFFSETS_RESET: (
        "partitions_set_back",
        "no commit was set back, and none lies beyond the end",
    ),
    contract.RETENTION_RACE: ("partitions_with_losses", "no record was lost"),
    contract.UNAVAILABLE: (
        "partitions_behind",
        "no partition is without a leader for a second run, and none is behind",
    ),
    contract.STOPPED: ("partitions_behind", "no partition is behind"),
    contract.HOT_PARTITION: ("partitions_behind", "no partition is behind"),
    contract.STUCK_RECORD: ("partitions_behind", "no partition is behind"),
    contract.SLOW_BROKER: (
        "brokers_of_what_is_behind",
        "no broker is known to lead what is behind",
    ),
}
_NEVER_KEPT_UP = (
    "it was never seen to keep up, or not since a long time without a run: there is nothing to "
    "compare with"
)


def describe_ruled_out(cause: str, evidence: Mapping[str, Any]) -> str:
    """Returns why a cause does not fit a group, from the numbers of its rule."""
    fields = _format_evidence(evidence)
    number, none = _NONE_OF_IT.get(cause, ("", ""))
    if evidence.get(number) == 0:
        return none
    found = next((text for text in _RULED_OUT.get(cause, ()) if _fits(text, fields)), None)
    says_nothing = found is None or "{" not in found
    if found is None or (says_nothing and evidence.get("kept_up") is False):
        return _NEVER_KEPT_UP
    return found.format_map(fields)


def describe_cause(row: Mapping[str, Any], *, first_seen_at: int | None = None) -> CauseText | None:
    """Returns the cause in words, from a group's row; None if it is unknown or of a later version.

    `first_seen_at`, ms UTC: the run that first saw the group, if it was already in this trouble.
    """
    template = _TEMPLATES.get(row.get("cause") or "")
    if template is None:
        return None
    fields = _format_fields(row)
    if first_seen_at is not None:
        fields["first_seen_at"] = format_minute(first_seen_at)
    happened = next((text for text in template.happened if _fits(text, fields)), None)
    text = (happened or row["cause"].replace("_", " ")).format_map(fields)
    since = None if row.get("cause_since") is None else format_minute(row["cause_since"])
    return CauseText(
        text if since is None or since in text else f"{text} (since {since})",
        template.to_do.format_map(_Fallbacks(fields)),
        template.command.format_map(_Fallbacks(fields)),
    )


_SKIPS = {
    contract.SET_AHEAD: "{records} were skipped, as its offsets were set ahead",
    contract.TRUNCATED: (
        "{records} were skipped for ever, as the log was truncated: they were written below its "
        "commit, from which it reads on"
    ),
    contract.RECREATED: (
        "{records} were skipped, as the topic was recreated: they were written below its commit of "
        "the old topic, from which it reads on"
    ),
    contract.BEYOND_END: (
        "{records} were skipped, as its commit lay beyond the end of the log while they were "
        "written"
    ),
    contract.GONE: (
        "{records} were left unread: its offsets of them are gone, as they expired or somebody "
        "deleted them"
    ),
    contract.READ_OR_SKIPPED: (
        "read or skipped: not known of {records}; its commit passed them at once, and it may have "
        "had no member meanwhile"
    ),
}


def describe_skip(row: Mapping[str, Any]) -> str | None:
    """Returns the records that a group skipped within the window, in words that can follow a colon,
    from its row of `groups`; None if it skipped none.

    A reason of a later version is named by its own word. Rows of earlier versions have no reason,
    because those knew only offsets that were set ahead.
    """
    skipped, reason = row.get("records_skipped"), row.get("skip_reason") or contract.SET_AHEAD
    if not skipped:
        return None
    records = format_quantity(skipped, "record")
    if reason not in _SKIPS:
        return f"{records} were skipped: {find_word(reason)}"
    return _SKIPS[reason].format(records=records)


def read_evidence(row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the numbers that decided a cause; empty if they are unknown or not readable."""
    try:
        found = json.loads(row.get("cause_evidence") or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


class _Fallbacks(dict[str, str]):
    """Fields, with a word in place of one that is not known."""

    def __missing__(self, name: str) -> str:
        return {"member": "its member", "topic": "its topic"}.get(
            name, name.removesuffix("_arg").upper()
        )


def _fits(text: str, fields: Mapping[str, str]) -> bool:
    try:
        text.format_map(fields)
    except KeyError:
        return False
    return True


_RATES = (
    *("produce_rate", "produce_rate_before", "produce_rate_of_others", "usual_produce_rate"),
    *("produce_rate_from", "produce_rate_below", "consume_rate", "consume_rate_before"),
    *("capacity", "read_by_each", "read_by_each_before", "read_by_each_from"),
)
_SHARES = (
    *("rebalancing_share", "rebalancing_share_from", "rebalancing_share_below"),
    *("read_share", "read_share_below", "read_of_written"),
)
_FORMATS: Mapping[str, Callable[[Any], str]] = {
    **dict.fromkeys(_RATES, format_rate),
    **dict.fromkeys(_SHARES, format_share),
    **dict.fromkeys(("kept_up_at", "stuck_since", "last_commit_at", "last_read_at"), format_minute),
    "stands_since": format_minute,
    "open_since": format_minute,
    "members": lambda number: format_quantity(round(number), "member"),
    "members_before": lambda number: f"{number:,.0f}",
    "groups": lambda number: format_quantity(number, "group"),
    "held_up_records": lambda number: format_quantity(number, "record"),
    "records_lost": lambda number: format_quantity(number, "record"),
    "retention_ms": lambda ms: format_short_duration(ms / 1_000, precise=True),
}
_FATES = {
    contract.MADE_ANEW: "deleted and made anew: its id is another one",
    contract.CUT: "cut: its id is as it was, and its end went back",
}
_OFFSET_FIELDS = ("committed_offset", "rewound_from", "end_offset")


def _format_fields(row: Mapping[str, Any]) -> dict[str, str]:
    """Returns the fields that templates may use, as people read them."""
    evidence = read_evidence(row)
    fields = _format_evidence(evidence)
    fields["group_arg"] = _quote(row.get("consumer_group"))
    fields["advice_on_reset"] = _advise_on_reset(row, evidence)
    fields["more_members"] = _advise_members(row.get("members"), row.get("partitions"))
    if isinstance(evidence.get("topic"), str):
        fields["topic_arg"] = _quote(evidence["topic"])
    return fields


def _advise_on_reset(row: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
    if evidence.get("topic_was") == contract.MADE_ANEW:
        return SET_ANEW
    is_rewound = row.get("worst_status") == contract.REWOUND or "rewound_from" in evidence
    return ASK_WHO_REWOUND if is_rewound else ASK_WHETHER_MADE_ANEW


def _advise_members(members: int | None, partitions: int | None) -> str:
    """Returns advice on adding members, of which no partition can have two."""
    if not members or not partitions:
        return "add members, as many as there are partitions at most"
    if members < partitions:
        read = "reads" if members == 1 else "read"
        return f"add members: {members:,} {read} {format_quantity(partitions, 'partition')}"
    each = "its only partition" if partitions == 1 else f"each of its {partitions:,} partitions"
    return f"add partitions and members, as {each} has a member already"


def _format_evidence(evidence: Mapping[str, Any]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for name, value in evidence.items():
        if value is None:
            continue
        if name in _FORMATS and isinstance(value, int | float):
            fields[name] = _FORMATS[name](value)
        elif name == "topic_was":
            if value in _FATES:
                fields[name] = _FATES[value]
        elif name in _OFFSET_FIELDS:
            fields[name] = f"{value:,}" if isinstance(value, int) else _show(value)
        else:
            fields[name] = _show(find_word(value) if name == "worst_status" else value)
    if isinstance(partitions := evidence.get("partitions"), int):
        fields["partitions"] = format_quantity(partitions, "partition")
        fields["partitions_of_group"] = fields["partitions"]
    return fields


def _show(value: Any) -> str:
    return cut_end(escape_name(str(value), question_mark, "(no name)"), _LONGEST_NAME)


def _quote(value: Any) -> str:
    return shlex.quote(_show("" if value is None else value))
