# SPDX-License-Identifier: Apache-2.0
"""Alarms, their topic and key, and who is told, made in a stand-in for AWS from the template."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import botocore.session
import pytest
from botocore.validate import ParamValidator

from tests.infra.alarms.conftest import watched
from tests.infra.notify.notified import NOTIFY
from tests.infra.rehearsal.conftest import Client
from tests.infra.resolve import of_type, resolve

# What the stand-in has no part of: held against the parameters that AWS takes, and no more.
LACKING = {
    "AWS::Chatbot::SlackChannelConfiguration": ("chatbot", "CreateSlackChannelConfiguration"),
    "AWS::Chatbot::MicrosoftTeamsChannelConfiguration": (
        "chatbot",
        "CreateMicrosoftTeamsChannelConfiguration",
    ),
}
MADE = {
    "AWS::CloudWatch::Alarm",
    "AWS::Events::Rule",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Role",
    "AWS::KMS::Key",
    "AWS::SNS::Subscription",
    "AWS::SNS::Topic",
    "AWS::SNS::TopicPolicy",
}
# Named otherwise in CloudFormation than by the service itself.
RENAMED = {
    "SlackWorkspaceId": "SlackTeamId",
    "TeamsChannelId": "ChannelId",
    "TeamsTenantId": "TenantId",
    "GuardrailPolicies": "GuardrailPolicyArns",
}

Resources = Mapping[str, dict[str, Any]]


@pytest.fixture(name="resources", scope="module")
def _resources() -> Resources:
    return resolve(watched())


def test_everything_is_rehearsed_here(resources: Resources) -> None:
    assert {each["Type"] for each in resources.values()} == MADE | set(LACKING)


def test_every_alarm_can_be_made(resources: Resources, client: Client) -> None:
    cloudwatch = client("cloudwatch")
    alarms = of_type(resources, "AWS::CloudWatch::Alarm").values()
    for properties in alarms:
        cloudwatch.put_metric_alarm(**properties)
    found = cloudwatch.describe_alarms(MaxRecords=100)["MetricAlarms"]
    told = {each["AlarmName"]: each for each in found}
    for properties in alarms:
        made = told[properties["AlarmName"]]
        for key in ("EvaluationPeriods", "DatapointsToAlarm", "TreatMissingData", "AlarmActions"):
            assert made[key] == properties[key]
        assert made.get("Statistic") == properties.get("Statistic")


def test_the_topic_is_made_with_its_policy_and_its_key(
    resources: Resources, client: Client
) -> None:
    sns, kms = client("sns"), client("kms")
    (key,) = of_type(resources, "AWS::KMS::Key").values()
    key_id = kms.create_key(Description=key["Description"], Policy=json.dumps(key["KeyPolicy"]))[
        "KeyMetadata"
    ]["KeyId"]
    kms.enable_key_rotation(KeyId=key_id)
    (topic,) = of_type(resources, "AWS::SNS::Topic").values()
    attributes = {"DisplayName": topic["DisplayName"], "KmsMasterKeyId": key_id}
    arn = sns.create_topic(Name=topic["TopicName"], Attributes=attributes)["TopicArn"]
    assert arn.endswith(":kafka-lag-alarms")
    (policy,) = of_type(resources, "AWS::SNS::TopicPolicy").values()
    document = json.dumps(policy["PolicyDocument"])
    sns.set_topic_attributes(TopicArn=arn, AttributeName="Policy", AttributeValue=document)
    made = sns.get_topic_attributes(TopicArn=arn)["Attributes"]
    assert made["KmsMasterKeyId"] == key_id
    assert json.loads(made["Policy"]) == policy["PolicyDocument"]
    kept = kms.get_key_policy(KeyId=key_id, PolicyName="default")["Policy"]
    assert json.loads(kept) == key["KeyPolicy"]


def test_every_address_can_be_subscribed(resources: Resources, client: Client) -> None:
    sns = client("sns")
    arn = sns.create_topic(Name="alarms")["TopicArn"]
    for each in of_type(resources, "AWS::SNS::Subscription").values():
        sns.subscribe(TopicArn=arn, Protocol=each["Protocol"], Endpoint=each["Endpoint"])
    made = sns.list_subscriptions_by_topic(TopicArn=arn)["Subscriptions"]
    assert {each["Endpoint"] for each in made} == {*NOTIFY.email, *NOTIFY.https}


def test_the_rule_on_failed_reports_can_be_made(resources: Resources, client: Client) -> None:
    events = client("events")
    (rule,) = of_type(resources, "AWS::Events::Rule").values()
    events.put_rule(
        Name="report-failed",
        Description=rule["Description"],
        EventPattern=json.dumps(rule["EventPattern"]),
        State=rule["State"],
    )
    answer = events.put_targets(Rule="report-failed", Targets=rule["Targets"])
    assert answer["FailedEntryCount"] == 0
    assert events.list_targets_by_rule(Rule="report-failed")["Targets"] == rule["Targets"]


def test_the_role_of_chats_can_be_made(resources: Resources, client: Client) -> None:
    iam = client("iam")
    (policy,) = of_type(resources, "AWS::IAM::ManagedPolicy").values()
    arn = iam.create_policy(
        PolicyName="looking",
        Description=policy["Description"],
        PolicyDocument=json.dumps(policy["PolicyDocument"]),
    )["Policy"]["Arn"]
    (role,) = of_type(resources, "AWS::IAM::Role").values()
    iam.create_role(
        RoleName="chat",
        Description=role["Description"],
        AssumeRolePolicyDocument=json.dumps(role["AssumeRolePolicyDocument"]),
    )
    iam.attach_role_policy(RoleName="chat", PolicyArn=arn)
    attached = iam.list_attached_role_policies(RoleName="chat")["AttachedPolicies"]
    assert [each["PolicyArn"] for each in attached] == [arn]


@pytest.mark.parametrize("kind", LACKING)
def test_what_the_stand_in_lacks_has_the_parameters_that_aws_takes(
    kind: str, resources: Resources
) -> None:
    service, operation = LACKING[kind]
    shape = _input_shape(service, operation)
    (properties,) = of_type(resources, kind).values()
    given = {RENAMED.get(key, key): value for key, value in properties.items()}
    assert set(given) <= set(shape.members)
    assert ParamValidator().validate(given, shape).generate_report() == ""


def _input_shape(service: str, operation: str) -> Any:
    model = botocore.session.get_session().get_service_model(service)
    return model.operation_model(operation).input_shape
