# SPDX-License-Identifier: Apache-2.0
"""The handler, from S3's event to a subscriber's queue."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from moto import mock_aws

from kafka_lag import contract, notify_status
from kafka_lag.errors import ConfigError
from kafka_lag.notify.delivery import NotificationError
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.parquet import to_parquet
from tests.builders import MINUTE
from tests.fakes import RecordingLogger
from tests.functions.notify.builders import a_row, a_set

REGION = "us-east-1"
NOW = int(datetime.now(UTC).timestamp()) // 60 * MINUTE


class Context:
    """Lambda's, with a minute left by default."""

    def __init__(self, seconds: float = 60) -> None:
        self.seconds = seconds

    def get_remaining_time_in_millis(self) -> int:
        return round(self.seconds * 1000)


class Deployed:
    """A bucket, a topic and a queue on it."""

    def __init__(self) -> None:
        self.s3: Any = boto3.client("s3", region_name=REGION)
        self.s3.create_bucket(Bucket="kept")
        self.sns: Any = boto3.client("sns", region_name=REGION)
        self.topic: str = self.sns.create_topic(Name="status")["TopicArn"]
        self._sqs: Any = boto3.client("sqs", region_name=REGION)
        self._queue: str = self._sqs.create_queue(QueueName="messages")["QueueUrl"]
        arn = f"arn:aws:sqs:{REGION}:123456789012:messages"
        self.sns.subscribe(TopicArn=self.topic, Protocol="sqs", Endpoint=arn)

    def completed(self, minute: int, held: str) -> dict[str, Any]:
        """Writes a set and gives the event that S3 sends of it."""
        key = object_key(contract.GROUPS, "shop", NOW + minute * MINUTE)
        groups = a_set(a_row("payments", held, held_since=NOW, incident_since=NOW, lag=5))
        self.s3.put_object(Bucket="kept", Key=key, Body=to_parquet(groups, contract.GROUPS))
        detail = {"bucket": {"name": "kept"}, "object": {"key": key}}
        return {"detail-type": "Object Created", "source": "aws.s3", "detail": detail}

    def subjects(self) -> list[str]:
        answer = self._sqs.receive_message(QueueUrl=self._queue, MaxNumberOfMessages=10)
        return [json.loads(each["Body"])["Subject"] for each in answer.get("Messages", [])]


@pytest.fixture(name="aws")
def _aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    with mock_aws():
        aws = Deployed()
        monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
        monkeypatch.setenv(contract.ENV_BUCKET, "kept")
        monkeypatch.setenv(contract.ENV_STATUS_TOPIC, aws.topic)
        monkeypatch.setenv(contract.ENV_EVENT_BUS, "default")
        notify_status._notifier.cache_clear()
        yield aws
    notify_status._notifier.cache_clear()


def test_a_change_between_two_snapshots_is_sent_once(aws: Deployed) -> None:
    events = [aws.completed(-2, contract.OK), aws.completed(-1, contract.ERR)]

    outcomes = [notify_status.handler(event, Context()) for event in (*events, *events)]

    assert [outcome["messages"] for outcome in outcomes] == [0, 2, 0, 0]
    assert aws.subjects() == ["Kafka lag ERR: payments on shop (opened)"]


def test_a_topic_that_is_gone_is_one_clear_error(
    aws: Deployed, caplog: pytest.LogCaptureFixture
) -> None:
    notify_status.handler(aws.completed(-2, contract.OK), None)
    aws.sns.delete_topic(TopicArn=aws.topic)

    with pytest.raises(NotificationError, match=r"^shop: Not all messages are out: SNS .*NotFound"):
        notify_status.handler(aws.completed(-1, contract.ERR), Context())

    sent, logged = caplog.records
    assert sent.getMessage() == "shop: 1 sent by event_bus"
    assert logged.getMessage().startswith("shop: Not all messages are out: SNS did not take it")
    assert logged.exc_info is None


def test_nothing_is_begun_in_the_time_that_one_request_may_hang(aws: Deployed) -> None:
    events = [aws.completed(-2, contract.OK), aws.completed(-1, contract.ERR)]
    notify_status.handler(events[0], Context())

    late = notify_status.handler(events[1], Context(notify_status.SPARE_SECONDS))

    assert late == {"runs": 0, "messages": 0}
    assert (
        notify_status.handler(events[1], Context(notify_status.SPARE_SECONDS + 9))["messages"] == 2
    )


TOPIC = "arn:aws:sns:eu-west-1:123456789012:status"
BUS = "arn:aws:events:eu-west-1:123456789012:event-bus/alerts"
GOOD = {contract.ENV_BUCKET: "kept", contract.ENV_STATUS_TOPIC: TOPIC, contract.ENV_EVENT_BUS: BUS}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {contract.ENV_EVENT_BUS: ""},
        {contract.ENV_STATUS_TOPIC: ""},
        {contract.ENV_CHAT: "true"},
        {contract.ENV_CHAT: ""},
        {contract.ENV_MSK_CLUSTERS: '{"shop": "arn:aws:kafka:eu-west-1:1:cluster/shop/a-1"}'},
    ],
)
def test_one_channel_is_enough(more: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")

    assert notify_status.build_notifier(GOOD | more, RecordingLogger())[0] == "kept"


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({contract.ENV_BUCKET: ""}, "KAFKA_LAG_BUCKET is not set"),
        (
            {contract.ENV_STATUS_TOPIC: "", contract.ENV_EVENT_BUS: ""},
            "neither KAFKA_LAG_STATUS_TOPIC nor KAFKA_LAG_EVENT_BUS is set",
        ),
        ({contract.ENV_STATUS_TOPIC: "status"}, "'status' is not the ARN of an SNS topic"),
        ({contract.ENV_STATUS_TOPIC: BUS}, "is not the ARN of an SNS topic"),
        ({contract.ENV_STATUS_TOPIC: f"{TOPIC}.fifo"}, "is a FIFO topic: name a standard one"),
        ({contract.ENV_EVENT_BUS: TOPIC}, "is not the name or ARN of an event bus"),
        ({contract.ENV_MSK_CLUSTERS: "[]"}, "KAFKA_LAG_MSK_CLUSTERS is not JSON of names"),
        ({contract.ENV_CHAT: "yes"}, "KAFKA_LAG_CHAT must be true or false, not 'yes'"),
        ({contract.ENV_BUCKET: "", contract.ENV_CHAT: "?"}, "not set; KAFKA_LAG_CHAT must be"),
    ],
)
def test_what_is_wrong_is_named(more: dict[str, str], fault: str) -> None:
    with pytest.raises(ConfigError) as caught:
        notify_status.build_notifier(GOOD | more, RecordingLogger())

    assert fault in str(caught.value)
