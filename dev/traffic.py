# SPDX-License-Identifier: Apache-2.0
"""Producers and consumers that behave in named ways: `with Traffic(cluster) as traffic:`.

Each behaviour has a topic `orders-NAME`, a consumer group NAME and a thread. It writes about 50
records a second, and reads them as its name says.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import NewTopic

from dev.kafka import KafkaCluster
from dev.kafka.jars import CONSUMER_PROTOCOL, BrokerFeature
from dev.kafka.readiness import READY_WITHIN, wait_for_topics, wait_until

# Seconds, and records that are written in them.
TICK, _PER_TICK = 0.25, 12
_ALL = 1_000
_ANSWERS_WITHIN, _FLUSHES_WITHIN, _TOPICS_WITHIN, _STOPS_WITHIN = 60.0, 10.0, 120.0, 3.0
# The partitions of the records of a tick, if keys are uneven.
_UNEVEN = (0, 0, 1, 0, 0, 2, 0, 0, 1, 0, 0, 2)
_STAYS, _AWAY, _BETWEEN_TRANSACTIONS = round(3 / TICK), round(1 / TICK), round(5 / TICK)
# The record that is never passed.
POISON = 20
# As many records are a few seconds' worth.
_BEHIND = 200


class Stage:
    """What one behaviour acts with: a clock that can be stopped, a producer, its consumers."""

    def __init__(self, behaviour: Behaviour, config: Mapping[str, Any], producer: Producer) -> None:
        self.topic, self.group, self.config = behaviour.topic, behaviour.name, config
        self.partitions = [TopicPartition(self.topic, n) for n in range(behaviour.partitions)]
        self.stop, self.ready = threading.Event(), threading.Event()
        self.written = self.read = 0
        self._producer = producer
        self._consumers: list[Consumer] = []

    def tick(self) -> bool:
        """Waits one tick; false as soon as the behaviour is to end."""
        return not self.stop.wait(TICK)

    def produce(self, partitions: Iterable[int] | None = None) -> None:
        """Writes a tick's records, to the partitions in turn; drops them if brokers are away."""
        turns = range(self.written, self.written + _PER_TICK)
        for number in partitions or [turn % len(self.partitions) for turn in turns]:
            with suppress(BufferError):
                self._producer.produce(self.topic, f"{self.written}", partition=number)
            self.written += 1
        self._producer.poll(0)

    def flush(self) -> None:
        """Waits until the brokers have what was written; others go on writing meanwhile."""
        self._producer.flush(_FLUSHES_WITHIN)

    def consumer(self, *, joins: bool = True, **settings: Any) -> Consumer:
        """Returns a consumer of the group, which the stage closes; underscores stand for dots."""
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
        if joins:
            consumer.subscribe([self.topic])
        else:
            consumer.assign(self.partitions)
        self._consumers.append(consumer)
        return consumer

    def take(self, consumer: Consumer, most: int = _ALL) -> list[Message]:
        """Returns what the consumer has read, without waiting."""
        found = [message for message in consumer.consume(most, timeout=0) if not message.error()]
        self.read += len(found)
        return found

    def close(self) -> None:
        """Closes the consumers, whose groups see them leave."""
        for consumer in self._consumers:
            consumer.close()


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One named way to behave: `act` runs in a thread until the stage's clock stops.

    It sets `stage.ready` once what gives it its name has come about. Brokers that lack what it
    `needs` cannot take part.
    """

    name: str
    act: Callable[[Stage], None]
    partitions: int = 3
    topic_config: Mapping[str, str] = field(default_factory=dict)
    needs: BrokerFeature | None = None

    @property
    def topic(self) -> str:
        """The only topic that the group reads."""
        return f"orders-{self.name}"


def _read(stage: Stage, most: int = _ALL, behind: int = 0, **settings: Any) -> None:
    """Reads so many records a tick; it is ready once so many of all are unread."""
    consumer = stage.consumer(**settings)
    while stage.tick():
        stage.produce()
        stage.take(consumer, most)
        if stage.read and stage.written - stage.read >= behind:
            stage.ready.set()


def _write_unevenly(stage: Stage) -> None:
    """Three members with the same pace own a partition each; the first gets most records."""
    members = [stage.consumer() for _ in stage.partitions]
    while stage.tick():
        stage.produce(_UNEVEN)
        taken = [len(stage.take(member, _PER_TICK // 3)) for member in members]
        if stage.written - stage.read > _BEHIND and all(taken):
            stage.ready.set()


def _rebalance(stage: Stage) -> None:
    """A second member joins for three seconds and leaves for one, for ever."""
    # Long heartbeats: the first member hears late of each change, so the group waits for it.
    steady, fickle = (
        stage.consumer(session_timeout_ms=6_000, heartbeat_interval_ms=2_000) for _ in range(2)
    )
    ticks = 0
    while stage.tick():
        stage.produce()
        ticks = (ticks + 1) % (_STAYS + _AWAY)
        if ticks == 0:
            fickle.subscribe([stage.topic])
        elif ticks == _STAYS:
            fickle.unsubscribe()
        stage.take(steady)
        if stage.take(fickle):
            stage.ready.set()


def _leave(stage: Stage) -> None:
    """Reads some of every partition, commits and leaves; records keep coming."""
    consumer = stage.consumer()
    read: set[int | None] = set()
    while len(read) < len(stage.partitions) and stage.tick():
        stage.produce()
        read |= {message.partition() for message in stage.take(consumer)}
    consumer.close()
    while stage.tick():
        stage.produce()
        if stage.written - stage.read >= _BEHIND:
            stage.ready.set()


def _stick(stage: Stage) -> None:
    """A live member never gets past one record of partition 0, and reads all the others."""
    consumer = stage.consumer(enable_auto_offset_store=False)
    while stage.tick():
        stage.produce()
        for message in stage.take(consumer):
            if message.partition() == 0 and (message.offset() or 0) >= POISON:
                # To the brokers, trying one record for ever and not asking for the next are alike.
                with suppress(KafkaException):
                    consumer.pause(stage.partitions[:1])
                stage.ready.set()
            else:
                _mark_as_read(consumer, message)


def _mark_as_read(consumer: Consumer, message: Message) -> None:
    # Refused if a rebalance has just taken the partition: its next owner reads the record again.
    with suppress(KafkaException):
        consumer.store_offsets(message)


def _leave_one(stage: Stage) -> None:
    """One record is unread on a topic to which nobody writes any more."""
    stage.produce()
    stage.flush()
    consumer = stage.consumer(joins=False)
    (only,) = stage.partitions
    _, end = consumer.get_watermark_offsets(only, timeout=_ANSWERS_WITHIN)
    unread = [TopicPartition(only.topic, only.partition, end - 1)]
    consumer.commit(offsets=unread, asynchronous=False)
    consumer.close()
    stage.ready.set()
    stage.stop.wait()


def _commit_each(stage: Stage) -> None:
    """Commits each record read of a transaction: the marker behind them stays unread for ever."""
    # librdkafka by itself would step over the marker; who commits by record does not.
    consumer = stage.consumer(enable_auto_offset_store=False)
    producer = Producer({**stage.config, "transactional.id": stage.topic})
    producer.init_transactions(_ANSWERS_WITHIN)
    ticks = 0
    while stage.tick():
        if ticks % _BETWEEN_TRANSACTIONS == 0:
            producer.begin_transaction()
            for number in range(10 * len(stage.partitions)):
                producer.produce(stage.topic, f"{number}", partition=number % len(stage.partitions))
            producer.commit_transaction(_ANSWERS_WITHIN)
        ticks += 1
        for message in stage.take(consumer):
            _mark_as_read(consumer, message)
            stage.ready.set()


# Whole segments are deleted, also by age: to fill 1 MiB takes 100 times the records.
# The oldest of so many unread records are deleted, as they are twenty seconds old.
_GONE = 1_000
_EXPIRES = {"retention.ms": "4000", "segment.bytes": str(1024 * 1024), "segment.ms": "2000"}
BEHAVIOURS: Mapping[str, Behaviour] = {
    each.name: each
    for each in (
        Behaviour("healthy", _read),
        Behaviour("slow", partial(_read, most=_PER_TICK // 6, behind=_BEHIND)),
        Behaviour("stopped", _leave),
        Behaviour("stuck", _stick),
        Behaviour("skewed", _write_unevenly),
        Behaviour("expiring", partial(_read, most=1, behind=_GONE), 1, _EXPIRES),
        Behaviour("rebalancing", _rebalance),
        Behaviour("idle", _leave_one, 1),
        # Partitions are assigned by hand, so the group never has a member.
        Behaviour("commit-only", partial(_read, joins=False)),
        Behaviour("kip848", partial(_read, group_protocol="consumer"), needs=CONSUMER_PROTOCOL),
        Behaviour("transactional", _commit_each),
    )
}


def possible() -> list[str]:
    """Returns the names of those that brokers of this version can take part in."""
    return [each.name for each in BEHAVIOURS.values() if not (each.needs and each.needs.missing)]


class Traffic:
    """A context manager that runs behaviours on a cluster; without any, all that are possible.

    Topics and groups are left behind. Everything goes through the listener that needs no login.
    `errors`: what ended a behaviour's thread, by its name.
    """

    def __init__(
        self, cluster: KafkaCluster, behaviours: Iterable[Behaviour] | None = None
    ) -> None:
        self._cluster = cluster
        self._chosen = [
            *(map(BEHAVIOURS.__getitem__, possible()) if behaviours is None else behaviours)
        ]
        self.errors: dict[str, Exception] = {}
        self._running: dict[str, tuple[Stage, threading.Thread]] = {}

    def __enter__(self) -> Self:
        servers = self._cluster.bootstrap("PLAINTEXT")
        config = {"bootstrap.servers": servers, "log_level": 0}
        new = [
            NewTopic(each.topic, each.partitions, config=dict(each.topic_config))
            for each in self._chosen
        ]
        created = self._cluster.admin().create_topics(new, request_timeout=_TOPICS_WITHIN)
        for future in created.values():
            future.result(_TOPICS_WITHIN)
        wait_for_topics(servers, [each.topic for each in self._chosen])
        producer = Producer({**config, "linger.ms": 200, "message.timeout.ms": 60_000})
        for each in self._chosen:
            stage = Stage(each, config, producer)
            # A daemon: with the brokers gone a consumer may take long to close.
            thread = threading.Thread(target=self._run, args=(each, stage), daemon=True)
            self._running[each.name] = stage, thread
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for stage, _thread in self._running.values():
            stage.stop.set()
        for _stage, thread in self._running.values():
            thread.join(_STOPS_WITHIN)

    def _run(self, behaviour: Behaviour, stage: Stage) -> None:
        try:
            behaviour.act(stage)
        except Exception as error:  # noqa: BLE001 - is reported, whatever it is
            self.errors[behaviour.name] = error
        finally:
            stage.close()

    def wait_until_ready(self, timeout: float = READY_WITHIN) -> None:
        """Waits until each behaviour does what its name says; raises what ended one."""

        def is_ready() -> bool:
            for name, error in self.errors.items():
                raise RuntimeError(f"Traffic {name} failed") from error
            return all(stage.ready.is_set() for stage, _ in self._running.values())

        wait_until(is_ready, what="all traffic as its name says", timeout=timeout)
