# SPDX-License-Identifier: Apache-2.0
"""A message's way: from alarm or rule to topic to key, and to those who get it."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template

from kafka_lag_cdk.config.shared import Notify
from kafka_lag_cdk.notifications import Topics
from tests.infra.notify.followed import Resources, heard, speakers, topic_ids
from tests.infra.notify.notified import NOTIFY
from tests.infra.resolve import ACCOUNT, REGION

ALARMS, EVENTS = "cloudwatch.amazonaws.com", "events.amazonaws.com"
OVER_TLS = {"aws:SecureTransport": "true"}
OF_ALARM = {**OVER_TLS, "aws:SourceAccount": ACCOUNT}


def properties(resources: Resources, kind: str) -> list[Any]:
    return [each["Properties"] for each in resources.values() if each["Type"] == f"AWS::{kind}"]


def test_every_alarm_may_publish_to_its_topic(resources: Resources) -> None:
    found = list(speakers(resources))
    assert {topic for _, topic, _ in found} == {topic_ids(resources)["alarms"]}
    for name, topic, service in found:
        assert heard(resources, topic, service, OF_ALARM), name


@pytest.mark.parametrize("topic", ["alarms", "reports"])
@pytest.mark.parametrize(
    ("service", "context"),
    [
        (ALARMS, {**OVER_TLS, "aws:SourceAccount": "999988887777"}),
        (ALARMS, OVER_TLS),
        (ALARMS, {**OF_ALARM, "aws:SecureTransport": "false"}),
        (EVENTS, OVER_TLS),
        ("s3.amazonaws.com", OF_ALARM),
    ],
)
def test_nobody_else_is_heard(
    topic: str, service: str, context: dict[str, str], resources: Resources
) -> None:
    assert not heard(resources, topic_ids(resources)[topic], service, context)


@pytest.mark.parametrize(
    ("previous", "new", "sent"),
    [
        ("INSUFFICIENT_DATA", "OK", False),
        ("OK", "INSUFFICIENT_DATA", False),
        ("INSUFFICIENT_DATA", "ALARM", True),
        ("OK", "ALARM", True),
        ("ALARM", "OK", True),
    ],
)
def test_only_the_begin_and_the_end_of_an_alarm_reach_an_address(
    previous: str, new: str, sent: bool, resources: Resources
) -> None:
    """As CloudWatch writes a change of state into the message that SNS filters."""
    body = {"OldStateValue": previous, "NewStateValue": new, "AlarmName": "ours/orders/sla/a"}
    alarms = {"Ref": topic_ids(resources)["alarms"]}
    found = [e for e in properties(resources, "SNS::Subscription") if e["TopicArn"] == alarms]
    assert len(found) == 3
    for subscription in found:
        assert subscription["FilterPolicyScope"] == "MessageBody"
        assert passes(subscription["FilterPolicy"], body) is sent


def passes(policy: Any, body: dict[str, str]) -> bool:
    """SNS's rule: every key, or one of `$or`, holds one of its values [SNS filter policies]."""
    return all(
        any(passes(part, body) for part in wanted) if key == "$or" else body.get(key) in wanted
        for key, wanted in policy.items()
    )


def test_an_alarm_topic_of_ones_own_is_subscribed_to_and_left_alone() -> None:
    stack = Stack(App(), "Own", env=Environment(account=ACCOUNT, region=REGION))
    own = f"arn:aws:sns:{REGION}:{ACCOUNT}:pages"
    known = sns.Topic.from_topic_arn(stack, "Pages", own)
    topics = Topics(stack, "Alarms", name="ours", notify=NOTIFY, existing=known)
    assert topics.alarms.topic_arn == own
    found = Template.from_stack(stack).to_json()["Resources"]
    assert set(topic_ids(found)) == {"reports"}
    there = [e["Endpoint"] for e in properties(found, "SNS::Subscription") if e["TopicArn"] == own]
    assert sorted(there) == sorted([*NOTIFY.email, *NOTIFY.https])


def test_with_nothing_to_report_there_is_one_topic_and_with_one_of_ones_own_not_even_a_key() -> (
    None
):
    stack = Stack(App(), "None", env=Environment(account=ACCOUNT, region=REGION))
    Topics(stack, "Ours", name="ours", notify=Notify(), reported=False)
    before = Template.from_stack(stack).to_json()["Resources"]
    assert set(topic_ids(before)) == {"alarms"}
    alone = Stack(App(), "Alone", env=Environment(account=ACCOUNT, region=REGION))
    own = sns.Topic.from_topic_arn(alone, "Pages", f"arn:aws:sns:{REGION}:{ACCOUNT}:pages")
    Topics(alone, "Theirs", name="ours", notify=Notify(), existing=own, reported=False)
    assert Template.from_stack(alone).to_json().get("Resources", {}) == {}


def test_ids_hold_nothing_of_an_address(resources: Resources) -> None:
    ids = [name for name, each in resources.items() if each["Type"] == "AWS::SNS::Subscription"]
    assert not [name for name in ids if "SECRET" in name or "example" in name]
