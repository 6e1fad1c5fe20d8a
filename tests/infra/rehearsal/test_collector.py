# SPDX-License-Identifier: Apache-2.0
"""A collector's schedule, rights and function, made in a stand-in from the template."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import validate_parameters

from tests.infra.conftest import Synthesised
from tests.infra.rehearsal.conftest import Client
from tests.infra.resolve import of_type, resolve

Resources = dict[str, dict[str, Any]]

# What the stand-in would make only with a package and a network that are really there.
ONLY_VALIDATED = {
    "AWS::Lambda::Function": ("lambda", "CreateFunction"),
    "AWS::Lambda::EventInvokeConfig": ("lambda", "PutFunctionEventInvokeConfig"),
    "AWS::EC2::SecurityGroupEgress": ("ec2", "AuthorizeSecurityGroupEgress"),
    "AWS::EC2::SecurityGroupIngress": ("ec2", "AuthorizeSecurityGroupIngress"),
}


@pytest.fixture(name="resources", scope="module")
def _resources(examples: dict[str, Synthesised]) -> Resources:
    return resolve(examples["one-scram-cluster"].templates["kafka-lag-orders@eu-west-1"])


def test_the_schedule_can_be_made(resources: Resources, client: Client) -> None:
    scheduler = client("scheduler")
    ((name, wanted),) = of_type(resources, "AWS::Scheduler::Schedule").items()
    scheduler.create_schedule(Name=name[:64], **wanted)
    made = scheduler.get_schedule(Name=name[:64])
    assert wanted.items() <= made.items()


def test_every_role_and_its_rights_can_be_made(resources: Resources, client: Client) -> None:
    iam = client("iam")
    roles = of_type(resources, "AWS::IAM::Role")
    for name, wanted in roles.items():
        trusted = json.dumps(wanted["AssumeRolePolicyDocument"])
        iam.create_role(RoleName=name.lower()[:64], AssumeRolePolicyDocument=trusted)
    for wanted in of_type(resources, "AWS::IAM::Policy").values():
        (role,) = wanted["Roles"]
        iam.put_role_policy(
            RoleName=role[:64],
            PolicyName=wanted["PolicyName"],
            PolicyDocument=json.dumps(wanted["PolicyDocument"]),
        )
    with_rights = [
        name for name in roles if iam.list_role_policies(RoleName=name.lower()[:64])["PolicyNames"]
    ]
    assert with_rights == list(roles)


def test_every_log_group_can_be_made(resources: Resources, client: Client) -> None:
    logs = client("logs")
    groups = of_type(resources, "AWS::Logs::LogGroup")
    for name, wanted in groups.items():
        logs.create_log_group(logGroupName=name)
        days = wanted["RetentionInDays"]
        logs.put_retention_policy(logGroupName=name, retentionInDays=days)
    made = {each["logGroupName"]: each for each in logs.describe_log_groups()["logGroups"]}
    assert {name: made[name]["retentionInDays"] for name in groups} == {
        name: wanted["RetentionInDays"] for name, wanted in groups.items()
    }


@pytest.mark.parametrize("kind", sorted(ONLY_VALIDATED))
def test_what_the_stand_in_lacks_has_the_parameters_that_aws_takes(
    resources: Resources, kind: str
) -> None:
    service, operation = ONLY_VALIDATED[kind]
    shape = ServiceModel(Loader().load_service_model(service, "service-2"), service)
    taken = shape.operation_model(operation).input_shape
    found = of_type(resources, kind)
    assert found
    assert taken is not None
    for wanted in found.values():
        validate_parameters(_as_called(kind, wanted), taken)


def _as_called(kind: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """A resource's properties in the words of the call that makes it."""
    called = {key: value for key, value in wanted.items() if key != "Tags"}
    if kind == "AWS::Lambda::Function":
        called |= {"FunctionName": "collector", "Tags": {}}
    if kind.startswith("AWS::EC2::SecurityGroup"):
        peer = called.pop("SourceSecurityGroupId", None) or called.pop("DestinationSecurityGroupId")
        group = called.pop("GroupId")
        pair = {"GroupId": peer, "Description": called.pop("Description")}
        return {"GroupId": group, "IpPermissions": [{**called, "UserIdGroupPairs": [pair]}]}
    return called
