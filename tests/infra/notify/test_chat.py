# SPDX-License-Identifier: Apache-2.0
"""Chat channels see alarms and can do nothing."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk.assertions import Template

from infra.config.parts.shared import Notify
from infra.notify.topic import AlarmTopic
from tests.infra.notify.followed import Resources
from tests.infra.notify.test_topic import properties, the_topic

KINDS = ("SlackChannelConfiguration", "MicrosoftTeamsChannelConfiguration")


@pytest.fixture(name="channel", params=KINDS)
def _channel(request: pytest.FixtureRequest, resources: Resources) -> Any:
    (found,) = properties(resources, f"Chatbot::{request.param}")
    return found


def test_a_channel_hears_the_topic(channel: Any, resources: Resources) -> None:
    assert channel["SnsTopicArns"] == [{"Ref": the_topic(resources)}]


def test_its_role_and_its_guardrail_are_the_same_policy_that_only_looks(
    channel: Any, resources: Resources
) -> None:
    role = resources[channel["IamRoleArn"]["Fn::GetAtt"][0]]["Properties"]
    assert role["ManagedPolicyArns"] == channel["GuardrailPolicies"]
    assert "Policies" not in role
    (statement,) = resources[channel["GuardrailPolicies"][0]["Ref"]]["Properties"][
        "PolicyDocument"
    ]["Statement"]
    verbs = {action.partition(":")[2] for action in statement["Action"]}
    assert verbs == {"DescribeAlarms", "GetMetricData", "GetMetricWidgetImage"}


def test_only_the_chat_service_takes_the_role(channel: Any, resources: Resources) -> None:
    role = resources[channel["IamRoleArn"]["Fn::GetAtt"][0]]["Properties"]
    (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": "chatbot.amazonaws.com"}


def test_without_channels_there_is_no_role() -> None:
    stack = Stack(App(), "Quiet")
    AlarmTopic(stack, "Alarms", notify=Notify())
    kinds = {each["Type"] for each in Template.from_stack(stack).to_json()["Resources"].values()}
    assert kinds == {"AWS::KMS::Key", "AWS::SNS::Topic", "AWS::SNS::TopicPolicy"}
