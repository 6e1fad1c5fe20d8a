# SPDX-License-Identifier: Apache-2.0
"""AWS within the probe's process: moto answers, and what is sent to people is written down."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import botocore.handlers
from moto import mock_aws

from dev.compare.requests import TOKEN

BUCKET, REGION, TOKEN_SECRET = "compared", "eu-west-1", "token"
_SENT = {"sns": ("Publish", "PublishBatch"), "events": ("PutEvents",)}


class Clock:
    """The time of day that the commit's code sees, in seconds."""

    def __init__(self) -> None:
        self.now = 0.0

    def install(self) -> None:
        """Before the commit's modules are imported, which may keep the function."""
        time.time = lambda: self.now


class Sent:
    """Messages and events in the order in which they went out, as their requests say."""

    def __init__(self) -> None:
        self._requests: list[dict[str, Any]] = []

    def install(self) -> None:
        """Hears of each request of each client that is made from now on."""
        for service, operations in _SENT.items():
            for operation in operations:
                name = f"provide-client-params.{service}.{operation}"
                botocore.handlers.BUILTIN_HANDLERS.append((name, self._record))

    def taken(self) -> bytes:
        """What was sent since the last time, as JSON."""
        found, self._requests = self._requests, []
        return json.dumps(found, default=str, sort_keys=True).encode() if found else b""

    def _record(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        self._requests.append({"operation": model.name, "request": _copied(params)})


def _copied(params: Any) -> Any:
    return json.loads(json.dumps(params, default=str))


@contextmanager
def stand_in() -> Iterator[tuple[Sent, str]]:
    """A bucket, a topic, a bus and a secret; what is sent, and the topic's ARN."""
    environment = {
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    os.environ |= environment
    os.environ.pop("AWS_PROFILE", None)
    sent = Sent()
    with mock_aws():
        sent.install()
        s3: Any = boto3.client("s3")
        s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        topic = boto3.client("sns").create_topic(Name="status")["TopicArn"]
        boto3.client("events").create_event_bus(Name="status")
        boto3.client("secretsmanager").create_secret(Name=TOKEN_SECRET, SecretString=TOKEN)
        yield sent, topic
