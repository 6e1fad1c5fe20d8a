# SPDX-License-Identifier: Apache-2.0
"""Dashboards of four clusters, synthesised once a session whoever asks."""

from __future__ import annotations

from functools import cache
from typing import Any

from aws_cdk import App, Environment, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk.assertions import Template

from kafka_lag import contract
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.dashboard import ClusterDashboard
from kafka_lag_cdk.names import DEPLOYMENT
from tests.infra.configured import cluster
from tests.infra.resolve import ACCOUNT, REGION, of_type, resolve

STEPS: dict[str, Any] = {
    "out": [{"above": 1000, "add": 1}, {"above": 9000, "add": 3}],
    "below": 100,
}
SERVICE = {"ecs_cluster": "web", "max": 6, "partitions": 12}

CLUSTERS = {
    # As little as there can be: not MSK, no topics, nothing named.
    "plain": cluster(
        name="plain",
        arn=None,
        region=REGION,
        bootstrap_servers=["b-1:9096"],
        levels={"topics": False},
    ),
    "full": cluster(
        name="a.b_c",
        arn=f"arn:aws:kafka:{REGION}:{ACCOUNT}:cluster/orders-msk/0a1b2c3d-7",
        namespace="Our Lag/#1",
        interval_seconds=300,
        alarms={"groups": ["billing", "naïve:${LABEL}", "unpromised"]},
        sla_seconds={"billing": 300, "naïve": 60},
        levels=dict.fromkeys(contract.CHOSEN_METRICS, True),
        risk_horizon_hours=48,
        scaling=[{"group": "billing", "service": "worker", "steps": STEPS, **SERVICE}],
    ),
    "tracked": cluster(
        name="tracked",
        alarms={"groups": ["g", "h"]},
        sla_seconds={".*": 60},
        scaling=[
            {"group": "g", "service": "s", "tracking": {"lag_per_member": 500}, **SERVICE},
        ],
    ),
    "serverless": cluster(
        name="serverless",
        arn=f"arn:aws:kafka:{REGION}:{ACCOUNT}:cluster/orders-msk/0a1b2c3d-s2",
        auth={"type": "iam"},
    ),
}
ALARMS, SCALING_ALARMS = 103, 2
# The deployment of the full one.
NAME = "staging"


@cache
def dashboards() -> dict[str, dict[str, Any]]:
    """Properties of each cluster's dashboard, intrinsic functions answered."""
    app = App()
    stacks = {kind: _stack(app, kind, each) for kind, each in CLUSTERS.items()}
    found: dict[str, dict[str, Any]] = {}
    for kind, stack in stacks.items():
        resources = resolve(Template.from_stack(stack).to_json())
        (found[kind],) = of_type(resources, "AWS::CloudWatch::Dashboard").values()
    return found


def _stack(app: App, kind: str, each: Cluster) -> Stack:
    stack = Stack(app, kind, env=Environment(account=ACCOUNT, region=REGION))
    known = [
        cloudwatch.Alarm.from_alarm_name(stack, f"Alarm{number}", f"alarm-{number}")
        for number in range(ALARMS + SCALING_ALARMS if kind == "full" else 0)
    ]
    ClusterDashboard(
        stack,
        "Dashboard",
        cluster=each,
        function=lambda_.Function.from_function_name(stack, "Function", "collector"),
        log_group=logs.LogGroup.from_log_group_name(stack, "Log", "kafka-lag-Log0A1B"),
        alarms=known[:ALARMS],
        scaling_alarms=known[ALARMS:],
        name=NAME if kind == "full" else DEPLOYMENT,
        workgroup=NAME if kind == "full" else None,
    )
    return stack
