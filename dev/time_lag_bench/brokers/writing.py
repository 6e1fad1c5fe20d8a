# SPDX-License-Identifier: Apache-2.0
"""Records written as told: dated by hand in one go, or one after the other as time passes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from confluent_kafka import KafkaError, KafkaException, Message, Producer

from dev.time_lag_bench.brokers.reading import Place
from dev.time_lag_bench.cases.case import Case, Codec, Random, Records
from dev.time_lag_bench.logs import Ints

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
        told: list[bytes] | list[None] = list(keys) or [None] * len(records.times)
        for moment, key in zip(records.times.tolist(), told, strict=True):
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
            # Only refusals are told of: a call a record would take longer than writing it.
            config |= {"delivery.report.only.error": True, "on_delivery": self._refused}
            self._producers[codec, batch] = Producer(config)
        return self._producers[codec, batch]

    def _refused(self, error: KafkaError | None, _: Message) -> None:
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
