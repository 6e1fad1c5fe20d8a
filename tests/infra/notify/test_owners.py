# SPDX-License-Identifier: Apache-2.0
"""Which owner gets which message: filters of subscriptions, applied as SNS would apply them.

Topics, their keys and policies are in `tests/golden/templates`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template

from kafka_lag.notify.changes import GroupChange
from kafka_lag.notify.messages import build_messages
from kafka_lag_cdk.notifications import Topics
from kafka_lag_config.shared import Notify
from tests.functions.notify.builders import a_change
from tests.infra.resolve import ACCOUNT, REGION, of_type

MAIL = ("email", "money@example.com")
MAIL_ALONE = {"email": [MAIL[1]]}
ENDS = ["resolved", "caught_up", "better", "loss_ended", "loss_averted", "promise_kept"]
OWNERS = {
    "team-money": {"email": ["money@example.com"], "https": ["https://pages.example/money"]},
    "team-stock": MAIL_ALONE,
}


def a_stack() -> Stack:
    return Stack(App(), "Owners", env=Environment(account=ACCOUNT, region=REGION))


def subscriptions(
    owners: Any = OWNERS, *, of_alarms: bool = False, **notify: Any
) -> dict[str, dict[str, Any]]:
    """Those of the topic of status messages, or of alarms, by logical id."""
    stack = a_stack()
    given = Notify.model_validate({"owners": owners, **notify})
    topics = Topics(stack, "Alarms", name="ours", notify=given)
    topic = topics.alarms if of_alarms else topics.reports
    assert topic is not None
    arn = stack.resolve(topic.topic_arn)
    made = of_type(Template.from_stack(stack).to_json()["Resources"], "AWS::SNS::Subscription")
    return {name: each for name, each in made.items() if each["TopicArn"] == arn}


def filters(owners: Any = OWNERS, **notify: Any) -> dict[tuple[str, str], dict[str, Any] | None]:
    """By protocol and address, of which SNS keeps one subscription a topic."""
    made = subscriptions(owners, **notify).values()
    pagers = [(each["Protocol"], each["Endpoint"]) for each in made]
    assert len(set(pagers)) == len(pagers)
    return dict(zip(pagers, (each.get("FilterPolicy") for each in made), strict=True))


def passes(policy: dict[str, Any], attributes: Mapping[str, str | tuple[str, ...]]) -> bool:
    """As SNS filters: of each key one value must fit; of `$or` one of its policies."""
    for key, wanted in policy.items():
        if key == "$or":
            fits = any(passes(each, attributes) for each in wanted)
        else:
            value = attributes.get(key, ())
            fits = bool(set(wanted) & ({value} if isinstance(value, str) else set(value)))
        if not fits:
            return False
    return True


def reaches(policy: dict[str, Any], *changes: GroupChange) -> bool:
    """Whether the one message about these changes comes through."""
    (message,) = build_messages(changes, len(changes))
    return passes(policy, message.notice.attributes)


def changes_of(text: str) -> list[GroupChange]:
    """As `ours ERR opened + 9 theirs OK resolved`: so many changes of each owner's groups."""
    found: list[GroupChange] = []
    for part in text.split(" + "):
        *count, who, status, kind = part.split()
        owner = {"ours": "team-money", "theirs": "team-stock"}.get(who)
        found += [
            a_change(f"{who}-{at}", {"owner": owner}, status=status, kind=kind)
            for at in range(int(count[0]) if count else 1)
        ]
    return found


def policy_of(address: str, **notify: Any) -> dict[str, Any]:
    (found,) = [policy for (_, each), policy in filters(**notify).items() if each == address]
    assert found is not None
    return found


# What changed, and whether our pager hears of it: with recoveries, and without. From ten groups on
# one message is about all, and SNS tests each list of it by itself.
PAGED: dict[str, tuple[bool, bool]] = {
    "ours ERR opened": (True, True),
    "ours ERR worse": (True, True),
    "ours GONE gone": (True, True),
    "ours OK loss_begun": (True, True),
    "ours WARN loss_near": (True, True),
    "ours OK promise_broken": (True, True),
    "ours WARN opened": (False, False),
    "theirs ERR opened": (False, False),
    "nobody ERR opened": (False, False),
    **{f"ours OK {kind}": (True, False) for kind in ENDS},
    "ours WARN better": (True, False),
    "ours ERR resolved": (True, False),
    "ours OK resolved + ours ERR loss_begun": (True, True),
    "ours WARN opened + 9 theirs ERR opened": (False, False),
    "ours WARN opened + 8 theirs ERR opened + 2 ours ERR opened": (True, True),
    **{f"ours OK {kind} + 9 theirs ERR opened": (True, False) for kind in ENDS},
    "ours WARN opened + 9 theirs OK resolved": (False, False),
}


@pytest.mark.parametrize("changed", PAGED)
def test_what_the_any_alarms_would_page_reaches_the_owner(changed: str) -> None:
    changes, pager = changes_of(changed), "https://pages.example/money"
    policies = (policy_of(pager), policy_of(pager, recovered=False))
    assert tuple(reaches(each, *changes) for each in policies) == PAGED[changed]


def test_an_address_of_several_owners_has_one_subscription_for_all() -> None:
    found = filters()
    assert set(found) == {MAIL, ("https", "https://pages.example/money")}
    for owner in OWNERS:
        assert reaches(policy_of(MAIL[1]), a_change(row={"owner": owner}))
    assert not reaches(policy_of(MAIL[1]), a_change(row={"owner": "team-other"}))


def test_an_owners_address_that_gets_all_messages_has_no_filter() -> None:
    assert filters(email=[MAIL[1]])[MAIL] is None


def test_an_owners_pager_that_gets_all_alarms_gets_their_messages_too() -> None:
    pager = "https://pages.example/money"
    assert filters(https=[pager])["https", pager] == policy_of(pager)


def test_who_comes_to_get_all_messages_keeps_the_subscription() -> None:
    """A new one would be made before the old one goes, and SNS refuses it."""
    assert set(subscriptions()) == set(subscriptions(email=[MAIL[1]]))


def test_an_owner_more_changes_no_subscription_but_its_filter() -> None:
    assert set(subscriptions()) == set(subscriptions({**OWNERS, "team-new": MAIL_ALONE}))


def test_filters_go_by_what_messages_say_of_themselves() -> None:
    assert {each["FilterPolicyScope"] for each in subscriptions().values()} == {"MessageAttributes"}


@pytest.mark.parametrize(
    ("previous", "new", "sent"),
    [
        ("INSUFFICIENT_DATA", "OK", False),
        ("OK", "INSUFFICIENT_DATA", False),
        ("INSUFFICIENT_DATA", "ALARM", True),
        ("OK", "ALARM", True),
        ("ALARM", "OK", True),
    ],
)
def test_only_the_begin_and_the_end_of_an_alarm_reach_an_address(
    previous: str, new: str, sent: bool
) -> None:
    """As CloudWatch writes a change of state into the message that SNS filters."""
    body = {"OldStateValue": previous, "NewStateValue": new, "AlarmName": "ours/orders/sla/a"}
    (found,) = subscriptions({}, of_alarms=True, email=[MAIL[1]]).values()
    assert found["FilterPolicyScope"] == "MessageBody"
    assert passes(found["FilterPolicy"], body) is sent


def test_a_topic_of_ones_own_with_nothing_to_report_has_notices_beside_it_alone() -> None:
    stack = a_stack()
    own = sns.Topic.from_topic_arn(stack, "Pages", f"arn:aws:sns:{REGION}:{ACCOUNT}:pages")
    Topics(stack, "Ours", name="ours", notify=Notify(), existing=own, reported=False)
    made = of_type(Template.from_stack(stack).to_json()["Resources"], "AWS::SNS::Topic")
    assert [each["TopicName"] for each in made.values()] == ["ours-notices"]


def test_ids_hold_nothing_of_an_address() -> None:
    ids = subscriptions(https=["https://pages.example/in/SECRET"])
    assert not [name for name in ids if "SECRET" in name or "example" in name]
