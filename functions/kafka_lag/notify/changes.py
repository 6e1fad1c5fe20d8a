# SPDX-License-Identifier: Apache-2.0
"""What changed in a run: held statuses other than those last reported, troubles that began or ended
whatever the status, and deleted groups.

Nothing here reads or sends.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Mask
from kafka_lag.lag.frame import Frame

# The run with the last row of a deleted group may be the one that nobody can read. Longer than a
# collector that lost its memory, or its coordinator, needs to see a living group again.
MISSING_MS = 30 * 60_000
# What is younger, or written in less, is no backlog.
YOUNG_SECONDS = 60.0
# A backlog that has not become smaller for so long is not being worked off.
_STEADY_MS = 30 * 60_000
# A speed is known from so many readings of the backlog, and stays within such a factor of itself.
READINGS, _ALIKE = 3, 2.0
# An age that differs by less is the same one, read again.
_SAME_SECONDS = 5.0
# Runs before an incident was reported of which its beginning is read.
_LONGEST_BACK = 10
_RANK = contract.GROUP_STATUS_VALUES
_ID_DIGITS = 32
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is worse than a status: `name` is in the columns of `groups`, `size` the column that
    says how bad it is; and the kinds of its messages."""

    name: str
    size: str
    begun: str
    ended: str

    @property
    def held_since(self) -> str:
        """The column with its beginning, known where it is held."""
        return f"held_{self.name}_since"


LOSS = Trouble(contract.TROUBLE_LOSS, "records_lost", contract.LOSS_BEGUN, contract.LOSS_ENDED)
PROMISE = Trouble(
    contract.TROUBLE_SLA_BROKEN, "time_lag_seconds", contract.PROMISE_BROKEN, contract.PROMISE_KEPT
)
RISK = Trouble(contract.TROUBLE_AT_RISK, "records_lost", contract.LOSS_NEAR, contract.LOSS_AVERTED)
TROUBLES = (LOSS, PROMISE, RISK)
ENDS = (contract.RESOLVED, contract.CAUGHT_UP, *(trouble.ended for trouble in TROUBLES))


@dataclass(frozen=True, slots=True)
class OpenTrouble:
    """A trouble as reported: since when, the last run that saw it, ms UTC, and its `most` since.

    That is of its `size`: records lost at once, or the oldest age, s; None where nobody saw it.
    """

    since: int
    seen_at: int
    most: float | None = None


@dataclass(frozen=True, slots=True)
class Backlog:
    """A group's `records` that were unread in the run of `at`, ms UTC.

    `consume_rate`, records/s, and `members` are of that run, None where they are not known or not
    stored: `members` is the same number as long as no member leaves or joins (`identify_members`).
    """

    records: int
    at: int
    consume_rate: float | None = None
    members: int | None = None


@dataclass(frozen=True, slots=True)
class Peak:
    """What an incident was at the most, in the runs since it began.

    `records` behind in the run of `at`, ms UTC. `seconds`: the oldest age, which `is_least` where
    that run, of `seconds_at`, knew no more; an older release stored no such time. `lost`: records
    that were lost at once; None where a run did not know.
    """

    records: int
    at: int
    seconds: float | None = None
    is_least: bool = False
    lost: int | None = None
    seconds_at: int | None = None


@dataclass(frozen=True, slots=True)
class Skip:
    """`records` that a group without members was set ahead over, and its backlog in the last run
    `before` and the first one `after`."""

    records: int
    before: Backlog
    after: Backlog


@dataclass(frozen=True, slots=True)
class CatchingUp:
    """A backlog that is worked off: `since` when the group is OK, ms UTC, and the `least` yet."""

    since: int
    least: Backlog


@dataclass(frozen=True, slots=True)
class Incident:
    """An open incident as last reported: the held status, and since when all is not well, ms UTC.

    `troubles` are open ones by name; the status may be OK beside them. A near loss is reported once
    an incident: then `near_reported` is true. `missing_since` is the first run without a row of the
    group, `last_seen` the run before it; both None where the newest run has one. `status_since`,
    `worst_status` and `worst_since`, its beginning, are those last reported, None where the status
    is OK and nothing is left to work off, or an older release reported it. `backlog` is of the last
    run that was not OK, `peak` the greatest, and `lately` are those of the last runs.
    `first_seen_ill`: no run saw the group OK before; `first_seen_at`, ms UTC, is known where the
    beginning is the first sight of the group. `catching_up` is known where the group was reported
    to be. `skip` is known where a backlog went by one, with nobody to read on: that ends nothing.
    """

    status: str
    since: int
    last_seen: int | None = None
    missing_since: int | None = None
    troubles: Mapping[str, OpenTrouble] = field(default_factory=dict)
    near_reported: bool = False
    status_since: int | None = None
    worst_status: str | None = None
    first_seen_ill: bool = False
    worst_since: int | None = None
    backlog: Backlog | None = None
    peak: Peak | None = None
    lately: tuple[Backlog, ...] = ()
    catching_up: CatchingUp | None = None
    first_seen_at: int | None = None
    skip: Skip | None = None


# By group; a group that is not here was last reported as well, or never.
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
class GroupChange:
    """One change of one group. Times in ms UTC.

    `status` is the held one, or STATUS_GONE, `previous_status` the one last reported, the same
    where not the status changed. `since` is when what the kind names began; of a trouble that
    ended, the last run that saw it, and `ended` is what was reported of it. `incident_since` is
    when the incident began. Of a deleted group, `row` is its last and `open_troubles` are those
    that nobody saw end. `previous_since`, `previous_worst_status` and its beginning,
    `previous_worst_since`, belong to `previous_status`, None where they are not known, as does
    `backlog`, of the last run that was not OK. `peak` is what the incident was at the most up to
    now, `lately` the backlogs of the last runs, this one's last. `first_seen_ill`: no run saw the
    group OK before the incident; `first_seen_at`: the first run that saw the group, where the
    incident began with it. `ok_since`, of a group that caught up, is when its status was OK again.
    `skip` is one that left the incident open.
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
    ended: OpenTrouble | None = None
    open_troubles: Mapping[str, OpenTrouble] = field(default_factory=dict)
    previous_since: int | None = None
    previous_worst_status: str | None = None
    previous_worst_since: int | None = None
    backlog: Backlog | None = None
    first_seen_ill: bool = False
    peak: Peak | None = None
    lately: tuple[Backlog, ...] = ()
    first_seen_at: int | None = None
    ok_since: int | None = None
    skip: Skip | None = None

    @property
    def incident_id(self) -> str:
        """Shared by all messages of the incident."""
        return hash_incident(self.cluster, self.group, self.incident_since)

    @property
    def message_id(self) -> str:
        """This message's own: it is sent once. By what changed and its beginning, not by incident:
        of that, two notifiers may know other beginnings."""
        changes_status = self.status != self.previous_status
        what = self.status if changes_status else self.kind
        since = self.since if self.ended is None else self.ended.since
        return f"{_hash(self.cluster, self.group)}-{what}-{since}"


def is_catching_up(change: GroupChange) -> bool:
    """Whether a group that is OK again still has a backlog, which it works off.

    Rates are averages, which show that minutes after a stop has ended.
    """
    row = change.row
    lag, before, skipped = row.get("lag"), change.backlog, row.get("records_skipped") or 0
    if change.skip is not None and change.skip.before == before:
        skipped = change.skip.records
    # What was skipped, nobody worked off.
    shrinks = before is not None and lag is not None and lag + skipped < before.records
    drains = (row.get("drain_seconds") is not None and not skipped) or shrinks
    return change.kind == contract.RESOLVED and drains and is_behind(row)


def is_behind(row: Row) -> bool:
    """Whether what is unread is old, or more than is written in a short time."""
    age, lag, written = (row.get(name) for name in ("time_lag_seconds", "lag", "produce_rate"))
    is_old = age is not None and age > YOUNG_SECONDS
    is_long = lag is not None and written is not None and lag > written * YOUNG_SECONDS
    return bool(lag and (is_old or is_long))


def find_growth(lately: Sequence[Backlog]) -> tuple[float, float] | None:
    """Records/s, least and most, by which the backlog grew from each of the last runs to the next;
    negative where it shrank. None where too few runs saw it."""
    if len(lately) < READINGS:
        return None
    speeds = [
        (other.records - one.records) / ((other.at - one.at) / 1_000)
        for one, other in pairwise(lately[-READINGS:])
    ]
    return min(speeds), max(speeds)


def find_speed(lately: Sequence[Backlog]) -> float | None:
    """Records/s by which the backlog became smaller between the last runs.

    None unless it did from each to the next, about alike: what turned only lately, or goes by
    jumps, has no speed that is known.
    """
    growth = find_growth(lately)
    if growth is None or growth[1] >= 0 or growth[0] < _ALIKE * growth[1]:
        return None
    last = lately[-READINGS:]
    return (last[0].records - last[-1].records) / ((last[-1].at - last[0].at) / 1_000)


@dataclass(frozen=True, slots=True)
class RunChanges:
    """Changes of one run, incidents open after them, and how many groups there are."""

    changes: tuple[GroupChange, ...]
    incidents: OpenIncidents
    groups: int


def hash_incident(cluster: str, group: str, since: int) -> str:
    """The same for all messages of an incident; safe in keys, whatever the group's name."""
    return _hash(cluster, group, since)


def _hash(*parts: str | int) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_ID_DIGITS]


def find_changes(
    reported: Reported, taken_at: int, groups: Frame, read_groups: Callable[[int], Frame | None]
) -> RunChanges:
    """Compares the `groups` of the run of `taken_at` with what was reported last.

    `read_groups` gives those of earlier runs by time, None for one that cannot be read any more: of
    a deleted group only these have the lag. The incident of a group whose held status is unknown
    stays as it is, that of a group without a row until it is missing for MISSING_MS.
    """
    rows_at = cache(lambda at: _rows_by_group(read_groups(at)))
    incidents = dict(_mark_missing(reported, taken_at, groups))
    changes = list(_end_missing(reported.cluster, taken_at, incidents, rows_at))
    for change in changes:
        del incidents[change.group]
    count = len(groups) + len(changes)
    for row in _candidate_rows(groups, reported.incidents):
        group, incident = row["consumer_group"], incidents.pop(row["consumer_group"], None)
        if row["status_reason"] in contract.LAST_ROW_REASONS:
            changes += _find_deletion(reported, taken_at, row, incident, rows_at)
        elif _is_unwatched(row):
            changes += _end_unwatched(reported.cluster, taken_at, row, incident)
        else:
            found, after = _follow_group(reported, taken_at, row, incident, rows_at)
            changes += found
            if after is not None:
                incidents[group] = after
    return RunChanges(tuple(changes), incidents, count)


def _candidate_rows(groups: Frame, incidents: OpenIncidents) -> list[Row]:
    """Rows that may be a change: of groups not well, with an open incident, or deleted."""
    held, names = groups.strings("held_status"), groups.strings("consumer_group")
    candidates: Mask = held.is_in([status for status, rank in _RANK.items() if rank > 0])
    candidates |= groups.strings("status_reason").is_in(
        [*contract.LAST_ROW_REASONS, contract.TOPIC_UNWATCHED]
    )
    candidates |= names.is_in(incidents)
    for trouble in TROUBLES:
        candidates |= groups.numbers(trouble.held_since).known
    return _to_rows(groups.take(np.flatnonzero(candidates & names.known)))


def _rows_by_group(groups: Frame | None) -> dict[str, Row]:
    return {} if groups is None else {row["consumer_group"]: row for row in _to_rows(groups)}


def _to_rows(groups: Frame) -> list[Row]:
    columns = [column.to_list() for column in groups.columns.values()]
    return [dict(zip(groups.columns, each, strict=True)) for each in zip(*columns, strict=True)]


def _follow_group(
    reported: Reported, taken_at: int, row: Row, incident: Incident | None, rows_at: _RowsAt
) -> tuple[list[GroupChange], Incident | None]:
    """What changed in a group, and its incident after that; None: all is well."""
    was = incident or Incident(contract.OK, taken_at)
    status = _find_status(row, was.status)
    if status == contract.OK and was.status != contract.OK:
        skip = _find_open_skip(row, was, taken_at)
        if skip is not None:
            was, status = replace(was, skip=skip), was.status
    ended = [trouble for trouble in TROUBLES if _has_ended(trouble, row, was)]
    begun = [trouble for trouble in TROUBLES if _has_begun(trouble, row, was)]
    if LOSS in begun:
        # A loss ends that it is near.
        ended = [trouble for trouble in ended if trouble is not RISK]
    since = _first_known(row["held_since"], taken_at)
    opens = status != contract.OK and was.status == contract.OK
    if opens:
        was = replace(was, worst_status=None, worst_since=None)
        earlier = rows_at(reported.taken_at)
        is_ill = incident is None and _was_never_ok(row["consumer_group"], earlier)
        was = replace(was, first_seen_ill=is_ill)
    # An open incident keeps its id, whatever the collector has forgotten meanwhile.
    if incident is None:
        beginnings = [row[trouble.held_since] for trouble in begun]
        beginnings += [since] if opens else []
        first = min(beginnings, default=taken_at)
        was = replace(was, since=_first_known(row["incident_since"], first))
        was = _read_beginning(was, row, first, reported.taken_at, taken_at, rows_at)
    if opens:
        first_seen_at = _find_first_sight(row, reported.taken_at, taken_at, rows_at)
        was = replace(was, first_seen_at=first_seen_at)
    was = _add_reading(was, row, taken_at)
    change = partial(
        GroupChange,
        cluster=reported.cluster,
        group=row["consumer_group"],
        status=status,
        previous_status=status,
        incident_since=was.since,
        taken_at=taken_at,
        row=row,
        previous_since=was.status_since,
        previous_worst_status=was.worst_status,
        previous_worst_since=was.worst_since,
        backlog=was.backlog,
        first_seen_ill=was.first_seen_ill,
        peak=was.peak,
        lately=was.lately,
        first_seen_at=was.first_seen_at,
        skip=was.skip,
    )
    changes: list[GroupChange] = []
    for trouble in ended:
        last = was.troubles[trouble.name]
        changes.append(change(kind=trouble.ended, since=last.seen_at, ended=last))
    changes += [change(kind=trouble.begun, since=row[trouble.held_since]) for trouble in begun]
    catching_up = was.catching_up
    if status != was.status:
        kind = _classify(was.status, status)
        changes.append(change(kind=kind, since=since, previous_status=was.status))
        catching_up = _begin_catching_up(changes[-1])
    elif catching_up is not None:
        catching_up = _follow_catching_up(catching_up, row, taken_at)
        if catching_up is None:
            ok_since = was.catching_up.since if was.catching_up else None
            changes.append(change(kind=contract.CAUGHT_UP, since=taken_at, ok_since=ok_since))
    troubles = _update_troubles(row, taken_at, was, begun, ended)
    if status == contract.OK and not troubles and catching_up is None:
        return changes, None
    after = replace(
        was,
        status=status,
        troubles=troubles,
        near_reported=was.near_reported or LOSS in begun or RISK in begun,
        last_seen=None,
        missing_since=None,
        backlog=_find_backlog(row, taken_at) or was.backlog,
        catching_up=catching_up,
    )
    if status == contract.OK:
        after = replace(after, status_since=None, backlog=None, skip=None)
        if catching_up is None:
            after = replace(after, worst_status=None, worst_since=None)
        return changes, after
    if changes and row["worst_status"] is not None:
        worst_since = row["worst_status_since"]
        after = replace(after, worst_status=row["worst_status"], worst_since=worst_since)
    if status != was.status:
        after = replace(after, status_since=since)
    return changes, after


def _read_beginning(
    incident: Incident, row: Row, first: int, last_run: int, taken_at: int, rows_at: _RowsAt
) -> Incident:
    """The incident with what the runs saw that made it one, before it was held."""
    for at in _list_runs(first, last_run, taken_at):
        if (earlier := rows_at(at).get(row["consumer_group"])) is not None:
            incident = _add_reading(incident, earlier, at)
    return incident


def _list_runs(first: int, last_run: int, taken_at: int) -> list[int]:
    """Times of runs from the `first` to the last one, were they all as far apart as these two."""
    interval = taken_at - last_run
    count = min((last_run - first) // interval, _LONGEST_BACK) if interval > 0 else -1
    return [last_run - number * interval for number in range(count, -1, -1)]


def _find_first_sight(row: Row, last_run: int, taken_at: int, rows_at: _RowsAt) -> int | None:
    """The run in which what the consumer does began, where the run before had no such group."""
    group, since, interval = row["consumer_group"], row["worst_status_since"], taken_at - last_run
    if since is None or interval <= 0:
        return None
    nearest = taken_at - round((taken_at - since) / interval) * interval
    candidates: list[int] = [nearest]
    # An age that is a least one may reach back to a run less than the group does.
    if row["worst_status"] == contract.SLOW:
        candidates.append(nearest - interval)
    for first in candidates:
        before = rows_at(first - interval)
        if group in rows_at(first) and before and group not in before:
            return first
    return None


def _add_reading(incident: Incident, row: Row, at: int) -> Incident:
    """The incident with what this run saw of its backlog."""
    lag = row["lag"]
    if lag is None or row["unread_reason"] is not None:
        return incident
    lately = (*incident.lately, Backlog(lag, at))[-READINGS:]
    return replace(incident, lately=lately, peak=_raise_peak(incident.peak, row, lag, at))


def _raise_peak(peak: Peak | None, row: Row, lag: int, at: int) -> Peak:
    age, lost = row["time_lag_seconds"], row["records_lost"]
    is_least = row["time_lag_method"] == contract.METHOD_AT_LEAST
    if peak is None:
        return Peak(lag, at, age, is_least, lost, None if age is None else at)
    if lag > peak.records:
        peak = replace(peak, records=lag, at=at)
    if age is not None and (peak.seconds is None or age > peak.seconds + _SAME_SECONDS):
        peak = replace(peak, seconds=age, is_least=is_least, seconds_at=at)
    most = None if lost is None or peak.lost is None else max(peak.lost, lost)
    return replace(peak, lost=most)


def _find_open_skip(row: Row, incident: Incident, taken_at: int) -> Skip | None:
    """The skip by which a backlog went that nobody reads on from; None: all may be well.

    Nobody does where the group has no member and its backlog grew with each run since.
    """
    before, lag = incident.backlog, row["lag"]
    if row["members"] != 0 or not lag or before is None:
        return None
    since = [each for each in incident.lately if each.at > before.at]
    readings = [*(incident.lately if incident.skip else since), Backlog(lag, taken_at)]
    if any(one.records > other.records for one, other in pairwise(readings)):
        return None
    if incident.skip is not None or not row["records_skipped"]:
        return incident.skip
    return Skip(row["records_skipped"], before, readings[0])


def _find_backlog(row: Row, taken_at: int) -> Backlog | None:
    """What this run saw unread, where it saw that all is not well."""
    is_ill = row["status"] not in (contract.OK, None) and row["unread_reason"] is None
    lag = row["lag"]
    if not (is_ill and lag):
        return None
    return Backlog(lag, taken_at, row["consume_rate"], identify_members(row))


def identify_members(row: Row) -> int | None:
    """A number that stays as long as no member leaves or joins; None where there is none, or it is
    not known, as in a rebalance.

    While a group has members, Kafka lets nobody else set its offsets.
    """
    if not row.get("members") or row.get("group_state") in contract.REBALANCING_STATES:
        return None
    number: int | None = _first_known(row.get("members_hash"), row.get("group_epoch"))
    return number


def _begin_catching_up(change: GroupChange) -> CatchingUp | None:
    """What is to be followed of a group that is OK again, until its backlog is gone."""
    if not is_catching_up(change):
        return None
    return CatchingUp(change.since, Backlog(change.row["lag"], change.taken_at))


def _follow_catching_up(catching_up: CatchingUp, row: Row, taken_at: int) -> CatchingUp | None:
    """What is left to follow; None once the backlog is gone, or stays as it is."""
    lag = row["lag"]
    if lag is None or row["status"] != contract.OK or not _was_read(row):
        return catching_up
    if not is_behind(row):
        return None
    if lag < catching_up.least.records:
        return replace(catching_up, least=Backlog(lag, taken_at))
    return None if taken_at - catching_up.least.at >= _STEADY_MS else catching_up


def _was_never_ok(group: str, earlier: Mapping[str, Row]) -> bool:
    """Whether the run before had no held status of it; not so where nobody can read that run."""
    return bool(earlier) and earlier.get(group, {}).get("held_status") is None


def _find_status(row: Row, previous: str) -> str:
    """The status to report: the held one, unless it is better and not read in this run."""
    status = row["held_status"]
    if status not in _RANK or (_RANK[status] < _RANK[previous] and not _was_read(row)):
        return previous
    return str(status)


def _has_begun(trouble: Trouble, row: Row, incident: Incident) -> bool:
    """Whether it is held, and not reported yet. A near loss is reported once an incident, and not
    beside a loss."""
    since, reported = row[trouble.held_since], incident.troubles.get(trouble.name)
    if since is None:
        return False
    if trouble is RISK:
        is_losing = row[LOSS.held_since] is not None
        return not (incident.near_reported or is_losing)
    return reported is None or reported.since != since


def _has_ended(trouble: Trouble, row: Row, incident: Incident) -> bool:
    """Whether it was reported, and is over; or another has begun since."""
    since, reported = row[trouble.held_since], incident.troubles.get(trouble.name)
    if reported is None:
        return False
    if since is None:
        return _was_read(row)
    return trouble is not RISK and reported.since != since


def _update_troubles(
    row: Row,
    taken_at: int,
    incident: Incident,
    begun: Sequence[Trouble],
    ended: Sequence[Trouble],
) -> dict[str, OpenTrouble]:
    """Those open after a run, with what it saw of them."""
    after = {}
    for trouble in TROUBLES:
        last = incident.troubles.get(trouble.name)
        if trouble in begun:
            last = OpenTrouble(row[trouble.held_since], taken_at)
        elif last is None or trouble in ended or (trouble is RISK and LOSS in begun):
            continue
        seen_at, size = row[f"{trouble.name}_seen_at"], row[trouble.size]
        most = max((each for each in (last.most, size) if each is not None), default=None)
        after[trouble.name] = OpenTrouble(last.since, _first_known(seen_at, last.seen_at), most)
    return after


def _was_read(row: Row) -> bool:
    """Whether this run proves anything: missing data is no recovery."""
    return row["status"] is not None and row["unread_reason"] is None


def _classify(previous: str, status: str) -> str:
    if status == contract.OK:
        return contract.RESOLVED
    if previous == contract.OK:
        return contract.OPENED
    return contract.WORSE if _RANK[status] > _RANK[previous] else contract.BETTER


def _first_known(value: _T | None, default: _T) -> _T:
    return default if value is None else value


def _find_deletion(
    reported: Reported, taken_at: int, row: Row, incident: Incident | None, rows_at: _RowsAt
) -> Iterator[GroupChange]:
    """A change where records were left unread, or an incident is open: it must end somehow."""
    group = row["consumer_group"]
    # as it was before this run had a row again
    was = reported.incidents.get(group)
    seen = None if was is None else was.last_seen
    last = rows_at(reported.taken_at if seen is None else seen).get(group, {})
    if incident is None and not last.get("lag"):
        return
    last = {**row, "taken_at": None, **last, "status_reason": row["status_reason"]}
    # Where no incident was reported, this is one that begins and ends with the group.
    incident = incident or Incident(contract.OK, taken_at)
    yield _build_gone(
        reported.cluster, group, incident, since=taken_at, taken_at=taken_at, row=last
    )


def _is_unwatched(row: Row) -> bool:
    """Whether nothing that is watched is bad, as the row's topic no longer is."""
    if row["status_reason"] != contract.TOPIC_UNWATCHED:
        return False
    if any(row[trouble.held_since] is not None for trouble in TROUBLES):
        return False
    return row["status"] is None or row["held_status"] in (contract.OK, None)


def _end_unwatched(
    cluster: str, taken_at: int, row: Row, incident: Incident | None
) -> Iterator[GroupChange]:
    """Ends an open incident, not as resolved: nobody knows what became of it."""
    if incident is not None:
        group = row["consumer_group"]
        yield _build_gone(cluster, group, incident, since=taken_at, taken_at=taken_at, row=row)


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
) -> Iterator[GroupChange]:
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
) -> GroupChange:
    return GroupChange(
        cluster=cluster,
        group=group,
        kind=contract.GONE,
        status=contract.STATUS_GONE,
        previous_status=incident.status,
        since=since,
        incident_since=incident.since,
        taken_at=taken_at,
        row=row,
        open_troubles=incident.troubles,
        previous_since=incident.status_since,
        previous_worst_status=incident.worst_status,
        previous_worst_since=incident.worst_since,
    )
