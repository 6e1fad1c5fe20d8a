# SPDX-License-Identifier: Apache-2.0
"""The function that tells of a changed status, and what starts it: each completed snapshot.

S3 tells EventBridge, and a rule here picks out the object that completes a set. S3's own
notifications would be cheaper by the price of the events, but are one document of the bucket's:
in a bucket of the user's it would replace theirs or refuse to overlap with it, and in ours it
would need a function with the right to write it. EventBridge has any number of listeners.
"""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from kafka_lag import contract
from kafka_lag_cdk.alarms import Recipients, message_alarms
from kafka_lag_cdk.config.shared import StatusMessages
from kafka_lag_cdk.lambdas.snapshot_reader import Settings, SnapshotReader
from kafka_lag_cdk.names import DEPLOYMENT
from kafka_lag_cdk.notifications import Topics
from kafka_lag_cdk.status_messages.rights import rights

_HANDLER = "kafka_lag.notify_status.handler"
_TIMEOUT = Duration.seconds(55)
# One event is as good as a later one, so it need not wait for long: every run sends another.
_EVENT_AGE, _RETRIES = Duration.minutes(10), 2
_KEPT = Duration.days(4)


class StatusNotifier(Construct):
    """`function`, run for each completed snapshot in `bucket`, which tells the topic of
    reports or a bus.

    What fails three times lies in `failed` for four days. Nothing is lost by that: the next run
    of the cluster compares with what was told last. `chats` is whether people in chats hear the
    topic, `silence` whether no run of any cluster for two hours is alarmed.

    Runs may overlap, as order is held cluster by cluster: an older snapshot than the cursor's says
    nothing, and each message is claimed by a conditional write. A reserved concurrency of one would
    only make clusters wait for each other, and small accounts have none to reserve.
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
        chats: bool = False,
        recovered: bool = True,
        silence: bool = True,
        name: str = DEPLOYMENT,
        log_key_arn: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self._settings, self._bucket = settings, bucket
        self._log_key_arn = log_key_arn
        self._topics = topics if settings.topic else None
        self.failed = self._queue()
        reader = self._reader(code, chats)
        self.function, self.log_group = reader.function, reader.log_group
        self.rule = self._on_each_snapshot()
        self.alarms: tuple[cloudwatch.IAlarm, ...] = message_alarms(
            self,
            function=self.function,
            log_group=self.log_group,
            recipients=Recipients(topics.alarms, recovered),
            silence=silence,
            name=name,
        )

    def _queue(self) -> sqs.Queue:
        return sqs.Queue(
            self,
            "Failed",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=_KEPT,
        )

    def _reader(self, code: lambda_.Code, chats: bool) -> SnapshotReader:
        settings = self._settings
        return SnapshotReader(
            self,
            "Reader",
            settings=Settings(
                _HANDLER,
                description="Messages on a changed status of consumer groups",
                memory_mb=settings.memory_mb,
                timeout=_TIMEOUT,
                log_days=settings.log_days,
                log_key_arn=self._log_key_arn,
                concurrency=1 if settings.alone else None,
                retries=_RETRIES,
                event_age=_EVENT_AGE,
                failed=self.failed,
            ),
            environment=self._environment(chats),
            rights=list(rights(self, settings, self._bucket, self._topics)),
            code=code,
        )

    def _environment(self, chats: bool) -> dict[str, str]:
        variables = {contract.ENV_BUCKET: self._bucket.bucket_name}
        if self._topics and self._topics.reports is not None:
            variables[contract.ENV_STATUS_TOPIC] = self._topics.reports.topic_arn
            variables[contract.ENV_CHAT] = "true" if chats else "false"
        if self._settings.event_bus:
            variables[contract.ENV_EVENT_BUS] = self._settings.event_bus
        return variables

    def _on_each_snapshot(self) -> events.Rule:
        """`groups` is written last and by one request, so its object completes a set."""
        prefix = f"{contract.SNAPSHOT_PREFIX}/{contract.GROUPS}/"
        rule = events.Rule(
            self,
            "Completed",
            description="Each completed snapshot of consumer lag",
            event_pattern=events.EventPattern(
                source=["aws.s3"],
                detail_type=["Object Created"],
                detail={
                    "bucket": {"name": [self._bucket.bucket_name]},
                    "object": {"key": [{"prefix": prefix}]},
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
