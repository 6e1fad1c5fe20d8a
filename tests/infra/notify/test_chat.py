# SPDX-License-Identifier: Apache-2.0
"""Chat channels see alarms and can do nothing."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag_cdk.config.shared import Notify
from tests.infra.notify.conftest import ELSEWHERE
from tests.infra.notify.followed import Resources, topic_ids
from tests.infra.notify.notified import NOTIFY
from tests.infra.notify.test_topic import properties

KINDS = ("SlackChannelConfiguration", "MicrosoftTeamsChannelConfiguration")


@pytest.fixture(name="channel", params=KINDS)
def _channel(request: pytest.FixtureRequest, resources: Resources) -> Any:
    (found,) = properties(resources, f"Chatbot::{request.param}")
    return found


def test_a_channel_shows_both_topics_of_its_region_and_those_of_others(
    channel: Any, resources: Resources
) -> None:
    own = [{"Ref": topic_ids(resources)[kind]} for kind in ("alarms", "reports")]
    assert channel["SnsTopicArns"] == [*own, ELSEWHERE]


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


def test_all_channels_share_one_role_and_one_policy(resources: Resources) -> None:
    roles = [each["AssumeRolePolicyDocument"] for each in properties(resources, "IAM::Role")]
    assert str(roles).count("chatbot.amazonaws.com") == 1
    assert len(properties(resources, "IAM::ManagedPolicy")) == 1


@pytest.mark.parametrize(("kinds", "wanted"), [((), False), (("slack",), True), (("teams",), True)])
def test_a_channel_of_either_kind_is_one(kinds: tuple[str, ...], wanted: bool) -> None:
    chosen = {kind: getattr(NOTIFY, kind) for kind in kinds}
    assert Notify(email=NOTIFY.email).model_copy(update=chosen).has_chats is wanted
