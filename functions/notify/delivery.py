# SPDX-License-Identifier: Apache-2.0
"""Messages on their way out: claimed, sent by each channel that lacks them, remembered as sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from functions.notify.channels.channel import Channel, Refusal
from functions.notify.errors import TellingError
from functions.notify.memory.claim import Claim, ClaimBook, Taken
from functions.notify.memory.objects import Claims
from functions.notify.messages.telling import Telling

# Sent between two looks at the claims: a crash repeats no more than these.
_AT_ONCE = 10


class Delivery:
    """By all channels, one after the other; `clock` in seconds since the epoch."""

    def __init__(
        self, channels: Sequence[Channel], claims: Claims, clock: Callable[[], float]
    ) -> None:
        self._channels = channels
        self._book = ClaimBook(claims, (channel.name for channel in channels), clock)

    def deliver(self, cluster: str, tellings: Sequence[Telling]) -> int:
        """Sends what nobody has sent; how many messages that were.

        Raises TellingError when a channel did not take a message: it stays claimed, with those
        channels that have it, and those after it are not tried. Raises it as well when another
        run has claimed one and not sent it yet, after all others.
        """
        told = waiting = 0
        for start in range(0, len(tellings), _AT_ONCE):
            some = tellings[start : start + _AT_ONCE]
            asked = {telling.name: self._book.claim(cluster, telling.name) for telling in some}
            ours = {name: claim for name, claim in asked.items() if isinstance(claim, Claim)}
            waiting += sum(claim is Taken.SENDING for claim in asked.values())
            told += self._send([telling for telling in some if telling.name in ours], ours)
        if waiting:
            raise TellingError(
                f"Messages not known to be out: {waiting}. Another run is sending them, or failed "
                "to; if so they are taken over, five minutes after it began."
            )
        return told

    def _send(self, tellings: Sequence[Telling], claims: Mapping[str, Claim]) -> int:
        held, causes = dict(claims), list[str]()
        for channel in self._channels:
            name = channel.name
            late = [each for each in tellings if name not in held[each.name].out]
            if not late:
                continue
            failed = channel.send([_rest(each, name, held[each.name]) for each in late])
            causes += [refusal.why for refusal in failed.values()]
            for each in late:
                if out := _out(name, failed.get(each.name)):
                    held[each.name] = self._book.told(held[each.name], out)
        if causes:
            raise TellingError(
                f"Not all messages are out: {'; '.join(dict.fromkeys(causes))}. Nothing is lost: "
                "they are tried again, five minutes after the first attempt at the earliest."
            )
        return len(claims)


def _out(channel: str, refusal: Refusal | None) -> set[str]:
    """What a claim remembers: the channel, or each event that it took."""
    if refusal is None:
        return {channel}
    return {_part(channel, event) for event in refusal.out}


def _rest(telling: Telling, channel: str, claim: Claim) -> Telling:
    """Without those events that an earlier attempt brought out."""
    events = (event for event in telling.events if _part(channel, event.name) not in claim.out)
    return replace(telling, events=tuple(events))


def _part(channel: str, event: str) -> str:
    return f"{channel}/{event}"
