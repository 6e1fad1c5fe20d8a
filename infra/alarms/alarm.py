# SPDX-License-Identifier: Apache-2.0
"""From a rule and a metric to an alarm that says what it means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from functions.sinks.names import dimension_value
from infra.alarms.rules import Missing, Operator, Rule
from infra.config.document import interval_minutes
from infra.config.parts.cluster import Cluster
from infra.names import DEPLOYMENT, alarm_name, dashboard_name

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

_DOCUMENTATION = "docs/operations.md#"
# A description holds 1,024 characters; a group's name may be as long.
_LONGEST_GROUP = 200

# Minutes that a stack may take from an alarm to the first run: network interfaces, endpoints.
_DEPLOY_MINUTES = 30


@dataclass(frozen=True, slots=True)
class Told:
    """Who hears of alarms, and whether also that they are over."""

    topic: sns.ITopic
    recovered: bool


@dataclass(frozen=True, slots=True)
class Subject:
    """What an alarm is about: a cluster, or one group in it, as one deployment watches it."""

    cluster: Cluster
    group: str | None = None
    deployment: str = DEPLOYMENT

    def name(self, rule: Rule) -> str:
        """The alarm's name."""
        group = [] if self.group is None else [dimension_value(self.group)]
        return alarm_name(self.deployment, self.cluster.name, rule.name, *group)

    def description(self, rule: Rule, where: str) -> str:
        """What it means, what to do first, and where."""
        parts = (f"{self}: {rule.meaning}", rule.to_do, where, f"See {_DOCUMENTATION}{rule.name}.")
        return " ".join(part for part in parts if part)

    @property
    def shown(self) -> str:
        """The dashboard that shows it, nothing where the cluster has none."""
        named = dashboard_name(self.cluster.name, self.deployment)
        return f"Dashboard: {named}." if self.cluster.dashboard else ""

    def __str__(self) -> str:
        if self.group is None:
            return f"Cluster {self.cluster.name}"
        value = dimension_value(self.group)
        shown = value if len(value) <= _LONGEST_GROUP else f"{value[:_LONGEST_GROUP]}..."
        return f"Group {shown} of {self.cluster.name}"


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
        _warm_up(alarm, interval_minutes(subject.cluster))
    tell(alarm, told)
    return alarm


def tell(alarm: cloudwatch.AlarmBase, told: Told) -> None:
    """Sends ALARM to the topic, and OK if recoveries are wanted; INSUFFICIENT_DATA tells nobody."""
    action = actions.SnsAction(told.topic)
    alarm.add_alarm_action(action)
    if told.recovered:
        alarm.add_ok_action(action)


def _warm_up(alarm: cloudwatch.Alarm, interval: int) -> None:
    """Until the window has filled once, or the time for that is over, nothing is evaluated.

    CloudWatch does so once, when it creates an alarm [user guide, "Alarm warm-up periods"].
    """
    resource = cast(cloudwatch.CfnAlarm, alarm.node.default_child)
    resource.warm_up_configuration = cloudwatch.CfnAlarm.WarmUpConfigurationProperty(
        warm_up_period_duration_in_minutes=_DEPLOY_MINUTES + interval
    )
