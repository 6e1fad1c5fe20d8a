# SPDX-License-Identifier: Apache-2.0
"""What is told of each group, and of each cluster's snapshot; unknown is absent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from prometheus_client.core import Metric

from kafka_lag import contract
from kafka_lag.contract import exposition
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.views.prometheus.families import Labelled, gauge, gauges
from kafka_lag.views.prometheus.taken import Taken

# Labels and their columns.
_GROUP = {exposition.LABEL_GROUP: "consumer_group"}
_INFO = {
    **_GROUP,
    exposition.LABEL_OWNER: "owner",
    exposition.LABEL_STATE: "group_state",
    exposition.LABEL_TYPE: "group_type",
    exposition.LABEL_PROTOCOL: "protocol",
}


def snapshot_families(parts: Sequence[Taken], now_ms: int) -> Iterator[Metric]:
    """How old each cluster's newest snapshot is, and whether it could be read."""
    labels = [[{exposition.LABEL_CLUSTER: part.cluster}] for part in parts]
    ages = [max(now_ms - part.taken_at, 0) / 1000 for part in parts]
    readable = [float(part.readable) for part in parts]
    told = "Age of the snapshot that all else is read from."
    yield gauge(exposition.SNAPSHOT_AGE, told, zip(labels, map(_one, ages), strict=True))
    told = "Whether that snapshot could be read: 1, or 0."
    yield gauge(exposition.SNAPSHOT_READABLE, told, zip(labels, map(_one, readable), strict=True))


def group_families(parts: Sequence[Taken], *, as_elsewhere: bool) -> Iterator[Metric]:
    """All of each group; `as_elsewhere` adds what kafka_exporter tells of a group."""
    rows = [Labelled.of(part.cluster, part.groups, _GROUP) for part in parts]
    yield _info(parts)
    for family, (column, told) in exposition.GROUP_STATUSES.items():
        numbers = [(r.labels, _severity(r.frame.strings(column))) for r in rows]
        yield gauge(family, told, numbers)
    yield from gauges(rows, exposition.GROUP_GAUGES)
    if as_elsewhere:
        members = {exposition.GROUP_MEMBERS_AS_ELSEWHERE: ("members", "Live members of the group.")}
        yield from gauges(rows, members)


def _info(parts: Sequence[Taken]) -> Metric:
    rows = [Labelled.of(part.cluster, part.groups, _INFO) for part in parts]
    ones = [(r.labels, Column.of(np.ones(len(r.frame)))) for r in rows]
    told = "Always 1; what the user and Kafka say of the group."
    return gauge(exposition.GROUP_INFO, told, ones)


def _one(value: float) -> Column:
    return Column.of([value])


def _severity(status: Strings) -> Column:
    codes = status.codes_in(tuple(contract.GROUP_STATUS_VALUES))
    numbers = np.array(tuple(contract.GROUP_STATUS_VALUES.values()))
    return Column(numbers[codes.values], codes.known)
