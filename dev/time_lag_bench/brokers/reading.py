# SPDX-License-Identifier: Apache-2.0
"""What is really in the logs: every record read back by a consumer nobody here wrote."""

from __future__ import annotations

import time
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from dev.time_lag_bench.logs import Ints

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
    """All records from the log start; control records are not delivered.

    Raises TimeoutError after two minutes.
    """
    offsets: dict[Place, array[int]] = {place: array("q") for place in places}
    times: dict[Place, array[int]] = {place: array("q") for place in places}
    consumer = Consumer(_config(bootstrap))
    consumer.assign([TopicPartition(*place, OFFSET_BEGINNING) for place in places])
    left, deadline = set(places), time.monotonic() + _WITHIN
    while left:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{len(left)} partitions were not read to their ends")
        for message in consumer.consume(10_000, timeout=1):
            # Delivered messages have all of these, whatever the client's types say.
            place: Any = message.topic(), message.partition()
            if (error := message.error()) is None:
                offset: Any = message.offset()
                offsets[place].append(offset)
                times[place].append(message.timestamp()[1])
            elif error.code() == KafkaError._PARTITION_EOF:
                left.discard(place)
            else:
                raise KafkaException(error)
    consumer.close()
    first, last = (listed(admin, places, earliest=earliest) for earliest in (True, False))
    return {
        place: Living(_ints(offsets[place]), _ints(times[place]), first[place], last[place])
        for place in places
    }


def listed(admin: AdminClient, places: Sequence[Place], *, earliest: bool) -> dict[Place, int]:
    """Log starts or ends. Raises KafkaException when one is not told."""
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
