# SPDX-License-Identifier: Apache-2.0
"""ECS services that follow the group they consume as: by tasks needed, by steps, or by tracking.

Tasks needed and steps are rules of `scaling_rules`: alarms, each with the policy that it runs.

**Tracking** keeps the lag per member: never the age, which no number of tasks divides. Application
Auto Scaling makes the alarms of such a policy itself. It treats data that is missing as missing, so
silence scales nothing, but what it does with a single point between gaps is not ours to set: a
service that must not be scaled in by partial data follows tasks needed or steps, or turns
`scale_in` off.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import jsii
from aws_cdk import Annotations
from aws_cdk import aws_applicationautoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag_cdk.alarms import OPERATORS
from kafka_lag_cdk.metrics import MAXIMUM, LagMetrics
from kafka_lag_cdk.names import DEPLOYMENT
from kafka_lag_config.facts import ClusterFacts, FollowingService
from kafka_lag_config.physical_names import alarm_name
from kafka_lag_config.scaling import GroupScaling, Tracking
from kafka_lag_config.scaling_rules import IN, OUT, ScalingRule, rules_of

# A description holds 1,024 characters; a group's name may be as long.
_LONGEST_GROUP = 200

_Policy = autoscaling.CfnScalingPolicy
_Adjustment = autoscaling.CfnScalingPolicy.StepAdjustmentProperty


class ScaledService(Construct):
    """Registers a service between its least and its most tasks, and scales it.

    `alarms` are those of its rules, if it has any: they act on its tasks and reach nobody. `name`
    is the deployment's, which names of alarms and policies begin with. `metrics` are the cluster's,
    where they are seen from another account.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: ClusterFacts,
        following: FollowingService,
        name: str = DEPLOYMENT,
        metrics: LagMetrics | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        scaling = following.scaling
        self._cluster, self._scaling, self._name = cluster, scaling, name
        self._service = following.service
        self._metrics = metrics or LagMetrics(cluster)
        resource_id = f"service/{self._service}"
        shown = "service/CLUSTER/NAME" if self._service.path else resource_id
        # No role: Application Auto Scaling uses its service-linked one, and makes it where it is
        # missing; the role that CDK's ScalableTarget would add has no rights and no use.
        target = autoscaling.CfnScalableTarget(
            self,
            "Target",
            service_namespace="ecs",
            scalable_dimension="ecs:service:DesiredCount",
            resource_id=resource_id,
            min_capacity=scaling.min,
            max_capacity=scaling.most,
            # All of it, also to resume: what a template leaves out stays as it was registered [API
            # reference, RegisterScalableTarget].
            suspended_state=autoscaling.CfnScalableTarget.SuspendedStateProperty(
                dynamic_scaling_in_suspended=scaling.suspended,
                dynamic_scaling_out_suspended=scaling.suspended,
                scheduled_scaling_suspended=scaling.suspended,
            ),
            scheduled_actions=[*_scheduled_actions(scaling)] or None,
        )
        self._target_id = target.ref
        if scaling.tracking:
            self._track(scaling.tracking)
        self.alarms: tuple[cloudwatch.IAlarm, ...] = tuple(self._follow(rules_of(scaling)))
        Annotations.of(self).add_info_v2(
            "msk-lag-reporter:one-master",
            f"This stack sets the number of tasks of {self._service.known_as}. A "
            "service has one scalable target: one that is registered elsewhere is fought over (see "
            "aws application-autoscaling describe-scalable-targets --service-namespace ecs "
            f"--resource-ids {shown}). A DesiredCount in the service's own template resets "
            "the number at each of its deploys: leave it out there.",
        )

    def _track(self, tracking: Tracking) -> None:
        dimensions = {
            contract.DIMENSION_CLUSTER: self._cluster.name,
            contract.DIMENSION_GROUP: dimension_value(self._scaling.group),
        }
        lag_per_member = _Policy.CustomizedMetricSpecificationProperty(
            metric_name=contract.SCALING_LAG_PER_MEMBER,
            namespace=self._cluster.settings.namespace,
            statistic=MAXIMUM,
            dimensions=[
                _Policy.MetricDimensionProperty(name=name, value=value)
                for name, value in dimensions.items()
            ],
        )
        # CDK's own policy needs a target of CDK's, with the role that is of no use.
        _Policy(
            self,
            "Tracking",
            policy_name=self._full_name("tracking"),
            policy_type="TargetTrackingScaling",
            scaling_target_id=self._target_id,
            target_tracking_scaling_policy_configuration=(
                _Policy.TargetTrackingScalingPolicyConfigurationProperty(
                    target_value=tracking.lag_per_member,
                    customized_metric_specification=lag_per_member,
                    scale_out_cooldown=tracking.out_cooldown_seconds,
                    scale_in_cooldown=tracking.in_cooldown_seconds,
                    disable_scale_in=not tracking.scale_in,
                )
            ),
        )

    def _follow(self, rules: tuple[ScalingRule, ...]) -> Iterator[cloudwatch.Alarm]:
        """Makes an alarm and a policy for each rule."""
        scopes = {OUT: "Out", IN: "In"}
        steps = Construct(self, "Steps") if scopes.keys() & {rule.name for rule in rules} else None
        numbers = count()
        for rule in rules:
            if steps and (name := scopes.get(rule.name)):
                yield self._act(steps, name, rule)
            else:
                yield self._act(self, f"Needed{next(numbers) or ''}", rule)

    def _act(self, scope: Construct, construct_id: str, rule: ScalingRule) -> cloudwatch.Alarm:
        datapoints, periods = rule.periods(self._cluster.settings.interval_minutes)
        alarm = cloudwatch.Alarm(
            scope,
            f"{construct_id}Alarm",
            alarm_name=self._alarm_name(rule.name),
            alarm_description=self._description(rule),
            metric=self._metric(rule),
            comparison_operator=OPERATORS[rule.operator],
            threshold=rule.threshold,
            datapoints_to_alarm=datapoints,
            evaluation_periods=periods,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        # CDK's own StepScalingAction cuts the id of a target that has no role of its own.
        policy = _Policy(
            scope,
            f"{construct_id}Policy",
            # Unique within its service, which is enough.
            policy_name=self._full_name(rule.name),
            policy_type="StepScaling",
            scaling_target_id=self._target_id,
            step_scaling_policy_configuration=_Policy.StepScalingPolicyConfigurationProperty(
                adjustment_type=rule.adjustment,
                cooldown=rule.cooldown_seconds,
                # Embedded metrics may come twice, which the greatest of them does not show.
                metric_aggregation_type="Maximum",
                step_adjustments=[
                    _Adjustment(
                        scaling_adjustment=step.tasks,
                        metric_interval_lower_bound=step.lower,
                        metric_interval_upper_bound=step.upper,
                    )
                    for step in rule.steps
                ],
            ),
        )
        alarm.add_alarm_action(_PolicyAction(policy))
        return alarm

    def _metric(self, rule: ScalingRule) -> cloudwatch.IMetric:
        named = {
            name: self._metrics.of_group(metric.name, metric.group)
            for name, metric in rule.metrics.items()
        }
        if rule.expression is None:
            (metric,) = named.values()
            return metric
        return cloudwatch.MathExpression(
            expression=rule.expression,
            using_metrics=named,
            label=rule.watches,
            period=self._metrics.period,
        )

    def _description(self, rule: ScalingRule) -> str:
        scaling = self._scaling
        groups = " and ".join(dimension_value(group) for group in scaling.groups)[:_LONGEST_GROUP]
        service = self._service
        about = f"{rule.watches} of {groups} on {self._cluster.name}"
        if rule.name not in (OUT, IN):
            return (
                f"{about}: {service} gets as many tasks, {scaling.min} to {scaling.most}. ALARM is "
                "how it acts, so that is its usual state. Without data they stay."
            )
        bound, change = {
            OUT: (f"{rule.threshold:g} or more", f"more tasks, {scaling.max} at most"),
            IN: (f"below {rule.threshold:g}", f"fewer tasks, {scaling.min} at least"),
        }[rule.name]
        only = f" Only while {contract.TASKS_NEEDED} is not known." if scaling.tasks else ""
        return f"{about} is {bound}: {service} gets {change}. Without data it stays.{only}"

    def _alarm_name(self, direction: str) -> str:
        return self._full_name(direction, self._service.cluster, self._service.name)

    def _full_name(self, *parts: str) -> str:
        return alarm_name(self._name, self._cluster.name, *parts)


def _scheduled_actions(
    scaling: GroupScaling,
) -> Iterator[autoscaling.CfnScalableTarget.ScheduledActionProperty]:
    for number, bounds in enumerate(scaling.schedule):
        yield autoscaling.CfnScalableTarget.ScheduledActionProperty(
            scheduled_action_name=f"bounds-{number}",
            schedule=bounds.cron,
            timezone=bounds.timezone,
            scalable_target_action=autoscaling.CfnScalableTarget.ScalableTargetActionProperty(
                min_capacity=bounds.min, max_capacity=scaling.most_at(bounds)
            ),
        )


@jsii.implements(cloudwatch.IAlarmAction)
class _PolicyAction:
    """An alarm's action: a scaling policy, by its ARN."""

    def __init__(self, policy: autoscaling.CfnScalingPolicy) -> None:
        self._policy = policy

    def bind(self, scope: Construct, alarm: cloudwatch.IAlarm) -> cloudwatch.AlarmActionConfig:
        """Returns the policy that the alarm calls."""
        del scope, alarm
        return cloudwatch.AlarmActionConfig(alarm_action_arn=self._policy.ref)
