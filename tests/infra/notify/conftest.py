# SPDX-License-Identifier: Apache-2.0
"""Both topics with every kind of target, alarms and a rule that publish, synthesised once."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Environment, Stack, Validations
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from aws_cdk.cx_api import CloudAssembly
from cdk_nag import AwsSolutionsChecks

from kafka_lag_cdk.alarms import ClusterAlarms, Recipients
from kafka_lag_cdk.notifications import ChatChannels, Topics, job_failure_rule
from tests.infra.configured import cluster
from tests.infra.notify.notified import NOTIFY
from tests.infra.resolve import ACCOUNT, REGION

ELSEWHERE = f"arn:aws:sns:us-east-1:{ACCOUNT}:ours-alarms"


@pytest.fixture(name="assembly", scope="session")
def _assembly(tmp_path_factory: pytest.TempPathFactory) -> CloudAssembly:
    """Synthesis fails where cdk-nag finds what is not explained."""
    app = App(outdir=str(tmp_path_factory.mktemp("notify")))
    stack = Stack(app, "Notify", env=Environment(account=ACCOUNT, region=REGION))
    topics = Topics(stack, "Alarms", name="ours", notify=NOTIFY)
    topic, _ = topics.of_chats()
    elsewhere = sns.Topic.from_topic_arn(stack, "Elsewhere", ELSEWHERE)
    ChatChannels(stack, "Chat", notify=NOTIFY, topics=[*topics.of_chats(), elsewhere])
    watched = cluster(alarms={"groups": ["billing"]})
    ClusterAlarms(
        scope=stack,
        cluster=watched,
        function=lambda_.Function.from_function_name(stack, "Function", "collector"),
        log_group=logs.LogGroup.from_log_group_name(stack, "Log", "/collector"),
        recipients=Recipients(topic, recovered=True),
    ).make()
    job_failure_rule(stack, "ReportFailed", job_name="report", topics=topics)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    return app.synth()


@pytest.fixture(name="resources", scope="session")
def _resources(assembly: CloudAssembly) -> dict[str, dict[str, Any]]:
    """As synthesised: references are what the tests follow."""
    found: dict[str, dict[str, Any]] = assembly.get_stack_by_name("Notify").template["Resources"]
    return found
