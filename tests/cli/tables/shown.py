# SPDX-License-Identifier: Apache-2.0
"""Snapshots of a few groups, told column by column, and what a terminal shows of them."""

from __future__ import annotations

from io import StringIO
from typing import Any

from rich.console import Console

from kafka_lag import contract
from kafka_lag.cli.tables import groups_table
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import DTYPES, Frame
from kafka_lag.lag.model import Snapshot
from tests.builders import NOON

_WELL = {
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
    """A group that does well but for what is said; None is unknown."""
    row = {**_WELL, "consumer_group": name, **columns}
    return {"last_status": row["status"], **row}


def a_partition(group: str, topic: str, partition: int, status: str) -> dict[str, Any]:
    return {
        "consumer_group": group,
        "topic": topic,
        "partition_id": partition,
        "last_status": status,
    }


def a_snapshot_of(*groups: dict[str, Any], blame: tuple[dict[str, Any], ...] = ()) -> Snapshot:
    return Snapshot(
        NOON,
        Frame.empty(contract.TOPIC_PARTITIONS),
        _frame(contract.GROUP_PARTITIONS, blame),
        _frame(contract.GROUPS, groups),
    )


def text_of(snapshot: Snapshot, width: int = 160, **more: Any) -> str:
    out = StringIO()
    Console(file=out, width=width).print(groups_table(snapshot, width, **more))
    return out.getvalue()


def lines_of(snapshot: Snapshot, width: int = 160) -> list[str]:
    """The lines of the groups, without title and heading."""
    return [line.strip() for line in text_of(snapshot, width).splitlines() if line.strip()][3:]


def _frame(dataset: str, rows: tuple[dict[str, Any], ...]) -> Frame:
    columns: dict[str, Column | Strings] = {}
    for name, kind in contract.COLUMNS[dataset].items():
        values = [row.get(name) for row in rows]
        words = kind in (contract.STRING, contract.INT_LIST)
        columns[name] = Strings.of(values) if words else Column.optional(values, DTYPES[kind])
    return Frame(columns, len(rows))
