# SPDX-License-Identifier: Apache-2.0
"""Groups whose incident ends without a recovery: deleted, in no run for long, or unwatched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kafka_lag import contract
from kafka_lag.notify.group_change import GroupChange
from kafka_lag.notify.group_rows import ComparedRun, Row
from kafka_lag.notify.open_incidents import Absence, Incident
from kafka_lag.notify.troubles import TROUBLES

# The run with the last row of a deleted group may be the one that nobody can read. Longer than a
# collector that lost its memory, or its coordinator, needs to see a living group again.
MISSING_MS = 30 * 60_000


def follow_missing(
    run: ComparedRun, group: str, incident: Incident
) -> tuple[list[GroupChange], Incident | None]:
    """The incident of a group without a row; its end, once no run had one for MISSING_MS."""
    missing = incident.missing or Absence(run.last_reported, run.taken_at)
    if run.taken_at - missing.since < MISSING_MS:
        return [], replace(incident, missing=missing)
    row = {**run.rows_at(missing.last_seen).get(group, {}), "status_reason": None}
    return [_end(run, group, incident, row, missing.since)], None


def find_deletion(run: ComparedRun, row: Row, incident: Incident | None) -> Iterator[GroupChange]:
    """A change where records were left unread, or an incident is open: it must end somehow."""
    group = row["consumer_group"]
    missing = incident.missing if incident else None
    last = run.rows_at(missing.last_seen if missing else run.last_reported).get(group, {})
    if incident is None and not last.get("lag"):
        return
    last = {**row, "taken_at": None, **last, "status_reason": row["status_reason"]}
    # Where no incident was reported, this is one that begins and ends with the group.
    incident = incident or Incident(contract.OK, run.taken_at)
    yield _end(run, group, incident, last, run.taken_at)


def is_unwatched(row: Row) -> bool:
    """Return true if only a topic that is no longer watched was bad."""
    if row["status_reason"] != contract.TOPIC_UNWATCHED:
        return False
    if any(row[trouble.held_since] is not None for trouble in TROUBLES):
        return False
    return row["status"] is None or row["held_status"] in (contract.OK, None)


def end_unwatched(run: ComparedRun, row: Row, incident: Incident | None) -> Iterator[GroupChange]:
    """Ends an open incident, not as resolved: nobody knows what became of it."""
    if incident is not None:
        yield _end(run, row["consumer_group"], incident, row, run.taken_at)


def _end(run: ComparedRun, group: str, incident: Incident, row: Row, since: int) -> GroupChange:
    return GroupChange(
        cluster=run.cluster,
        group=group,
        kind=contract.GONE,
        status=contract.STATUS_GONE,
        since=since,
        taken_at=run.taken_at,
        row=row,
        # Of what nobody sees any more no speed is known.
        incident=replace(incident, lately=()),
    )
