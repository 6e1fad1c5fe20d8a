# SPDX-License-Identifier: Apache-2.0
"""The groups' part of the page: who is ill, how far behind, how old, who will lose data."""

from __future__ import annotations

from collections.abc import Iterator

from aws_cdk import aws_cloudwatch as cloudwatch

from kafka_lag import contract
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.document import LevelsSection
from kafka_lag_cdk.dashboard.search import Searches
from kafka_lag_cdk.dashboard.widgets import (
    MOST_NAMED,
    THIRD,
    WHOLE,
    Row,
    graph,
    heading,
    rows_of,
    titled,
)
from kafka_lag_cdk.metrics import LagMetrics

_SECONDS, _RECORDS, _RATE = "seconds", "records", "records a second"
_HOUR = 3_600.0
# The risk begins half-way up; the 30 days of what is at none would press it to the ground.
_HORIZONS_SHOWN = 2

# Titles and units of metrics that are published where this key of `levels` says so.
_CHOSEN = {
    "members": ("Members by group", None),
    "rebalancing": ("Rebalancing by group: 1 while it does", None),
    "drain_time": ("Time to drain by group", _SECONDS),
    "rates": ("Produce against consume by group", _RATE),
}
# Where a graph has more than one metric, what stands before the group's name in its legend.
_LEGENDS = {contract.PRODUCE_RATE: "produce", contract.CONSUME_RATE: "consume"}


def group_rows(cluster: Cluster, metrics: LagMetrics) -> list[Row]:
    """What is watched of all groups, then the groups with a service level."""
    levels, searches = cluster.levels, Searches(metrics)
    promised = _promises(cluster)
    return [
        heading("Groups"),
        [_status(searches)],
        [
            _lag("group", searches.of_groups(contract.OFFSET_LAG)),
            _age("group", searches.of_groups(contract.ESTIMATED_TIME_LAG), _levels(promised)),
        ],
        *_by_topic(levels, searches),
        [_loss(cluster.risk_horizon_hours, searches)],
        *_chosen(levels, searches),
        *_sla_used(cluster, searches),
        *_promised(promised, metrics),
    ]


def _status(searches: Searches) -> cloudwatch.IWidget:
    return graph(
        "Status by group: 0 OK, 1 WARN, 2 ERR",
        searches.of_groups(contract.GROUP_STATUS),
        width=WHOLE,
        most=max(contract.GROUP_STATUS_VALUES.values()),
    )


def _lag(by: str, line: cloudwatch.IMetric) -> cloudwatch.IWidget:
    return graph(f"Lag by {by}", line, unit=_RECORDS)


def _age(by: str, line: cloudwatch.IMetric, marks: list[tuple[str, float]]) -> cloudwatch.IWidget:
    return graph(f"Time lag by {by}", line, unit=_SECONDS, marks=marks)


def _by_topic(levels: LevelsSection, searches: Searches) -> list[Row]:
    if not levels.topics:
        return []
    by = "group and topic"
    lag = _lag(by, searches.of_topics(contract.OFFSET_LAG))
    return [[lag, _age(by, searches.of_topics(contract.ESTIMATED_TIME_LAG), [])]]


def _loss(horizon_hours: float, searches: Searches) -> cloudwatch.IWidget:
    horizon = horizon_hours * _HOUR
    return graph(
        "Retention risk: time until unread records are deleted (no line: none soon, or unknown)",
        searches.of_groups_lowest(contract.TIME_TO_DATA_LOSS),
        width=WHOLE,
        unit=_SECONDS,
        most=_HORIZONS_SHOWN * horizon,
        marks=[("at risk below", horizon)],
    )


def _chosen(levels: LevelsSection, searches: Searches) -> list[Row]:
    graphs = []
    for key, (title, unit) in _CHOSEN.items():
        if getattr(levels, key):
            names = contract.CHOSEN_METRICS[key]
            lines = [searches.of_groups(name, _LEGENDS.get(name, "")) for name in names]
            graphs.append(graph(title, *lines, width=THIRD, unit=unit))
    return rows_of(graphs, 3)


def _sla_used(cluster: Cluster, searches: Searches) -> list[Row]:
    if not cluster.sla_seconds:
        return []
    line = searches.of_groups(contract.SLA_USED)
    title = "Time lag as a share of the service level, by group"
    return [[graph(title, line, width=WHOLE, marks=[("broken above", 1)])]]


def _promises(cluster: Cluster) -> dict[str, float]:
    """The time lag that is promised for each named group that has a service level."""
    found = {name: cluster.sla_of(name) for name in cluster.named_groups}
    return {name: seconds for name, seconds in found.items() if seconds is not None}


def _levels(promised: dict[str, float]) -> list[tuple[str, float]]:
    """A mark for each service level that there is, with the groups that it is of."""
    return [
        (titled(", ".join(name for name, each in promised.items() if each == seconds)), seconds)
        for seconds in sorted(set(promised.values()))[:MOST_NAMED]
    ]


def _promised(promised: dict[str, float], metrics: LagMetrics) -> Iterator[Row]:
    """A graph for each group that has a service level, with a line where that is."""
    graphs = [
        graph(
            titled(name),
            metrics.of_group(contract.ESTIMATED_TIME_LAG, name),
            width=THIRD,
            unit=_SECONDS,
            marks=[("service level", seconds)],
        )
        for name, seconds in promised.items()
    ][:MOST_NAMED]
    if graphs:
        yield heading("Time lag against the service level")
    yield from rows_of(graphs, 3)
