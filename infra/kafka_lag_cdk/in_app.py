# SPDX-License-Identifier: Apache-2.0
"""A cluster described by objects of CDK, in place of a JSON document.

What the same app makes is known by tokens until it is deployed, and tokens are valid. Values that
are known are checked as those of a document are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from aws_cdk import Fn, Stack, Token
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_msk as msk
from aws_cdk import aws_secretsmanager as secretsmanager

from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.faults import ConfigurationError, Fault
from kafka_lag_cdk.config.strict import validate

# Keys of a document that objects stand for, and those of _InApp.
_OF_OBJECTS = ("arn", "region", "account", "vpc", "auth", "bootstrap_servers", "msk", "serverless")

# What `from_lookup` calls a VPC and its subnets until the account was looked up.
_LOOKED_UP_LATER = re.compile(r"(vpc|[psi])-(12345|67890)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """Where the collector runs: in private subnets from which it reaches the brokers.

    `subnets` are the VPC's private ones unless chosen. `brokers` is opened for the collector on the
    brokers' port, each of `endpoints` on 443: security groups of brokers, and of VPC endpoints.
    Left out, opening them is the app's; a group that must not be changed is left out, too.
    `existing_endpoints` says which services the subnets reach by endpoints of the VPC; without it
    subnets that have no way out are warned of.
    """

    vpc: ec2.IVpc
    subnets: ec2.SubnetSelection | Sequence[ec2.ISubnet] | None = None
    brokers: ec2.ISecurityGroup | None = None
    endpoints: Sequence[ec2.ISecurityGroup] = ()
    existing_endpoints: Sequence[Literal["s3", "secrets_manager", "monitoring"]] = ()


@dataclass(frozen=True, slots=True)
class Iam:
    """Login with the collector's own role; needs the MSK cluster."""


@dataclass(frozen=True, slots=True)
class Scram:
    """Login with `username` and `password` of a secret; MSK has SCRAM-SHA-512 alone.

    The role may decrypt with the secret's `encryption_key`, if it has one. A secret that is
    imported is imported with its whole ARN, and with that key.
    """

    secret: secretsmanager.ISecret
    mechanism: Literal["SCRAM-SHA-512", "SCRAM-SHA-256"] = "SCRAM-SHA-512"


@dataclass(frozen=True, slots=True)
class Tls:
    """Login with a client certificate: `certificate` and `private_key` of a secret, PEM."""

    secret: secretsmanager.ISecret


@dataclass(frozen=True, slots=True)
class NoLogin:
    """Brokers that ask for no login; over TLS unless `plaintext`."""

    plaintext: bool = False


class MskCluster(Protocol):
    """An MSK cluster as other constructs have it, such as those of `aws_msk_alpha`."""

    @property
    def cluster_arn(self) -> str: ...

    @property
    def cluster_name(self) -> str: ...


class _InApp(Cluster):
    """A cluster whose ARN may be a token, which says neither its name nor if it is serverless."""

    msk: str | None = None
    serverless: bool = False

    @property
    def msk_name(self) -> str | None:
        return self.msk or super().msk_name

    @property
    def is_serverless(self) -> bool:
        return self.serverless or super().is_serverless


def app_cluster(
    name: str,
    *,
    network: Network,
    login: Iam | Scram | Tls | NoLogin,
    msk_cluster: msk.CfnCluster | msk.CfnServerlessCluster | MskCluster | str | None = None,
    bootstrap_servers: Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    folder: Path | None = None,
) -> Cluster:
    """A cluster for LagCollector; `name` is what metrics, alarms and objects call it.

    `msk_cluster` is one of the app, or an ARN; without it `bootstrap_servers` are required, which
    MSK is asked for otherwise. `settings` are all other keys of a cluster in docs/configuration.md,
    `folder` is where a `ca_file` among them begins. Raises ConfigurationError with every fault.
    """
    where = f"the cluster {name}"
    found = _objects(network, login, msk_cluster)
    keys = {"name": name, **found}
    if bootstrap_servers is not None:
        keys["bootstrap_servers"] = list(bootstrap_servers)
    twice = [key for key in settings or {} if key in {*keys, *_OF_OBJECTS}]
    faults = [Fault((key,), "is no setting: it is what an object says") for key in twice]
    faults += _unusable(network, login)
    if faults:
        raise ConfigurationError(where, faults)
    region = Stack.of(network.vpc).region
    if not Token.is_unresolved(region) or "arn" not in found:
        keys["region"] = region
    cluster, wrong = validate(_InApp, {**(settings or {}), **keys}, folder or Path())
    if cluster is None:
        raise ConfigurationError(where, wrong)
    return cluster


def _objects(
    network: Network,
    login: Iam | Scram | Tls | NoLogin,
    msk_cluster: msk.CfnCluster | msk.CfnServerlessCluster | MskCluster | str | None,
) -> dict[str, Any]:
    vpc: dict[str, Any] = {
        "id": _later(network.vpc.vpc_id),
        "subnets": [_later(subnet.subnet_id) for subnet in _chosen(network).subnets],
        "endpoint_security_groups": [group.security_group_id for group in network.endpoints],
        "existing_endpoints": list(network.existing_endpoints),
    }
    with_egress = {subnet.node.path for subnet in network.vpc.private_subnets}
    vpc["nat"] = all(subnet.node.path in with_egress for subnet in _chosen(network).subnets)
    if network.brokers:
        vpc["brokers_security_group"] = network.brokers.security_group_id
    return {"vpc": vpc, "auth": _auth(login), **_msk(msk_cluster)}


def _chosen(network: Network) -> ec2.SelectedSubnets:
    chosen = network.subnets
    if chosen is None:
        return network.vpc.select_subnets()
    if not isinstance(chosen, ec2.SubnetSelection):
        return network.vpc.select_subnets(subnets=list(chosen))
    return network.vpc.select_subnets(
        availability_zones=chosen.availability_zones,
        one_per_az=chosen.one_per_az,
        subnet_filters=chosen.subnet_filters,
        subnet_group_name=chosen.subnet_group_name,
        subnets=chosen.subnets,
        subnet_type=chosen.subnet_type,
    )


def _later(value: str) -> str:
    """What is looked up is no id yet when an app is synthesised for the first time."""
    return Fn.join("", [value]) if _LOOKED_UP_LATER.fullmatch(value) else value


def _auth(login: Iam | Scram | Tls | NoLogin) -> dict[str, Any]:
    match login:
        case Iam():
            return {"type": "iam"}
        case NoLogin():
            return {"type": "none", "plaintext": login.plaintext}
        case Scram():
            return {"type": "scram", "mechanism": login.mechanism} | _secret(login.secret)
        case Tls():
            return {"type": "tls"} | _secret(login.secret)


def _secret(secret: secretsmanager.ISecret) -> dict[str, str]:
    found = {"secret_arn": secret.secret_arn}
    if secret.encryption_key:
        found["kms_key_arn"] = secret.encryption_key.key_arn
    return found


def _msk(
    cluster: msk.CfnCluster | msk.CfnServerlessCluster | MskCluster | str | None,
) -> dict[str, Any]:
    if cluster is None:
        return {}
    if isinstance(cluster, str):
        if not Token.is_unresolved(cluster):
            return {"arn": cluster}
        # arn:aws:kafka:REGION:ACCOUNT:cluster/NAME/UUID
        return {"arn": cluster, "msk": Fn.select(1, Fn.split("/", cluster))}
    if isinstance(cluster, msk.CfnCluster | msk.CfnServerlessCluster):
        serverless = isinstance(cluster, msk.CfnServerlessCluster)
        return {"arn": cluster.attr_arn, "msk": cluster.cluster_name, "serverless": serverless}
    return {"arn": cluster.cluster_arn, "msk": cluster.cluster_name}


def _unusable(network: Network, login: Iam | Scram | Tls | NoLogin) -> Iterator[Fault]:
    """What no id shows any more."""
    if isinstance(login, Scram | Tls) and login.secret.secret_full_arn is None:
        yield Fault(
            ("auth", "secret_arn"),
            "must be whole, as rights are granted on it: import the secret by its complete ARN",
        )
    if _chosen(network).has_public:
        yield Fault(
            ("vpc", "subnets"),
            "must be private: a Lambda in a public one reaches no service of AWS",
        )
