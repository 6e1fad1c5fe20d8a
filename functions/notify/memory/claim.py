# SPDX-License-Identifier: Apache-2.0
"""Who tells a message: the one whose claim on it was written first, unless it fell silent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum

from functions import contract
from functions.notify.memory.objects import Claims, Stored

SENDING, SENT = "sending", "sent"
# Longer than the function may run, so that whoever is still at it is not overtaken.
TAKEN_OVER_AFTER_MS = 5 * 60_000


class Taken(Enum):
    """Why a message is not ours to tell."""

    SENT = "it is out"
    SENDING = "another is at it, or was a short while ago"


@dataclass(frozen=True, slots=True)
class Claim:
    """Ours: `out` are the channels that have the message already.

    A storm's events fill many requests, of which some may be taken: then they stand there too.
    """

    key: str
    etag: str
    at: int
    out: frozenset[str] = frozenset()


class ClaimBook:
    """The claims of all clusters. All methods raise StoreError.

    A message is out when each of `channels` has it; `clock` in seconds since the epoch.
    """

    def __init__(self, claims: Claims, channels: Iterable[str], clock: Callable[[], float]) -> None:
        self._claims = claims
        self._channels = frozenset(channels)
        self._clock = clock

    def claim(self, cluster: str, name: str) -> Claim | Taken:
        """The right to tell this message, or why not."""
        key, now = f"{contract.CLAIMS_PREFIX}/{cluster}/{name}", round(self._clock() * 1000)
        fresh = Claim(key, "", now)
        if etag := self._claims.put_if_none_match(key, _written(SENDING, fresh)):
            return replace(fresh, etag=etag)
        held = self._claims.read(key)
        if held is None:
            return Taken.SENDING
        state, at, out = _understood(held)
        if state == SENT or out >= self._channels:
            return Taken.SENT
        if now - at < TAKEN_OVER_AFTER_MS:
            return Taken.SENDING
        late = Claim(key, held.etag, now, out)
        etag = self._claims.put_if_match(key, _written(SENDING, late), held.etag)
        return replace(late, etag=etag) if etag else Taken.SENDING

    def told(self, claim: Claim, out: Iterable[str]) -> Claim:
        """The claim once these are out, so that they do not go again."""
        known = replace(claim, out=claim.out.union(out))
        state = SENT if known.out >= self._channels else SENDING
        etag = self._claims.put_if_match(claim.key, _written(state, known), claim.etag)
        return replace(known, etag=etag) if etag else known


def _written(state: str, claim: Claim) -> bytes:
    return json.dumps({"state": state, "at": claim.at, "out": sorted(claim.out)}).encode()


def _understood(held: Stored) -> tuple[str, int, frozenset[str]]:
    """State, time and channels; what nobody can read was never finished."""
    try:
        told = json.loads(held.data)
        return str(told["state"]), int(told["at"]), frozenset(map(str, told["out"]))
    except (ValueError, TypeError, KeyError):
        return SENDING, 0, frozenset()
