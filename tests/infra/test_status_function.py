# SPDX-License-Identifier: Apache-2.0
"""What starts the messages, what they may do, and what is left where they fail or are off."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.snapshots.keys import object_key
from tests.infra.answering import THEIRS, only, resources, rights, template
from tests.infra.notify.followed import topic_ids
from tests.infra.resolve import ACCOUNT, REGION, of_type

MESSAGES = "StatusMessages"
BUCKET = f"arn:aws:s3:::{THEIRS}"
KEYS = [object_key(dataset, "orders", 1_769_860_800_000) for dataset in contract.DATASETS]
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/0a1b2c3d-aaaa-bbbb-cccc-444455556666"
BUS = f"arn:aws:events:{REGION}:{ACCOUNT}:event-bus"


def rule(kind: str) -> dict[str, Any]:
    return only(kind, "Events::Rule", MESSAGES)


def fits(pattern: dict[str, Any], key: str) -> bool:
    """Whether an object of this key matches, as EventBridge holds prefixes against it."""
    return any(key.startswith(each["prefix"]) for each in pattern["detail"]["object"]["key"])


def test_a_run_starts_when_a_snapshot_is_complete_and_not_before() -> None:
    pattern = rule("plain")["EventPattern"]
    assert (pattern["source"], pattern["detail-type"]) == (["aws.s3"], ["Object Created"])
    assert pattern["detail"]["bucket"] == {"name": [THEIRS]}
    assert [fits(pattern, key) for key in KEYS] == [False, False, True]


def test_what_it_remembers_itself_starts_nothing() -> None:
    pattern = rule("plain")["EventPattern"]
    for prefix in (contract.CLAIMS_PREFIX, contract.CURSORS_PREFIX):
        assert not fits(pattern, f"{prefix}/orders")


def test_a_bucket_of_ours_sends_events_without_a_function_of_cdks() -> None:
    assert only("full", "S3::Bucket")["NotificationConfiguration"] == {
        "EventBridgeConfiguration": {"EventBridgeEnabled": True}
    }
    handlers = [
        each["Handler"] for each in of_type(resources("full"), "AWS::Lambda::Function").values()
    ]
    assert sorted(handlers) == ["kafka_lag.notify_status.handler", "kafka_lag.serve_lag.handler"]


def test_claims_expire_in_a_bucket_of_ours_and_cursors_do_not() -> None:
    rules = only("full", "S3::Bucket")["LifecycleConfiguration"]["Rules"]
    expiring = [
        (each["Prefix"], each["ExpirationInDays"])
        for each in rules
        if each.get("Prefix", "").startswith(contract.NOTIFIED_PREFIX)
    ]
    assert expiring == [(f"{contract.CLAIMS_PREFIX}/", 90)]
    assert not contract.CURSORS_PREFIX.startswith(contract.CLAIMS_PREFIX)


def test_it_may_read_groups_remember_and_publish_and_nothing_else() -> None:
    log = {
        (action, where) for action, where in rights("plain", MESSAGES) if action.startswith("logs:")
    }
    topic = topic_ids(template("plain")["Resources"])["reports"]
    assert {(action, where) for action, where in rights("plain", MESSAGES) - log} == {
        ("s3:ListBucket", BUCKET),
        ("s3:GetObject", f"{BUCKET}/snapshots/groups/*"),
        ("s3:GetObject", f"{BUCKET}/notified/*"),
        ("s3:PutObject", f"{BUCKET}/notified/*"),
        ("sns:Publish", f"arn:aws:sns:{REGION}:{ACCOUNT}:{topic.lower()}"),
        ("kms:Decrypt", KEY),
        ("kms:GenerateDataKey", KEY),
        ("events:PutEvents", f"{BUS}/default"),
        ("sqs:SendMessage", queue("plain")),
    }


def queue(kind: str) -> str:
    """As references to the one queue are answered."""
    return str(rule(kind)["Targets"][0]["DeadLetterConfig"]["Arn"])


def test_it_may_list_what_it_reads_so_that_what_is_missing_reads_as_missing() -> None:
    statements = only("plain", "IAM::Policy", MESSAGES)["PolicyDocument"]["Statement"]
    (listing,) = (each for each in statements if each["Action"] == "s3:ListBucket")
    prefixes = listing["Condition"]["StringLike"]["s3:prefix"]
    assert prefixes == ["snapshots/groups/*", "notified/*"]


@pytest.mark.parametrize(
    ("kind", "ways", "may"),
    [
        ("bus", {contract.ENV_EVENT_BUS}, {"events:PutEvents"}),
        ("topic", {contract.ENV_STATUS_TOPIC, contract.ENV_CHAT}, {"sns:Publish", "kms:Decrypt"}),
    ],
)
def test_there_is_no_right_to_publish_where_nothing_is_published(
    kind: str, ways: set[str], may: set[str]
) -> None:
    environment = only(kind, "Lambda::Function", MESSAGES)["Environment"]["Variables"]
    all_ways = {contract.ENV_EVENT_BUS, contract.ENV_STATUS_TOPIC, contract.ENV_CHAT}
    assert set(environment) & all_ways == ways
    all_of = {"events:PutEvents", "sns:Publish", "kms:Decrypt"}
    assert {action for action, _ in rights(kind, MESSAGES)} & all_of == may


def test_events_go_to_the_bus_of_the_configuration() -> None:
    variables = only("full", "Lambda::Function", MESSAGES)["Environment"]["Variables"]
    assert variables[contract.ENV_EVENT_BUS] == "ours"
    assert ("events:PutEvents", f"{BUS}/ours") in rights("full", MESSAGES)


@pytest.mark.parametrize(("kind", "chats"), [("plain", "false"), ("full", "true")])
def test_it_knows_whether_chats_hear_the_topic(kind: str, chats: str) -> None:
    variables = only(kind, "Lambda::Function", MESSAGES)["Environment"]["Variables"]
    assert variables[contract.ENV_CHAT] == chats


def test_what_fails_is_tried_three_times_and_then_kept_whoever_failed() -> None:
    invoked = only("plain", "Lambda::EventInvokeConfig", MESSAGES)
    assert (invoked["MaximumRetryAttempts"], invoked["MaximumEventAgeInSeconds"]) == (2, 600)
    (target,) = rule("plain")["Targets"]
    assert target["RetryPolicy"] == {"MaximumRetryAttempts": 2, "MaximumEventAgeInSeconds": 600}
    function = only("plain", "Lambda::Function", MESSAGES)
    assert function["DeadLetterConfig"]["TargetArn"] == target["DeadLetterConfig"]["Arn"]
    kept = only("plain", "SQS::Queue")
    assert kept == {"MessageRetentionPeriod": 4 * 86_400, "SqsManagedSseEnabled": True}


def test_only_this_rule_may_start_it_or_put_what_failed_into_the_queue() -> None:
    name = only_rule("plain")
    source = {"Fn::GetAtt": [name, "Arn"]}
    made = template("plain")["Resources"].values()
    (permission,) = (r["Properties"] for r in made if r["Type"] == "AWS::Lambda::Permission")
    assert (permission["Principal"], permission["SourceArn"]) == ("events.amazonaws.com", source)
    (policy,) = (r["Properties"] for r in made if r["Type"] == "AWS::SQS::QueuePolicy")
    allowed = [s for s in policy["PolicyDocument"]["Statement"] if s["Effect"] == "Allow"]
    assert [s["Condition"] for s in allowed] == [{"ArnEquals": {"aws:SourceArn": source}}]


def only_rule(kind: str) -> str:
    (name,) = (n for n in of_type(resources(kind), "AWS::Events::Rule") if MESSAGES in n)
    return name


@pytest.mark.parametrize(
    ("kind", "memory", "concurrency"), [("plain", 512, None), ("full", 256, 1)]
)
def test_it_is_run_as_configured(kind: str, memory: int, concurrency: int | None) -> None:
    function = only(kind, "Lambda::Function", MESSAGES)
    assert function["MemorySize"] == memory
    assert function.get("ReservedConcurrentExecutions") == concurrency
    assert "VpcConfig" not in function


def test_nothing_of_it_is_there_when_it_is_off() -> None:
    assert [name for name in resources("off") if MESSAGES in name] == []
    bucket = only("off", "S3::Bucket")
    assert "NotificationConfiguration" not in bucket
    assert "notified" not in str(bucket["LifecycleConfiguration"])
    assert of_type(resources("off"), "AWS::SQS::Queue") == {}
