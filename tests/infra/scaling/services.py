# SPDX-License-Identifier: Apache-2.0
"""Services scaled by steps and by tasks, as they are deployed."""

from __future__ import annotations

from typing import Any

from aws_cdk import App, Environment, Stack
from aws_cdk.assertions import Template

from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.scaling import ScaledService
from tests.infra.configured import SERVICE, STEPS, cluster
from tests.infra.resolve import ACCOUNT, REGION, resolve

Resources = dict[str, dict[str, Any]]

BY_AGE = {
    "metric": "EstimatedTimeLag",
    "out": [{"above": 120, "add": 1}, {"above": 600, "add": 3}],
    "below": 15.5,
}

CLUSTERS = {
    "steps": cluster(scaling=[{**SERVICE, "min": 1, "max": 8, "steps": STEPS}]),
    "age": cluster(scaling=[{**SERVICE, "min": 0, "max": 8, "steps": BY_AGE}]),
    "tasks": cluster(scaling=[{**SERVICE, "min": 1, "max": 12, "tasks": {}}]),
    "many": cluster(
        scaling=[
            {
                **SERVICE,
                "partitions": 60,
                "min": 0,
                "max": 45,
                "tasks": {"groups": ["stock"]},
                "steps": STEPS,
                "schedule": [
                    {"cron": "cron(0 7 ? * MON-FRI *)", "timezone": "Europe/Berlin", "min": 6},
                    {"cron": "cron(0 19 ? * MON-FRI *)", "min": 0, "max": 20},
                ],
            }
        ]
    ),
    "slow": cluster(interval_seconds=300, scaling=[{**SERVICE, "max": 3, "steps": STEPS}]),
}


def resolved() -> dict[str, Resources]:
    """Resources of each kind, intrinsic functions answered."""
    app = App()
    stacks = {kind: _stack(app, kind, each) for kind, each in CLUSTERS.items()}
    return {kind: resolve(Template.from_stack(each).to_json()) for kind, each in stacks.items()}


def _stack(app: App, kind: str, each: Cluster) -> Stack:
    stack = Stack(app, kind, env=Environment(account=ACCOUNT, region=REGION))
    for scaling in each.scaling:
        ScaledService(
            stack, f"Of-{scaling.service}", cluster=each, scaling=scaling, name="kafka-lag"
        )
    return stack
