# SPDX-License-Identifier: Apache-2.0
"""A message's way: from alarm or rule to topic to key, and to those who are told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.infra.notify.followed import Resources, heard, speakers
from tests.infra.notify.notified import NOTIFY
from tests.infra.resolve import ACCOUNT

ALARMS, EVENTS = "cloudwatch.amazonaws.com", "events.amazonaws.com"
OVER_TLS = {"aws:SecureTransport": "true"}
# EventBridge sends no account along, neither to SNS nor to KMS.
SENT = {ALARMS: {**OVER_TLS, "aws:SourceAccount": ACCOUNT}, EVENTS: OVER_TLS}


def properties(resources: Resources, kind: str) -> list[Any]:
    return [each["Properties"] for each in resources.values() if each["Type"] == f"AWS::{kind}"]


def the_topic(resources: Resources) -> str:
    (name,) = [name for name, each in resources.items() if each["Type"] == "AWS::SNS::Topic"]
    return name


def test_whoever_speaks_to_the_topic_is_heard(resources: Resources) -> None:
    found = list(speakers(resources))
    assert {service for *_, service in found} == {ALARMS, EVENTS}
    for name, topic, service in found:
        assert heard(resources, topic, service, SENT[service]), name


@pytest.mark.parametrize(
    ("service", "context"),
    [
        (ALARMS, {**OVER_TLS, "aws:SourceAccount": "999988887777"}),
        (ALARMS, OVER_TLS),
        (ALARMS, {**SENT[ALARMS], "aws:SecureTransport": "false"}),
        (EVENTS, {"aws:SecureTransport": "false"}),
        ("s3.amazonaws.com", SENT[ALARMS]),
    ],
)
def test_nobody_else_is_heard(service: str, context: dict[str, str], resources: Resources) -> None:
    assert not heard(resources, the_topic(resources), service, context)


def test_the_key_is_its_own_is_rotated_and_goes_with_the_stack(resources: Resources) -> None:
    (key,) = [each for each in resources.values() if each["Type"] == "AWS::KMS::Key"]
    assert key["Properties"]["EnableKeyRotation"] is True
    assert (key["DeletionPolicy"], key["Properties"]["PendingWindowInDays"]) == ("Delete", 7)


def test_the_topic_is_called_after_its_deployment(resources: Resources) -> None:
    (topic,) = properties(resources, "SNS::Topic")
    assert topic["TopicName"] == "ours-alarms"


def test_addresses_are_subscribed(resources: Resources) -> None:
    told = {(s["Protocol"], s["Endpoint"]) for s in properties(resources, "SNS::Subscription")}
    assert told == {
        ("email", "ops@example.com"),
        ("email", "night@example.com"),
        ("https", NOTIFY.https[0]),
    }


def test_ids_hold_nothing_of_an_address(resources: Resources) -> None:
    ids = [name for name, each in resources.items() if each["Type"] == "AWS::SNS::Subscription"]
    assert not [name for name in ids if "SECRET" in name or "example" in name]


def test_a_failed_report_is_told_in_the_form_that_chats_show(resources: Resources) -> None:
    (rule,) = properties(resources, "Events::Rule")
    assert rule["EventPattern"]["detail"] == {
        "jobName": ["report"],
        "state": ["FAILED", "TIMEOUT", "STOPPED", "ERROR"],
    }
    (target,) = rule["Targets"]
    text = target["InputTransformer"]["InputTemplate"]
    for place, path in target["InputTransformer"]["InputPathsMap"].items():
        text = text.replace(f"<{place}>", f"[{path}]")
    message = json.loads(text)
    assert (message["version"], message["source"]) == ("1.0", "custom")
    assert message["content"]["textType"] == "client-markdown"
    assert message["content"]["title"] == (
        "Kafka lag: no report, [$.detail.jobName] is [$.detail.state]"
    )
    assert "[$.detail.jobRunId]" in message["content"]["description"]
