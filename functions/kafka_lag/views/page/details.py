# SPDX-License-Identifier: Apache-2.0
"""The pages of one group and of one topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.frame import Frame
from kafka_lag.views.http import Answer
from kafka_lag.views.page.asked import asked
from kafka_lag.views.page.latest import Latest
from kafka_lag.views.page.overview import CALM_SECONDS, every
from kafka_lag.views.page.render import rendered
from kafka_lag.views.page.tables.choosing import Row, records
from kafka_lag.views.page.tables.curves import past
from kafka_lag.views.page.tables.partitions import (
    GROUP_SORTS,
    STATUSES,
    TOPIC_SORTS,
    of_group,
    of_topic,
)
from kafka_lag.views.page.tables.severity import severities
from kafka_lag.views.page.tables.sums import sums
from kafka_lag.views.page.words import blamed
from kafka_lag.views.snapshots import Snapshots

# Fewer records behind are drawn as a flat line.
_CALM_RECORDS = 10.0
# Of a topic that is told on all of its partitions alike.
_SETTINGS = ("retention_ms", "retention_bytes", "cleanup_policy", "timestamp_type", "topic_id")


def group(
    name: str, query: Mapping[str, str], snapshots: Snapshots, seen: Latest, now_ms: int
) -> Answer:
    """One group's numbers, topics and partitions; 404 for one that the newest run does not hold.

    Raises StoreError.
    """
    wanted = asked(query, GROUP_SORTS, STATUSES)
    told = _named(seen.groups, "consumer_group", name)
    if not len(told):
        return _missing("group", name, seen, now_ms)
    told = told.with_columns(severity=severities(told))
    rows = _named(_frame(snapshots, seen, contract.GROUP_PARTITIONS), "consumer_group", name)
    topics, topic_count = sums(rows, "topic")
    row = records(told)[-1]
    history = past(snapshots, seen, now_ms)
    return rendered(
        "group.html.j2",
        **_common(seen, now_ms, wanted),
        name=name,
        group=row,
        blame=blamed(row, _worst_status(rows, row)),
        topics=topics,
        topic_count=topic_count,
        sheet=of_group(rows, wanted),
        sorts=GROUP_SORTS,
        statuses=STATUSES,
        ages=history.curve(name, "time_lag_seconds", CALM_SECONDS),
        lags=history.curve(name, "lag", _CALM_RECORDS),
    )


def topic(
    name: str, query: Mapping[str, str], snapshots: Snapshots, seen: Latest, now_ms: int
) -> Answer:
    """One topic's settings, groups and partitions; 404 as for a group. Raises StoreError."""
    wanted = asked(query, TOPIC_SORTS, ())
    partitions = _named(_frame(snapshots, seen, contract.TOPIC_PARTITIONS), "topic", name)
    readers = _named(_frame(snapshots, seen, contract.GROUP_PARTITIONS), "topic", name)
    if not len(partitions) and not len(readers):
        return _missing("topic", name, seen, now_ms)
    groups, group_count = sums(readers, "consumer_group")
    return rendered(
        "topic.html.j2",
        **_common(seen, now_ms, wanted),
        name=name,
        settings={column: _first(partitions, column) for column in _SETTINGS},
        groups=groups,
        group_count=group_count,
        sheet=of_topic(partitions, wanted),
        sorts=TOPIC_SORTS,
    )


def _common(seen: Latest, now_ms: int, wanted: object) -> dict[str, Any]:
    return {"now": now_ms, "asked": wanted, "seen": [seen], "broken": [], "every": every([seen])}


def _missing(kind: str, name: str, seen: Latest, now_ms: int) -> Answer:
    return rendered("missing.html.j2", 404, kind=kind, name=name, one=seen, now=now_ms)


def _frame(snapshots: Snapshots, seen: Latest, dataset: str) -> Frame:
    return snapshots.frame(seen.cluster, dataset, seen.taken_at)


def _named(frame: Frame, column: str, name: str) -> Frame:
    return frame.where(frame.strings(column).is_in([name]))


def _worst_status(rows: Frame, group: Row) -> str | None:
    """The status of the partition that the group's row calls its worst; None where it names none,
    or where that one's status is unknown."""
    at = rows.numbers("partition_id")
    worst = at.known & (at.values == group["worst_partition"])
    status: str | None = _first(
        _named(rows.where(worst), "topic", group["worst_topic"] or ""), "status"
    )
    return status


def _first(frame: Frame, column: str) -> Any:
    """The first value that is known; None where none is."""
    values = frame.columns[column]
    at = np.flatnonzero(values.known)[:1]
    return next(iter(values.take(at).to_list()), None)
