# SPDX-License-Identifier: Apache-2.0
"""What a behaviour acts with: a clock that can be stopped, a producer, consumers of its group."""

import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

TICK = 0.25  # seconds
PER_TICK = 12  # records, so about 50 a second
_FLUSHES_WITHIN = 10.0


class Stage:
    """One behaviour's share of the cluster, used by its thread alone (the producer is shared)."""

    def __init__(
        self,
        *,
        topic: str,
        partitions: int,
        group: str,
        config: Mapping[str, Any],
        producer: Producer,
        stop: threading.Event,
    ) -> None:
        self.topic = topic
        self.group = group
        self.config = config
        self.partitions = [TopicPartition(topic, number) for number in range(partitions)]
        self._producer = producer
        self._stop = stop
        self._produced = 0
        self._consumers: list[Consumer] = []

    def tick(self) -> bool:
        """Wait one tick; false as soon as the behaviour should end."""
        return not self._stop.wait(TICK)

    def wait_for_the_end(self) -> None:
        """Do nothing until the behaviour should end."""
        self._stop.wait()

    def produce(self, count: int = PER_TICK) -> None:
        """Write records to the partitions in turn."""
        number = len(self.partitions)
        self.produce_to((self._produced + index) % number for index in range(count))

    def produce_to(self, partitions: Iterable[int]) -> None:
        """Write one record to each partition named, in order; drop them if brokers are away."""
        for partition in partitions:
            value = f'{{"order": {self._produced}}}'
            with suppress(BufferError):
                self._producer.produce(
                    self.topic, value, key=f"customer-{partition}", partition=partition
                )
            self._produced += 1
        self._producer.poll(0)

    def flush(self) -> None:
        """Wait until the brokers have what was produced."""
        self._producer.flush(_FLUSHES_WITHIN)

    def consumer(self, **settings: Any) -> Consumer:
        """Make a consumer of the group, which the stage closes; underscores stand for dots."""
        own = {name.replace("_", "."): value for name, value in settings.items()}
        consumer = Consumer(
            {
                **self.config,
                "group.id": self.group,
                "client.id": f"{self.group}-{len(self._consumers) + 1}",
                "auto.offset.reset": "earliest",
                "auto.commit.interval.ms": 1_000,
                # Answers twice a second, not for each record: it halves what the brokers spend.
                "fetch.min.bytes": 100_000,
                "fetch.wait.max.ms": 500,
                **own,
            }
        )
        self._consumers.append(consumer)
        return consumer

    def member(self, **settings: Any) -> Consumer:
        """Make a consumer that joins the group for the topic."""
        consumer = self.consumer(**settings)
        consumer.subscribe([self.topic])
        return consumer

    def close(self) -> None:
        """Close the consumers, whose groups see them leave."""
        for consumer in self._consumers:
            consumer.close()
