# SPDX-License-Identifier: Apache-2.0
"""Alarms on messages: that some are given up, and that no snapshot leads to any.

On Lambda's own counts and not on the queue of failed events, which nobody empties: an alarm on it
would stay on for days.
"""

from __future__ import annotations

from typing import cast

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.alarms.alarm import MISSING, OPERATORS, Told, tell
from infra.alarms.rules import LAMBDA, Missing, Operator, Rule
from infra.metrics import MAXIMUM
from infra.names import alarm_name

_OF_ALL = "status-messages"
_DOCUMENTATION = "docs/views.md#"

DROPPED = Rule(
    name="messages-dropped",
    metric="AsyncEventsDropped",
    operator=Operator.AT_LEAST,
    threshold=1,
    datapoints=1,
    periods=1,
    missing=Missing.NOT_BREACHING,
    meaning="Snapshots were read three times over, and what changed could not be told.",
    to_do="Read the function's log: the bucket, the topic or the bus did not answer. Nothing is "
    "lost: it is told once they do.",
    namespace=LAMBDA,
)
SILENT = Rule(
    name="messages-silent",
    metric="Invocations",
    operator=Operator.BELOW,
    threshold=1,
    datapoints=2,
    periods=2,
    missing=Missing.BREACHING,
    meaning="No snapshot of any cluster has led to a run for two hours, so no change is told.",
    to_do="See whether a heartbeat alarms too; if not, see that the bucket's events go to "
    "EventBridge.",
    namespace=LAMBDA,
    warm_up=True,
)

# Whatever the interval of the clusters: an event is dropped only after it failed three times.
_PERIODS = {DROPPED: Duration.minutes(15), SILENT: Duration.hours(1)}
# What a first deploy may take until the first run, and one period of an hour beside it.
_WARM_UP_MINUTES = 90


def message_alarms(
    scope: Construct,
    *,
    function: lambda_.IFunction,
    log_group: logs.ILogGroup,
    told: Told,
    silence: bool,
    name: str,
) -> tuple[cloudwatch.IAlarm, ...]:
    """One alarm a rule, `<name>/status-messages/<rule>`; that on silence only if it is wanted."""
    return tuple(
        _alarm(scope, rule, function, log_group, told, name)
        for rule in (DROPPED, SILENT)
        if silence or rule is not SILENT
    )


def _alarm(
    scope: Construct,
    rule: Rule,
    function: lambda_.IFunction,
    log_group: logs.ILogGroup,
    told: Told,
    name: str,
) -> cloudwatch.Alarm:
    description = (
        f"Messages on a changed status: {rule.meaning} {rule.to_do} "
        f"Log: {log_group.log_group_name}. See {_DOCUMENTATION}{rule.name}."
    )
    alarm = cloudwatch.Alarm(
        scope,
        rule.name.title().replace("-", ""),
        alarm_name=alarm_name(name, _OF_ALL, rule.name),
        alarm_description=description,
        metric=_metric(rule, function),
        comparison_operator=OPERATORS[rule.operator],
        threshold=rule.threshold or 0,
        datapoints_to_alarm=rule.datapoints,
        evaluation_periods=rule.periods,
        treat_missing_data=MISSING[rule.missing],
    )
    if rule.warm_up:
        resource = cast(cloudwatch.CfnAlarm, alarm.node.default_child)
        resource.warm_up_configuration = cloudwatch.CfnAlarm.WarmUpConfigurationProperty(
            warm_up_period_duration_in_minutes=_WARM_UP_MINUTES
        )
    tell(alarm, told)
    return alarm


def _metric(rule: Rule, function: lambda_.IFunction) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=LAMBDA,
        metric_name=rule.metric,
        dimensions_map={"FunctionName": function.function_name},
        statistic=MAXIMUM,
        period=_PERIODS[rule],
    )
