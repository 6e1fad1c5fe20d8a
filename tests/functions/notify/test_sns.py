# SPDX-License-Identifier: Apache-2.0
"""Notices through a topic, as its subscribers get them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws

from kafka_lag.notify.delivery import Outcome
from kafka_lag.notify.messages import StatusMessage, build_messages
from kafka_lag.notify.sns import SnsChannel
from tests.functions.notify.builders import a_change
from tests.functions.notify.fakes import always

REGION = "eu-west-1"


class Subscribed:
    """A topic with queues on it."""

    def __init__(self) -> None:
        self.sns: Any = boto3.client("sns", region_name=REGION)
        self._sqs: Any = boto3.client("sqs", region_name=REGION)
        self.arn: str = self.sns.create_topic(Name="status")["TopicArn"]
        self._queues = 0

    def queue(self, policy: dict[str, Any] | None = None, raw: str = "false") -> str:
        self._queues += 1
        url: str = self._sqs.create_queue(QueueName=f"q{self._queues}")["QueueUrl"]
        arn = self._sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        attributes = {"RawMessageDelivery": raw, "FilterPolicy": json.dumps(policy or {})}
        self.sns.subscribe(
            TopicArn=self.arn,
            Protocol="sqs",
            Endpoint=arn["Attributes"]["QueueArn"],
            Attributes=attributes,
        )
        return url

    def got(self, url: str) -> list[dict[str, Any]]:
        answer = self._sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
        return [json.loads(message["Body"]) for message in answer.get("Messages", [])]


@pytest.fixture(name="topic")
def _topic() -> Iterator[Subscribed]:
    with mock_aws():
        yield Subscribed()


def sent(messages: list[StatusMessage]) -> Outcome:
    return Outcome({message.id for message in messages})


def some(count: int, **more: Any) -> list[StatusMessage]:
    return build_messages([a_change(f"g{number}", **more) for number in range(count)], 1_000)


@pytest.mark.parametrize("chat", [False, True])
def test_each_notice_is_a_message_with_subject_and_text(topic: Subscribed, chat: bool) -> None:
    queue = topic.queue()

    assert SnsChannel(topic.sns, topic.arn, chat=chat).send(some(2), set(), always) == sent(some(2))

    got = topic.got(queue)
    assert [each["Subject"] for each in got] == [t.notice.subject for t in some(2)]
    assert [each["Message"] for each in got] == [t.notice.text for t in some(2)]


def test_a_filter_for_one_group_or_owner_hears_of_its_bulk_change(topic: Subscribed) -> None:
    queues = [topic.queue({"group": ["g11"]}), topic.queue({"owner": ["a"], "group": ["g3"]})]
    bulk = build_messages([a_change(f"g{at}", row={"owner": "ab"[at % 2]}) for at in range(12)], 12)

    assert SnsChannel(topic.sns, topic.arn).send(bulk, set(), always) == sent(bulk)

    assert [len(topic.got(queue)) for queue in queues] == [1, 1]


class Recorder:
    """A client that keeps what is published, and fails from call `fails` on, or once."""

    def __init__(self, fails: int, error: Exception, *, once: bool = False) -> None:
        self.published: list[dict[str, Any]] = []
        self.calls = 0
        self._fails = range(fails, fails + 1) if once else range(fails, 1_000)
        self._error = error

    def publish(self, **request: Any) -> None:
        self.calls += 1
        if self.calls - 1 in self._fails:
            raise self._error
        self.published.append(request)


DENIED = ClientError({"Error": {"Code": "AuthorizationError", "Message": "secret"}}, "Publish")
DOWN = EndpointConnectionError(endpoint_url="https://sns.example")


@pytest.mark.parametrize(
    ("error", "code"), [(DENIED, "AuthorizationError"), (DOWN, "EndpointConnectionError")]
)
def test_after_an_error_the_rest_is_not_tried(error: Exception, code: str) -> None:
    client = Recorder(1, error)
    outcome = SnsChannel(client, "arn:aws:sns:eu-west-1:1:t").send(some(4), set(), always)

    assert client.calls == 2
    assert outcome == Outcome(
        {some(4)[0].id},
        is_all=False,
        reason=f"SNS did not take it for arn:aws:sns:eu-west-1:1:t ({code}): check that the topic "
        "exists, and that the function may publish to it and use its key",
    )


def test_an_error_of_the_message_itself_stops_no_other() -> None:
    odd = ClientError({"Error": {"Code": "InvalidParameter", "Message": ""}}, "Publish")
    client = Recorder(1, odd, once=True)
    outcome = SnsChannel(client, "arn").send(some(4), set(), always)

    assert client.calls == 4
    assert outcome.sent == {some(4)[at].id for at in (0, 2, 3)}
    assert not outcome.is_all


def test_what_is_out_is_not_sent_again_and_when_the_time_is_up_the_rest_is_left() -> None:
    client, left = Recorder(9, DENIED), iter([True, False])
    first, second, *_ = some(4)
    outcome = SnsChannel(client, "arn").send(some(4), {first.id}, lambda: next(left))

    assert [each["Subject"] for each in client.published] == [second.notice.subject]
    assert outcome == Outcome({second.id}, is_all=False)


def test_chat_gets_its_own_form_by_default_and_people_the_text() -> None:
    client = Recorder(1, DENIED)
    SnsChannel(client, "arn", chat=True).send(some(1), set(), always)

    (request,) = client.published
    ways = json.loads(request["Message"])
    assert request["MessageStructure"] == "json"
    assert json.loads(ways["default"])["source"] == "custom"
    assert ways["sms"] == request["Subject"]
    assert {ways[way] for way in ("email", "email-json", "sqs", "lambda")} == {
        some(1)[0].notice.text
    }


def test_one_value_is_a_string_and_many_are_an_array() -> None:
    client = Recorder(1, DENIED)
    bulk = build_messages([a_change(f"g{at}") for at in range(10)], 10)
    SnsChannel(client, "arn").send(bulk, set(), always)

    attributes = client.published[0]["MessageAttributes"]
    assert attributes["cluster"] == {"DataType": "String", "StringValue": "shop"}
    assert attributes["group"]["DataType"] == "String.Array"
    assert json.loads(attributes["group"]["StringValue"]) == [f"g{at}" for at in range(10)]


def chat_notification(message: StatusMessage) -> Any:
    """What a channel for chat publishes by default."""
    client = Recorder(1, DENIED)
    SnsChannel(client, "arn", chat=True).send([message], set(), always)
    return json.loads(json.loads(client.published[0]["Message"])["default"])


def test_a_notice_has_the_form_that_chat_shows_and_the_thread_of_its_incident() -> None:
    change = a_change()
    (message,) = build_messages([change], 100)
    sent = chat_notification(message)

    assert (sent["version"], sent["source"], sent["id"]) == ("1.0", "custom", change.message_id)
    assert sent["content"]["textType"] == "client-markdown"
    assert sent["content"]["title"] == message.notice.subject
    assert sent["content"]["description"] == message.notice.text
    assert sent["metadata"]["threadId"] == change.incident_id


def test_a_name_cannot_mention_link_or_shout() -> None:
    (message,) = build_messages([a_change("<!channel> *now* [x](http://x) `~`")], 100)
    content = chat_notification(message)["content"]

    assert not set("<>[]*`~") & set(content["title"] + content["description"])


def test_what_is_too_long_for_chat_is_cut_at_a_line() -> None:
    changes = [a_change(f"group-{number:05}-{'x' * 180}") for number in range(40)]
    row = {"worst_topic": "t" * 200, "worst_partition": 1, "worst_member": "m" * 200}
    changes = [replace(change, row={**change.row, **row}) for change in changes]
    (message,) = build_messages(changes, len(changes))

    description = chat_notification(message)["content"]["description"]

    assert len(message.notice.text) > 8_000
    assert len(description) <= 7_502
    assert description.splitlines()[-1] == "…"
    assert description.splitlines()[-2] in message.notice.text.splitlines()
