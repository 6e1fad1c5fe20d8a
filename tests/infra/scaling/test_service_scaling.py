# SPDX-License-Identifier: Apache-2.0
"""What is deployed of a scaled service is what is simulated, within what AWS takes."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag_cdk.scaling_rules import rules_of, template_of
from tests.infra.resolve import of_type
from tests.infra.scaling import services
from tests.infra.scaling.services import Resources

POLICY = "AWS::ApplicationAutoScaling::ScalingPolicy"
ALARM = "AWS::CloudWatch::Alarm"


def the_template_without_cdk(kind: str) -> dict[str, Any]:
    """The same service as its rules have it as data."""
    cluster = services.CLUSTERS[kind]
    (scaling,) = cluster.scaling
    minutes = cluster.interval_minutes
    return template_of(rules_of(scaling), scaling, cluster.name, cluster.namespace, minutes)


def comparable(alarm: dict[str, Any]) -> dict[str, Any]:
    """What decides of an alarm: neither names and labels, nor the id of its result."""
    queries: dict[str, Any] = {}
    for each in alarm.get("Metrics", ()):
        queries["" if "Expression" in each else each["Id"]] = {
            key: value for key, value in each.items() if key in ("Expression", "MetricStat")
        }
    without = ("AlarmActions", "AlarmName", "AlarmDescription", "Metrics")
    return {key: value for key, value in alarm.items() if key not in without} | {"queries": queries}


def same(some: list[Any], others: list[Any]) -> bool:
    """The same in any order."""
    return len(some) == len(others) and all(each in others for each in some)


@pytest.mark.parametrize("kind", ["steps", "age", "slow", "tasks", "many"])
def test_the_template_has_the_rules_that_are_simulated(
    resolved: dict[str, Resources], kind: str
) -> None:
    as_data, key = the_template_without_cdk(kind), "StepScalingPolicyConfiguration"
    deployed, simulated = (
        [comparable(each) for each in of_type(resources, ALARM).values()]
        for resources in (resolved[kind], as_data)
    )
    assert same(deployed, simulated)
    deployed, simulated = (
        [each[key] for each in of_type(resources, POLICY).values()]
        for resources in (resolved[kind], as_data)
    )
    assert same(deployed, simulated)


def test_no_policy_has_more_steps_than_aws_takes(resolved: dict[str, Resources]) -> None:
    policies = of_type(resolved["many"], POLICY).values()
    numbers = [
        [step["ScalingAdjustment"] for step in steps["StepAdjustments"]]
        for policy in policies
        if (steps := policy["StepScalingPolicyConfiguration"])["AdjustmentType"] == "ExactCapacity"
    ]
    assert sorted(numbers) == [[*range(20)], [*range(20, 40)], [*range(40, 46)]]
