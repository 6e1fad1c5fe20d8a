# SPDX-License-Identifier: Apache-2.0
"""What a deployed notifier is made of: clients and channels from its environment."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

import boto3
from botocore.config import Config

from kafka_lag import contract
from kafka_lag.errors import ConfigError
from kafka_lag.notify.channels.channel import Channel
from kafka_lag.notify.channels.event_bus import EventBus
from kafka_lag.notify.channels.sns import Sns
from kafka_lag.notify.delivery import Delivery
from kafka_lag.notify.memory.cursor import Cursors
from kafka_lag.notify.memory.objects import S3Claims
from kafka_lag.notify.notifier import Journal, Notifier
from kafka_lag.notify.notifiers import Notifiers
from kafka_lag.notify.runs import StoredRuns
from kafka_lag.snapshots.store import S3Store

# One request may hang when the time is up, and the function must still have the time to say so.
_AWS = Config(
    connect_timeout=3, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 2}
)
_YES, _NO = "true", "false"
_PARTS_OF_ARN = 6


def wired(
    environ: Mapping[str, str], journal: Journal, clock: Callable[[], float] = time.time
) -> tuple[str, Notifiers]:
    """The bucket, and what tells its news; connects to nothing.

    Raises ConfigError with all faults.
    """
    _insist(environ)
    bucket, owner = environ[contract.ENV_BUCKET], secrets.token_hex(8)
    client = boto3.client("s3", config=_AWS)
    claims, runs = S3Claims(client, bucket), StoredRuns(S3Store(client, bucket))
    notifiers = [
        Notifier(
            runs,
            Cursors(claims, channel.name),
            Delivery(channel, claims, clock, owner),
            journal,
        )
        for channel in _channels(environ)
    ]
    return bucket, Notifiers(notifiers, journal, clock)


def _insist(environ: Mapping[str, str]) -> None:
    topic, chat = environ.get(contract.ENV_STATUS_TOPIC), environ.get(contract.ENV_CHAT)
    bus = environ.get(contract.ENV_EVENT_BUS)
    faults = []
    if not environ.get(contract.ENV_BUCKET):
        faults.append(f"{contract.ENV_BUCKET} is not set")
    if not topic and not bus:
        faults.append(
            f"neither {contract.ENV_STATUS_TOPIC} nor {contract.ENV_EVENT_BUS} is set: nobody "
            "would be told"
        )
    if topic and _region(topic, "sns") is None:
        faults.append(f"{contract.ENV_STATUS_TOPIC} {topic!r} is not the ARN of an SNS topic")
    if topic and topic.endswith(".fifo"):
        faults.append(f"{contract.ENV_STATUS_TOPIC} {topic!r} is a FIFO topic: name a standard one")
    if bus and ":" in bus and _region(bus, "events") is None:
        faults.append(f"{contract.ENV_EVENT_BUS} {bus!r} is no name or ARN of an event bus")
    if chat and chat not in (_YES, _NO):
        faults.append(f"{contract.ENV_CHAT} must be {_YES} or {_NO}, not {chat!r}")
    if faults:
        raise ConfigError("The environment has faults: " + "; ".join(faults) + ".")


def _channels(environ: Mapping[str, str]) -> list[Channel]:
    channels: list[Channel] = []
    if topic := environ.get(contract.ENV_STATUS_TOPIC):
        chat = environ.get(contract.ENV_CHAT) == _YES
        channels.append(Sns(_client("sns", topic), topic, chat=chat))
    if bus := environ.get(contract.ENV_EVENT_BUS):
        channels.append(EventBus(_client("events", bus), bus, time.sleep))
    return channels


def _client(service: str, target: str) -> Any:
    """In the target's own region, which may be another's than the function's."""
    # the types of boto3 know services by literals only
    make: Any = boto3.client
    return make(service, region_name=_region(target, service), config=_AWS)


def _region(arn: str, service: str) -> str | None:
    """The region in an ARN of this service; None for any other text."""
    parts = arn.split(":")
    if len(parts) != _PARTS_OF_ARN or not all(parts) or (parts[0], parts[2]) != ("arn", service):
        return None
    return parts[3]
