# SPDX-License-Identifier: Apache-2.0
"""A Lambda that reads snapshots and no Kafka: outside the VPC, from the collectors' own package.

Outside, as S3, SNS, EventBridge and Secrets Manager need no network of the user's, and as it must
answer where the brokers' network does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from kafka_lag_cdk.config.cluster import LogDays
from kafka_lag_cdk.findings import tested_runtime
from kafka_lag_cdk.lambdas.log import log_of
from kafka_lag_cdk.rights import Right, role_with, writing


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
    log_key_arn: str | None = None
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
        self.log_group = log_of(self, days=settings.log_days, key_arn=settings.log_key_arn)
        role = role_with(
            self,
            (writing(self.log_group), *rights),
            service="lambda.amazonaws.com",
            description=settings.description,
        )
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
        tested_runtime(self.function)
