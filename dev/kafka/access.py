# SPDX-License-Identifier: Apache-2.0
"""Access to the cluster: creates SCRAM users and ACLs.

They are created through the admin API, so that no password is on a command line.
"""

import secrets
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialUpsertion,
)

from dev.kafka.node import ClientPair, Protocol

ITERATIONS = 4096  # the least Kafka takes
ANSWERS_WITHIN = 120.0


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user of one cluster; the password is random and never in the repr."""

    username: str
    password: str = field(repr=False)


def new_users(*names: str) -> dict[str, Credentials]:
    """Returns users with these names, each with a random password."""
    return {name: Credentials(name, secrets.token_urlsafe(24)) for name in names}


def client_config(
    bootstrap: str, protocol: Protocol, login: Credentials | ClientPair, cafile: Path
) -> dict[str, Any]:
    """Returns the settings of a librdkafka client.

    They hold the secret unless the protocol is PLAINTEXT.
    """
    config: dict[str, Any] = {"bootstrap.servers": bootstrap, "security.protocol": protocol}
    if protocol == "PLAINTEXT":
        return config
    if protocol != "SASL_PLAINTEXT":
        config["ssl.ca.location"] = str(cafile)
    if isinstance(login, ClientPair):
        return config | {
            "ssl.certificate.pem": login.certificate,
            "ssl.key.pem": login.private_key,
        }
    return config | {
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": login.username,
        "sasl.password": login.password,
    }


def monitor_acls() -> list[AclBinding]:
    """Returns the ACLs that a monitor needs; it reads no record and changes nothing."""
    describe = AclOperation.DESCRIBE
    return [
        acl("monitor", ResourceType.BROKER, "kafka-cluster", describe),
        acl("monitor", ResourceType.TOPIC, "*", describe),
        acl("monitor", ResourceType.GROUP, "*", describe),
        acl("monitor", ResourceType.TOPIC, "*", AclOperation.DESCRIBE_CONFIGS),
    ]


def acl(
    user: str, kind: ResourceType, name: str, operation: AclOperation, *, allow: bool = True
) -> AclBinding:
    """Returns an ACL with one permission, or one denial, which wins.

    The name `*` means all of the kind.
    """
    permission = AclPermissionType.ALLOW if allow else AclPermissionType.DENY
    pattern = ResourcePatternType.LITERAL
    return AclBinding(kind, name, pattern, f"User:{user}", "*", operation, permission)


def create_acls(admin: AdminClient, acls: list[AclBinding]) -> None:
    """Stores the ACLs; brokers apply them some milliseconds later."""
    wait_for(admin.create_acls(acls, request_timeout=ANSWERS_WITHIN))


def create_users(admin: AdminClient, users: Mapping[str, Credentials]) -> None:
    """Stores each user for both SCRAM mechanisms."""
    # Kafka takes one change of a user per request.
    for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
        kind = ScramCredentialInfo(mechanism, ITERATIONS)
        wanted: list[UserScramCredentialAlteration] = [
            UserScramCredentialUpsertion(user.username, kind, user.password.encode())
            for user in users.values()
        ]
        wait_for(admin.alter_user_scram_credentials(wanted, request_timeout=ANSWERS_WITHIN))


def wait_for(futures: Mapping[Any, Future[Any]]) -> None:
    """Waits for all answers of an admin call, and raises the first error among them."""
    for future in futures.values():
        future.result(ANSWERS_WITHIN)
