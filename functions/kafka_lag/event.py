# SPDX-License-Identifier: Apache-2.0
"""The event that the schedule sends: which cluster, for which minute."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from kafka_lag import contract
from kafka_lag.errors import ConfigError

# Beyond these a key's date, or CloudWatch, would not have it.
_FIRST_YEAR, _LAST_YEAR = 2000, 2100

_EXAMPLE = '{"cluster": "orders", "scheduled_time": "2026-01-31T12:00:00Z"}'


def scheduled_time(event: Any, cluster: str) -> int:
    """The scheduled time of an event for this cluster, ms UTC, whole seconds.

    Raises ConfigError for an event of another form, or for another cluster.
    """
    if not isinstance(event, Mapping):
        raise ConfigError(f"The event must be a JSON object like {_EXAMPLE}.")
    named, text = event.get(contract.EVENT_CLUSTER), event.get(contract.EVENT_SCHEDULED_TIME)
    if not isinstance(named, str) or not isinstance(text, str):
        raise ConfigError(f"The event needs two strings, cluster and scheduled_time: {_EXAMPLE}.")
    if named != cluster:
        raise ConfigError(
            f"The event names the cluster {named!r}, but this function is configured for "
            f"{cluster!r}. Check the schedule's input."
        )
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise ConfigError(
            f"The event's scheduled_time {text!r} is no ISO 8601 time: {_EXAMPLE}."
        ) from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise ConfigError(f"The event's scheduled_time {text!r} is of no year like ours.")
    return int(moment.timestamp()) * 1000
