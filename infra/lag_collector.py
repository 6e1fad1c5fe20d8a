# SPDX-License-Identifier: Apache-2.0
"""All that watches one cluster, as one construct: collector, alarms, scaling, dashboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.alarms.any_group import AnyGroupAlarm
from infra.alarms.groups import AnomalyAlarms, GroupAlarms
from infra.alarms.reporter import ReporterAlarms
from infra.collector.code import collector_code
from infra.collector.function import CollectorFunction
from infra.collector.schedule import CollectorSchedule
from infra.config.parts.cluster import Cluster
from infra.dashboard.cluster_dashboard import ClusterDashboard
from infra.lag_reports import LagReports
from infra.names import SharedNames
from infra.scaling.names import construct_id_of
from infra.scaling.service_scaling import ServiceScaling


class LagCollector(Construct):
    """Collects the lag of `cluster` into the bucket of `reports`, and tells its topic.

    `reports` is the region's shared part, or its names where another stack holds it. With
    `recovered` the topic also hears that an alarm is over. `package` is the collector's zip;
    unless given, it is built from this project's lock file.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: Cluster,
        reports: LagReports | SharedNames,
        recovered: bool = True,
        package: Path | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        shared = reports.names if isinstance(reports, LagReports) else reports
        self._cluster, self._recovered = cluster, recovered
        self._collector = CollectorFunction(
            self,
            "Collector",
            cluster=cluster,
            bucket=shared.bucket,
            code=collector_code(cluster.function, package),
        )
        self.function = self._collector.function
        CollectorSchedule(self, "Schedule", cluster=cluster, function=self.function)
        topic = sns.Topic.from_topic_arn(self, "Topic", shared.topic_arn)
        self.alarms = (*self._alarms(topic), *self._scaled())
        if cluster.dashboard:
            ClusterDashboard(
                self,
                "Dashboard",
                cluster=cluster,
                function=self.function,
                log_group=self._collector.log_group,
                alarms=self.alarms,
            )

    def _alarms(self, topic: sns.ITopic) -> Iterator[cloudwatch.IAlarm]:
        cluster, recovered = self._cluster, self._recovered
        yield from ReporterAlarms(
            self,
            "Reporter",
            cluster=cluster,
            function=self.function,
            log_group=self._collector.log_group,
            topic=topic,
            recovered=recovered,
        ).alarms
        if cluster.alarms.any_group:
            yield AnyGroupAlarm(self, "AnyGroup", cluster=cluster, topic=topic).alarm
        for kind, name in ((GroupAlarms, "Groups"), (AnomalyAlarms, "Anomalies")):
            yield from kind(self, name, cluster=cluster, topic=topic, recovered=recovered).alarms

    def _scaled(self) -> Iterator[cloudwatch.IAlarm]:
        for scaling in self._cluster.scaling:
            name = construct_id_of(scaling)
            yield from ServiceScaling(self, name, cluster=self._cluster, scaling=scaling).alarms
