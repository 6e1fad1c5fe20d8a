# SPDX-License-Identifier: Apache-2.0
"""Topics, records and commits on real brokers: created, written, deleted, read back."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from dev.benchmarks.time_lag.cases import Case, Codec, Random, Records
from dev.benchmarks.time_lag.logs import Ints
from dev.kafka.readiness import wait_until

Place: TypeAlias = tuple[str, int]

_WITHIN = 120.0
_ANSWERS_WITHIN = 20.0


@dataclass(frozen=True, slots=True)
class Living:
    """The records that a log still holds, and the offsets it begins and ends at."""

    offsets: Ints
    times: Ints
    start: int
    end: int


def read_back(
    admin: AdminClient, bootstrap: str, places: Sequence[Place]
) -> Mapping[Place, Living]:
    """All records from the log start; control records are not delivered. Raises TimeoutError."""
    offsets: dict[Place, array[int]] = {place: array("q") for place in places}
    times: dict[Place, array[int]] = {place: array("q") for place in places}
    for message in read_messages(bootstrap, places):
        offsets[message.topic(), message.partition()].append(message.offset())
        times[message.topic(), message.partition()].append(message.timestamp()[1])
    first, last = (listed(admin, places, earliest=earliest) for earliest in (True, False))
    return {
        place: Living(_ints(offsets[place]), _ints(times[place]), first[place], last[place])
        for place in places
    }


def read_messages(bootstrap: str, places: Sequence[Place]) -> Iterator[Any]:
    """Yields all records from the log start to the end. Raises TimeoutError after two minutes."""
    consumer = Consumer(_config(bootstrap))
    consumer.assign([TopicPartition(*place, OFFSET_BEGINNING) for place in places])
    left, deadline = set(places), time.monotonic() + _WITHIN
    while left:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{len(left)} partitions were not read to their ends")
        for message in consumer.consume(10_000, timeout=1):
            if (error := message.error()) is None:
                yield message
            elif error.code() == KafkaError._PARTITION_EOF:
                # A delivered message has both, whatever the client's types say.
                left.discard((message.topic() or "", message.partition() or 0))
            else:
                raise KafkaException(error)
    consumer.close()


def listed(admin: AdminClient, places: Sequence[Place], *, earliest: bool) -> dict[Place, int]:
    """Log starts or ends. Raises KafkaException when one is not answered."""
    spec = OffsetSpec.earliest() if earliest else OffsetSpec.latest()  # type: ignore[no-untyped-call]
    request = {TopicPartition(*place): spec for place in places}
    futures = admin.list_offsets(request, request_timeout=_ANSWERS_WITHIN)
    return {(at.topic, at.partition): future.result().offset for at, future in futures.items()}


def _config(bootstrap: str) -> dict[str, str | bool | int]:
    return {
        "bootstrap.servers": bootstrap,
        "group.id": "read-back",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "log_level": 0,
    }


def _ints(values: array[int]) -> Ints:
    return np.frombuffer(values, np.int64) if values else np.zeros(0, np.int64)


_APPLIED_WITHIN = 60.0
_PAUSE = 0.1
# Records are days old when they are written; nothing may delete them but the case.
_KEPT = {"retention.ms": "-1"}


def create_topics(admin: AdminClient, wanted: Mapping[str, tuple[int, Mapping[str, str]]]) -> None:
    """Topics with their number of partitions and configuration, one copy; returns when led."""
    topics = [
        NewTopic(name, count, 1, config={**_KEPT, **config})
        for name, (count, config) in wanted.items()
    ]
    for future in admin.create_topics(topics, request_timeout=_APPLIED_WITHIN).values():
        future.result()
    places = [(name, number) for name, (count, _) in wanted.items() for number in range(count)]
    wait_until(lambda: _led(admin, places), what="a leader of each partition")


def _led(admin: AdminClient, places: Sequence[Place]) -> bool:
    try:
        return bool(listed(admin, places, earliest=False))
    except KafkaException:
        return False


def delete_records(admin: AdminClient, starts: Mapping[Place, int]) -> None:
    """Delete all records below these offsets, which become the log starts."""
    at = [TopicPartition(*place, offset) for place, offset in starts.items()]
    for future in admin.delete_records(at, request_timeout=_APPLIED_WITHIN).values():
        future.result()


def commit_offsets(admin: AdminClient, positions: Mapping[str, Mapping[Place, int]]) -> None:
    """Commit by group, without members; returns when every partition has taken it."""
    left = {
        group: [TopicPartition(*place, offset) for place, offset in offsets.items()]
        for group, offsets in positions.items()
    }
    deadline = time.monotonic() + _APPLIED_WITHIN
    # A coordinator that does not know a new topic yet rejects each partition, not the request.
    while left := _commit_errors(admin, left):
        if time.monotonic() > deadline:
            raise TimeoutError(f"Coordinators reject commits of {sorted(left)[:5]}")
        time.sleep(_PAUSE)


def _commit_errors(
    admin: AdminClient, commits: Mapping[str, list[TopicPartition]]
) -> dict[str, list[TopicPartition]]:
    futures = {
        group: admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, at)])
        for group, at in commits.items()
    }
    rejected = {}
    for group, at in commits.items():
        answered = futures[group][group].result(_APPLIED_WITHIN).topic_partitions
        bad = {(each.topic, each.partition) for each in answered if each.error}
        if again := [each for each in at if (each.topic, each.partition) in bad]:
            rejected[group] = again
    return rejected


def steady_for(look: Callable[[], object], seconds: float, timeout: float = 60.0) -> None:
    """Returns once what `look` sees has not changed for so long. Raises TimeoutError."""
    deadline = time.monotonic() + timeout
    seen, since = look(), time.monotonic()
    while time.monotonic() - since < seconds:
        if time.monotonic() > deadline:
            raise TimeoutError("The logs go on changing")
        time.sleep(_PAUSE)
        if (now := look()) != seen:
            seen, since = now, time.monotonic()


_FLUSHES_WITHIN = 60.0
_HOT_KEYS = 5
# Long enough to fill any batch: all records of a log are handed over at once.
_LINGER_MS = 300


class Writer:
    """Writes records of days in seconds, with a producer for each way of batching."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._producers: dict[tuple[Codec, int], Producer] = {}
        self._errors: list[str] = []

    def write(self, case: Case, at: Place, records: Records, keys: Sequence[bytes]) -> None:
        """Hand over one partition; keys one a record, or none."""
        topic, partition = at
        producer = self._producer(case.codecs[partition % len(case.codecs)], case.batch)
        given: list[bytes] | list[None] = list(keys) or [None] * len(records.times)
        for moment, key in zip(records.times.tolist(), given, strict=True):
            producer.produce(topic, b"record", key, partition, timestamp=moment)
        producer.poll(0)

    def flush(self) -> None:
        """Wait until the brokers have all. Raises RuntimeError for what they refused."""
        left = sum(producer.flush(_FLUSHES_WITHIN) for producer in self._producers.values())
        if left or self._errors:
            raise RuntimeError(f"{left} records were not written: {self._errors[:3]}")

    def _producer(self, codec: Codec, batch: int) -> Producer:
        if (codec, batch) not in self._producers:
            batches = {"batch.num.messages": batch, "linger.ms": _LINGER_MS}
            config = {**_client(self._bootstrap), **batches, "compression.type": codec}
            # Only errors are reported: a call a record would take longer than writing it.
            config |= {"delivery.report.only.error": True, "on_delivery": self._note_error}
            self._producers[codec, batch] = Producer(config)
        return self._producers[codec, batch]

    def _note_error(self, error: KafkaError | None, _: Message) -> None:
        self._errors.append(str(error))


def keys(rng: Random, count: int, kept: float) -> list[bytes]:
    """A key of its own for so large a share; a block in the middle has none of these."""
    own = rng.random(count) < kept
    own[count * 2 // 5 : count * 3 // 5] = False
    hot = rng.integers(0, _HOT_KEYS, count)
    return [b"own-%d" % i if own[i] else b"hot-%d" % hot[i] for i in range(count)]


def write_live(bootstrap: str, topic: str, partitions: Sequence[Records]) -> list[Ints]:
    """Write each record when its time comes; when each was acknowledged, by offset, ms."""
    producer = Producer({**_client(bootstrap), "linger.ms": 0})
    acknowledged: list[dict[int, int]] = [{} for _ in partitions]

    def note(into: dict[int, int], error: KafkaError | None, message: Message) -> None:
        if error is not None:
            raise KafkaException(error)
        into[int(message.offset() or 0)] = int(time.time() * 1000)

    for moment, partition in _schedule(partitions):
        while (left := moment / 1000 - time.time()) > 0:
            producer.poll(left)
        callback: Any = partial(note, acknowledged[partition])
        producer.produce(topic, b"record", partition=partition, on_delivery=callback)
    if producer.flush(_FLUSHES_WITHIN):
        raise RuntimeError(f"Records of {topic} were not written")
    return [np.array([by[o] for o in sorted(by)], np.int64) for by in acknowledged]


def write_transactions(bootstrap: str, topic: str, partitions: Sequence[Records]) -> None:
    """Write what has come due in one transaction after the other."""
    producer = Producer({**_client(bootstrap), "transactional.id": topic})
    producer.init_transactions(_FLUSHES_WITHIN)
    due = _schedule(partitions)
    while due:
        time.sleep(max(0.0, due[0][0] / 1000 - time.time()))
        producer.begin_transaction()
        now = time.time() * 1000
        while due and due[0][0] <= now:
            producer.produce(topic, b"record", partition=due.pop(0)[1])
        producer.commit_transaction(_FLUSHES_WITHIN)


def _schedule(partitions: Sequence[Records]) -> list[tuple[int, int]]:
    """Each record's time and partition, in order."""
    return sorted(
        (moment, number)
        for number, records in enumerate(partitions)
        for moment in records.times.tolist()
    )


def _client(bootstrap: str) -> dict[str, Any]:
    return {
        "bootstrap.servers": bootstrap,
        "enable.idempotence": True,
        "queue.buffering.max.messages": 2_000_000,
        "log_level": 0,
    }
