# SPDX-License-Identifier: Apache-2.0
"""Services scaled in each way there is, synthesised once a session whoever asks."""

from __future__ import annotations

from functools import cache
from typing import Any

from aws_cdk import App, Environment, Stack
from aws_cdk.assertions import Template

from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.metrics import LagMetrics
from kafka_lag_cdk.scaling import ScaledService
from tests.infra.configured import SERVICE, STEPS, cluster
from tests.infra.resolve import ACCOUNT, REGION, resolve

Resources = dict[str, dict[str, Any]]

BY_AGE = {
    "metric": "EstimatedTimeLag",
    "out": [{"above": 120, "add": 1}, {"above": 600, "add": 3}],
    "below": 15.5,
}
TRACKING = {"lag_per_member": 500.5, "in_cooldown_seconds": 600, "scale_in": False}

CLUSTERS = {
    "steps": cluster(scaling=[{**SERVICE, "min": 1, "max": 8, "steps": STEPS}]),
    "age": cluster(scaling=[{**SERVICE, "min": 0, "max": 8, "steps": BY_AGE}]),
    "tracking": cluster(
        namespace="Lag",
        scaling=[{**SERVICE, "group": "naïve", "max": 8, "tracking": TRACKING}],
    ),
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
    "elsewhere": cluster(scaling=[{**SERVICE, "account": "999988887777", "max": 12, "tasks": {}}]),
    "slow": cluster(interval_seconds=300, scaling=[{**SERVICE, "max": 3, "steps": STEPS}]),
    "suspended": cluster(
        scaling=[{**SERVICE, "min": 1, "max": 8, "steps": STEPS, "suspended": True}]
    ),
    "two": cluster(
        name="x" * 120,
        scaling=[
            {**SERVICE, "max": 8, "steps": STEPS, "ecs_cluster": "c" * 100, "service": name}
            for name in ("s" * 100, "s" * 99 + "t")
        ],
    ),
}

# Those that another deployment scales.
STAGING = ("age", "tracking")

# More tasks than partitions, which no configuration that was checked allows.
_UNCHECKED = [each.model_copy(update={"partitions": 2}) for each in CLUSTERS["steps"].scaling]
CLUSTERS["few"] = CLUSTERS["steps"].model_copy(update={"scaling": tuple(_UNCHECKED)})


@cache
def app() -> App:
    """The one that holds them all."""
    return App()


@cache
def stacks() -> dict[str, Stack]:
    """A stack of each kind."""
    return {kind: _stack(app(), kind, each) for kind, each in CLUSTERS.items()}


@cache
def templates() -> dict[str, Resources]:
    """Resources of each kind, with intrinsic functions as they are."""
    return {
        kind: Template.from_stack(stack).to_json()["Resources"] for kind, stack in stacks().items()
    }


@cache
def resolved() -> dict[str, Resources]:
    """The same, with intrinsic functions answered."""
    return {kind: resolve({"Resources": each}) for kind, each in templates().items()}


def _stack(app: App, kind: str, each: Cluster) -> Stack:
    account = each.scaling[0].account or ACCOUNT
    stack = Stack(app, kind, env=Environment(account=account, region=REGION))
    name = "staging" if kind in STAGING else "kafka-lag"
    for scaling in each.scaling:
        ScaledService(
            stack,
            f"Of-{scaling.service}",
            cluster=each,
            scaling=scaling,
            name=name,
            metrics=LagMetrics(each, elsewhere=each.place) if scaling.account else None,
        )
    return stack
