# SPDX-License-Identifier: Apache-2.0
"""Messages on their way out by one channel: claimed, sent, remembered as sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from kafka_lag.errors import ReporterError, StoreError
from kafka_lag.notify.channels.channel import Channel, InTime, Refusal
from kafka_lag.notify.errors import OutOfTimeError, TellingError
from kafka_lag.notify.memory.claim import Claim, ClaimBook, Taken
from kafka_lag.notify.memory.objects import Claims
from kafka_lag.notify.messages.telling import Telling

# Sent between two looks at the claims: a crash repeats no more than these.
_AT_ONCE = 10


class Delivery:
    """By one channel; `clock` in seconds since the epoch, `owner` a word no other process has."""

    def __init__(
        self, channel: Channel, claims: Claims, clock: Callable[[], float], owner: str
    ) -> None:
        self.channel = channel.name
        self._channel = channel
        self._book = ClaimBook(claims, channel.name, clock, owner)

    def deliver(self, cluster: str, tellings: Sequence[Telling], in_time: InTime) -> int:
        """Sends what nobody has sent; how many messages that were.

        Raises TellingError when the channel did not take a message: what is refused for certain is
        free for the next run, what is in doubt for two minutes nobody's. Raises it as well when
        another run has claimed one and not sent it yet, after all others. Raises OutOfTimeError
        where the time ends before the messages do, and StoreError where claims cannot be written.
        """
        told = waiting = 0
        for start in range(0, len(tellings), _AT_ONCE):
            some = tellings[start : start + _AT_ONCE]
            claims, sending, fault = self._claimed(cluster, some, in_time)
            waiting += sending
            self._send([telling for telling in some if telling.name in claims], claims, in_time)
            told += len(claims)
            if fault:
                raise fault
        if waiting:
            raise TellingError(
                f"Messages not known to be out: {waiting}. Another run is sending them, or failed "
                "to; if so they are taken over, two minutes after it began."
            )
        return told

    def _claimed(
        self, cluster: str, tellings: Sequence[Telling], in_time: InTime
    ) -> tuple[dict[str, Claim], int, ReporterError | None]:
        """Ours, how many others are at, and why the rest was not asked for: what is ours goes out
        all the same."""
        claims, sending = dict[str, Claim](), 0
        for telling in tellings:
            if not in_time():
                return claims, sending, OutOfTimeError()
            try:
                claim = self._book.claim(cluster, telling.name)
            except StoreError as error:
                return claims, sending, error
            if isinstance(claim, Claim):
                claims[telling.name] = claim
            sending += claim is Taken.SENDING
        return claims, sending, None

    def _send(
        self, tellings: Sequence[Telling], claims: Mapping[str, Claim], in_time: InTime
    ) -> None:
        if not tellings:
            return
        late = [_rest(telling, claims[telling.name]) for telling in tellings]
        failed = self._channel.send(late, in_time)
        faults = [self._noted(claim, failed.get(name)) for name, claim in claims.items()]
        causes = [refusal.why for refusal in failed.values() if refusal.why]
        if causes:
            raise TellingError(
                f"Not all messages are out: {'; '.join(dict.fromkeys(causes))}. Nothing is lost: "
                "they are tried again, those that may be out two minutes later."
            )
        if failed:
            raise OutOfTimeError
        for fault in filter(None, faults):
            raise fault

    def _noted(self, claim: Claim, refusal: Refusal | None) -> StoreError | None:
        """Why it could not be noted: the next claim's note may still be taken."""
        try:
            if refusal is None:
                self._book.sent(claim)
            elif refusal.doubt:
                self._book.doubt(claim, refusal.out)
            else:
                self._book.give_back(claim, refusal.out)
        except StoreError as error:
            return error
        return None


def _rest(telling: Telling, claim: Claim) -> Telling:
    """Without those events that an earlier attempt brought out."""
    events = (event for event in telling.events if event.name not in claim.out)
    return replace(telling, events=tuple(events))
