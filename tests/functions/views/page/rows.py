# SPDX-License-Identifier: Apache-2.0
"""Builds rows of the three datasets in a line each, healthy by default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import DTYPES, Frame

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
NOON = 1_769_860_800_000  # 2026-01-31T12:00:00Z

Row = Mapping[str, Any]


def frame_of(dataset: str, rows: Sequence[Row]) -> Frame:
    """Rows as the dataset has them; a column that a row does not name is unknown."""
    columns = {
        name: Strings.of(row.get(name) for row in rows)
        if kind == contract.STRING or kind in contract.LISTS
        else Column.optional([row.get(name) for row in rows], DTYPES[kind])
        for name, kind in contract.COLUMNS[dataset].items()
    }
    return Frame(columns, len(rows))


def a_group(name: str, **more: Any) -> dict[str, Any]:
    """A calm group's row."""
    return {
        "consumer_group": name,
        "group_state": "Stable",
        "group_type": "classic",
        "protocol": "consumer",
        "members": 3,
        "topics": 1,
        "partitions": 3,
        "partitions_unknown": 0,
        "partitions_uncommitted": 0,
        "lag": 12,
        "max_lag": 5,
        "time_lag_seconds": 4.0,
        "time_lag_error_seconds": 0.5,
        "time_lag_method": "interpolated",
        "produce_rate": 40.0,
        "consume_rate": 40.2,
        "drain_seconds": 2.0,
        "seconds_until_loss": contract.NO_LOSS_SECONDS,
        "records_lost": 0,
        "status": "OK",
        "last_status": "OK",
        "complete": 1.0,
        "held_status": "OK",
        "held_since": NOON - 3 * DAY,
        **more,
    }


def a_partition(group: str, topic: str, number: int, **more: Any) -> dict[str, Any]:
    """A calm group-partition's row."""
    return {
        "consumer_group": group,
        "topic": topic,
        "topic_id": f"id-{topic}",
        "partition_id": number,
        "leader": 1 + number % 3,
        "client_id": f"client-{number % 2}",
        "client_host": f"/10.0.0.{number % 2}",
        "member_id": f"client-{number % 2}-6f9619ff-8b86-d011-b42d-00c04fc964ff",
        "committed_offset": 1000 + number,
        "start_offset": 10,
        "end_offset": 1004 + number,
        "lag": 4,
        "records_lost": 0,
        "time_lag_seconds": 4.0,
        "time_lag_error_seconds": 0.5,
        "time_lag_method": "interpolated",
        "seconds_until_loss": contract.NO_LOSS_SECONDS,
        "retention_risk": "SAFE",
        "status": "OK",
        "last_status": "OK",
        "read_at": NOON,
        **more,
    }


def a_log(topic: str, number: int, **more: Any) -> dict[str, Any]:
    """A topic-partition's row."""
    return {
        "topic": topic,
        "topic_id": f"id-{topic}",
        "partition_id": number,
        "leader": 1 + number % 3,
        "leader_rack": f"use1-az{1 + number % 3}",
        "replicas": (1, 2, 3),
        "in_sync_replicas": (1, 2, 3),
        "start_offset": 10,
        "end_offset": 1004 + number,
        "retention_ms": 7 * DAY,
        "retention_bytes": -1,
        "cleanup_policy": "delete",
        "timestamp_type": "CreateTime",
        "produce_rate": 13.5,
        "read_at": NOON,
        **more,
    }
