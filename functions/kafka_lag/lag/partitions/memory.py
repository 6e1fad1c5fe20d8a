# SPDX-License-Identifier: Apache-2.0
"""What the run before knew of each row, and which rows begin anew with a recreated topic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kafka_lag.lag.columns import Column, Mask, Words
from kafka_lag.lag.frame import AnyColumn, Frame, locate
from kafka_lag.lag.model import Snapshot

Seconds: TypeAlias = npt.NDArray[np.float64]

_OWNED = ("consumer_group", "topic", "partition_id")
_SAME_TOPIC = ("topic_id", "end_offset")


@dataclass(frozen=True, slots=True)
class Memory:
    """The snapshot before, row by row.

    `was` holds the old row of each row, all unknown where there was none or where it told of
    another topic of that name; `recreated` marks the latter.
    """

    was: Frame
    recreated: Mask


def aligned(rows: Frame, before: Snapshot) -> Memory:
    """The memory of each row, found by group, topic and partition."""
    old = before.group_partitions
    at = locate(rows, old, _OWNED)
    again = recreated(rows, Frame.of({n: old.columns[n].take(at) for n in _SAME_TOPIC}))
    return Memory(old.take(np.where(again, -1, at)), again)


def recreated(rows: Frame, was: Frame) -> Mask:
    """Rows whose topic has another id than before, or that were read with a lower end.

    An id unknown then or now (brokers before Kafka 2.8 tell none) counts as the same topic.
    """
    ids, old_ids = rows.words("topic_id"), was.words("topic_id")
    ours = ids.codes_in(old_ids.words)
    same = ours.known & (ours.values == old_ids.codes.values)
    end, old_end = rows.numbers("end_offset"), was.numbers("end_offset")
    back = end.known & old_end.known & (end.values < old_end.values) & read_now(rows)
    mask: Mask = (ids.known & old_ids.known & ~same) | back
    return mask


def read_now(rows: Frame) -> Mask:
    """Rows that were answered this time."""
    return ~rows.words("unread_reason").known


def elapsed(rows: Frame, was: Frame) -> Seconds:
    """Seconds between two readings, by the reporter's clock; 0 where one was none."""
    now, then = rows.numbers("read_at"), was.numbers("read_at")
    passed: Seconds = np.where(now.known & then.known, now.values - then.values, 0) / 1_000
    return np.maximum(passed, 0.0)


def seconds_between(rows: Frame, was: Frame) -> Column:
    """Seconds between two readings, by the reporter's clock; unknown where one was none."""
    return ((rows.numbers("read_at") - was.numbers("read_at")) / 1_000).clip(0.0)


def updated(rows: Frame, **columns: AnyColumn) -> Frame:
    """The columns set in rows that were read now; silent rows keep what they carry."""
    read = read_now(rows)
    if read.all():
        return rows.with_columns(**columns)
    chosen: dict[str, AnyColumn] = {}
    for name, column in columns.items():
        if isinstance(column, Words):
            chosen[name] = column.only(read).or_else(rows.words(name).only(~read))
        else:
            chosen[name] = column.only(read).or_else(rows.numbers(name).only(~read))
    return rows.with_columns(**chosen)
