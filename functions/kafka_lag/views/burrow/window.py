# SPDX-License-Identifier: Apache-2.0
"""What a group committed lately, partition by partition: the readings that Burrow's rules judge."""

from __future__ import annotations

from typing import Any

from kafka_lag import contract
from kafka_lag.lag.frame import Frame
from kafka_lag.views.burrow.consumers import living
from kafka_lag.views.burrow.envelope import Asked, failed, told
from kafka_lag.views.burrow.partitions import current_lags, of_group, offset_of, place, records
from kafka_lag.views.http import Answer

# As many as Burrow keeps by default; the only answer that reads so many large objects.
WINDOW = 10


def consumer(asked: Asked, cluster: str, group: str) -> Answer:
    """The window of offsets of each of the group's partitions, by topic."""
    found = asked.newest(cluster, contract.GROUPS)
    alive = found is not None and group in living(found[1]).strings("consumer_group").to_list()
    if found is None or not alive:
        return failed(asked.request, 404, "cluster or consumer not found")
    newest, *before = asked.runs(cluster, found[0], WINDOW)
    earlier = (asked.earlier(cluster, contract.GROUP_PARTITIONS, run) for run in reversed(before))
    rows = asked.snapshots.frame(cluster, contract.GROUP_PARTITIONS, newest)
    topics = _topics([of_group(each, group) for each in (*earlier, rows) if each is not None])
    shown = {name: topics[name] for name in asked.page(sorted(topics))}
    return told(asked.request, "consumer detail returned", {"topics": shown}, found[0])


def _topics(readings: list[Frame]) -> dict[str, list[dict[str, Any]]]:
    """The newest reading's partitions, their places in the lists being their numbers."""
    seen: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for rows in readings:
        for record in records(rows):
            offset = offset_of(record)
            if offset is not None and record["unread_reason"] is None:
                seen.setdefault(place(record), []).append(offset)
    topics: dict[str, list[dict[str, Any]]] = {}
    newest = readings[-1]
    for record, lag in zip(records(newest), current_lags(newest), strict=True):
        partitions = topics.setdefault(record["topic"], [])
        partitions += [_partition({}, [], 0)] * (record["partition_id"] - len(partitions))
        offsets = seen.get(place(record), [])
        partitions.append(_partition(record, offsets, lag))
    return topics


def _partition(record: dict[str, Any], offsets: list[dict[str, Any]], lag: int) -> dict[str, Any]:
    """As Burrow fills it: nulls first where the window is not full, nothing where none was ever."""
    missing: list[None] = [None] * (WINDOW - len(offsets)) if offsets else []
    return {
        "offsets": [*missing, *offsets],
        "owner": record.get("client_host") or "",
        "client_id": record.get("client_id") or "",
        "current-lag": lag,
    }
