# SPDX-License-Identifier: Apache-2.0
"""All alarms of a cluster, synthesised once, and hours of the cluster that they watch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template

from kafka_lag_cdk.alarms import ClusterAlarms, Recipients
from kafka_lag_config.facts import ClusterFacts
from tests.infra.alarms.simulated import (
    AT_RISK,
    CLUSTER,
    DELETED,
    MINUTES,
    REBALANCES,
    REBALANCES_SLA,
    STEADY,
    STOPS,
    written,
)
from tests.infra.configured import cluster
from tests.infra.resolve import ACCOUNT, REGION, of_type, resolve

URGENT_TOPIC, NOTICE_TOPIC = (f"arn:aws:sns:{REGION}:{ACCOUNT}:{name}" for name in ("u", "n"))

ByName: TypeAlias = Mapping[str, Mapping[str, Any]]
Lines: TypeAlias = Mapping[int, list[str]]

# Minutes in which the collector is dead in the `interrupted` hours.
SILENCE = range(50, 70)

_ALARMS = {
    "groups": [STEADY, STOPS, DELETED, REBALANCES, AT_RISK],
    "anomalies": [STOPS],
    "offset_lag": {STOPS: 3_000},
    "any_unusual": True,
}


def watched_cluster(**changes: Any) -> ClusterFacts:
    """The cluster of the simulated hours, every kind of alarm among its own."""
    return cluster(
        **{
            "name": CLUSTER,
            "alarms": _ALARMS,
            "sla_seconds": {f"^{REBALANCES}$": REBALANCES_SLA},
            # A target that takes no more than the fewest runs.
            "slo": {f"^{STEADY}$": {"age_seconds": 3_600, "target": 99.9}},
            **changes,
        }
    ).facts


def alarms_of(**changes: Any) -> ByName:
    """The alarms of a cluster with these changes, by what follows the severity in their names."""
    stack = Stack(App(), "Watched", env=Environment(account=ACCOUNT, region=REGION))
    ClusterAlarms(
        scope=stack,
        cluster=watched_cluster(**changes),
        function=lambda_.Function.from_function_name(stack, "Function", "collector"),
        log_group=logs.LogGroup.from_log_group_name(stack, "Log", "/collector"),
        recipients=Recipients(
            sns.Topic.from_topic_arn(stack, "Topic", URGENT_TOPIC),
            recovered=True,
            notices=sns.Topic.from_topic_arn(stack, "Notices", NOTICE_TOPIC),
        ),
    ).make()
    found = of_type(resolve(Template.from_stack(stack).to_json()), "AWS::CloudWatch::Alarm")
    return {
        re.sub(rf"^kafka-lag/{CLUSTER}/(urgent|notice|none)/", "", each["AlarmName"]): each
        for each in found.values()
    }


@pytest.fixture(name="alarms", scope="session")
def _alarms() -> ByName:
    return alarms_of()


@pytest.fixture(name="of_any", scope="session")
def _of_any() -> ByName:
    """The alarms of a cluster that has named no group."""
    return alarms_of(alarms={})


@pytest.fixture(name="any_group", scope="session")
def _any_group(of_any: ByName) -> Mapping[str, Any]:
    """The alarm on the status of all groups of a cluster that has named none."""
    return of_any["any-group"]


@pytest.fixture(name="hours", scope="session")
def _hours() -> Lines:
    """What a collector writes that runs every minute."""
    return written(MINUTES)


@pytest.fixture(name="interrupted", scope="session")
def _interrupted() -> Lines:
    """What one writes that is dead for twenty minutes."""
    return written(minute for minute in range(100) if minute not in SILENCE)


@pytest.fixture(name="every_five_minutes", scope="session")
def _every_five_minutes() -> ByName:
    return alarms_of(interval_seconds=300)
