# SPDX-License-Identifier: Apache-2.0
"""What failed for a reason that passes is asked for again, after short pauses, in the same run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sized
from typing import TypeVar

from kafka_lag.brokers.wire.connection import Wire

Items = TypeVar("Items", bound=Sized)

# Seconds before each retry: an election takes less than a second, loading a coordinator more.
_PAUSES = (0.2, 0.6, 1.5)
# Of the run's time; what is left is for the questions not asked yet.
_SHARE = 0.5


class Retries:
    """Retries of one run; none begins once half of the time that it had is used up."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._reserved = wire.seconds_left() * (1 - _SHARE)

    async def of(self, items: Items, ask: Callable[[Items, int], Awaitable[Items]]) -> None:
        """`ask` gets the items and the retry's number, 0 at first; it returns those to retry."""
        items = await ask(items, 0)
        for number, pause in enumerate(_PAUSES, 1):
            if not len(items) or self._wire.seconds_left() - pause < self._reserved:
                return
            await self._wire.pause(pause)
            items = await ask(items, number)
