# SPDX-License-Identifier: Apache-2.0
"""The events that S3 sends when a snapshot is complete, directly or through EventBridge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote_plus

from kafka_lag import contract
from kafka_lag.errors import ConfigError
from kafka_lag.snapshots.keys import CLUSTER_NAME, object_key, taken_at_of

_CREATED = "Object Created"
_CREATED_RECORD = "ObjectCreated:"
_TEST = "s3:TestEvent"
_PREFIX = f"{contract.SNAPSHOT_PREFIX}/{contract.GROUPS}/cluster="


def parse_completed_runs(event: Any, bucket: str) -> dict[str, int]:
    """Returns the newest run, ms UTC, of each cluster that the event says is complete.

    Events about other objects, or other than their creation, are ignored. Raises ConfigError for an
    event of another form, or of another bucket.
    """
    if isinstance(event, Mapping) and event.get("Event") == _TEST:
        return {}
    newest: dict[str, int] = {}
    for event_bucket, key in _list_created(event):
        if event_bucket != bucket:
            raise ConfigError(
                f"The event is of the bucket {event_bucket!r}, but this function reads {bucket!r}. "
                "Check the rule that calls it."
            )
        if (run := _parse_run(key)) is not None:
            cluster, taken_at = run
            newest[cluster] = max(taken_at, newest.get(cluster, taken_at))
    return newest


def _list_created(event: Any) -> Iterator[tuple[str, str]]:
    """Yields bucket and key of each object that the event says was created."""
    try:
        if "Records" in event:
            for record in event["Records"]:
                if record["eventName"].startswith(_CREATED_RECORD):
                    yield _bucket_and_key(record["s3"])
        elif event["detail-type"] == _CREATED:
            yield _bucket_and_key(event["detail"])
    except (TypeError, KeyError, AttributeError) as error:
        raise ConfigError(
            "The event is not from S3: it must be a notification of S3, or its event "
            f"{_CREATED!r} from EventBridge. Check what calls the function."
        ) from error


def _bucket_and_key(detail: Any) -> tuple[str, str]:
    # A notification of S3 escapes keys, EventBridge does not; our own keys need no escape.
    return detail["bucket"]["name"], unquote_plus(detail["object"]["key"])


def _parse_run(key: str) -> tuple[str, int] | None:
    """Returns cluster and time of a key; None if the collector would not write this key."""
    cluster, taken_at = key.removeprefix(_PREFIX).partition("/")[0], taken_at_of(key)
    if taken_at is None or not CLUSTER_NAME.fullmatch(cluster):
        return None
    return (cluster, taken_at) if key == object_key(contract.GROUPS, cluster, taken_at) else None
