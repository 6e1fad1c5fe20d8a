# SPDX-License-Identifier: Apache-2.0
"""No right is for all resources or all actions, except the rights listed here with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.infra.conftest import Synthesised

# Actions with an asterisk, and where they may stand.
WIDE_ACTIONS = {
    "kms:*": "a key's own policy must leave it to its account, or nobody could manage it",
    "kms:GenerateDataKey*": "as AWS documents it for services that publish to an encrypted topic",
}

# Actions that may be given on `*`, by the kind of resource that gives them.
WIDE_RESOURCES = {
    "AWS::KMS::Key": "in a key's policy it means that key",
    "ec2:AssignPrivateIpAddresses": "Lambda's network interfaces have no ids before they are made",
    "ec2:CreateNetworkInterface": "as above",
    "ec2:DeleteNetworkInterface": "as above",
    "ec2:UnassignPrivateIpAddresses": "as above",
    "ec2:DescribeNetworkInterfaces": "takes no resource",
    "ec2:DescribeSubnets": "takes no resource",
    "cloudwatch:PutMetricData": "takes no resource; its namespace is a condition",
    "cloudwatch:DescribeAlarms": "the chat integration draws the alarm it tells of",
    "cloudwatch:GetMetricData": "takes no resource",
    "cloudwatch:GetMetricWidgetImage": "takes no resource",
}


ALARMS = "cloudwatch.amazonaws.com"


def statements(example: Synthesised) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Stack, type and statement of everything by which something may do things."""
    for stack, template in example.templates.items():
        for resource in template["Resources"].values():
            properties = resource.get("Properties", {})
            documents = [properties.get(key) for key in ("PolicyDocument", "KeyPolicy")]
            documents += [each["PolicyDocument"] for each in properties.get("Policies", [])]
            for document in filter(None, documents):
                for statement in document["Statement"]:
                    yield stack, resource["Type"], statement


def many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@pytest.fixture(name="allowed")
def _allowed(examples: dict[str, Synthesised]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        each
        for example in examples.values()
        for each in statements(example)
        if each[2]["Effect"] == "Allow"
    ]


def test_no_action_is_wide(allowed: list[tuple[str, str, dict[str, Any]]]) -> None:
    wide = {
        (stack, kind, action)
        for stack, kind, statement in allowed
        for action in many(statement["Action"])
        if "*" in action and not (kind == "AWS::KMS::Key" and action in WIDE_ACTIONS)
    }
    assert wide == set()


def test_no_resource_is_everything(allowed: list[tuple[str, str, dict[str, Any]]]) -> None:
    wide = {
        (stack, kind, action)
        for stack, kind, statement in allowed
        for action in many(statement["Action"])
        if "*" in many(statement.get("Resource", "nothing"))
        and kind not in WIDE_RESOURCES
        and action not in WIDE_RESOURCES
    }
    assert wide == set()


def test_every_exemption_is_used(allowed: list[tuple[str, str, dict[str, Any]]]) -> None:
    used = {a for _, _, statement in allowed for a in many(statement["Action"])}
    used |= {kind for _, kind, _ in allowed}
    assert {*WIDE_ACTIONS, *WIDE_RESOURCES} - used == set()


def of_kind(examples: dict[str, Synthesised], kind: str) -> list[dict[str, Any]]:
    """All statements of a kind of policy."""
    found = [each for example in examples.values() for each in statements(example)]
    return [statement for _, of, statement in found if of == kind]


# Whom a service acts for, in the policies of topics, keys and roles.
OWN_ACCOUNT = {"aws:SourceAccount": "111122223333"}


def test_a_topic_takes_alarms_of_its_own_account_and_nothing_without_tls(
    examples: dict[str, Synthesised],
) -> None:
    found = of_kind(examples, "AWS::SNS::TopicPolicy")
    allowed = [each for each in found if each["Effect"] == "Allow"]
    denied = [each for each in found if each["Effect"] == "Deny"]
    assert allowed
    for each in allowed:
        assert (each["Action"], each["Principal"]) == ("sns:Publish", {"Service": ALARMS})
        assert each["Condition"] == {"StringEquals": OWN_ACCOUNT}
    topics = sum(
        resource["Type"] == "AWS::SNS::Topic"
        for example in examples.values()
        for template in example.templates.values()
        for resource in template["Resources"].values()
    )
    without_tls = {"Bool": {"aws:SecureTransport": "false"}}
    assert [each["Condition"] for each in denied] == [without_tls] * topics


def test_a_key_is_its_accounts_and_lets_alarms_of_that_account_use_it(
    examples: dict[str, Synthesised],
) -> None:
    found = of_kind(examples, "AWS::KMS::Key")
    of_services = [each for each in found if "Service" in each["Principal"]]
    others = [each for each in found if each not in of_services]
    assert of_services
    for each in of_services:
        assert each["Principal"] == {"Service": ALARMS}
        assert set(each["Action"]) == {"kms:Decrypt", "kms:GenerateDataKey*"}
        assert each["Condition"] == {"StringEquals": OWN_ACCOUNT}
    root = ":iam::111122223333:root"
    assert [each for each in others if root not in str(each["Principal"]["AWS"])] == []


def test_only_functions_and_chats_take_on_a_role_without_saying_for_whom(
    examples: dict[str, Synthesised],
) -> None:
    trusted = [
        statement
        for example in examples.values()
        for template in example.templates.values()
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::IAM::Role"
        for statement in resource["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    ]
    without = {each["Principal"]["Service"] for each in trusted if "Condition" not in each}
    assert without == {"lambda.amazonaws.com", "chatbot.amazonaws.com"}
    conditions = [each["Condition"] for each in trusted if "Condition" in each]
    assert {str(*each.values()) for each in conditions} == {str(OWN_ACCOUNT)}


def test_no_role_has_a_policy_of_awss_own(examples: dict[str, Synthesised]) -> None:
    managed = [
        (stack, arn)
        for example in examples.values()
        for stack, template in example.templates.items()
        for resource in template["Resources"].values()
        for arn in many(resource.get("Properties", {}).get("ManagedPolicyArns", []))
        if ":aws:policy/" in str(arn)
    ]
    assert managed == []
