# SPDX-License-Identifier: Apache-2.0
"""What is news in a set: held statuses other than those last told, and groups that are gone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.frame import Frame
from kafka_lag.notify.news.change import Change, Row
from kafka_lag.notify.news.departures import deleted, marked, missing
from kafka_lag.notify.news.incident import Incident, Standing, Told

_RANK = contract.GROUP_STATUS_VALUES


@dataclass(frozen=True, slots=True)
class News:
    """The changes of one set, how things stand once they are told, and among how many groups."""

    changes: tuple[Change, ...]
    standing: Standing
    among: int


def news(before: Told, taken_at: int, groups: Frame, set_of: Callable[[int], Frame | None]) -> News:
    """Compares the set of `taken_at` with what was told last.

    `set_of` gives earlier sets by time, None for one that cannot be read any more: of a group that
    is gone only these have the lag. A group whose held status is unknown stands as it did, one
    without a row until it is missing for long.
    """
    earlier = cache(lambda at: _by_group(set_of(at)))
    told = dict(marked(before, taken_at, groups))
    found = list(missing(before.cluster, taken_at, told, earlier))
    among = len(groups) + len(found)
    for row in _rows(groups, before.standing):
        if row["status_reason"] == contract.GONE:
            change = deleted(before, taken_at, row, earlier)
        else:
            change = _changed(before.cluster, taken_at, row, before.standing)
        if change is not None:
            found.append(change)
    for change in found:
        if change.status in (contract.OK, contract.STATUS_GONE):
            told.pop(change.group, None)
        else:
            told[change.group] = Incident(change.status, change.incident_since)
    return News(tuple(found), told, among)


def _rows(groups: Frame, standing: Standing) -> list[Row]:
    """The rows that may be news: of groups not well, told of, or gone."""
    held, names = groups.strings("held_status"), groups.strings("consumer_group")
    wanted = held.is_in([status for status, rank in _RANK.items() if rank > 0])
    wanted |= groups.strings("status_reason").is_in([contract.GONE])
    wanted |= held.known & names.is_in(standing)
    return _to_rows(groups.take(np.flatnonzero(wanted & names.known)))


def _by_group(groups: Frame | None) -> dict[str, Row]:
    return {} if groups is None else {row["consumer_group"]: row for row in _to_rows(groups)}


def _to_rows(groups: Frame) -> list[Row]:
    columns = [column.to_list() for column in groups.columns.values()]
    return [dict(zip(groups.columns, each, strict=True)) for each in zip(*columns, strict=True)]


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
