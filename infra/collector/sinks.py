# SPDX-License-Identifier: Apache-2.0
"""What sinks beside the log need of the stack: rights for the function, and ways out for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from functions.schema.sinks import is_signed
from infra.config.document import namespace_of
from infra.config.parts.cluster import Cluster

_OTLP = "otlp"
_PORTS = {"http": 80, "https": 443}
_NO_RESOURCE = "publishing metrics takes no resource"
# What Secrets Manager puts behind a secret's name.
_SIX = "-??????"


def sink_rights(scope: Construct, cluster: Cluster) -> Iterator[tuple[iam.PolicyStatement, str]]:
    """Each with the reason why it names everything, where it does; none for the log."""
    sinks = _sinks(cluster)
    if any(map(is_signed, sinks)):
        publish = iam.PolicyStatement(actions=["cloudwatch:PutMetricData"], resources=["*"])
        # Metrics that come by OTLP have no namespace.
        if not any(is_signed({_OTLP: each}) for each in _endpoints(cluster)):
            namespace = {"cloudwatch:namespace": namespace_of(cluster)}
            publish.add_conditions({"StringEquals": namespace})
        yield publish, _NO_RESOURCE
    secrets = (each.get("headers_secret") for each in _endpoints(cluster))
    for secret in dict.fromkeys(filter(None, secrets)):
        yield (
            iam.PolicyStatement(
                actions=["secretsmanager:GetSecretValue"], resources=[_arn(scope, secret)]
            ),
            "",
        )


def sink_ports(cluster: Cluster) -> list[int]:
    """The ports of OTLP endpoints, each once, 443 left out as it is open anyway."""
    urls = [urlsplit(each["endpoint"]) for each in _endpoints(cluster) if each.get("endpoint")]
    ports = {url.port or _PORTS[url.scheme] for url in urls}
    return sorted(ports - {_PORTS["https"]})


def _sinks(cluster: Cluster) -> list[Any]:
    """As they were written; the collector's schema has checked them."""
    return list(cluster.collector.get("sinks", ()))


def _endpoints(cluster: Cluster) -> list[Mapping[str, Any]]:
    return [each[_OTLP] for each in _sinks(cluster) if isinstance(each, Mapping)]


def _arn(scope: Construct, secret: str) -> str:
    if secret.startswith("arn:"):
        return secret
    return Stack.of(scope).format_arn(
        service="secretsmanager",
        resource="secret",
        resource_name=f"{secret}{_SIX}",
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
