# SPDX-License-Identifier: Apache-2.0
"""The last run whose news is out, and how things stood then: one object a cluster and channel."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from kafka_lag import contract
from kafka_lag.errors import StoreError
from kafka_lag.notify.memory.objects import Claims, Stored
from kafka_lag.notify.news.incident import Incident, Standing, Told

_VERSION = "1"


@dataclass(frozen=True, slots=True)
class Cursor(Told):
    """`etag` guards the next write."""

    etag: str


class Cursors:
    """Those of one channel, one a cluster. All methods raise StoreError."""

    def __init__(self, claims: Claims, channel: str) -> None:
        self._claims = claims
        self._channel = channel

    def read(self, cluster: str, first: int) -> Cursor:
        """The cluster's cursor; where there is none it begins just before the run of `first`.

        That is written before anything is told: what then fails is what the next event begins with.
        """
        key = self._key(cluster)
        stored = self._claims.read(key)
        if stored is None:
            data = _written(first - 1, {})
            etag = self._claims.put_if_none_match(key, data)
            stored = Stored(data, etag) if etag else self._claims.read(key)
        if stored is None:
            raise StoreError(f"{key} comes and goes: somebody deletes it while it is written.")
        try:
            told = json.loads(stored.data)
            if told["version"] != _VERSION:
                raise ValueError(f"version {told['version']}")
            standing = {group: _incident(each) for group, each in told["open"].items()}
            return Cursor(cluster, int(told["taken_at"]), standing, stored.etag)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StoreError(
                f"{key} cannot be understood ({error}). Delete it to begin anew: every group that "
                "is not well is then told of, unless it had that message before."
            ) from error

    def move(self, cursor: Cursor, taken_at: int, standing: Standing) -> Cursor:
        """The cursor at this run; where another moved it meanwhile, the other's."""
        data = _written(taken_at, standing)
        etag = self._claims.put_if_match(self._key(cursor.cluster), data, cursor.etag)
        if etag is None:
            return self.read(cursor.cluster, taken_at + 1)
        return Cursor(cursor.cluster, taken_at, standing, etag)

    def _key(self, cluster: str) -> str:
        return f"{contract.CURSORS_PREFIX}/{cluster}/{self._channel}"


def _written(taken_at: int, standing: Standing) -> bytes:
    told = {
        "version": _VERSION,
        "taken_at": taken_at,
        "open": {group: _told(each) for group, each in standing.items()},
    }
    return json.dumps(told).encode()


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
