# SPDX-License-Identifier: Apache-2.0
"""An incident: who, what, from when to when, why, and what it cost.

It is made once a day and cluster, by `find_incidents`; page, message and the table `incidents`
only render it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import pyarrow as pa

from kafka_lag_report.schemas import Row, read_value, report_schema

TABLE = "incidents"


class Kind(StrEnum):
    """What happened; the value is that of the column `kind`."""

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
        """What is said after a number: `2 stalled`."""
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
    """Of one cluster's day; null is unknown, or not of this kind.

    `since` may lie before the day; null: before it, and nobody knows when. `until` null: still so
    in the last run of the day, or nobody saw the end, or the kind has none.
    `text` is the sentence for people, names cut. `minutes` are of the day. `records_lost` is a
    least; so is `time_lag`, or the `value` of one, where `is_least`: of some record nobody knows
    how much older it was. `others` are further groups that it was seen in, which the table leaves
    out; `count` what the kind counts: partitions, rebalances, objects, groups. `unlimited`: nothing
    of the topic is deleted for age. `sla_minutes` is for how long it is known whether the SLA was
    met. `incident_id` is the collector's. For the sentence alone, and in no column: `worst`, from
    when to when it was what `kind` says, where the incident is longer, and whether most of that
    time; `is_empty`, that a stopped group had no members; `why`, what the collector's cause means;
    `named_at`, when that was so last, where it was not in the last run; `came_back`, that the group
    was seen after `gone_at`; `commits`, of how many of the topic's partitions only the commits were
    unread, 0 of all; `sooner`, how many of those counted had ended before the rest, and when at the
    latest; `last_seen`, the last run that saw it so, where the next ones saw nothing;
    `loss_unseen`, that records may have been deleted before the group was read again;
    `records_leapt`, that were read or skipped; `skip_reason`, of `records_skipped`; `first_run`,
    that `since` is the day's first run, and it may have begun in the time without runs before.
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
        """What makes it the same on the next day, if it was still so at the end of this one."""
        if self.incident_id is not None:
            return (self.incident_id,)
        return (self.kind.value, self.group, self.topic, self.leader)

    @property
    def is_pressing(self) -> bool:
        """Whether it is broken now, or records were lost."""
        return self._is_broken or self.kind == Kind.LOST or bool(self.records_lost)

    @property
    def _is_broken(self) -> bool:
        return self.still and self.level in (URGENT, SERIOUS)

    @property
    def order(self) -> tuple[float | str, ...]:
        """What is broken now before what is over, what was lost before what was not."""
        return (
            LEVELS.index(self.level),
            not self._is_broken,
            -(self.records_lost or 0),
            -(self.minutes or 0.0),
            self.kind.value,
            self.group or self.topic or "",
            self.since.timestamp() if self.since else 0.0,
        )


# Where a column is called otherwise, as in other tables, than what it holds is here.
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
    """Rows of the table `incidents`, in this order."""
    schema = report_schema(TABLE)
    rows = []
    for one in incidents:
        values = {name: getattr(one, _NAMES.get(name, name), None) for name in schema.names}
        lists = {n: list(value) or None for n, value in values.items() if isinstance(value, tuple)}
        rows.append({**values, **lists, "kind": one.kind.value})
    return pa.Table.from_pylist(rows, schema)


def from_table(table: pa.Table) -> tuple[Incident, ...]:
    """The incidents of the rows; a kind that a later version wrote is left out."""
    known = {kind.value for kind in Kind}
    rows = [row for row in table.to_pylist() if row["kind"] in known]
    return tuple(sorted((_incident(row) for row in rows), key=lambda one: one.order))


def _incident(row: Row) -> Incident:
    values = {
        _NAMES.get(name, name): tuple(value) if isinstance(value, list) else value
        for name, value in row.items()
    }
    some = {name: values[name] or () for name in ("partitions", "moved_to")}
    said = {name: bool(values[name]) for name in ("still", "is_least")}
    return read_value(Incident, values, **some, **said, kind=Kind(row["kind"]))
