# SPDX-License-Identifier: Apache-2.0
"""Records with known times in a real cluster, and a source that looks them up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from confluent_kafka import Producer

from dev.kafka import KafkaCluster
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.model import ClusterReading
from kafka_lag.lag.time_index import NEWEST
from tests.kafka.looking import ANSWERED_WITHIN, access, login, only

# Times in tests are minutes since this hour of yesterday; answers are offsets with such minutes.
MINUTE = 60_000
BASE = (int(time.time()) // 3600 - 24) * 3_600_000
NONE, NO_ANSWER = "none", None


@dataclass(slots=True)
class Index:
    """The time index as a source sees it, and the partitions it has read."""

    source: KafkaSource
    pattern: str
    partitions: Frame | None = None

    def read(self, seconds: float = ANSWERED_WITHIN) -> ClusterReading:
        mine = only(self.pattern)
        reading = self.source.read(
            ReadRequest(mine.groups, mine.topics), time.monotonic() + seconds
        )
        self.partitions = reading.topic_partitions
        return reading

    def read_all(self, count: int) -> None:
        """Reads until so many partitions are led and answer; brokers take a moment to agree."""
        deadline = time.monotonic() + ANSWERED_WITHIN
        while True:
            read = self.read().topic_partitions
            if len(read) == count and not read.strings("unread_reason").known.any():
                return
            assert time.monotonic() < deadline
            time.sleep(0.1)

    def ask(self, *asked: tuple[str, int, float], seconds: float = ANSWERED_WITHIN) -> list[Any]:
        """Offset and minute for each topic, partition and minute (or NEWEST); NONE or NO_ANSWER."""
        assert self.partitions is not None
        wanted = Frame.of(
            {
                "topic": Strings.of(topic for topic, _, _ in asked),
                "partition_id": Column.of(np.array([number for _, number, _ in asked], np.int32)),
            }
        )
        at = locate(wanted, self.partitions, ("topic", "partition_id"))
        wanted = wanted.with_columns(leader=self.partitions.numbers("leader").take(at))
        times = [m if m == NEWEST else BASE + round(m * MINUTE) for _, _, m in asked]
        deadline = time.monotonic() + seconds
        answers = self.source.look_up(wanted, np.array(times, np.int64), deadline)
        minutes = ((answers.times - BASE) / MINUTE).tolist()
        rows = zip(answers.found, answers.none, answers.offsets.tolist(), minutes, strict=True)
        return [(o, m) if found else NONE if none else NO_ANSWER for found, none, o, m in rows]


@contextmanager
def index(cluster: KafkaCluster, pattern: str, **changes: Any) -> Iterator[Index]:
    source = KafkaSource(access(cluster, **changes), login(cluster))
    try:
        yield Index(source, pattern)
    finally:
        source.close()


def write(cluster: KafkaCluster, topic: str, *batches: list[int], partition: int = 0) -> None:
    """Records with these minutes for times, each list a batch of its own."""
    options = {"log_level": 0, "linger.ms": 100, "compression.type": "gzip"}
    producer = Producer({"bootstrap.servers": cluster.bootstrap("PLAINTEXT"), **options})
    for batch in batches:
        for minute in batch:
            producer.produce(
                topic, b"record", partition=partition, timestamp=BASE + minute * MINUTE
            )
        assert producer.flush(ANSWERED_WITHIN) == 0
