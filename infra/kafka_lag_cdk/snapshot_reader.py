# SPDX-License-Identifier: Apache-2.0
"""A Lambda that reads snapshots and no Kafka: outside the VPC, from the collectors' own package.

Outside, as S3, SNS, EventBridge and Secrets Manager need no network of the user's, and as it must
answer where the brokers' network does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from kafka_lag import contract
from kafka_lag_cdk.acknowledgements import acknowledge_runtime
from kafka_lag_cdk.collector_code import ARCHITECTURES, RUNTIMES
from kafka_lag_cdk.log_groups import make_log_group
from kafka_lag_cdk.rights import Right, role_with, writing
from kafka_lag_config.settings import Function, LogDays


class SnapshotReader(Construct):
    """`function` and its `log_group`, with these rights and the one to write its log.

    `concurrency` is reserved, None: none is. Of an event that fails `retries` are made, within
    `event_age`, before it goes to the queue `failed`; None leaves them to Lambda, for a function
    that is called and not sent events.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        handler: str,
        description: str,
        code: lambda_.Code,
        environment: Mapping[str, str],
        rights: Iterable[Right],
        memory_mb: int,
        timeout: Duration,
        log_days: LogDays,
        log_key_arn: str | None = None,
        concurrency: int | None = None,
        retries: int | None = None,
        event_age: Duration | None = None,
        failed: sqs.IQueue | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.log_group = make_log_group(self, days=log_days, key_arn=log_key_arn)
        role = role_with(
            self,
            (writing(self.log_group), *rights),
            service="lambda.amazonaws.com",
            description=description,
        )
        self.function = lambda_.Function(
            self,
            "Function",
            description=description,
            # As a collector's is unless configured otherwise: its package is then uploaded once.
            runtime=RUNTIMES[Function().python],
            architecture=ARCHITECTURES[Function().architecture],
            code=code,
            handler=handler,
            environment={**environment, **contract.THREAD_SETTINGS},
            role=role,
            memory_size=memory_mb,
            timeout=timeout,
            log_group=self.log_group,
            reserved_concurrent_executions=concurrency,
            retry_attempts=retries,
            max_event_age=event_age,
            dead_letter_queue=failed,
        )
        acknowledge_runtime(self.function)
