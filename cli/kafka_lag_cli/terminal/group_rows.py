# SPDX-License-Identifier: Apache-2.0
"""The groups and partitions of a run as rows: chosen, sorted, and written for programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeAlias

from kafka_lag import contract
from kafka_lag.wording.formatting import format_iso_time
from kafka_lag_cli.terminal.records import write_records

if TYPE_CHECKING:
    from kafka_lag.lag.frame import Frame
    from kafka_lag.lag.model import Snapshot

# A row of `groups`; in `urgency` its place among others.
Row: TypeAlias = Mapping[str, Any]

UNKNOWN: Final = "UNKNOWN"
_LEVELS: Final = {
    status: (contract.OK, contract.WARN, contract.ERR)[severity]
    for status, severity in contract.PARTITION_SEVERITIES.items()
}
BY_GROUP, BY_PARTITION = "group", "partition"


def status_word(row: Row) -> str:
    """Returns OK, WARN or ERR; with a question mark the last known one, if it is unknown now."""
    known = _LEVELS.get(row["status"] or row["last_status"], "")
    return known if row["status"] else f"{known}?"


def sla_used(row: Row) -> float | None:
    """Returns the time lag as a share of the SLA; null without an SLA or a time lag."""
    time_lag, sla = row["time_lag_seconds"], row["sla_seconds"]
    return None if time_lag is None or not sla else time_lag / sla


# What groups and partitions can be sorted by, the one that needs somebody first; equals by name.
SORTS: Final[Mapping[str, Callable[[Row], tuple[Any, ...]]]] = {
    "status": lambda row: row["urgency"],
    "lag": lambda row: (row["lag"] is None, -(row["lag"] or 0)),
    "time-lag": lambda row: (row["time_lag_seconds"] is None, -(row["time_lag_seconds"] or 0)),
    "sla": lambda row: ((used := sla_used(row)) is None, -(used or 0)),
    "loss": lambda row: (row["seconds_until_loss"] is None, row["seconds_until_loss"] or 0),
    "members": lambda row: (row["members"] is None, -(row["members"] or 0)),
    "name": lambda _: (),
}
PARTITION_SORTS: Final = ("status", "lag", "time-lag", "loss", "name")
# What groups can be chosen by: status, what the consumer does, and whether records were lost.
STATUSES: Final = (
    *(contract.ERR, contract.WARN, contract.OK, UNKNOWN),
    *contract.CONSUMER_STATUS_SEVERITIES,
    contract.RECORDS_LOST,
)


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen groups and their order; null or empty for all.

    `group` is the whole name of one group; `sort` and `top` then select its partitions. Without a
    sort, groups come by status, and partitions by topic and number unless there is a `top`.
    """

    sort: str | None = None
    top: int | None = None
    statuses: frozenset[str] = frozenset()
    owner: str | None = None
    group: str | None = None

    def matches(self, row: Row) -> bool:
        """Returns true if a group is chosen, whatever its place in the order."""
        lost = contract.RECORDS_LOST if row["records_lost"] else None
        known = {row["status"] or UNKNOWN, row["worst_status"], lost}
        return (
            (not self.statuses or not known.isdisjoint(self.statuses))
            and (self.owner is None or row["owner"] == self.owner)
            and (self.group is None or row["consumer_group"] == self.group)
        )


@dataclass(frozen=True, slots=True)
class SelectedGroups:
    """The rows to show, the number that match, and the number that there are."""

    rows: tuple[Row, ...]
    matching: int
    total: int


def select_groups(snapshot: Snapshot, selection: Selection) -> SelectedGroups:
    """Returns the selected groups of a snapshot, in their order."""
    rows = add_urgency(snapshot.groups)
    matching = [row for row in rows if selection.matches(row)]
    order = SORTS[selection.sort or "status"]
    matching.sort(key=lambda row: (*order(row), row["consumer_group"]))
    return SelectedGroups(tuple(matching[: selection.top]), len(matching), len(rows))


def add_urgency(frame: Frame) -> list[Row]:
    """Returns rows of groups or partitions, with the place of each among others."""
    # Costs the start of those alone who have rows: options name this module's words.
    from kafka_lag.views.urgency import rank_urgency  # noqa: PLC0415

    places = zip(*(key.fill(math.inf).tolist() for key in rank_urgency(frame)), strict=True)
    return [{**row, "urgency": place} for row, place in zip(frame.to_dicts(), places, strict=True)]


def partitions_of(snapshot: Snapshot, groups: Iterable[str]) -> list[Row]:
    """The partitions of these groups, with the place of each among others: by group in this order,
    then by topic and number.
    """
    wanted = list(groups)
    place = {name: at for at, name in enumerate(wanted)}
    rows = snapshot.group_partitions
    found = rows.completed(contract.GROUP_PARTITIONS).where(
        rows.strings("consumer_group").is_in(wanted)
    )
    return sorted(
        add_urgency(found),
        key=lambda row: (place[row["consumer_group"]], row["topic"], row["partition_id"]),
    )


def select_partitions(partitions: Sequence[Row], selection: Selection) -> list[Row]:
    """Returns the selected partitions of one group, in their order."""
    order = SORTS[selection.sort or ("status" if selection.top else "name")]
    ordered = sorted(partitions, key=lambda row: (*order(row), row["topic"], row["partition_id"]))
    return ordered[: selection.top]


def write_rows(
    snapshot: Snapshot,
    cluster: str,
    selection: Selection,
    by: str,
    form: str,
    out: TextIO,
    *,
    heading: bool = True,
) -> None:
    """Groups, or the partitions of these groups, with the columns of the snapshots and the cluster.

    JSON is one array, NDJSON a line a row. Times are ISO 8601 in UTC; what is not known is null,
    and nothing in CSV, which has a `heading` unless it goes on.
    """
    groups = select_groups(snapshot, selection).rows
    dataset = contract.GROUPS if by == BY_GROUP else contract.GROUP_PARTITIONS
    found: Sequence[Row] = groups
    if by == BY_PARTITION:
        found = partitions_of(snapshot, [row["consumer_group"] for row in groups])
        if selection.group is not None:
            found = select_partitions(found, selection)
    types = contract.COLUMNS[dataset]
    lines = [
        {"cluster": cluster}
        | {name: to_record_value(row.get(name), kind) for name, kind in types.items()}
        for row in found
    ]
    write_records(lines, form, out, names=("cluster", *types), heading=heading)


def to_record_value(value: Any, kind: str) -> Any:
    """Returns a column's value for programs: a time as ISO 8601 in UTC, others as they are."""
    is_time = kind == contract.TIMESTAMP and value is not None
    return format_iso_time(value, "milliseconds") if is_time else value
