# SPDX-License-Identifier: Apache-2.0
"""What the clusters of a region share, as one construct: bucket, tables, queries, report, topic."""

from __future__ import annotations

from collections.abc import Sequence

from constructs import Construct

from infra.alarms.job_failure import job_failure_rule
from infra.config.parts.shared import Shared
from infra.names import SharedNames
from infra.notify.topic import AlarmTopic
from infra.packaging.build import BUILT, glue_package
from infra.storage.bucket import DataBucket
from infra.storage.catalog import Catalog
from infra.storage.daily_report import DailyReport
from infra.storage.named_queries import NamedQueries
from infra.storage.workgroup import Workgroup


class LagReports(Construct):
    """Everything of a region that outlives a cluster; `names` is what collectors need of it.

    `clusters` are the names that tables know and queries may ask for. `name` is the workgroup's
    and, with underscores, the database's. An `existing_bucket` is used as it is.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        clusters: Sequence[str],
        name: str = "kafka-lag",
        settings: Shared | None = None,
        existing_bucket: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        settings = settings or Shared()
        bucket = DataBucket(self, "Data", keep=settings.keep, existing=existing_bucket).bucket
        topic = AlarmTopic(self, "Alarms", notify=settings.notify).topic
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
        report = DailyReport(
            self,
            "DailyReport",
            bucket=bucket,
            report=settings.report,
            package=glue_package(BUILT).path,
        )
        job_failure_rule(self, "ReportFailed", job_name=report.job_name, topic=topic)
        self.names = SharedNames(bucket=bucket.bucket_name, topic_arn=topic.topic_arn)
