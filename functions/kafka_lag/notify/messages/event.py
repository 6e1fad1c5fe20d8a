# SPDX-License-Identifier: Apache-2.0
"""A change as EventBridge's `detail`: public interface, see docs/notifications.md."""

from __future__ import annotations

import json
import math
from typing import Any

from kafka_lag import contract
from kafka_lag.notify.messages.telling import Event
from kafka_lag.notify.messages.wording import iso
from kafka_lag.notify.news.change import Change

# So that names which Kafka takes at 32,000 bytes each do not fill the 256 KB of an event.
_LONGEST_NAME = 2_048
_NUMBERS = (
    "lag",
    "max_lag",
    "time_lag_seconds",
    "time_lag_error_seconds",
    "drain_seconds",
    "seconds_until_loss",
    "records_lost",
    "members",
    "partitions",
    "partitions_unknown",
    "complete",
)
_WORST = ("worst_topic", "worst_partition", "worst_leader", "worst_member")


def event(change: Change, storm: str | None = None) -> Event:
    """The change, unknown values as null; `storm` names the message that told many at once."""
    detail = {
        "schema_version": contract.EVENT_SCHEMA_VERSION,
        "message_id": change.name,
        "incident_id": change.id,
        "storm_id": storm,
        "kind": change.kind,
        "cluster": change.cluster,
        "consumer_group": _limited(change.group),
        "owner": _limited(change.row.get("owner")),
        "status": change.status,
        "previous_status": change.before,
        "status_reason": change.row.get("status_reason"),
        "since": iso(change.since),
        "incident_since": iso(change.incident_since),
        "taken_at": iso(change.taken_at),
        **{name: _finite(change.row.get(name)) for name in _NUMBERS},
        "time_lag_method": change.row.get("time_lag_method"),
        "worst": {name.removeprefix("worst_"): _limited(change.row.get(name)) for name in _WORST},
    }
    text = json.dumps(detail, ensure_ascii=False, allow_nan=False)
    return Event(change.name, text, change.taken_at)


def _finite(value: Any) -> Any:
    """JSON has no word for what is beyond all numbers."""
    return value if value is None or math.isfinite(value) else None


def _limited(value: Any) -> Any:
    return value[:_LONGEST_NAME] if isinstance(value, str) else value
