# SPDX-License-Identifier: Apache-2.0
"""Rights of roles, one by one, and the roles that have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from constructs import Construct

from kafka_lag_cdk.acknowledgements import acknowledge_strict, acknowledge_wildcard

# Of roles and of policies beside them.
INLINE = {"IAMNoInlinePolicy": "The rights of a role are its own, and go with it"}


@dataclass(frozen=True, slots=True)
class Right:
    """Actions on resources; `because` gives the reason if a resource ends with an asterisk.

    Without `conditions` it always may. ARNs may be tokens.
    """

    actions: tuple[str, ...]
    resources: tuple[str, ...]
    because: str = ""
    conditions: Mapping[str, Any] | None = None

    def statement(self) -> iam.PolicyStatement:
        """Returns the right as IAM reads it."""
        return iam.PolicyStatement(
            actions=list(self.actions),
            resources=list(self.resources),
            conditions=self.conditions,
        )

    def wildcards(self) -> list[str]:
        """Returns the resources with an asterisk, which `because` explains."""
        return [each for each in self.resources if self.because and each.endswith("*")]


def allow(
    *actions: str,
    on: str | Iterable[str],
    because: str = "",
    conditions: Mapping[str, Any] | None = None,
) -> Right:
    """Returns the right to all of these actions on one resource, or on each of several."""
    resources = (on,) if isinstance(on, str) else tuple(on)
    return Right(actions, resources, because, conditions)


def listing(bucket_arn: str, *prefixes: str) -> Right:
    """Returns the right to list these; without it S3 calls a missing object forbidden."""
    these = {"StringLike": {"s3:prefix": list(prefixes)}}
    return allow("s3:ListBucket", on=bucket_arn, conditions=these)


def using_key(key_arn: str | None, bucket_arn: str, *, writes: bool) -> tuple[Right, ...]:
    """Returns the rights on a bucket's key, for this bucket only; empty for S3's own key (null).

    Parts of an upload are decrypted before they become one object, so whoever writes reads.
    """
    if key_arn is None:
        return ()
    actions = ("kms:Decrypt", "kms:GenerateDataKey") if writes else ("kms:Decrypt",)
    # S3 sends the object's ARN to the key, or the bucket's where that has an S3 Bucket Key.
    ours = {"StringLike": {"kms:EncryptionContext:aws:s3:arn": [bucket_arn, f"{bucket_arn}/*"]}}
    return (allow(*actions, on=key_arn, conditions=ours),)


def using_key_of(bucket: s3.IBucket, *, writes: bool) -> tuple[Right, ...]:
    """Returns the rights on the key of a bucket that knows it."""
    key = bucket.encryption_key
    return using_key(key.key_arn if key else None, bucket.bucket_arn, writes=writes)


def writing(log_group: logs.ILogGroup) -> Right:
    """Returns the right to write to an existing log."""
    return allow("logs:CreateLogStream", "logs:PutLogEvents", on=log_group.log_group_arn)


def publishing_metrics(namespace: str | None) -> Right:
    """Returns the right to publish metrics of a namespace; null is any, because OTLP has none.

    CloudWatch knows no resource for it.
    """
    ours = {"StringEquals": {"cloudwatch:namespace": namespace}}
    return allow(
        "cloudwatch:PutMetricData",
        on="*",
        because="publishing metrics takes no resource",
        conditions=ours if namespace else None,
    )


def for_own_account(scope: Construct) -> dict[str, Any]:
    """Returns a condition of trust that refuses services acting for another account.

    Glue and EventBridge need not say so [their user guides name no key for such a role], and a
    condition that wants the key would then keep them out.
    """
    return {"StringEqualsIfExists": {"aws:SourceAccount": Stack.of(scope).account}}


def role_with(
    scope: Construct,
    rights: Iterable[Right],
    *,
    service: str,
    description: str | None = None,
    conditions: Mapping[str, Any] | None = None,
) -> iam.Role:
    """Makes the scope's `Role`, which a service may assume under conditions."""
    role = iam.Role(
        scope,
        "Role",
        assumed_by=iam.ServicePrincipal(service, conditions=conditions),
        description=description,
    )
    acknowledge_strict(role, INLINE)
    for right in rights:
        role.add_to_policy(right.statement())
        for resource in right.wildcards():
            acknowledge_wildcard(role, resource, right.because)
    return role
