# SPDX-License-Identifier: Apache-2.0
"""One change of one group: what its messages are made of, and the id by which it is sent once."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag.notify.group_rows import Row, count_skipped, is_behind
from kafka_lag.notify.open_incidents import Incident
from kafka_lag.notify.troubles import TROUBLES, OpenTrouble

# Kinds of changes after which something is over.
ENDS = (contract.RESOLVED, contract.CAUGHT_UP, *(trouble.ended for trouble in TROUBLES))
_OF_STATUS = (
    contract.OPENED,
    contract.WORSE,
    contract.BETTER,
    contract.RESOLVED,
    contract.GONE,
)
_ENDED_TROUBLES = {trouble.ended: trouble.name for trouble in TROUBLES}
_ID_DIGITS = 32


@dataclass(frozen=True, slots=True)
class GroupChange:
    """Times in ms UTC.

    `status` is the held one, or STATUS_GONE. `since` is when what the kind names began; of a
    trouble that ended, the last run that saw it. `incident` is as it was reported before, with what
    the runs up to this one saw of its backlog. Of a deleted group, `row` is its last.
    """

    cluster: str
    group: str
    kind: str
    status: str
    since: int
    taken_at: int
    row: Row
    incident: Incident

    @property
    def changes_status(self) -> bool:
        """True if the status changed, or is no longer known."""
        return self.kind in _OF_STATUS

    @property
    def previous_status(self) -> str:
        """The one last reported, the same where not the status changed."""
        return self.incident.status if self.changes_status else self.status

    @property
    def ended(self) -> OpenTrouble | None:
        """The trouble that ended, as it was reported."""
        return self.incident.troubles.get(_ENDED_TROUBLES.get(self.kind, ""))

    @property
    def ok_since(self) -> int | None:
        """Returns when the status of a group that caught up was OK again."""
        caught_up = self.kind == contract.CAUGHT_UP
        return self.incident.catching_up.since if caught_up and self.incident.catching_up else None

    @property
    def incident_id(self) -> str:
        """Shared by all messages of the incident."""
        return hash_incident(self.cluster, self.group, self.incident.since)

    @property
    def message_id(self) -> str:
        """This message's own: it is sent once. By what changed and its beginning, not by incident:
        of that, two notifiers may know other beginnings."""
        what = self.status if self.changes_status else self.kind
        since = self.since if self.ended is None else self.ended.since
        return f"{_hash(self.cluster, self.group)}-{what}-{since}"


def is_catching_up(change: GroupChange) -> bool:
    """Return true for a group that is OK again and still works off a backlog.

    The backlog itself is compared too: averaged rates show it minutes after a stop has ended.
    """
    row, before, skip = change.row, change.incident.backlog, change.incident.skip
    lag, skipped = row.get("lag"), count_skipped(row)
    if skip is not None and skip.before == before:
        skipped = skip.records
    # What was skipped, nobody worked off.
    shrinks = before is not None and lag is not None and lag + skipped < before.records
    drains = (row.get("drain_seconds") is not None and not skipped) or shrinks
    return change.kind == contract.RESOLVED and drains and is_behind(row)


def hash_incident(cluster: str, group: str, since: int) -> str:
    """Returns a name for all messages of an incident that is safe in keys, whatever the group's
    name.
    """
    return _hash(cluster, group, since)


def _hash(*parts: str | int) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_ID_DIGITS]
