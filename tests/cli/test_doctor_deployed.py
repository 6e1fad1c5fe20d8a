# SPDX-License-Identifier: Apache-2.0
"""What runs in an account beside what is expected, each thing broken in turn."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws

from kafka_lag import contract
from kafka_lag.snapshots.keys import object_key
from kafka_lag_cdk.config.reading import check
from kafka_lag_cli.doctor.deployed import check_deployed
from kafka_lag_cli.doctor.findings import Finding, collect_findings
from kafka_lag_cli.doctor.place import Place
from tests.cli.fake_aws import ACCOUNT, REGION, FakeAccount, client_error
from tests.golden import Golden
from tests.infra.configured import cluster_json

SHARED: dict[str, Any] = {"notify": {"email": ["oncall@example.com"]}, "views": {}}
SERVICE = {"Service": "cloudwatch.amazonaws.com"}


KEY_POLICY = json.dumps({"Statement": [{"Effect": "Allow", "Principal": SERVICE, "Action": "*"}]})
SCHEDULED = {"Id": "jr_1", "JobRunState": "SUCCEEDED", "TriggerName": "Daily"}
BUCKET = "kafka-lag-data"


class Deployed:
    """An account in which a deployment runs and all is well; the fake of six services."""

    def __init__(self, account: FakeAccount) -> None:
        self.account = account
        # The key of a snapshot has seconds.
        self.now = int(time.time())
        self.status = 403
        self.servers = "b-1.example:9096,b-2.example:9096"
        self.alarms = {"heartbeat": "OK", "broker-disk": "OK", "broker-cpu": "ALARM"}
        self.history = ["Alarm updated from INSUFFICIENT_DATA to OK"]
        self.subscriptions = [("email", "oncall@example.com", "arn:aws:sns:one")]
        self.key_policy = KEY_POLICY
        self.topics = {"alarms", "reports"}
        self.manager, self.key_state = "CUSTOMER", "Enabled"
        self.runs: list[dict[str, Any]] = [SCHEDULED]
        self.points = {contract.COLLECTOR_SUCCESS: 1.0, contract.DAILY_REPORT_SUCCESS: 1.0}
        self.streams = [{"logStreamName": "jr_1-driver"}]
        self.denied = ""
        for name in ("cloudwatch", "sns", "kms", "glue", "logs", "lambda"):
            account.session.fakes[name] = self
        self.put_run(minutes_ago=1)
        self.expire("history", "reports", "abandoned-uploads")

    def put_run(self, minutes_ago: float) -> None:
        client = self.account.session.client("s3")
        for each in client.list_objects_v2(Bucket=BUCKET).get("Contents", []):
            client.delete_object(Bucket=BUCKET, Key=each["Key"])
        at = int((self.now - minutes_ago * 60) * 1000)
        client.put_object(Bucket=BUCKET, Key=object_key(contract.GROUPS, "orders", at), Body=b"")

    def expire(self, *names: str) -> None:
        rules = [
            {"ID": name, "Status": "Enabled", "Filter": {"Prefix": name}, "Expiration": {"Days": 9}}
            for name in names
        ]
        self.account.session.client("s3").put_bucket_lifecycle_configuration(
            Bucket=BUCKET, LifecycleConfiguration={"Rules": rules}
        )

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

    def get_function_configuration(self, **_: Any) -> dict[str, Any]:
        return {"Environment": {"Variables": {"KAFKA_LAG_BOOTSTRAP_SERVERS": self.servers}}}

    def get_metric_statistics(self, **request: Any) -> dict[str, Any]:
        value = self.points.get(request["MetricName"])
        return {"Datapoints": [] if value is None else [{"Maximum": value}]}

    def describe_alarms(self, **request: Any) -> dict[str, Any]:
        states = {f"kafka-lag/orders/{name}": state for name, state in self.alarms.items()}
        names = [name for name in request["AlarmNames"] if name in states]
        return {"MetricAlarms": [{"AlarmName": n, "StateValue": states[n]} for n in names]}

    def describe_alarm_history(self, **_: Any) -> dict[str, Any]:
        return {"AlarmHistoryItems": [{"HistorySummary": each} for each in self.history]}

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

    def get_job_runs(self, **_: Any) -> dict[str, Any]:
        return {"JobRuns": self.runs}

    def describe_log_streams(self, **_: Any) -> dict[str, Any]:
        return {"logStreams": self.streams}

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
        account.deploy("kafka-lag-shared", topics | {"Bucket": BUCKET, "DailyReportJob": "job"})
        account.deploy("kafka-lag-orders", {"Function": "collector", "LogGroup": "/the/log"})
        account.deploy("kafka-lag-views", {"ViewsUrl": "https://views.example/"})
        yield account


@pytest.fixture
def deployed(account: FakeAccount) -> Deployed:
    return Deployed(account)


def _set(**values: Any) -> Callable[[Deployed], None]:
    """Attributes that change; of `alarms` and `points` the names that are given."""

    def breaks(deployed: Deployed) -> None:
        for name, value in values.items():
            was = getattr(deployed, name)
            setattr(deployed, name, was | value if isinstance(was, dict) else value)

    return breaks


def _no_views_stack(deployed: Deployed) -> None:
    deployed.account.session.client("cloudformation").delete_stack(StackName="kafka-lag-views")


def _page_of_the_start(state: str) -> Callable[[Deployed], None]:
    """The heartbeat's alarm went off in the first half hour, and is in this state now."""
    started = ["Alarm updated from INSUFFICIENT_DATA to ALARM"]
    return _set(history=started, alarms={"heartbeat": state})


FIRST, SECOND = (datetime(2026, 3, day, 1, tzinfo=UTC) for day in (1, 2))
GOING = {"Id": "jr_2", "JobRunState": "RUNNING", "StartedOn": SECOND}
FAILED = SCHEDULED | {"JobRunState": "FAILED", "StartedOn": FIRST}
BY_HAND = {"Id": "jr_2", "JobRunState": "SUCCEEDED"}
UNMEASURED = {contract.DAILY_REPORT_SUCCESS: None}
PENDING = [("email", "oncall@example.com", "PendingConfirmation")]
CONFIRMED = ("email", "oncall@example.com", "arn:aws:sns:one")
# What is there; `tests/golden/doctor-deployed.txt` has what is found, and nothing else is.
CASES: dict[str, Callable[[Deployed], Any]] = {
    "a run of three minutes ago": lambda each: each.put_run(3),
    "no later run": lambda each: each.put_run(3.1),
    "another login's port": _set(servers="b:9098"),
    "no address": _set(servers=""),
    "no metric": _set(points={contract.COLLECTOR_SUCCESS: None}),
    "heartbeat in alarm": _set(alarms={"heartbeat": "ALARM"}),
    "a page of the start": _page_of_the_start("OK"),
    "a page that goes on": _page_of_the_start("ALARM"),
    "no metrics of brokers": _set(alarms={"broker-disk": "INSUFFICIENT_DATA"}),
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
    "no night yet": _set(runs=[], points=UNMEASURED),
    "a run goes on": _set(runs=[GOING], points=UNMEASURED),
    "after one that failed": _set(runs=[FAILED, GOING]),
    "failed report": _set(runs=[FAILED]),
    "log elsewhere": _set(streams=[]),
    "report without metric": _set(points={contract.DAILY_REPORT_SUCCESS: 0.0}),
    "run by hand": _set(runs=[BY_HAND], points=UNMEASURED),
    "and by the trigger": _set(runs=[BY_HAND, SCHEDULED], points=UNMEASURED),
    "nothing expires": lambda each: each.expire("history"),
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


def test_a_bucket_of_the_users_has_its_own_rules(deployed: Deployed) -> None:
    assert "what expires" not in deployed.findings(existing_buckets={REGION: "ours"})


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


def test_a_stack_in_another_account_is_named_and_not_looked_at(deployed: Deployed) -> None:
    scaling = {
        "group": "billing",
        "ecs_cluster": "prod",
        "service": "billing",
        "account": "444455556666",
        "partitions": 4,
        "max": 4,
        "tasks": {},
    }
    found = deployed.findings(cluster={"scaling": [scaling]})
    assert found["stacks"].severity == "ok"
    assert found["stacks elsewhere"].severity == "unknown"
    assert found["stacks elsewhere"].what.startswith("kafka-lag-orders-scaling in 444455556666:")
