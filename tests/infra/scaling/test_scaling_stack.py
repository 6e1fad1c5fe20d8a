# SPDX-License-Identifier: Apache-2.0
"""Services of another account have a stack of their own there, and the cluster's has none of it."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App
from aws_cdk.cx_api import CloudAssembly, CloudFormationStackArtifact

from kafka_lag_cdk.stacks import stacks_of
from tests.infra.code import SMALL_PACKAGE
from tests.infra.configured import SERVICE, STEPS, cluster_json, deployment
from tests.infra.resolve import of_type

OWN, OTHER, THIRD = "111122223333", "999988887777", "444455556666"
TARGET = "AWS::ApplicationAutoScaling::ScalableTarget"
POLICY, ALARM = "AWS::ApplicationAutoScaling::ScalingPolicy", "AWS::CloudWatch::Alarm"


def service(name: str, **changes: Any) -> dict[str, Any]:
    return {**SERVICE, "service": name, "max": 8, "tasks": {}, **changes}


@pytest.fixture(name="assembly", scope="module")
def _assembly(tmp_path_factory: pytest.TempPathFactory) -> CloudAssembly:
    """Services of the cluster's own account, named or not, and of two others."""
    app = App(outdir=str(tmp_path_factory.mktemp("scaled")))
    scaling = [
        service("here"),
        service("also-here", account=OWN),
        service("there", account=OTHER),
        service("also-there", account=OTHER, tasks=None, steps=STEPS),
        service("far", account=THIRD),
    ]
    stacks_of(app, deployment(cluster_json(scaling=scaling), name="other"), SMALL_PACKAGE)
    return app.synth()


def stacks_in(assembly: CloudAssembly, account: str) -> list[CloudFormationStackArtifact]:
    return [each for each in assembly.stacks if each.environment.account == account]


def services_of(stack: CloudFormationStackArtifact) -> set[str]:
    targets = of_type(stack.template["Resources"], TARGET).values()
    return {each["ResourceId"].rpartition("/")[2] for each in targets}


@pytest.mark.parametrize(
    ("account", "services"), [(OTHER, {"there", "also-there"}), (THIRD, {"far"})]
)
def test_each_other_account_has_one_stack_with_its_services(
    assembly: CloudAssembly, account: str, services: set[str]
) -> None:
    (stack,) = stacks_in(assembly, account)
    assert stack.stack_name == "other-orders-scaling"
    assert stack.environment.region == "eu-west-1"
    assert services_of(stack) == services


def test_the_clusters_stack_has_those_of_its_own_account_alone(assembly: CloudAssembly) -> None:
    (stack,) = [each for each in stacks_in(assembly, OWN) if each.stack_name == "other-orders"]
    assert services_of(stack) == {"here", "also-here"}


def test_there_is_nothing_in_it_but_targets_policies_and_alarms(assembly: CloudAssembly) -> None:
    (stack,) = stacks_in(assembly, OTHER)
    kinds = [each["Type"] for each in stack.template["Resources"].values()]
    # One rule for the tasks that are needed, two for steps.
    assert {kind: kinds.count(kind) for kind in kinds} == {TARGET: 2, POLICY: 3, ALARM: 3}


def test_its_alarms_read_metrics_of_the_clusters_account(assembly: CloudAssembly) -> None:
    (stack,) = stacks_in(assembly, OTHER)
    alarms = of_type(stack.template["Resources"], ALARM).values()
    read = [query for alarm in alarms for query in alarm["Metrics"] if "MetricStat" in query]
    assert {query["AccountId"] for query in read} == {OWN}


def test_it_waits_for_no_stack_and_has_the_deployments_tag(assembly: CloudAssembly) -> None:
    (stack,) = stacks_in(assembly, THIRD)
    assert not [each for each in stack.dependencies if hasattr(each, "stack_name")]
    assert stack.tags["application"] == "other"


def test_without_services_of_others_there_is_no_such_stack(tmp_path: Any) -> None:
    app = App(outdir=str(tmp_path))
    scaling = [service("here"), service("also-here", account=OWN)]
    made = stacks_of(app, deployment(cluster_json(scaling=scaling)), SMALL_PACKAGE)
    assert [each.stack_name for each in made if each.stack_name.endswith("-scaling")] == []
