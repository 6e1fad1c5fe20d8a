# SPDX-License-Identifier: Apache-2.0
"""The sinks of a deployed collector, made of what its document chose."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import boto3
from botocore.config import Config

from kafka_lag.errors import ConfigError
from kafka_lag.settings import Settings
from kafka_lag.sinks.chosen import EMF, Choice, Otlp
from kafka_lag.sinks.cloudwatch import CloudWatchSink
from kafka_lag.sinks.emf import EmfSink
from kafka_lag.sinks.metrics import Sink
from kafka_lag.sinks.outlets import Outlet

if TYPE_CHECKING:
    from kafka_lag.sinks.otlp.access import Access

# The sink itself tries again, as it knows how much time is left.
_ONCE = Config(connect_timeout=2, read_timeout=5, retries={"total_max_attempts": 1})
_CLOUDWATCH = re.compile(r"monitoring\.([a-z0-9-]+)\.(?:amazonaws|api)\.[a-z.]+")


def sinks_of(settings: Settings, warn: Callable[[str], None]) -> list[Outlet]:
    """In the document's order, with their levels. Raises ConfigError; connects to nothing yet."""
    return [_outlet(at, choice, settings, warn) for at, choice in enumerate(settings.sinks)]


def _outlet(at: int, choice: Choice, settings: Settings, warn: Callable[[str], None]) -> Outlet:
    sink = _sink(choice, settings, warn)
    if isinstance(choice, Otlp) and choice.levels is not None:
        return Outlet(sink, choice.levels, f"sinks.{at}.otlp.levels")
    return Outlet(sink, settings.levels)


def _sink(choice: Choice, settings: Settings, warn: Callable[[str], None]) -> Sink:
    if choice == EMF:
        return EmfSink(sys.stdout, settings.namespace)
    if not isinstance(choice, Otlp):
        client = boto3.client("cloudwatch", region_name=settings.region, config=_ONCE)
        return CloudWatchSink(client, settings.namespace)
    # Loading protobuf takes a fifth of a second of a cold start, which others need not wait for.
    from kafka_lag.sinks.otlp.sending import Endpoint  # noqa: PLC0415
    from kafka_lag.sinks.otlp.sink import OtlpSink  # noqa: PLC0415

    url = choice.endpoint or cloudwatch_url(settings.region or "")
    endpoint = Endpoint(url, _access(choice, url, settings.region or ""))
    return OtlpSink(endpoint, warn, settings.namespace)


def _access(choice: Otlp, url: str, region: str) -> Access:
    from kafka_lag.sinks.otlp.access import NoAccess, SecretHeaders, SignedAccess  # noqa: PLC0415

    if choice.headers_secret:
        client = boto3.client("secretsmanager", region_name=region or None, config=_ONCE)
        return SecretHeaders(client, choice.headers_secret)
    if not choice.sigv4:
        return NoAccess()
    credentials = boto3.Session().get_credentials()
    if credentials is None:
        raise ConfigError("sinks: otlp with sigv4 needs a function that runs as a role.")
    return SignedAccess(credentials, region_of(url) or region)


def cloudwatch_url(region: str) -> str:
    """CloudWatch's own OTLP endpoint for metrics."""
    domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"https://monitoring.{region}.{domain}/v1/metrics"


def region_of(url: str) -> str | None:
    """The region that an endpoint of CloudWatch is in; None for any other endpoint."""
    found = _CLOUDWATCH.fullmatch(urlsplit(url).hostname or "")
    return found[1] if found else None
