# SPDX-License-Identifier: Apache-2.0
"""The services of AWS that a collector calls out of the brokers' VPC."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lag_config.document import CLOUDWATCH
from kafka_lag_config.watched import WatchedCluster


def services_of(cluster: WatchedCluster) -> Iterator[tuple[str, str, str]]:
    """AWS's services that the collector calls beside S3: name, endpoint's key, and what for."""
    if cluster.has_secret:
        yield "Secrets Manager", "secrets_manager", "its login"
    elif any(each.headers_secret for each in cluster.otlp_endpoints):
        yield "Secrets Manager", "secrets_manager", "the headers of an otlp sink"
    if CLOUDWATCH in cluster.sink_names or any(each.sigv4 for each in cluster.otlp_endpoints):
        yield "CloudWatch", "monitoring", "its sinks"
