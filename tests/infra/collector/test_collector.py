# SPDX-License-Identifier: Apache-2.0
"""A collector has its place, its rights and its minute, and nothing beside them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from functions import contract
from functions.event import scheduled_time
from tests.infra.configured import KEY, SECRET, UUID

Of = Callable[[str, str], list[dict[str, Any]]]

NAME = "CollectorFunction"
ARN = f"arn:aws:kafka:eu-west-1:111122223333:cluster/orders/{UUID}"
BROKERS = "sg-0a1b2c3d4e5f60718"


def function(of: Of, kind: str) -> dict[str, Any]:
    found = [each for each in of(kind, "Lambda::Function") if "VpcConfig" in each]
    assert len(found) == 1
    return found[0]


def rights(of: Of, kind: str) -> dict[str, list[str]]:
    """Resources by action, of the policy that lets the collector read its bucket."""
    found: dict[str, list[str]] = {}
    for policy in of(kind, "IAM::Policy"):
        statements = policy["PolicyDocument"]["Statement"]
        if "s3:ListBucket" not in json.dumps(statements):
            continue
        for statement in statements:
            actions, resources = (_many(statement[key]) for key in ("Action", "Resource"))
            found |= dict.fromkeys(actions, resources)
    return found


def _many(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def test_it_runs_in_the_brokers_subnets_on_a_current_runtime(of: Of) -> None:
    made = function(of, "scram")
    assert made["VpcConfig"]["SubnetIds"] == [
        "subnet-0a1b2c3d4e5f60718",
        "subnet-1a1b2c3d4e5f60718",
    ]
    told = [made[key] for key in ("Runtime", "Architectures", "MemorySize", "Timeout", "Handler")]
    assert told == ["python3.13", ["arm64"], 512, 55, "functions.collect_lag.handler"]


def test_runtime_architecture_and_concurrency_follow_the_configuration(of: Of) -> None:
    made = function(of, "endpoints")
    keys = ("Runtime", "Architectures", "ReservedConcurrentExecutions")
    assert [made[key] for key in keys] == ["python3.14", ["x86_64"], 1]
    assert "ReservedConcurrentExecutions" not in function(of, "scram")


def test_brokers_come_from_msk_unless_they_are_given(of: Of) -> None:
    asked = function(of, "scram")["Environment"]["Variables"]
    assert contract.ENV_BOOTSTRAP_SERVERS in asked
    given = function(of, "endpoints")["Environment"]["Variables"]
    assert contract.ENV_BOOTSTRAP_SERVERS not in given
    assert not of("endpoints", "CloudFormation::CustomResource")


def test_msk_is_asked_about_this_cluster_and_its_login(of: Of) -> None:
    (asked,) = of("iam", "CloudFormation::CustomResource")
    assert (asked["ClusterArn"], asked["Way"]) == (ARN, "iam")


def test_the_document_in_its_layer_keeps_the_order_of_its_expressions(
    documents: dict[str, dict[str, Any]],
) -> None:
    assert list(documents["scram"]["allowed_lag"]) == ["^z-", ".*"]


def test_a_private_authority_lies_beside_the_document(layers: dict[str, Path]) -> None:
    folder = layers["endpoints"] / "kafka-lag"
    assert json.loads((folder / "config.json").read_text())["cafile"] == "ca.pem"
    assert "CERTIFICATE" in (folder / "ca.pem").read_text()


def test_logs_are_kept_as_long_as_configured(of: Of) -> None:
    assert 30 in [each["RetentionInDays"] for each in of("endpoints", "Logs::LogGroup")]
    assert 14 in [each["RetentionInDays"] for each in of("scram", "Logs::LogGroup")]


def test_an_event_is_neither_retried_nor_kept_beyond_its_minute(of: Of) -> None:
    (config,) = of("scram", "Lambda::EventInvokeConfig")
    assert (config["MaximumRetryAttempts"], config["MaximumEventAgeInSeconds"]) == (0, 60)


def test_the_schedule_fires_on_the_minute_and_tells_which(of: Of) -> None:
    (schedule,) = of("scram", "Scheduler::Schedule")
    assert (schedule["ScheduleExpression"], schedule["State"]) == ("cron(* * * * ? *)", "ENABLED")
    assert schedule["Target"]["RetryPolicy"]["MaximumRetryAttempts"] == 0
    sent = schedule["Target"]["Input"]
    text = sent.replace("<aws.scheduler.scheduled-time>", "2026-01-31T12:00:00Z")
    assert scheduled_time(json.loads(text), "orders") == 1_769_860_800_000


def test_a_paused_cluster_keeps_its_schedule_switched_off(of: Of) -> None:
    (schedule,) = of("iam", "Scheduler::Schedule")
    assert (schedule["ScheduleExpression"], schedule["State"]) == (
        "cron(0/5 * * * ? *)",
        "DISABLED",
    )


def test_nothing_comes_in_and_out_go_the_brokers_port_and_https(of: Of) -> None:
    (group,) = of("scram", "EC2::SecurityGroup")
    assert "SecurityGroupIngress" not in group
    assert [rule["ToPort"] for rule in group["SecurityGroupEgress"]] == [443]
    (out,) = of("scram", "EC2::SecurityGroupEgress")
    assert (out["FromPort"], out["ToPort"], out["DestinationSecurityGroupId"]) == (
        9096,
        9096,
        BROKERS,
    )


def test_the_brokers_own_group_lets_the_collector_in(of: Of) -> None:
    (into,) = of("iam", "EC2::SecurityGroupIngress")
    assert (into["GroupId"], into["ToPort"]) == (BROKERS, 9098)


def test_servers_of_several_ports_open_each(of: Of) -> None:
    groups = of("endpoints", "EC2::SecurityGroup")
    out = {rule["ToPort"] for each in groups for rule in each["SecurityGroupEgress"]}
    assert out >= {443, 9196, 9197}


def test_an_endpoint_that_exists_lets_the_collector_in(of: Of) -> None:
    (into,) = of("endpoints", "EC2::SecurityGroupIngress")
    assert (into["GroupId"], into["ToPort"]) == ("sg-ffffffff", 443)


def test_endpoints_are_made_where_asked_for_only(of: Of) -> None:
    made = {each["ServiceName"]: each for each in of("endpoints", "EC2::VPCEndpoint")}
    gateway = made["com.amazonaws.eu-west-1.s3"]
    assert (gateway["VpcEndpointType"], gateway["RouteTableIds"]) == (
        "Gateway",
        ["rtb-0a1b2c3d4e5f60718"],
    )
    assert made["com.amazonaws.eu-west-1.secretsmanager"]["PrivateDnsEnabled"] is True
    assert of("scram", "EC2::VPCEndpoint") == []


def test_the_endpoint_lets_the_vpc_in_and_nobody_else(of: Of) -> None:
    rules = [
        rule
        for group in of("endpoints", "EC2::SecurityGroup")
        for rule in group.get("SecurityGroupIngress", [])
    ]
    assert [(rule["CidrIp"], rule["ToPort"]) for rule in rules] == [("10.0.0.0/16", 443)]


def test_with_scram_it_may_read_its_secret_and_use_its_key(of: Of) -> None:
    may = rights(of, "scram")
    assert may["secretsmanager:GetSecretValue"] == [SECRET]
    assert may["kms:Decrypt"] == [KEY]
    assert not [action for action in may if action.startswith("kafka-cluster:")]


def test_with_iam_it_may_describe_its_cluster_and_read_nothing(of: Of) -> None:
    may = rights(of, "iam")
    there = ARN.removesuffix(f"cluster/orders/{UUID}")
    assert {action: may[action] for action in may if action.startswith("kafka-cluster:")} == {
        "kafka-cluster:Connect": [ARN],
        "kafka-cluster:DescribeCluster": [ARN],
        "kafka-cluster:DescribeTopic": [f"{there}topic/orders/{UUID}/*"],
        "kafka-cluster:DescribeTopicDynamicConfiguration": [f"{there}topic/orders/{UUID}/*"],
        "kafka-cluster:DescribeGroup": [f"{there}group/orders/{UUID}/*"],
    }
    assert "secretsmanager:GetSecretValue" not in may


@pytest.mark.parametrize("action", ["s3:GetObject", "s3:PutObject"])
def test_it_may_touch_its_own_clusters_snapshots_only(of: Of, action: str) -> None:
    assert rights(of, "scram")[action] == [
        f"arn:aws:s3:::the-bucket/snapshots/{dataset}/cluster=orders/*"
        for dataset in contract.DATASETS
    ]
