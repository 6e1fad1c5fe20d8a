# SPDX-License-Identifier: Apache-2.0
"""The deployed scaling of a service is the simulated one, within AWS's limits."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk.assertions import Template

from dev.sim.autoscaling import watched_by
from dev.sim.cloudwatch import Watched
from kafka_lag_cdk.scaling import ScaledService
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.scaling_rules import ScalingRule, rules_of
from tests.infra.configured import SERVICE, STEPS, cluster
from tests.infra.resolve import ACCOUNT, REGION, of_type, resolve

POLICY = "AWS::ApplicationAutoScaling::ScalingPolicy"
ALARM = "AWS::CloudWatch::Alarm"
TARGET = "AWS::ApplicationAutoScaling::ScalableTarget"
BY_AGE = {"metric": "EstimatedTimeLag", "out": STEPS["out"], "below": 15.5}
TASKS = {"partitions": 60, "min": 0, "max": 45, "tasks": {"groups": ["stock"]}, "steps": STEPS}
CLUSTERS = {
    "steps": cluster(scaling=[{**SERVICE, "max": 8, "steps": STEPS}]),
    "tasks and steps": cluster(scaling=[SERVICE | TASKS]),
    "age every five minutes": cluster(
        interval_seconds=300, scaling=[{**SERVICE, "max": 3, "steps": BY_AGE}]
    ),
}


def deployed(one: Cluster) -> dict[str, dict[str, Any]]:
    """The resources of the cluster's service, every reference answered."""
    stack = Stack(App(), "Scaled", env=Environment(account=ACCOUNT, region=REGION))
    ScaledService(stack, "Service", cluster=one.facts, following=one.facts.services[0])
    return resolve(Template.from_stack(stack).to_json())


@pytest.mark.parametrize("kind", CLUSTERS)
def test_the_template_has_the_rules_that_are_simulated(kind: str) -> None:
    one = CLUSTERS[kind]
    (scaling,), made = one.scaling, deployed(one)
    rules = rules_of(scaling)
    alarms = [Watched.of(each) for each in of_type(made, ALARM).values()]
    policies = [each["StepScalingPolicyConfiguration"] for each in of_type(made, POLICY).values()]
    (target,) = of_type(made, TARGET).values()

    assert len(alarms) == len(policies) == len(rules)
    for rule in rules:
        assert watched_by(rule, one.name, one.interval_minutes) in alarms
        assert policy_of(rule) in policies
    assert (target["MinCapacity"], target["MaxCapacity"]) == (scaling.min, scaling.most)
    suspended = target.get("SuspendedState", {}).values()
    assert set(suspended) <= {scaling.suspended}


def policy_of(rule: ScalingRule) -> dict[str, Any]:
    """A step scaling policy, but for its name and target."""
    names = ("MetricIntervalLowerBound", "MetricIntervalUpperBound", "ScalingAdjustment")
    steps = [
        dict(zip(names, (each.lower, each.upper, each.tasks), strict=True)) for each in rule.steps
    ]
    return {
        "AdjustmentType": rule.adjustment,
        "Cooldown": rule.cooldown_seconds,
        "MetricAggregationType": "Maximum",
        "StepAdjustments": [
            {name: value for name, value in step.items() if value is not None} for step in steps
        ],
    }
