# SPDX-License-Identifier: Apache-2.0
"""Snapshots for tests of a terminal: rows of groups and partitions."""

from __future__ import annotations

from typing import Any

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import DTYPES, Frame
from kafka_lag.lag.model import Snapshot
from tests.builders import NOON

ABSENT: dict[str, Any] = dict.fromkeys(contract.COLUMNS[contract.GROUPS])
_CAUGHT_UP = {
    "group_state": "Stable",
    "group_type": "classic",
    "members": 1,
    "partitions": 3,
    "lag": 0,
    "time_lag_seconds": 0.0,
    "time_lag_error_seconds": 0.0,
    "seconds_until_loss": contract.NO_LOSS_SECONDS,
    "status": contract.OK,
}


def a_group(name: str, **columns: Any) -> dict[str, Any]:
    """A group that does well but for these columns; None is unknown."""
    row = {**_CAUGHT_UP, "consumer_group": name, **columns}
    return {"last_status": row["status"], **row}


def a_partition(group: str, topic: str, partition: int, **columns: Any) -> dict[str, Any]:
    """A partition of which these columns are known."""
    row = {"consumer_group": group, "topic": topic, "partition_id": partition, **columns}
    return {"last_status": row.get("status"), **row}


def a_snapshot_of(
    *groups: dict[str, Any],
    partitions: tuple[dict[str, Any], ...] = (),
    logs: tuple[dict[str, Any], ...] = (),
    at: int = NOON,
) -> Snapshot:
    """A run's snapshot of these groups."""
    return Snapshot(
        at,
        _frame(contract.TOPIC_PARTITIONS, logs),
        _frame(contract.GROUP_PARTITIONS, partitions),
        _frame(contract.GROUPS, groups),
    )


def _frame(dataset: str, rows: tuple[dict[str, Any], ...]) -> Frame:
    columns: dict[str, Column | Strings] = {}
    for name, kind in contract.COLUMNS[dataset].items():
        values = [row.get(name) for row in rows]
        is_string = kind == contract.STRING or kind in contract.LISTS
        columns[name] = Strings.of(values) if is_string else Column.optional(values, DTYPES[kind])
    return Frame(columns, len(rows))
