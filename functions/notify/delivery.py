# SPDX-License-Identifier: Apache-2.0
"""Messages on their way out: claimed, sent by each channel that lacks them, remembered as sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from functions.notify.channels.channel import Channel
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
            late = [each for each in tellings if channel.name not in held[each.name].out]
            failed = channel.send(late) if late else {}
            causes += failed.values()
            for name in (each.name for each in late if each.name not in failed):
                held[name] = self._book.told(held[name], channel.name)
        if causes:
            raise TellingError(
                f"Not all messages are out: {'; '.join(dict.fromkeys(causes))}. Nothing is lost: "
                "they are tried again, five minutes after the first attempt at the earliest."
            )
        return len(claims)
