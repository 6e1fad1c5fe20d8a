# SPDX-License-Identifier: Apache-2.0
"""The reporter's own part of the page: whether it runs, what it could not read, what it said."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs

from kafka_lag import contract
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.dashboard.widgets import THIRD, WHOLE, Row, graph, heading
from kafka_lag_cdk.metrics import MAXIMUM, LagMetrics

_MINUTE = Duration.minutes(1)
_SUM = "Sum"
_LOG_HEIGHT = 6

# Lines of metrics have no level; Lambda's own lines about a function that ended badly have none
# either and are found by their words.
QUERY_LINES = (
    "fields @timestamp, level, message",
    'filter level in ["WARNING", "ERROR", "CRITICAL"]'
    " or @message like /Task timed out|Runtime exited/",
    "sort @timestamp desc",
    "limit 50",
)


def reporter_rows(
    cluster: Cluster,
    metrics: LagMetrics,
    *,
    function: lambda_.IFunction,
    log_group: logs.ILogGroup,
) -> list[Row]:
    """Runs, then what they could not do, then the function and its warnings."""
    deadline = cluster.deadline_seconds
    return [
        heading("The reporter"),
        [
            _own(metrics, "Successful runs: 1 each", contract.COLLECTOR_SUCCESS),
            graph(
                "Duration of a run",
                metrics.of_reporter(contract.COLLECTOR_DURATION),
                width=THIRD,
                unit="seconds",
                marks=[("deadline", deadline)],
            ),
            _own(metrics, "Groups read", contract.GROUPS_READ),
        ],
        [
            _own(
                metrics,
                "Not read or not counted",
                contract.READ_ERRORS,
                contract.PARTITIONS_UNKNOWN,
                contract.PARTITIONS_UNCOMMITTED,
                contract.LAGS_CLAMPED,
            ),
            _own(metrics, "Metrics over the budget", contract.METRICS_OMITTED),
            _own(metrics, "Look-ups in the time index", contract.TIME_LAG_LOOKUPS),
        ],
        [_ended(function), _took(function), _dropped(function)],
        [_warnings(log_group)],
    ]


def _own(metrics: LagMetrics, title: str, *names: str) -> cloudwatch.IWidget:
    return graph(title, *(metrics.of_reporter(name) for name in names), width=THIRD)


def _ended(function: lambda_.IFunction) -> cloudwatch.IWidget:
    told = [_lambda(function, name, _SUM) for name in ("Invocations", "Errors")]
    return graph("Function: invocations, errors", *told, width=THIRD)


def _took(function: lambda_.IFunction) -> cloudwatch.IWidget:
    duration = _lambda(function, "Duration", MAXIMUM)
    return graph("Function: duration", duration, width=THIRD, unit="milliseconds")


def _dropped(function: lambda_.IFunction) -> cloudwatch.IWidget:
    told = [_lambda(function, name, _SUM) for name in ("Throttles", "AsyncEventsDropped")]
    return graph("Function: throttled, dropped", *told, width=THIRD)


def _lambda(function: lambda_.IFunction, name: str, statistic: str) -> cloudwatch.IMetric:
    return function.metric(name, statistic=statistic, period=_MINUTE)


def _warnings(log_group: logs.ILogGroup) -> cloudwatch.IWidget:
    return cloudwatch.LogQueryWidget(
        title="Warnings and errors",
        log_group_names=[log_group.log_group_name],
        query_lines=list(QUERY_LINES),
        width=WHOLE,
        height=_LOG_HEIGHT,
    )
