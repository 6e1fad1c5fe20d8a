# SPDX-License-Identifier: Apache-2.0
"""All that watches one cluster, as one construct: collector, alarms, scaling, dashboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from kafka_lag_cdk.acknowledgements import warn
from kafka_lag_cdk.alarms import ClusterAlarms, Recipients
from kafka_lag_cdk.collector_code import collector_code
from kafka_lag_cdk.collector_function import CollectorFunction, CollectorSchedule
from kafka_lag_cdk.dashboard import ClusterDashboard
from kafka_lag_cdk.lag_reports import LagReports
from kafka_lag_cdk.names import SharedNames
from kafka_lag_cdk.names import construct_id as id_of
from kafka_lag_cdk.notifications import let_alarms_in
from kafka_lag_cdk.props import KafkaCluster
from kafka_lag_cdk.scaling import ScaledService
from kafka_lag_config.alarm_rules import alarm_shares
from kafka_lag_config.doubts import find_doubts


class LagCollector(Construct):
    """Collects the lag of `cluster` into the bucket of `reports`; alarms go to its topic.

    `reports` is the region's shared part, or its names where another stack holds it; alarms and
    dashboard are named after its deployment. With `recovered` the topic also gets that an alarm
    is over. `package` is the collector's folder or zip; unless given, it is built from this
    project's lock file.

    A stack holds the alarms of 100 to 150 named groups. Those of more are a ValueError, or with
    `groups_apart` not made here: the app makes a `NamedGroupAlarms` for each of `alarm_shares`, in
    stacks of their own, after this. Of fewer there are no shares, and all are here.

    `alarms` reach people, `scaling_alarms` only set numbers of tasks; `dashboard` is None where the
    cluster wants none.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: KafkaCluster,
        reports: LagReports | SharedNames,
        recovered: bool = True,
        package: Path | None = None,
        groups_apart: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        shares = alarm_shares(cluster)
        if shares and not groups_apart:
            raise ValueError(
                f"The alarms on the {len(frozenset().union(*shares)):,} groups that alarms of "
                f"{cluster.name} name are more than one stack holds: give LagCollector "
                "groups_apart=True, and make NamedGroupAlarms in a stack of its own for each of "
                f"the {len(shares)} alarm_shares(cluster)."
            )
        shared = reports.names if isinstance(reports, LagReports) else reports
        self._cluster, self._name = cluster, shared.name
        self._workgroup = shared.name if shared.queries else None
        collector = CollectorFunction(
            self,
            "Collector",
            cluster=cluster,
            bucket=shared.bucket,
            code=collector_code(cluster.function, package),
            bucket_key_arn=shared.bucket_key_arn,
            log_key_arn=shared.log_key_arn,
        )
        self.function, self.log_group = collector.function, collector.log_group
        CollectorSchedule(self, "Schedule", cluster=cluster, function=self.function)
        self.alarms = ClusterAlarms(
            scope=self,
            cluster=cluster,
            function=self.function,
            log_group=self.log_group,
            recipients=self._recipients(shared.topic_arn, recovered),
            name=self._name,
            groups_apart=bool(shares),
        ).make()
        self.scaling_alarms = tuple(self._scale_services())
        self.dashboard = self._make_dashboard() if cluster.dashboard else None
        doubts = [*find_doubts(cluster)]
        if isinstance(reports, LagReports):
            doubts += reports.expect(cluster)
        for doubt in doubts:
            warn(self, doubt, f"{cluster.name}: ")

    def _recipients(self, topic_arn: str, recovered: bool) -> Recipients:
        alarms = self._cluster.alarms
        for own in (*([alarms.topic] if alarms.topic else []), *alarms.owner_topics.values()):
            let_alarms_in(self, own)
        topic = alarms.topic or sns.Topic.from_topic_arn(self, "Topic", topic_arn)
        return Recipients(topic, recovered, alarms.owner_topics)

    def _scale_services(self) -> Iterator[cloudwatch.IAlarm]:
        for scaling in self._cluster.scaling:
            if scaling.apart:
                continue
            yield from ScaledService(
                self,
                id_of("Scaling", scaling.ecs_service.known_as),
                cluster=self._cluster,
                scaling=scaling,
                name=self._name,
            ).alarms

    def _make_dashboard(self) -> cloudwatch.Dashboard:
        return ClusterDashboard(
            self,
            "Dashboard",
            cluster=self._cluster,
            function=self.function,
            log_group=self.log_group,
            alarms=self.alarms,
            scaling_alarms=self.scaling_alarms,
            name=self._name,
            workgroup=self._workgroup,
        ).dashboard
