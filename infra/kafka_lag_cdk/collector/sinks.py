# SPDX-License-Identifier: Apache-2.0
"""What sinks beside the log need of the stack: rights for the function, and ways out for it."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from aws_cdk import ArnFormat, Stack
from constructs import Construct

from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.document import CLOUDWATCH
from kafka_lag_cdk.config.network import ScramAuth, TlsAuth
from kafka_lag_cdk.rights import Right, allow

_PORTS = {"http": 80, "https": 443}
_NO_RESOURCE = "publishing metrics takes no resource"
# What Secrets Manager puts behind a secret's name.
_SIX = "-??????"


def sink_rights(scope: Construct, cluster: Cluster) -> Iterator[Right]:
    """To publish and to read what authorises it; none for the log."""
    # Metrics that come by OTLP have no namespace.
    anywhere = any(each.sigv4 for each in cluster.otlp_endpoints)
    if anywhere or CLOUDWATCH in cluster.sink_names:
        ours = {"StringEquals": {"cloudwatch:namespace": cluster.namespace}}
        yield allow(
            "cloudwatch:PutMetricData",
            on="*",
            because=_NO_RESOURCE,
            conditions=None if anywhere else ours,
        )
    secrets = (each.headers_secret for each in cluster.otlp_endpoints)
    for secret in dict.fromkeys(filter(None, secrets)):
        yield allow("secretsmanager:GetSecretValue", on=_arn(scope, secret))


def services_of(cluster: Cluster) -> Iterator[tuple[str, str, str]]:
    """AWS's services that the collector calls beside S3: name, endpoint's key, and what for."""
    if isinstance(cluster.auth, ScramAuth | TlsAuth):
        yield "Secrets Manager", "secrets_manager", "its login"
    elif any(each.headers_secret for each in cluster.otlp_endpoints):
        yield "Secrets Manager", "secrets_manager", "the headers of an otlp sink"
    if CLOUDWATCH in cluster.sink_names or any(each.sigv4 for each in cluster.otlp_endpoints):
        yield "CloudWatch", "monitoring", "its sinks"


def sink_ports(cluster: Cluster) -> list[int]:
    """The ports of OTLP endpoints, each once, 443 left out as it is open anyway."""
    urls = [urlsplit(each.endpoint) for each in cluster.otlp_endpoints if each.endpoint]
    ports = {url.port or _PORTS[url.scheme] for url in urls}
    return sorted(ports - {_PORTS["https"]})


def _arn(scope: Construct, secret: str) -> str:
    if secret.startswith("arn:"):
        return secret
    return Stack.of(scope).format_arn(
        service="secretsmanager",
        resource="secret",
        resource_name=f"{secret}{_SIX}",
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
