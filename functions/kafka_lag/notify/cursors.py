# SPDX-License-Identifier: Apache-2.0
"""Cursors: how far a channel has sent a cluster's messages, and which process sends them now."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from kafka_lag import contract
from kafka_lag.errors import StoreError
from kafka_lag.notify.conditional_objects import ConditionalObjects, StoredObject

# This is longer than the function may run, so that no process takes over from one that still sends.
LEASE_MS = 2 * 60_000


@dataclass(frozen=True, slots=True)
class Lease:
    """The process that sends messages, and until when, ms UTC."""

    owner: str
    until: int


@dataclass(frozen=True, slots=True)
class Cursor:
    """The newest run of a cluster whose messages are all sent, ms UTC.

    `is_new` means that no run was compared yet, so the first run has nothing to be compared with.
    `sent` are the ids of messages of the run after it that are already sent. `etag` guards the next
    write.
    """

    cluster: str
    taken_at: int
    is_new: bool = False
    sent: frozenset[str] = frozenset()
    lease: Lease | None = None
    etag: str = ""


class LeasedError(StoreError):
    """Another process sends the messages of the cluster, or took over."""

    def __init__(self, key: str) -> None:
        super().__init__(
            f"Another process holds the lease in {key}, or ended while it sent messages. What is "
            "left is sent by the next run, at the latest two minutes after that."
        )


class Cursors:
    """The cursors of one channel, one for each cluster. All methods raise StoreError.

    `clock` is in seconds since the epoch; `owner` is a word that no other process has.
    """

    def __init__(
        self, objects: ConditionalObjects, channel: str, clock: Callable[[], float], owner: str
    ) -> None:
        self._objects = objects
        self._channel = channel
        self._clock = clock
        self._owner = owner

    def read(self, cluster: str, first: int) -> Cursor:
        """Returns the cluster's cursor; a new one begins just before the run of `first`.

        A new cursor is written before anything is sent, so that the next event continues from it.
        Raises LeasedError while another process has the lease.
        """
        key = self._key(cluster)
        stored = self._objects.read(key)
        if stored is None:
            cursor = Cursor(cluster, first - 1, is_new=True)
            data = _encode(cursor)
            if etag := self._objects.put_if_none_match(key, data):
                return replace(cursor, etag=etag)
            stored = self._objects.read(key)
        if stored is None:
            raise StoreError(f"{key} comes and goes: somebody deletes it while it is written.")
        cursor = _decode(cluster, key, stored)
        lease = cursor.lease
        if lease and lease.owner != self._owner and self._clock() * 1_000 < lease.until:
            raise LeasedError(key)
        return cursor

    def lease(self, cursor: Cursor) -> Cursor:
        """Returns the cursor with a new lease of this process."""
        until = round(self._clock() * 1_000) + LEASE_MS
        return self._write(replace(cursor, lease=Lease(self._owner, until)))

    def move(self, cursor: Cursor, taken_at: int) -> Cursor:
        """Returns the cursor at this run, whose messages are all sent; the lease ends."""
        return self._write(Cursor(cursor.cluster, taken_at, etag=cursor.etag))

    def note(self, cursor: Cursor, sent: Iterable[str]) -> Cursor:
        """Returns the cursor with the sent ids of the next run; the lease ends."""
        return self._write(replace(cursor, sent=cursor.sent.union(sent), lease=None))

    def _write(self, cursor: Cursor) -> Cursor:
        key, data = self._key(cursor.cluster), _encode(cursor)
        etag = self._objects.put_if_match(key, data, cursor.etag)
        if etag is None:
            stored = self._objects.read(key)
            # Our bytes are stored if the answer was lost and the client wrote again.
            if stored is None or stored.data != data:
                raise LeasedError(key)
            etag = stored.etag
        return replace(cursor, etag=etag)

    def _key(self, cluster: str) -> str:
        return f"{contract.NOTIFIED_PREFIX}/{cluster}/{self._channel}"


def _encode(cursor: Cursor) -> bytes:
    lease = cursor.lease
    content = {
        "taken_at": cursor.taken_at,
        "is_new": cursor.is_new,
        "sent": sorted(cursor.sent),
        "lease": {"owner": lease.owner, "until": lease.until} if lease else None,
    }
    return json.dumps(content).encode()


def _decode(cluster: str, key: str, stored: StoredObject) -> Cursor:
    try:
        content = json.loads(stored.data)
        lease = content["lease"]
        return Cursor(
            cluster,
            int(content["taken_at"]),
            bool(content["is_new"]),
            frozenset(map(str, content["sent"])),
            Lease(str(lease["owner"]), int(lease["until"])) if lease else None,
            stored.etag,
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreError(
            f"{key} cannot be understood ({error}). Delete it to start again: then every group "
            "that is not well gets a message."
        ) from error
