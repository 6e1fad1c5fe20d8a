# SPDX-License-Identifier: Apache-2.0
"""Reports in which every number that sinks read is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, TypeAlias

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import AnyColumn, Frame
from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.lag.model import LagReport, Problem, Snapshot
from tests.builders import NOON

_NUMBERS = {
    contract.LONG: np.int64,
    contract.INT: np.int32,
    contract.DOUBLE: np.float64,
    contract.TIMESTAMP: np.int64,
}
# Keys of levels with which every metric is published that has a value.
EVERYTHING: dict[str, Any] = {
    "max_offset_lag": True,
    "partition_groups": NameFilter(),
    "scaling": NameFilter(),
    # That of a report of distinct values.
    "releases": frozenset({"consumer_group"}),
    **dict.fromkeys(contract.CHOSEN_METRICS, True),
}
# Null of what was read and counts.
_REASONS = {"unread_reason", "uncounted"}

# Groups, and how many partitions they have of each topic.
Cluster: TypeAlias = Mapping[str, Mapping[str, int]]


def a_report(groups: Cluster, **rest: Any) -> LagReport:
    """Each partition lags by 1, so that a lag is a count of partitions; each age is a minute."""
    pairs = [
        (group, topic, size) for group, topics in groups.items() for topic, size in topics.items()
    ]
    parts = [(group, topic, at) for group, topic, size in pairs for at in range(size)]
    sizes = _integers([sum(topics.values()) for topics in groups.values()])
    of_pair = _integers([size for *_, size in pairs])
    numbered = _named(parts) | {"partition_id": _integers([at for *_, at in parts])}
    rows = numbered | _lags(_integers([1] * len(parts)))
    result = {
        "snapshot": replace(
            Snapshot.empty(),
            group_partitions=Frame.of(rows).completed(contract.GROUP_PARTITIONS),
            groups=_groups(Strings.of(groups), sizes),
        ),
        "group_topics": Frame.of(_named(pairs) | _lags(of_pair) | {"max_lag": of_pair}),
        "scaling": Frame.of({"consumer_group": Strings.of(groups), "scaling_lag": sizes}),
        "lags_clamped": 0,
        "look_ups": 0,
        "problems": (),
    }
    return LagReport(**{**result, **rest})


def a_report_of_distinct_values() -> LagReport:
    """One group, topic and partition; no number stands in two columns of any frame."""
    numbers = count(11)
    groups = {"group_state": contract.REBALANCING_STATES[0], "status": contract.ERR}
    pair = ("consumer_group", "topic", "lag", "max_lag", "time_lag_seconds")
    columns = contract.GROUP_PARTITIONS
    return a_report(
        {},
        snapshot=replace(
            Snapshot.empty(),
            group_partitions=_distinct(contract.COLUMNS[columns], numbers, {}).completed(columns),
            groups=_distinct(contract.COLUMNS[contract.GROUPS], numbers, groups).completed(
                contract.GROUPS
            ),
        ),
        group_topics=_distinct(
            {name: contract.COLUMNS[columns].get(name, contract.LONG) for name in pair},
            numbers,
            {},
        ),
        scaling=_distinct(
            {"consumer_group": contract.STRING, "scaling_lag": contract.LONG}, numbers, {}
        ),
        lags_clamped=next(numbers),
        look_ups=next(numbers),
        problems=(Problem("group", "h", contract.DENIED, "no right"),) * next(numbers),
    )


def _distinct(types: Mapping[str, str], numbers: Iterator[int], words: Mapping[str, str]) -> Frame:
    """A row in which each number is the next one, and a string its column's name."""
    row: dict[str, AnyColumn] = {}
    for name, kind in types.items():
        if kind == contract.STRING:
            word = words.get(name, None if name in _REASONS else name)
            row[name] = Strings.of([word])
        elif kind in _NUMBERS:
            row[name] = Column.of(np.array([next(numbers)], _NUMBERS[kind]))
        elif kind == contract.BOOLEAN:
            row[name] = Column.of(np.array([True]))
    return Frame.of(row)


def with_groups(report: LagReport, **columns: AnyColumn) -> LagReport:
    """The same report, these columns of its groups other than they were."""
    groups = report.snapshot.groups.with_columns(**columns)
    return replace(report, snapshot=replace(report.snapshot, groups=groups))


def _groups(names: Strings, lags: Column) -> Frame:
    minutes, ones = (Column.of(np.full(len(names), value)) for value in (60.0, 1))
    columns: dict[str, AnyColumn] = {
        # whatever a metric may be read from; no group has a service level
        **{
            name: Column.of(np.ones(len(names), _NUMBERS[kind]))
            for name, kind in contract.COLUMNS[contract.GROUPS].items()
            if kind in _NUMBERS and name != "sla_seconds"
        },
        "consumer_group": names,
        **_lags(lags),
        "read_at": Column.of(np.full(len(names), NOON)),
        "group_state": Strings.constant("Stable", len(names)),
        **dict.fromkeys(("members", "partitions_unknown", "partitions_uncommitted"), ones),
        **dict.fromkeys(("drain_seconds", "seconds_until_loss"), minutes),
        **dict.fromkeys(("produce_rate", "consume_rate"), minutes),
        "unusual": Column.of(np.zeros(len(names), bool)),
        "status": Strings.constant(contract.OK, len(names)),
    }
    return Frame.of(columns).completed(contract.GROUPS)


def _named(rows: Sequence[tuple[str, str, int]]) -> dict[str, AnyColumn]:
    return {
        "consumer_group": Strings.of(group for group, *_ in rows),
        "topic": Strings.of(topic for _, topic, _ in rows),
    }


def _lags(lags: Column) -> dict[str, AnyColumn]:
    return {"lag": lags, "time_lag_seconds": Column.of(np.full(len(lags), 60.0))}


def _integers(values: Sequence[int]) -> Column:
    return Column.of(np.array(values, np.int64))
