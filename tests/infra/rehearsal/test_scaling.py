# SPDX-License-Identifier: Apache-2.0
"""Targets, policies, their alarms and the dashboards, made in a stand-in from the templates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.infra.dashboard.pages import dashboards
from tests.infra.rehearsal.conftest import Client
from tests.infra.resolve import of_type
from tests.infra.scaling.services import Resources, resolved

TARGET = "AWS::ApplicationAutoScaling::ScalableTarget"
POLICY = "AWS::ApplicationAutoScaling::ScalingPolicy"
ALARM = "AWS::CloudWatch::Alarm"

STEPPING, KINDS = ("steps", "age", "slow"), ("steps", "age", "slow", "tracking", "two")
DASHBOARDS = ("plain", "full", "tracked")


@pytest.mark.parametrize("kind", KINDS)
def test_targets_can_be_registered(client: Client, kind: str) -> None:
    wanted = list(of_type(resolved()[kind], TARGET).values())
    registered(client, resolved()[kind])
    found = client("application-autoscaling").describe_scalable_targets(ServiceNamespace="ecs")
    by_id = {each["ResourceId"]: each for each in found["ScalableTargets"]}
    assert len(by_id) == len(wanted)
    for each in wanted:
        assert each.items() <= by_id[each["ResourceId"]].items()


@pytest.mark.parametrize("kind", KINDS)
def test_policies_can_be_put_on_their_targets(client: Client, kind: str) -> None:
    arns = policies_put(client, resolved()[kind])
    found = client("application-autoscaling").describe_scaling_policies(ServiceNamespace="ecs")
    by_arn = {each["PolicyARN"]: each for each in found["ScalingPolicies"]}
    wanted = of_type(resolved()[kind], POLICY)
    assert len(by_arn) == len(wanted)
    for name, properties in wanted.items():
        made = by_arn[arns[name]]
        for key in properties.keys() - {"ScalingTargetId"}:
            assert made[key] == properties[key]


@pytest.mark.parametrize("kind", [*STEPPING, "two"])
def test_alarms_run_the_policies_that_were_made(client: Client, kind: str) -> None:
    arns = policies_put(client, resolved()[kind])
    cloudwatch = client("cloudwatch")
    for properties in of_type(resolved()[kind], ALARM).values():
        (action,) = properties["AlarmActions"]
        (made,) = [arn for name, arn in arns.items() if action.endswith(f"/{name.lower()}")]
        cloudwatch.put_metric_alarm(**{**properties, "AlarmActions": [made]})
    found = cloudwatch.describe_alarms()["MetricAlarms"]
    wanted = {each["AlarmName"]: each for each in of_type(resolved()[kind], ALARM).values()}
    assert len(found) == len(wanted)
    assert {action for each in found for action in each["AlarmActions"]} == set(arns.values())
    for each in found:
        told = wanted[each["AlarmName"]]
        for key in told.keys() - {"AlarmActions", "Metrics"}:
            assert each[key] == told[key]


@pytest.mark.parametrize("kind", DASHBOARDS)
def test_dashboards_can_be_put(client: Client, kind: str) -> None:
    properties = dashboards()[kind]
    cloudwatch = client("cloudwatch")
    cloudwatch.put_dashboard(**properties)
    found = cloudwatch.get_dashboard(DashboardName=properties["DashboardName"])
    assert json.loads(found["DashboardBody"]) == json.loads(properties["DashboardBody"])


def registered(client: Client, resources: Resources) -> None:
    """Registers every target, after the services that they are about exist."""
    ecs = client("ecs")
    for properties in of_type(resources, TARGET).values():
        _, cluster, service = properties["ResourceId"].split("/")
        ecs.create_cluster(clusterName=cluster)
        task = {"name": "worker", "image": "worker", "memory": 128}
        ecs.register_task_definition(family="worker", containerDefinitions=[task])
        ecs.create_service(
            cluster=cluster, serviceName=service, taskDefinition="worker", desiredCount=1
        )
        client("application-autoscaling").register_scalable_target(**properties)


def policies_put(client: Client, resources: Resources) -> dict[str, str]:
    """Puts every policy on the target it names; their ARNs by logical id."""
    registered(client, resources)
    targets = {name.lower(): each for name, each in of_type(resources, TARGET).items()}
    autoscaling = client("application-autoscaling")
    made: dict[str, str] = {}
    for name, properties in of_type(resources, POLICY).items():
        target = targets[properties["ScalingTargetId"]]
        made[name] = autoscaling.put_scaling_policy(**as_called(properties, target))["PolicyARN"]
    return made


def as_called(policy: Mapping[str, Any], target: Mapping[str, Any]) -> dict[str, Any]:
    """CloudFormation names a policy's target by its id, the service by its three parts."""
    parts = ("ServiceNamespace", "ScalableDimension", "ResourceId")
    rest = {key: value for key, value in policy.items() if key != "ScalingTargetId"}
    return {**rest, **{part: target[part] for part in parts}}
