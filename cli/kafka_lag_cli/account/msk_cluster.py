# SPDX-License-Identifier: Apache-2.0
"""Facts from MSK, Secrets Manager and KMS about a cluster and its login; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kafka_lag_cli.account.errors import using

# The logins of a configuration, those first that need nothing set up at the brokers.
LOGINS = ("iam", "scram", "none", "plaintext", "tls")
_EXPRESS = "express."
# The states of a cluster that never serves again, as a sentence about it goes on.
ENDED = {"DELETING": "is being deleted", "FAILED": "could not be created or deleted (FAILED)"}
CREATING = "CREATING"


@dataclass(frozen=True, slots=True)
class MskCluster:
    """A cluster as MSK describes it; `logins` are those of `LOGINS` that it has enabled.

    `authentication` is MSK's own object of them, without those that are off; `transport` is how
    clients may speak: TLS, PLAINTEXT or TLS_PLAINTEXT.
    """

    name: str
    arn: str
    state: str
    version: str
    is_serverless: bool
    is_express: bool
    subnets: tuple[str, ...]
    security_groups: tuple[str, ...]
    logins: frozenset[str]
    authentication: Mapping[str, Any]
    transport: str


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret without its content; `key` as it was named there, None for AWS's own key."""

    arn: str
    name: str
    key: str | None
    is_deleted: bool


@dataclass(frozen=True, slots=True)
class KmsKey:
    """A key by its ARN; `state` is KMS's own word, such as Enabled or PendingDeletion."""

    arn: str
    state: str
    is_customers: bool

    @property
    def id(self) -> str:
        """Its id, which those take who may use their own account's keys alone."""
        return self.arn.rpartition("/")[2]


def describe_cluster(client: Any, arn: str) -> MskCluster:
    """Returns the cluster of an ARN. Raises AwsError."""
    with using("kafka:DescribeClusterV2"):
        found = client.describe_cluster_v2(ClusterArn=arn)["ClusterInfo"]
    is_serverless = found.get("ClusterType") == "SERVERLESS"
    whole = found.get("Provisioned") or found.get("Serverless") or {}
    nodes = whole.get("BrokerNodeGroupInfo", {})
    places = whole.get("VpcConfigs", [])
    return MskCluster(
        name=found["ClusterName"],
        arn=found["ClusterArn"],
        state=found.get("State", ""),
        version=found.get("CurrentVersion", ""),
        is_serverless=is_serverless,
        is_express=nodes.get("InstanceType", "").startswith(_EXPRESS),
        # Of several VPCs of a serverless cluster the first: a collector lies in one.
        subnets=tuple(nodes.get("ClientSubnets") or (places[0]["SubnetIds"] if places else ())),
        security_groups=tuple(
            nodes.get("SecurityGroups") or (places[0].get("SecurityGroupIds", ()) if places else ())
        ),
        logins=frozenset(("iam",) if is_serverless else _enabled(whole)),
        authentication=_switched_on(whole.get("ClientAuthentication") or {}),
        transport=_transport(whole),
    )


def _enabled(whole: Mapping[str, Any]) -> Iterator[str]:
    authentication = whole.get("ClientAuthentication") or {}
    sasl = authentication.get("Sasl") or {}
    others = False
    for name, settings in (
        ("iam", sasl.get("Iam")),
        ("scram", sasl.get("Scram")),
        ("tls", authentication.get("Tls")),
    ):
        if _is_enabled(settings or {}):
            others = True
            yield name
    # A cluster with no word on it lets everybody in unless it has a login.
    open_to_all = (authentication.get("Unauthenticated") or {}).get("Enabled", not others)
    if open_to_all and _transport(whole) != "PLAINTEXT":
        yield "none"
    if open_to_all and _transport(whole) != "TLS":
        yield "plaintext"


def _is_enabled(settings: Mapping[str, Any]) -> bool:
    """A cluster may be made with authorities for TLS and without a word on whether it is on."""
    return bool(settings.get("Enabled", settings.get("CertificateAuthorityArnList")))


def _transport(whole: Mapping[str, Any]) -> str:
    transport = (whole.get("EncryptionInfo") or {}).get("EncryptionInTransit") or {}
    return str(transport.get("ClientBroker", "TLS"))


def _switched_on(authentication: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for name, settings in authentication.items():
        inner = _switched_on(settings) if name == "Sasl" else settings
        if _is_enabled(inner) or (name == "Sasl" and inner):
            found[name] = inner
    return found


def find_by_name(client: Any, name: str) -> str | None:
    """Returns the ARN of the cluster of this name in the client's region. Raises AwsError."""
    with using("kafka:ListClustersV2"):
        pages = client.get_paginator("list_clusters_v2").paginate(ClusterNameFilter=name)
        clusters = (each for page in pages for each in page.get("ClusterInfoList", ()))
        return next((str(e["ClusterArn"]) for e in clusters if e["ClusterName"] == name), None)


def associated_secrets(client: Any, arn: str) -> tuple[str, ...]:
    """Returns the ARNs of the secrets of a cluster's SCRAM users. Raises AwsError."""
    with using("kafka:ListScramSecrets"):
        pages = client.get_paginator("list_scram_secrets").paginate(ClusterArn=arn)
        return tuple(secret for page in pages for secret in page.get("SecretArnList", ()))


def describe_secret(client: Any, arn: str) -> Secret:
    """Returns a secret as Secrets Manager describes it. Raises AwsError."""
    with using("secretsmanager:DescribeSecret"):
        found = client.describe_secret(SecretId=arn)
    return Secret(
        arn=found["ARN"],
        name=found["Name"],
        key=found.get("KmsKeyId") or None,
        is_deleted="DeletedDate" in found,
    )


def describe_key(client: Any, key: str) -> KmsKey:
    """Returns a key by its id, ARN or alias. Raises AwsError."""
    with using("kms:DescribeKey"):
        found = client.describe_key(KeyId=key)["KeyMetadata"]
    return KmsKey(
        arn=found["Arn"],
        state=found["KeyState"],
        is_customers=found.get("KeyManager") == "CUSTOMER",
    )
