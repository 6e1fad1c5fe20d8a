# SPDX-License-Identifier: Apache-2.0
"""An owner is paged for their groups by a filter on what status messages say of themselves."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk.assertions import Template

from kafka_lag_cdk.config.shared import Notify
from kafka_lag_cdk.notifications import Topics
from tests.infra.resolve import ACCOUNT, REGION, of_type

OWNERS = {
    "team-money": {"email": ["money@example.com"], "https": ["https://pages.example/money"]},
    "team-stock": {"email": ["money@example.com"]},
}


def policies(*, recovered: bool = True) -> dict[tuple[str, str], dict[str, Any]]:
    """The filters on messages, by owner and protocol."""
    stack = Stack(App(), "Owners", env=Environment(account=ACCOUNT, region=REGION))
    notify = Notify.model_validate({"owners": OWNERS, "recovered": recovered})
    topics = Topics(stack, "Alarms", name="ours", notify=notify)
    assert topics.reports is not None
    reports = stack.resolve(topics.reports.topic_arn)
    made = of_type(Template.from_stack(stack).to_json()["Resources"], "AWS::SNS::Subscription")
    found = {}
    for each in made.values():
        assert each["TopicArn"] == reports
        assert each["FilterPolicyScope"] == "MessageAttributes"
        (owner,) = each["FilterPolicy"]["owner"]
        found[owner, each["Protocol"]] = each["FilterPolicy"]
    return found


def passes(policy: dict[str, Any], **attributes: str | list[str]) -> bool:
    """As SNS filters: of each key one value must fit; of `$or` one of its policies."""
    for key, wanted in policy.items():
        if key == "$or":
            fits = any(passes(each, **attributes) for each in wanted)
        else:
            value = attributes.get(key, [])
            fits = bool(set(wanted) & ({value} if isinstance(value, str) else set(value)))
        if not fits:
            return False
    return True


@pytest.fixture(name="policy", scope="module")
def _policy() -> dict[str, Any]:
    return policies()["team-money", "https"]


def test_every_address_of_an_owner_is_subscribed_and_one_may_be_of_several() -> None:
    assert set(policies()) == {
        ("team-money", "email"),
        ("team-money", "https"),
        ("team-stock", "email"),
    }


@pytest.mark.parametrize(
    ("status", "kind", "paged"),
    [
        ("ERR", "opened", True),
        ("ERR", "worse", True),
        ("GONE", "gone", True),
        ("OK", "loss_begun", True),
        ("WARN", "loss_near", True),
        ("OK", "promise_broken", True),
        ("WARN", "opened", False),
        ("OK", "resolved", True),
        ("WARN", "better", True),
        ("OK", "promise_kept", True),
    ],
)
def test_what_the_any_alarms_would_page_reaches_the_owner(
    status: str, kind: str, paged: bool, policy: dict[str, Any]
) -> None:
    assert passes(policy, owner="team-money", status=status, kind=kind) == paged
    assert not passes(policy, owner="team-stock", status=status, kind=kind)
    assert not passes(policy, status=status, kind=kind)


def test_one_message_of_several_kinds_or_owners_reaches_each(policy: dict[str, Any]) -> None:
    kinds = ["resolved", "promise_broken"]
    assert passes(policy, owner=["team-stock", "team-money"], status="OK", kind=kinds)


def test_without_recoveries_no_end_is_sent() -> None:
    policy = policies(recovered=False)["team-money", "email"]
    for kind in ("resolved", "better", "loss_ended", "loss_averted", "promise_kept"):
        assert not passes(policy, owner="team-money", status="OK", kind=kind)
    assert passes(policy, owner="team-money", status="ERR", kind="opened")
