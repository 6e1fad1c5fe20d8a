# SPDX-License-Identifier: Apache-2.0
"""What runs in an account beside what is expected, each thing broken in turn."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
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
from tests.infra.configured import cluster_json

SHARED: dict[str, Any] = {"notify": {"email": ["oncall@example.com"]}, "views": {}}
SERVICE = {"Service": "cloudwatch.amazonaws.com"}
OWN = {"StringEquals": {"aws:SourceAccount": ACCOUNT}}


def policy(*statements: dict[str, Any]) -> str:
    return json.dumps({"Statement": [{"Effect": "Allow", "Resource": "*"} | s for s in statements]})


def let(action: Any, **more: Any) -> dict[str, Any]:
    return {"Principal": SERVICE, "Action": action} | more


# As the deployment's own are.
OVER_TLS = {
    "Effect": "Deny",
    "Principal": "*",
    "Action": "sns:Publish",
    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
}
USES = ["kms:Decrypt", "kms:GenerateDataKey*"]
TOPIC_POLICY = policy(let("sns:Publish", Condition=OWN), OVER_TLS)
KEY_POLICY = policy(let(USES, Condition=OWN))
# SNS's own of a topic that was given none, and KMS's of a key.
DEFAULT_TOPIC_POLICY = policy(
    {
        "Principal": {"AWS": "*"},
        "Action": ["SNS:GetTopicAttributes", "SNS:Publish", "SNS:Subscribe"],
        "Condition": {"StringEquals": {"AWS:SourceOwner": ACCOUNT}},
    }
)
DEFAULT_KEY_POLICY = policy(
    {"Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}, "Action": "kms:*"}
)
SCHEDULED = {"Id": "jr_1", "JobRunState": "SUCCEEDED", "TriggerName": "Daily"}
BUCKET, MINUTE_MS = "kafka-lag-data", 60_000


class Deployed:
    """An account in which a deployment runs and all is well; the fake of six services."""

    def __init__(self, account: FakeAccount) -> None:
        self.account = account
        self.now = time.time()
        self.status = 403
        self.servers = "b-1.example:9096,b-2.example:9096"
        self.alarms = {"heartbeat": "OK", "broker-disk": "OK", "broker-cpu": "ALARM"}
        self.history = ["Alarm updated from INSUFFICIENT_DATA to OK"]
        self.subscriptions = [("email", "oncall@example.com", "arn:aws:sns:one")]
        self.topic_policy, self.key_policy = TOPIC_POLICY, KEY_POLICY
        self.topics = {"alarms", "reports"}
        self.manager, self.key_state = "CUSTOMER", "Enabled"
        self.runs: list[dict[str, Any]] = [SCHEDULED]
        self.points = {contract.COLLECTOR_SUCCESS: 1.0, contract.DAILY_REPORT_SUCCESS: 1.0}
        self.streams = [{"logStreamName": "jr_1-driver"}]
        self.denied = ""
        for name in ("cloudwatch", "sns", "kms", "glue", "logs", "lambda"):
            account.session.fakes[name] = self
        account.session.client("s3").create_bucket(Bucket=BUCKET)
        self.put_run(minutes_ago=1)
        self.expire("history", "reports", "abandoned-uploads")
        outputs = {"Bucket": BUCKET, "AlarmTopic": "alarms", "ReportTopic": "reports"}
        self.stack("kafka-lag-shared", **outputs, DailyReportJob="job")
        self.stack("kafka-lag-orders", Function="collector", LogGroup="/the/log")
        self.stack("kafka-lag-views", ViewsUrl="https://views.example/")

    def stack(self, name: str, region: str = REGION, **outputs: str) -> None:
        body = {
            "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
            "Outputs": {key: {"Value": value} for key, value in outputs.items()},
        }
        cloudformation = self.account.session.client("cloudformation", region)
        cloudformation.create_stack(StackName=name, TemplateBody=json.dumps(body))

    def put_run(self, minutes_ago: float) -> None:
        client = self.account.session.client("s3")
        for each in client.list_objects_v2(Bucket=BUCKET).get("Contents", []):
            client.delete_object(Bucket=BUCKET, Key=each["Key"])
        # The key has seconds.
        self.now = int(self.now)
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
        return {"Attributes": {"Policy": self.topic_policy, "KmsMasterKeyId": "alias/of-topics"}}

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
def deployed() -> Iterator[Deployed]:
    with mock_aws():
        yield Deployed(FakeAccount())


def test_where_all_runs_each_check_says_what_was_expected(deployed: Deployed) -> None:
    found = deployed.findings()
    assert {each.severity for each in found.values()} == {"ok"}, found
    assert all("(expected: " in each.what for each in found.values())
    assert list(found) == [
        "stacks",
        "runs",
        "brokers' addresses",
        "metrics",
        "heartbeat",
        "alarms on brokers",
        "topic of alarms",
        "subscriptions",
        "views",
        "daily report",
        "daily report's log",
        "daily report's metric",
        "what expires",
    ]


def _set(**values: Any) -> Callable[[Deployed], None]:
    def breaks(deployed: Deployed) -> None:
        for name, value in values.items():
            setattr(deployed, name, value)

    return breaks


def _old_run(deployed: Deployed) -> None:
    deployed.put_run(minutes_ago=3.1)


def _no_metric(deployed: Deployed) -> None:
    del deployed.points[contract.COLLECTOR_SUCCESS]


def _no_success(deployed: Deployed) -> None:
    deployed.points[contract.DAILY_REPORT_SUCCESS] = 0.0


def _dead(deployed: Deployed) -> None:
    deployed.alarms["heartbeat"] = "ALARM"


def _no_disks(deployed: Deployed) -> None:
    deployed.alarms["broker-disk"] = "INSUFFICIENT_DATA"


def _nothing_expires(deployed: Deployed) -> None:
    deployed.expire("history")


def _no_views_stack(deployed: Deployed) -> None:
    deployed.account.session.client("cloudformation").delete_stack(StackName="kafka-lag-views")


def _no_topic(deployed: Deployed) -> None:
    deployed.topics.clear()


_FAILED = [SCHEDULED | {"JobRunState": "FAILED"}]
_DENIED = policy(let("sns:Publish"), let("sns:Publish", Effect="Deny"))
_PENDING = [("email", "oncall@example.com", "PendingConfirmation")]
_ANOTHER = [("email", "somebody@example.com", "arn:aws:sns:one")]


@pytest.mark.parametrize(
    ("breaks", "checks"),
    [
        pytest.param(_old_run, {"runs"}, id="no-run-of-the-last-three-minutes"),
        pytest.param(_set(servers="b:9098"), {"brokers' addresses"}, id="another-logins-port"),
        pytest.param(_set(servers=""), {"brokers' addresses"}, id="no-address"),
        pytest.param(_no_metric, {"metrics"}, id="no-metric"),
        pytest.param(_dead, {"heartbeat"}, id="heartbeat-in-alarm"),
        pytest.param(_no_disks, {"alarms on brokers"}, id="no-metrics-of-brokers"),
        pytest.param(_set(topic_policy="{}"), {"topic of alarms"}, id="closed-topic"),
        pytest.param(_set(topic_policy=_DENIED), {"topic of alarms"}, id="denied-topic"),
        pytest.param(_no_topic, {"topic of alarms"}, id="no-topic"),
        pytest.param(_set(key_policy="{}"), {"topic of alarms"}, id="closed-key"),
        pytest.param(_set(key_policy=DEFAULT_KEY_POLICY), {"topic of alarms"}, id="key-of-iam"),
        pytest.param(
            _set(key_policy=policy(let(USES[:1]))), {"topic of alarms"}, id="key-that-decrypts-only"
        ),
        pytest.param(_set(manager="AWS"), {"topic of alarms"}, id="key-of-aws"),
        pytest.param(_set(key_state="Disabled"), {"topic of alarms"}, id="disabled-key"),
        pytest.param(_set(subscriptions=_PENDING), {"subscriptions"}, id="not-confirmed"),
        pytest.param(_set(subscriptions=_ANOTHER), {"subscriptions"}, id="gone"),
        pytest.param(_set(subscriptions=[]), {"subscriptions"}, id="nobody"),
        pytest.param(_set(status=200), {"views"}, id="open-views"),
        pytest.param(_set(status=401), {"views"}, id="views-that-want-a-token"),
        pytest.param(_set(runs=_FAILED), {"daily report"}, id="failed-report"),
        pytest.param(_set(streams=[]), {"daily report's log"}, id="log-elsewhere"),
        pytest.param(_no_success, {"daily report's metric"}, id="report-without-metric"),
        pytest.param(_nothing_expires, {"what expires"}, id="nothing-expires"),
        pytest.param(_no_views_stack, {"stacks", "views"}, id="a-stack-is-gone"),
    ],
)
def test_what_is_broken_is_a_fault_and_nothing_else_is(
    deployed: Deployed, breaks: Callable[[Deployed], None], checks: set[str]
) -> None:
    breaks(deployed)
    found = deployed.findings()
    assert {name for name, each in found.items() if each.severity == "fault"} == checks
    assert all(found[name].why for name in checks)


def test_before_the_first_night_the_report_is_no_fault(deployed: Deployed) -> None:
    deployed.runs, deployed.points = [], {contract.COLLECTOR_SUCCESS: 1.0}
    found = deployed.findings()
    assert {name: each.severity for name, each in found.items() if each.severity != "ok"} == {
        "daily report": "info",
        "daily report's log": "info",
        "daily report's metric": "info",
    }


def test_a_run_of_three_minutes_ago_is_in_time(deployed: Deployed) -> None:
    deployed.put_run(minutes_ago=3)
    assert deployed.findings()["runs"].severity == "ok"


def test_a_bucket_of_the_users_has_its_own_rules(deployed: Deployed) -> None:
    assert "what expires" not in deployed.findings(existing_buckets={REGION: "ours"})


def test_a_check_without_its_right_names_it_and_the_others_are_made(deployed: Deployed) -> None:
    deployed.denied = "AccessDeniedException"
    found = deployed.findings()
    assert found["topic of alarms"].severity == "unknown"
    assert "kms:GetKeyPolicy" in found["topic of alarms"].what
    assert found["views"].severity == "ok"


def test_the_policy_that_sns_gives_a_topic_is_no_fault(deployed: Deployed) -> None:
    deployed.topic_policy = DEFAULT_TOPIC_POLICY
    assert deployed.findings()["topic of alarms"].severity == "ok"


def test_a_condition_that_is_not_judged_is_a_warning(deployed: Deployed) -> None:
    deployed.topic_policy = policy(
        let("sns:Publish", Condition={"IpAddress": {"aws:SourceIp": "192.0.2.0/24"}})
    )
    found = deployed.findings()["topic of alarms"]
    assert (found.severity, "a condition that is not judged" in found.what) == ("warning", True)


def test_what_is_wrong_with_the_topic_is_said_in_its_own_words(deployed: Deployed) -> None:
    deployed.manager = "AWS"
    assert "which AWS manages" in deployed.findings()["topic of alarms"].what
    deployed.topics.clear()
    assert deployed.findings()["topic of alarms"].what == "there is no topic alarms"


def test_a_page_of_the_first_half_hour_is_a_warning_where_all_is_well_now(
    deployed: Deployed,
) -> None:
    deployed.history = ["Alarm updated from INSUFFICIENT_DATA to ALARM"]
    found = deployed.findings()["heartbeat"]
    assert found.severity == "warning"
    assert found.why.startswith("It is well now")
    deployed.alarms["heartbeat"] = "ALARM"
    assert deployed.findings()["heartbeat"].severity == "fault"


def test_a_run_that_is_not_over_is_no_verdict(deployed: Deployed) -> None:
    first, second = (datetime(2026, 3, day, 1, tzinfo=UTC) for day in (1, 2))
    going = {"Id": "jr_2", "JobRunState": "RUNNING", "StartedOn": second}
    deployed.runs, deployed.streams = [going], []
    del deployed.points[contract.DAILY_REPORT_SUCCESS]
    found = deployed.findings()
    assert found["daily report"].what == "a run is not over: RUNNING, begun 2026-03-02 01:00 UTC"
    assert {each.severity for name, each in found.items() if "report" in name} == {"info"}
    deployed.runs = [_FAILED[0] | {"StartedOn": first}, going]
    assert deployed.findings()["daily report"].severity == "fault"
    deployed.runs = [SCHEDULED | {"StartedOn": first}, going]
    assert deployed.findings()["daily report"].severity == "ok"


def test_a_run_by_hand_owes_no_metric(deployed: Deployed) -> None:
    del deployed.points[contract.DAILY_REPORT_SUCCESS]
    by_hand = {"Id": "jr_2", "JobRunState": "SUCCEEDED"}
    deployed.runs = [by_hand]
    assert deployed.findings()["daily report's metric"].severity == "info"
    deployed.runs = [by_hand, SCHEDULED]
    assert deployed.findings()["daily report's metric"].severity == "fault"


def test_other_peoples_subscriptions_are_theirs(deployed: Deployed) -> None:
    deployed.subscriptions.append(("email", "somebody@example.com", "PendingConfirmation"))
    assert deployed.findings()["subscriptions"].severity == "ok"


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


@pytest.mark.parametrize(("status", "severity"), [(401, "ok"), (403, "fault"), (200, "fault")])
def test_views_with_a_token_answer_for_themselves(
    deployed: Deployed, status: int, severity: str
) -> None:
    deployed.status = status
    assert deployed.findings(views={"auth": "bearer"})["views"].severity == severity


def test_chats_have_a_stack_in_their_accounts_first_region(deployed: Deployed) -> None:
    channel = {"name": "lag", "workspace_id": "T0123ABCD", "channel_id": "C0123ABCD"}
    notify = SHARED["notify"] | {"slack": [channel]}
    theirs = json.dumps(cluster_json(name="users"))
    first = json.loads(theirs.replace("111122223333", ACCOUNT))
    assert "kafka-lag-chat is absent" in deployed.findings(first, notify=notify)["stacks"].what
    deployed.stack("kafka-lag-chat", "eu-west-1")
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
