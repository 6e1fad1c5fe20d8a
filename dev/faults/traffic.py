# SPDX-License-Identifier: Apache-2.0
"""Producers, committers and live members that tell the truth about what they did.

Each partition has one producer, so that what it sent later lies behind. Clients use the listener
without proxies: faults on the collector's way are none of theirs.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Self
from uuid import UUID

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from dev.faults.truth import Partition, Topic, Truth, now_ms
from dev.kafka.access import wait_for
from dev.kafka.jars import CONSUMER_PROTOCOL
from dev.kafka.readiness import NEVER_TIMES_OUT

PREFIX = "faulty-"
_TICK = 0.1
_ANSWERS_WITHIN = 20.0
_STOPS_WITHIN = 5.0
# How far behind the end each committer stays, and how it moves.
_HABITS = ("ends", "near", "behind", "strides", "rests", "wanders")


class Stopped(Exception):  # noqa: N818 - no error: a thread is to end
    """Raised in a thread that should end."""


def chance(rng: random.Random, share: float) -> bool:
    """True in so large a share of all cases."""
    return rng.random() < share


class Log:
    """One topic with its producer, until it is deleted."""

    def __init__(self, traffic: Traffic, topic: Topic, pace: str, seed: int) -> None:
        self.topic, self.pace = topic, pace
        self._random = random.Random(seed)  # noqa: S311 - traffic, not secrets
        self._producer = Producer(
            {
                **traffic.config,
                "enable.idempotence": True,
                "linger.ms": 5,
                # A record is sent until it is acknowledged: so its offset is known in the end.
                "message.timeout.ms": 0,
                "request.timeout.ms": 5_000,
                "topic.metadata.refresh.interval.ms": 1_000,
            }
        )
        self._ticks = 0
        self.writable = len(topic.logs)

    def tick(self) -> None:
        """Write what is due and take what was acknowledged."""
        self._ticks += 1
        for partition in range(self.writable):
            for _ in range(self._due()):
                self._send(partition)
        self._producer.poll(0)

    def _due(self) -> int:
        if self.pace == "idle":
            return 8 if self._ticks == 1 else int(chance(self._random, _TICK / 40))
        if self.pace == "bursts":
            return 15 if self._ticks % 50 == 1 else 0
        return int(chance(self._random, 0.3))

    def _send(self, partition: int) -> None:
        token = self.topic.sending(partition)
        sent = self.topic.logs[partition].flying[token]
        answer: Callable[..., None] = partial(_note, self.topic, partition, token)
        name = self.topic.name
        self._producer.produce(name, b"x", partition=partition, timestamp=sent, on_delivery=answer)

    def close(self, seconds: float) -> None:
        """Wait until the brokers have all."""
        self._producer.flush(seconds)


def _note(topic: Topic, partition: int, token: int, error: Any, message: Any) -> None:
    """What a producer knows of a record; it does not know every offset it wrote at."""
    offset = message.offset()
    if error is None and offset is not None:
        topic.acknowledged(partition, token, int(offset))
    else:
        topic.lost(partition, token)


class Committer:
    """A group without members that commits by a habit, in a thread of its own."""

    def __init__(
        self, traffic: Traffic, group: str, topics: Sequence[str], habit: str, seed: int
    ) -> None:
        self.group, self.topics, self.habit = group, topics, habit
        self.lock = threading.Lock()
        self._traffic = traffic
        self._random = random.Random(seed)  # noqa: S311 - traffic, not secrets
        self._at: dict[Partition, int] = {}
        self._rewind = False

    def forget(self) -> None:
        """The group was deleted: begin anew. The caller holds the lock."""
        self._at.clear()

    def forget_topic(self, name: str) -> None:
        """The topic was deleted. The caller holds the lock."""
        self._at = {at: offset for at, offset in self._at.items() if at[0] != name}

    def rewind(self) -> None:
        """Go back with the next commit."""
        self._rewind = True

    @property
    def rewinding(self) -> bool:
        """Whether that is still to come."""
        return self._rewind

    def run(self) -> None:
        """Commit until the traffic stops."""
        consumer = Consumer({**self._traffic.config, "group.id": self.group})
        try:
            while True:
                self._traffic.wait(self._random.uniform(0.3, 1.5))
                with self.lock:
                    self._commit(consumer)
        except Stopped:
            consumer.close()

    def _commit(self, consumer: Consumer) -> None:
        offsets = self._next()
        if not offsets:
            return
        self._traffic.commit(consumer, self.group, offsets)
        self._at |= offsets

    def _next(self) -> dict[Partition, int]:
        moves: dict[Partition, int] = {}
        rewind, self._rewind = self._rewind, False
        for name in self.topics:
            log = self._traffic.logs.get(name)
            for number in range(log.writable if log else 0):
                at, end = self._at.get((name, number)), log.topic.end(number) if log else 0
                after = self._moved(at, end) if not rewind else max(0, (at or 0) - 7)
                if after != at:
                    moves[name, number] = after
        return moves

    def _moved(self, at: int | None, end: int) -> int:
        if at is None:
            return max(0, end - self._random.randrange(4))
        if self.habit == "rests":
            return min(at, end) if chance(self._random, 0.98) else end
        if self.habit == "strides":
            return end if chance(self._random, 0.1) else min(at, end)
        if self.habit == "wanders" and chance(self._random, 0.05):
            return max(0, at - 5)
        behind = {"ends": 0, "near": 2, "behind": 25}.get(self.habit, self._random.randrange(9))
        return max(min(at, end), end - behind)


class Member:
    """A live member of a group, by one of the two protocols, in a thread of its own."""

    def __init__(self, traffic: Traffic, group: str, topics: Sequence[str], protocol: str) -> None:
        self.group, self.topics = group, topics
        self._traffic = traffic
        own: dict[str, Any] = {"group.protocol": protocol}
        if protocol == "classic":
            own["session.timeout.ms"] = 6_000
        self._config = {
            **traffic.config,
            **own,
            "group.id": group,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "fetch.wait.max.ms": 200,
        }

    def run(self) -> None:
        """Read and commit until the traffic stops."""
        consumer = Consumer(self._config)
        consumer.subscribe([*self.topics])
        try:
            while True:
                self._traffic.wait(0.3)
                self._read(consumer)
        except Stopped:
            consumer.close()

    def _read(self, consumer: Consumer) -> None:
        offsets: dict[Partition, int] = {}
        for message in consumer.consume(200, timeout=0.1):
            if message.error() is None:
                at = str(message.topic()), int(message.partition() or 0)
                offsets[at] = int(message.offset() or 0) + 1
        if not offsets:
            return
        self._traffic.commit(consumer, self.group, offsets)


class Transactions:
    """Writes one topic in transactions, some of them aborted, in a thread of its own."""

    def __init__(self, traffic: Traffic, topic: Topic, seed: int) -> None:
        self._traffic, self._topic = traffic, topic
        self._random = random.Random(seed)  # noqa: S311 - traffic, not secrets
        self._producer: Producer | None = None
        # Partition and offset of what the transaction holds.
        self._written: list[tuple[int, int]] = []

    def run(self) -> None:
        """Write until the traffic stops; a producer that failed is replaced, which aborts."""
        with suppress(Stopped):
            while True:
                self._traffic.wait(self._random.uniform(0.5, 2.0))
                try:
                    self._write()
                except KafkaException:
                    self._end(self._producer)
                    self._producer = None

    def _write(self) -> None:
        producer = self._producer or self._begin()
        self._written.clear()
        producer.begin_transaction()
        partitions = [p for p in range(len(self._topic.logs)) if chance(self._random, 0.7)]
        for partition in partitions:
            for _ in range(self._random.randrange(1, 4)):
                self._send(producer, partition)
        while producer.flush(0.2):
            self._traffic.wait(0)
        # Two each: a coordinator that recovers, or was not answered, writes a marker again
        # (apache/kafka pull request 21176).
        markers = [(p, self._topic.sending(p)) for p in partitions for _ in range(2)]
        committed = False
        try:
            if chance(self._random, 0.2):
                producer.abort_transaction(_ANSWERS_WITHIN)
            else:
                producer.commit_transaction(_ANSWERS_WITHIN)
                committed = True
        finally:
            for partition, offset in () if committed else self._written:
                self._topic.aborted(partition, offset)
            # Markers are written some time after the answer; the next record's offset shows when.
            for partition, token in markers:
                self._topic.lost(partition, token)

    def _begin(self) -> Producer:
        config = {**self._traffic.config, "transactional.id": self._topic.name, "linger.ms": 0}
        # A marker for each open transaction, at any time from now on.
        for partition in range(len(self._topic.logs)):
            self._topic.lost(partition, self._topic.sending(partition))
        self._producer = Producer(config)
        self._producer.init_transactions(_ANSWERS_WITHIN)
        return self._producer

    def _send(self, producer: Producer, partition: int) -> None:
        token = self._topic.sending(partition)
        sent = self._topic.logs[partition].flying[token]

        def answer(error: Any, message: Any) -> None:
            _note(self._topic, partition, token, error, message)
            if error is None and message.offset() is not None:
                self._written.append((partition, int(message.offset())))

        name = self._topic.name
        producer.produce(name, b"x", partition=partition, timestamp=sent, on_delivery=answer)

    def _end(self, producer: Producer | None) -> None:
        if producer is not None:
            producer.purge()
            producer.poll(0.1)


class Traffic:
    """A context manager: topics, groups and members at work, all of it recorded in `truth`."""

    def __init__(self, admin: AdminClient, bootstrap: str, truth: Truth, seed: int) -> None:
        self.truth, self.admin = truth, admin
        self.config = {
            "bootstrap.servers": bootstrap,
            "log_level": 0,
            "topic.metadata.refresh.interval.ms": 2_000,
            "socket.timeout.ms": 6_000,
            "reconnect.backoff.max.ms": 1_000,
        }
        self.logs: dict[str, Log] = {}
        self.committers: dict[str, Committer] = {}
        self.groups: list[str] = []
        self.errors: list[str] = []
        self._seed = seed
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._writing = threading.Lock()

    def __enter__(self) -> Self:
        for name, partitions, pace in _TOPICS:
            self.create(PREFIX + name, partitions, pace)
        written = self._created(PREFIX + "transactions", 3)
        self._start(Transactions(self, written, self._seed).run)
        self._start(self._write)
        names = [PREFIX + name for name, _, _ in _TOPICS]
        rng = random.Random(self._seed)  # noqa: S311 - traffic, not secrets
        for number in range(12):
            habit = _HABITS[number % len(_HABITS)]
            group = f"{PREFIX}{habit}-{number}"
            topics = sorted(rng.sample(names, 6))
            committer = Committer(self, group, topics, habit, self._seed + number)
            self.committers[group] = committer
            self._start(committer.run)
        for protocol in ("classic",) if CONSUMER_PROTOCOL.missing else ("classic", "consumer"):
            group = f"{PREFIX}members-{protocol}"
            for _ in range(2):
                topics = [names[0], names[1], written.name]
                self._start(Member(self, group, topics, protocol).run)
            self.groups.append(group)
        self.groups += self.committers
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(_STOPS_WITHIN)

    def wait(self, seconds: float) -> None:
        """Wait in a thread of the traffic. Raises Stopped when it should end."""
        if self._stop.wait(seconds):
            raise Stopped

    def commit(self, consumer: Consumer, group: str, offsets: Mapping[Partition, int]) -> None:
        """Commit, and record which offsets were acknowledged; of the others nobody knows."""
        token = self.truth.committing(group, offsets)
        sent = [TopicPartition(name, number, offset) for (name, number), offset in offsets.items()]
        taken: Mapping[Partition, int | None] = {}
        with suppress(KafkaException):
            answers = consumer.commit(offsets=sent, asynchronous=False)
            good = [(a.topic, a.partition) for a in answers if a.error is None]
            taken = {at: offsets[at] for at in good}
        self.truth.committed(group, token, taken)

    def create(self, name: str, partitions: int, pace: str) -> None:
        """A topic, written from now on."""
        topic = self._created(name, partitions)
        with self._writing:
            self.logs[name] = Log(self, topic, pace, self._seed + len(self.logs))

    def delete(self, name: str) -> str:
        """Delete a topic; returns its pace. Committers leave it alone from now on."""
        with self._writing:
            log = self.logs.pop(name)
        log.close(_ANSWERS_WITHIN)
        # Whoever is in the middle of a commit may still have it in hand.
        with self._quiet_committers():
            sent = now_ms()
            wait_for(self.admin.delete_topics([name], operation_timeout=_ANSWERS_WITHIN))
            self.truth.deleted(log.topic, sent, now_ms() + 1)
            for committer in self.committers.values():
                committer.forget_topic(name)
        return log.pace

    def extend(self, name: str) -> None:
        """One more partition, written once every client can know of it."""
        log, sent = self.logs[name], now_ms()
        count = len(log.topic.logs) + 1
        wait_for(self.admin.create_partitions([NewPartitions(name, count)]))
        log.topic.extended(count, sent, now_ms() + 1)

    def purge(self, name: str, partition: int, left: int) -> bool:
        """Delete all records of a partition but the last few; whether there were any more."""
        topic = self.logs[name].topic
        before = max((each.offset for each in topic.logs[partition].purges), default=0)
        offset, sent = max(0, topic.end(partition) - left), now_ms()
        topic.purged(partition, offset, sent)
        wait_for(self.admin.delete_records([TopicPartition(name, partition, offset)]))
        topic.purged(partition, offset, sent, now_ms() + 1)
        return offset > before

    def delete_group(self, group: str) -> None:
        """Delete a group without members, which begins anew afterwards."""
        committer = self.committers[group]
        with committer.lock:
            offsets: dict[Partition, int | None] = dict.fromkeys(self.truth.partitions_of(group))
            token = self.truth.committing(group, offsets)
            done = False
            try:
                futures = self.admin.delete_consumer_groups(
                    [group], request_timeout=NEVER_TIMES_OUT
                )
                futures[group].result(_ANSWERS_WITHIN)
                done = True
            finally:
                self.truth.committed(group, token, offsets if done else {})
            committer.forget()

    @contextmanager
    def _quiet_committers(self) -> Iterator[None]:
        held = list(self.committers.values())
        for committer in held:
            committer.lock.acquire()
        try:
            yield
        finally:
            for committer in held:
                committer.lock.release()

    def _created(self, name: str, partitions: int) -> Topic:
        sent = now_ms()
        wanted = NewTopic(name, partitions, config={"min.insync.replicas": "2"})
        while True:
            try:
                wait_for(self.admin.create_topics([wanted]))
                break
            except KafkaException as error:
                # One of that name is still being deleted.
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise
                self.wait(0.1)
        topic_id = self._topic_id(name)
        while topic_id is None or self.truth.knows(topic_id):
            # The broker that was asked has not heard of it yet.
            self.wait(0.1)
            topic_id = self._topic_id(name)
        return self.truth.created(name, topic_id, partitions, sent, now_ms() + 1)

    def _topic_id(self, name: str) -> str | None:
        try:
            topic = self.admin.describe_topics(TopicCollection([name]))[name].result(
                _ANSWERS_WITHIN
            )
        except KafkaException:
            return None
        words = (
            topic.topic_id.get_most_significant_bits(),
            topic.topic_id.get_least_significant_bits(),
        )
        high, low = (word & (2**64 - 1) for word in words)
        return str(UUID(int=high << 64 | low))

    def _start(self, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=self._watched, args=(target,), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _watched(self, target: Callable[[], None]) -> None:
        try:
            target()
        except Exception as error:  # noqa: BLE001 - without this thread the truth is no truth
            self.errors.append(f"traffic failed: {type(error).__name__}: {error}")

    def _write(self) -> None:
        with suppress(Stopped):
            while True:
                self.wait(_TICK)
                with self._writing:
                    for log in self.logs.values():
                        log.tick()
        with ThreadPoolExecutor(len(self.logs)) as pool:
            list(pool.map(lambda log: log.close(_STOPS_WITHIN), self.logs.values()))


# Name, partitions and pace.
_TOPICS = (
    ("steady-a", 4, "steady"),
    ("steady-b", 4, "steady"),
    ("steady-c", 4, "steady"),
    ("steady-d", 3, "steady"),
    ("bursts-a", 4, "bursts"),
    ("bursts-b", 4, "bursts"),
    ("idle-a", 4, "idle"),
    ("idle-b", 4, "idle"),
    ("churn-a", 3, "steady"),
    ("churn-b", 3, "bursts"),
    ("churn-c", 2, "idle"),
)
