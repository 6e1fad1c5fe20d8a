# SPDX-License-Identifier: Apache-2.0
"""Groups that are no longer there: with a last word in a set, or missing from all sets for long."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from kafka_lag import contract
from kafka_lag.lag.frame import Frame
from kafka_lag.notify.news.change import Change, Row
from kafka_lag.notify.news.incident import Incident, Standing, Told

# The set with the last word may be the one that nobody can read. Longer than a collector that
# lost its memory, or its coordinator, needs to see a living group again.
MISSING_MS = 30 * 60_000

# The rows of an earlier set by group, by the time of the set, ms UTC; none where it cannot be read.
Earlier: TypeAlias = Callable[[int], Mapping[str, Row]]


def deleted(before: Told, taken_at: int, row: Row, earlier: Earlier) -> Change | None:
    """News where records were left unread, or where an incident is open: it must end somehow."""
    group = row["consumer_group"]
    incident = before.standing.get(group)
    seen = None if incident is None else incident.last_seen
    last = earlier(before.taken_at if seen is None else seen).get(group, {})
    if incident is None and not last.get("lag"):
        return None
    told = {**row, **last, "status_reason": contract.GONE}
    # Where nobody was told of an incident, this is one that begins and ends with the group.
    well = Incident(contract.OK, taken_at)
    return _gone(before.cluster, group, incident or well, taken_at, taken_at, told)


def marked(before: Told, taken_at: int, groups: Frame) -> Standing:
    """How things stand, with since when a group that is told of is missing."""
    names = groups.strings("consumer_group")
    present = set(groups.where(names.is_in(before.standing)).strings("consumer_group").to_list())
    marks = {}
    for group, incident in before.standing.items():
        if group in present:
            marks[group] = replace(incident, last_seen=None, missing_since=None)
        elif incident.missing_since is None:
            marks[group] = replace(incident, last_seen=before.taken_at, missing_since=taken_at)
        else:
            marks[group] = incident
    return marks


def missing(cluster: str, taken_at: int, marks: Standing, earlier: Earlier) -> Iterator[Change]:
    """Groups that no set had for so long that their incidents end."""
    for group, incident in marks.items():
        since = incident.missing_since
        if since is None or taken_at - since < MISSING_MS:
            continue
        last = {} if incident.last_seen is None else earlier(incident.last_seen).get(group, {})
        told = {**last, "status_reason": None}
        yield _gone(cluster, group, incident, since, taken_at, told)


def _gone(
    cluster: str, group: str, incident: Incident, since: int, taken_at: int, row: Row
) -> Change:
    return Change(
        cluster=cluster,
        group=group,
        kind=contract.GONE,
        status=contract.STATUS_GONE,
        before=incident.status,
        since=since,
        incident_since=incident.since,
        taken_at=taken_at,
        row=row,
    )
