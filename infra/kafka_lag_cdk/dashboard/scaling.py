# SPDX-License-Identifier: Apache-2.0
"""The services' part of the page: what drives each, how many tasks run, what its alarms say."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.scaling import Scaling
from kafka_lag_cdk.dashboard.widgets import (
    MOST_NAMED,
    Row,
    alarm_states,
    graph,
    heading,
    rows_of,
    titled,
)
from kafka_lag_cdk.metrics import LagMetrics


def scaling_rows(
    cluster: Cluster, metrics: LagMetrics, alarms: Sequence[cloudwatch.IAlarm]
) -> list[Row]:
    """A graph a service and the states of their `alarms`, nothing where none is scaled."""
    graphs = [_followed(scaling, metrics) for scaling in cluster.scaling][:MOST_NAMED]
    if not graphs:
        return []
    states = alarm_states("Scale-in is in ALARM whenever there is little to do", alarms)
    return [heading("Services scaled by lag"), *rows_of(graphs, 2), *states]


def _followed(scaling: Scaling, metrics: LagMetrics) -> cloudwatch.IWidget:
    """What drives a service, with what it is compared with, and the tasks that run."""
    marks: list[tuple[str, float]] = []
    if scaling.steps:
        marks = [(f"+{step.add}", step.above) for step in scaling.steps.out]
        marks.append((f"-{scaling.steps.remove} below", scaling.steps.below))
    if scaling.tracking:
        marks = [("target", scaling.tracking.lag_per_member)]
    return graph(
        titled(f"{scaling.service}: {scaling.metric}"),
        metrics.of_group(scaling.metric, scaling.group),
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
