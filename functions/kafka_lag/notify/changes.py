# SPDX-License-Identifier: Apache-2.0
"""Status changes of a run: held statuses other than those last reported, and deleted groups.

Nothing here reads or sends.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.frame import Frame

# The run with the last row of a deleted group may be the one that nobody can read. Longer than a
# collector that lost its memory, or its coordinator, needs to see a living group again.
MISSING_MS = 30 * 60_000
_RANK = contract.GROUP_STATUS_VALUES
_ID_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Incident:
    """An open incident as last reported: held status, WARN or ERR, and when OK was left, ms UTC.

    `missing_since` is the first run without a row of the group, `last_seen` the run before it;
    both None where the newest run has one.
    """

    status: str
    since: int
    last_seen: int | None = None
    missing_since: int | None = None


# By group; a group that is not here was last reported as OK, or never.
OpenIncidents: TypeAlias = Mapping[str, Incident]
# One group's values by column of `groups`, None for unknown.
Row: TypeAlias = Mapping[str, Any]
# The rows of an earlier run by group, by the run's time, ms UTC; none where it cannot be read.
_RowsAt: TypeAlias = Callable[[int], Mapping[str, Row]]


@dataclass(frozen=True, slots=True)
class Reported:
    """What a channel has reported of a cluster: its newest run, ms UTC, and incidents open then."""

    cluster: str
    taken_at: int
    incidents: OpenIncidents


@dataclass(frozen=True, slots=True)
class StatusChange:
    """One group's change. Times in ms UTC.

    `status` is the held one, or STATUS_GONE, `previous_status` the one last reported, `since` when
    `status` began, `incident_since` when the group left OK. Of a deleted group, `row` is its last.
    """

    cluster: str
    group: str
    kind: str
    status: str
    previous_status: str
    since: int
    incident_since: int
    taken_at: int
    row: Row

    @property
    def incident_id(self) -> str:
        """Shared by all messages of the incident."""
        return hash_incident(self.cluster, self.group, self.incident_since)

    @property
    def message_id(self) -> str:
        """This message's own: it is sent once."""
        return f"{self.incident_id}-{self.status}-{self.since}"


@dataclass(frozen=True, slots=True)
class RunChanges:
    """Changes of one run, incidents open after them, and how many groups there are."""

    changes: tuple[StatusChange, ...]
    incidents: OpenIncidents
    groups: int


def hash_incident(cluster: str, group: str, since: int) -> str:
    """The same for opened, worse, better and resolved; safe in keys, whatever the group's name."""
    text = json.dumps([cluster, group, since])
    return hashlib.sha256(text.encode()).hexdigest()[:_ID_DIGITS]


def find_changes(
    reported: Reported, taken_at: int, groups: Frame, read_groups: Callable[[int], Frame | None]
) -> RunChanges:
    """Compares the `groups` of the run of `taken_at` with what was reported last.

    `read_groups` gives those of earlier runs by time, None for one that cannot be read any more: of
    a deleted group only these have the lag. The incident of a group whose held status is unknown
    stays as it is, that of a group without a row until it is missing for MISSING_MS.
    """
    rows_at = cache(lambda at: _rows_by_group(read_groups(at)))
    incidents = _mark_missing(reported, taken_at, groups)
    changes = list(_end_missing(reported.cluster, taken_at, incidents, rows_at))
    count = len(groups) + len(changes)
    for row in _candidate_rows(groups, reported.incidents):
        if row["status_reason"] in contract.LAST_ROW_REASONS:
            change = _find_deletion(reported, taken_at, row, rows_at)
        elif _is_unwatched(row):
            change = _find_unwatched(reported, taken_at, row)
        else:
            change = _find_status_change(reported, taken_at, row)
        if change is not None:
            changes.append(change)
    return RunChanges(tuple(changes), _apply(changes, incidents), count)


def _candidate_rows(groups: Frame, incidents: OpenIncidents) -> list[Row]:
    """Rows that may be a change: of groups not OK, with an open incident, or deleted."""
    held, names = groups.strings("held_status"), groups.strings("consumer_group")
    candidates = held.is_in([status for status, rank in _RANK.items() if rank > 0])
    candidates |= groups.strings("status_reason").is_in(
        [*contract.LAST_ROW_REASONS, contract.TOPIC_UNWATCHED]
    )
    candidates |= held.known & names.is_in(incidents)
    return _to_rows(groups.take(np.flatnonzero(candidates & names.known)))


def _rows_by_group(groups: Frame | None) -> dict[str, Row]:
    return {} if groups is None else {row["consumer_group"]: row for row in _to_rows(groups)}


def _to_rows(groups: Frame) -> list[Row]:
    columns = [column.to_list() for column in groups.columns.values()]
    return [dict(zip(groups.columns, each, strict=True)) for each in zip(*columns, strict=True)]


def _apply(changes: Sequence[StatusChange], incidents: OpenIncidents) -> OpenIncidents:
    """Incidents that are open once these changes are reported."""
    after = dict(incidents)
    for change in changes:
        if change.status in (contract.OK, contract.STATUS_GONE):
            after.pop(change.group, None)
        else:
            after[change.group] = Incident(change.status, change.incident_since)
    return after


def _find_status_change(reported: Reported, taken_at: int, row: Row) -> StatusChange | None:
    group, status = row["consumer_group"], row["held_status"]
    incident = reported.incidents.get(group)
    previous = incident.status if incident else contract.OK
    if status not in _RANK or status == previous:
        return None
    if _RANK[status] < _RANK[previous] and not _was_read(row):
        return None
    since = _first_known(row["held_since"], taken_at)
    opened = _first_known(row["incident_since"], since)
    return StatusChange(
        cluster=reported.cluster,
        group=group,
        kind=_classify(previous, status),
        status=status,
        previous_status=previous,
        since=since,
        # an open incident keeps its id, whatever the collector has forgotten meanwhile
        incident_since=incident.since if incident else opened,
        taken_at=taken_at,
        row=row,
    )


def _was_read(row: Row) -> bool:
    """Whether this run proves anything: missing data is no recovery."""
    return row["status"] is not None and row["unread_reason"] is None


def _classify(previous: str, status: str) -> str:
    if status == contract.OK:
        return contract.RESOLVED
    if previous == contract.OK:
        return contract.OPENED
    return contract.WORSE if _RANK[status] > _RANK[previous] else contract.BETTER


def _first_known(value: int | None, default: int) -> int:
    return default if value is None else value


def _find_deletion(
    reported: Reported, taken_at: int, row: Row, rows_at: _RowsAt
) -> StatusChange | None:
    """A change where records were left unread, or an incident is open: it must end somehow."""
    group = row["consumer_group"]
    incident = reported.incidents.get(group)
    seen = None if incident is None else incident.last_seen
    last = rows_at(reported.taken_at if seen is None else seen).get(group, {})
    if incident is None and not last.get("lag"):
        return None
    last = {**row, **last, "status_reason": row["status_reason"]}
    # Where no incident was reported, this is one that begins and ends with the group.
    incident = incident or Incident(contract.OK, taken_at)
    return _build_gone(
        reported.cluster, group, incident, since=taken_at, taken_at=taken_at, row=last
    )


def _is_unwatched(row: Row) -> bool:
    """Whether nothing that is watched is bad, as the row's topic no longer is."""
    if row["status_reason"] != contract.TOPIC_UNWATCHED:
        return False
    return row["status"] is None or row["held_status"] in (contract.OK, None)


def _find_unwatched(reported: Reported, taken_at: int, row: Row) -> StatusChange | None:
    """Ends an open incident, not as resolved: nobody knows what became of it."""
    group = row["consumer_group"]
    incident = reported.incidents.get(group)
    if incident is None:
        return None
    return _build_gone(
        reported.cluster, group, incident, since=taken_at, taken_at=taken_at, row=row
    )


def _mark_missing(reported: Reported, taken_at: int, groups: Frame) -> OpenIncidents:
    """The open incidents, with since when their groups are missing."""
    names = groups.strings("consumer_group")
    rows = groups.where(names.is_in(reported.incidents))
    present = set(rows.strings("consumer_group").to_list())
    marked = {}
    for group, incident in reported.incidents.items():
        if group in present:
            marked[group] = replace(incident, last_seen=None, missing_since=None)
        elif incident.missing_since is None:
            last_seen = reported.taken_at
            marked[group] = replace(incident, last_seen=last_seen, missing_since=taken_at)
        else:
            marked[group] = incident
    return marked


def _end_missing(
    cluster: str, taken_at: int, incidents: OpenIncidents, rows_at: _RowsAt
) -> Iterator[StatusChange]:
    """Ends incidents of groups that no run had for MISSING_MS."""
    for group, incident in incidents.items():
        since = incident.missing_since
        if since is None or taken_at - since < MISSING_MS:
            continue
        last = {} if incident.last_seen is None else rows_at(incident.last_seen).get(group, {})
        row = {**last, "status_reason": None}
        yield _build_gone(cluster, group, incident, since=since, taken_at=taken_at, row=row)


def _build_gone(
    cluster: str, group: str, incident: Incident, *, since: int, taken_at: int, row: Row
) -> StatusChange:
    return StatusChange(
        cluster=cluster,
        group=group,
        kind=contract.GONE,
        status=contract.STATUS_GONE,
        previous_status=incident.status,
        since=since,
        incident_since=incident.since,
        taken_at=taken_at,
        row=row,
    )
