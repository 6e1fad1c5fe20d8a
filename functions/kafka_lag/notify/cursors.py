# SPDX-License-Identifier: Apache-2.0
"""Cursors: up to which run of a cluster a channel has reported, and which incidents were open."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from kafka_lag import contract
from kafka_lag.errors import StoreError
from kafka_lag.notify.changes import (
    Backlog,
    CatchingUp,
    Incident,
    OpenIncidents,
    OpenTrouble,
    Peak,
    Reported,
    Skip,
)
from kafka_lag.notify.conditional_objects import ConditionalObjects, StoredObject

_VERSION = "1"


@dataclass(frozen=True, slots=True)
class Cursor(Reported):
    """The newest run whose messages are sent; `etag` guards the next write."""

    etag: str


class Cursors:
    """Those of one channel, one a cluster. All methods raise StoreError."""

    def __init__(self, objects: ConditionalObjects, channel: str) -> None:
        self._objects = objects
        self._channel = channel

    def read(self, cluster: str, first: int) -> Cursor:
        """The cluster's cursor; where there is none it begins just before the run of `first`.

        That is written before anything is sent: what then fails is what the next event begins with.
        """
        key = self._key(cluster)
        stored = self._objects.read(key)
        if stored is None:
            data = _encode_cursor(first - 1, {})
            etag = self._objects.put_if_none_match(key, data)
            stored = StoredObject(data, etag) if etag else self._objects.read(key)
        if stored is None:
            raise StoreError(f"{key} comes and goes: somebody deletes it while it is written.")
        try:
            content = json.loads(stored.data)
            if content["version"] != _VERSION:
                raise ValueError(f"version {content['version']}")
            incidents = {group: _decode_incident(each) for group, each in content["open"].items()}
            return Cursor(cluster, int(content["taken_at"]), incidents, stored.etag)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StoreError(
                f"{key} cannot be understood ({error}). Delete it to begin anew: every group that "
                "is not well then gets a message, unless it had it before."
            ) from error

    def move(self, cursor: Cursor, taken_at: int, incidents: OpenIncidents) -> Cursor:
        """The cursor at this run; where another moved it meanwhile, the other's."""
        data = _encode_cursor(taken_at, incidents)
        etag = self._objects.put_if_match(self._key(cursor.cluster), data, cursor.etag)
        if etag is None:
            return self.read(cursor.cluster, taken_at + 1)
        return Cursor(cursor.cluster, taken_at, incidents, etag)

    def _key(self, cluster: str) -> str:
        return f"{contract.CURSORS_PREFIX}/{cluster}/{self._channel}"


def _encode_cursor(taken_at: int, incidents: OpenIncidents) -> bytes:
    content = {
        "version": _VERSION,
        "taken_at": taken_at,
        "open": {group: _encode_incident(each) for group, each in incidents.items()},
    }
    return json.dumps(content).encode()


def _encode_incident(incident: Incident) -> dict[str, Any]:
    content: dict[str, Any] = {"status": incident.status, "incident_since": incident.since}
    if incident.missing_since is not None:
        content |= {"last_seen": incident.last_seen, "missing_since": incident.missing_since}
    if incident.troubles:
        content["troubles"] = {
            name: {"since": trouble.since, "seen_at": trouble.seen_at, "most": trouble.most}
            for name, trouble in incident.troubles.items()
        }
    if incident.near_reported:
        content["near_reported"] = True
    if incident.status_since is not None:
        content["status_since"] = incident.status_since
    if incident.worst_status is not None:
        content["worst_status"] = incident.worst_status
    if incident.worst_since is not None:
        content["worst_since"] = incident.worst_since
    if incident.backlog is not None:
        content["backlog"] = asdict(incident.backlog)
    if incident.first_seen_ill:
        content["first_seen_ill"] = True
    if incident.first_seen_at is not None:
        content["first_seen_at"] = incident.first_seen_at
    if incident.peak is not None:
        content["peak"] = asdict(incident.peak)
    if incident.lately:
        content["lately"] = [[each.records, each.at] for each in incident.lately]
    if incident.catching_up is not None:
        since, least = incident.catching_up.since, incident.catching_up.least
        content["catching_up"] = {"since": since, "records": least.records, "at": least.at}
    if incident.skip is not None:
        content["skip"] = asdict(incident.skip)
    return content


def _decode_incident(content: Any) -> Incident:
    """Of any release: one without `troubles` reported none, and what else lacks is not known."""
    if content["status"] not in contract.GROUP_STATUS_VALUES:
        raise ValueError(f"status {content['status']}")
    names = ("last_seen", "missing_since", "status_since", "worst_since", "first_seen_at")
    times = [content.get(name) for name in names]
    last_seen, missing_since, since, worst, first = (None if t is None else int(t) for t in times)
    backlog, peak, catching_up, skip = map(content.get, ("backlog", "peak", "catching_up", "skip"))
    troubles = {
        str(name): OpenTrouble(int(each["since"]), int(each["seen_at"]), each["most"])
        for name, each in content.get("troubles", {}).items()
    }
    return Incident(
        content["status"],
        int(content["incident_since"]),
        last_seen,
        missing_since,
        troubles,
        bool(content.get("near_reported", False)),
        since,
        content.get("worst_status"),
        bool(content.get("first_seen_ill", False)),
        worst,
        None if backlog is None else Backlog(**_select_fields(Backlog, backlog)),
        None if peak is None else Peak(**_select_fields(Peak, peak)),
        tuple(Backlog(int(records), int(at)) for records, at in content.get("lately", ())),
        None if catching_up is None else _decode_catching_up(catching_up),
        first,
        None if skip is None else _decode_skip(skip),
    )


def _decode_skip(content: Any) -> Skip:
    before, after = (
        Backlog(**_select_fields(Backlog, content[name])) for name in ("before", "after")
    )
    return Skip(int(content["records"]), before, after)


def _decode_catching_up(content: Any) -> CatchingUp:
    since, *least = (int(content[name]) for name in ("since", "records", "at"))
    return CatchingUp(since, Backlog(*least))


def _select_fields(kind: type, content: Any) -> dict[str, Any]:
    """What this release knows of it."""
    return {each.name: content[each.name] for each in fields(kind) if each.name in content}
