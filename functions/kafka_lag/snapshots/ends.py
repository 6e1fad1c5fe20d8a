# SPDX-License-Identifier: Apache-2.0
"""End offsets over time: a few columns of the `topic_partitions` that earlier runs wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from kafka_lag import contract
from kafka_lag.lag.frame import Frame
from kafka_lag.snapshots.errors import UnusableError
from kafka_lag.snapshots.format import from_parquet
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.store import SnapshotStore

A = TypeVar("A")
B = TypeVar("B")

COLUMNS = (
    *("topic", "topic_id", "partition_id"),
    *("asked_at", "read_at", "unread_reason", "end_offset"),
)

# A cold start waits for answers, not for its processor: 32 objects take four turns instead of 32.
_AT_ONCE = 8

# Complaints by name; a lost rule on a bucket can make all of them unreadable.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Ends:
    """End offsets by run time, ms, and which could not be had, in words."""

    frames: dict[int, Frame]
    complaints: tuple[str, ...] = ()


def ends_of(topic_partitions: Frame) -> Frame:
    """What later runs need of a run's `topic_partitions`."""
    return Frame({name: topic_partitions.columns[name] for name in COLUMNS}, len(topic_partitions))


def read_ends(store: SnapshotStore, cluster: str, times: Sequence[int]) -> Ends:
    """The end offsets of these runs; an object that is missing or unreadable costs its own only.

    Raises StoreError when the store itself does not answer.
    """

    def read(time: int) -> Frame | str:
        key = object_key(contract.TOPIC_PARTITIONS, cluster, time)
        try:
            return from_parquet(store.read(key), contract.TOPIC_PARTITIONS, COLUMNS)
        except UnusableError as error:
            return f"the end offsets of {key} were left out: {error}"

    answers = dict(zip(times, _at_once(read, times), strict=True))
    complaints = [answer for answer in answers.values() if isinstance(answer, str)]
    frames = {time: answer for time, answer in answers.items() if isinstance(answer, Frame)}
    return Ends(frames, _bounded(complaints))


def _bounded(complaints: list[str]) -> tuple[str, ...]:
    more = len(complaints) - _NAMED
    rest = [f"and the end offsets of {more} more runs were left out"] if more > 0 else []
    return (*complaints[:_NAMED], *rest)


def _at_once(call: Callable[[A], B], arguments: Iterable[A]) -> list[B]:
    """All results, in order. The first error ends it, and calls that have not begun are not made:
    a store that hangs costs one time-out then, not one for each.

    Stores are shared among threads: boto3's clients may be, as its guide to threads says.
    """
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        return list(pool.map(call, arguments))
    finally:
        pool.shutdown(cancel_futures=True)
