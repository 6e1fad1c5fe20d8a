# SPDX-License-Identifier: Apache-2.0
"""Alarms on messages: that some are given up, and that no snapshot leads to any.

On Lambda's own counts and not on the queue of failed events, which nobody empties: an alarm on it
would stay on for days.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from kafka_lag_cdk.alarms.alarm import Told, rule_alarm
from kafka_lag_cdk.alarms.rules import LAMBDA, Missing, Operator, Rule
from kafka_lag_cdk.alarms.subject import described
from kafka_lag_cdk.metrics import MAXIMUM
from kafka_lag_cdk.names import alarm_name, pascal_case

_OF_ALL = "status-messages"
_MANUAL = "docs/views.md"

DROPPED = Rule(
    name="messages-dropped",
    metric="AsyncEventsDropped",
    operator=Operator.AT_LEAST,
    threshold=1,
    datapoints=1,
    periods=1,
    missing=Missing.NOT_BREACHING,
    meaning="Snapshots were read three times over, and what changed could not be told.",
    to_do="Read the function's log: the bucket, the topic or the bus did not answer, or not in "
    "time; one channel may be fine. Nothing is lost: it is told once they do.",
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


@dataclass(frozen=True, slots=True)
class _Messages:
    """The messages of all clusters of a deployment."""

    # What a first deploy may take until the first run, and one period of an hour beside it.
    warm_up_minutes: ClassVar[int] = 90

    deployment: str

    def name(self, rule: Rule) -> str:
        """`<deployment>/status-messages/<rule>`."""
        return alarm_name(self.deployment, _OF_ALL, rule.name)

    def description(self, rule: Rule, where: str) -> str:
        """With its section in the manual on messages."""
        return described("Messages on a changed status", rule, where, _MANUAL)


def message_alarms(
    scope: Construct,
    *,
    function: lambda_.IFunction,
    log_group: logs.ILogGroup,
    told: Told,
    silence: bool,
    name: str,
) -> tuple[cloudwatch.IAlarm, ...]:
    """One alarm a rule, of the deployment `name`; that on silence only if it is wanted."""
    return tuple(
        rule_alarm(
            scope,
            pascal_case(rule.name),
            rule=rule,
            subject=_Messages(name),
            metric=function.metric(rule.metric, statistic=MAXIMUM, period=_PERIODS[rule]),
            told=told,
            where=f"Log: {log_group.log_group_name}.",
        )
        for rule in (DROPPED, SILENT)
        if silence or rule is not SILENT
    )
