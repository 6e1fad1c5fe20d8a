# SPDX-License-Identifier: Apache-2.0
"""Retries within a run, after short pauses, of what failed for a reason that passes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sized
from typing import TypeVar

from kafka_lag.brokers.connections import Connections

Items = TypeVar("Items", bound=Sized)

# Seconds before each retry: an election takes less than a second, loading a coordinator more.
_PAUSES = (0.2, 0.6, 1.5)
# Of the time that is left when reading begins; the rest is for the requests not sent yet.
_SHARE = 0.5


class RetryBudget:
    """Retries of one run; none begins once half of the time that it had is used up."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._reserved = connections.seconds_left() * (1 - _SHARE)

    async def retry(self, items: Items, attempt: Callable[[Items, int], Awaitable[Items]]) -> None:
        """`attempt` gets items and the retry's number, 0 at first; it returns those to retry."""
        items = await attempt(items, 0)
        for number, pause in enumerate(_PAUSES, 1):
            if not len(items) or self._connections.seconds_left() - pause < self._reserved:
                return
            await self._connections.pause(pause)
            items = await attempt(items, number)
