# SPDX-License-Identifier: Apache-2.0
"""Defines an incident: what happened to whom, from when to when, why, and at what cost.

`find_incidents` makes the incidents once a day and cluster; page, message and the table `incidents`
only render them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import pyarrow as pa

from kafka_lag_report.schemas import Row, report_schema

TABLE = "incidents"


class Kind(StrEnum):
    """What happened; the values are those of the column `kind`."""

    STOPPED = "stopped"
    STALLED = "stalled"
    BEHIND = "behind"
    BEYOND_END = "beyond_end"
    REWOUND = "rewound"
    SKIPPED = "skipped"
    AT_RISK = "at_risk"
    LOST = "lost"
    SLA_MISSED = "sla_missed"
    REBALANCING = "rebalancing"
    HELD_UP = "held_up"
    UNKNOWN = "unknown"
    GONE = "gone"
    NO_LEADER = "no_leader"
    LEADER_MOVED = "leader_moved"
    RECREATED = "topic_recreated"
    NO_RUNS = "no_runs"
    NO_OBJECTS = "objects_skipped"
    UNEVEN = "produced_unevenly"
    UNUSUAL = "unusual"

    @property
    def words(self) -> str:
        """Returns the words that follow a number, as in `2 stalled`."""
        return _WORDS.get(self, self.value.replace("_", " "))


_WORDS = {
    Kind.BEHIND: "behind",
    Kind.BEYOND_END: "beyond the end",
    Kind.LOST: "with records lost",
    Kind.SLA_MISSED: "SLA missed",
    Kind.HELD_UP: "with a transaction left open",
    Kind.NO_LEADER: "without a leader",
    Kind.LEADER_MOVED: "with leaders moved",
    Kind.RECREATED: "recreated",
    Kind.NO_RUNS: "without runs",
    Kind.NO_OBJECTS: "with unreadable objects",
    Kind.UNEVEN: "produced unevenly",
}

URGENT, SERIOUS, WARNED, NOTICE = LEVELS = ("urgent", "serious", "warned", "notice")


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """An incident of one cluster's day; null means unknown, or not used by this kind.

    Times: `since` may be before the day; null means before the day, at an unknown time. `until` is
    null if the incident was still going on in the last run, if no run saw its end, or if the kind
    has no end. `minutes` are counted within the day. `still` means that it was not over when it was
    last seen.

    Amounts: `records_lost` is a lower bound. If `is_least`, so is `time_lag`, or `value` if that is
    a time lag, because the age of some record is known only as a minimum. `count` is what the kind
    counts: partitions, rebalances, objects or groups. `others` are more groups with the same
    incident; the table leaves them out. `unlimited` means that the topic deletes nothing for its
    age. `sla_minutes` says for how long it is known whether the SLA was met.

    `text` is the sentence for people, with long names cut. `incident_id` is the collector's id.

    These fields serve the sentence only and have no column. `worst`: from when to when the group
    was what `kind` says, if the incident is longer, and whether for most of that time. `is_empty`:
    the stopped group had no members. `why`: the collector's cause in words. `named_at`: the last
    run with this cause, if that was not the last run. `came_back`: the group was seen again after
    `gone_at`. `commits`: the number of the topic's partitions of which only the commits were
    unread, 0 for all. `sooner`: how many of the counted partitions recovered before the rest, and
    the latest time at which they did. `last_seen`: the last run that saw the incident, if later
    runs saw nothing. `loss_unseen`: records may have been deleted before the group was read again.
    `records_leapt`: records that were read or skipped. `skip_reason`: the reason of
    `records_skipped`. `first_run`: `since` is the day's first run, so the incident may have begun
    earlier.
    """

    kind: Kind
    level: str
    text: str = ""
    incident_id: str | None = None
    group: str | None = None
    owner: str | None = None
    topic: str | None = None
    partitions: tuple[int, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    still: bool = False
    minutes: float | None = None
    cause: str | None = None
    why: str | None = None
    leader: int | None = None
    moved_to: tuple[int, ...] = ()
    member: str | None = None
    client: str | None = None
    host: str | None = None
    lag: int | None = None
    time_lag: float | None = None
    is_least: bool = False
    records_lost: int | None = None
    lost_of: str | None = None
    records_rewound: int | None = None
    records_skipped: int | None = None
    seconds_left: float | None = None
    seconds_left_at: datetime | None = None
    retention: float | None = None
    retention_enough: float | None = None
    unlimited: bool | None = None
    sla_seconds: float | None = None
    sla_missed_minutes: float | None = None
    sla_minutes: float | None = None
    gone_at: datetime | None = None
    count: int | None = None
    others: tuple[str, ...] = ()
    worst: tuple[datetime, datetime | None, bool] | None = None
    is_empty: bool = False
    named_at: datetime | None = None
    came_back: bool = False
    commits: int | None = None
    sooner: tuple[int, datetime] | None = None
    last_seen: datetime | None = None
    loss_unseen: bool = False
    skip_reason: str | None = None
    records_leapt: int | None = None
    first_run: bool = False
    measure: str | None = None
    direction: str | None = None
    value: float | None = None
    usual: float | None = None
    share: float | None = None
    even: float | None = None

    @property
    def key(self) -> tuple[str | int | None, ...]:
        """Returns the values by which this incident is recognised on the next day if it goes on."""
        if self.incident_id is not None:
            return (self.incident_id,)
        return (self.kind.value, self.group, self.topic, self.leader)

    @property
    def is_pressing(self) -> bool:
        """Returns whether something is broken now, or records were lost."""
        return self._is_broken or self.kind == Kind.LOST or bool(self.records_lost)

    @property
    def _is_broken(self) -> bool:
        return self.still and self.level in (URGENT, SERIOUS)

    @property
    def order(self) -> tuple[float | str, ...]:
        """Returns the sort key: worst level first, then what is broken now, then the most lost."""
        return (
            LEVELS.index(self.level),
            not self._is_broken,
            -(self.records_lost or 0),
            -(self.minutes or 0.0),
            self.kind.value,
            self.group or self.topic or "",
            self.since.timestamp() if self.since else 0.0,
        )


# Columns whose names differ from the fields above, because other tables use these names.
_NAMES = {
    "consumer_group": "group",
    "member_id": "member",
    "client_id": "client",
    "client_host": "host",
    "lag_max": "lag",
    "time_lag_max": "time_lag",
    "time_lag_is_least": "is_least",
    "least_seconds_until_loss": "seconds_left",
    "least_seconds_until_loss_at": "seconds_left_at",
    "retention_seconds": "retention",
    "retention_enough_seconds": "retention_enough",
    "retention_unlimited": "unlimited",
    "even_share": "even",
    "counted": "count",
}


def to_table(incidents: Iterable[Incident]) -> pa.Table:
    """Returns the incidents as rows of the table `incidents`, in the given order."""
    schema = report_schema(TABLE)
    rows = []
    for one in incidents:
        values = {name: getattr(one, _NAMES.get(name, name), None) for name in schema.names}
        lists = {n: list(value) or None for n, value in values.items() if isinstance(value, tuple)}
        rows.append({**values, **lists, "kind": one.kind.value})
    return pa.Table.from_pylist(rows, schema)


def from_table(table: pa.Table) -> tuple[Incident, ...]:
    """Returns the incidents of the table's rows, worst first.

    Kinds that a later version wrote are left out.
    """
    known = {kind.value for kind in Kind}
    rows = [row for row in table.to_pylist() if row["kind"] in known]
    return tuple(sorted((_read_incident(row) for row in rows), key=lambda one: one.order))


def _read_incident(row: Row) -> Incident:
    values: dict[str, Any] = {
        _NAMES.get(name, name): tuple(value) if isinstance(value, list) else value
        for name, value in row.items()
    }
    some = {name: values[name] or () for name in ("partitions", "moved_to")}
    said = {name: bool(values[name]) for name in ("still", "is_least")}
    return Incident(**values | some | said | {"kind": Kind(row["kind"])})
