# SPDX-License-Identifier: Apache-2.0
"""Notices by way of an SNS topic: text for people, attributes for filters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from kafka_lag.aws import error_code, is_rejected
from kafka_lag.notify.channels.channel import InTime, Refusal
from kafka_lag.notify.channels.chat import for_chat
from kafka_lag.notify.messages.telling import Notice, Telling

# Refusals of one message, of which the next need not hear.
_OF_THE_MESSAGE = ("InvalidParameter", "ParameterValueInvalid")
# Where people or programs read the text; all others, chat among them, get the default.
_READERS = ("email", "email-json", "sqs", "lambda")


class Sns:
    """One topic; with `chat` its default message is that of AWS's chat integration."""

    name = "sns"

    def __init__(self, client: Any, topic_arn: str, *, chat: bool = False) -> None:
        self._client = client
        self._topic_arn = topic_arn
        self._chat = chat

    def send(self, tellings: Sequence[Telling], in_time: InTime) -> dict[str, Refusal]:
        """One message a telling; after a refusal the rest is not tried, as it would fare alike,
        unless what was refused is the message itself."""
        failed: dict[str, Refusal] = {}
        for at, telling in enumerate(tellings):
            rest = [late.name for late in tellings[at:]]
            if not in_time():
                return failed | dict.fromkeys(rest, Refusal(None))
            try:
                self._client.publish(
                    TopicArn=self._topic_arn,
                    Subject=telling.notice.subject,
                    MessageAttributes=_attributes(telling.notice),
                    **self._message(telling),
                )
            except (ClientError, BotoCoreError) as error:
                why = self._why(error_code(error))
                failed[telling.name] = Refusal(why, doubt=not is_rejected(error))
                if error_code(error) not in _OF_THE_MESSAGE:
                    return dict.fromkeys(rest, Refusal(why)) | failed
        return failed

    def _why(self, code: str) -> str:
        return (
            f"SNS did not take it for {self._topic_arn} ({code}): check that the topic exists, and "
            "that the function may publish to it and use its key"
        )

    def _message(self, telling: Telling) -> dict[str, str]:
        text = telling.notice.text
        if not self._chat:
            return {"Message": text}
        ways = {"default": for_chat(telling), "sms": telling.notice.subject}
        ways |= dict.fromkeys(_READERS, text)
        return {"Message": json.dumps(ways, ensure_ascii=False), "MessageStructure": "json"}


def _attributes(notice: Notice) -> dict[str, dict[str, str]]:
    return {
        name: {"DataType": "String", "StringValue": value}
        if isinstance(value, str)
        else {"DataType": "String.Array", "StringValue": json.dumps(value)}
        for name, value in notice.attributes.items()
    }
