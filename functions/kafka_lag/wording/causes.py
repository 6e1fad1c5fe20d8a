# SPDX-License-Identifier: Apache-2.0
"""The table of causes: sentences on what happened and what to do, and commands to look and repair.

Sentences are filled with the group's own names and numbers, from its row of `groups`. Strangers
chose the names, so they are escaped against line breaks and quoted in commands; HTML escapes them
once more. `advice.advise` decides whether the advice on the cause is what a group needs first.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka_lag import contract
from kafka_lag.wording.evidence import fits, format_evidence, read_evidence
from kafka_lag.wording.formatting import format_minute, format_name, format_quantity
from kafka_lag.wording.words import find_word, is_share_group


@dataclass(frozen=True, slots=True)
class CauseText:
    """A group's cause: a sentence on what happened, a command to check it, and one to repair it.

    `repair` is a clause that ends with the command; None if no single command repairs the cause.
    """

    happened: str
    command: str
    repair: str | None = None


@dataclass(frozen=True, slots=True)
class _Template:
    """Sentences for a cause; the first of `happened` whose fields are all known is used."""

    happened: tuple[str, ...]
    to_do: str
    command: str
    repair: str | None = None


# Readers put in their brokers and the file with their login. kafka-console-consumer before
# Kafka 4.2 does not know --command-config, and later versions take both options.
_TOOL = "--bootstrap-server BROKERS --command-config FILE"
_CONSUMER_TOOL = "--bootstrap-server BROKERS --consumer.config FILE"
_OFFSETS = f"{{groups_tool}} {_TOOL} --describe --group {{group_arg}}"
_MEMBERS = f"{_OFFSETS} --members --verbose"
_STATE = f"{_OFFSETS} --state"
_TOPIC = f"kafka-topics {_TOOL} --describe --topic {{topic_arg}}"
_RECORDS = (
    f"kafka-console-consumer {_CONSUMER_TOOL} --topic {{topic_arg}} --partition {{partition}}"
)

START = "start its consumers"
FIND_RESTLESS = (
    "find out why members come and go: crashes, session.timeout.ms, max.poll.interval.ms"
)
ASK_WHO_REWOUND = (
    "ask who set its offsets back; if it was meant, the group catches up by itself; if not, stop "
    "it and set them to where they were"
)
SET_OFFSETS = "stop the group and set its offsets: to the earliest, if it must read all records"
ASK_WHETHER_RECREATED = f"ask whether the topic was deleted and created again; if so, {SET_OFFSETS}"
END_TRANSACTION = "find its producer and end it, or abort the transaction; consumers need nothing"
LOOK_AT_NEEDS = (
    "look at what its members need: a database or service they call, a new release, their processor"
)
FULL_STORE = (
    "more members read no more, because something that they share, such as a database, is full"
)
_UNLESS_SHARED = (
    "more members do not help if something that they share, such as a database, is slow"
)

_TEMPLATES: Mapping[str, _Template] = {
    contract.MORE_PRODUCED: _Template(
        (
            "More is written to {topic} than before: {topic_rate}, and {topic_rate_before} while "
            "the group kept up, until about {kept_up_at}; it reads {consume_rate} of "
            "{produce_rate} in all",
            "More is written than before: {produce_rate}, and {produce_rate_before} while the "
            "group kept up, until about {kept_up_at}; it reads {consume_rate}, no less than before",
            "More is written than is usual at this hour: {produce_rate}, usually "
            "{usual_produce_rate}",
        ),
        "ask the producers what changed; if it lasts, {more_members}",
        _OFFSETS,
    ),
    contract.CAPACITY_FELL: _Template(
        (
            "The group reads less than before: {consume_rate} of the {produce_rate} written, and "
            "{consume_rate_before} while it kept up, until about {kept_up_at}",
            "The group reads less than before: {consume_rate}, and {consume_rate_before} while it "
            "kept up, until about {kept_up_at}",
        ),
        f"{LOOK_AT_NEEDS}; {{more_of_the_same}}",
        _MEMBERS,
    ),
    contract.TOO_FEW_MEMBERS: _Template(
        (
            "Too few members: {members}, and {members_before} before; the group reads "
            "{consume_rate} of {produce_rate}",
            "Too few members: {members}, each reads {capacity} at most; {produce_rate} are written",
            "Too few members: {members}; they read {consume_rate} of {produce_rate}",
        ),
        "start the missing members, or raise the number of tasks; find out why members left",
        _MEMBERS,
    ),
    contract.HOT_PARTITION: _Template(
        (
            "Too many records have the keys of partition {partition} of {topic}: {produce_rate} "
            "are written to it, and {produce_rate_of_others} to others on average; the group reads "
            "{consume_rate} of it",
            "Partition {partition} of {topic} alone is behind, because its records take longer: "
            "the group reads {consume_rate} of {produce_rate}, and its member reads its other "
            "partitions in time",
        ),
        "look at the keys and records of that partition; more members do not help, because a "
        "partition has one reader",
        f"{_RECORDS} --offset {{first_offset}} --property print.key=true --max-messages 100",
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
    contract.SLOW_MEMBERS: _Template(
        (
            "{members_behind} of {members_read} members do not read, on {hosts}: they have "
            "committed nothing since {stands_since}; no other member is behind",
            "{members_behind} of {members_read} members are slow, on {hosts}: they read "
            "{consume_rate} of {produce_rate}; no other member is behind",
            "Several members are slow; no other member is behind",
        ),
        "look at what these members share and the others do not: a zone, a host, a release",
        _MEMBERS,
    ),
    contract.HUNG: _Template(
        (
            "The group hangs: its members own {partitions}, and no commit has moved since "
            "{stands_since}",
            "The group hangs: its members own their partitions, and no commit moves",
        ),
        "look at the logs of its members: a call hangs, or one record fails again and again; then "
        "restart them",
        _MEMBERS,
    ),
    contract.STUCK_RECORD: _Template(
        (
            "One record is not processed: the commit on partition {partition} of {topic} stands at "
            "offset {offset} since {stuck_since}, though {member} owns the partition and others "
            "move",
        ),
        "look at that record, and at the log of {member}; repair what fails, or skip the record",
        f"{_RECORDS} --offset {{offset}} --max-messages 1",
        "stop the group, and skip 1 record by: "
        f"kafka-consumer-groups {_TOOL} --group {{group_arg}} --topic {{topic_partition_arg}} "
        "--reset-offsets --to-offset {next_offset} --execute",
    ),
    contract.STOPPED: _Template(
        (
            "Nobody reads: no commit was seen after {last_commit_at}, and no member owns the "
            "partitions that are behind",
            "Nobody reads: no member owns the partitions that are behind",
        ),
        "{advice_on_stop}",
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
    contract.MAINTENANCE: _Template(
        (
            "Brokers restart one after another since {restarts_since}: {brokers}, and {broker} is "
            "down now",
            "Brokers restart one after another since {restarts_since}: {brokers}",
            "Brokers restart one after another",
        ),
        "wait until all brokers are back; consumers need nothing",
        f"kafka-topics {_TOOL} --describe --under-replicated-partitions",
    ),
    contract.SLOW_BROKER: _Template(
        ("Broker {broker} is slow: {groups} are behind on {partitions} that it leads",),
        "look at broker {broker}: its processor, disk and network; consumers need nothing",
        f"kafka-log-dirs {_TOOL} --describe --broker-list {{broker}}",
    ),
    contract.UNAVAILABLE: _Template(
        (
            "No leader: partition {partition} of {topic} can neither be written nor read since "
            "{last_read_at}; {partitions_without_leader} of {partitions_of_group} of the group "
            "have no leader",
            "Only under-replicated partitions are behind ({partitions_under_replicated}), such as "
            "partition {partition} of {topic}: {in_sync_replicas} of {replicas} replicas are in "
            "sync, broker {broker} leads it",
        ),
        "look at the brokers that hold its replicas; consumers need nothing",
        _TOPIC,
    ),
    contract.OPEN_TRANSACTION: _Template(
        (
            "An open transaction holds up partition {partition} of {topic} since {open_since}: "
            "{held_up_records} of the group cannot be read",
            "An open transaction holds up the group",
        ),
        END_TRANSACTION,
        f"kafka-transactions {_TOOL} describe-producers --topic {{topic_arg}} "
        "--partition {partition}",
    ),
    contract.RETENTION_RACE: _Template(
        (
            "Retention deletes records of partition {partition} of {topic} before they are read: "
            "the topic keeps records for {retention_ms}, and {records_lost} of the partition are "
            "lost; the group reads {consume_rate} of {produce_rate}",
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
            "end of the log ({end_offset}): the topic was recreated, or cut",
        ),
        "{advice_on_reset}",
        _OFFSETS,
    ),
    contract.SETTINGS_CHANGED: _Template(
        (
            "The retention of {topic} was {retention_was} until {changed_at}, and is "
            "{retention_now} now: {lost} were deleted before the group read them",
            "The retention of {topic} was {retention_was} until {changed_at}, and is "
            "{retention_now} now: records are deleted before the group reads them",
            "{topic} had {partitions_was} until {changed_at}, and has {partitions_now} now: "
            "nobody reads the new ones",
            "The replicas of {topic} were on brokers {replicas_was} until {changed_at}, and are on "
            "{replicas_now} now: the group reads it slowly since",
            "A setting of its topic was changed",
        ),
        "{advice_on_setting}",
        _TOPIC,
    ),
    contract.CATCHING_UP: _Template(
        (
            "The group works off its backlog: it reads {consume_rate} of {produce_rate} written, "
            "and is done in {drain_seconds}; the cause, {after}, was over at {over_at}",
            "The group works off its backlog; the cause, {after}, was over at {over_at}",
            "The group works off its backlog: it reads {consume_rate} of {produce_rate} written, "
            "and is done in {drain_seconds}",
            "The group works off its backlog",
        ),
        "wait; more members make it faster, if it must be",
        _OFFSETS,
    ),
    contract.UNEXPLAINED: _Template(
        (
            "Not known: no cause fits the figures alone ({consume_rate} read of {produce_rate} "
            "written, {members}); broker {broker} leads all partitions that are behind, and none "
            "of the others",
            "Not known: no cause fits the figures alone ({consume_rate} read of {produce_rate} "
            "written, {members})",
            "Not known: no cause fits the figures alone",
        ),
        "{advice_on_unexplained}",
        _MEMBERS,
    ),
}


def describe_cause(row: Mapping[str, Any]) -> CauseText | None:
    """Returns the cause in words, from a group's row; None if unknown or of a later version."""
    template = _TEMPLATES.get(row.get("cause") or "")
    if template is None:
        return None
    fields = _format_fields(row)
    happened = next((text for text in template.happened if fits(text, fields)), None)
    text = (happened or find_word(row["cause"]).capitalize()).format_map(fields)
    if "as_of" in fields:
        text = f"{text} (the numbers are of {fields['as_of']})"
    # A sentence that has a time needs no second one.
    elif row.get("cause_since") is not None and "UTC" not in text:
        text = f"{text} (since {format_minute(row['cause_since'])})"
    repair = template.repair
    if second := _find_second(row):
        if found := describe_cause(second):
            text = f"{text}. Also: {found.happened}"
        repair = repair or _TEMPLATES[second["cause"]].repair
        fields |= _format_fields(second)
    return CauseText(
        text,
        template.command.format_map(_Fallbacks(fields)),
        repair.format_map(fields) if repair and fits(repair, fields) else None,
    )


def _find_second(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Returns the row with the second cause in place of the first; None without a second one."""
    also = read_evidence(row).get("also")
    if not isinstance(also, dict) or also.get("cause") not in _TEMPLATES:
        return None
    text = json.dumps({name: value for name, value in also.items() if name != "also"})
    return {**row, "cause": also["cause"], "cause_since": None, "cause_evidence": text}


def advise_on_cause(row: Mapping[str, Any]) -> str | None:
    """Returns what to do about the cause, and then about the second one; None if unknown."""
    template = _TEMPLATES.get(row.get("cause") or "")
    if template is None:
        return None
    to_do = template.to_do.format_map(_Fallbacks(_format_fields(row)))
    second = _find_second(row)
    return f"{to_do}; then {advise_on_cause(second)}" if second else to_do


class _Fallbacks(dict[str, str]):
    """Fields, with a word in place of an unknown one."""

    def __missing__(self, name: str) -> str:
        return {"member": "its member", "topic": "its topic"}.get(
            name, name.removesuffix("_arg").upper()
        )


def _format_fields(row: Mapping[str, Any]) -> dict[str, str]:
    """Returns the fields that templates may use, as people read them."""
    evidence = read_evidence(row)
    fields = format_evidence(evidence)
    fields["group_arg"] = _quote(row.get("consumer_group"))
    fields["advice_on_reset"] = _advise_on_reset(row, evidence)
    fields["advice_on_setting"] = _advise_on_setting(fields)
    fields["advice_on_stop"] = advise_on_stop(row)
    fields["advice_on_unexplained"] = advise_on_broker(row) or "look at the log of its members"
    is_shared = is_share_group(row)
    fields["groups_tool"] = "kafka-share-groups" if is_shared else "kafka-consumer-groups"
    more = _advise_members(row.get("members"), row.get("partitions"))
    fields["more_members"] = "add members" if is_shared else more
    if lost := row.get("incident_lost") or evidence.get("records_lost"):
        fields["lost"] = f"at least {format_quantity(lost, 'record')}"
    is_full = row.get("shared_limit_members") is not None
    fields["more_of_the_same"] = FULL_STORE if is_full else _UNLESS_SHARED
    if isinstance(topic := evidence.get("topic"), str):
        fields["topic_arg"] = _quote(topic)
        fields["topic_partition_arg"] = _quote(f"{topic}:{evidence.get('partition')}")
    fields["first_offset"] = "latest"
    if isinstance(offset := evidence.get("offset"), int):
        fields["first_offset"], fields["next_offset"] = str(offset), str(offset + 1)
    return fields


def _quote(value: Any) -> str:
    return shlex.quote(format_name("" if value is None else str(value)))


def advise_on_stop(row: Mapping[str, Any]) -> str:
    """Returns what to do about partitions that no member owns, though the group may have some."""
    if not row.get("members"):
        return START
    return (
        "find out why some partitions have no member, though the group has "
        f"{format_quantity(row['members'], 'member')}; if it has left their topic, delete its "
        "offsets of that topic"
    )


def _advise_on_reset(row: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
    if evidence.get("topic_was") == contract.MADE_ANEW:
        return SET_OFFSETS
    is_rewound = row.get("worst_status") == contract.REWOUND or "rewound_from" in evidence
    return ASK_WHO_REWOUND if is_rewound else ASK_WHETHER_RECREATED


def _advise_on_setting(fields: Mapping[str, str]) -> str:
    topic = fields.get("topic", "its topic")
    if "partitions_was" in fields:
        return f"restart its members, or let them look for new partitions of {topic}"
    if "replicas_was" in fields:
        return "wait until the replicas are in sync; consumers need nothing"
    return f"ask who changed the settings of {topic}; if it was not meant, set them back"


def advise_on_broker(row: Mapping[str, Any]) -> str | None:
    """Returns advice on the broker that may be slow; None if the cause is known or no broker is."""
    broker = read_evidence(row).get("broker")
    if row.get("cause") != contract.UNEXPLAINED or not isinstance(broker, int):
        return None
    return f"look at broker {broker} (its processor, disk and network) and at the members' logs"


def _advise_members(members: int | None, partitions: int | None) -> str:
    """Returns advice on adding members, at most one for each partition."""
    if not members or not partitions:
        return "add members, as many as there are partitions at most"
    if members < partitions:
        return f"add members: {say_members(members, partitions)}"
    return f"add partitions and members, because {say_full(partitions)}"


def say_members(members: int, partitions: int) -> str:
    """Returns a clause that says how many members read how many partitions."""
    read = "reads" if members == 1 else "read"
    return f"{members:,} {read} {format_quantity(partitions, 'partition')}"


def say_full(partitions: int) -> str:
    """Returns a clause that says that no partition is left for another member."""
    each = "its only partition" if partitions == 1 else f"each of its {partitions:,} partitions"
    return f"{each} has a member already"
