# SPDX-License-Identifier: Apache-2.0
"""Each sink gets the right and the way out that it needs, and no other one does."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.infra.configured import SECRET
from tests.infra.resolve import ACCOUNT, REGION

Of = Callable[[str, str], list[dict[str, Any]]]


def allowed(of: Of, kind: str, action: str) -> list[dict[str, Any]]:
    """The collector's statements on an action."""
    policies = [policy["PolicyDocument"]["Statement"] for policy in of(kind, "IAM::Policy")]
    (own,) = [each for each in policies if "s3:ListBucket" in json.dumps(each)]
    return [each for each in own if each["Action"] == action]


def test_metrics_in_the_log_need_no_right(of: Of) -> None:
    assert allowed(of, "scram", "cloudwatch:PutMetricData") == []


def test_what_is_put_is_put_into_the_namespace_alone(of: Of) -> None:
    (statement,) = allowed(of, "sinks", "cloudwatch:PutMetricData")
    assert statement["Resource"] == "*"
    assert statement["Condition"] == {"StringEquals": {"cloudwatch:namespace": "Ours"}}


def test_what_is_signed_for_otlp_has_no_namespace(of: Of) -> None:
    (statement,) = allowed(of, "signed", "cloudwatch:PutMetricData")
    assert "Condition" not in statement


@pytest.mark.parametrize(
    ("kind", "arns"),
    [
        ("sinks", {f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:token-??????", SECRET}),
        ("signed", {SECRET}),
    ],
)
def test_secrets_of_headers_may_be_read_by_name_and_by_arn(
    of: Of, kind: str, arns: set[str]
) -> None:
    found = [each["Resource"] for each in allowed(of, kind, "secretsmanager:GetSecretValue")]
    flat = [arn for each in found for arn in (each if isinstance(each, list) else [each])]
    assert set(flat) == arns


def test_ports_of_endpoints_are_open(of: Of) -> None:
    out = {
        kind: [r["ToPort"] for each in of(kind, "EC2::SecurityGroup")
               for r in each["SecurityGroupEgress"]]
        for kind in ("sinks", "signed")
    }  # fmt: skip
    assert out == {"sinks": [443, 4318], "signed": [443]}
