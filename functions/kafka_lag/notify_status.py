# SPDX-License-Identifier: Apache-2.0
"""The Lambda that S3's events call: sends the changes in a complete run, once.

Its environment names a bucket, and an SNS topic, an event bus or both.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import boto3
from aws_lambda_powertools import Logger
from botocore.config import Config

from kafka_lag import contract
from kafka_lag.aws import make_client
from kafka_lag.errors import ConfigError, ReporterError
from kafka_lag.notify.conditional_objects import S3ConditionalObjects
from kafka_lag.notify.delivery import Channel
from kafka_lag.notify.eventbridge import EventBridgeChannel
from kafka_lag.notify.msk_state import MskStates, read_arns
from kafka_lag.notify.notifier import Notifier, NotifierLogger, StoredRuns
from kafka_lag.notify.s3_event import parse_completed_runs
from kafka_lag.notify.sns import SnsChannel
from kafka_lag.snapshots.s3_store import S3Store

# Reserved at the end of the function's time, because a request begun before may hang this long.
SPARE_SECONDS = 25.0
# If a request hangs when the time is up, the function must still have the time to report it.
_AWS = Config(
    connect_timeout=3, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 2}
)
_TRUE, _FALSE = "true", "false"
_ARN_FIELDS = 6

# Made at the first event and reused by a warm function, together with its connections.
_logger = cache(lambda: Logger(service="notify_status", stream=sys.stdout))
_notifier = cache(lambda: build_notifier(os.environ, _logger()))


def handler(event: Any, context: Any) -> dict[str, int]:
    """Sends the messages of the event's runs; raises one error after all that could be sent."""
    try:
        bucket, notifier = _notifier()
        left = context.get_remaining_time_in_millis() / 1000 - SPARE_SECONDS if context else None
        result = notifier.notify(parse_completed_runs(event, bucket), left)
    except ReporterError as error:
        _logger().error(str(error), error_type=type(error).__name__)
        raise
    return {"runs": result.runs, "messages": result.messages}


def build_notifier(
    environ: Mapping[str, str], logger: NotifierLogger, clock: Callable[[], float] = time.time
) -> tuple[str, Notifier]:
    """Returns the bucket and the notifier for its runs; does not connect.

    Raises ConfigError with all faults.
    """
    _check_environment(environ)
    bucket = environ[contract.ENV_BUCKET]
    client = boto3.client("s3", config=_AWS)
    notifier = Notifier(
        _build_channels(environ),
        StoredRuns(S3Store(client, bucket)),
        S3ConditionalObjects(client, bucket),
        logger,
        clock=clock,
        owner=secrets.token_hex(8),
        states=_build_states(environ),
    )
    return bucket, notifier


def _check_environment(environ: Mapping[str, str]) -> None:
    topic, chat = environ.get(contract.ENV_STATUS_TOPIC), environ.get(contract.ENV_CHAT)
    bus = environ.get(contract.ENV_EVENT_BUS)
    faults = []
    if not environ.get(contract.ENV_BUCKET):
        faults.append(f"{contract.ENV_BUCKET} is not set")
    if not topic and not bus:
        faults.append(
            f"neither {contract.ENV_STATUS_TOPIC} nor {contract.ENV_EVENT_BUS} is set: no message "
            "would be sent"
        )
    if topic and _parse_region(topic, "sns") is None:
        faults.append(f"{contract.ENV_STATUS_TOPIC} {topic!r} is not the ARN of an SNS topic")
    if topic and topic.endswith(".fifo"):
        faults.append(f"{contract.ENV_STATUS_TOPIC} {topic!r} is a FIFO topic: name a standard one")
    if bus and ":" in bus and _parse_region(bus, "events") is None:
        faults.append(f"{contract.ENV_EVENT_BUS} {bus!r} is not the name or ARN of an event bus")
    if chat and chat not in (_TRUE, _FALSE):
        faults.append(f"{contract.ENV_CHAT} must be {_TRUE} or {_FALSE}, not {chat!r}")
    try:
        read_arns(environ.get(contract.ENV_MSK_CLUSTERS))
    except ValueError:
        faults.append(f"{contract.ENV_MSK_CLUSTERS} is not JSON of names and ARNs")
    if faults:
        raise ConfigError("The environment has faults: " + "; ".join(faults) + ".")


def _build_channels(environ: Mapping[str, str]) -> list[Channel]:
    channels: list[Channel] = []
    if topic := environ.get(contract.ENV_STATUS_TOPIC):
        chat = environ.get(contract.ENV_CHAT) == _TRUE
        client = make_client("sns", _AWS, _parse_region(topic, "sns"))
        channels.append(SnsChannel(client, topic, chat=chat))
    if bus := environ.get(contract.ENV_EVENT_BUS):
        client = make_client("events", _AWS, _parse_region(bus, "events"))
        channels.append(EventBridgeChannel(client, bus, time.sleep))
    return channels


def _build_states(environ: Mapping[str, str]) -> MskStates | None:
    arns = read_arns(environ.get(contract.ENV_MSK_CLUSTERS))
    return MskStates(make_client("kafka", _AWS), arns) if arns else None


def _parse_region(arn: str, service: str) -> str | None:
    """Returns the region in an ARN of this service; None, for the function's own, without one."""
    fields = arn.split(":")
    if len(fields) != _ARN_FIELDS or not all(fields) or (fields[0], fields[2]) != ("arn", service):
        return None
    return fields[3]
