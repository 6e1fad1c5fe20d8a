# SPDX-License-Identifier: Apache-2.0
"""What is news in a set: held statuses other than those last told, and groups that are gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from functions import contract
from functions.lag.frame import Frame
from functions.notify.incident import Incident, Standing, incident_id

_RANK = contract.GROUP_STATUS_VALUES

# What one set says of a group: values by column of `groups`, None for unknown.
Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """One group's news; times in ms UTC.

    `status` is the held one, or STATUS_GONE, `before` the one told last, `since` when `status`
    began, `incident_since` when the group left OK. Of a group that is gone, `row` is its last one.
    """

    cluster: str
    group: str
    kind: str
    status: str
    before: str
    since: int
    incident_since: int
    taken_at: int
    row: Row

    @property
    def id(self) -> str:
        """The incident's, shared by all its messages."""
        return incident_id(self.cluster, self.group, self.incident_since)

    @property
    def name(self) -> str:
        """This message's own, by which it is told once."""
        return f"{self.id}-{self.status}-{self.since}"


@dataclass(frozen=True, slots=True)
class News:
    """The changes of one set, and how things stand once they are told."""

    changes: tuple[Change, ...]
    standing: Standing


def news(
    cluster: str, taken_at: int, groups: Frame, standing: Standing, before: Frame | None = None
) -> News:
    """Compares the set of `taken_at` with what was told last.

    `before` is the set at the cursor: of a group that is gone, only there is its lag. A group
    without a row, and one whose held status is unknown, stand as they did.
    """
    told = dict(standing)
    found: list[Change] = []
    for row in _rows(groups, standing):
        if row["status_reason"] == contract.GONE:
            change = _gone(cluster, taken_at, row, told, before)
        else:
            change = _changed(cluster, taken_at, row, told)
        if change is None:
            continue
        found.append(change)
        if change.status in (contract.OK, contract.STATUS_GONE):
            told.pop(change.group, None)
        else:
            told[change.group] = Incident(change.status, change.incident_since)
    return News(tuple(found), told)


def has_farewells(groups: Frame) -> bool:
    """Whether the set holds the last word on a group."""
    return bool(groups.words("status_reason").is_in([contract.GONE]).any())


def _rows(groups: Frame, standing: Standing) -> list[Row]:
    """The rows that may be news: of groups not well, told of, or gone."""
    held, names = groups.words("held_status"), groups.words("consumer_group")
    wanted = held.is_in([status for status, rank in _RANK.items() if rank > 0])
    wanted |= groups.words("status_reason").is_in([contract.GONE])
    wanted |= held.known & names.is_in(standing)
    few = groups.take(np.flatnonzero(wanted & names.known))
    columns = [column.to_list() for column in few.columns.values()]
    return [dict(zip(few.columns, values, strict=True)) for values in zip(*columns, strict=True)]


def _changed(cluster: str, taken_at: int, row: Row, standing: Standing) -> Change | None:
    group, status = row["consumer_group"], row["held_status"]
    incident = standing.get(group)
    before = incident.status if incident else contract.OK
    if status not in _RANK or status == before:
        return None
    if _RANK[status] < _RANK[before] and not _seen(row):
        return None
    since = _first(row["held_since"], taken_at)
    return Change(
        cluster=cluster,
        group=group,
        kind=_kind(before, status),
        status=status,
        before=before,
        since=since,
        # an open incident keeps its name, whatever the collector has forgotten meanwhile
        incident_since=incident.since if incident else _first(row["incident_since"], since),
        taken_at=taken_at,
        row=row,
    )


def _gone(
    cluster: str, taken_at: int, row: Row, standing: Standing, before: Frame | None
) -> Change | None:
    """News where records were left unread, or where an incident is open: it must end somehow."""
    group = row["consumer_group"]
    incident, last = standing.get(group), _last_row(before, group)
    if incident is None and not last.get("lag"):
        return None
    return Change(
        cluster=cluster,
        group=group,
        kind=contract.GONE,
        status=contract.STATUS_GONE,
        before=incident.status if incident else contract.OK,
        since=taken_at,
        incident_since=incident.since if incident else taken_at,
        taken_at=taken_at,
        row={**row, **last, "status_reason": contract.GONE},
    )


def _last_row(before: Frame | None, group: str) -> Row:
    if before is None:
        return {}
    of_group = before.where(before.words("consumer_group").is_in([group]))
    return {name: (column.to_list() or [None])[-1] for name, column in of_group.columns.items()}


def _seen(row: Row) -> bool:
    """Whether this set proves anything: missing data is no recovery."""
    return row["status"] is not None and row["unread_reason"] is None


def _kind(before: str, status: str) -> str:
    if status == contract.OK:
        return contract.RESOLVED
    if before == contract.OK:
        return contract.OPENED
    return contract.WORSE if _RANK[status] > _RANK[before] else contract.BETTER


def _first(value: int | None, other: int) -> int:
    return other if value is None else value
