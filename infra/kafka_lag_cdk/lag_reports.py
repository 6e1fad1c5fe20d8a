# SPDX-License-Identifier: Apache-2.0
"""What the clusters of a region share, as one construct: bucket, queries, report, topics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aws_cdk import Stack
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from constructs import Construct

from kafka_lag_cdk.alarms import Recipients, report_alarm
from kafka_lag_cdk.collector.code import collector_code
from kafka_lag_cdk.config.cluster import Function
from kafka_lag_cdk.config.shared import Shared
from kafka_lag_cdk.names import DEPLOYMENT, SharedNames
from kafka_lag_cdk.notifications import (
    ChatChannels,
    Topics,
    has_chats,
    job_failure_rule,
    topics_of,
)
from kafka_lag_cdk.packaging.build import BUILT, glue_package
from kafka_lag_cdk.serve.lag_views import LagViews
from kafka_lag_cdk.status_messages.status_messages import StatusNotifier
from kafka_lag_cdk.storage.bucket import DataBucket
from kafka_lag_cdk.storage.catalog import Catalog
from kafka_lag_cdk.storage.daily_report import DailyReport
from kafka_lag_cdk.storage.named_queries import NamedQueries
from kafka_lag_cdk.storage.workgroup import Workgroup


class LagReports(Construct):
    """Everything of a region that outlives a cluster; `names` is what collectors need of it.

    `clusters` are the names that tables know and queries may ask for. `name` is the deployment's:
    the workgroup has it, with underscores the database, and the names of topics, alarms and
    dashboards begin with it. An `existing_bucket` is used as it is, and an `existing_topic` takes
    the alarms.

    Chat channels are an account's and can be made once. `chat` are the regions, each with a
    LagReports of the same `name` in this account, whose alarms they show: this region's unless
    told otherwise, and with none no channel is made. `workgroup` and `job_name` are what Athena
    and Glue call theirs, None where `settings` have queries or the daily job off.

    `views` and `status_messages` are None where `settings` have them off; their code is `package`,
    built from this project's lock file unless given. `watched` is whether any cluster runs, so
    that snapshots are to be expected.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        clusters: Sequence[str],
        name: str = DEPLOYMENT,
        settings: Shared | None = None,
        existing_bucket: str | None = None,
        existing_topic: str | None = None,
        chat: Sequence[str] | None = None,
        package: Path | None = None,
        watched: bool = True,
    ) -> None:
        super().__init__(scope, construct_id)
        settings = settings or Shared()
        bucket = DataBucket(
            self,
            "Data",
            keep=settings.keep,
            existing=existing_bucket,
            tells=settings.status_messages is not None,
        ).bucket
        self.topics = self._topics(name, settings, existing_topic, chat)
        self.workgroup = self._queries(name, settings, bucket, clusters)
        self.job_name = self._reported(name, settings, bucket, watched)
        self.names = SharedNames(
            bucket=bucket.bucket_name,
            topic_arn=self.topics.alarms.topic_arn,
            name=name,
            queries=self.workgroup is not None,
        )
        self.views = self._viewed(settings, bucket, package)
        self.status_messages = self._notified(settings, bucket, package, watched)

    def _topics(
        self, name: str, settings: Shared, existing: str | None, chat: Sequence[str] | None
    ) -> Topics:
        topics = Topics(
            self,
            "Alarms",
            name=name,
            notify=settings.notify,
            existing=existing,
            reported=settings.reported,
        )
        here = Stack.of(self).region
        shown: list[sns.ITopic] = []
        for region in [here] if chat is None else chat:
            shown += (
                topics.of_chats()
                if region == here
                else topics_of(self, name, region, existing=None, reported=settings.reported)
            )
        if shown and has_chats(settings.notify):
            ChatChannels(self, "Chat", notify=settings.notify, topics=shown)
        return topics

    def _queries(
        self, name: str, settings: Shared, bucket: s3.IBucket, clusters: Sequence[str]
    ) -> str | None:
        """The workgroup's name, once it is made."""
        if settings.athena is None:
            return None
        catalog = Catalog(
            self,
            "Catalog",
            bucket=bucket,
            clusters=clusters,
            keep=settings.keep,
            name=name.replace("-", "_"),
        )
        workgroup = Workgroup(
            self, "Queries", name=name, scan_limit_gb=settings.athena.scan_limit_gb
        )
        NamedQueries(
            self, "Saved", database=catalog.database.database_name, workgroup=workgroup.workgroup
        )
        return workgroup.workgroup.ref

    def _reported(
        self, name: str, settings: Shared, bucket: s3.IBucket, watched: bool
    ) -> str | None:
        """The job's name."""
        if not settings.report.enabled:
            return None
        job = DailyReport(
            self,
            "DailyReport",
            bucket=bucket,
            report=settings.report,
            keep=settings.keep,
            package=glue_package(BUILT).path,
            name=name,
            topics=self.topics,
        )
        if self.topics.reports is not None:
            topic = self.topics.reports
            job_failure_rule(self, "ReportFailed", job_name=job.job_name, topic=topic)
        if watched:
            report_alarm(
                self,
                "ReportMissing",
                recipients=Recipients(self.topics.alarms, settings.notify.recovered),
                job_name=job.job_name,
                name=name,
            )
        return job.job_name

    def _viewed(
        self, settings: Shared, bucket: s3.IBucket, package: Path | None
    ) -> LagViews | None:
        if settings.views is None:
            return None
        code = collector_code(Function(), package)
        return LagViews(self, "Views", views=settings.views, bucket=bucket, code=code)

    def _notified(
        self,
        settings: Shared,
        bucket: s3.IBucket,
        package: Path | None,
        watched: bool,
    ) -> StatusNotifier | None:
        if settings.status_messages is None:
            return None
        return StatusNotifier(
            self,
            "StatusMessages",
            settings=settings.status_messages,
            bucket=bucket,
            topics=self.topics,
            code=collector_code(Function(), package),
            chats=has_chats(settings.notify),
            recovered=settings.notify.recovered,
            silence=watched,
            name=self.names.name,
        )
