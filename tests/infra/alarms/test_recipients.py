# SPDX-License-Identifier: Apache-2.0
"""Who gets an alarm: the deployment's topic, the cluster's, or that of the group's owner."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk.assertions import Template

from kafka_lag_cdk.from_document import import_cluster
from kafka_lag_cdk.lag_collector import LagCollector
from kafka_lag_cdk.names import SharedNames
from tests.infra.code import SMALL_PACKAGE
from tests.infra.configured import cluster_json, one_cluster
from tests.infra.resolve import ACCOUNT, REGION, of_type

ALL = f"arn:aws:sns:{REGION}:{ACCOUNT}:kafka-lag-alarms"
CLUSTERS = f"arn:aws:sns:{REGION}:{ACCOUNT}:orders-cluster"
TEAM = f"arn:aws:sns:{REGION}:999988887777:billing-team"


def alarms_with(**alarms: Any) -> dict[str, dict[str, Any]]:
    """Alarms on two groups, one with an owner, by the name that follows the cluster's."""
    stack = Stack(App(), "Lag", env=Environment(account=ACCOUNT, region=REGION))
    owner = {"^billing$": "Billing team"}
    alarms = {"groups": ["billing", "audit"], "anomalies": ["billing"]} | alarms
    LagCollector(
        stack,
        "Lag",
        cluster=import_cluster(
            stack, one_cluster(cluster_json(owner=owner, alarms=alarms, dashboard=False))
        ),
        reports=SharedNames(bucket="b", topic_arn=ALL),
        package=SMALL_PACKAGE,
    )
    found = of_type(Template.from_stack(stack).to_json()["Resources"], "AWS::CloudWatch::Alarm")
    return {each["AlarmName"].removeprefix("kafka-lag/orders/"): each for each in found.values()}


@pytest.mark.parametrize(
    ("alarms", "of_all", "of_billing"),
    [
        ({}, ALL, ALL),
        ({"topic": CLUSTERS}, CLUSTERS, CLUSTERS),
        ({"owner_topics": {"Billing team": TEAM}}, ALL, TEAM),
        ({"topic": CLUSTERS, "owner_topics": {"Billing team": TEAM}}, CLUSTERS, TEAM),
    ],
)
def test_alarms_go_to_the_topic_that_is_named_closest_to_them(
    alarms: dict[str, Any], of_all: str, of_billing: str
) -> None:
    for name, alarm in alarms_with(**alarms).items():
        topic = of_billing if name.endswith("/billing") else of_all
        assert alarm["AlarmActions"] == [topic], name
        assert alarm.get("OKActions", [topic]) == [topic], name


def test_an_alarm_names_the_owner_of_its_group() -> None:
    found = alarms_with()
    assert "Owner: Billing team." in found["status/billing"]["AlarmDescription"]
    assert "Owner: Billing team." in found["anomaly/billing"]["AlarmDescription"]
    assert "Owner" not in found["status/audit"]["AlarmDescription"]
