# SPDX-License-Identifier: Apache-2.0
"""The number of metrics under alarm is the one that the constructs of alarms and scaling watch."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template

from kafka_lag import contract
from kafka_lag_cdk.alarms import ClusterAlarms, Recipients
from kafka_lag_cdk.scaling import ScaledService
from kafka_lag_config.alarm_rules import ANY_GROUP, OF_BROKERS, query_groups
from tests.infra.configured import cluster, cluster_json
from tests.infra.cost.documents import cost, units

OWN = len(contract.HEALTH_UNITS)
STEPS = {"out": [{"above": 1000, "add": 1}], "below": 100}
BY_AGE = {**STEPS, "metric": "EstimatedTimeLag"}
# Application Auto Scaling makes them itself, so no template shows them.
OF_TRACKING = 2


def service(name: str, **how: Any) -> dict[str, Any]:
    return {"group": name, "ecs_cluster": "c", "service": name, "max": 4, "partitions": 4} | how


WATCHED: dict[str, Any] = {
    "alarms": {"groups": ["billing", "mailer", "audit"], "anomalies": ["billing", "audit"]},
    "sla_seconds": {"^billing$": 60, "^mailer$": 600},
    "slo": {"^audit$": {"age_seconds": 60, "target": 99}},
    "scaling": [
        service("a", steps=STEPS),
        service("b", steps=BY_AGE),
        service("t", tracking={"lag_per_member": 5}),
    ],
}
NAMED = [f"payments-{number:03}" for number in range(150)]


def watched(changes: dict[str, Any], price: str) -> float:
    """Metrics that alarms of one price watch."""
    return units(cluster_json(**changes)).get(f"alarms: {price}", 0)


@pytest.fixture(name="made", scope="module")
def _made() -> Counter[str]:
    """Metrics that alarms of a template watch, by kind, as CloudWatch charges for them."""
    stack = Stack(App(), "Watched")
    one = cluster(**WATCHED).facts
    topic = sns.Topic(stack, "Topic")
    ClusterAlarms(
        scope=stack,
        cluster=one,
        function=lambda_.Function.from_function_name(stack, "Function", "collector"),
        log_group=logs.LogGroup.from_log_group_name(stack, "Log", "/collector"),
        recipients=Recipients(topic, recovered=True),
    ).make()
    for each in one.services:
        ScaledService(stack, f"Of-{each.service.name}", cluster=one, following=each)
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
    assert watched(WATCHED, "alarm_metric") == made["standard"]


def test_anomaly_alarms_are_those_that_are_made(made: Counter[str]) -> None:
    assert watched(WATCHED, "anomaly_metric") == made["anomalies"]


def test_queries_look_at_every_group_that_is_not_named(made: Counter[str]) -> None:
    assert made["queries"] == 3 + len(OF_BROKERS)
    # Of the three that are named two have an SLA, and none else; two alarms see each broker.
    assert watched(WATCHED, "query_alarm_metric") == 2 * (20 - 3) + 2 * 3


def looked_at_by_status(**changes: Any) -> int:
    """Groups that the query on the status sees, by what is said of more than 500."""
    more = {"expected": {"groups": 1_000, "group_topics": 0}, "levels": {"max_metrics": 10_000}}
    found = cost(cluster_json(**more, **changes)).warnings
    (sentence,) = [each for each in found if "any group" in each]
    return int(sentence.rstrip(".").split()[-2].replace(",", ""))


def test_named_groups_that_the_query_has_no_room_for_are_looked_at() -> None:
    left_out = query_groups(ANY_GROUP, "KafkaLag", "orders", NAMED).count("!=")
    assert 0 < left_out < len(NAMED)
    assert looked_at_by_status(alarms={"groups": NAMED}) == 1_000 - left_out
