# SPDX-License-Identifier: Apache-2.0
"""One group's partitions in Burrow's terms, in which nothing may be unknown but a lag."""

from __future__ import annotations

from typing import Any

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame

# For groups and partitions of which nothing can be said.
NOT_FOUND = "NOTFOUND"
_NAMES = (
    "topic",
    "topic_id",
    "partition_id",
    "client_host",
    "client_id",
    "unread_reason",
    "read_at",
    "committed_offset",
    "commit_changed_at",
    "start_offset",
    "end_offset",
    "lag",
    "status",
    "last_status",
)


def of_group(rows: Frame, group: str) -> Frame:
    """The group's rows and the columns that Burrow's answers need, by topic and partition."""
    mask = rows.strings("consumer_group").is_in([group])
    mine = Frame({name: rows.columns[name] for name in _NAMES}, len(rows)).where(mask)
    topics = mine.strings("topic").to_list()
    numbers = mine.numbers("partition_id").values.tolist()
    order = sorted(range(len(mine)), key=lambda row: (topics[row], numbers[row]))
    return mine.take(np.array(order, np.int64))


def records(rows: Frame) -> list[dict[str, Any]]:
    """A dict a row, None for unknown."""
    columns = [column.to_list() for column in rows.columns.values()]
    return [dict(zip(rows.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def place(record: dict[str, Any]) -> tuple[Any, ...]:
    """Which log a record is of; a topic that was recreated is another."""
    return record["topic"], record["topic_id"], record["partition_id"]


def current_lags(rows: Frame) -> list[int]:
    """Of each row: its lag, else the last one known, else 0, as Burrow has no word for unknown."""
    committed, start = rows.numbers("committed_offset"), rows.numbers("start_offset")
    end = rows.numbers("end_offset")
    at = np.where(start.known, np.maximum(committed.values, start.values), committed.values)
    carried = Column(np.maximum(end.values - at, 0), committed.known & end.known)
    return [lag or 0 for lag in rows.numbers("lag").or_else(carried).to_list()]


def offset_of(record: dict[str, Any]) -> dict[str, Any] | None:
    """One reading as an offset that Burrow keeps; None where nothing was ever committed.

    `timestamp` is when the commit was first seen, `observedAt` when it was last read, ms UTC.
    """
    if record["committed_offset"] is None:
        return None
    first_seen = record["commit_changed_at"]
    return {
        "offset": record["committed_offset"],
        "timestamp": record["read_at"] or 0 if first_seen is None else first_seen,
        "observedAt": record["read_at"] or 0,
        "lag": record["lag"],
    }


def status_of(record: dict[str, Any]) -> str:
    """The word for a partition: what was last known of one that was not read, as in its group."""
    unread = record["unread_reason"] is not None
    return record["last_status" if unread else "status"] or NOT_FOUND


def is_bad(status: str) -> bool:
    """Whether Burrow lists it where it lists only what needs attention."""
    return status not in (contract.OK, NOT_FOUND)
