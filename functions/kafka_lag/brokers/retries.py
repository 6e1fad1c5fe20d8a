# SPDX-License-Identifier: Apache-2.0
"""Retries within a run, after short pauses, for temporary reasons."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sized
from typing import TypeVar

from kafka_lag.brokers.connections import Connections

Items = TypeVar("Items", bound=Sized)

# Seconds before each retry: an election takes less than a second, loading a coordinator more.
_PAUSES = (0.2, 0.6, 1.5)
# Share of the time left when reading begins; the rest is for requests not sent yet.
_SHARE = 0.5


class RetryBudget:
    """The retries of one run; none begins after half of the run's time is used up."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._reserved = connections.seconds_left() * (1 - _SHARE)

    async def retry(self, items: Items, attempt: Callable[[Items, int], Awaitable[Items]]) -> None:
        """Calls `attempt`, and a few times again while it returns items to retry.

        `attempt` gets the items and the number of the retry, 0 at first.
        """
        items = await attempt(items, 0)
        for number, pause in enumerate(_PAUSES, 1):
            if not len(items) or self._connections.seconds_left() - pause < self._reserved:
                return
            await self._connections.pause(pause)
            items = await attempt(items, number)
