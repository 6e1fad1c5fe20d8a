# SPDX-License-Identifier: Apache-2.0
"""Sends notices to an SNS topic: text for people and chat, attributes for filters."""

from __future__ import annotations

import json
from collections.abc import Sequence, Set
from typing import Any

from kafka_lag.aws import AWS_ERRORS, error_code
from kafka_lag.notify.delivery import HasTime, Outcome
from kafka_lag.notify.messages import Notice, StatusMessage

# Errors of a single message; the next may be accepted.
_OF_THE_MESSAGE = ("InvalidParameter", "ParameterValueInvalid")
# Protocols whose readers get the text; all others, chat among them, get the default.
_TEXT_PROTOCOLS = ("email", "email-json", "sqs", "lambda")
# Characters that chat reads as a mention, a link or a style, replaced by similar ones.
_CHAT_PLAIN = str.maketrans("<>[]*`~", "\u2039\u203a()\u2217'\u223c")
_CHAT_EVENT_TYPE = "Kafka lag"
# Chat may not show more than about 8,000 characters at all.
_CHAT_LONGEST = 7_500


class SnsChannel:
    """One topic; with `chat` its default message is one for AWS's chat integration."""

    name = "sns"

    def __init__(self, client: Any, topic_arn: str, *, chat: bool = False) -> None:
        self._client = client
        self._topic_arn = topic_arn
        self._chat = chat

    def send(self, messages: Sequence[StatusMessage], sent: Set[str], has_time: HasTime) -> Outcome:
        """Publishes each message that was not sent before.

        After an error the rest is not tried, because it would fail, too, unless the error is about
        this message only.
        """
        out: set[str] = set()
        failed: str | None = None
        for message in messages:
            if message.id in sent:
                continue
            if not has_time():
                return Outcome(out, is_all=False, reason=failed)
            try:
                self._client.publish(
                    TopicArn=self._topic_arn,
                    Subject=message.notice.subject,
                    MessageAttributes=_build_attributes(message.notice),
                    **self._build_body(message),
                )
            except AWS_ERRORS as error:
                failed = self._explain(error_code(error))
                if error_code(error) not in _OF_THE_MESSAGE:
                    break
            else:
                out.add(message.id)
        return Outcome(out, is_all=failed is None, reason=failed)

    def _explain(self, code: str) -> str:
        return (
            f"SNS did not take it for {self._topic_arn} ({code}): check that the topic exists, and "
            "that the function may publish to it and use its key"
        )

    def _build_body(self, message: StatusMessage) -> dict[str, str]:
        text = message.notice.text
        if not self._chat:
            return {"Message": text}
        by_protocol = {"default": _build_chat_notification(message), "sms": message.notice.subject}
        by_protocol |= dict.fromkeys(_TEXT_PROTOCOLS, text)
        return {
            "Message": json.dumps(by_protocol, ensure_ascii=False),
            "MessageStructure": "json",
        }


def _build_attributes(notice: Notice) -> dict[str, dict[str, str]]:
    return {
        name: {"DataType": "String", "StringValue": value}
        if isinstance(value, str)
        else {"DataType": "String.Array", "StringValue": json.dumps(value)}
        for name, value in notice.attributes.items()
    }


def _build_chat_notification(message: StatusMessage) -> str:
    """Returns the custom notification as JSON, the only form that AWS's chat integration shows.

    All messages of one incident share a thread. Names may contain what chat reads as mentions and
    links, so these characters are replaced.
    """
    notice = message.notice
    content = {
        "version": "1.0",
        "source": "custom",
        "id": message.id,
        "content": {
            "textType": "client-markdown",
            "title": notice.subject.translate(_CHAT_PLAIN),
            "description": _cut_for_chat(notice.text.translate(_CHAT_PLAIN)),
        },
        "metadata": {
            "threadId": notice.thread,
            "summary": notice.subject.translate(_CHAT_PLAIN),
            "eventType": _CHAT_EVENT_TYPE,
        },
    }
    return json.dumps(content, ensure_ascii=False)


def _cut_for_chat(text: str) -> str:
    """Returns as many whole lines as fit."""
    if len(text) <= _CHAT_LONGEST:
        return text
    return text[:_CHAT_LONGEST].rpartition("\n")[0] + "\n…"
