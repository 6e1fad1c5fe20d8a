# SPDX-License-Identifier: Apache-2.0
"""What a deployed collector is made of: clients and connections from its environment."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import boto3
from botocore.config import Config

from functions.broker.source import KafkaSource, quiet_library
from functions.broker.wire.credentials import CredentialSource, FixedCredentials, SecretCredentials
from functions.collector import Collector, Journal
from functions.settings import Settings, from_environment
from functions.sinks.emf import EmfSink
from functions.snapshots.store import S3Store

_AWS = Config(connect_timeout=3, read_timeout=10, retries={"mode": "standard"})


def wired(environ: Mapping[str, str], journal: Journal) -> tuple[Settings, Collector]:
    """The settings and a collector for them. Raises ConfigError; connects to nothing yet."""
    quiet_library()
    settings = from_environment(environ)
    collector = Collector(
        settings,
        KafkaSource(settings.access, _credentials(settings)),
        S3Store(boto3.client("s3", config=_AWS), settings.bucket),
        [EmfSink(sys.stdout, settings.namespace)],
        journal,
    )
    return settings, collector


def _credentials(settings: Settings) -> CredentialSource:
    if settings.secret_id is None:
        return FixedCredentials()
    return SecretCredentials(boto3.client("secretsmanager", config=_AWS), settings.secret_id)
