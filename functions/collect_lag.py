# SPDX-License-Identifier: Apache-2.0
"""The scheduled Lambda: one run of the collector for the minute that the event names."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Any

import boto3
from aws_lambda_powertools import Logger
from botocore.config import Config

from functions.broker.source import KafkaSource, quiet_library
from functions.broker.wire.credentials import FixedCredentials, SecretCredentials
from functions.collector import Collector
from functions.errors import ReporterError
from functions.event import scheduled_time
from functions.settings import Settings, from_environment
from functions.sinks.emf import EmfSink
from functions.snapshots.store import S3Store

_AWS = Config(connect_timeout=3, read_timeout=10, retries={"mode": "standard"})


def handler(event: Any, context: Any) -> dict[str, int]:
    """Collects for the event's minute; fails, after doing what it can, with one clear error."""
    logger = _logger()
    try:
        settings, collector = _wired()
        left = context.get_remaining_time_in_millis() / 1000 - 2 if context else None
        outcome = collector.run(scheduled_time(event, settings.cluster), left)
    except ReporterError as error:
        logger.error(str(error), error_type=type(error).__name__)
        raise
    groups = outcome.report.snapshot.groups
    return {"groups": len(groups), "objects_written": outcome.objects_written}


@cache
def _logger() -> Logger:
    return Logger(service="collect_lag", stream=sys.stdout)


@cache
def _wired() -> tuple[Settings, Collector]:
    """Clients and connections, made at the first event and kept by a warm function."""
    quiet_library()
    settings = from_environment(os.environ)
    credentials = (
        SecretCredentials(boto3.client("secretsmanager", config=_AWS), settings.secret_id)
        if settings.secret_id
        else FixedCredentials()
    )
    collector = Collector(
        settings,
        KafkaSource(settings.access, credentials),
        S3Store(boto3.client("s3", config=_AWS), settings.bucket),
        [EmfSink(sys.stdout, settings.namespace)],
        _logger(),
    )
    return settings, collector
