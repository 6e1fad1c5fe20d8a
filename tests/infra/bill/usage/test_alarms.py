# SPDX-License-Identifier: Apache-2.0
"""As many metrics under alarm as the constructs of alarms and of scaling really watch."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template

from kafka_lag_cdk.alarm_rules import ANY_GROUP, OF_BROKERS, OF_REPORTER, query_groups
from kafka_lag_cdk.alarms import ClusterAlarms, Recipients
from kafka_lag_cdk.bill.usage.alarms import AlarmMetrics, alarm_metrics
from kafka_lag_cdk.bill.usage.metrics import published, wanted
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.scaling import ServiceScaling
from tests.infra.configured import cluster

STEPS = {"out": [{"above": 1000, "add": 1}], "below": 100}
BY_AGE = {**STEPS, "metric": "EstimatedTimeLag"}
# Application Auto Scaling makes them itself, so no template shows them.
OF_TRACKING = 2


def service(name: str, **how: Any) -> dict[str, Any]:
    told = {"group": name, "ecs_cluster": "c", "service": name, "max": 4, "partitions": 4}
    return told | how


WATCHED = cluster(
    alarms={"groups": ["billing", "mailer", "audit"], "anomalies": ["billing", "audit"]},
    sla_seconds={"^billing$": 60, "^mailer$": 600},
    scaling=[
        service("a", steps=STEPS),
        service("b", steps=BY_AGE),
        service("t", tracking={"lag_per_member": 5}),
    ],
)


def counted(told: Cluster) -> AlarmMetrics:
    return alarm_metrics(told, published(wanted(told)))


@pytest.fixture(name="made", scope="module")
def _made() -> Counter[str]:
    """Metrics that alarms of a template watch, by kind, as CloudWatch charges for them."""
    stack = Stack(App(), "Watched")
    topic = sns.Topic(stack, "Topic")
    ClusterAlarms(
        scope=stack,
        cluster=WATCHED,
        function=lambda_.Function.from_function_name(stack, "Function", "collector"),
        log_group=logs.LogGroup.from_log_group_name(stack, "Log", "/collector"),
        recipients=Recipients(topic, recovered=True),
    ).make()
    for scaling in WATCHED.scaling:
        ServiceScaling(stack, f"Of-{scaling.service}", cluster=WATCHED, scaling=scaling)
    found: Counter[str] = Counter()
    for resource in Template.from_stack(stack).to_json()["Resources"].values():
        kind, properties = resource["Type"], resource.get("Properties", {})
        if kind == "AWS::CloudWatch::Alarm":
            found += charged(properties)
        elif properties.get("PolicyType") == "TargetTrackingScaling":
            found["standard"] += OF_TRACKING
    return found


def charged(alarm: dict[str, Any]) -> Counter[str]:
    queries = alarm.get("Metrics", [{"MetricStat": alarm}])
    words = " ".join(query.get("Expression", "") for query in queries)
    if "SELECT" in words:
        return Counter(queries=1)
    metrics = sum("MetricStat" in query for query in queries)
    # A band has an upper and a lower bound, each a metric.
    return Counter(anomalies=metrics + 2) if "BAND" in words else Counter(standard=metrics)


def test_plain_alarms_are_those_that_are_made(made: Counter[str]) -> None:
    assert counted(WATCHED).standard == made["standard"]


def test_anomaly_alarms_are_those_that_are_made(made: Counter[str]) -> None:
    assert counted(WATCHED).anomalies == made["anomalies"]


def test_queries_look_at_every_group_that_is_not_named(made: Counter[str]) -> None:
    assert made["queries"] == 3 + len(OF_BROKERS)
    assert counted(WATCHED).seen == 20 - 3
    # of the three that are named two have an SLA, and none else
    assert counted(WATCHED).analysed == 2 * (20 - 3)
    assert counted(WATCHED).brokers == 2 * 3


@pytest.mark.parametrize(
    ("changes", "groups"),
    [
        pytest.param({}, 0, id="none"),
        pytest.param({"alarms": {"groups": ["a"]}}, 2, id="one"),
        pytest.param(
            {"alarms": {"groups": ["a", "b"]}, "sla_seconds": {"^a$": 60}}, 5, id="one-with-an-sla"
        ),
    ],
)
def test_a_named_group_has_two_alarms_and_a_third_for_its_sla(
    changes: dict[str, Any], groups: int
) -> None:
    assert counted(cluster(**changes)).groups == groups


def test_named_groups_that_the_query_has_no_room_for_are_looked_at_and_billed() -> None:
    named = [f"payments-{number:03}" for number in range(150)]
    told = cluster(
        expected={"groups": 600}, levels={"max_metrics": 10_000}, alarms={"groups": named}
    )
    left_out = query_groups(ANY_GROUP, "KafkaLag", "orders", named).count("!=")
    assert 0 < left_out < 150
    assert counted(told).seen == 600 - left_out


def test_a_long_namespace_leaves_less_room_for_names() -> None:
    named = [f"payments-{number:03}" for number in range(150)]
    short, long = (
        counted(cluster(namespace=namespace, alarms={"groups": named})).seen
        for namespace in ("K", "K" * 200)
    )
    assert short < long


def test_groups_beyond_the_budget_are_not_fewer_than_none() -> None:
    named = ["a", "b", "c"]
    told = cluster(
        alarms={"groups": named},
        levels={"max_metrics": 9 + 3 * 4, "scaling": {"allow": "^none$"}},
    )
    assert published(wanted(told)).groups < len(named)
    assert counted(told).analysed == 0


def test_a_query_sees_only_what_is_published() -> None:
    told = cluster(levels={"max_metrics": 9 + 5 * 4, "topics": False})
    assert counted(told).seen == 5


def test_promises_to_all_groups_cost_a_third_query() -> None:
    assert counted(cluster(sla_seconds={"-x$": 60})).analysed == 3 * 20
    assert counted(cluster(sla_seconds={"^a$": 60})).analysed == 2 * 20 + 1


def test_no_query_is_made_where_none_is_wanted() -> None:
    assert counted(cluster(alarms={"any_group": False})).analysed == 0


def test_a_paused_cluster_has_no_heartbeat_and_no_groups_to_look_at() -> None:
    found = counted(cluster(paused=True))
    assert (found.reporter, found.analysed) == (len(OF_REPORTER) - 1, 0)
