# SPDX-License-Identifier: Apache-2.0
"""The function that sends a message for each changed status, and what starts it: each snapshot.

S3 sends its events to EventBridge, and a rule here picks out the object that completes a snapshot.
S3's own notifications would be cheaper by the price of the events, but are one document of the
bucket's: in a bucket of the user's it would replace theirs or refuse to overlap with it, and in
ours it would need a function with the right to write it. EventBridge has any number of listeners.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from aws_cdk import ArnFormat, Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from kafka_lag import contract
from kafka_lag_cdk.alarms import Recipients, message_alarms
from kafka_lag_cdk.lambdas import SnapshotReader
from kafka_lag_cdk.names import DEPLOYMENT
from kafka_lag_cdk.notifications import Topics
from kafka_lag_cdk.rights import Right, allow, listing, using_key_of
from kafka_lag_config.shared import StatusMessages

_HANDLER = "kafka_lag.notify_status.handler"
_TIMEOUT = Duration.seconds(55)
# One event is as good as a later one, so it need not wait for long: every run sends another.
_EVENT_AGE, _RETRIES = Duration.minutes(10), 2
_FAILED_RETENTION = Duration.days(4)

_GROUPS = f"{contract.SNAPSHOT_PREFIX}/{contract.GROUPS}/"
_NOTIFIED = f"{contract.NOTIFIED_PREFIX}/*"
# So many ARNs, with the longest names, fit into the 4 KB of a function's environment. Messages on
# others name no state.
_MOST_CLUSTERS = 10


class StatusNotifier(Construct):
    """`function`, run for each completed snapshot in `bucket`, which publishes to the topic of
    reports, to a bus, or both.

    What fails three times lies in `failed` for four days. Nothing is lost by that: the next run
    of the cluster compares with what was sent last. `chats` is whether people in chats see the
    topic, `silence` whether no run of any cluster for two hours is alarmed.

    Runs may overlap, as order is held cluster by cluster: an older snapshot than the cursor's sends
    nothing, and each message is claimed by a conditional write. A reserved concurrency of one would
    only make clusters wait for each other, and small accounts have none to reserve.

    `msk`: ARNs of MSK clusters by name, whose state the function may read.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: StatusMessages,
        bucket: s3.IBucket,
        topics: Topics,
        code: lambda_.Code,
        msk: Mapping[str, str],
        chats: bool = False,
        recovered: bool = True,
        silence: bool = True,
        name: str = DEPLOYMENT,
        log_key_arn: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.failed = sqs.Queue(
            self,
            "Failed",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=_FAILED_RETENTION,
        )
        published = topics if settings.topic else None
        msk = dict(list(msk.items())[:_MOST_CLUSTERS])
        reader = SnapshotReader(
            self,
            "Reader",
            handler=_HANDLER,
            description="Messages on a changed status of consumer groups",
            code=code,
            environment=_environment(settings, bucket, published, chats, msk),
            rights=[*_rights(self, settings, bucket, published), *_describing(msk)],
            memory_mb=settings.memory_mb,
            timeout=_TIMEOUT,
            log_days=settings.log_days,
            log_key_arn=log_key_arn,
            concurrency=settings.reserved_concurrency,
            retries=_RETRIES,
            event_age=_EVENT_AGE,
            failed=self.failed,
        )
        self.function, self.log_group = reader.function, reader.log_group
        self.rule = self._run_for_each_snapshot(bucket)
        self.alarms: tuple[cloudwatch.IAlarm, ...] = message_alarms(
            self,
            function=self.function,
            log_group=self.log_group,
            recipients=Recipients(topics.notices, recovered),
            silence=silence,
            name=name,
        )

    def _run_for_each_snapshot(self, bucket: s3.IBucket) -> events.Rule:
        """Runs the function for each object of `groups`, which is written last and at once."""
        rule = events.Rule(
            self,
            "Completed",
            description="Each completed snapshot of consumer lag",
            event_pattern=events.EventPattern(
                source=["aws.s3"],
                detail_type=["Object Created"],
                detail={
                    "bucket": {"name": [bucket.bucket_name]},
                    "object": {"key": [{"prefix": _GROUPS}]},
                },
            ),
        )
        rule.add_target(
            targets.LambdaFunction(
                self.function,
                dead_letter_queue=self.failed,
                retry_attempts=_RETRIES,
                max_event_age=_EVENT_AGE,
            )
        )
        return rule


def _environment(
    settings: StatusMessages,
    bucket: s3.IBucket,
    topics: Topics | None,
    chats: bool,
    msk: Mapping[str, str],
) -> dict[str, str]:
    variables = {contract.ENV_BUCKET: bucket.bucket_name}
    if topics and topics.reports is not None:
        variables[contract.ENV_STATUS_TOPIC] = topics.reports.topic_arn
        variables[contract.ENV_CHAT] = "true" if chats else "false"
    if settings.event_bus:
        variables[contract.ENV_EVENT_BUS] = settings.event_bus
    if msk:
        variables[contract.ENV_MSK_CLUSTERS] = json.dumps(msk)
    return variables


def _describing(msk: Mapping[str, str]) -> Iterator[Right]:
    """Yields the right to read the state of MSK clusters, if there are any."""
    if msk:
        yield allow("kafka:DescribeClusterV2", on=sorted(set(msk.values())))


def _rights(
    scope: Construct, settings: StatusMessages, bucket: s3.IBucket, topics: Topics | None
) -> Iterator[Right]:
    """Yields the rights to read snapshots, to remember what was sent, and to publish."""
    groups = f"{_GROUPS}*"
    yield listing(bucket.bucket_arn, groups, _NOTIFIED)
    yield allow(
        "s3:GetObject",
        on=bucket.arn_for_objects(groups),
        because="a key a minute and cluster; messages are of all clusters of the bucket",
    )
    yield allow(
        "s3:GetObject",
        "s3:PutObject",
        on=bucket.arn_for_objects(_NOTIFIED),
        because="a cursor for each cluster and channel",
    )
    yield from using_key_of(bucket, writes=True)
    if topics:
        yield from topics.publishing_reports()
    if settings.event_bus:
        bus = Stack.of(scope).format_arn(
            service="events",
            resource="event-bus",
            resource_name=settings.event_bus,
            arn_format=ArnFormat.SLASH_RESOURCE_NAME,
        )
        yield allow("events:PutEvents", on=bus)
