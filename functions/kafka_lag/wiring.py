# SPDX-License-Identifier: Apache-2.0
"""What a deployed collector is made of: clients and connections from its environment."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import boto3
from botocore.config import Config

from kafka_lag.brokers.access import IAM
from kafka_lag.brokers.login import (
    CredentialSource,
    FixedCredentials,
    SecretCredentials,
    client_certificate,
    role_login,
)
from kafka_lag.brokers.source import KafkaSource, quiet_library
from kafka_lag.collector import Collector, Journal
from kafka_lag.settings import Settings, from_environment
from kafka_lag.sink_wiring import sinks_of
from kafka_lag.snapshots.store import S3Store

# Three attempts, short enough to say what is wrong within the store's share of a run.
_AWS = Config(connect_timeout=2, read_timeout=5, retries={"mode": "standard"})


def wired(environ: Mapping[str, str], journal: Journal) -> tuple[Settings, Collector]:
    """The settings and a collector for them. Raises ConfigError; connects to nothing yet."""
    quiet_library()
    settings = from_environment(environ)
    collector = Collector(
        settings,
        KafkaSource(settings.access, _credentials(settings)),
        S3Store(boto3.client("s3", config=_AWS), settings.bucket),
        sinks_of(settings, journal.warning),
        journal,
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
    client = boto3.client("secretsmanager", config=_AWS)
    if access.security_protocol == "SSL":
        shape = partial(client_certificate, cafile=access.cafile)
        return SecretCredentials(client, settings.secret_id, shape)
    return SecretCredentials(client, settings.secret_id)
