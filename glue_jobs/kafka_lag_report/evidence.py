# SPDX-License-Identifier: Apache-2.0
"""Reads the evidence for incidents: spells, which are runs in a row that said the same.

Spark finds the spells, so Python sees few rows. A group without an incident that was read all day
has none. Of partitions there are only rows about unread ones and about changes of the leader.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from pyspark.sql import Row

from kafka_lag_report.queries import Queries, run_at_once
from kafka_lag_report.thresholds import RESTLESS_RUNS, RESTLESS_SECONDS

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSpell:
    """Runs of a group in a row that said the same about it; `first` and `last` are their times.

    `left` is the number of records that a group left unread when it was deleted (`gone`).
    `seen_until` is the last run of the day with this group. `restless` means too many rebalances:
    `rebalances` counts those from `restless_since` to `restless_until`, without those of the spell
    before if it was restless too. `held_since` is the time at which a long transaction began in
    `held_topic` and `held_partition`; `held_records` waited for its end. `losing` and `skip_reason`
    are set only for runs without an incident; `lost` and `skipped` count the records.
    """

    group: str
    first: datetime
    last: datetime
    unread: str | None = None
    gone: bool = False
    restless: bool = False
    losing: bool = False
    left: int | None = None
    seen_until: datetime | None = None
    restless_since: datetime | None = None
    restless_until: datetime | None = None
    rebalances: int | None = None
    held_topic: str | None = None
    held_partition: int | None = None
    held_since: datetime | None = None
    held_records: int | None = None
    lost: int | None = None
    skipped: int | None = None
    skip_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadSpell:
    """Runs in a row in which partitions were not read; with a null `group` the topic itself."""

    topic: str
    reason: str
    first: datetime
    last: datetime
    group: str | None = None
    partition: int | None = None
    partitions: int = 1
    leader: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stint:
    """Runs in a row that saw one broker lead a partition of one topic id.

    Unread runs do not count.
    """

    topic: str
    topic_id: str | None
    partition: int
    leader: int | None
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentRows:
    """An incident as the day's rows have it; `first` and `last` are the times of these rows.

    `last_read` is the last run that read the group. `since`, `until`, `worst`, `lost`, `skipped`,
    `is_at_risk` and `is_sla_broken` are the collector's values. `worst_last` is the last run that
    saw the worst status, and `worst_minutes` says for how long the day's runs saw it; topic,
    partition and member are those of the worst partition then. `is_empty` means that the group had
    no members in any of these runs. `cause` was last named at `named_at`, with `cause_evidence`;
    both are null if that was before the day. `passed` is the number of records that were read or
    skipped. `seconds_left` is the shortest time to a loss that a run saw, `seconds_left_now` the
    last one. `dated` is the largest time lag that is not a lower bound.
    """

    group: str
    incident_id: str
    first: datetime
    last: datetime
    since: datetime
    until: datetime | None = None
    last_read: datetime | None = None
    owner: str | None = None
    worst: str | None = None
    worst_since: datetime | None = None
    worst_last: datetime | None = None
    worst_minutes: float = 0.0
    topic: str | None = None
    partition: int | None = None
    member: str | None = None
    is_empty: bool | None = None
    is_error: bool = False
    cause: str | None = None
    cause_since: datetime | None = None
    cause_evidence: str | None = None
    named_at: datetime | None = None
    lag: int | None = None
    time_lag: float | None = None
    dated: float | None = None
    lost: int | None = None
    rewound: int | None = None
    skipped: int | None = None
    skip_reason: str | None = None
    passed: int | None = None
    is_at_risk: bool = False
    seconds_left: float | None = None
    seconds_left_at: datetime | None = None
    seconds_left_now: float | None = None
    is_sla_broken: bool = False
    sla: float | None = None
    sla_missed: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The input for finding incidents of one cluster's day; `runs` are the times of all runs.

    `sizes` is the number of partitions of each topic with an unread partition, if it is known.
    """

    runs: tuple[datetime, ...] = ()
    groups: tuple[GroupSpell, ...] = ()
    incidents: tuple[IncidentRows, ...] = ()
    unread: tuple[UnreadSpell, ...] = ()
    stints: tuple[Stint, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)


def gather_evidence(queries: Queries, runs: Sequence[datetime]) -> Evidence:
    """Returns the evidence of one cluster's day; `runs` are the times of its runs."""
    kinds = {
        "spells/groups": GroupSpell,
        "spells/incidents": IncidentRows,
        "spells/unread_topics": UnreadSpell,
        "spells/stints": Stint,
        "spells/topic_sizes": None,
    }
    rows = run_at_once(lambda path: queries.run(path).collect(), kinds)
    stints = _make_values(Stint, rows["spells/stints"])
    unread = tuple(_add_leaders(_make_values(UnreadSpell, rows["spells/unread_topics"]), stints))
    sizes = {row["topic"]: row["size"] for row in rows["spells/topic_sizes"]}
    return Evidence(
        runs=tuple(runs),
        groups=_make_values(GroupSpell, rows["spells/groups"]),
        incidents=_make_values(IncidentRows, rows["spells/incidents"]),
        unread=unread,
        stints=stints,
        sizes={topic: sizes[topic] for topic in {one.topic for one in unread} if topic in sizes},
    )


def restless_runs(interval: float) -> float:
    """Returns how many runs of an hour must see a rebalance to be too many.

    This is RESTLESS_RUNS, or half of the hour's runs if that is less, but three at least.
    `interval` is the time between two runs in seconds.
    """
    return min(RESTLESS_RUNS, max(3, RESTLESS_SECONDS / interval / 2))


def _add_leaders(unread: Sequence[UnreadSpell], stints: Sequence[Stint]) -> Iterator[UnreadSpell]:
    """Yields each spell with the last leader that was known before it.

    `stints` are in order of time.
    """
    led: dict[tuple[str, int | None], list[Stint]] = defaultdict(list)
    for stint in stints:
        if stint.leader is not None:
            led[stint.topic, stint.partition].append(stint)
    for one in unread:
        before = [each for each in led[one.topic, one.partition] if each.first < one.first]
        yield replace(one, leader=before[-1].leader) if before else one


def _make_values(kind: type[T], rows: Sequence[Row]) -> tuple[T, ...]:
    """Returns the rows as values of `kind`, in order of time."""
    there = [one for one in fields(kind) if rows and one.name in rows[0]]  # type: ignore[arg-type]
    made = [kind(**{one.name: _convert(one, row[one.name]) for one in there}) for row in rows]
    return tuple(sorted(made, key=lambda one: (one.first, repr(one))))  # type: ignore[attr-defined]


def _convert(of: Field[Any], value: Any) -> Any:
    is_time = str(of.type).startswith("datetime")
    return datetime.fromtimestamp(value, UTC) if is_time and value is not None else value
