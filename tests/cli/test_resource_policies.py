# SPDX-License-Identifier: Apache-2.0
"""Policies of topics and keys whose answer follows from how they were made."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_lag_cli.doctor.resource_policies import ServiceCall, lets_in

ACCOUNT, OTHER = "111122223333", "444455556666"
SERVICE = "cloudwatch.amazonaws.com"
ALARM = f"arn:aws:cloudwatch:eu-west-1:{ACCOUNT}:alarm:kafka-lag/orders/heartbeat"
OURS = {"StringEquals": {"aws:SourceAccount": ACCOUNT}}
THEIRS = {"StringEquals": {"aws:SourceAccount": [OTHER]}}
ALIKE = {"ArnLike": {"aws:SourceArn": f"arn:aws:cloudwatch:*:{ACCOUNT}:alarm:*"}}
PLAIN = {"Bool": {"aws:SecureTransport": "false"}}
STRANGE = {"IpAddress": {"aws:SourceIp": "192.0.2.0/24"}}


def allow(**changes: Any) -> dict[str, Any]:
    principal = {"Service": SERVICE}
    return {"Effect": "Allow", "Principal": principal, "Action": "sns:Publish"} | changes


def deny(**changes: Any) -> dict[str, Any]:
    return allow(Effect="Deny", **changes)


@pytest.mark.parametrize(
    ("statements", "may"),
    [
        pytest.param([], False, id="nothing"),
        pytest.param([allow()], True, id="the-service"),
        pytest.param([allow(Principal={"Service": ["events.x", SERVICE]})], True, id="of-several"),
        pytest.param([allow(Principal={"Service": "events.x"})], False, id="another-service"),
        pytest.param([allow(Principal={"AWS": "*"})], True, id="everybody"),
        pytest.param([allow(Principal="*")], True, id="everybody-in-short"),
        pytest.param(
            [allow(Principal={"AWS": f"arn:aws:iam::{ACCOUNT}:root"})], False, id="roles-alone"
        ),
        pytest.param([allow(Action=["SNS:Subscribe", "SNS:Publish"])], True, id="in-any-case"),
        pytest.param([allow(Action="sns:*")], True, id="a-pattern"),
        pytest.param([allow(Action="sns:Subscribe")], False, id="another-action"),
        pytest.param([allow(Condition=OURS)], True, id="for-our-account"),
        pytest.param([allow(Condition=THEIRS)], False, id="for-another-account"),
        pytest.param(
            [allow(Condition={"StringEquals": {"AWS:SourceOwner": ACCOUNT}})], True, id="by-owner"
        ),
        pytest.param([allow(Condition=ALIKE)], True, id="for-our-alarms"),
        pytest.param(
            [allow(Condition={"ArnEquals": {"aws:SourceArn": f"{ALARM}-2"}})], False, id="for-one"
        ),
        pytest.param([allow(Condition=STRANGE)], None, id="under-what-is-not-judged"),
        pytest.param([allow(Condition=STRANGE | THEIRS)], False, id="which-cannot-save-it"),
        pytest.param([allow(Condition=STRANGE), allow()], True, id="which-is-not-needed"),
        pytest.param([deny()], False, id="a-deny-alone"),
        pytest.param([allow(), deny()], False, id="a-deny-wins"),
        pytest.param([allow(), deny(Action="sns:Subscribe")], True, id="a-deny-of-another-action"),
        pytest.param([allow(), deny(Principal="*", Condition=PLAIN)], True, id="over-tls"),
        pytest.param([allow(), deny(Condition=STRANGE)], None, id="a-deny-that-is-not-judged"),
        pytest.param(
            [allow(), deny(Condition={"StringNotEquals": {"aws:SourceAccount": ACCOUNT}})],
            True,
            id="a-deny-of-other-accounts",
        ),
        pytest.param(
            [allow(), deny(Condition={"StringNotEquals": {"aws:SourceAccount": OTHER}})],
            False,
            id="a-deny-of-all-but-another",
        ),
        pytest.param(
            [allow(), {"Effect": "Deny", "Principal": "*", "NotAction": "sns:Publish"}],
            True,
            id="a-deny-of-all-else",
        ),
    ],
)
def test_a_policy_lets_in_whom_it_allows_and_does_not_deny(
    statements: list[dict[str, Any]], may: bool | None
) -> None:
    policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
    assert lets_in(policy, "sns:Publish", ServiceCall(SERVICE, ACCOUNT, ALARM)) is may


def test_one_statement_needs_no_list() -> None:
    policy = json.dumps({"Statement": allow()})
    assert lets_in(policy, "sns:Publish", ServiceCall(SERVICE, ACCOUNT, ALARM))
