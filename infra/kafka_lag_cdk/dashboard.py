# SPDX-License-Identifier: Apache-2.0
"""The CloudWatch dashboard of a cluster: groups, scaled services, the reporter, the brokers.

Groups, topics and brokers are found by a search when somebody looks, so that new ones need no
deploy. A search finds metrics with data in the last two weeks and returns 500 at most [CloudWatch
user guide, "CloudWatch search expression syntax"]; the worst lines of those are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag_cdk.metrics import MAXIMUM, LagMetrics
from kafka_lag_cdk.names import dashboard_name
from kafka_lag_config.alarm_rules import BUSY_PERCENT, FULL_PERCENT, MSK
from kafka_lag_config.facts import ClusterFacts, FollowingService

# A row of the page, which has 24 columns.
Row = list[cloudwatch.IWidget]
# A horizontal line in a graph: its label and its value.
Mark = tuple[str, float]

_WHOLE, _HALF, _THIRD = 24, 12, 8
_HEIGHT = 6
_TIME_RANGE = Duration.hours(3)
# More lines cannot be distinguished.
_MOST_LINES = 50
# Widgets of named groups or services, well within the 500 that a dashboard may have.
_MOST_NAMED = 60
_LONGEST_TITLE = 60
# A widget takes a hundred alarms [CloudWatch API reference, "Dashboard body structure"].
_ALARMS_IN_A_WIDGET, _ALARMS_IN_A_LINE = 100, 6

_SECONDS, _RECORDS, _RATE, _PERCENT = "seconds", "records", "records a second", "percent"
_MINUTE = Duration.minutes(1)

_BY_GROUP = (contract.DIMENSION_CLUSTER, contract.DIMENSION_GROUP)
_BY_TOPIC = (*_BY_GROUP, contract.DIMENSION_TOPIC)

# Titles and units of metrics that are published where this key of `levels` says so.
_SWITCHED_METRICS = {
    "members": ("Members by group", None),
    "rebalancing": ("Rebalancing by group: 1 while it does", None),
    "drain_time": ("Time to drain by group", _SECONDS),
    "rates": ("Produce against consume by group", _RATE),
    "unusual": ("Unusual by group: 1 where it is", None),
}
# Where a graph has more than one metric, what stands before the group's name in its legend.
_LEGENDS = {contract.PRODUCE_RATE: "produce", contract.CONSUME_RATE: "consume"}

# The risk begins half-way up; the 30 days of what is at none would press it to the ground.
_HORIZONS_SHOWN = 2

# Graphs of classic metrics, which other groups do not have.
_NAMED_GROUPS = (
    "Groups that alarms or scaling name; all others: CloudWatch's Query Studio, by PromQL"
)

_BY_BROKER = (contract.DIMENSION_CLUSTER, "Broker ID")
_WHOLE_PERCENT = 100.0

_MEANING = """
| | | in `docs/metrics.md` |
|---|---|---|
| **Lag** | records between what a group committed and the end of the log | `#offsetlag` |
| **Time lag** | the **age** of the next record that the group will read; MSK's metric of that \
name is the time to work the lag off | `#estimatedtimelag` |
| **Status** | 0 OK, 1 WARN (not catching up), 2 ERR (stopped, stalled, rewound, or records lost) \
| `#groupstatus` |
| **Retention risk** | seconds until retention deletes something unread; above its graph, \
2,592,000 (30 days), when nothing is at risk | `#timetodataloss` |
| **No line** | unknown, which is never shown as 0; of *consume* also at a reset \
| `#consumerate-and-resets` |
"""

# Lines of metrics have no level; Lambda's own lines about a function that ended badly have none
# either and are found by their words.
_WARNINGS_QUERY = (
    "fields @timestamp, level, message",
    'filter level in ["WARNING", "ERROR", "CRITICAL"]'
    " or @message like /Task timed out|Runtime exited/",
    "sort @timestamp desc",
    "limit 50",
)


def make_dashboard(
    scope: Construct,
    *,
    cluster: ClusterFacts,
    function: lambda_.IFunction,
    log_group: logs.ILogGroup,
    alarms: Sequence[cloudwatch.IAlarm],
    scaling_alarms: Sequence[cloudwatch.IAlarm],
    name: str,
    workgroup: str | None,
) -> cloudwatch.Dashboard:
    """Makes the dashboard of `cluster`, with the health of its collector's `function`.

    `alarms` are shown with their states, first of all; `scaling_alarms` beside the services, as
    one of them is in ALARM whenever there is little to do. MSK's own metrics of brokers are there
    where the cluster's ARN has its name, but not of MSK Serverless, which shows no brokers.
    `name` is the deployment's, `workgroup` Athena's, None where there is none.
    """
    metrics = LagMetrics(cluster)
    header = _header(cluster, log_group=log_group.log_group_name, workgroup=workgroup)
    return cloudwatch.Dashboard(
        scope,
        "Dashboard",
        dashboard_name=dashboard_name(cluster.name, name),
        default_interval=_TIME_RANGE,
        widgets=[
            [cloudwatch.TextWidget(markdown=header, width=_WHOLE, height=_HEIGHT)],
            *_alarm_states("Alarms", alarms),
            *_group_rows(cluster, metrics),
            *_scaling_rows(cluster, metrics, scaling_alarms),
            *_reporter_rows(cluster, metrics, function, log_group),
            *_broker_rows(cluster),
        ],
    )


def _header(cluster: ClusterFacts, *, log_group: str, workgroup: str | None) -> str:
    """Returns the header in Markdown; the name is code, because it may hold underscores."""
    minutes = cluster.settings.interval_minutes
    every = "every minute" if minutes == 1 else f"every {minutes} minutes"
    places = [f"Log: `{log_group}`"]
    if workgroup is not None:
        places.append(f"Athena's workgroup: `{workgroup}`")
    places.append("what each alarm asks for: `docs/alarms.md#all-alarms`")
    return (
        f"# Consumer lag on `{cluster.name}`\n"
        f"Read {every}. Each graph shows its worst {_MOST_LINES} lines. "
        f"{' | '.join(places)}\n"
        f"{_MEANING}"
    )


def _group_rows(cluster: ClusterFacts, metrics: LagMetrics) -> list[Row]:
    """Returns rows on statuses, lag, time lag and near losses; then groups with an SLA."""
    service_levels = {
        group: seconds
        for group in cluster.named_groups
        if (seconds := cluster.settings.sla_of(group)) is not None
    }
    status = _graph(
        "Status by group: 0 OK, 1 WARN, 2 ERR",
        _search(metrics, contract.GROUP_STATUS),
        width=_WHOLE,
        maximum=max(contract.GROUP_STATUS_VALUES.values()),
    )
    horizon = cluster.settings.risk_horizon_hours * 3_600.0
    retention_risk = _graph(
        "Retention risk: time until unread records are deleted (no line: none soon, or unknown)",
        _search(metrics, contract.TIME_TO_DATA_LOSS, lowest=True),
        width=_WHOLE,
        unit=_SECONDS,
        maximum=_HORIZONS_SHOWN * horizon,
        marks=[("at risk below", horizon)],
    )
    by_topic = [_lag_row(metrics, "group and topic", _BY_TOPIC)]
    return [
        _heading(_NAMED_GROUPS if cluster.settings.by_otlp else "Groups"),
        [status],
        _lag_row(metrics, "group", _BY_GROUP, _service_level_marks(service_levels)),
        *(by_topic if cluster.published_levels.topics else []),
        [retention_risk],
        *_switched_rows(cluster, metrics),
        *_service_level_rows(cluster, metrics, service_levels),
    ]


def _lag_row(
    metrics: LagMetrics, of: str, dimensions: Sequence[str], marks: Sequence[Mark] = ()
) -> Row:
    lag = _search(metrics, contract.OFFSET_LAG, dimensions)
    time_lag = _search(metrics, contract.ESTIMATED_TIME_LAG, dimensions)
    return [
        _graph(f"Lag by {of}", lag, unit=_RECORDS),
        _graph(f"Time lag by {of}", time_lag, unit=_SECONDS, marks=marks),
    ]


def _switched_rows(cluster: ClusterFacts, metrics: LagMetrics) -> list[Row]:
    """Returns graphs of the metrics that `levels` switch on."""
    graphs = []
    for key, (title, unit) in _SWITCHED_METRICS.items():
        if getattr(cluster.published_levels, key):
            lines = [
                _search(metrics, name, label=_LEGENDS.get(name, ""))
                for name in contract.CHOSEN_METRICS[key]
            ]
            graphs.append(_graph(title, *lines, width=_THIRD, unit=unit))
    return _in_rows(graphs, 3)


def _service_level_marks(service_levels: dict[str, float]) -> list[Mark]:
    """Returns a mark for each SLA, with the names of its groups."""
    return [
        (_title(", ".join(g for g, each in service_levels.items() if each == seconds)), seconds)
        for seconds in sorted(set(service_levels.values()))[:_MOST_NAMED]
    ]


def _service_level_rows(
    cluster: ClusterFacts, metrics: LagMetrics, service_levels: dict[str, float]
) -> list[Row]:
    """Returns the used share of all SLAs, and a graph with the SLA marked for each named group."""
    rows: list[Row] = []
    if cluster.settings.sla_seconds:
        title = "Time lag as a share of the service level, by group"
        used = _search(metrics, contract.SLA_USED)
        rows.append([_graph(title, used, width=_WHOLE, marks=[("broken above", 1)])])
    graphs = [
        _graph(
            _title(group),
            metrics.of_group(contract.ESTIMATED_TIME_LAG, group),
            width=_THIRD,
            unit=_SECONDS,
            marks=[("service level", seconds)],
        )
        for group, seconds in service_levels.items()
    ][:_MOST_NAMED]
    if graphs:
        rows.append(_heading("Time lag against the service level"))
    return rows + _in_rows(graphs, 3)


def _scaling_rows(
    cluster: ClusterFacts, metrics: LagMetrics, alarms: Sequence[cloudwatch.IAlarm]
) -> list[Row]:
    """Returns a graph for each service, and the states of their `alarms`."""
    graphs = [_service_graph(each, metrics) for each in cluster.services][:_MOST_NAMED]
    if not graphs:
        return []
    title = "In ALARM is how they act: tasks-needed always, scale-in whenever there is little to do"
    states = _alarm_states(title, alarms)
    return [_heading("Services scaled by lag"), *_in_rows(graphs, 2), *states]


def _service_graph(following: FollowingService, metrics: LagMetrics) -> cloudwatch.IWidget:
    """Returns a graph of a service's driving metric, its thresholds, and the running tasks."""
    service, scaling = following.service, following.scaling
    marks: list[Mark] = []
    if scaling.steps and not scaling.tasks:
        marks = [(f"+{step.add}", step.above) for step in scaling.steps.out]
        marks.append((f"-{scaling.steps.remove} below", scaling.steps.below))
    if scaling.tracking:
        marks = [("target", scaling.tracking.lag_per_member)]
    # Each running task gives ECS one sample a minute, which needs no Container Insights.
    tasks = cloudwatch.Metric(
        namespace="AWS/ECS",
        metric_name="CPUUtilization",
        dimensions_map={"ClusterName": service.cluster, "ServiceName": service.name},
        statistic="SampleCount",
        period=_MINUTE,
        label="tasks",
        account=service.account,
    )
    return _graph(
        _title(f"{service.name}: {scaling.metric}"),
        *(metrics.of_group(scaling.metric, group) for group in scaling.groups),
        marks=marks,
        right=[tasks],
    )


def _reporter_rows(
    cluster: ClusterFacts,
    metrics: LagMetrics,
    function: lambda_.IFunction,
    log_group: logs.ILogGroup,
) -> list[Row]:
    """Returns rows on the runs, what they could not do, the function, and its warnings."""

    def own(title: str, *names: str, **options: Any) -> cloudwatch.IWidget:
        lines = [metrics.of_reporter(name) for name in names]
        return _graph(title, *lines, width=_THIRD, **options)

    def of_lambda(
        title: str, *names: str, statistic: str = "Sum", unit: str | None = None
    ) -> cloudwatch.IWidget:
        lines = [function.metric(name, statistic=statistic, period=_MINUTE) for name in names]
        return _graph(title, *lines, width=_THIRD, unit=unit)

    deadline = [("deadline", cluster.settings.deadline_seconds)]
    return [
        _heading("The reporter"),
        [
            own("Successful runs: 1 each", contract.COLLECTOR_SUCCESS),
            own("Duration of a run", contract.COLLECTOR_DURATION, unit=_SECONDS, marks=deadline),
            own("Groups read", contract.GROUPS_READ),
        ],
        [
            own(
                "Not read or not counted",
                contract.READ_ERRORS,
                contract.PARTITIONS_UNKNOWN,
                contract.PARTITIONS_UNCOMMITTED,
                contract.PARTITIONS_UNDATED,
                contract.LAGS_CLAMPED,
            ),
            own("Metrics over the budget", contract.METRICS_OMITTED),
            own("Look-ups in the time index", contract.TIME_LAG_LOOKUPS),
        ],
        [
            of_lambda("Function: invocations, errors", "Invocations", "Errors"),
            of_lambda("Function: duration", "Duration", statistic=MAXIMUM, unit="milliseconds"),
            of_lambda("Function: throttled, dropped", "Throttles", "AsyncEventsDropped"),
        ],
        [
            cloudwatch.LogQueryWidget(
                title="Warnings and errors",
                log_group_names=[log_group.log_group_name],
                query_lines=list(_WARNINGS_QUERY),
                width=_WHOLE,
                height=_HEIGHT,
            )
        ],
    ]


def _broker_rows(cluster: ClusterFacts) -> list[Row]:
    """Returns MSK's free metrics: a full or busy broker often explains a slow consumer."""
    msk_name = cluster.reach.msk_name
    if msk_name is None or not cluster.reach.has_brokers:
        return []
    disk = _graph(
        "Disk used by data logs",
        _search_brokers("KafkaDataLogsDiskUsed", msk_name),
        width=_THIRD,
        unit=_PERCENT,
        maximum=_WHOLE_PERCENT,
        marks=[("act", FULL_PERCENT)],
    )
    processor = _graph(
        "Processor",
        _busiest(msk_name),
        _search_brokers("CpuUser", msk_name, "user"),
        _search_brokers("CpuSystem", msk_name, "system"),
        width=_THIRD,
        unit=_PERCENT,
        maximum=_WHOLE_PERCENT,
        marks=[("act", BUSY_PERCENT)],
    )
    partitions = _graph(
        "Partitions and controller",
        _msk_metric("OfflinePartitionsCount", msk_name),
        _msk_metric("ActiveControllerCount", msk_name),
        _search_brokers("UnderReplicatedPartitions", msk_name, "under-replicated"),
        width=_THIRD,
    )
    return [
        _heading("The brokers, as MSK reports them"),
        [*([disk] if cluster.has_disks else []), processor, partitions],
    ]


def _msk_metric(name: str, msk_name: str) -> cloudwatch.IMetric:
    """Returns MSK's own metric of the whole cluster, which it publishes every minute."""
    return cloudwatch.Metric(
        namespace=MSK,
        metric_name=name,
        dimensions_map={contract.DIMENSION_CLUSTER: msk_name},
        statistic=MAXIMUM,
        period=_MINUTE,
    )


def _busiest(msk_name: str) -> cloudwatch.IMetric:
    """Returns an upper bound of the busiest broker's processor: the sum of each metric's worst."""
    searches = [
        _search_expression(MSK, _BY_BROKER, name, msk_name) for name in ("CpuUser", "CpuSystem")
    ]
    return cloudwatch.MathExpression(
        expression=" + ".join(f"MAX({each})" for each in searches),
        using_metrics={},
        label="user + system, at most",
        period=_MINUTE,
    )


def _search(
    metrics: LagMetrics,
    name: str,
    dimensions: Sequence[str] = _BY_GROUP,
    *,
    label: str = "",
    lowest: bool = False,
) -> cloudwatch.IMetric:
    """Returns a search for the cluster's highest, or lowest, lines; a period is a run.

    `label` goes before what distinguishes a line from the others, by which CloudWatch names it.
    """
    found = _search_expression(metrics.namespace, dimensions, name, metrics.cluster_name)
    order = "MIN, ASC" if lowest else "MAX, DESC"
    return cloudwatch.SearchExpression(
        expression=f"SORT({found}, {order}, {_MOST_LINES})", label=label, period=metrics.period
    )


def _search_brokers(name: str, msk_name: str, label: str = "") -> cloudwatch.IMetric:
    """Returns a search for MSK's metric of each broker; `label` goes before the broker's id."""
    return cloudwatch.SearchExpression(
        expression=_search_expression(MSK, _BY_BROKER, name, msk_name),
        label=label,
        period=_MINUTE,
    )


def _search_expression(namespace: str, dimensions: Sequence[str], metric: str, cluster: str) -> str:
    """Returns a search for one cluster's metrics with exactly these dimensions.

    Everything is in double quotes, which makes a match exact: without them `orders` would find
    `orders-eu` as well. Namespace and cluster hold no quotes, as the configuration is checked.
    """
    schema = ",".join(f'"{name}"' for name in (namespace, *dimensions))
    terms = f'MetricName="{metric}" "{contract.DIMENSION_CLUSTER}"="{cluster}"'
    return f"SEARCH('{{{schema}}} {terms}', '{MAXIMUM}')"


def _graph(
    title: str,
    *lines: cloudwatch.IMetric,
    width: int = _HALF,
    unit: str | None = None,
    maximum: float | None = None,
    marks: Sequence[Mark] = (),
    right: Sequence[cloudwatch.IMetric] = (),
) -> cloudwatch.GraphWidget:
    """Returns a graph from 0 up to `maximum`, or as high as its lines if null."""
    return cloudwatch.GraphWidget(
        title=title,
        left=list(lines),
        right=list(right),
        width=width,
        height=_HEIGHT,
        left_y_axis=cloudwatch.YAxisProps(min=0, max=maximum, label=unit, show_units=False),
        right_y_axis=cloudwatch.YAxisProps(min=0) if right else None,
        left_annotations=[
            cloudwatch.HorizontalAnnotation(label=label, value=value) for label, value in marks
        ],
    )


def _heading(text: str) -> Row:
    return [cloudwatch.TextWidget(markdown=f"## {text}", width=_WHOLE, height=1)]


def _alarm_states(title: str, alarms: Sequence[cloudwatch.IAlarm]) -> list[Row]:
    """Returns the states of alarms, in as many widgets as they need."""
    size = _ALARMS_IN_A_WIDGET
    return [
        [
            cloudwatch.AlarmStatusWidget(
                title=title,
                alarms=list(part),
                width=_WHOLE,
                height=1 + -(-len(part) // _ALARMS_IN_A_LINE),
            )
        ]
        for part in (alarms[at : at + size] for at in range(0, len(alarms), size))
    ]


def _in_rows(widgets: Sequence[cloudwatch.IWidget], each: int) -> list[Row]:
    return [list(widgets[at : at + each]) for at in range(0, len(widgets), each)]


def _title(text: str) -> str:
    """Returns a name as metrics have it, cut to the length of a title."""
    shown = dimension_value(text)
    return shown if len(shown) <= _LONGEST_TITLE else f"{shown[: _LONGEST_TITLE - 3]}..."
