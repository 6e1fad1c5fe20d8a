# SPDX-License-Identifier: Apache-2.0
"""Messages to deliver, and a channel that counts them."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_lag.notify.channels.channel import Channel, InTime, Refusal
from kafka_lag.notify.delivery import Delivery
from kafka_lag.notify.messages.telling import Notice, Telling
from tests.functions.notify.fakes import MemoryClaims, RecordingChannel

NOTICE = Notice("s", "t", {}, "thread")


def some(count: int) -> list[Telling]:
    return [Telling(f"m{number}", NOTICE, ()) for number in range(count)]


class Counting(RecordingChannel):
    """Notes how many messages came at once, and refuses those named."""

    def __init__(self, name: str = "sns", *refused: str) -> None:
        super().__init__(name)
        self.batches: list[int] = []
        self.refused = refused

    def send(self, tellings: Sequence[Telling], in_time: InTime) -> dict[str, Refusal]:
        self.batches.append(len(tellings))
        super().send([each for each in tellings if each.name not in self.refused], in_time)
        names = [telling.name for telling in tellings]
        return {name: Refusal(f"no {name}") for name in names if name in self.refused}


def a_delivery(claims: MemoryClaims, channel: Channel, now: float = 0.0) -> Delivery:
    return Delivery(channel, claims, lambda: now, f"the one of {now}")


def always() -> bool:
    return True
