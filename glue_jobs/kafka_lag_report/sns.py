# SPDX-License-Identifier: Apache-2.0
"""The message on its way to people, by SNS."""

import json
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from kafka_lag_report.aws import make_client
from kafka_lag_report.errors import DataError, UsageError
from kafka_lag_report.message import Message

# What chat would take for a mention, a link or a style, by what looks like it.
_PLAIN = str.maketrans("<>[]*`~", "\u2039\u203a()\u2217'\u223c")


def topic_region(topic_arn: str) -> str:
    """The region in the name of an SNS topic; UsageError for any other text."""
    parts = topic_arn.split(":")
    whole = len(parts) == 6 and all(parts) and parts[0] == "arn" and parts[2] == "sns"  # noqa: PLR2004
    if not whole:
        raise UsageError(
            f"{topic_arn!r} is not the ARN of an SNS topic (arn:aws:sns:<region>:<account>:<name>)"
        )
    return parts[3]


def sns_client(topic_arn: str) -> Any:
    """A client for the topic's own region, wherever the job runs."""
    return make_client("sns", topic_region(topic_arn))


def for_chat(message: Message) -> str:
    """The message in the only form that AWS's chat integration shows: its custom notification.

    Names may hold what chat takes for mentions and links of its own, so that is made plain.
    """
    plain = message.body.translate(_PLAIN)
    content = {"textType": "client-markdown", "title": message.subject, "description": plain}
    return json.dumps({"version": "1.0", "source": "custom", "content": content})


def publish(message: Message, topic_arn: str, client: Any) -> None:
    """Send the message; DataError if it is refused. The reports are written by then, and stay."""
    try:
        client.publish(
            TopicArn=topic_arn,
            Subject=message.subject,
            Message=json.dumps({"default": for_chat(message), "email": message.body}),
            MessageStructure="json",
        )
    except (BotoCoreError, ClientError) as error:
        raise DataError(
            f"the reports are written, but their summary could not be sent to {topic_arn}: "
            f"{error}; check that the topic exists and that the job may publish and use its key"
        ) from error
