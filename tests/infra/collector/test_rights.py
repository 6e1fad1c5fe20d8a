# SPDX-License-Identifier: Apache-2.0
"""What a collector and its schedule may do, and nothing beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from kafka_lag import contract
from tests.infra.configured import KEY, SECRET, UUID
from tests.infra.resolve import ACCOUNT

Of = Callable[[str, str], list[dict[str, Any]]]

ARN = f"arn:aws:kafka:eu-west-1:111122223333:cluster/orders/{UUID}"
BROKERS = "sg-0a1b2c3d4e5f60718"


def statements(of: Of, kind: str, having: str) -> list[dict[str, Any]]:
    """The statements of the one policy that allows the action `having`."""
    found = [policy["PolicyDocument"]["Statement"] for policy in of(kind, "IAM::Policy")]
    (whole,) = [each for each in found if having in json.dumps(each)]
    return list(whole)


def rights(of: Of, kind: str) -> dict[str, list[str]]:
    """Resources by action, of the collector."""
    return {
        action: _many(statement["Resource"])
        for statement in statements(of, kind, "s3:ListBucket")
        for action in _many(statement["Action"])
    }


def _many(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def test_the_schedule_may_invoke_the_function_and_only_ours_may_be_it(of: Of) -> None:
    (statement,) = statements(of, "scram", "lambda:InvokeFunction")
    assert statement["Action"] == "lambda:InvokeFunction"
    (schedule,) = of("scram", "Scheduler::Schedule")
    assert statement["Resource"] == schedule["Target"]["Arn"]
    trusted = [
        statement
        for role in of("scram", "IAM::Role")
        for statement in role["AssumeRolePolicyDocument"]["Statement"]
        if "scheduler" in str(statement["Principal"])
    ]
    assert [each["Condition"] for each in trusted] == [
        {"StringEquals": {"aws:SourceAccount": ACCOUNT}}
    ]


def test_it_may_write_its_log_and_list_its_own_objects_only(of: Of) -> None:
    logs, _, listing, *_ = statements(of, "scram", "s3:ListBucket")
    assert logs["Action"] == ["logs:CreateLogStream", "logs:PutLogEvents"]
    assert "collectorlog" in logs["Resource"]
    assert listing["Condition"] == {
        "StringLike": {
            "s3:prefix": [
                *(f"snapshots/{name}/cluster=orders/*" for name in contract.DATASETS),
                "usual/cluster=orders/usual.parquet",
            ]
        }
    }


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


def test_it_may_touch_its_own_clusters_objects_only(of: Of) -> None:
    runs = [
        f"arn:aws:s3:::the-bucket/snapshots/{dataset}/cluster=orders/*"
        for dataset in contract.DATASETS
    ]
    usual = "arn:aws:s3:::the-bucket/usual/cluster=orders/usual.parquet"
    may = rights(of, "scram")
    assert may["s3:PutObject"] == runs
    assert may["s3:GetObject"] == [*runs, usual]


def test_the_functions_own_code_may_touch_no_network_interface(of: Of) -> None:
    policies = [each["PolicyDocument"]["Statement"] for each in of("scram", "IAM::Policy")]
    (denied,) = (each for whole in policies for each in whole if each["Effect"] == "Deny")
    given = rights(of, "scram")
    assert set(denied["Action"]) == {action for action in given if action.startswith("ec2:")}
    assert len(denied["Action"]) == 6
    assert denied["Resource"] == "*"
    (function,) = denied["Condition"]["ArnEquals"].values()
    assert list(denied["Condition"]["ArnEquals"]) == ["lambda:SourceFunctionArn"]
    assert ":function:collectorfunction" in function
