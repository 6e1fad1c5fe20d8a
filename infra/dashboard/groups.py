# SPDX-License-Identifier: Apache-2.0
"""The groups' part of the page: who is ill, how far behind, how old, who will lose data."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from functions import contract
from functions.sinks.names import dimension_value
from infra.config.document import sla_seconds
from infra.config.parts.cluster import Cluster
from infra.config.parts.scaling import Scaling
from infra.dashboard.search import Searches
from infra.dashboard.widgets import HALF, THIRD, WHOLE, Row, graph, heading, rows_of
from infra.metrics import LagMetrics

# Widgets of named groups, well within the 500 that a dashboard may have.
MOST_NAMED = 60

_LONGEST_TITLE = 60
_SECONDS, _RECORDS = "seconds", "records"
_HOUR = 3_600.0


def group_rows(cluster: Cluster, metrics: LagMetrics) -> list[Row]:
    """What is watched of all groups, then the groups with a service level, then the services."""
    searches = Searches(metrics)
    lag, age = contract.OFFSET_LAG, contract.ESTIMATED_TIME_LAG
    worst = max(contract.GROUP_STATUS_VALUES.values())
    rows: list[Row] = [
        heading("Groups"),
        [
            graph(
                "Status by group: 0 OK, 1 WARN, 2 ERR",
                searches.of_groups(contract.GROUP_STATUS),
                width=WHOLE,
                most=worst,
            )
        ],
        [
            graph("Lag by group", searches.of_groups(lag), unit=_RECORDS),
            graph("Time lag by group", searches.of_groups(age), unit=_SECONDS),
        ],
    ]
    if cluster.collector.get("levels", {}).get("topics", True):
        rows.append(
            [
                graph("Lag by group and topic", searches.of_topics(lag), unit=_RECORDS),
                graph("Time lag by group and topic", searches.of_topics(age), unit=_SECONDS),
            ]
        )
    rows.append([_loss(cluster, searches)])
    return [*rows, *_promised(cluster, metrics), *_scaled(cluster, metrics)]


def _loss(cluster: Cluster, searches: Searches) -> cloudwatch.IWidget:
    horizon = float(cluster.collector.get("risk_horizon_hours", 24.0)) * _HOUR
    return graph(
        "Retention risk: time until unread records are deleted (low is bad, 30 days: no risk)",
        searches.of_groups_lowest(contract.TIME_TO_DATA_LOSS),
        width=WHOLE,
        unit=_SECONDS,
        marks=[("at risk below", horizon)],
    )


def _promised(cluster: Cluster, metrics: LagMetrics) -> list[Row]:
    """A graph for each named group that has a service level, with a line where that is."""
    promised = [(name, sla_seconds(cluster, name)) for name in cluster.named_groups]
    graphs = [
        graph(
            _title(name),
            metrics.of_group(contract.ESTIMATED_TIME_LAG, name),
            width=THIRD,
            unit=_SECONDS,
            marks=[("service level", seconds)],
        )
        for name, seconds in promised
        if seconds is not None
    ][:MOST_NAMED]
    return [heading("Time lag against the service level"), *rows_of(graphs, 3)] if graphs else []


def _scaled(cluster: Cluster, metrics: LagMetrics) -> list[Row]:
    graphs = [_followed(scaling, metrics) for scaling in cluster.scaling][:MOST_NAMED]
    return [heading("Services scaled by lag"), *rows_of(graphs, 2)] if graphs else []


def _followed(scaling: Scaling, metrics: LagMetrics) -> cloudwatch.IWidget:
    """What drives a service, with what it is compared with, and the tasks that run."""
    marks: list[tuple[str, float]] = []
    if scaling.steps:
        marks = [(f"+{step.add}", step.above) for step in scaling.steps.out]
        marks.append((f"-{scaling.steps.remove} below", scaling.steps.below))
    if scaling.tracking:
        marks = [("target", scaling.tracking.lag_per_member)]
    return graph(
        _title(f"{scaling.service}: {scaling.metric}"),
        metrics.of_group(scaling.metric, scaling.group),
        width=HALF,
        marks=marks,
        right=[_tasks(scaling)],
    )


def _tasks(scaling: Scaling) -> cloudwatch.IMetric:
    """Running tasks: each gives ECS one sample a minute, which needs no Container Insights."""
    return cloudwatch.Metric(
        namespace="AWS/ECS",
        metric_name="CPUUtilization",
        dimensions_map={"ClusterName": scaling.ecs_cluster, "ServiceName": scaling.service},
        statistic="SampleCount",
        period=Duration.minutes(1),
        label="tasks",
    )


def _title(text: str) -> str:
    shown = dimension_value(text)
    return shown if len(shown) <= _LONGEST_TITLE else f"{shown[: _LONGEST_TITLE - 3]}..."
