# SPDX-License-Identifier: Apache-2.0
"""Plants topics, records of any age, transactions and commits, and writes down what the brokers
acknowledged."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic, OffsetSpec

from dev.kafka import KafkaCluster
from dev.kafka.access import wait_for
from dev.kafka.readiness import NEVER_TIMES_OUT, wait_for_topics, wait_until
from dev.truth.planted import Change, Planted

_ANSWERS_WITHIN = 60.0
# Records.
_POLLS_EVERY = 1_000
HOUR = 3600.0


class Planter:
    """One for all scenarios; its clients are shared by their threads."""

    def __init__(self, cluster: KafkaCluster, planted: Planted) -> None:
        self.cluster = cluster
        self.planted = planted
        self.stop = threading.Event()
        self.config = cluster.client_config(protocol="PLAINTEXT") | {"log_level": 0}
        self._admin: AdminClient = cluster.admin()
        self._producer = Producer({**self.config, "linger.ms": 2})
        self._consumers: list[Consumer] = []
        self._open: list[Producer] = []

    def close(self) -> None:
        """End the clients; members leave their groups."""
        self.stop.set()
        for consumer in self._consumers:
            with suppress(RuntimeError, KafkaException):
                consumer.close()

    def topic(
        self,
        name: str,
        partitions: int = 1,
        config: Mapping[str, str] | None = None,
        brokers: Sequence[int] = (),
    ) -> None:
        """Create a topic, on these brokers alone if any are named."""
        new = NewTopic(name, partitions, config=dict(config or {}))
        if brokers:
            assignment = [[*brokers] for _ in range(partitions)]
            new = NewTopic(
                name, partitions, replica_assignment=assignment, config=dict(config or {})
            )
        sent = time.time()
        wait_for(self._admin.create_topics([new], request_timeout=_ANSWERS_WITHIN))
        wait_for_topics(self.cluster.bootstrap("PLAINTEXT"), [name])
        self._created(name, range(partitions), sent)

    def add_partitions(self, name: str, partitions: int) -> None:
        """Let the topic have so many."""
        before = len([at for at in self.planted.logs if at[0] == name])
        sent = time.time()
        more = [NewPartitions(name, partitions)]
        wait_for(self._admin.create_partitions(more, request_timeout=_ANSWERS_WITHIN))
        wait_until(
            lambda: (
                len(self._admin.list_topics(name, timeout=5).topics[name].partitions) == partitions
            ),
            what=f"{name} with {partitions} partitions",
        )
        # Else it writes to those that it knows alone.
        self._producer.list_topics(name, timeout=_ANSWERS_WITHIN)
        self._created(name, range(before, partitions), sent)

    def delete_topic(self, name: str) -> None:
        """Remove a topic; the brokers remove the commits of groups without members."""
        sent = time.time()
        wait_for(self._admin.delete_topics([name], operation_timeout=30))
        wait_until(lambda: name not in self._admin.list_topics(timeout=5).topics, what="it gone")
        with self.planted.lock:
            acked = time.time()
            for at, log in self.planted.logs.items():
                if at[0] == name:
                    log.gone(sent, acked)
            for key, commits in self.planted.commits.items():
                if key[1] == name:
                    commits.append(Change(sent, acked, None))

    def delete_group(self, group: str) -> None:
        """Remove a group without members, with its commits."""
        sent = time.time()
        wait_for(self._admin.delete_consumer_groups([group], request_timeout=NEVER_TIMES_OUT))
        with self.planted.lock:
            for key, commits in self.planted.commits.items():
                if key[0] == group:
                    commits.append(Change(sent, time.time(), None))

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        """Let the log start at the offset."""
        sent = time.time()
        where = [TopicPartition(topic, partition, before)]
        wait_for(self._admin.delete_records(where, request_timeout=_ANSWERS_WITHIN))
        with self.planted.lock:
            self.planted.logs[topic, partition].starts.append(Change(sent, time.time(), before))

    def append(
        self,
        topic: str,
        stamps: Iterable[float],
        partition: int = 0,
        key: Callable[[int], str] | None = None,
        producer: Producer | None = None,
    ) -> int:
        """Write a record for each timestamp, seconds since 1970; returns the log's end."""
        chosen = producer or self._producer
        offsets: dict[int, int] = {}
        stamps = [*stamps]
        sent = time.time()
        for number, stamp in enumerate(stamps):
            self._produce(chosen, topic, partition, number, stamp, key, offsets)
        if producer is None:
            wait_until(lambda: not self._unsent(offsets, len(stamps)), what=f"{topic} written")
        else:
            chosen.flush(_ANSWERS_WITHIN)
        return self._appended(topic, partition, sent, stamps, offsets)

    def transaction(self, topic: str, stamps: Iterable[float], *, ends: str) -> None:
        """Write a transaction that `commits`, `aborts` or stays `open`; markers take an offset."""
        producer = Producer(
            {
                **self.config,
                "transactional.id": f"{topic}-{ends}-{time.monotonic_ns()}",
                "transaction.timeout.ms": 900_000,
            }
        )
        producer.init_transactions(_ANSWERS_WITHIN)
        producer.begin_transaction()
        stamps = [*stamps]
        end = self.append(topic, stamps, producer=producer)
        log = self.planted.logs[topic, 0]
        if ends == "open":
            self._open.append(producer)
            return
        sent = time.time()
        if ends == "commits":
            producer.commit_transaction(_ANSWERS_WITHIN)
        else:
            producer.abort_transaction(_ANSWERS_WITHIN)
        # Brokers write the marker behind their answer: what is appended next may come before it.
        wait_until(lambda: self._log_end(topic) > end, what=f"the marker in {topic}")
        with self.planted.lock:
            log.ends.append(Change(sent, time.time(), end + 1))
            if ends == "aborts":
                log.unreadable.update(range(end - len(stamps), end))

    def commit(self, group: str, topic: str, offsets: Mapping[int, int]) -> None:
        """Commit as a client without membership does; the group must have no members."""
        where = [TopicPartition(topic, partition, to) for partition, to in offsets.items()]
        sent = time.time()
        futures = self._admin.alter_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group, where)], request_timeout=NEVER_TIMES_OUT
        )
        for future in futures.values():
            future.result(_ANSWERS_WITHIN)
        with self.planted.lock:
            for partition, offset in offsets.items():
                commits = self.planted.commits[group, topic, partition]
                commits.append(Change(sent, time.time(), offset))

    def member(
        self,
        group: str,
        topic: str,
        *,
        joined: bool = True,
        settings: Mapping[str, str] | None = None,
    ) -> Consumer:
        """A consumer that joins and commits nothing; returns once it has been assigned."""
        consumer = Consumer(
            {
                **self.config,
                "group.id": group,
                "client.id": f"member-of-{group}"[:60],
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": 2_000,
                "fetch.min.bytes": 1_000_000,
                **(settings or {}),
            }
        )
        consumer.subscribe([topic])
        self._consumers.append(consumer)
        if joined:
            deadline = time.monotonic() + _ANSWERS_WITHIN
            while not consumer.assignment() and time.monotonic() < deadline:
                consumer.poll(0.1)
        return consumer

    def left(self, consumer: Consumer) -> None:
        """The member ends as a process does that is shut down."""
        consumer.close()
        self._consumers.remove(consumer)

    def coordinator(self, group: str) -> int:
        """The broker that looks after the group."""
        future = self._admin.describe_consumer_groups([group], request_timeout=NEVER_TIMES_OUT)
        found = future[group].result(_ANSWERS_WITHIN).coordinator
        return int(found.id)

    def first_record(self, topic: str) -> int | None:
        """The offset of the first record that a consumer is given; null where none comes."""
        consumer = Consumer({**self.config, "group.id": "planter", "enable.auto.commit": False})
        try:
            consumer.assign([TopicPartition(topic, 0, 0)])
            message = consumer.poll(10.0)
            return None if message is None or message.error() else message.offset()
        finally:
            consumer.close()

    def _log_end(self, topic: str) -> int:
        where = {TopicPartition(topic, 0): OffsetSpec.latest()}  # type: ignore[no-untyped-call]
        (future,) = self._admin.list_offsets(where, request_timeout=_ANSWERS_WITHIN).values()
        return int(future.result(_ANSWERS_WITHIN).offset)

    def _created(self, name: str, partitions: Iterable[int], sent: float) -> None:
        with self.planted.lock:
            for number in partitions:
                log = self.planted.logs[name, number]
                log.ends.append(Change(sent, time.time(), 0))
                log.starts.append(Change(sent, time.time(), 0))

    def _produce(
        self,
        producer: Producer,
        topic: str,
        partition: int,
        number: int,
        stamp: float,
        key: Callable[[int], str] | None,
        offsets: dict[int, int],
    ) -> None:
        def delivered(error: object, message: Any) -> None:
            if error is None:
                offsets[number] = message.offset()

        producer.produce(
            topic,
            f"{number}",
            key=key(number) if key else None,
            partition=partition,
            timestamp=round(stamp * 1_000),
            on_delivery=delivered,
        )
        if number % _POLLS_EVERY == 0:
            producer.poll(0)

    def _unsent(self, offsets: Mapping[int, int], count: int) -> bool:
        self._producer.poll(0.01)
        return len(offsets) < count

    def _appended(
        self,
        topic: str,
        partition: int,
        sent: float,
        stamps: Sequence[float],
        offsets: Mapping[int, int],
    ) -> int:
        with self.planted.lock:
            log = self.planted.logs[topic, partition]
            for number, offset in sorted(offsets.items(), key=lambda each: each[1]):
                log.offsets.append(offset)
                log.stamps.append(stamps[number])
            end = log.offsets[-1] + 1
            log.ends.append(Change(sent, time.time(), end))
            return end


def evenly(count: int, since: float, until: float) -> list[float]:
    """Timestamps from `since` to `until` seconds ago, oldest first."""
    now = time.time()
    step = (since - until) / max(1, count - 1)
    return [now - since + step * number for number in range(count)]
