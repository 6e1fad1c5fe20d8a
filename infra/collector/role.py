# SPDX-License-Identifier: Apache-2.0
"""What a collector may do, statement by statement; metrics in its log need nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from functions import contract
from infra.collector.sinks import sink_rights
from infra.config.parts.cluster import Cluster
from infra.config.parts.network import Iam, Scram, Tls
from infra.findings import open_ended

_INTERFACES = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
)
_TOPICS = ("kafka-cluster:DescribeTopic", "kafka-cluster:DescribeTopicDynamicConfiguration")


def collector_role(
    scope: Construct, *, cluster: Cluster, bucket: str, log_group: logs.ILogGroup
) -> iam.Role:
    """The role of one cluster's collector; `bucket` by name."""
    role = iam.Role(
        scope,
        "Role",
        assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        description=f"Lag collector of {cluster.name}",
    )
    for statement, reason in _statements(scope, cluster, bucket, log_group):
        role.add_to_policy(statement)
        for resource in statement.resources:
            if resource.endswith("*"):
                open_ended(role, resource, reason)
    return role


def _statements(
    scope: Construct, cluster: Cluster, bucket: str, log_group: logs.ILogGroup
) -> Iterator[tuple[iam.PolicyStatement, str]]:
    """Each with the reason why it names more than one thing, where it does."""
    yield _allow(("logs:CreateLogStream", "logs:PutLogEvents"), log_group.log_group_arn), ""
    yield (
        _allow(_INTERFACES, "*"),
        "Lambda makes the function's network interfaces in its name: their ids are not known "
        "before, and Describe takes no resource at all",
    )
    yield from _on_bucket(scope, cluster, bucket)
    if isinstance(cluster.auth, Scram | Tls):
        yield _allow(("secretsmanager:GetSecretValue",), cluster.auth.secret_arn), ""
        if cluster.auth.kms_key_arn:
            yield _allow(("kms:Decrypt",), cluster.auth.kms_key_arn), ""
    if isinstance(cluster.auth, Iam):
        yield from _on_cluster(cluster.arn or "")
    yield from sink_rights(scope, cluster)


def _on_bucket(
    scope: Construct, cluster: Cluster, bucket: str
) -> Iterator[tuple[iam.PolicyStatement, str]]:
    arn = f"arn:{Stack.of(scope).partition}:s3:::{bucket}"
    own = [
        f"{contract.SNAPSHOT_PREFIX}/{dataset}/cluster={cluster.name}/*"
        for dataset in contract.DATASETS
    ]
    # Without the right to list, a missing object would read as a forbidden one.
    listing = iam.PolicyStatement(
        actions=["s3:ListBucket"],
        resources=[arn],
        conditions={"StringLike": {"s3:prefix": own}},
    )
    yield listing, ""
    objects = [f"{arn}/{prefix}" for prefix in own]
    yield _allow(("s3:GetObject", "s3:PutObject"), *objects), "a key a minute, this cluster's only"


def _on_cluster(arn: str) -> Iterator[tuple[iam.PolicyStatement, str]]:
    """MSK's own actions: to describe, never to read a record or change anything."""
    topics, groups = (
        f"{arn.replace(':cluster/', f':{kind}/', 1)}/*" for kind in ("topic", "group")
    )
    all_of = "every topic and group of this one cluster is reported, those to come too"
    yield _allow(("kafka-cluster:Connect", "kafka-cluster:DescribeCluster"), arn), ""
    yield _allow(_TOPICS, topics), all_of
    yield _allow(("kafka-cluster:DescribeGroup",), groups), all_of


def _allow(actions: Sequence[str], *resources: str) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=list(actions), resources=list(resources))
