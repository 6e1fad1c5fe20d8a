# SPDX-License-Identifier: Apache-2.0
"""All alarms of a cluster, synthesised once, and hours of the cluster that they watch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk.assertions import Template

from infra.alarms.any_group import AnyGroupAlarm
from infra.alarms.groups import AnomalyAlarms, GroupAlarms
from infra.alarms.job_failure import job_failure_rule
from infra.alarms.reporter import ReporterAlarms
from infra.config.parts.cluster import Cluster
from infra.notify.topic import AlarmTopic
from tests.infra.alarms.simulated import (
    AT_RISK,
    CLUSTER,
    DELETED,
    MINUTES,
    REBALANCES,
    STEADY,
    STOPS,
    written,
)
from tests.infra.configured import cluster
from tests.infra.notify.notified import NOTIFY
from tests.infra.rehearsal.resolve import ACCOUNT, REGION, of_type, resolve

ByName: TypeAlias = Mapping[str, Mapping[str, Any]]
Lines: TypeAlias = Mapping[int, list[str]]

REBALANCES_SLA = 300
# Minutes in which the collector is dead in the `interrupted` hours.
SILENCE = range(50, 70)

_GROUPS = [STEADY, STOPS, DELETED, REBALANCES, AT_RISK]


def watched(
    *, interval_seconds: int = 60, recovered: bool = True, **changes: Any
) -> dict[str, Any]:
    """The template of a stack with a topic and every alarm of a cluster that has these changes."""
    told = cluster(
        name=CLUSTER,
        alarms={"groups": _GROUPS, "anomalies": [STOPS]},
        sla_seconds={f"^{REBALANCES}$": REBALANCES_SLA},
        interval_seconds=interval_seconds,
        **changes,
    )
    stack = Stack(App(), "Watched", env=Environment(account=ACCOUNT, region=REGION))
    _fill(stack, told, recovered)
    return dict(Template.from_stack(stack).to_json())


def _fill(stack: Stack, told: Cluster, recovered: bool) -> None:
    topic = AlarmTopic(stack, "Alarms", notify=NOTIFY).topic
    ReporterAlarms(
        stack,
        "Reporter",
        cluster=told,
        function=lambda_.Function.from_function_name(stack, "Function", "collector"),
        log_group=logs.LogGroup.from_log_group_name(stack, "Log", "/collector"),
        topic=topic,
        recovered=recovered,
    )
    GroupAlarms(stack, "Groups", cluster=told, topic=topic, recovered=recovered)
    AnyGroupAlarm(stack, "Any", cluster=told, topic=topic)
    AnomalyAlarms(stack, "Anomalies", cluster=told, topic=topic, recovered=recovered)
    job_failure_rule(stack, "ReportFailed", job_name="report", topic=topic)


def alarms_of(template: Mapping[str, Any]) -> ByName:
    """The properties of all alarms by what follows the cluster in their names."""
    found = of_type(resolve(template), "AWS::CloudWatch::Alarm").values()
    return {each["AlarmName"].removeprefix(f"kafka-lag/{CLUSTER}/"): each for each in found}


@pytest.fixture(name="template", scope="session")
def _template() -> dict[str, Any]:
    return watched()


@pytest.fixture(name="alarms", scope="session")
def _alarms(template: dict[str, Any]) -> ByName:
    return alarms_of(template)


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
    return alarms_of(watched(interval_seconds=300))
