# SPDX-License-Identifier: Apache-2.0
"""Writes the topics of all cases, at rates and to partitions that change while it does."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from confluent_kafka import KafkaException, Producer

from dev.causes.faults import Topic

_TICK = 0.1
# By so much a daily curve goes up and down.
_SWING = 0.6


@dataclass(slots=True)
class Stream:
    """A topic as it is written now: `times` as much as at first, and so from `since` on within
    `ramp` seconds, from `before` times."""

    topic: Topic
    began: float
    weights: Mapping[int, float] = field(default_factory=dict)
    times: float = 1.0
    before: float = 1.0
    since: float = 0.0
    ramp: float = 0.0
    # Records that are due and not yet written, by partition.
    due: Any = field(init=False)
    next_batch: float = field(init=False)

    def __post_init__(self) -> None:
        self.due = np.zeros(self.topic.partitions)
        self.next_batch = self.began

    def change(self, times: float, ramp: float = 0.0) -> None:
        """From now on so many times as much as at first, within so many seconds."""
        now = time.monotonic()
        self.before, self.since, self.ramp, self.times = self._times(now), now, ramp, times

    def _times(self, now: float) -> float:
        # It may be changed a moment after `now` was read.
        share = 1.0 if not self.ramp else min(max((now - self.since) / self.ramp, 0.0), 1.0)
        return self.before + (self.times - self.before) * share

    def rates(self, now: float) -> Any:
        """Records/s of each partition."""
        weights = np.array([self.weights.get(n, 1.0) for n in range(self.topic.partitions)])
        rate = self.topic.rate * self._times(now)
        if self.topic.wave_seconds:
            turn = (now - self.began) / self.topic.wave_seconds
            rate *= 1.0 + _SWING * math.sin(2.0 * math.pi * turn)
        return rate * weights / weights.sum()

    def take_due(self, now: float, seconds: float, rng: np.random.Generator) -> Any:
        """How many records are to be written to each partition now."""
        self.due += rng.poisson(self.rates(now) * seconds)
        if self.topic.batch_seconds and now < self.next_batch:
            return np.zeros(len(self.due), np.int64)
        self.next_batch = now + (self.topic.batch_seconds or 0.0)
        taken = self.due.astype(np.int64)
        self.due[:] = 0.0
        return taken


class Writer:
    """A context manager: one producer in a thread, for all topics that are added."""

    def __init__(self, config: Mapping[str, Any], seed: int = 1) -> None:
        self._producer = Producer(
            {
                **config,
                # A broker takes a connection's requests one after another, each of one partition:
                # at hundreds of partitions they must be few, and not wait for followers.
                "acks": 1,
                "linger.ms": 400,
                "message.timeout.ms": 10_000,
                "topic.metadata.refresh.interval.ms": 1_000,
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
        """Write the topic from now on."""
        self.streams[name] = Stream(topic, time.monotonic())

    def _run(self) -> None:
        last = time.monotonic()
        while not self._stop.wait(_TICK):
            now = time.monotonic()
            for name, stream in list(self.streams.items()):
                counts = stream.take_due(now, now - last, self._rng)
                for partition in np.flatnonzero(counts).tolist():
                    self._write(name, partition, int(counts[partition]), stream.topic)
            self._producer.poll(0)
            last = now

    def _write(self, name: str, partition: int, count: int, topic: Topic) -> None:
        value = b"x" * topic.record_bytes
        for _ in range(count):
            try:
                self._producer.produce(name, value, partition=partition)
            except (BufferError, KafkaException):
                # Brokers are away, or the topic is being made anew: that is not written.
                return
