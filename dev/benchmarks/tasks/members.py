# SPDX-License-Identifier: Apache-2.0
"""Producers and consumers of set speed on real brokers, driven by one thread."""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from confluent_kafka import Consumer, KafkaException, Producer

from dev.benchmarks.tasks.cases import Case
from dev.benchmarks.tasks.judge import Ledger

_TICK = 0.1
# Each partition is written to in one tick of so many, as each batch is a request.
_TURNS = 5
_FLUSHES_WITHIN = 10.0
# Of its speed a member may save up so much, s, while nothing comes or the machine is busy.
_SAVED = 1.0
# Ticks in a row without a record, after which a member that polls has read all there is.
_EMPTY_TICKS = 5
# So few records at a time that all of a member's partitions move in a run.
_CONSUMER = {
    "enable.auto.commit": True,
    "auto.commit.interval.ms": 1_000,
    "heartbeat.interval.ms": 500,
    "session.timeout.ms": 10_000,
    "fetch.min.bytes": 2_000,
    "fetch.wait.max.ms": 250,
    "max.partition.fetch.bytes": 400,
    "queued.min.messages": 1,
    "fetch.queue.backoff.ms": 100,
    "topic.metadata.refresh.interval.ms": -1,
    "allow.auto.create.topics": False,
}


@dataclass(slots=True)
class Budget:
    """Records that may be read by now, of so many a second."""

    rate: float
    saved: float = _SAVED
    _left: float = 0.0
    _at: float | None = None

    def refill(self, now: float) -> float:
        """What may be read at `now`, s."""
        if self._at is not None:
            self._left = min(self._left + self.rate * (now - self._at), self.rate * self.saved)
        self._at = now
        return self._left

    def spend(self, number: int) -> None:
        """So many were read."""
        self._left -= number


@dataclass(slots=True)
class _Member:
    consumer: Consumer
    budget: Budget
    polls_at: float = 0.0
    empty: int = 0


class Group:
    """Members of a case's group, as many as are wanted."""

    def __init__(
        self, name: str, case: Case, speed: float, read: npt.NDArray[np.int64], config: Any
    ) -> None:
        self.name, self.case = name, case
        self.wanted = 0
        self.read = read
        self._speed, self._config = speed, config
        self._members: list[_Member] = []
        self._joining: Future[Consumer] | None = None
        self._store: Budget | None = None

    def tick(self, now: float, minute: float, executor: Executor) -> None:
        """Lets members join and leave, and each read what it may; `minute`: s that one lasts."""
        while len(self._members) > self.wanted:
            executor.submit(_leave, self._members.pop().consumer)
            self._store = None
        if self._joining is not None and self._joining.done():
            self._members.append(self._member(self._joining.result(), minute))
            self._joining, self._store = None, None
        if self._joining is None and len(self._members) < self.wanted:
            self._joining = executor.submit(self._join, len(self._members))
        if self._store is None:
            gives = self.case.store_gives(len(self._members))
            self._store = Budget(gives * self._speed if math.isfinite(gives) else 1e12)
        left, order = self._store.refill(now), list(self._members)
        random.shuffle(order)
        for behind, member in zip(range(len(order), 0, -1), order, strict=True):
            may = int(min(member.budget.refill(now), left / behind))
            if may < 1 or now < member.polls_at:
                continue
            read = self._consume(member.consumer, may)
            member.budget.spend(read)
            self._store.spend(read)
            left -= read
            member.empty = 0 if read else member.empty + 1
            if self.case.poll_minutes and member.empty > _EMPTY_TICKS:
                member.polls_at, member.empty = now + self.case.poll_minutes * minute, 0

    def _join(self, number: int) -> Consumer:
        own = {"group.id": self.name, "client.id": f"{number:02}"}
        consumer = Consumer({**_CONSUMER, **self._config, **own})
        consumer.subscribe([self.case.topic])
        return consumer

    def _member(self, consumer: Consumer, minute: float) -> _Member:
        rate = self.case.member_reads(len(self._members)) * self._speed
        saved = max(self.case.poll_minutes * minute, _SAVED)
        return _Member(consumer, Budget(rate, saved))

    def _consume(self, consumer: Consumer, number: int) -> int:
        """Records read; it also serves what the group wants of the member."""
        read = 0
        for message in consumer.consume(number, timeout=0):
            at, offset = message.partition(), message.offset()
            if message.error() is None and at is not None and offset is not None:
                self.read[at] = max(int(self.read[at]), offset + 1)
                read += 1
        return read

    def close(self, executor: Executor) -> None:
        """All members leave."""
        if self._joining is not None:
            executor.submit(_leave, self._joining.result())
        for member in self._members:
            executor.submit(_leave, member.consumer)
        self._members, self._joining, self.wanted = [], None, 0


def _leave(consumer: Consumer) -> None:
    with suppress(KafkaException):
        consumer.close()


@dataclass(slots=True)
class _Topic:
    case: Case
    began: float
    ledger: Ledger = field(default_factory=Ledger.empty)


class Plant:
    """Writes to the topics of cases, and lets groups read them, until it is closed.

    `speed`: records/s that a usual member reads; `minute`: s that a minute of the cases lasts.
    """

    def __init__(self, config: Mapping[str, Any], speed: float, minute: float) -> None:
        self._config = {**config, "log_level": 2}
        self._speed, self._minute = speed, minute
        self._producer = Producer({**self._config, "linger.ms": 5, "acks": "1"})
        self._topics: dict[str, _Topic] = {}
        self._groups: dict[str, Group] = {}
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._executor = ThreadPoolExecutor(8)
        self._ticks = 0
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._drive, daemon=True)
        self._thread.start()

    def write(self, case: Case) -> None:
        """Begins to write to the case's topic."""
        with self._lock:
            self._topics[case.topic] = _Topic(case, time.monotonic())

    def open_group(self, case: Case, name: str, members: int, *, from_start: bool = True) -> None:
        """A group that reads the case's topic, from its beginning or from now on."""
        reset = "earliest" if from_start else "latest"
        config = {**self._config, "auto.offset.reset": reset}
        with self._lock:
            ends = self._topics[case.topic].ledger.ends
            read = np.zeros(len(case.shares), np.int64)
            if ends and not from_start:
                read = ends[-1].copy()
            self._groups[name] = Group(name, case, self._speed, read, config)
            self._groups[name].wanted = members

    def set_members(self, name: str, members: int) -> None:
        """From now on so many members."""
        with self._lock:
            self._groups[name].wanted = members

    def age(self, name: str) -> float:
        """Minutes since the oldest record was written that the group has not read."""
        self._check()
        with self._lock:
            group = self._groups[name]
            topic = self._topics[group.case.topic]
            now = (time.monotonic() - topic.began) / self._minute
            return topic.ledger.age(now, group.read)

    def end_groups(self) -> None:
        """All groups leave."""
        with self._lock:
            for group in self._groups.values():
                group.close(self._executor)
            self._groups = {}

    def end_topics(self) -> None:
        """Nothing more is written to the topics there are."""
        with self._lock:
            self._topics = {}

    def close(self) -> None:
        """Ends everything."""
        self._stop.set()
        self._thread.join()
        self.end_groups()
        self._executor.shutdown()
        self._producer.flush(_FLUSHES_WITHIN)
        self._check()

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _drive(self) -> None:
        try:
            while not self._stop.wait(_TICK):
                with self._lock:
                    now, self._ticks = time.monotonic(), self._ticks + 1
                    for topic in self._topics.values():
                        self._write(topic, now)
                    self._producer.poll(0)
                    for group in self._groups.values():
                        group.tick(now, self._minute, self._executor)
        except BaseException as error:  # noqa: BLE001 - raised where somebody looks
            self._error = error

    def _write(self, topic: _Topic, now: float) -> None:
        minutes = (now - topic.began) / self._minute
        due = topic.case.written(minutes) * self._speed * self._minute
        old = topic.ledger.ends[-1] if topic.ledger.ends else np.zeros(len(due), np.int64)
        turn = (np.arange(len(due)) + self._ticks) % _TURNS == 0
        ends = np.where(turn, np.floor(due), old).astype(np.int64)
        for partition in np.flatnonzero(ends > old).tolist():
            for _ in range(int(ends[partition] - old[partition])):
                self._producer.produce(topic.case.topic, b"x", partition=partition)
        topic.ledger.add(minutes, ends)
