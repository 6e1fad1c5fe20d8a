# SPDX-License-Identifier: Apache-2.0
"""Who tells a message: the one whose claim on it was written first, unless it fell silent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum

from kafka_lag import contract
from kafka_lag.notify.memory.objects import Claims, Stored

SENDING, SENT, FREE = "sending", "sent", "free"
# Longer than the function may run, so that whoever is still at it is not overtaken; shorter than
# Lambda tries an event again.
TAKEN_OVER_AFTER_MS = 2 * 60_000
# Messages that are known to be out, which is final: a run of many is not asked for all each time.
_REMEMBERED = 10_000


class Taken(Enum):
    """Why a message is not ours to tell."""

    SENT = "it is out"
    SENDING = "another is at it, or was a short while ago"


@dataclass(frozen=True, slots=True)
class Claim:
    """Ours since `at`, ms UTC; `out` are those events of the message that are out already.

    A storm's events fill many requests, of which some may be taken and others not.
    """

    key: str
    etag: str
    at: int
    out: frozenset[str] = frozenset()


class ClaimBook:
    """The claims of one channel, on all clusters. All methods raise StoreError.

    `clock` in seconds since the epoch; `owner` is a word that no other process has.
    """

    def __init__(
        self, claims: Claims, channel: str, clock: Callable[[], float], owner: str
    ) -> None:
        self._claims = claims
        self._channel = channel
        self._clock = clock
        self._owner = owner
        self._out: set[str] = set()

    def claim(self, cluster: str, name: str) -> Claim | Taken:
        """The right to tell this message, or why not."""
        key = f"{contract.CLAIMS_PREFIX}/{cluster}/{self._channel}/{name}"
        if key in self._out:
            return Taken.SENT
        fresh = Claim(key, "", round(self._clock() * 1000))
        data = self._written(SENDING, fresh)
        if etag := self._claims.put_if_none_match(key, data):
            return replace(fresh, etag=etag)
        held = self._claims.read(key)
        if held is None or held.data == data:
            return _ours(fresh, data, held)
        state, at, out = _understood(held)
        if state == SENT:
            self._remember(key)
        if state == SENT or (state == SENDING and fresh.at - at < TAKEN_OVER_AFTER_MS):
            return Taken.SENT if state == SENT else Taken.SENDING
        return self._taken_over(replace(fresh, out=out), held.etag)

    def _taken_over(self, late: Claim, etag: str) -> Claim | Taken:
        data = self._written(SENDING, late)
        if taken := self._claims.put_if_match(late.key, data, etag):
            return replace(late, etag=taken)
        return _ours(late, data, self._claims.read(late.key))

    def sent(self, claim: Claim) -> None:
        """Notes that the message is out."""
        self._remember(claim.key)
        self._note(SENT, claim)

    def doubt(self, claim: Claim, out: Iterable[str]) -> None:
        """Notes the events that are out; as nobody knows of the rest, it waits."""
        self._note(SENDING, replace(claim, out=claim.out.union(out)))

    def give_back(self, claim: Claim, out: Iterable[str]) -> None:
        """Notes the events that are out, and leaves the rest to whoever comes next."""
        self._note(FREE, replace(claim, out=claim.out.union(out)))

    def _remember(self, key: str) -> None:
        if len(self._out) >= _REMEMBERED:
            self._out.clear()
        self._out.add(key)

    def _note(self, state: str, claim: Claim) -> None:
        self._claims.put_if_match(claim.key, self._written(state, claim), claim.etag)

    def _written(self, state: str, claim: Claim) -> bytes:
        told = {"state": state, "at": claim.at, "by": self._owner, "out": sorted(claim.out)}
        return json.dumps(told).encode()


def _ours(claim: Claim, data: bytes, held: Stored | None) -> Claim | Taken:
    """Whether what is there is what we wrote: the answer was lost, and the client wrote again."""
    if held is None or held.data != data:
        return Taken.SENDING
    return replace(claim, etag=held.etag)


def _understood(held: Stored) -> tuple[str, int, frozenset[str]]:
    """State, time and events; what nobody can read was never finished."""
    try:
        told = json.loads(held.data)
        return str(told["state"]), int(told["at"]), frozenset(map(str, told["out"]))
    except (ValueError, TypeError, KeyError):
        return FREE, 0, frozenset()
