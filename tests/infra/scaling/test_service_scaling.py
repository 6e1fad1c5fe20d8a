# SPDX-License-Identifier: Apache-2.0
"""What is deployed of a scaled service is what is simulated, within what AWS takes."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk.assertions import Template

from dev.sim.cloudwatch.templates import template_of
from kafka_lag_cdk.scaling import ScaledService
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.scaling_rules import rules_of
from tests.infra.configured import SERVICE, STEPS, cluster
from tests.infra.resolve import ACCOUNT, REGION, of_type, resolve

POLICY = "AWS::ApplicationAutoScaling::ScalingPolicy"
ALARM = "AWS::CloudWatch::Alarm"
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


def comparable(alarm: dict[str, Any]) -> dict[str, Any]:
    """What decides of an alarm: neither names and labels, nor the id of its result."""
    queries: dict[str, Any] = {}
    for each in alarm.get("Metrics", ()):
        queries["" if "Expression" in each else each["Id"]] = {
            key: value for key, value in each.items() if key in ("Expression", "MetricStat")
        }
    without = ("AlarmActions", "AlarmName", "AlarmDescription", "Metrics")
    return {key: value for key, value in alarm.items() if key not in without} | {"queries": queries}


@pytest.mark.parametrize("kind", CLUSTERS)
def test_the_template_has_the_rules_that_are_simulated(kind: str) -> None:
    one, key = CLUSTERS[kind], "StepScalingPolicyConfiguration"
    (scaling,) = one.scaling
    as_data = template_of(rules_of(scaling), scaling, one.name, one.namespace, one.interval_minutes)
    made, simulated = (
        [
            *(comparable(each) for each in of_type(resources, ALARM).values()),
            *(each[key] for each in of_type(resources, POLICY).values()),
        ]
        for resources in (deployed(one), as_data)
    )
    assert len(made) == len(simulated)
    assert [each for each in made if each not in simulated] == []
