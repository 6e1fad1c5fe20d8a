# SPDX-License-Identifier: Apache-2.0
"""The page of one cluster, from the groups that are ill down to the brokers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.config.parts.cluster import Cluster
from infra.dashboard.brokers import broker_rows
from infra.dashboard.groups import group_rows
from infra.dashboard.header import header
from infra.dashboard.reporter import reporter_rows
from infra.dashboard.widgets import WHOLE, Row
from infra.metrics import LagMetrics

_HEADER_HEIGHT = 6
_SHOWN = Duration.hours(3)

# A widget takes a hundred alarms [CloudWatch API reference, "Dashboard body structure"].
_ALARMS_IN_A_WIDGET = 100
_ALARMS_IN_A_LINE = 6


class ClusterDashboard(Construct):
    """`dashboard` of `cluster`, with the health of its collector's `function`.

    `alarms` are shown with their states. MSK's own metrics are there where the cluster's ARN
    tells its name.
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
    ) -> None:
        super().__init__(scope, construct_id)
        metrics = LagMetrics(cluster)
        self.dashboard = cloudwatch.Dashboard(
            self,
            "Dashboard",
            dashboard_name=dashboard_name(cluster.name),
            default_interval=_SHOWN,
            widgets=[
                [_introduced(cluster)],
                *_states(alarms),
                *group_rows(cluster, metrics),
                *reporter_rows(cluster, metrics, function=function, log_group=log_group),
                *(broker_rows(cluster.msk_name) if cluster.msk_name else []),
            ],
        )


def dashboard_name(cluster: str) -> str:
    """`kafka-lag-<cluster>`; a dot, which such names may not hold, is replaced and a digest added.

    The names of dashboards are an account's, whatever the region.
    """
    name = f"kafka-lag-{cluster}"
    if "." not in name:
        return name
    return f"{name.replace('.', '_')}-{hashlib.sha256(cluster.encode()).hexdigest()[:8]}"


def _introduced(cluster: Cluster) -> cloudwatch.IWidget:
    return cloudwatch.TextWidget(markdown=header(cluster), width=WHOLE, height=_HEADER_HEIGHT)


def _states(alarms: Sequence[cloudwatch.IAlarm]) -> list[Row]:
    """The alarms in as many widgets as they need, none without any."""
    shown = [
        alarms[at : at + _ALARMS_IN_A_WIDGET] for at in range(0, len(alarms), _ALARMS_IN_A_WIDGET)
    ]
    return [
        [
            cloudwatch.AlarmStatusWidget(
                title="Alarms",
                alarms=list(part),
                width=WHOLE,
                height=1 + -(-len(part) // _ALARMS_IN_A_LINE),
            )
        ]
        for part in shown
    ]
