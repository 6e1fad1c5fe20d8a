# SPDX-License-Identifier: Apache-2.0
"""The summary as SNS gets it."""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.sns.models import sns_backends

from kafka_lag_report.aws import make_client
from kafka_lag_report.day_message import send, topic_region, write_for_chat
from kafka_lag_report.errors import DataError, UsageError
from kafka_lag_report.message import Message

_REGION = "eu-central-1"
_MESSAGE = Message(
    subject="Kafka lag 2026-01-31: 1 with records lost", body="Kafka lag\n- né: lost"
)


@pytest.fixture(name="topic_arn")
def _topic_arn(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    # the job may run in another region than its topic
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    sdk: Any = boto3
    with mock_aws():
        yield sdk.client("sns", region_name=_REGION).create_topic(Name="lag")["TopicArn"]


def test_the_message_arrives_whole_in_the_topics_own_region(topic_arn: str) -> None:
    send(_MESSAGE, topic_arn, make_client("sns", topic_region(topic_arn)))

    backend = sns_backends[DEFAULT_ACCOUNT_ID][_REGION]
    (sent,) = backend.topics[topic_arn].sent_notifications
    reported = json.loads(sent[1]) if sent[1].startswith("{") else {"email": sent[1]}
    assert (reported["email"], sent[2]) == (_MESSAGE.body, _MESSAGE.subject)


def test_chat_gets_its_own_form_without_mentions_that_a_name_may_hold() -> None:
    reported = json.loads(write_for_chat(Message("Kafka lag", "<!channel> & <b> lag")))

    assert (reported["version"], reported["source"]) == ("1.0", "custom")
    assert reported["content"]["title"] == "Kafka lag"
    assert reported["content"]["description"] == "\u2039!channel\u203a & \u2039b\u203a lag"


def test_a_refusal_says_that_the_reports_stand(topic_arn: str) -> None:
    other = f"{topic_arn}-gone"

    with pytest.raises(
        DataError, match=rf"reports are written, .* to {other}: .*NotFound"
    ) as found:
        send(_MESSAGE, other, make_client("sns", _REGION))

    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    "text",
    ["", "lag", "arn:aws:sqs:eu-west-1:1:lag", "arn:aws:sns::1:lag", "arn:aws:sns:eu-west-1:1:"],
)
def test_what_is_no_topic_is_refused_by_name(text: str) -> None:
    with pytest.raises(UsageError, match="not the ARN of an SNS topic"):
        topic_region(text)
