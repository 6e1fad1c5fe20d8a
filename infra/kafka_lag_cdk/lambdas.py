# SPDX-License-Identifier: Apache-2.0
"""The Lambdas' package and logs, and all of a Lambda that reads snapshots.

Log groups go with their stack: what must last is in the bucket.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from kafka_lag import contract
from kafka_lag_cdk.acknowledgements import acknowledge_function, acknowledge_strict
from kafka_lag_cdk.packaging import Target, build
from kafka_lag_cdk.rights import Right, role_with, writing
from kafka_lag_config.settings import Function, LogDays

RUNTIMES = {"3.13": lambda_.Runtime.PYTHON_3_13, "3.14": lambda_.Runtime.PYTHON_3_14}
ARCHITECTURES = {
    "arm64": lambda_.Architecture.ARM_64,
    "x86_64": lambda_.Architecture.X86_64,
}
_OF_LOGS = {
    "CloudWatchLogGroupEncrypted": "shared.kms_keys in the configuration names a key for it",
}
# CDK names what CloudWatch counts in days.
_RETENTION = {
    1: logs.RetentionDays.ONE_DAY,
    3: logs.RetentionDays.THREE_DAYS,
    7: logs.RetentionDays.ONE_WEEK,
    14: logs.RetentionDays.TWO_WEEKS,
    30: logs.RetentionDays.ONE_MONTH,
    60: logs.RetentionDays.TWO_MONTHS,
    90: logs.RetentionDays.THREE_MONTHS,
    180: logs.RetentionDays.SIX_MONTHS,
    365: logs.RetentionDays.ONE_YEAR,
    731: logs.RetentionDays.TWO_YEARS,
}


def collector_code(settings: Function, package: Path | None) -> lambda_.Code:
    """Returns the given package, or one built for this runtime; installs wheels the first time.

    Raises PackagingError when they cannot be. CDK wants a new object for every stack.
    """
    target = Target(python=settings.python, architecture=settings.architecture)
    return lambda_.Code.from_asset(str(package or build(target)))


def make_log_group(
    scope: Construct, *, days: LogDays, key_arn: str | None, name: str | None = None
) -> logs.LogGroup:
    """Makes the scope's `Log`, which keeps lines for `days`; a null key is CloudWatch's own."""
    group = logs.LogGroup(
        scope,
        "Log",
        log_group_name=name,
        retention=_RETENTION[days],
        encryption_key=kms.Key.from_key_arn(scope, "LogKey", key_arn) if key_arn else None,
        removal_policy=RemovalPolicy.DESTROY,
    )
    acknowledge_strict(group, _OF_LOGS)
    return group


class SnapshotReader(Construct):
    """`function` and its `log_group`, with these rights and the one to write its log.

    It reads snapshots and no Kafka, from the collectors' own package. It is outside the VPC, as S3,
    SNS, EventBridge and Secrets Manager need no network of the user's, and as it must answer where
    the brokers' network does not.

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
            # The same as a collector's default, so that their package is uploaded once.
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
        acknowledge_function(self.function)
