# SPDX-License-Identifier: Apache-2.0
"""Writes the topics of all cases of a wave, at rates that change during the wave."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from confluent_kafka import KafkaException, Message, Producer

from dev.sim.events import RECORD_BYTES, SHORTENED, WAVE_SHARE, Topic
from dev.sim.reading import Floats, Ints

_TICK = 0.1


@dataclass(slots=True)
class Stream:
    """A topic and its rates: `times` the first ones, reached from `before` within `ramp` s."""

    topic: Topic
    began: float
    ramp: float = 0.0
    since: float = 0.0
    times: Floats = field(init=False)
    before: Floats = field(init=False)
    # Records of each partition that are due and not written yet.
    due: Floats = field(init=False)
    next_batch: float = field(init=False)

    def __post_init__(self) -> None:
        count = len(self.topic.rates)
        self.times, self.before, self.due = np.ones(count), np.ones(count), np.zeros(count)
        self.next_batch = self.began

    def change(self, times: float | tuple[float, ...], ramp: float = 0.0) -> None:
        """Changes the rates to `times` the first ones within `ramp` real seconds."""
        now = time.monotonic()
        self.before, self.since, self.ramp = self._times(now), now, ramp
        self.times = np.broadcast_to(np.array(times, float), self.before.shape)

    def _times(self, now: float) -> Floats:
        # Another thread may change the rates just after `now` was read.
        share = 1.0 if not self.ramp else min(max((now - self.since) / self.ramp, 0.0), 1.0)
        times: Floats = self.before + (self.times - self.before) * share
        return times

    def take_due(self, now: float, seconds: float, rng: np.random.Generator) -> Ints:
        """Returns how many records of each partition are to be written now."""
        rates = np.array(self.topic.rates) * self._times(now)
        if self.topic.wave_seconds:
            turn = (now - self.began) * SHORTENED / self.topic.wave_seconds
            rates *= 1.0 + WAVE_SHARE * math.sin(2.0 * math.pi * turn)
        self.due += rng.poisson(rates * seconds)
        if self.topic.batch_seconds and now < self.next_batch:
            return np.zeros(len(self.due), np.int64)
        self.next_batch = now + (self.topic.batch_seconds or 0.0) / SHORTENED
        taken = self.due.astype(np.int64)
        self.due[:] = 0.0
        return taken


class Writer:
    """A context manager with one producer in a thread, which writes all topics that are added.

    `delivered` is called for each record, as by `produce`.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        seed: int = 1,
        delivered: Callable[[object, Message], None] | None = None,
    ) -> None:
        self._delivered = delivered
        self._producer = Producer(
            {
                # A broker answers a connection's requests one by one, each for one partition: for
                # hundreds of partitions they must be few, and must not wait for followers.
                "acks": 1,
                "linger.ms": 400,
                "message.timeout.ms": 10_000,
                "topic.metadata.refresh.interval.ms": 1_000,
                **config,
            }
        )
        self._rng = np.random.default_rng(seed)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="writer")
        self.streams: dict[str, Stream] = {}

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._producer.purge()

    def add(self, name: str, topic: Topic) -> None:
        """Writes the topic from now on."""
        self.streams[name] = Stream(topic, time.monotonic())

    def _run(self) -> None:
        last = time.monotonic()
        while not self._stop.wait(_TICK):
            now = time.monotonic()
            for name, stream in list(self.streams.items()):
                counts = stream.take_due(now, now - last, self._rng)
                for partition in np.flatnonzero(counts).tolist():
                    self._write(name, partition, int(counts[partition]))
            self._producer.poll(0)
            last = now

    def _write(self, name: str, partition: int, count: int) -> None:
        value = b"x" * RECORD_BYTES
        for _ in range(count):
            try:
                self._producer.produce(
                    name, value, partition=partition, on_delivery=self._delivered
                )
            except (BufferError, KafkaException):
                # Brokers are away, or the topic is being created again: the rest is not written.
                return
