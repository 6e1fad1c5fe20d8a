# SPDX-License-Identifier: Apache-2.0
"""Cursors: up to which run of a cluster a channel has reported, and which incidents were open."""

from __future__ import annotations

import json
from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag.errors import StoreError
from kafka_lag.notify.conditional_objects import ConditionalObjects, StoredObject
from kafka_lag.notify.open_incidents import (
    OpenIncidents,
    Reported,
    decode_incident,
    encode_incident,
)

_VERSION = "1"


@dataclass(frozen=True, slots=True)
class Cursor(Reported):
    """The newest run whose messages are sent; `etag` guards the next write."""

    etag: str


class Cursors:
    """The cursors of one channel, one for each cluster. All methods raise StoreError."""

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
            incidents = {group: decode_incident(each) for group, each in content["open"].items()}
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
        "open": {group: encode_incident(each) for group, each in incidents.items()},
    }
    return json.dumps(content).encode()
