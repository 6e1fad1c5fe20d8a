# SPDX-License-Identifier: Apache-2.0
"""A Lambda that reads snapshots and no Kafka: outside the VPC, from the collectors' own package.

Outside, as S3, SNS, EventBridge and Secrets Manager need no network of the user's, and as it must
answer where the brokers' network does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.collector.brokers import NEWEST_RUNTIME
from infra.collector.function import RETENTION
from infra.config.parts.cluster import LogDays
from infra.findings import explained, open_ended


@dataclass(frozen=True, slots=True)
class Right:
    """What may be done to what; `reason` where a resource ends with an asterisk."""

    statement: iam.PolicyStatement
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a function is run; `concurrency` is reserved, None: none is.

    Of an event that fails `retries` are made, within `event_age`, before it goes to `failed`;
    None leaves them to Lambda, for a function that is called and not sent events.
    """

    handler: str
    _: KW_ONLY
    description: str
    memory_mb: int
    timeout: Duration
    log_days: LogDays
    concurrency: int | None = None
    retries: int | None = None
    event_age: Duration | None = None
    failed: sqs.IQueue | None = None


class SnapshotReader(Construct):
    """`function` and its `log_group`, with these rights and the one to write its log."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        environment: Mapping[str, str],
        rights: Sequence[Right],
        code: lambda_.Code,
    ) -> None:
        super().__init__(scope, construct_id)
        self.log_group = logs.LogGroup(
            self,
            "Log",
            retention=RETENTION[settings.log_days],
            removal_policy=RemovalPolicy.DESTROY,
        )
        role = self._role(settings, rights)
        self.function = lambda_.Function(
            self,
            "Function",
            description=settings.description,
            # What a collector has unless told otherwise: its package is then uploaded once.
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64,
            code=code,
            handler=settings.handler,
            environment=dict(environment),
            role=role,
            memory_size=settings.memory_mb,
            timeout=settings.timeout,
            log_group=self.log_group,
            reserved_concurrent_executions=settings.concurrency,
            retry_attempts=settings.retries,
            max_event_age=settings.event_age,
            dead_letter_queue=settings.failed,
        )
        explained(self.function, "L1", NEWEST_RUNTIME)

    def _role(self, settings: Settings, rights: Sequence[Right]) -> iam.Role:
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            description=settings.description,
        )
        own = ("logs:CreateLogStream", "logs:PutLogEvents")
        log = Right(allow(own, self.log_group.log_group_arn))
        for right in (log, *rights):
            role.add_to_policy(right.statement)
            for resource in right.statement.resources if right.reason else ():
                open_ended(role, resource, right.reason)
        return role


def allow(actions: Sequence[str], *resources: str) -> iam.PolicyStatement:
    """A statement that allows the actions on the resources."""
    return iam.PolicyStatement(actions=list(actions), resources=list(resources))


def listing(bucket: s3.IBucket, *prefixes: str) -> iam.PolicyStatement:
    """A statement that allows to list these, as which a missing object reads as missing.

    Without it S3 would say of one that it is forbidden.
    """
    return iam.PolicyStatement(
        actions=["s3:ListBucket"],
        resources=[bucket.bucket_arn],
        conditions={"StringLike": {"s3:prefix": list(prefixes)}},
    )
