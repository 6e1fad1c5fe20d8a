# SPDX-License-Identifier: Apache-2.0
"""Token, queue, rule and alarms of views and messages, made in a stand-in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import validate_parameters

from tests.infra.answering import only, resources
from tests.infra.rehearsal.conftest import Client
from tests.infra.resolve import of_type

KIND, MESSAGES = "full", "StatusMessages"

# What the stand-in would make only with a package that is really there.
ONLY_VALIDATED = {
    "AWS::Lambda::Function": "CreateFunction",
    "AWS::Lambda::EventInvokeConfig": "PutFunctionEventInvokeConfig",
    "AWS::Lambda::Permission": "AddPermission",
    "AWS::Lambda::Url": "CreateFunctionUrlConfig",
}


def test_the_token_can_be_made_of_letters_and_digits(client: Client) -> None:
    wanted = only(KIND, "SecretsManager::Secret")["GenerateSecretString"]
    made = client("secretsmanager").get_random_password(**wanted)["RandomPassword"]
    assert len(made) == wanted["PasswordLength"]
    assert made.isascii()
    assert made.isalnum()


def test_the_queue_can_be_made_with_its_policy(client: Client) -> None:
    sqs, policy = client("sqs"), only(KIND, "SQS::QueuePolicy")["PolicyDocument"]
    attributes = {name: str(value).lower() for name, value in only(KIND, "SQS::Queue").items()}
    attributes["Policy"] = json.dumps(policy)
    url = sqs.create_queue(QueueName="failed", Attributes=attributes)["QueueUrl"]
    made = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert json.loads(made["Policy"]) == policy
    assert made["MessageRetentionPeriod"] == attributes["MessageRetentionPeriod"]


def test_the_rule_and_its_target_can_be_made(client: Client) -> None:
    events, rule = client("events"), only(KIND, "Events::Rule", MESSAGES)
    pattern = json.dumps(rule["EventPattern"])
    events.put_rule(Name="completed", EventPattern=pattern, State=rule["State"])
    answer = events.put_targets(Rule="completed", Targets=rule["Targets"])
    assert answer["FailedEntryCount"] == 0
    assert events.list_targets_by_rule(Rule="completed")["Targets"] == rule["Targets"]


def test_the_alarms_can_be_made(client: Client) -> None:
    cloudwatch = client("cloudwatch")
    wanted = of_type(resources(KIND), "AWS::CloudWatch::Alarm").values()
    for each in wanted:
        cloudwatch.put_metric_alarm(**each)
    made = {each["AlarmName"]: each for each in cloudwatch.describe_alarms()["MetricAlarms"]}
    assert set(made) == {each["AlarmName"] for each in wanted}
    for each in wanted:
        assert made[each["AlarmName"]]["TreatMissingData"] == each["TreatMissingData"]


@pytest.mark.parametrize("kind", sorted(ONLY_VALIDATED))
def test_what_the_stand_in_lacks_has_the_parameters_that_aws_takes(kind: str) -> None:
    shape = ServiceModel(Loader().load_service_model("lambda", "service-2"), "lambda")
    taken = shape.operation_model(ONLY_VALIDATED[kind]).input_shape
    found = of_type(resources(KIND), kind)
    assert found
    assert taken is not None
    for wanted in found.values():
        validate_parameters(_as_called(kind, wanted), taken)


def _as_called(kind: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """A resource's properties in the words of the call that makes it."""
    called = {key: value for key, value in wanted.items() if key != "Tags"}
    if kind == "AWS::Lambda::Function":
        called |= {"FunctionName": "views"}
        called.pop("ReservedConcurrentExecutions", None)  # a call of its own
    if kind == "AWS::Lambda::Permission":
        called |= {"StatementId": "let-in"}
    if kind == "AWS::Lambda::Url":
        called |= {"FunctionName": called.pop("TargetFunctionArn")}
    return called
