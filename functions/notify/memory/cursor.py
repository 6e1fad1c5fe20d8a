# SPDX-License-Identifier: Apache-2.0
"""The last run whose news is out, and how things stood then: one small object a cluster."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from functions import contract
from functions.errors import StoreError
from functions.notify.memory.objects import Claims
from functions.notify.news.incident import Incident, Standing

_VERSION = "1"


@dataclass(frozen=True, slots=True)
class Cursor:
    """`taken_at` in ms UTC, None before the first run; `etag` guards the next write."""

    cluster: str
    taken_at: int | None = None
    standing: Standing = field(default_factory=dict)
    etag: str | None = None


class Cursors:
    """One a cluster. All methods raise StoreError."""

    def __init__(self, claims: Claims) -> None:
        self._claims = claims

    def read(self, cluster: str) -> Cursor:
        """The cluster's cursor, one that knows nothing where there is none."""
        stored = self._claims.read(_key(cluster))
        if stored is None:
            return Cursor(cluster)
        try:
            told = json.loads(stored.data)
            if told["version"] != _VERSION:
                raise ValueError(f"version {told['version']}")
            standing = {group: _incident(each) for group, each in told["open"].items()}
            return Cursor(cluster, int(told["taken_at"]), standing, stored.etag)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StoreError(
                f"{_key(cluster)} cannot be understood ({error}). Delete it to begin anew: every "
                "group that is not well is then told of, unless it was before."
            ) from error

    def move(self, cursor: Cursor, taken_at: int, standing: Standing) -> Cursor:
        """The cursor at this run; where another moved it meanwhile, the other's."""
        told = {
            "version": _VERSION,
            "taken_at": taken_at,
            "open": {group: _told(each) for group, each in standing.items()},
        }
        key, data = _key(cursor.cluster), json.dumps(told).encode()
        if cursor.etag is None:
            etag = self._claims.put_if_none_match(key, data)
        else:
            etag = self._claims.put_if_match(key, data, cursor.etag)
        if etag is None:
            return self.read(cursor.cluster)
        return Cursor(cursor.cluster, taken_at, standing, etag)


def _key(cluster: str) -> str:
    return f"{contract.CURSORS_PREFIX}/{cluster}"


def _told(incident: Incident) -> dict[str, Any]:
    told = {"status": incident.status, "incident_since": incident.since}
    if incident.missing_since is not None:
        told |= {"last_seen": incident.last_seen, "missing_since": incident.missing_since}
    return told


def _incident(told: Any) -> Incident:
    if told["status"] not in contract.GROUP_STATUS_VALUES:
        raise ValueError(f"status {told['status']}")
    times = (told.get(name) for name in ("last_seen", "missing_since"))
    missing = [None if time is None else int(time) for time in times]
    return Incident(told["status"], int(told["incident_since"]), *missing)
