# SPDX-License-Identifier: Apache-2.0
"""A collector's layer, schedule, network and rights, and nothing beside them.

The whole of each template is in `tests/golden/templates`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.collect_lag import scheduled_time
from kafka_lag_cdk.collector_function import cron_of
from tests.infra.configured import cluster_json
from tests.infra.conftest import Options
from tests.infra.resolve import ACCOUNT, REGION

PLAIN, IAM = "plain", "iam, paused, every five minutes"
ENDPOINTS = "not MSK, with endpoints and a function of its own"
ORDERED = "sinks of every kind"
Of = Callable[[str, str], list[dict[str, Any]]]


@pytest.fixture(name="stacks", scope="module")
def _stacks(options: Options) -> dict[str, dict[str, dict[str, Any]]]:
    """The resources of each option's cluster."""
    titles = options.titles.values()
    return {
        title: options.resources(each)
        for title, each in zip(titles, options.deployment.clusters, strict=True)
    }


@pytest.fixture(name="of", scope="module")
def _of(stacks: dict[str, dict[str, dict[str, Any]]]) -> Of:
    """Properties of all resources of a CloudFormation type in one option's stack."""
    return lambda option, kind: [
        each["Properties"] for each in stacks[option].values() if each["Type"] == f"AWS::{kind}"
    ]


def layer(of: Of, options: Options, option: str) -> Path:
    """Where the layer of the configuration was staged."""
    (found,) = of(option, "Lambda::LayerVersion")
    return options.folder / f"asset.{found['Content']['S3Key'][:-4]}" / "kafka-lag"


def test_the_layer_has_the_document_and_its_authority_for_anybody_to_read(
    of: Of, options: Options
) -> None:
    folder = layer(of, options, ENDPOINTS)
    assert {oct(path.stat().st_mode & 0o777) for path in folder.iterdir()} == {"0o644"}
    assert json.loads((folder / "config.json").read_text())["cafile"] == "ca.pem"
    assert "CERTIFICATE" in (folder / "ca.pem").read_text()


def test_the_document_keeps_the_order_of_its_expressions(of: Of, options: Options) -> None:
    document = json.loads((layer(of, options, ORDERED) / "config.json").read_text())
    assert list(document["allowed_lag"]) == ["^z-", ".*"]


def test_nothing_of_a_cluster_stays_when_its_stack_goes(
    stacks: dict[str, dict[str, dict[str, Any]]],
) -> None:
    resources = [each for stack in stacks.values() for each in stack.values()]
    assert {each.get("DeletionPolicy", "Delete") for each in resources} == {"Delete"}


def test_the_schedule_fires_on_the_minute_and_tells_which(of: Of) -> None:
    (schedule,) = of(PLAIN, "Scheduler::Schedule")
    assert (schedule["ScheduleExpression"], schedule["State"]) == ("cron(* * * * ? *)", "ENABLED")
    assert schedule["Target"]["RetryPolicy"]["MaximumRetryAttempts"] == 0
    sent = schedule["Target"]["Input"]
    text = sent.replace("<aws.scheduler.scheduled-time>", "2026-01-31T12:00:00Z")
    assert scheduled_time(json.loads(text), PLAIN) == 1_769_860_800_000


@pytest.mark.parametrize(
    ("minutes", "expression"),
    [(1, "cron(* * * * ? *)"), (5, "cron(0/5 * * * ? *)"), (60, "cron(0 * * * ? *)")],
)
def test_any_interval_begins_on_its_minute(minutes: int, expression: str) -> None:
    assert cron_of(minutes) == expression


@pytest.mark.parametrize(
    ("option", "opened"),
    [
        (PLAIN, {(443, 443), (9096, 9096)}),
        (IAM, {(443, 443), (9098, 9098)}),
        # Private connectivity gives brokers to come the ports after 14001.
        (ENDPOINTS, {(443, 443), (9196, 9196), (9197, 9197), (14001, 14100)}),
    ],
)
def test_out_go_https_and_the_brokers_ports_and_nothing_comes_in(
    option: str, opened: set[tuple[int, int]], of: Of
) -> None:
    (group,) = [
        each for each in of(option, "EC2::SecurityGroup") if "SecurityGroupIngress" not in each
    ]
    rules = [*group["SecurityGroupEgress"], *of(option, "EC2::SecurityGroupEgress")]
    assert {(each["FromPort"], each["ToPort"]) for each in rules} == opened


def test_endpoints_are_made_where_asked_for_and_let_the_vpc_in_alone(of: Of) -> None:
    made = {each["ServiceName"].rpartition(".")[2] for each in of(ENDPOINTS, "EC2::VPCEndpoint")}
    assert made == {"s3", "secretsmanager", "monitoring"}
    assert of(PLAIN, "EC2::VPCEndpoint") == []
    groups = of(ENDPOINTS, "EC2::SecurityGroup")
    rules = [rule for group in groups for rule in group.get("SecurityGroupIngress", [])]
    assert [(rule["CidrIp"], rule["ToPort"]) for rule in rules] == [("10.0.0.0/16", 443)] * 2
    interfaces = [each for each in of(ENDPOINTS, "EC2::VPCEndpoint") if "SubnetIds" in each]
    chosen = cluster_json()["vpc"]["subnets"][:1]
    assert [each["SubnetIds"] for each in interfaces] == [chosen] * 2


def statements(of: Of, option: str) -> list[dict[str, Any]]:
    """What the collector's own role may do."""
    policies = [each["PolicyDocument"]["Statement"] for each in of(option, "IAM::Policy")]
    (found,) = [each for each in policies if "s3:ListBucket" in json.dumps(each)]
    return list(found)


def rights(of: Of, option: str) -> dict[str, Any]:
    """Resources by action."""
    return {
        action: each["Resource"]
        for each in statements(of, option)
        for action in (each["Action"] if isinstance(each["Action"], list) else [each["Action"]])
    }


def test_with_iam_it_may_describe_its_cluster_and_read_nothing(of: Of) -> None:
    may = {key: value for key, value in rights(of, IAM).items() if key.startswith("kafka-cluster:")}
    assert {action.partition(":")[2] for action in may} == {
        *("Connect", "DescribeCluster", "DescribeGroup"),
        *("DescribeTopic", "DescribeTopicDynamicConfiguration"),
    }
    there = f"arn:aws:kafka:{REGION}:{ACCOUNT}:"
    assert all(str(each).startswith(there) and "/option-0/" in each for each in may.values())
    assert "secretsmanager:GetSecretValue" not in rights(of, IAM)


def test_it_may_touch_its_own_clusters_objects_only(of: Of) -> None:
    may = rights(of, PLAIN)
    own = [f"snapshots/{name}/cluster=plain/*" for name in contract.DATASETS]
    written, read = (
        sorted(each.partition("/")[2].partition("bucket/")[2] for each in may[f"s3:{verb}Object"])
        for verb in ("Put", "Get")
    )
    usual = "usual/cluster=plain/usual.parquet"
    assert (written, read) == (sorted(own), sorted([*own, usual]))
    (listed,) = [each for each in statements(of, PLAIN) if each["Action"] == "s3:ListBucket"]
    assert listed["Condition"] == {"StringLike": {"s3:prefix": [*own, usual]}}


def test_the_schedule_may_start_its_own_collector_alone(of: Of) -> None:
    (schedule,) = of(PLAIN, "Scheduler::Schedule")
    policies = [each["PolicyDocument"]["Statement"] for each in of(PLAIN, "IAM::Policy")]
    (may,) = [each for each in policies if "lambda:InvokeFunction" in json.dumps(each)]
    assert [(each["Action"], each["Resource"]) for each in may] == [
        ("lambda:InvokeFunction", schedule["Target"]["Arn"])
    ]


def test_the_functions_own_code_may_touch_no_network_interface(of: Of) -> None:
    policies = [each["PolicyDocument"]["Statement"] for each in of(PLAIN, "IAM::Policy")]
    (denied,) = [each for whole in policies for each in whole if each["Effect"] == "Deny"]
    given = {action for action in rights(of, PLAIN) if action.startswith("ec2:")}
    assert (set(denied["Action"]), denied["Resource"]) == (given, "*")
    assert list(denied["Condition"]["ArnEquals"]) == ["lambda:SourceFunctionArn"]
