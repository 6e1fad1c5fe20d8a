# SPDX-License-Identifier: Apache-2.0
"""A topic with every kind of target, an alarm and a rule that speak to it, synthesised once."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Environment, Stack, Validations
from aws_cdk import aws_sns as sns
from aws_cdk.cx_api import CloudAssembly
from cdk_nag import AwsSolutionsChecks

from kafka_lag_cdk.alarms.any_group import AnyGroupAlarms
from kafka_lag_cdk.alarms.groups import GroupAlarms
from kafka_lag_cdk.alarms.job_failure import job_failure_rule
from kafka_lag_cdk.notify.chat import ChatChannels
from kafka_lag_cdk.notify.topic import AlarmTopic
from tests.infra.configured import cluster
from tests.infra.notify.notified import NOTIFY
from tests.infra.resolve import ACCOUNT, REGION

ELSEWHERE = f"arn:aws:sns:us-east-1:{ACCOUNT}:ours-alarms"


@pytest.fixture(name="assembly", scope="session")
def _assembly(tmp_path_factory: pytest.TempPathFactory) -> CloudAssembly:
    """Synthesis fails where cdk-nag finds what is not explained."""
    app = App(outdir=str(tmp_path_factory.mktemp("notify")))
    stack = Stack(app, "Notify", env=Environment(account=ACCOUNT, region=REGION))
    topic = AlarmTopic(stack, "Alarms", name="ours", notify=NOTIFY).topic
    elsewhere = sns.Topic.from_topic_arn(stack, "Elsewhere", ELSEWHERE)
    ChatChannels(stack, "Chat", notify=NOTIFY, topics=[topic, elsewhere])
    watched = cluster(alarms={"groups": ["billing"]})
    GroupAlarms(stack, "Groups", cluster=watched, topic=topic, recovered=True)
    AnyGroupAlarms(stack, "Any", cluster=watched, topic=topic)
    job_failure_rule(stack, "ReportFailed", job_name="report", topic=topic)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    return app.synth()


@pytest.fixture(name="resources", scope="session")
def _resources(assembly: CloudAssembly) -> dict[str, dict[str, Any]]:
    """As synthesised: references are what the tests follow."""
    found: dict[str, dict[str, Any]] = assembly.get_stack_by_name("Notify").template["Resources"]
    return found
