# SPDX-License-Identifier: Apache-2.0
"""Claims: which process sends a message, and which messages are sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum

from kafka_lag import contract
from kafka_lag.notify.conditional_objects import ConditionalObjects

_SENDING, _SENT, _FREE = "sending", "sent", "free"
# Longer than the function may run, so that whoever is still at it is not overtaken; shorter than
# Lambda tries an event again.
_TAKE_OVER_AFTER_MS = 2 * 60_000
# Messages that are known to be sent, which is final: a run of many does not read all each time.
_KNOWN_SENT = 10_000


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
    """The claims of one channel, on all clusters. All methods raise StoreError.

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
            if state == _SENDING and claim.at - at < _TAKE_OVER_AFTER_MS:
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
