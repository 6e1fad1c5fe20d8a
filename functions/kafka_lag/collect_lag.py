# SPDX-License-Identifier: Apache-2.0
"""The scheduled Lambda: one run of the collector for the minute that the event names."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any

import boto3
from aws_lambda_powertools import Logger
from botocore.config import Config

from kafka_lag import contract
from kafka_lag.aws import make_client
from kafka_lag.brokers.access import IAM
from kafka_lag.brokers.aws_login import SecretCredentials, role_login
from kafka_lag.brokers.login import CredentialSource, FixedCredentials, client_certificate
from kafka_lag.brokers.source import KafkaSource, quiet_library
from kafka_lag.collector import Collector, WarningLogger
from kafka_lag.errors import ConfigError, ReporterError
from kafka_lag.settings import Settings, from_environment
from kafka_lag.sinks.cloudwatch import CloudWatchSink
from kafka_lag.sinks.config import EMF, OtlpConfig, SinkConfig
from kafka_lag.sinks.deadline import ONE_ATTEMPT
from kafka_lag.sinks.emf import EmfSink
from kafka_lag.sinks.metric_sets import ConfiguredSink, Sink
from kafka_lag.sinks.otlp import make_otlp_sink
from kafka_lag.snapshots.s3_store import S3Store

# Reserved at the end of the function's time, to report an error.
_SPARE_SECONDS = 2.0

# Three attempts, short enough to report an error within the store's share of a run.
_AWS = Config(connect_timeout=2, read_timeout=5, retries={"mode": "standard"})

# Keys and CloudWatch do not take dates outside of these years.
_FIRST_YEAR, _LAST_YEAR = 2000, 2100

_EXAMPLE = '{"cluster": "orders", "scheduled_time": "2026-01-31T12:00:00Z"}'

# Made at the first event and reused by a warm function, together with its connections.
_logger = cache(lambda: Logger(service="collect_lag", stream=sys.stdout))
_collector = cache(lambda: build_collector(os.environ, _logger()))


def handler(event: Any, context: Any) -> dict[str, int]:
    """Makes one run for the event's minute; raises one error after all steps have been tried."""
    try:
        settings, collector = _collector()
        left = context.get_remaining_time_in_millis() / 1000 - _SPARE_SECONDS if context else None
        outcome = collector.run(scheduled_time(event, settings.cluster), left)
    except ReporterError as error:
        _logger().error(str(error), error_type=type(error).__name__)
        raise
    groups = outcome.report.snapshot.groups
    return {"groups": len(groups), "objects_written": outcome.objects_written}


def scheduled_time(event: Any, cluster: str) -> int:
    """Returns the scheduled time of an event for this cluster, ms UTC, whole seconds.

    Raises ConfigError for an event of another form, or for another cluster.
    """
    if not isinstance(event, Mapping):
        raise ConfigError(f"The event must be a JSON object like {_EXAMPLE}.")
    named, text = event.get(contract.EVENT_CLUSTER), event.get(contract.EVENT_SCHEDULED_TIME)
    if not isinstance(named, str) or not isinstance(text, str):
        raise ConfigError(f"The event needs two strings, cluster and scheduled_time: {_EXAMPLE}.")
    if named != cluster:
        raise ConfigError(
            f"The event names the cluster {named!r}, but this function is configured for "
            f"{cluster!r}. Check the schedule's input."
        )
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise ConfigError(
            f"The event's scheduled_time {text!r} is not an ISO 8601 time: {_EXAMPLE}."
        ) from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise ConfigError(f"The event's scheduled_time {text!r} must lie between 2000 and 2100.")
    return int(moment.timestamp()) * 1000


def build_collector(
    environ: Mapping[str, str], logger: WarningLogger
) -> tuple[Settings, Collector]:
    """Returns the settings and a collector for them. Raises ConfigError; does not connect."""
    quiet_library()
    settings = from_environment(environ)
    collector = Collector(
        settings,
        KafkaSource(settings.access, _credentials(settings)),
        S3Store(make_client("s3", _AWS), settings.bucket),
        build_sinks(settings, logger.warning),
        logger,
    )
    return settings, collector


def _credentials(settings: Settings) -> CredentialSource:
    access = settings.access
    if access.sasl_mechanism == IAM:
        return FixedCredentials(
            role_login(boto3.Session().get_credentials(), settings.region or "")
        )
    if settings.secret_id is None:
        return FixedCredentials()
    client = make_client("secretsmanager", _AWS)
    if access.security_protocol == "SSL":
        shape = partial(client_certificate, cafile=access.cafile)
        return SecretCredentials(client, settings.secret_id, shape)
    return SecretCredentials(client, settings.secret_id)


def build_sinks(settings: Settings, warn: Callable[[str], None]) -> list[ConfiguredSink]:
    """Returns the configured sinks with their levels. Raises ConfigError; does not connect."""
    sinks = []
    for at, config in enumerate(settings.sinks):
        sink = _build_sink(config, settings, warn)
        if isinstance(config, OtlpConfig) and config.levels is not None:
            sinks.append(ConfiguredSink(sink, config.levels, f"sinks.{at}.otlp.levels"))
        else:
            sinks.append(ConfiguredSink(sink, settings.levels))
    return sinks


def _build_sink(config: SinkConfig, settings: Settings, warn: Callable[[str], None]) -> Sink:
    if config == EMF:
        return EmfSink(sys.stdout, settings.namespace)
    if not isinstance(config, OtlpConfig):
        client = make_client("cloudwatch", ONE_ATTEMPT, settings.region)
        return CloudWatchSink(client, settings.namespace)
    return make_otlp_sink(config, settings.region or "", settings.namespace, warn)
