# SPDX-License-Identifier: Apache-2.0
"""The page of one cluster, from the groups that are ill down to the brokers."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.dashboard.brokers import broker_rows
from kafka_lag_cdk.dashboard.console import Console
from kafka_lag_cdk.dashboard.groups import group_rows
from kafka_lag_cdk.dashboard.header import header
from kafka_lag_cdk.dashboard.reporter import reporter_rows
from kafka_lag_cdk.dashboard.scaling import scaling_rows
from kafka_lag_cdk.dashboard.widgets import WHOLE, Row, alarm_states
from kafka_lag_cdk.metrics import LagMetrics
from kafka_lag_cdk.names import DEPLOYMENT, dashboard_name

_HEADER_HEIGHT = 6
_SHOWN = Duration.hours(3)


class ClusterDashboard(Construct):
    """`dashboard` of `cluster`, with the health of its collector's `function`.

    `alarms` are shown with their states, first of all; `scaling_alarms` beside the services, as
    one of them is in ALARM whenever there is little to do. MSK's own metrics of brokers are there
    where the cluster's ARN tells its name, but not of MSK Serverless, which shows no brokers.
    `name` is the deployment's, `workgroup` Athena's, None where there is none.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: Cluster,
        function: lambda_.IFunction,
        log_group: logs.ILogGroup,
        alarms: Sequence[cloudwatch.IAlarm] = (),
        scaling_alarms: Sequence[cloudwatch.IAlarm] = (),
        name: str = DEPLOYMENT,
        workgroup: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        metrics = LagMetrics(cluster)
        console = Console(Stack.of(self).region, log_group.log_group_name, workgroup=workgroup)
        self.dashboard = cloudwatch.Dashboard(
            self,
            "Dashboard",
            dashboard_name=dashboard_name(cluster.name, name),
            default_interval=_SHOWN,
            widgets=[
                _introduced(cluster, console),
                *alarm_states("Alarms", alarms),
                *group_rows(cluster, metrics),
                *scaling_rows(cluster, metrics, scaling_alarms),
                *reporter_rows(cluster, metrics, function=function, log_group=log_group),
                *_brokers(cluster),
            ],
        )


def _brokers(cluster: Cluster) -> list[Row]:
    if cluster.msk_name is None or not cluster.has_brokers:
        return []
    return broker_rows(cluster.msk_name, disks=cluster.has_disks)


def _introduced(cluster: Cluster, console: Console) -> Row:
    markdown = header(cluster, console)
    return [cloudwatch.TextWidget(markdown=markdown, width=WHOLE, height=_HEADER_HEIGHT)]
