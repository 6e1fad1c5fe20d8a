# SPDX-License-Identifier: Apache-2.0
"""The target, alarms and policies of a scaled service as its template has them, without CDK."""

from __future__ import annotations

from typing import Any

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag_config.alarm_rules import OPERATORS
from kafka_lag_config.scaling import GroupScaling
from kafka_lag_config.scaling_rules import GroupMetric, ScalingRule

_SECONDS = 60


def template_of(
    rules: tuple[ScalingRule, ...],
    scaling: GroupScaling,
    cluster: str,
    namespace: str,
    interval_minutes: int = 1,
) -> dict[str, dict[str, Any]]:
    """A service's target, alarms and policies as a template has them, for the model of AWS.

    By logical id; `cluster` is the name under which metrics are published.
    """
    resources: dict[str, dict[str, Any]] = {"Target": _target(scaling)}
    for number, rule in enumerate(rules):
        policy = f"Policy{number}"
        resources[policy] = {
            "Type": "AWS::ApplicationAutoScaling::ScalingPolicy",
            "Properties": _policy_properties(rule),
        }
        alarm = _alarm_properties(rule, cluster, namespace, interval_minutes)
        resources[f"Alarm{number}"] = {
            "Type": "AWS::CloudWatch::Alarm",
            "Properties": {**alarm, "AlarmActions": [f"autoscaling:policyName/{policy}"]},
        }
    return resources


def _target(scaling: GroupScaling) -> dict[str, Any]:
    suspended = {
        f"{activity}Suspended": scaling.suspended
        for activity in ("DynamicScalingIn", "DynamicScalingOut", "ScheduledScaling")
    }
    return {
        "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
        "Properties": {
            "MinCapacity": scaling.min,
            "MaxCapacity": scaling.most,
            "SuspendedState": suspended,
        },
    }


def _policy_properties(rule: ScalingRule) -> dict[str, Any]:
    """A step scaling policy, but for its name and target."""
    bounds = ("MetricIntervalLowerBound", "MetricIntervalUpperBound")
    return {
        "PolicyType": "StepScaling",
        "StepScalingPolicyConfiguration": {
            "AdjustmentType": rule.adjustment,
            "Cooldown": rule.cooldown_seconds,
            "MetricAggregationType": "Maximum",
            "StepAdjustments": [
                {
                    **{
                        name: value
                        for name, value in zip(bounds, (step.lower, step.upper), strict=True)
                        if value is not None
                    },
                    "ScalingAdjustment": step.tasks,
                }
                for step in rule.steps
            ],
        },
    }


def _alarm_properties(
    rule: ScalingRule, cluster: str, namespace: str, interval_minutes: int
) -> dict[str, Any]:
    """An alarm, but for its name, description and action."""
    datapoints, periods = rule.periods(interval_minutes)
    return {
        **_metrics(rule, cluster, namespace, interval_minutes * _SECONDS),
        "ComparisonOperator": OPERATORS[rule.operator],
        "Threshold": rule.threshold,
        "DatapointsToAlarm": datapoints,
        "EvaluationPeriods": periods,
        "TreatMissingData": "notBreaching",
    }


def _metrics(rule: ScalingRule, cluster: str, namespace: str, period: int) -> dict[str, Any]:
    def described(metric: GroupMetric) -> dict[str, Any]:
        values = {
            contract.DIMENSION_CLUSTER: cluster,
            contract.DIMENSION_GROUP: dimension_value(metric.group),
        }
        return {
            "Namespace": namespace,
            "MetricName": metric.name,
            "Dimensions": [{"Name": name, "Value": value} for name, value in values.items()],
        }

    if rule.expression is None:
        (metric,) = rule.metrics.values()
        return {**described(metric), "Statistic": "Maximum", "Period": period}
    stats = [
        {
            "Id": name,
            "MetricStat": {"Metric": described(metric), "Stat": "Maximum", "Period": period},
            "ReturnData": False,
        }
        for name, metric in rule.metrics.items()
    ]
    return {"Metrics": [{"Id": "result", "Expression": rule.expression}, *stats]}
