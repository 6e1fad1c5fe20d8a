# SPDX-License-Identifier: Apache-2.0
"""How a group is doing, in Burrow's words: the whole group, or only what needs attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka_lag import contract
from kafka_lag.views.burrow.consumers import living
from kafka_lag.views.burrow.envelope import Asked, told
from kafka_lag.views.burrow.partitions import (
    NOT_FOUND,
    current_lags,
    is_bad,
    of_group,
    offset_of,
    place,
    records,
    status_of,
)
from kafka_lag.views.burrow.window import WINDOW
from kafka_lag.views.http import Answer

_MESSAGE = "consumer status returned"


def lag(asked: Asked, cluster: str, group: str) -> Answer:
    """Every partition of the group."""
    return _told(asked, cluster, group, whole=True)


def status(asked: Asked, cluster: str, group: str) -> Answer:
    """Only the partitions that are not well."""
    return _told(asked, cluster, group, whole=False)


def _told(asked: Asked, cluster: str, group: str, *, whole: bool) -> Answer:
    found = asked.newest(cluster, contract.GROUPS)
    groups = None if found is None else living(found[1])
    mine = None if groups is None else groups.where(groups.strings("consumer_group").is_in([group]))
    if found is None or not mine:
        body = _body(cluster, group, NOT_FOUND, 1, [], [])
        return told(asked.request, _MESSAGE, {"status": body}, code=404)
    partitions = _partitions(asked, cluster, group, found[0])
    shown = [each for each in partitions if whole or is_bad(each["status"])]
    (word,), (complete,) = mine.strings("status").to_list(), mine.numbers("complete").to_list()
    body = _body(cluster, group, word or NOT_FOUND, complete or 0, partitions, asked.page(shown))
    code = 200 if word else 404
    return told(asked.request, _MESSAGE, {"status": body}, found[0], code)


def _partitions(asked: Asked, cluster: str, group: str, newest: int) -> list[dict[str, Any]]:
    """All of the group; `start` is the oldest reading of the window, `end` the newest."""
    rows = of_group(asked.snapshots.frame(cluster, contract.GROUP_PARTITIONS, newest), group)
    oldest = asked.runs(cluster, newest, WINDOW)[-1]
    before = asked.earlier(cluster, contract.GROUP_PARTITIONS, oldest)
    readings = records(rows if before is None else of_group(before, group))
    starts = {place(each): offset_of(each) for each in readings}
    lags = current_lags(rows)
    return [
        _partition(each, starts.get(place(each)), current)
        for each, current in zip(records(rows), lags, strict=True)
    ]


def _partition(
    record: dict[str, Any], start: dict[str, Any] | None, current: int
) -> dict[str, Any]:
    end = offset_of(record)
    read = record["unread_reason"] is None and end is not None
    return {
        "topic": record["topic"],
        "partition": record["partition_id"],
        "owner": record["client_host"] or "",
        "client_id": record["client_id"] or "",
        "status": status_of(record),
        "start": start or end,
        "end": end,
        "current_lag": current,
        "complete": 1 if read else 0,
    }


def _body(
    cluster: str,
    group: str,
    word: str,
    complete: float,
    partitions: list[dict[str, Any]],
    shown: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    return {
        "cluster": cluster,
        "group": group,
        "status": word,
        # Go writes whole numbers without a fraction, whatever their type.
        "complete": int(complete) if complete in (0, 1) else complete,
        "partitions": shown,
        "partition_count": len(partitions),
        "maxlag": max(partitions, key=lambda each: each["current_lag"], default=None),
        "totallag": sum(each["current_lag"] for each in partitions),
    }
