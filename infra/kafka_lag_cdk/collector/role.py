# SPDX-License-Identifier: Apache-2.0
"""What a collector may do, statement by statement; metrics in its log need nothing."""

from __future__ import annotations

from collections.abc import Iterator

from aws_cdk import Fn, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from kafka_lag import contract
from kafka_lag_cdk.collector.sinks import sink_rights
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.network import IamAuth, ScramAuth, TlsAuth
from kafka_lag_cdk.config.types import is_token
from kafka_lag_cdk.rights import Right, allow, listing, role_with, using_key, writing

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
    scope: Construct,
    *,
    cluster: Cluster,
    bucket: str,
    bucket_key_arn: str | None,
    log_group: logs.ILogGroup,
) -> iam.Role:
    """The role of one cluster's collector; `bucket` by name."""
    arn = f"arn:{Stack.of(scope).partition}:s3:::{bucket}"
    return role_with(
        scope,
        (
            *_rights(scope, cluster, arn, log_group),
            *using_key(bucket_key_arn, arn, writes=True),
        ),
        service="lambda.amazonaws.com",
        description=f"Lag collector of {cluster.name}",
    )


def deny_interfaces(scope: Construct, role: iam.IRole, function_arn: str) -> None:
    """Keeps the function's own code from the network interfaces that Lambda makes in its name.

    A policy of its own, as the function waits for the role with all that is in it.
    """
    iam.Policy(
        scope,
        "OwnCode",
        roles=[role],
        statements=[
            iam.PolicyStatement(
                effect=iam.Effect.DENY,
                actions=list(_INTERFACES),
                resources=["*"],
                conditions={"ArnEquals": {"lambda:SourceFunctionArn": function_arn}},
            )
        ],
    )


def _rights(
    scope: Construct, cluster: Cluster, bucket_arn: str, log_group: logs.ILogGroup
) -> Iterator[Right]:
    yield writing(log_group)
    yield allow(
        *_INTERFACES,
        on="*",
        because="Lambda makes the function's network interfaces in its name: their ids are not "
        "known before, and Describe takes no resource at all",
    )
    yield from _on_bucket(cluster, bucket_arn)
    if isinstance(cluster.auth, ScramAuth | TlsAuth):
        yield allow("secretsmanager:GetSecretValue", on=cluster.auth.secret_arn)
        if cluster.auth.kms_key_arn:
            yield allow("kms:Decrypt", on=cluster.auth.kms_key_arn)
    if isinstance(cluster.auth, IamAuth):
        yield from _on_cluster(cluster.arn or "")
    yield from sink_rights(scope, cluster)


def _on_bucket(cluster: Cluster, arn: str) -> Iterator[Right]:
    own = [
        f"{contract.SNAPSHOT_PREFIX}/{dataset}/cluster={cluster.name}/*"
        for dataset in contract.DATASETS
    ]
    usual = contract.usual_key(f"cluster={cluster.name}")
    yield listing(arn, *own, usual)
    keys = "a key a minute, this cluster's only"
    runs = [f"{arn}/{prefix}" for prefix in own]
    yield allow("s3:GetObject", on=[*runs, f"{arn}/{usual}"], because=keys)
    yield allow("s3:PutObject", on=runs, because=keys)


def _on_cluster(arn: str) -> Iterator[Right]:
    """MSK's own actions: to describe, never to read a record or change anything."""
    topics, groups = (f"{_within(arn, kind)}/*" for kind in ("topic", "group"))
    all_of = "every topic and group of this one cluster is reported, those to come too"
    yield allow("kafka-cluster:Connect", "kafka-cluster:DescribeCluster", on=arn)
    yield allow(*_TOPICS, on=topics, because=all_of)
    yield allow("kafka-cluster:DescribeGroup", on=groups, because=all_of)


def _within(arn: str, kind: str) -> str:
    """A cluster's ARN, as that of what is in it: its topics, or groups."""
    if not is_token(arn):
        return arn.replace(":cluster/", f":{kind}/", 1)
    # arn:aws:kafka:REGION:ACCOUNT:cluster/NAME/UUID, taken apart when it is deployed.
    colons, slashes = Fn.split(":", arn), Fn.split("/", arn)
    place = ":".join(Fn.select(at, colons) for at in range(5))
    return f"{place}:{kind}/{Fn.select(1, slashes)}/{Fn.select(2, slashes)}"
