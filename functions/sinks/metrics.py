# SPDX-License-Identifier: Apache-2.0
"""What is published, as data: one metric set per combination of dimensions, unknown absent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from functions import contract
from functions.lag.columns import Column, Mask
from functions.lag.frame import Frame
from functions.lag.model import LagReport
from functions.sinks.budget import Levels, Plan


@dataclass(frozen=True, slots=True)
class MetricSet:
    """Metrics that share their dimensions; the dimension values are names as Kafka has them."""

    dimensions: tuple[tuple[str, str], ...]
    values: tuple[tuple[str, float], ...]


class Sink(Protocol):
    """Somewhere metrics go."""

    def publish(self, sets: list[MetricSet], taken_at: int) -> None:
        """Publishes all sets at the scheduled time, ms UTC. Raises SinkError."""


def lag_sets(report: LagReport, plan: Plan, levels: Levels, cluster: str) -> list[MetricSet]:
    """Groups, then topics, then partitions, as far as planned and known."""
    snapshot = report.snapshot
    pairs = (
        [(contract.OFFSET_LAG, "lag"), (contract.MAX_OFFSET_LAG, "max_lag")]
        if levels.max_offset_lag
        else [(contract.OFFSET_LAG, "lag")]
    )
    lag = [(contract.OFFSET_LAG, "lag")]
    rows = snapshot.group_partitions.where(plan.partitions)
    return [
        *_sets(snapshot.groups.where(plan.groups), cluster, lag),
        *_sets(report.group_topics.where(plan.topics), cluster, pairs),
        *_sets(rows, cluster, lag),
    ]


def health_set(report: LagReport, plan: Plan, cluster: str, seconds: float) -> MetricSet:
    """The reporter's own health, without CollectorSuccess: that is said last, by itself."""
    groups = report.snapshot.groups
    return MetricSet(
        ((contract.DIMENSION_CLUSTER, cluster),),
        (
            (contract.COLLECTOR_DURATION, round(seconds, 3)),
            (contract.GROUPS_READ, int(groups.numbers("read_at").only(_read(groups)).known.sum())),
            (contract.PARTITIONS_UNKNOWN, _sum(groups.numbers("partitions_unknown"))),
            (contract.PARTITIONS_UNCOMMITTED, _sum(groups.numbers("partitions_uncommitted"))),
            (contract.READ_ERRORS, len(report.problems)),
            (contract.LAGS_CLAMPED, report.lags_clamped),
            (contract.METRICS_OMITTED, plan.omitted),
        ),
    )


def _read(groups: Frame) -> Mask:
    """Groups whose commits were read now: not those gone, nor those of an unsupported type."""
    gone = groups.words("status_reason").is_in([contract.GONE])
    mask: Mask = ~groups.words("unread_reason").known & ~gone
    return mask


def success_set(cluster: str) -> MetricSet:
    """The heartbeat: a run that read, published and kept everything it should."""
    dimensions = ((contract.DIMENSION_CLUSTER, cluster),)
    return MetricSet(dimensions, ((contract.COLLECTOR_SUCCESS, 1),))


def _sets(frame: Frame, cluster: str, metrics: list[tuple[str, str]]) -> Iterator[MetricSet]:
    names = {
        contract.DIMENSION_GROUP: "consumer_group",
        contract.DIMENSION_TOPIC: "topic",
        contract.DIMENSION_PARTITION: "partition_id",
    }
    present = [(dimension, name) for dimension, name in names.items() if name in frame]
    keys = [frame.columns[name].to_list() for _, name in present]
    columns = [frame.numbers(column).to_list() for _, column in metrics]
    for row in range(len(frame)):
        values = tuple(
            (metric, column[row])
            for (metric, _), column in zip(metrics, columns, strict=True)
            if column[row] is not None
        )
        if values:
            dimensions = tuple(
                (dimension, str(key[row]))
                for (dimension, _), key in zip(present, keys, strict=True)
            )
            yield MetricSet(((contract.DIMENSION_CLUSTER, cluster), *dimensions), values)


def _sum(column: Column) -> int:
    return int(column.values[column.known].sum())
