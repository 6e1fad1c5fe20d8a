# SPDX-License-Identifier: Apache-2.0
"""Metric sets: the published values, one set per combination of dimensions, unknown absent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Strings
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.held import find_sla_used
from kafka_lag.lag.model import LagReport
from kafka_lag.lag.previous_rows import is_read
from kafka_lag.sinks.budget import Plan, match_names
from kafka_lag.sinks.config import Levels

# Decimal digits of seconds and shares: milliseconds.
_DIGITS = 3
_DIMENSIONS = {
    contract.DIMENSION_GROUP: "consumer_group",
    contract.DIMENSION_TOPIC: "topic",
    contract.DIMENSION_PARTITION: "partition_id",
}


@dataclass(frozen=True, slots=True)
class MetricSet:
    """Metrics that share their dimensions; the dimension values are Kafka's own names."""

    dimensions: tuple[tuple[str, str], ...]
    values: tuple[tuple[str, float], ...]


class Sink(Protocol):
    """A destination of metrics."""

    def publish(self, sets: list[MetricSet], taken_at: int, seconds: float, /) -> None:
        """Publishes all sets at the scheduled time, ms UTC.

        Gives up after `seconds` on the sets that are left. Raises SinkError.
        """


@dataclass(frozen=True, slots=True)
class ConfiguredSink:
    """A sink and the levels of its metrics; `key` is their place in the configuration."""

    sink: Sink
    levels: Levels
    key: str = "levels"


def lag_sets(report: LagReport, plan: Plan, levels: Levels, cluster: str) -> list[MetricSet]:
    """Returns the sets of groups, then topics, then partitions, if planned and known."""
    groups = report.snapshot.groups.lazy_where(plan.groups)
    pairs = report.group_topics.lazy_where(plan.topics)
    rows = report.snapshot.group_partitions.lazy_where(plan.partitions)
    pair_values = _lags(pairs)
    if levels.max_offset_lag:
        pair_values[contract.MAX_OFFSET_LAG] = pairs.numbers("max_lag")
    return [
        *_sets(groups, cluster, _group_values(groups, report.scaling, levels)),
        *_sets(pairs, cluster, pair_values),
        *_sets(rows, cluster, _lags(rows)),
    ]


def health_set(report: LagReport, omitted: int, cluster: str, seconds: float) -> MetricSet:
    """Returns the reporter's own health, without CollectorSuccess, which is published last.

    `omitted` is how many metrics the fullest budget of all sinks leaves out, because the alarm on
    it sees one sink alone.
    """
    groups = report.snapshot.groups
    return MetricSet(
        ((contract.DIMENSION_CLUSTER, cluster),),
        (
            (contract.COLLECTOR_DURATION, round(seconds, _DIGITS)),
            (contract.GROUPS_READ, count_groups_read(report)),
            (contract.PARTITIONS_UNKNOWN, _sum(groups.numbers("partitions_unknown"))),
            (contract.PARTITIONS_UNCOMMITTED, _sum(groups.numbers("partitions_uncommitted"))),
            (contract.PARTITIONS_UNDATED, _count_undated(report.snapshot.group_partitions)),
            (contract.READ_ERRORS, len(report.problems)),
            (contract.LAGS_CLAMPED, report.lags_clamped),
            (contract.TIME_LAG_LOOKUPS, report.look_ups),
            (contract.METRICS_OMITTED, omitted),
        ),
    )


def _count_undated(rows: Frame) -> int:
    """Returns how many group-partitions with a lag are OK without a known bound of their age."""
    is_ok = rows.strings("status").is_in([contract.OK]) & (rows.numbers("lag") > 0)
    return int((is_ok & ~rows.numbers("time_lag_error_seconds").known).sum())


def count_groups_read(report: LagReport) -> int:
    """Returns how many groups' commits were read."""
    groups = report.snapshot.groups
    return int(groups.numbers("read_at").only(_is_read_now(groups)).known.sum())


def success_set(cluster: str) -> MetricSet:
    """Returns the heartbeat of a run that read, published and stored everything it should."""
    dimensions = ((contract.DIMENSION_CLUSTER, cluster),)
    return MetricSet(dimensions, ((contract.COLLECTOR_SUCCESS, 1),))


def _is_read_now(groups: Frame) -> Mask:
    """Returns a mask of groups whose commits were read now.

    Groups that are gone or of an unsupported type are not among them.
    """
    gone = groups.strings("status_reason").is_in(contract.LAST_ROW_REASONS)
    mask: Mask = is_read(groups) & ~gone
    return mask


def _lags(frame: Frame) -> dict[str, Column]:
    return {
        contract.OFFSET_LAG: frame.numbers("lag"),
        contract.ESTIMATED_TIME_LAG: frame.numbers("time_lag_seconds"),
    }


def _group_values(groups: Frame, scaling: Frame, levels: Levels) -> dict[str, Column]:
    values = _lags(groups)
    values[contract.GROUP_STATUS] = number_status(groups.strings("status"))
    values[contract.TIME_TO_DATA_LOSS] = groups.numbers("seconds_until_loss")
    names, members = groups.strings("consumer_group"), groups.numbers("members")
    lag = scaling.numbers("scaling_lag").take(locate(groups, scaling, contract.GROUP_KEY))
    scaled = match_names(names, levels.scaling)
    lag = lag.only(scaled)
    values[contract.SCALING_LAG] = lag
    values[contract.SCALING_LAG_PER_MEMBER] = lag / members.clip(1)
    values[contract.TASKS_NEEDED] = groups.numbers("tasks_needed").only(scaled)
    values[contract.RELEASE_RISK] = groups.numbers("release_risk").only(
        names.is_in(levels.releases)
    )
    values[contract.SLA_USED] = find_sla_used(groups)
    chosen = {
        contract.ESTIMATED_DRAIN_TIME: groups.numbers("drain_seconds"),
        contract.MEMBERS: members,
        contract.REBALANCING: _rebalancing(groups.strings("group_state")),
        contract.PRODUCE_RATE: groups.numbers("produce_rate"),
        contract.CONSUME_RATE: groups.numbers("consume_rate"),
        contract.UNUSUAL: _as_number(groups.numbers("unusual")),
    }
    return values | {name: chosen[name] for name in levels.chosen_metrics}


def number_status(status: Strings) -> Column:
    """Returns the statuses as the numbers of GroupStatus; unknown stays unknown."""
    codes = status.codes_in(tuple(contract.GROUP_STATUS_VALUES))
    return Column(np.array(tuple(contract.GROUP_STATUS_VALUES.values()))[codes.values], codes.known)


def _rebalancing(state: Strings) -> Column:
    return Column(state.is_in(contract.REBALANCING_STATES).astype(np.int64), state.known)


def _as_number(truth: Column) -> Column:
    return Column(truth.values.astype(np.int64), truth.known)


def _sets(frame: Frame, cluster: str, values: Mapping[str, Column]) -> Iterator[MetricSet]:
    """Yields a set for each row with a value, under the dimensions whose names the frame holds."""
    present = {dim: name for dim, name in _DIMENSIONS.items() if name in frame}
    keys = [
        [(dim, str(key)) for key in frame.columns[name].to_list()] for dim, name in present.items()
    ]
    # Whole columns at a time, because there are tens of thousands of rows.
    columns = [
        [None if value is None else (name, value) for value in _round_known(column)]
        for name, column in values.items()
    ]
    of_cluster = [(contract.DIMENSION_CLUSTER, cluster)] * len(frame)
    rows = zip(zip(of_cluster, *keys, strict=True), zip(*columns, strict=True), strict=True)
    for names, row in rows:
        if known := tuple(filter(None, row)):
            yield MetricSet(names, known)


def _round_known(column: Column) -> list[Any]:
    """Returns the values as published: NaN, infinity and negative values are unknown."""
    good = column.known & np.isfinite(column.values) & (column.values >= 0)
    return [None if v is None else round(v, _DIGITS) for v in column.only(good).to_list()]


def _sum(column: Column) -> int:
    return int(column.values[column.known].sum())
