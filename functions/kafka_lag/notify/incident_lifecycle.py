# SPDX-License-Identifier: Apache-2.0
"""An incident from its opening to its end: what one run changes in one group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from kafka_lag import contract
from kafka_lag.notify.backlog import (
    READINGS,
    Backlog,
    CatchingUp,
    Skip,
    find_open_skip,
    find_unhealthy_backlog,
    follow_catching_up,
    raise_peak,
)
from kafka_lag.notify.group_change import GroupChange, is_catching_up
from kafka_lag.notify.group_rows import ComparedRun, Row, first_known, was_read
from kafka_lag.notify.open_incidents import Incident
from kafka_lag.notify.troubles import Trouble, TroubleChanges, follow_troubles

# Runs before an incident was reported of which its beginning is read.
_LONGEST_BACK = 10
_RANK = contract.GROUP_STATUS_VALUES
# Makes a change of the group in this run, of its `kind` and `since`.
_MakeChange: TypeAlias = Callable[..., GroupChange]


def follow_group(
    run: ComparedRun, row: Row, incident: Incident | None
) -> tuple[list[GroupChange], Incident | None]:
    """Return what changed in a group, and its incident afterwards; null if there is none."""
    reported = incident or Incident(contract.OK, run.taken_at)
    status, skip = _read_status(run, row, reported)
    troubles = follow_troubles(
        row, run.taken_at, reported.troubles, near_reported=reported.near_reported
    )
    known = _open_incident(run, row, incident, status, troubles.begun)
    known = _add_reading(replace(known, skip=skip), row, run.taken_at)
    change = partial(
        GroupChange,
        cluster=run.cluster,
        group=row["consumer_group"],
        status=status,
        taken_at=run.taken_at,
        row=row,
        incident=known,
    )
    changes = [
        *_report_troubles(change, row, known, troubles),
        *_report_skip(change, run, row, known),
    ]
    if status == known.status:
        caught_up, catching_up = _catch_up(change, run, row, known)
        changes += caught_up
    else:
        turn, catching_up = _turn(change, run, row, known.status, status)
        changes.append(turn)
    after = replace(
        known,
        status=status,
        troubles=troubles.open,
        near_reported=troubles.near_reported,
        catching_up=catching_up,
        missing=None,
    )
    return changes, _close(row, run.taken_at, after, changes)


def _read_status(run: ComparedRun, row: Row, reported: Incident) -> tuple[str, Skip | None]:
    """Return the status to report, and the skip that keeps it from being OK.

    It is the held status, unless that one is better and was not read in this run.
    """
    status, previous = row["held_status"], reported.status
    if status not in _RANK or (_RANK[status] < _RANK[previous] and not was_read(row)):
        return previous, reported.skip
    if status == contract.OK and previous != contract.OK:
        skip = find_open_skip(row, run.taken_at, reported.backlog, reported.lately, reported.skip)
        if skip is not None:
            return previous, skip
    return str(status), reported.skip


def _open_incident(
    run: ComparedRun, row: Row, incident: Incident | None, status: str, begun: Sequence[Trouble]
) -> Incident:
    """The incident as it was reported, or one that begins; with what is known where the status is
    no longer OK."""
    known = incident or _begin_incident(run, row, status, begun)
    if status == contract.OK or known.status != contract.OK:
        return known
    earlier = run.rows_at(run.last_reported)
    return replace(
        known,
        worst_status=None,
        worst_since=None,
        first_seen_ill=incident is None and _was_never_ok(row["consumer_group"], earlier),
        first_seen_at=_find_first_sight(run, row),
    )


def _begin_incident(run: ComparedRun, row: Row, status: str, begun: Sequence[Trouble]) -> Incident:
    """One of the collector's beginning, or of the first that is reported; with what the runs saw
    that made it one, before it was held."""
    group = row["consumer_group"]
    beginnings = [row[trouble.held_since] for trouble in begun]
    beginnings += [] if status == contract.OK else [_held_since(run, row)]
    first = min(beginnings, default=run.taken_at)
    incident = Incident(contract.OK, first_known(row["incident_since"], first))
    for at in _list_runs(run, first):
        if (earlier := run.rows_at(at).get(group)) is not None:
            incident = _add_reading(incident, earlier, at)
    return incident


def _list_runs(run: ComparedRun, first: int) -> list[int]:
    """Times of runs from the `first` to the last one, were they all as far apart as these two."""
    interval = run.taken_at - run.last_reported
    count = min((run.last_reported - first) // interval, _LONGEST_BACK) if interval > 0 else -1
    return [run.last_reported - number * interval for number in range(count, -1, -1)]


def _find_first_sight(run: ComparedRun, row: Row) -> int | None:
    """The run in which what the consumer does began, where the run before had no such group."""
    group, since = row["consumer_group"], row["worst_status_since"]
    interval = run.taken_at - run.last_reported
    if since is None or interval <= 0:
        return None
    nearest = run.taken_at - round((run.taken_at - since) / interval) * interval
    candidates: list[int] = [nearest]
    # An age that is a least one may reach back to a run less than the group does.
    if row["worst_status"] == contract.SLOW:
        candidates.append(nearest - interval)
    for first in candidates:
        before = run.rows_at(first - interval)
        if group in run.rows_at(first) and before and group not in before:
            return first
    return None


def _was_never_ok(group: str, earlier: Mapping[str, Row]) -> bool:
    """Return true if the previous run had no held status of the group; false if unreadable."""
    return bool(earlier) and earlier.get(group, {}).get("held_status") is None


def _add_reading(incident: Incident, row: Row, at: int) -> Incident:
    """The incident with what this run saw of its backlog."""
    lag = row["lag"]
    if lag is None or row["unread_reason"] is not None:
        return incident
    lately = (*incident.lately, Backlog(lag, at))[-READINGS:]
    return replace(incident, lately=lately, peak=raise_peak(incident.peak, row, at))


def _report_troubles(
    change: _MakeChange, row: Row, known: Incident, troubles: TroubleChanges
) -> Iterator[GroupChange]:
    """Troubles that ended, then those that began."""
    for trouble in troubles.ended:
        yield change(kind=trouble.ended, since=known.troubles[trouble.name].seen_at)
    for trouble in troubles.begun:
        yield change(kind=trouble.begun, since=row[trouble.held_since])


def _report_skip(
    change: _MakeChange, run: ComparedRun, row: Row, known: Incident
) -> Iterator[GroupChange]:
    """Yield a skip that a run after the last reported one saw, unless an incident is open: the end
    of an incident says what became of its records.
    """
    at = row["skipped_at"]
    if at is not None and at > run.last_reported and known.status == contract.OK:
        yield change(kind=contract.SKIPPED, since=at)


def _held_since(run: ComparedRun, row: Row) -> int:
    """Since when the status is held."""
    since: int = first_known(row["held_since"], run.taken_at)
    return since


def _turn(
    change: _MakeChange, run: ComparedRun, row: Row, previous: str, status: str
) -> tuple[GroupChange, CatchingUp | None]:
    """The change to another status; and the backlog that is to be followed until it is gone, where
    the group is OK and still has one."""
    turn = change(kind=_classify_turn(previous, status), since=_held_since(run, row))
    if not is_catching_up(turn):
        return turn, None
    return turn, CatchingUp(turn.since, Backlog(row["lag"], run.taken_at))


def _catch_up(
    change: _MakeChange, run: ComparedRun, row: Row, known: Incident
) -> tuple[list[GroupChange], CatchingUp | None]:
    """Return a change once a group has caught up, and else what is still to follow of it."""
    if known.catching_up is None:
        return [], None
    catching_up = follow_catching_up(known.catching_up, row, run.taken_at)
    if catching_up is not None:
        return [], catching_up
    return [change(kind=contract.CAUGHT_UP, since=run.taken_at)], None


def _classify_turn(previous: str, status: str) -> str:
    if status == contract.OK:
        return contract.RESOLVED
    if previous == contract.OK:
        return contract.OPENED
    return contract.WORSE if _RANK[status] > _RANK[previous] else contract.BETTER


def _close(
    row: Row, taken_at: int, after: Incident, changes: Sequence[GroupChange]
) -> Incident | None:
    """The incident after these changes, as the next run needs it; None where it is over."""
    if after.status == contract.OK:
        if after.catching_up is not None:
            return replace(after, status_since=None, backlog=None, skip=None)
        if not after.troubles:
            return None
        return replace(
            after, status_since=None, backlog=None, skip=None, worst_status=None, worst_since=None
        )
    after = replace(after, backlog=find_unhealthy_backlog(row, taken_at) or after.backlog)
    if changes and row["worst_status"] is not None:
        worst_since = row["worst_status_since"]
        after = replace(after, worst_status=row["worst_status"], worst_since=worst_since)
    for change in changes:
        if change.changes_status:
            after = replace(after, status_since=change.since)
    return after
