# SPDX-License-Identifier: Apache-2.0
"""The brokers' time index: ListOffsets by timestamp, all leaders at once, silence kept by row."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from kafka.protocol.consumer import ListOffsetsRequest

from kafka_lag.brokers.topics.patience import FEW, GRACE, MANY, Patience
from kafka_lag.brokers.topics.sheet import NEWEST_SINCE, Sheet, sheet_of
from kafka_lag.brokers.wire.connection import Wire
from kafka_lag.brokers.wire.refusals import UnansweredError
from kafka_lag.lag.columns import Rows
from kafka_lag.lag.time_index import TimeAnswers, TimeQuestions

# Requests under way at a quick broker: those of many positions in one partition are small.
_UNDER_WAY = 4
# Seconds before the deadline after which nothing new is asked: a request that it cuts off takes
# its connection along.
_LAST_CALL = 0.2


async def look_up(
    wire: Wire,
    questions: TimeQuestions,
    patience: Patience,
    deadline: float,
    clock: Callable[[], float] = time.monotonic,
) -> TimeAnswers:
    """What the leaders answer, read uncommitted, until `deadline` (of the clock, seconds).

    Unanswered: rows without a leader, refused ones, times before 1970, what a broker that is
    silent or slow was to be asked, and NEWEST where the brokers are older than Kafka 3.0.
    """
    sheet = sheet_of(questions, newest=wire.version(ListOffsetsRequest) >= NEWEST_SINCE)
    asking = _Asking(wire, sheet, patience, deadline - _LAST_CALL, clock)
    await wire.together(asking.ask(node, queue) for node, queue in sheet.queues().items())
    return sheet.handed_back(asking.answers, len(questions))


class _Asking:
    """The requests of one call, and in `answers` what has come of them, by row of the sheet."""

    def __init__(
        self,
        wire: Wire,
        sheet: Sheet,
        patience: Patience,
        last_call: float,
        clock: Callable[[], float],
    ) -> None:
        self._wire, self._sheet, self._patience = wire, sheet, patience
        self._last_call, self._clock = last_call, clock
        self.answers = TimeAnswers.nothing(len(sheet))

    async def ask(self, node: int, queue: deque[Rows]) -> None:
        """A few, to see how long they take, and then the rest."""
        await self._ask_next(node, queue, FEW)
        quick = self._patience.most(node) == MANY
        await self._wire.together(
            self._ask_rest(node, queue) for _ in range(_UNDER_WAY if quick else 1)
        )

    async def _ask_rest(self, node: int, queue: deque[Rows]) -> None:
        while queue:
            await self._ask_next(node, queue, MANY)

    async def _ask_next(self, node: int, queue: deque[Rows], most: int) -> None:
        """One request; empties the queue when this broker is not to be asked any more."""
        most, began = min(most, self._patience.most(node)), self._clock()
        if most == 0 or began >= self._last_call:
            queue.clear()
            return
        rows = self._sheet.in_place(_taken(queue, most))
        request = self._sheet.request(rows, remote_ms=int(GRACE * 1000))
        try:
            response = await self._wire.ask(node, request)
        except UnansweredError:
            queue.clear()
            return
        self._patience.took(node, len(rows), began, self._clock())
        self._sheet.take(rows, response, self.answers)


def _taken(queue: deque[Rows], most: int) -> Rows:
    """The first rows of the queue, of one rank."""
    rows = queue.popleft()
    if len(rows) > most:
        queue.appendleft(rows[most:])
    return rows[:most]
