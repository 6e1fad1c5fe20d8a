# SPDX-License-Identifier: Apache-2.0
"""Messages on their way out by one channel: claimed, sent, remembered as sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from functions.notify.channels.channel import Channel, InTime, Refusal
from functions.notify.errors import OutOfTimeError, TellingError
from functions.notify.memory.claim import Claim, ClaimBook, Taken
from functions.notify.memory.objects import Claims
from functions.notify.messages.telling import Telling

# Sent between two looks at the claims: a crash repeats no more than these.
_AT_ONCE = 10


class Delivery:
    """By one channel; `clock` in seconds since the epoch, `owner` a word no other process has."""

    def __init__(
        self, channel: Channel, claims: Claims, clock: Callable[[], float], owner: str
    ) -> None:
        self._channel = channel
        self._book = ClaimBook(claims, channel.name, clock, owner)

    def deliver(self, cluster: str, tellings: Sequence[Telling], in_time: InTime) -> int:
        """Sends what nobody has sent; how many messages that were.

        Raises TellingError when the channel did not take a message: what is refused for certain is
        free for the next run, what is in doubt for five minutes nobody's. Raises it as well when
        another run has claimed one and not sent it yet, after all others. Raises OutOfTimeError
        where the time ends before the messages do.
        """
        told = waiting = 0
        for start in range(0, len(tellings), _AT_ONCE):
            if not in_time():
                raise OutOfTimeError
            some = tellings[start : start + _AT_ONCE]
            asked = {telling.name: self._book.claim(cluster, telling.name) for telling in some}
            ours = {name: claim for name, claim in asked.items() if isinstance(claim, Claim)}
            waiting += sum(claim is Taken.SENDING for claim in asked.values())
            self._send([telling for telling in some if telling.name in ours], ours, in_time)
            told += len(ours)
        if waiting:
            raise TellingError(
                f"Messages not known to be out: {waiting}. Another run is sending them, or failed "
                "to; if so they are taken over, five minutes after it began."
            )
        return told

    def _send(
        self, tellings: Sequence[Telling], claims: Mapping[str, Claim], in_time: InTime
    ) -> None:
        if not tellings:
            return
        late = [_rest(telling, claims[telling.name]) for telling in tellings]
        failed = self._channel.send(late, in_time)
        for name, claim in claims.items():
            self._note(claim, failed.get(name))
        causes = [refusal.why for refusal in failed.values() if refusal.why]
        if causes:
            raise TellingError(
                f"Not all messages are out: {'; '.join(dict.fromkeys(causes))}. Nothing is lost: "
                "they are tried again, those that may be out five minutes later."
            )
        if failed:
            raise OutOfTimeError

    def _note(self, claim: Claim, refusal: Refusal | None) -> None:
        if refusal is None:
            self._book.sent(claim)
        elif refusal.doubt:
            self._book.doubt(claim, refusal.out)
        else:
            self._book.give_back(claim, refusal.out)


def _rest(telling: Telling, claim: Claim) -> Telling:
    """Without those events that an earlier attempt brought out."""
    events = (event for event in telling.events if event.name not in claim.out)
    return replace(telling, events=tuple(events))
