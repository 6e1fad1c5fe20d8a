# SPDX-License-Identifier: Apache-2.0
"""What each channel has sent, stored in the bucket: a cursor a cluster, and a claim a message.

Both are small objects written by conditional puts, so that of two writers one loses.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields, replace
from enum import Enum
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from kafka_lag import contract
from kafka_lag.aws import conditional_put, error_code
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

_ABSENT, _DENIED = "NoSuchKey", "AccessDenied"
_LOST_PUT = ("PreconditionFailed", _ABSENT)
_CURSOR_VERSION = "1"
_SENDING, _SENT, _FREE = "sending", "sent", "free"
# Longer than the function may run, so that whoever is still at it is not overtaken; shorter than
# Lambda tries an event again.
TAKE_OVER_AFTER_MS = 2 * 60_000
# Messages that are known to be sent, which is final: a run of many does not read all each time.
_KNOWN_SENT = 10_000


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object's bytes, and the tag that changes whenever they are written."""

    data: bytes
    etag: str


class ConditionalObjects(Protocol):
    """Objects by key. All methods raise StoreError."""

    def read(self, key: str) -> StoredObject | None:
        """The object, None where there is none."""

    def put_if_none_match(self, key: str, data: bytes) -> str | None:
        """Writes the object unless it exists; its tag, None where it exists."""

    def put_if_match(self, key: str, data: bytes, etag: str) -> str | None:
        """Writes the object if it still has this tag; its new tag, None where it has another."""


class S3ConditionalObjects:
    """Objects in a bucket."""

    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def read(self, key: str) -> StoredObject | None:
        """The object, None where there is none."""
        try:
            found = self._client.get_object(Bucket=self._bucket, Key=key)
            return StoredObject(found["Body"].read(), found["ETag"])
        except (ClientError, BotoCoreError) as error:
            if error_code(error) == _ABSENT or (
                error_code(error) == _DENIED and self._is_absent(key)
            ):
                return None
            raise self._error("read", key, error) from error

    def _is_absent(self, key: str) -> bool:
        """Whether a list of the key, which the role may make, says that there is no object.

        S3 answers 403 for a missing object to those who may not list. Whether a right to list that
        has a condition on the prefix counts for that is not documented: if it does not, a
        cluster's first message would fail for ever.
        """
        try:
            found = self._client.list_objects_v2(Bucket=self._bucket, Prefix=key, MaxKeys=1)
        except (ClientError, BotoCoreError):
            return False
        return all(each["Key"] != key for each in found.get("Contents", ()))

    def put_if_none_match(self, key: str, data: bytes) -> str | None:
        """Writes the object unless it exists."""
        return self._put(key, data, IfNoneMatch="*")

    def put_if_match(self, key: str, data: bytes, etag: str) -> str | None:
        """Writes the object if it still has this tag."""
        return self._put(key, data, IfMatch=etag)

    def _put(self, key: str, data: bytes, **condition: str) -> str | None:
        try:
            return conditional_put(
                self._client, _LOST_PUT, Bucket=self._bucket, Key=key, Body=data, **condition
            )
        except (ClientError, BotoCoreError) as error:
            raise self._error("write", key, error) from error

    def _error(self, verb: str, key: str, error: Exception) -> StoreError:
        return StoreError(
            f"Cannot {verb} {key} in bucket {self._bucket} ({error_code(error)}). "
            "Check that the bucket exists and the role's rights."
        )


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
            if content["version"] != _CURSOR_VERSION:
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
        "version": _CURSOR_VERSION,
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


class NotClaimed(Enum):
    """Why a message is not ours to send."""

    SENT = "it is sent"
    SENDING = "another process is sending it, or was a short while ago"


@dataclass(frozen=True, slots=True)
class Claim:
    """Ours since `at`, ms UTC; `sent_events` are those events of the message that are out already.

    The events of a bulk change fill many requests, of which some may be taken and others not.
    """

    key: str
    etag: str
    at: int
    sent_events: frozenset[str] = frozenset()


class Claims:
    """Those of one channel, on all clusters. All methods raise StoreError.

    `clock` in seconds since the epoch; `owner` is a word that no other process has.
    """

    def __init__(
        self, objects: ConditionalObjects, channel: str, clock: Callable[[], float], owner: str
    ) -> None:
        self._objects = objects
        self._channel = channel
        self._clock = clock
        self._owner = owner
        self._sent: set[str] = set()

    def claim(self, cluster: str, message_id: str) -> Claim | NotClaimed:
        """The right to send this message, or why not."""
        key = f"{contract.CLAIMS_PREFIX}/{cluster}/{self._channel}/{message_id}"
        if key in self._sent:
            return NotClaimed.SENT
        claim = Claim(key, "", round(self._clock() * 1000))
        data = self._encode(_SENDING, claim)
        if etag := self._objects.put_if_none_match(key, data):
            return replace(claim, etag=etag)
        stored = self._objects.read(key)
        if stored is not None and stored.data != data:
            state, at, sent_events = _decode_claim(stored.data)
            if state == _SENT:
                self._remember(key)
                return NotClaimed.SENT
            if state == _SENDING and claim.at - at < TAKE_OVER_AFTER_MS:
                return NotClaimed.SENDING
            claim = replace(claim, sent_events=sent_events)
            data = self._encode(_SENDING, claim)
            if etag := self._objects.put_if_match(key, data, stored.etag):
                return replace(claim, etag=etag)
            stored = self._objects.read(key)
        # what we wrote is there where the answer was lost, and the client wrote again
        if stored is None or stored.data != data:
            return NotClaimed.SENDING
        return replace(claim, etag=stored.etag)

    def mark_sent(self, claim: Claim) -> None:
        """Notes that the message is out."""
        self._remember(claim.key)
        self._write(_SENT, claim)

    def mark_uncertain(self, claim: Claim, sent_events: Iterable[str]) -> None:
        """Notes the events that are out; as nobody knows of the rest, it waits to be taken over."""
        self._write(_SENDING, replace(claim, sent_events=claim.sent_events.union(sent_events)))

    def release(self, claim: Claim, sent_events: Iterable[str]) -> None:
        """Notes the events that are out, and leaves the rest to whoever comes next."""
        self._write(_FREE, replace(claim, sent_events=claim.sent_events.union(sent_events)))

    def _remember(self, key: str) -> None:
        if len(self._sent) >= _KNOWN_SENT:
            self._sent.clear()
        self._sent.add(key)

    def _write(self, state: str, claim: Claim) -> None:
        self._objects.put_if_match(claim.key, self._encode(state, claim), claim.etag)

    def _encode(self, state: str, claim: Claim) -> bytes:
        content = {
            "state": state,
            "at": claim.at,
            "by": self._owner,
            "out": sorted(claim.sent_events),
        }
        return json.dumps(content).encode()


def _decode_claim(data: bytes) -> tuple[str, int, frozenset[str]]:
    """State, time and events; what nobody can read was never finished."""
    try:
        content = json.loads(data)
        return str(content["state"]), int(content["at"]), frozenset(map(str, content["out"]))
    except (ValueError, TypeError, KeyError):
        return _FREE, 0, frozenset()
