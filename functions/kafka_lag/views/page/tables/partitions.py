# SPDX-License-Identifier: Apache-2.0
"""The tables of partitions: those that a group reads, and those that a topic has."""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame
from kafka_lag.views.page.asked import Asked
from kafka_lag.views.page.tables.choosing import (
    Sheet,
    alphabet,
    any_contains,
    falling,
    ordered,
    sheet,
)
from kafka_lag.views.page.tables.severity import UNKNOWN, severities

ROWS = 200
GROUP_SORTS = {
    "severity": "Severity",
    "partition": "Topic and partition",
    "lag": "Lag",
    "time_lag": "Time lag",
    "loss": "Time to data loss",
    "leader": "Leader",
    "member": "Member",
}
TOPIC_SORTS = {
    "partition": "Partition",
    "leader": "Leader",
    "kept": "Records kept",
    "rate": "Produced",
    "end": "Log end",
}
NO_STATUS = "UNKNOWN"
STATUSES = (
    *(contract.ERR, contract.STALL, contract.STOP, contract.REWIND, contract.WARN),
    *(NO_STATUS, contract.OK),
)
_GROUP_COLUMNS = (
    *("topic", "partition_id", "leader", "client_id", "client_host", "member_id"),
    *("committed_offset", "end_offset", "lag", "records_lost", "read_at", "unread_reason"),
    *("time_lag_seconds", "time_lag_error_seconds", "commit_changed_at"),
    *("seconds_until_loss", "retention_risk", "status", "last_status", "status_reason"),
)
_TOPIC_COLUMNS = (
    *("partition_id", "leader", "leader_rack", "replicas", "in_sync_replicas"),
    *("start_offset", "end_offset", "produce_rate", "unread_reason", "read_at"),
)
_SEARCHED = ("topic", "client_id", "client_host", "member_id")


def of_group(rows: Frame, asked: Asked) -> Sheet:
    """A page of a group's partitions, the worst first unless asked otherwise."""
    frame = Frame({name: rows.columns[name] for name in _GROUP_COLUMNS}, len(rows))
    frame = frame.with_columns(severity=severities(frame))
    frame = frame.where(any_contains(frame, _SEARCHED, asked.q))
    unknown = frame.numbers("severity").values == UNKNOWN
    if asked.status == NO_STATUS:
        frame = frame.where(unknown)
    elif asked.status:
        told = frame.strings("status").or_else(frame.strings("last_status").only(~unknown))
        frame = frame.where(told.is_in([asked.status]))
    places = [alphabet(frame.strings("topic")), frame.numbers("partition_id")]
    severity = frame.numbers("severity")
    worst = [falling(frame.numbers(name)) for name in ("time_lag_seconds", "lag")]
    keys = {
        "severity": [severity],
        "partition": places,
        "lag": [worst[1]],
        "time_lag": [worst[0]],
        "loss": [frame.numbers("seconds_until_loss")],
        "leader": [frame.numbers("leader")],
        "member": [alphabet(frame.strings("member_id"))],
    }
    return _sheet(frame, keys, [severity, *worst, *places], asked)


def of_topic(rows: Frame, asked: Asked) -> Sheet:
    """A page of a topic's own partitions."""
    frame = Frame({name: rows.columns[name] for name in _TOPIC_COLUMNS}, len(rows))
    start, end = frame.numbers("start_offset"), frame.numbers("end_offset")
    known = start.known & end.known
    kept = Column(np.maximum(end.values - start.values, 0), known)
    frame = frame.with_columns(kept=kept)
    number = frame.numbers("partition_id")
    keys = {
        "partition": [number],
        "leader": [frame.numbers("leader")],
        "kept": [falling(kept)],
        "rate": [falling(frame.numbers("produce_rate"))],
        "end": [falling(end)],
    }
    return _sheet(frame, keys, [number], asked)


def _sheet(frame: Frame, keys: dict[str, list[Column]], then: list[Column], asked: Asked) -> Sheet:
    first = keys[asked.column]
    if asked.reversed:
        first = [falling(key) for key in first]
    return sheet(frame, ordered([*first, *then]), asked.page, ROWS)
