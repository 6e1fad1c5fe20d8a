# SPDX-License-Identifier: Apache-2.0
"""The constructs in another app, in one stack and in two."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk.assertions import Annotations, Match, Template

from kafka_lag_cdk.from_document import collect_configured
from kafka_lag_cdk.lag_reports import LagReports
from kafka_lag_cdk.names import SharedNames
from kafka_lag_cdk.stacks import stacks_of
from kafka_lag_config.deployment import StackName, stack_names_for
from kafka_lag_config.doubts import find_doubts
from kafka_lag_config.shared import Notify, SharedSettings
from tests.infra.code import SMALL_PACKAGE
from tests.infra.configured import (
    SECRET,
    SERVICE,
    STEPS,
    cluster_json,
    deployment,
    moved,
    one_cluster,
)
from tests.infra.options import EVERYBODY
from tests.infra.resolve import ACCOUNT, REGION

# Of a login that MSK has under another name.
COPY = SECRET.replace("AmazonMSK_", "")
SCALED = {**SERVICE, "max": 8, "steps": STEPS}


def test_a_region_that_hears_of_none_makes_no_chat() -> None:
    app = App()
    stack = Stack(app, "Theirs", env=Environment(account=ACCOUNT, region=REGION))
    reported = SharedSettings(notify=Notify.model_validate({"slack": EVERYBODY["slack"]}))
    LagReports(stack, "Lag", clusters=["orders"], settings=reported, chat=())
    kinds = {r["Type"] for r in Template.from_stack(stack).to_json()["Resources"].values()}
    assert [kind for kind in kinds if "Chatbot" in kind or "ManagedPolicy" in kind] == []


def collect(app: App, name: str, vpc: dict[str, Any], **changes: Any) -> Stack:
    stack = Stack(app, name, env=Environment(account=ACCOUNT, region=REGION))
    collect_configured(
        stack,
        "Lag",
        one_cluster(cluster_json(name=name.lower(), vpc=vpc, **changes)),
        reports=SharedNames(bucket="b", topic_arn=f"arn:aws:sns:{REGION}:{ACCOUNT}:t"),
        package=SMALL_PACKAGE,
    )
    return stack


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"auth": {"type": "scram", "secret_arn": COPY}}, id="a-copy-of-a-secret"),
        pytest.param({"auth": {"type": "tls", "secret_arn": COPY}}, id="tls"),
        pytest.param({"auth": {"type": "none"}}, id="no-login"),
        pytest.param(
            {"scaling": [SCALED, {**SCALED, "account": "444455556666"}]}, id="of-two-accounts"
        ),
    ],
)
def test_a_cluster_that_a_document_may_have_can_be_deployed(changes: dict[str, Any]) -> None:
    stack = Stack(App(), "Orders", env=Environment(account=ACCOUNT, region=REGION))
    given = one_cluster(cluster_json(**changes))
    reports = SharedNames(bucket="b", topic_arn=f"arn:aws:sns:{REGION}:{ACCOUNT}:t")
    made = collect_configured(stack, "Lag", given, reports=reports, package=SMALL_PACKAGE)
    assert made.facts.document() == given.document()


def test_synthesis_warns_of_each_doubt_once() -> None:
    changes = {
        "groups": {"deny": "test-*"},
        "alarms": {"any_group": False},
        "sla_seconds": {"^stok$": 60},
        "owner": {"^test-a$": "money"},
    }
    vpc = {**cluster_json()["vpc"], "subnets": ["subnet-0a1b2c3d4e5f60718"], "nat": True}
    found = Annotations.from_stack(collect(App(), "Orders", vpc, **changes)).find_warning(
        "*", Match.string_like_regexp("^orders: ")
    )
    sentences = [str(each.entry.data).partition(" [ack: ")[0] for each in found]
    doubted = one_cluster(cluster_json(vpc=vpc, **changes))
    assert sentences == [f"orders: {each.sentence}" for each in find_doubts(doubted.facts)]
    assert len(sentences) == 3


def test_the_stacks_that_are_made_are_those_that_are_looked_for() -> None:
    scaling = {
        "group": "a",
        "ecs_cluster": "e",
        "service": "s",
        "account": "444455556666",
        "partitions": 4,
        "max": 4,
        "tasks": {},
    }
    chat = {"name": "lag", "workspace_id": "T0123ABCD", "channel_id": "C0123ABCD"}
    whole = deployment(
        moved(cluster_json(name="users"), "us-east-1"),
        cluster_json(scaling=[scaling]),
        shared={"views": {}, "notify": {"slack": [chat]}},
    )
    made = {
        StackName(each.stack_name, each.account, each.region)
        for each in stacks_of(App(), whole, SMALL_PACKAGE)
    }
    looked_for = [stack_names_for(whole, cluster) for cluster in whole.clusters]
    assert made == {each for names in looked_for for each in names}
    assert {each.name for each in made} >= {"kafka-lag-chat", "kafka-lag-orders-scaling"}
