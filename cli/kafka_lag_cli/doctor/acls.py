# SPDX-License-Identifier: Apache-2.0
"""The ACLs of a cluster as its brokers list them (DescribeAcls), and whom each concerns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from kafka.protocol.admin import (
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ACLResourceType,
    DescribeAclsRequest,
)

from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.errors import UnansweredError, failure_of_code

Resource: TypeAlias = Literal["cluster", "topic", "group"]

ANYBODY = "User:*"
ANY_NAME = "*"
ANY_HOST = "*"
# What Kafka calls the one resource of its kind.
CLUSTER_NAME = "kafka-cluster"

_SECURITY_DISABLED = 54
_RESOURCES: dict[int, Resource] = {
    ACLResourceType.CLUSTER: "cluster",
    ACLResourceType.TOPIC: "topic",
    ACLResourceType.GROUP: "group",
}
_ALL = "All"


@dataclass(frozen=True, slots=True)
class Acl:
    """One binding; `operation` is as kafka-acls writes it, `resource` None for a kind that a
    monitor has nothing to do with.
    """

    resource: Resource | None
    name: str
    principal: str
    operation: str
    allows: bool = True
    host: str = ANY_HOST
    prefixed: bool = False

    def covers(self, resource: Resource, name: str) -> bool:
        """Return true if the ACL is about this resource; the name `*` stands for an unknown one."""
        if self.resource != resource:
            return False
        if self.prefixed:
            return name.startswith(self.name)
        return self.name in (name, ANY_NAME)

    def denies(self, principal: str, operation: str, resource: Resource, name: str) -> bool:
        """Return true if the ACL forbids this operation, from some host at least."""
        return (
            not self.allows
            and self.principal in (principal, ANYBODY)
            and self.operation in (operation, _ALL)
            and self.covers(resource, name)
        )


@dataclass(frozen=True, slots=True)
class AclListing:
    """All ACLs, None where they may not be seen, for the reason in `detail`.

    `enforced` is false where the brokers have no authorizer, and None where that is not known.
    """

    acls: tuple[Acl, ...] | None = None
    enforced: bool | None = None
    detail: str = ""


async def list_acls(connections: Connections) -> AclListing:
    """The ACLs as any broker lists them, which takes Describe on the cluster."""
    try:
        answer = await connections.send_to_any(
            lambda: DescribeAclsRequest(
                resource_type_filter=ACLResourceType.ANY,
                resource_name_filter=None,
                pattern_type_filter=ACLResourcePatternType.ANY,
                principal_filter=None,
                host_filter=None,
                operation=ACLOperation.ANY,
                permission_type=ACLPermissionType.ANY,
            )
        )
    except UnansweredError as error:
        return AclListing(detail=error.detail)
    if answer.error_code == _SECURITY_DISABLED:
        return AclListing((), enforced=False)
    if failure := failure_of_code(answer.error_code):
        return AclListing(detail=failure.detail)
    acls = (
        _acl(resource, binding) for resource in answer.resources or () for binding in resource.acls
    )
    return AclListing(tuple(acls), enforced=True)


def _acl(resource: Any, binding: Any) -> Acl:
    return Acl(
        resource=_RESOURCES.get(resource.resource_type),
        name=resource.resource_name,
        principal=binding.principal,
        operation=_operation(binding.operation),
        allows=binding.permission_type == ACLPermissionType.ALLOW,
        host=binding.host,
        prefixed=resource.pattern_type == ACLResourcePatternType.PREFIXED,
    )


def _operation(code: int) -> str:
    """`DescribeConfigs`; one that is newer than the library is its number."""
    try:
        return "".join(part.capitalize() for part in ACLOperation(code).name.split("_"))
    except ValueError:
        return str(code)
