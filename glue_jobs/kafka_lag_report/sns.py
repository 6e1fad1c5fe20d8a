# SPDX-License-Identifier: Apache-2.0
"""Sends the message to people by SNS."""

import json
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from kafka_lag_report.aws import make_client
from kafka_lag_report.errors import DataError, UsageError
from kafka_lag_report.message import Message

# Characters that chat reads as a mention, a link or a style, and similar ones that replace them.
_PLAIN = str.maketrans("<>[]*`~", "\u2039\u203a()\u2217'\u223c")


def topic_region(topic_arn: str) -> str:
    """Returns the region in the ARN of an SNS topic; raises UsageError for any other text."""
    parts = topic_arn.split(":")
    whole = len(parts) == 6 and all(parts) and parts[0] == "arn" and parts[2] == "sns"  # noqa: PLR2004
    if not whole:
        raise UsageError(
            f"{topic_arn!r} is not the ARN of an SNS topic (arn:aws:sns:<region>:<account>:<name>)"
        )
    return parts[3]


def sns_client(topic_arn: str) -> Any:
    """Returns a client for the topic's own region, wherever the job runs."""
    return make_client("sns", topic_region(topic_arn))


def write_for_chat(message: Message) -> str:
    """Returns the message as a custom notification; AWS's chat integration shows no other form.

    Names of strangers may look like mentions, links or styles of the chat; these characters are
    replaced.
    """
    plain = message.body.translate(_PLAIN)
    content = {"textType": "client-markdown", "title": message.subject, "description": plain}
    return json.dumps({"version": "1.0", "source": "custom", "content": content})


def publish(message: Message, topic_arn: str, client: Any) -> None:
    """Sends the message.

    Raises DataError if it is refused. The reports are published by then, and stay.
    """
    try:
        client.publish(
            TopicArn=topic_arn,
            Subject=message.subject,
            Message=json.dumps({"default": write_for_chat(message), "email": message.body}),
            MessageStructure="json",
        )
    except (BotoCoreError, ClientError) as error:
        raise DataError(
            f"the reports are written, but their summary could not be sent to {topic_arn}: "
            f"{error}; check that the topic exists and that the job may publish and use its key"
        ) from error
