# SPDX-License-Identifier: Apache-2.0
"""One member of a group: a process with a consumer whose speed is set from outside."""

from __future__ import annotations

import os
import signal
import time
from collections import defaultdict, deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

# A shorter sleep costs more than it waits. Members wait so long for records. Both in seconds.
_LEAST_SLEEP, _POLL = 0.05, 0.25
# A worker fetches the records of so many seconds in advance, and so many records at most.
_SECONDS_BUFFERED, _MOST_BUFFERED = 1.0, 100
# The worker for all partitions.
_ONE = -1
# Exit code of a process that met a record it cannot process.
CRASHED = 3


@dataclass(frozen=True, slots=True)
class Orders:
    """Changes from now on. `ms`: time for a record, of `partitions` only if there are any.

    `poison`: a partition whose next record cannot be processed, and what the member does then.
    """

    ms: float | None = None
    partitions: tuple[int, ...] | None = None
    poison: tuple[int, str] | None = None
    hangs: bool | None = None
    leaves: bool = False


@dataclass(slots=True)
class _Member:
    """`waiting`: records that were fetched, by worker: a partition, or one for all. `ready`: the
    moment from which on each worker has time."""

    consumer: Consumer
    control: Connection
    ms: float
    each_partition: bool
    hangs: bool = False
    leaves: bool = False
    own_ms: dict[int, float] = field(default_factory=dict)
    poison: dict[int, str] = field(default_factory=dict)
    waiting: dict[int, deque[Message]] = field(default_factory=lambda: defaultdict(deque))
    ready: dict[int, float] = field(default_factory=dict)
    full: set[int] = field(default_factory=set)

    def take_orders(self) -> None:
        while self.control.poll():
            orders: Orders = self.control.recv()
            if orders.ms is not None and orders.partitions is None:
                self.ms = orders.ms
                self.own_ms.clear()
            elif orders.ms is not None:
                self.own_ms |= dict.fromkeys(orders.partitions or (), orders.ms)
            if orders.poison is not None:
                self.poison[orders.poison[0]] = orders.poison[1]
            if orders.hangs is not None:
                self.hangs = orders.hangs
            self.leaves |= orders.leaves

    def work(self) -> None:
        """Processes the records that are due, or waits a moment if none is."""
        if self.hangs:
            time.sleep(_POLL)
            return
        self._fetch()
        if self.each_partition:
            self._hold_back()
        due = [self._process(worker, queue) for worker, queue in self.waiting.items() if queue]
        left = min((at for at in due if at is not None), default=0.0) - time.monotonic()
        if left > 0:
            time.sleep(min(max(left, _LEAST_SLEEP), _POLL))

    def _fetch(self) -> None:
        most = min(max(int(_SECONDS_BUFFERED * 1_000 / self.ms), 2), _MOST_BUFFERED)
        if self.each_partition:
            wanted = most
        else:
            wanted = most - len(self.waiting[_ONE])
            if wanted * 2 < most:
                return
        idle = not any(self.waiting.values())
        for message in self.consumer.consume(wanted, _POLL if idle else 0.0):
            if message.error() is None:
                worker = _partition_of(message) if self.each_partition else _ONE
                self.waiting[worker].append(message)

    def _hold_back(self) -> None:
        """Pauses partitions whose worker is behind, so that the others are fetched."""
        full = {number for number, queue in self.waiting.items() if len(queue) >= _MOST_BUFFERED}
        with suppress(KafkaException):
            own = {each.partition: each for each in self.consumer.assignment()}
            if more := [own[number] for number in full - self.full if number in own]:
                self.consumer.pause(more)
            emptied = self.full - full - set(self.poison)
            if less := [own[number] for number in emptied if number in own]:
                self.consumer.resume(less)
            full &= set(own)
        self.full = full

    def _process(self, worker: int, queue: deque[Message]) -> float | None:
        """Returns when the worker's next record is due, or None if it has no more."""
        now = time.monotonic()
        # A worker without records does not save up time.
        at = max(self.ready.get(worker, now), now - _LEAST_SLEEP)
        while queue and at <= now and not self.hangs:
            number = _partition_of(queue[0])
            if number in self.poison:
                self._meet_poison(queue)
                continue
            at += self.own_ms.get(number, self.ms) / 1_000
            _mark_as_read(self.consumer, queue.popleft())
        self.ready[worker] = at
        return at if queue else None

    def _meet_poison(self, queue: deque[Message]) -> None:
        number = _partition_of(queue[0])
        then = self.poison[number]
        if then == "crash":
            os._exit(CRASHED)
        if then == "block":
            self.hangs = True
            return
        # For brokers, retrying one record for ever looks like not fetching the next.
        with suppress(KafkaException):
            self.consumer.pause([TopicPartition(str(queue[0].topic()), number)])
        left = [each for each in queue if _partition_of(each) != number]
        queue.clear()
        queue.extend(left)


def _partition_of(message: Message) -> int:
    return int(message.partition() or 0)


def run_member(
    config: Mapping[str, Any],
    topic: str,
    control: Connection,
    ms: float,
    each_partition: bool,
) -> None:
    """Reads the topic until it is ordered to leave or the process that orders has ended."""
    # Ctrl-C is meant for that process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    consumer = Consumer({**config, "enable.auto.offset.store": False})
    member = _Member(consumer, control, ms, each_partition)

    # No callbacks: with them, KIP-848 members of librdkafka were seen to keep partitions that they
    # had to give back. Records of a partition that was taken away are processed in vain.
    consumer.subscribe([topic])
    try:
        while not member.leaves:
            member.take_orders()
            member.work()
    except EOFError:
        os._exit(0)
    consumer.close()


def _mark_as_read(consumer: Consumer, message: Message) -> None:
    # Refused if a rebalance has just taken the partition: its next owner reads the record again.
    with suppress(KafkaException):
        consumer.store_offsets(message)
