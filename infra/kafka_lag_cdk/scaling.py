# SPDX-License-Identifier: Apache-2.0
"""ECS services that follow the lag of the group they consume as, by steps or by tracking.

**Steps** of lag or age: two alarms, each with the policy that it runs. Missing data is
`notBreaching` for both, so that where nothing is known neither alarm fires and the number of tasks
stays. Both take real data points only, then: one to scale out by counts `out_minutes` of them at or
above the first step, one to scale in by every one of `in_minutes` below `below`. With `missing`
CloudWatch would fire on a single point that is old enough and has nothing but gaps after it, and
with `ignore` an alarm that fires would go on firing, a step each cooldown, for as long as the
collector is silent [CloudWatch user guide, "Configuring how CloudWatch alarms treat missing data"].
The newest minutes may still be on their way: CloudWatch looks a little farther back instead, so
late data costs time and no action.

A group of which a part cannot be read has no `ScalingLag`. Its age is still published, from what
was known last, so a service that follows the age is watched by both: no `ScalingLag`, no data
point.

**Tracking** keeps the lag per member: never the age, which no number of tasks divides. Application
Auto Scaling makes the alarms of such a policy itself. It treats data that is missing as missing, so
silence scales nothing, but what it does with a single point between gaps is not ours to set: a
service that must not be scaled in by partial data follows steps, or turns `scale_in` off.
"""

from __future__ import annotations

from itertools import pairwise

import jsii
from aws_cdk import Annotations
from aws_cdk import aws_applicationautoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.scaling import Scaling, Steps, Tracking
from kafka_lag_cdk.metrics import MAXIMUM, LagMetrics
from kafka_lag_cdk.names import DEPLOYMENT, alarm_name, construct_id

# Minutes in which a breach that began may be interrupted, or not yet have arrived.
_SPARE_MINUTES = 2

_OUT, _IN = "scale-out", "scale-in"
# A description holds 1,024 characters; a group's name may be as long.
_LONGEST_GROUP = 200

_Policy = autoscaling.CfnScalingPolicy
_Adjustment = autoscaling.CfnScalingPolicy.StepAdjustmentProperty


def construct_id_of(scaling: Scaling) -> str:
    """The same wherever the service stands in the configuration, and no other service's."""
    return construct_id("Scaling", f"{scaling.ecs_cluster}/{scaling.service}")


class ServiceScaling(Construct):
    """Registers a service between its least and its most tasks, and scales it.

    `alarms` are those of its steps, if it has any: they act on its tasks and reach nobody. `name`
    is the deployment's, which names of alarms and policies begin with.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: Cluster,
        scaling: Scaling,
        name: str = DEPLOYMENT,
    ) -> None:
        super().__init__(scope, construct_id)
        self._cluster, self._scaling, self._name = cluster, scaling, name
        resource_id = f"service/{scaling.ecs_cluster}/{scaling.service}"
        # No role: Application Auto Scaling uses its service-linked one, and makes it where it is
        # missing; the role that CDK's ScalableTarget would add has no rights and no use.
        target = autoscaling.CfnScalableTarget(
            self,
            "Target",
            service_namespace="ecs",
            scalable_dimension="ecs:service:DesiredCount",
            resource_id=resource_id,
            min_capacity=scaling.min,
            max_capacity=min(scaling.max, scaling.partitions),
            # All of it, also to resume: what a template leaves out stays as it was registered [API
            # reference, RegisterScalableTarget].
            suspended_state=autoscaling.CfnScalableTarget.SuspendedStateProperty(
                dynamic_scaling_in_suspended=scaling.suspended,
                dynamic_scaling_out_suspended=scaling.suspended,
                scheduled_scaling_suspended=scaling.suspended,
            ),
        )
        self._target_id = target.ref
        self.alarms: tuple[cloudwatch.IAlarm, ...] = ()
        if scaling.tracking:
            self._track(scaling.tracking)
        if scaling.steps:
            below = Construct(self, "Steps")
            self.alarms = (
                self._scale_out(below, scaling.steps),
                self._scale_in(below, scaling.steps),
            )
        Annotations.of(self).add_info_v2(
            "msk-lag-reporter:one-master",
            f"This stack sets the number of tasks of {scaling.ecs_cluster}/{scaling.service}. A "
            "service has one scalable target: one that is registered elsewhere is fought over (see "
            "aws application-autoscaling describe-scalable-targets --service-namespace ecs "
            f"--resource-ids {resource_id}). A DesiredCount in the service's own template resets "
            "the number at each of its deploys: leave it out there.",
        )

    def _track(self, tracking: Tracking) -> None:
        dimensions = {
            contract.DIMENSION_CLUSTER: self._cluster.name,
            contract.DIMENSION_GROUP: dimension_value(self._scaling.group),
        }
        lag_per_member = _Policy.CustomizedMetricSpecificationProperty(
            metric_name=contract.SCALING_LAG_PER_MEMBER,
            namespace=self._cluster.namespace,
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

    def _scale_out(self, scope: Construct, steps: Steps) -> cloudwatch.Alarm:
        lowest = steps.out[0].above
        alarm = cloudwatch.Alarm(
            scope,
            "OutAlarm",
            alarm_name=self._alarm_name(_OUT),
            alarm_description=self._description(
                steps, f"{lowest:g} or more", f"more tasks, {self._scaling.max} at most"
            ),
            metric=self._step_metric(steps),
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            threshold=lowest,
            datapoints_to_alarm=self._periods(steps.out_minutes),
            evaluation_periods=self._periods(steps.out_minutes + _SPARE_MINUTES),
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        policy = self._step_policy(
            scope, "OutPolicy", _OUT, _out_adjustments(steps), steps.out_cooldown_seconds
        )
        alarm.add_alarm_action(_PolicyAction(policy))
        return alarm

    def _scale_in(self, scope: Construct, steps: Steps) -> cloudwatch.Alarm:
        periods = self._periods(steps.in_minutes)
        alarm = cloudwatch.Alarm(
            scope,
            "InAlarm",
            alarm_name=self._alarm_name(_IN),
            alarm_description=self._description(
                steps, f"below {steps.below:g}", f"fewer tasks, {self._scaling.min} at least"
            ),
            metric=self._step_metric(steps),
            comparison_operator=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
            threshold=steps.below,
            datapoints_to_alarm=periods,
            evaluation_periods=periods,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        fewer = [_Adjustment(scaling_adjustment=-steps.remove, metric_interval_upper_bound=0)]
        policy = self._step_policy(scope, "InPolicy", _IN, fewer, steps.in_cooldown_seconds)
        alarm.add_alarm_action(_PolicyAction(policy))
        return alarm

    def _step_policy(
        self,
        scope: Construct,
        construct_id: str,
        direction: str,
        adjustments: list[_Adjustment],
        cooldown: int,
    ) -> autoscaling.CfnScalingPolicy:
        # CDK's own StepScalingAction cuts the id of a target that has no role of its own.
        return _Policy(
            scope,
            construct_id,
            # Unique within its service, which is enough.
            policy_name=self._full_name(direction),
            policy_type="StepScaling",
            scaling_target_id=self._target_id,
            step_scaling_policy_configuration=_Policy.StepScalingPolicyConfigurationProperty(
                adjustment_type="ChangeInCapacity",
                cooldown=cooldown,
                # Embedded metrics may come twice, which the greatest of them does not show.
                metric_aggregation_type="Maximum",
                step_adjustments=adjustments,
            ),
        )

    def _step_metric(self, steps: Steps) -> cloudwatch.IMetric:
        """The metric of the steps, where the group was read whole."""
        metrics, group = LagMetrics(self._cluster), self._scaling.group
        metric = metrics.of_group(steps.metric, group)
        if steps.metric == contract.SCALING_LAG:
            return metric
        # Metric math has a value where each of its metrics has one.
        return cloudwatch.MathExpression(
            expression="age + 0 * lag",
            using_metrics={"age": metric, "lag": metrics.of_group(contract.SCALING_LAG, group)},
            label=steps.metric,
            period=metrics.period,
        )

    def _description(self, steps: Steps, bound: str, change: str) -> str:
        scaling = self._scaling
        group = dimension_value(scaling.group)[:_LONGEST_GROUP]
        return (
            f"{steps.metric} of {group} on {self._cluster.name} is {bound}: {scaling.ecs_cluster}/"
            f"{scaling.service} gets {change}. Without data it stays."
        )

    def _alarm_name(self, direction: str) -> str:
        return self._full_name(direction, self._scaling.ecs_cluster, self._scaling.service)

    def _full_name(self, *parts: str) -> str:
        return alarm_name(self._name, self._cluster.name, *parts)

    def _periods(self, minutes: int) -> int:
        """So many minutes in runs, a part of one counting whole."""
        return -(-minutes // self._cluster.interval_minutes)


def _out_adjustments(steps: Steps) -> list[_Adjustment]:
    """Intervals above the alarm's threshold, each up to the next and the last without an end."""
    lowest, last = steps.out[0].above, steps.out[-1]
    inner = [
        _Adjustment(
            scaling_adjustment=step.add,
            metric_interval_lower_bound=step.above - lowest,
            metric_interval_upper_bound=following.above - lowest,
        )
        for step, following in pairwise(steps.out)
    ]
    return [
        *inner,
        _Adjustment(scaling_adjustment=last.add, metric_interval_lower_bound=last.above - lowest),
    ]


@jsii.implements(cloudwatch.IAlarmAction)
class _PolicyAction:
    """An alarm's action: a scaling policy, by its ARN."""

    def __init__(self, policy: autoscaling.CfnScalingPolicy) -> None:
        self._policy = policy

    def bind(self, scope: Construct, alarm: cloudwatch.IAlarm) -> cloudwatch.AlarmActionConfig:
        """What the alarm calls."""
        del scope, alarm
        return cloudwatch.AlarmActionConfig(alarm_action_arn=self._policy.ref)
