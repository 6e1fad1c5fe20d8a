# SPDX-License-Identifier: Apache-2.0
"""A day as strips: the state of a group, its partitions or a topic over time.

A span is written as "9:30-11". A run inside it has these facts; in every other run all is healthy.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from kafka_lag.contract import CONSUMER_STATUS_SEVERITIES, ERR, GROUP_STATUS_VALUES, OK
from tests.glue_jobs.days import Row, group_row, topic_row, write_run

MIDNIGHT = datetime(2026, 1, 31, tzinfo=UTC)
EVERY = 5


@dataclass(frozen=True, slots=True)
class Part:
    """Facts of the group's row, or of one of its partitions, in a span; a fact may be a function
    of the minute.
    """

    span: str
    facts: Row = field(default_factory=dict)
    partition: int | None = None

    @property
    def bounds(self) -> tuple[int, int]:
        """The minutes of its begin and its end."""
        begin, end = self.span.rsplit("-", 1)
        return minute_of(begin), minute_of(end)

    def covers(self, minute: int) -> bool:
        """Whether a run of this minute has the facts."""
        begin, end = self.bounds
        return begin <= minute < end


def minute_of(clock: str) -> int:
    """Of "9:30" the minute of the day; "-1" is an hour before it."""
    hour, _, minute = clock.removeprefix("-").partition(":")
    return (60 * int(hour) + int(minute or 0)) * (-1 if clock.startswith("-") else 1)


def at(clock: str) -> datetime:
    """That time of the day."""
    return MIDNIGHT + timedelta(minutes=minute_of(clock))


def bad(span: str, status: str = ERR, **facts: Any) -> Part:
    """The group has a status."""
    return Part(span, {"status": status, **facts})


def late(span: str, **facts: Any) -> Part:
    """The group is OK and beyond its SLA of a minute."""
    age = {"time_lag_seconds": 90.0, "time_lag_error_seconds": 0.0, "sla_seconds": 60.0}
    return Part(span, {**age, **facts})


def unread(span: str, reason: str = "denied") -> Part:
    """The group is not read."""
    return Part(span, {"unread_reason": reason, "status": None, "lag": None})


def gone(clock: str) -> Part:
    """The group is deleted: a run says so, and the next ones have no row unless it is back."""
    minute = minute_of(clock)
    end = f"{(minute + EVERY) // 60}:{(minute + EVERY) % 60:02}"
    return Part(f"{clock}-{end}", {"status_reason": "gone", "unread_reason": "error"})


def absent(span: str) -> Part:
    """No run has a row of the group."""
    return Part(span, {"consumer_group": None})


def held(span: str, since: str, records: int = 7, partition: int = 3) -> Part:
    """The group waits for an open transaction."""
    facts = {"open_transaction_since": at(since), "open_transaction_topic": "paid"}
    more = {"open_transaction_partition": partition, "held_up_records": records}
    return Part(span, {**facts, **more})


def part(span: str, partition: int = 0, **facts: Any) -> Part:
    """A partition of the group has these facts."""
    return Part(span, facts, partition)


def published(since: str, until: str | None = None, worst: str | None = None, **facts: Any) -> Part:
    """The collector publishes an incident ten minutes later; its rows last ten after the end."""
    begin, end = minute_of(since) + 10, minute_of(until or "24") + 10
    own = {
        "incident_id": f"id-{since}",
        "incident_since": at(since),
        "incident_from": at(since),
        "incident_until": lambda minute: at(until or "0") if minute >= end - 10 else None,
        "incident_worst_status": worst,
        "incident_worst_status_since": worst and at(since),
    }
    return Part(f"0:{max(begin, 0)}-0:{end}", {**own, **facts})


def worst(span: str, word: str, **facts: Any) -> Part:
    """The group is in trouble by its worst partition."""
    severity = CONSUMER_STATUS_SEVERITIES[word]
    status = next(each for each, value in GROUP_STATUS_VALUES.items() if value == severity)
    where = {"worst_topic": "t", "worst_partition": 3, "worst_member": "m"}
    return bad(span, status, worst_status=word, **{**where, "lag": 5, **facts})


def trouble(word: str, since: str, until: str | None = None, **facts: Any) -> list[Part]:
    """An incident that was at its worst all the time, and what the rows said meanwhile."""
    own = {name: facts.pop(name) for name in list(facts) if name.startswith("incident_")}
    span = f"{since}-{until or '24'}"
    return [published(since, until, word, **own), worst(span, word, **facts)]


def write_strips(
    root: Path,
    folder: str,
    minutes: Sequence[int],
    groups: Mapping[str, Sequence[Part]],
    topics: Mapping[str, Sequence[Part]],
) -> None:
    """A cluster's runs. A group reads topic `t`, or the topic that its facts name.

    A topic's parts are of its partitions; where it is led by nobody else, broker 1 leads it.
    """
    for number in minutes:
        when = MIDNIGHT + timedelta(minutes=number)
        rows = [row for name, parts in groups.items() for row in _group(name, parts, number)]
        write_run(root, "groups", rows, at=when, folder=folder, lean=True)
        own = [row for name, parts in groups.items() for row in _partitions(name, parts, number)]
        write_run(root, "group_partitions", own, at=when, folder=folder, lean=True)
        made = [
            row for name, parts in (topics or {}).items() for row in _topic(name, parts, number)
        ]
        write_run(root, "topic_partitions", made, at=when, folder=folder, lean=True)


def _facts(parts: Sequence[Part], minute: int, partition: int | None = None) -> Row:
    found: Row = {}
    for one in parts:
        if one.partition == partition and one.covers(minute):
            found |= one.facts
    return {name: fact(minute) if callable(fact) else fact for name, fact in found.items()}


def _group(name: str, parts: Sequence[Part], minute: int) -> Iterator[Row]:
    row = {"consumer_group": name, "status": OK, "lag": 0, "members": 1, **_facts(parts, minute)}
    if row["consumer_group"]:
        yield row


def _partitions(name: str, parts: Sequence[Part], minute: int) -> Iterator[Row]:
    """Of a group that is not read none of its partitions is; of one that is gone there are none."""
    group = _facts(parts, minute)
    if group.get("status_reason") == "gone" or not group.get("consumer_group", name):
        return
    for number in sorted({one.partition for one in parts if one.partition is not None}):
        facts: dict[str, Any] = {"unread_reason": group.get("unread_reason")} | _facts(
            parts, minute, number
        )
        end = facts.get("end_offset", 10_000 + minute // EVERY)
        committed = facts.get("committed_offset", end - facts.get("lag", 0))
        row = group_row(number, committed, facts.get("start_offset", 0), end, topic="t")
        own = {"consumer_group": name, "status": OK, "member_id": "m", "leader": 1}
        yield {**row, **own, **facts}


def _topic(name: str, parts: Sequence[Part], minute: int) -> Iterator[Row]:
    for number in sorted({one.partition for one in parts if one.partition is not None}):
        facts = _facts(parts, minute, number)
        end = None if "unread_reason" in facts else 10_000 + minute // EVERY
        row = topic_row(number, end, topic=name, leader=1, cleanup_policy="delete")
        yield {**row, "retention_ms": 7 * 86_400_000, **facts}
