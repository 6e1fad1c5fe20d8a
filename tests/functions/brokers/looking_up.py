# SPDX-License-Identifier: Apache-2.0
"""Brokers with a time index that is arithmetic, and calls of look-ups on them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np

from kafka_lag.brokers.time_lookups import LookUpBudget, look_up
from kafka_lag.lag.columns import Column, Rows, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.time_index import NEWEST
from tests.functions.brokers.fakes import FakeConnections

# A look-up: topic, partition, time; partitions are led by brokers 1 to 3, 99 by none.
LookUp = tuple[str, int, int]
Answer = tuple[int, int] | str | None

NONE, UNANSWERED = "none", None
NOBODYS = 99
ALL_TIME = 1e9


def leader(number: int) -> int | None:
    """The broker that leads a partition."""
    return None if number == NOBODYS else 1 + number % 3


def _lookups_of(look_ups: list[LookUp]) -> tuple[Frame, Rows]:
    frame = Frame.of(
        {
            "topic": Strings.of(topic for topic, _, _ in look_ups),
            "partition_id": Column.of(np.array([number for _, number, _ in look_ups], np.int32)),
            "leader": Column.optional([leader(number) for _, number, _ in look_ups], np.int32),
        }
    )
    return frame, np.array([time for _, _, time in look_ups], np.int64)


def _record(topic: str, number: int, time: int) -> tuple[int, int]:
    """The offset and time that a partition names: a record every 10 ms, the newest at 1,000."""
    at = 1000 if time == NEWEST else -(-time // 10) * 10
    return (-1, -1) if at > 1000 else (ord(topic[0]) * 100_000 + number * 1000 + at // 10, at)


def part(topic: str, number: int, time: int, error: int = 0) -> Any:
    """A partition of an answer."""
    offset, at = (-1, -1) if error else _record(topic, number, time)
    return SimpleNamespace(partition_index=number, error_code=error, offset=offset, timestamp=at)


def index(request: Any, errors: dict[str, int] | None = None) -> Any:
    """A broker's answer, topics and partitions in another order than requested."""
    topics = [
        SimpleNamespace(
            name=topic.name,
            partitions=[
                part(topic.name, p.partition_index, p.timestamp, (errors or {}).get(topic.name, 0))
                for p in reversed(topic.partitions)
            ],
        )
        for topic in reversed(request.topics)
    ]
    return SimpleNamespace(topics=topics)


class OverlappingConnections(FakeConnections):
    """What is gathered is in flight together, `most_at_once` at a time."""

    most_at_once = 0
    _under_way = 0

    async def send(self, node: Any, request: Any) -> Any:
        self._under_way += 1
        self.most_at_once = max(self.most_at_once, self._under_way)
        await asyncio.sleep(0)
        self._under_way -= 1
        return await super().send(node, request)

    async def gather(self, coroutines: Iterable[Coroutine[Any, Any, Any]]) -> list[Any]:
        return list(await asyncio.gather(*coroutines))


class Call:
    """A call of look-ups on fake brokers, each request of which takes some seconds."""

    def __init__(
        self, answer: Callable[[Any], Any] = index, versions: int = 8, seconds: float = 0.0
    ) -> None:
        self.budget = LookUpBudget()
        self.now = 0.0
        self.seconds = dict.fromkeys((1, 2, 3), seconds)
        self.connections: FakeConnections = FakeConnections(self._timed, versions)
        self._reply = answer
        # Requests that name these topics take other seconds.
        self.tiered: frozenset[str] = frozenset()
        self.remote_seconds = 0.0

    def overlapping(self) -> OverlappingConnections:
        """Lets requests overlap; the seconds are then those of a broker that works in turn."""
        self.connections = connections = OverlappingConnections(self._timed)
        return connections

    def look_up(self, *look_ups: LookUp, deadline: float = ALL_TIME) -> list[Answer]:
        """The answer to each look-up: offset and time, that there is none, or nothing."""
        connections: Any = self.connections
        answers = asyncio.run(
            look_up(
                connections,
                *_lookups_of(list(look_ups)),
                self.budget,
                deadline,
                lambda: self.now,
                self.tiered,
            )
        )
        assert not (answers.found & answers.none).any()
        found = zip(answers.offsets.tolist(), answers.times.tolist(), strict=True)
        return [
            record if is_found else NONE if is_none else UNANSWERED
            for record, is_found, is_none in zip(found, answers.found, answers.none, strict=True)
        ]

    def sent(self, node: int | None = None) -> list[list[LookUp]]:
        """The look-ups of each request, to one broker or to all."""
        return [
            [(t.name, p.partition_index, p.timestamp) for t in request.topics for p in t.partitions]
            for at, request in zip(self.connections.sent_to, self.connections.requests, strict=True)
            if node in (None, at)
        ]

    def _timed(self, request: Any) -> Any:
        remote = any(topic.name in self.tiered for topic in request.topics)
        self.now += self.remote_seconds if remote else self.seconds[self.connections.sent_to[-1]]
        return self._reply(request)


def expected(topic: str, number: int, time: int) -> Answer:
    """The right answer to a look-up."""
    if number == NOBODYS:
        return UNANSWERED
    offset, at = _record(topic, number, time)
    return NONE if offset < 0 else (offset, at)
