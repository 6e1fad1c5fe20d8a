# SPDX-License-Identifier: Apache-2.0
"""Deployed resources beside the expected ones, with one fault after the other."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws

from kafka_lag import contract
from kafka_lag.snapshots.keys import object_key
from kafka_lag_cli.doctor.deployed import check_deployed
from kafka_lag_cli.doctor.findings import Finding, collect_findings
from kafka_lag_cli.doctor.place import Place
from kafka_lag_config.reading import check
from tests.cli.fake_aws import ACCOUNT, FakeAccount, client_error
from tests.golden import Golden
from tests.infra.configured import cluster_json

SHARED: dict[str, Any] = {"notify": {"email": ["oncall@example.com"]}, "views": {}}
SERVICE = {"Service": "cloudwatch.amazonaws.com"}


KEY_POLICY = json.dumps({"Statement": [{"Effect": "Allow", "Principal": SERVICE, "Action": "*"}]})
BUCKET = "kafka-lag-data"


class Deployed:
    """An account in which a deployment runs and all is well; the fake of four services."""

    def __init__(self, account: FakeAccount) -> None:
        self.account = account
        # The key of a snapshot has seconds.
        self.now = int(time.time())
        self.status = 403
        self.alarms = {"heartbeat": "OK"}
        self.subscriptions = [("email", "oncall@example.com", "arn:aws:sns:one")]
        self.key_policy = KEY_POLICY
        self.topics = {"alarms", "reports"}
        self.manager, self.key_state = "CUSTOMER", "Enabled"
        self.denied = ""
        for name in ("cloudwatch", "sns", "kms"):
            account.session.fakes[name] = self
        self.put_run(minutes_ago=1)

    def put_run(self, minutes_ago: float) -> None:
        client = self.account.session.client("s3")
        for each in client.list_objects_v2(Bucket=BUCKET).get("Contents", []):
            client.delete_object(Bucket=BUCKET, Key=each["Key"])
        at = int((self.now - minutes_ago * 60) * 1000)
        client.put_object(Bucket=BUCKET, Key=object_key(contract.GROUPS, "orders", at), Body=b"")

    def findings(
        self, *others: dict[str, Any], cluster: dict[str, Any] | None = None, **shared: Any
    ) -> dict[str, Finding]:
        """Of each check the last, which is the verdict; `others` are clusters listed before."""
        document = self.account.document(**cluster or {}) | {"shared": SHARED | shared}
        document["clusters"] = [*others, *document["clusters"]]
        deployment = check(document, "the test's document", Path())
        place = Place(deployment, deployment.clusters[-1], self.account.session)
        checked = check_deployed(place, lambda: self.now, lambda _: self.status)
        return {name: found for name, some in checked for found in collect_findings(name, some)}

    def describe_alarms(self, **request: Any) -> dict[str, Any]:
        states = {f"kafka-lag/orders/urgent/{name}": state for name, state in self.alarms.items()}
        names = [name for name in request["AlarmNames"] if name in states]
        return {"MetricAlarms": [{"AlarmName": n, "StateValue": states[n]} for n in names]}

    def get_topic_attributes(self, **request: Any) -> dict[str, Any]:
        if request["TopicArn"] not in self.topics:
            raise client_error("NotFound", "GetTopicAttributes")
        return {"Attributes": {"KmsMasterKeyId": "alias/of-topics"}}

    def describe_key(self, **request: Any) -> dict[str, Any]:
        assert request == {"KeyId": "alias/of-topics"}
        arn = "arn:aws:kms:eu-west-1:111122223333:key/1234"
        known = {"KeyManager": self.manager, "KeyState": self.key_state}
        return {"KeyMetadata": {"KeyId": "1234", "Arn": arn, **known}}

    def get_key_policy(self, **request: Any) -> dict[str, Any]:
        if self.denied:
            raise client_error(self.denied, "GetKeyPolicy")
        if request["KeyId"] != "1234":
            # It takes no alias.
            raise client_error("NotFoundException", "GetKeyPolicy")
        return {"Policy": self.key_policy}

    def get_paginator(self, operation: str) -> Any:
        assert operation == "list_subscriptions_by_topic"
        return self

    def paginate(self, **_: Any) -> list[dict[str, Any]]:
        found = [
            {"Protocol": protocol, "Endpoint": endpoint, "SubscriptionArn": arn}
            for protocol, endpoint, arn in self.subscriptions
        ]
        return [{"Subscriptions": found}]


@pytest.fixture
def account() -> Iterator[FakeAccount]:
    """An account with a bucket and the stacks of a deployment."""
    with mock_aws():
        account = FakeAccount()
        account.session.client("s3").create_bucket(Bucket=BUCKET)
        topics = {"AlarmTopic": "alarms", "ReportTopic": "reports"}
        account.deploy("kafka-lag-shared", topics | {"Bucket": BUCKET})
        account.deploy("kafka-lag-orders", {"Function": "collector", "LogGroup": "/the/log"})
        account.deploy("kafka-lag-views", {"ViewsUrl": "https://views.example/"})
        yield account


@pytest.fixture
def deployed(account: FakeAccount) -> Deployed:
    return Deployed(account)


def _set(**values: Any) -> Callable[[Deployed], None]:
    """Attributes that change; of `alarms` the names that are given."""

    def breaks(deployed: Deployed) -> None:
        for name, value in values.items():
            was = getattr(deployed, name)
            setattr(deployed, name, was | value if isinstance(was, dict) else value)

    return breaks


def _no_views_stack(deployed: Deployed) -> None:
    deployed.account.session.client("cloudformation").delete_stack(StackName="kafka-lag-views")


PENDING = [("email", "oncall@example.com", "PendingConfirmation")]
CONFIRMED = ("email", "oncall@example.com", "arn:aws:sns:one")
# What is there; `tests/golden/doctor-deployed.txt` has what is found, and nothing else is.
CASES: dict[str, Callable[[Deployed], Any]] = {
    "a run of three minutes ago": lambda each: each.put_run(3),
    "no later run": lambda each: each.put_run(3.1),
    "heartbeat in alarm": _set(alarms={"heartbeat": "ALARM"}),
    "no topic": _set(topics=set()),
    "closed key": _set(key_policy="{}"),
    "key of AWS": _set(manager="AWS"),
    "disabled key": _set(key_state="Disabled"),
    "no right on it": _set(denied="AccessDeniedException"),
    "not confirmed": _set(subscriptions=PENDING),
    "gone": _set(subscriptions=[("email", "somebody@example.com", "arn:aws:sns:one")]),
    "nobody": _set(subscriptions=[]),
    "others are not confirmed": _set(
        subscriptions=[CONFIRMED, ("email", "x@example.com", "PendingConfirmation")]
    ),
    "open views": _set(status=200),
    "views that want a token": _set(status=401),
    # The last, as it is not put back.
    "no stack": _no_views_stack,
}


def test_what_is_broken_is_a_finding_and_nothing_else_is(
    account: FakeAccount, golden: Golden
) -> None:
    lines = []

    def write(name: str, found: Iterable[Finding]) -> None:
        for each in found:
            parts = [f"{each.severity} {each.check}: {each.what}", each.why, each.repair]
            lines.append(f"{name} -> {' | '.join(part for part in parts if part)}")

    write("all is well", Deployed(account).findings().values())
    for name, breaks in CASES.items():
        deployed = Deployed(account)
        breaks(deployed)
        bad = [each for each in deployed.findings().values() if each.severity != "ok"]
        write(name, bad)
        if not bad:
            lines.append(f"{name} -> ok")
    text = re.sub(r"(?<=newest snapshot is of )[0-9: -]+ UTC", "NOW", "\n".join(lines))
    golden.holds("doctor-deployed.txt", text)


def test_views_with_a_token_answer_for_themselves(deployed: Deployed) -> None:
    for status, severity in ((401, "ok"), (403, "fault"), (200, "fault")):
        deployed.status = status
        assert deployed.findings(views={"auth": "bearer"})["views"].severity == severity


def test_an_address_that_nobody_confirmed_is_named_and_no_secret_is(deployed: Deployed) -> None:
    notify = {"email": ["Second@example.com"], "https": ["https://pager.example/v2/secret"]}
    found = deployed.findings(notify=notify)["subscriptions"]
    assert found.what.startswith(
        "not confirmed, or gone: Second@example.com of AlarmTopic, https://pager.example/... of "
        "AlarmTopic, Second@example.com of ReportTopic"
    )
    assert "secret" not in found.what
    deployed.subscriptions = [
        ("email", "second@example.com", "arn:aws:sns:one"),
        ("https", "https://pager.example/v2/secret", "arn:aws:sns:two"),
    ]
    assert deployed.findings(notify=notify)["subscriptions"].severity == "ok"


def test_owners_are_subscribed_to_reports(deployed: Deployed) -> None:
    notify = SHARED["notify"] | {"owners": {"payments": {"email": ["payments@example.com"]}}}
    found = deployed.findings(notify=notify, status_messages={})["subscriptions"]
    assert "gone: payments@example.com of ReportTopic (" in found.what


def test_chats_have_a_stack_in_their_accounts_first_region(deployed: Deployed) -> None:
    channel = {"name": "lag", "workspace_id": "T0123ABCD", "channel_id": "C0123ABCD"}
    notify = SHARED["notify"] | {"slack": [channel]}
    theirs = json.dumps(cluster_json(name="users"))
    first = json.loads(theirs.replace("111122223333", ACCOUNT))
    assert "kafka-lag-chat is absent" in deployed.findings(first, notify=notify)["stacks"].what
    deployed.account.deploy("kafka-lag-chat", region="eu-west-1")
    assert deployed.findings(first, notify=notify)["stacks"].severity == "ok"
