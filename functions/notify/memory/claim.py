# SPDX-License-Identifier: Apache-2.0
"""Who tells a message: the one whose claim on it was written first, unless it fell silent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum

from functions import contract
from functions.notify.memory.objects import Claims, Stored

SENDING, SENT, FREE = "sending", "sent", "free"
# Longer than the function may run, so that whoever is still at it is not overtaken.
TAKEN_OVER_AFTER_MS = 5 * 60_000


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

    def claim(self, cluster: str, name: str) -> Claim | Taken:
        """The right to tell this message, or why not."""
        key = f"{contract.CLAIMS_PREFIX}/{cluster}/{self._channel}/{name}"
        fresh = Claim(key, "", round(self._clock() * 1000))
        data = self._written(SENDING, fresh)
        if etag := self._claims.put_if_none_match(key, data):
            return replace(fresh, etag=etag)
        held = self._claims.read(key)
        if held is None:
            return Taken.SENDING
        if held.data == data:
            # The answer to our own write was lost, and the client wrote once more.
            return replace(fresh, etag=held.etag)
        state, at, out = _understood(held)
        if state == SENT:
            return Taken.SENT
        if state == SENDING and fresh.at - at < TAKEN_OVER_AFTER_MS:
            return Taken.SENDING
        late = replace(fresh, out=out)
        etag = self._claims.put_if_match(key, self._written(SENDING, late), held.etag)
        return replace(late, etag=etag) if etag else Taken.SENDING

    def sent(self, claim: Claim) -> None:
        """Notes that the message is out."""
        self._note(SENT, claim)

    def doubt(self, claim: Claim, out: Iterable[str]) -> None:
        """Notes the events that are out; as nobody knows of the rest, it waits."""
        self._note(SENDING, replace(claim, out=claim.out.union(out)))

    def give_back(self, claim: Claim, out: Iterable[str]) -> None:
        """Notes the events that are out, and leaves the rest to whoever comes next."""
        self._note(FREE, replace(claim, out=claim.out.union(out)))

    def _note(self, state: str, claim: Claim) -> None:
        self._claims.put_if_match(claim.key, self._written(state, claim), claim.etag)

    def _written(self, state: str, claim: Claim) -> bytes:
        told = {"state": state, "at": claim.at, "by": self._owner, "out": sorted(claim.out)}
        return json.dumps(told).encode()


def _understood(held: Stored) -> tuple[str, int, frozenset[str]]:
    """State, time and events; what nobody can read was never finished."""
    try:
        told = json.loads(held.data)
        return str(told["state"]), int(told["at"]), frozenset(map(str, told["out"]))
    except (ValueError, TypeError, KeyError):
        return FREE, 0, frozenset()
