# SPDX-License-Identifier: Apache-2.0
"""The configuration of a deployment, or of one collector, as settings and login for this machine.

The login is the deployed collector's: its secret, or AWS credentials where its role signs. Both
are read with the credentials of whoever runs the command.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import click

from kafka_lag import contract
from kafka_lag.brokers.access import IAM
from kafka_lag.brokers.aws_login import SecretCredentials
from kafka_lag.brokers.login import CredentialSource, FixedCredentials, client_certificate
from kafka_lag.errors import ConfigError
from kafka_lag.settings import Settings, settings_of
from kafka_lag.wording.formatting import format_list
from kafka_lag_cli.account.session import open_session, signed_login
from kafka_lag_cli.connecting.deployment_file import read_deployed_cluster
from kafka_lag_cli.connecting.login_options import region_of
from kafka_lag_config.broker_lookup.index import find_servers
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.document import normalised
from kafka_lag_config.source import load

# What makes the login when the brokers are connected to.
MakeSource: TypeAlias = Callable[[], CredentialSource]

_NAMED = 5
# A configuration without faults, to know the keys that each has once it is normalised.
_LEAST = {"cluster": "c", "bootstrap_servers": ["b:9092"], "security_protocol": "PLAINTEXT"}


def read_deployed(
    path: Path,
    cluster: str | None,
    servers: tuple[str, ...] | None,
    profile: str | None,
) -> tuple[Settings, MakeSource]:
    """Settings of one cluster of the configuration, and its login; `servers` replace its brokers.

    Raises UsageError, ConfigError, ConfigurationError. AWS is asked at once for brokers that
    neither the configuration nor `servers` names, and for the login when that is made.
    """
    document, region, folder, found = _document(path, cluster)
    if servers is None and document["bootstrap_servers"] is None:
        servers = _ask_for_servers(found, region, profile)
    if servers is not None:
        document |= {"bootstrap_servers": list(servers)}
    if document["cafile"]:
        document |= {"cafile": str(folder / document["cafile"])}
    # Metrics are the deployed collector's to publish.
    settings = settings_of(document | {"sinks": []})
    return settings, partial(_make_source, settings, region, profile)


def _document(
    path: Path, name: str | None
) -> tuple[dict[str, Any], str | None, Path, Cluster | None]:
    """Returns the normalised document, its region, its folder, and the deployed cluster."""
    folder = path.parent
    if deployed := read_deployed_cluster(path, name):
        deployment, found = deployed
        document = found.document()
        if found.ca_file:
            document["cafile"] = found.ca_file
        return document, deployment.place_of(found)[1], folder, found
    source = load(path)
    if isinstance(source, Mapping) and contract.DOCUMENT_VERSION_KEY in source:
        document = _written(source, path)
    else:
        document = normalised(source, str(path), folder)
    if name is not None and name != document["cluster"]:
        raise click.UsageError(f"{path} is of the cluster {document['cluster']}, not {name}.")
    return document, None, folder, None


def _written(document: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Returns a configuration that is normalised already, of this version and with all keys."""
    version = document[contract.DOCUMENT_VERSION_KEY]
    if version != contract.DOCUMENT_VERSION:
        raise ConfigError(
            f"{path} is of version {version!r}, and this command reads version "
            f"{contract.DOCUMENT_VERSION}: write it again with kafka-lag config."
        )
    missing = [key for key in normalised(_LEAST) if key not in document]
    if missing:
        raise ConfigError(
            f"{path} has a version, and lacks {format_list(missing, _NAMED)}: leave the version "
            "out, or write it again with kafka-lag config."
        )
    return dict(document)


def _ask_for_servers(
    cluster: Cluster | None, region: str | None, profile: str | None
) -> tuple[str, ...]:
    if cluster is None or cluster.arn is None:
        raise ConfigError("The configuration names no brokers: give --bootstrap-servers.")
    from kafka_lag.aws import AWS_ERRORS, error_code  # noqa: PLC0415

    try:
        client = open_session(profile, region).client("kafka")
        return tuple(find_servers(client, cluster.arn, cluster.way_in).split(","))
    except AWS_ERRORS as error:
        raise ConfigError(
            f"MSK does not say where the brokers of {cluster.name} are ({error_code(error)}): "
            "check your AWS credentials and your right to kafka:GetBootstrapBrokers, or give "
            "--bootstrap-servers."
        ) from error
    except LookupError as error:
        raise ConfigError(str(error)) from error


def _make_source(settings: Settings, region: str | None, profile: str | None) -> CredentialSource:
    access = settings.access
    if access.sasl_mechanism == IAM:
        return FixedCredentials(
            signed_login(profile, None, _find_region(settings, region, profile))
        )
    if settings.secret_id is None:
        return FixedCredentials()
    client = _secrets_client(_find_region(settings, region, profile), profile)
    if access.security_protocol == "SSL":
        return SecretCredentials(
            client, settings.secret_id, partial(client_certificate, cafile=access.cafile)
        )
    return SecretCredentials(client, settings.secret_id)


def _find_region(settings: Settings, region: str | None, profile: str | None) -> str:
    """Returns the region of the deployment, of the brokers' names, or of the AWS settings."""
    found = region or region_of(settings.access.bootstrap_servers)
    found = found or open_session(profile).region_name
    if not found:
        raise ConfigError(
            "Neither the configuration nor the brokers' names hold the AWS region: set AWS_REGION."
        )
    return found


def _secrets_client(region: str, profile: str | None) -> Any:
    from kafka_lag.aws import AWS_ERRORS, error_code  # noqa: PLC0415

    try:
        return open_session(profile, region).client("secretsmanager")
    except (*AWS_ERRORS, ValueError) as error:
        raise ConfigError(
            f"Secrets Manager cannot be used in the region {region} ({error_code(error)}): "
            "check AWS_REGION and your AWS settings."
        ) from error
