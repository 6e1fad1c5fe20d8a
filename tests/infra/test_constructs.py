# SPDX-License-Identifier: Apache-2.0
"""The constructs in an app that is not ours, in one stack and in two."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk.assertions import Annotations, Match, Template
from constructs import Construct

from kafka_lag_cdk.config.doubts import find_doubts
from kafka_lag_cdk.config.shared import Notify, SharedSettings
from kafka_lag_cdk.from_document import import_cluster
from kafka_lag_cdk.lag_collector import LagCollector
from kafka_lag_cdk.lag_reports import LagReports
from kafka_lag_cdk.names import SharedNames
from tests.infra.code import SMALL_PACKAGE
from tests.infra.configured import SECRET, SERVICE, STEPS, cluster_json, one_cluster
from tests.infra.notify.followed import topic_ids
from tests.infra.notify.notified import NOTIFY
from tests.infra.resolve import ACCOUNT, REGION

ALARM = "AWS::CloudWatch::Alarm"
# Of a login that MSK has under another name.
COPY = SECRET.replace("AmazonMSK_", "")
SCALED = {**SERVICE, "max": 8, "steps": STEPS}


@pytest.fixture(name="template", scope="module")
def _template() -> dict[str, Any]:
    app = App()
    stack = Stack(app, "Theirs", env=Environment(account=ACCOUNT, region=REGION))
    notify = Notify(email=("me@example.com",), slack=NOTIFY.slack, recovered=False)
    reported = SharedSettings(notify=notify)
    shared = LagReports(stack, "Lag", name="ours", clusters=["orders", "audit"], settings=reported)
    for name in ("orders", "audit"):
        # Nobody gets messages about groups: one cluster says so, the other is paused.
        changes = {"alarms": {"any_group": False}} if name == "orders" else {"paused": True}
        given = cluster_json(name=name, dashboard=name == "orders", **changes)
        LagCollector(
            stack,
            name.title(),
            cluster=import_cluster(Construct(stack, f"Of-{name}"), one_cluster(given)),
            reports=shared,
            recovered=False,
            package=SMALL_PACKAGE,
        )
    template: dict[str, Any] = app.synth().get_stack_by_name("Theirs").template
    return template


def properties(template: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [r["Properties"] for r in template["Resources"].values() if r["Type"] == kind]


def test_two_clusters_can_live_in_one_stack_with_what_they_share(template: dict[str, Any]) -> None:
    assert len(properties(template, "AWS::Scheduler::Schedule")) == 2
    assert len(properties(template, "AWS::S3::Bucket")) == 1


def test_the_shared_names_are_references_and_no_parameters(template: dict[str, Any]) -> None:
    topic = topic_ids(template["Resources"])["alarms"]
    reported = [action for alarm in properties(template, ALARM) for action in alarm["AlarmActions"]]
    assert reported
    assert all(action == {"Ref": topic} for action in reported)


def test_what_is_switched_off_is_not_made(template: dict[str, Any]) -> None:
    assert len(properties(template, "AWS::CloudWatch::Dashboard")) == 1
    alarms = properties(template, ALARM)
    assert [alarm for alarm in alarms if "/any-" in str(alarm["AlarmName"])] == []
    assert [alarm for alarm in alarms if alarm.get("OKActions")] == []


def test_a_paused_cluster_has_no_alarm_on_its_groups(template: dict[str, Any]) -> None:
    names = [alarm["AlarmName"] for alarm in properties(template, ALARM)]
    assert "ours/audit/collector-errors" in names
    assert [
        name for name in names if name.startswith(("ours/audit/any-", "ours/audit/heartbeat"))
    ] == []


def test_clusters_are_called_after_the_deployment_of_what_they_share(
    template: dict[str, Any],
) -> None:
    assert [d["DashboardName"] for d in properties(template, "AWS::CloudWatch::Dashboard")] == [
        "ours-orders"
    ]
    topics = {t["TopicName"] for t in properties(template, "AWS::SNS::Topic")}
    assert topics == {"ours-alarms", "ours-reports"}
    names = [alarm["AlarmName"] for alarm in properties(template, ALARM)]
    assert [
        name
        for name in names
        if not name.startswith(("ours/orders/", "ours/audit/", "ours/daily-report/"))
    ] == []


def test_chats_show_both_topics_of_their_region_unless_told_otherwise(
    template: dict[str, Any],
) -> None:
    topics = topic_ids(template["Resources"])
    (channel,) = properties(template, "AWS::Chatbot::SlackChannelConfiguration")
    assert channel["SnsTopicArns"] == [{"Ref": topics["alarms"]}, {"Ref": topics["reports"]}]


def test_a_region_that_hears_of_none_makes_no_chat() -> None:
    app = App()
    stack = Stack(app, "Theirs", env=Environment(account=ACCOUNT, region=REGION))
    reported = SharedSettings(notify=Notify(slack=NOTIFY.slack))
    LagReports(stack, "Lag", clusters=["orders"], settings=reported, chat=())
    kinds = {r["Type"] for r in Template.from_stack(stack).to_json()["Resources"].values()}
    assert [kind for kind in kinds if "Chatbot" in kind or "ManagedPolicy" in kind] == []


def collect(app: App, name: str, vpc: dict[str, Any], **changes: Any) -> Stack:
    stack = Stack(app, name, env=Environment(account=ACCOUNT, region=REGION))
    LagCollector(
        stack,
        "Lag",
        cluster=import_cluster(
            stack, one_cluster(cluster_json(name=name.lower(), vpc=vpc, **changes))
        ),
        reports=SharedNames(bucket="b", topic_arn=f"arn:aws:sns:{REGION}:{ACCOUNT}:t"),
        package=SMALL_PACKAGE,
    )
    return stack


def test_no_alarm_waits_for_metrics_that_go_elsewhere() -> None:
    stack = collect(App(), "Elsewhere", cluster_json()["vpc"], sinks=[])
    alarms = properties(dict(Template.from_stack(stack).to_json()), ALARM)
    names = {each["AlarmName"].rpartition("/")[2] for each in alarms}
    assert names == {"collector-errors", "collector-dropped", "broker-disk", "broker-cpu"}


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
    assert import_cluster(stack, given).document() == given.document()


def test_synthesis_warns_of_each_doubt_once() -> None:
    changes = {
        "groups": {"deny": "test-*"},
        "alarms": {"groups": ["billing", "stock"]},
        "sla_seconds": {"^stok$": 60},
    }
    vpc = {**cluster_json()["vpc"], "subnets": ["subnet-0a1b2c3d4e5f60718"], "nat": True}
    found = Annotations.from_stack(collect(App(), "Orders", vpc, **changes)).find_warning(
        "*", Match.string_like_regexp("^orders: ")
    )
    sentences = [str(each.entry.data).partition(" [ack: ")[0] for each in found]
    doubted = one_cluster(cluster_json(vpc=vpc, **changes))
    assert sentences == [f"orders: {each.sentence}" for each in find_doubts(doubted)]
    assert len(sentences) == 4
