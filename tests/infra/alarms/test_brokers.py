# SPDX-License-Identifier: Apache-2.0
"""Alarms on brokers: where MSK publishes metrics of them, and on disks where there are any."""

from __future__ import annotations

from typing import Any

import pytest

from tests.infra.alarms.conftest import alarms_of, watched
from tests.infra.config.refused import cluster_faults
from tests.infra.configured import cluster_json, one_cluster

BOTH = {"broker-disk", "broker-cpu"}
SERVERLESS = "arn:aws:kafka:eu-west-1:111122223333:cluster/orders/0a1b2c3d-1111-2222-3333-s2"
OTHER = {"arn": None, "bootstrap_servers": ["b:9096"], "region": "eu-west-1"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, BOTH),
        ({"broker_type": "express"}, {"broker-cpu"}),
        ({"alarms": {"brokers": False}}, set()),
        ({"paused": True}, set()),
        ({"arn": SERVERLESS, "auth": {"type": "iam"}}, set()),
        (OTHER, set()),
    ],
)
def test_brokers_are_watched_where_there_are_metrics_of_them(
    changes: dict[str, Any], expected: set[str]
) -> None:
    assert BOTH & set(alarms_of(watched(**changes))) == expected


def test_the_worst_broker_decides() -> None:
    found = alarms_of(watched(alarms={}))
    disk, cpu = (found[name] for name in ("broker-disk", "broker-cpu"))
    of_cluster = (
        """FROM SCHEMA("AWS/Kafka","Broker ID","Cluster Name") WHERE "Cluster Name"='shop'"""
    )
    assert disk["Metrics"][0]["Expression"] == f"SELECT MAX(KafkaDataLogsDiskUsed) {of_cluster}"
    assert cpu["Metrics"][0]["Expression"] == f"SELECT MIN(CpuIdle) {of_cluster}"
    assert (disk["ComparisonOperator"], disk["Threshold"]) == ("GreaterThanOrEqualToThreshold", 85)
    assert (cpu["ComparisonOperator"], cpu["Threshold"]) == ("LessThanThreshold", 40)
    assert {each["Metrics"][0]["Period"] for each in (disk, cpu)} == {60}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"arn": SERVERLESS, "auth": {"type": "iam"}}, "MSK Serverless shows no brokers"),
        (OTHER, "it is not MSK"),
    ],
)
def test_keys_about_brokers_that_nobody_sees_are_refused(changes: dict[str, Any], why: str) -> None:
    observed = cluster_faults(**changes, alarms={"brokers": True}, broker_type="express")
    assert observed == (
        f"alarms.brokers: would have no data, as {why}: leave it out",
        f"broker_type: has no effect, as {why}: leave it out",
    )


def test_a_dashboard_has_no_graph_of_disks_that_are_not_there() -> None:
    for kind in ("standard", "express"):
        assert one_cluster(cluster_json(broker_type=kind)).has_disks is (kind == "standard")


def test_a_group_has_an_alarm_on_its_records_where_one_is_wanted() -> None:
    found = alarms_of(watched(alarms={"offset_lag": {"billing": 5000}}))
    alarm = found["offset-lag/billing"]
    assert (alarm["MetricName"], alarm["Threshold"]) == ("OffsetLag", 5000)
    assert alarm["ComparisonOperator"] == "GreaterThanThreshold"
    assert "status/billing" not in found


def test_a_group_that_is_not_read_has_no_alarm_on_its_records() -> None:
    observed = cluster_faults(alarms={"offset_lag": {"billing": 5}}, groups={"deny": "^billing"})
    assert observed == (
        "alarms.offset_lag.billing: the group billing is not read: groups.deny matches it",
    )
