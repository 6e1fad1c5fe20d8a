# SPDX-License-Identifier: Apache-2.0
"""From a rule and a metric to an alarm that says what it means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from kafka_lag_cdk.alarms.rules import Missing, Operator, Rule
from kafka_lag_cdk.alarms.subject import Subject
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.names import digest

OPERATORS = {
    Operator.AT_LEAST: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    Operator.ABOVE: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
    Operator.BELOW: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
}
MISSING = {
    Missing.MISSING: cloudwatch.TreatMissingData.MISSING,
    Missing.BREACHING: cloudwatch.TreatMissingData.BREACHING,
    Missing.NOT_BREACHING: cloudwatch.TreatMissingData.NOT_BREACHING,
}


@dataclass(frozen=True, slots=True)
class Told:
    """Who hears of alarms, and whether also that they are over."""

    topic: sns.ITopic
    recovered: bool


def of_owner(scope: Construct, told: Told, cluster: Cluster, group: str) -> Told:
    """The same, at the topic of the group's owner where the cluster names one."""
    arn = cluster.alarm_topic_of(group)
    if arn is None:
        return told
    return replace(told, topic=topic_by_arn(scope, arn))


def topic_by_arn(scope: Construct, arn: str) -> sns.ITopic:
    """A topic of somebody else's, known to the scope once."""
    construct_id = f"Topic-{digest(arn)}"
    known = scope.node.try_find_child(construct_id)
    return cast("sns.ITopic", known or sns.Topic.from_topic_arn(scope, construct_id, arn))


def rule_alarm(
    scope: Construct,
    construct_id: str,
    *,
    rule: Rule,
    subject: Subject,
    metric: cloudwatch.IMetric,
    told: Told,
    where: str,
    threshold: float | None = None,
) -> cloudwatch.Alarm:
    """An alarm by a rule; `where` a person looks first, `threshold` where the rule has none."""
    bound = rule.threshold if threshold is None else threshold
    if bound is None:
        raise ValueError(f"the rule {rule.name} needs a threshold")
    alarm = cloudwatch.Alarm(
        scope,
        construct_id,
        alarm_name=subject.name(rule),
        alarm_description=subject.description(rule, where),
        metric=metric,
        comparison_operator=OPERATORS[rule.operator],
        threshold=bound,
        datapoints_to_alarm=rule.datapoints,
        evaluation_periods=rule.periods,
        treat_missing_data=MISSING[rule.missing],
    )
    if rule.warm_up:
        _warm_up(alarm, subject.warm_up_minutes)
    tell(alarm, replace(told, recovered=told.recovered and not rule.counts))
    return alarm


def tell(alarm: cloudwatch.AlarmBase, told: Told) -> None:
    """Sends ALARM to the topic, and OK if recoveries are wanted; INSUFFICIENT_DATA tells nobody."""
    action = actions.SnsAction(told.topic)
    alarm.add_alarm_action(action)
    if told.recovered:
        alarm.add_ok_action(action)


def _warm_up(alarm: cloudwatch.Alarm, minutes: int) -> None:
    """Until the window has filled once, or the time for that is over, nothing is evaluated.

    CloudWatch does so once, when it creates an alarm [user guide, "Alarm warm-up periods"].
    """
    resource = cast(cloudwatch.CfnAlarm, alarm.node.default_child)
    resource.warm_up_configuration = cloudwatch.CfnAlarm.WarmUpConfigurationProperty(
        warm_up_period_duration_in_minutes=minutes
    )
