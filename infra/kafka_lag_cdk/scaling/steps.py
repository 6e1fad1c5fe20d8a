# SPDX-License-Identifier: Apache-2.0
"""Tasks by steps of a group's lag or age: two alarms, each with the policy that it runs.

Missing data is `notBreaching` for both, so that where nothing is known neither alarm fires and
the number of tasks stays. Both take real data points only, then: one to scale out by counts
`out_minutes` of them at or above the first step, one to scale in by every one of `in_minutes`
below `below`. With `missing` CloudWatch would fire on a single point that is old enough and has
nothing but gaps after it, and with `ignore` an alarm that fires would go on firing, a step each
cooldown, for as long as the collector is silent [CloudWatch user guide, "Configuring how
CloudWatch alarms treat missing data"]. The newest minutes may still be on their way: CloudWatch
looks a little farther back instead, so late data costs time and no action.

A group of which a part cannot be read has no `ScalingLag`. Its age is told on, from what was
known last, so a service that follows the age is watched by both: no `ScalingLag`, no data point.
"""

from __future__ import annotations

from itertools import pairwise

import jsii
from aws_cdk import aws_applicationautoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.scaling import Scaling, Steps
from kafka_lag_cdk.metrics import LagMetrics
from kafka_lag_cdk.names import alarm_name
from kafka_lag_cdk.scaling.names import IN, OUT

# Minutes in which a breach that began may be interrupted, or not yet have arrived.
SPARE_MINUTES = 2

_LONGEST_GROUP_TOLD = 200

Adjustment = autoscaling.CfnScalingPolicy.StepAdjustmentProperty


class StepScaling(Construct):
    """Both ways of one service; `alarms` act on its tasks and tell nobody.

    `name` is the deployment's.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: Cluster,
        scaling: Scaling,
        steps: Steps,
        target_id: str,
        name: str,
    ) -> None:
        super().__init__(scope, construct_id)
        self._cluster, self._scaling, self._steps = cluster, scaling, steps
        self._name = name
        self._target_id = target_id
        self._metric = _watched(LagMetrics(cluster), steps.metric, scaling.group)
        self._told = (
            f"{steps.metric} of {dimension_value(scaling.group)[:_LONGEST_GROUP_TOLD]} on "
            f"{cluster.name}"
        )
        self.alarms: tuple[cloudwatch.IAlarm, ...] = (self._out(), self._in())

    def _out(self) -> cloudwatch.Alarm:
        steps, scaling = self._steps, self._scaling
        lowest = steps.out[0].above
        alarm = cloudwatch.Alarm(
            self,
            "OutAlarm",
            alarm_name=self._named(OUT, scaling.ecs_cluster, scaling.service),
            alarm_description=f"{self._told} is {lowest:g} or more: {scaling.ecs_cluster}/"
            f"{scaling.service} gets more tasks, {scaling.max} at most. Without data it stays.",
            metric=self._metric,
            comparison_operator=(cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD),
            threshold=lowest,
            datapoints_to_alarm=self._periods(steps.out_minutes),
            evaluation_periods=self._periods(steps.out_minutes + SPARE_MINUTES),
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.add_alarm_action(
            RunsPolicy(
                self._policy("OutPolicy", OUT, out_adjustments(steps), steps.out_cooldown_seconds)
            )
        )
        return alarm

    def _in(self) -> cloudwatch.Alarm:
        steps, scaling = self._steps, self._scaling
        periods = self._periods(steps.in_minutes)
        alarm = cloudwatch.Alarm(
            self,
            "InAlarm",
            alarm_name=self._named(IN, scaling.ecs_cluster, scaling.service),
            alarm_description=f"{self._told} is below {steps.below:g}: {scaling.ecs_cluster}/"
            f"{scaling.service} gets fewer tasks, {scaling.min} at least. Without data it stays.",
            metric=self._metric,
            comparison_operator=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
            threshold=steps.below,
            datapoints_to_alarm=periods,
            evaluation_periods=periods,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        fewer = [Adjustment(scaling_adjustment=-steps.remove, metric_interval_upper_bound=0)]
        alarm.add_alarm_action(
            RunsPolicy(self._policy("InPolicy", IN, fewer, steps.in_cooldown_seconds))
        )
        return alarm

    def _policy(
        self, construct_id: str, direction: str, adjustments: list[Adjustment], cooldown: int
    ) -> autoscaling.CfnScalingPolicy:
        # CDK's own StepScalingAction cuts the id of a target that has no role of its own.
        return autoscaling.CfnScalingPolicy(
            self,
            construct_id,
            # Policies are told apart by their service.
            policy_name=self._named(direction),
            policy_type="StepScaling",
            scaling_target_id=self._target_id,
            step_scaling_policy_configuration=(
                autoscaling.CfnScalingPolicy.StepScalingPolicyConfigurationProperty(
                    adjustment_type="ChangeInCapacity",
                    cooldown=cooldown,
                    # Embedded metrics may come twice, which the greatest of them does not show.
                    metric_aggregation_type="Maximum",
                    step_adjustments=adjustments,
                )
            ),
        )

    def _named(self, *parts: str) -> str:
        return alarm_name(self._name, self._cluster.name, *parts)

    def _periods(self, minutes: int) -> int:
        """So many minutes in runs, a part of one counting whole."""
        return -(-minutes // self._cluster.interval_minutes)


def _watched(metrics: LagMetrics, name: str, group: str) -> cloudwatch.IMetric:
    """The metric, where the group was read whole."""
    metric = metrics.of_group(name, group)
    if name == contract.SCALING_LAG:
        return metric
    # Metric math has a value where each of its metrics has one.
    return cloudwatch.MathExpression(
        expression="age + 0 * lag",
        using_metrics={"age": metric, "lag": metrics.of_group(contract.SCALING_LAG, group)},
        label=name,
        period=metrics.period,
    )


def out_adjustments(steps: Steps) -> list[Adjustment]:
    """Intervals above the alarm's threshold, each up to the next and the last without an end."""
    lowest = steps.out[0].above
    inner = [
        Adjustment(
            scaling_adjustment=step.add,
            metric_interval_lower_bound=step.above - lowest,
            metric_interval_upper_bound=following.above - lowest,
        )
        for step, following in pairwise(steps.out)
    ]
    last = steps.out[-1]
    return [
        *inner,
        Adjustment(scaling_adjustment=last.add, metric_interval_lower_bound=last.above - lowest),
    ]


@jsii.implements(cloudwatch.IAlarmAction)
class RunsPolicy:
    """An alarm's action: a scaling policy, by its ARN."""

    def __init__(self, policy: autoscaling.CfnScalingPolicy) -> None:
        self._policy = policy

    def bind(self, scope: Construct, alarm: cloudwatch.IAlarm) -> cloudwatch.AlarmActionConfig:
        """What the alarm calls."""
        del scope, alarm
        return cloudwatch.AlarmActionConfig(alarm_action_arn=self._policy.ref)
