# SPDX-License-Identifier: Apache-2.0
"""What runs in an account beside what is expected, each thing broken in turn."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
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
from tests.cli.fake_aws import REGION, FakeAccount, client_error

SHARED = {"notify": {"email": ["oncall@example.com"]}, "views": {}}
LETS_IN = json.dumps({"Statement": [{"Principal": {"Service": "cloudwatch.amazonaws.com"}}]})
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
        self.subscriptions = ["arn:aws:sns:one", "arn:aws:sns:two"]
        self.key_policy = self.topic_policy = LETS_IN
        self.runs: list[dict[str, Any]] = [{"Id": "jr_1", "JobRunState": "SUCCEEDED"}]
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

    def stack(self, name: str, **outputs: str) -> None:
        body = {
            "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
            "Outputs": {key: {"Value": value} for key, value in outputs.items()},
        }
        cloudformation = self.account.session.client("cloudformation")
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

    def findings(self, **shared: Any) -> dict[str, Finding]:
        document = self.account.document() | {"shared": SHARED | shared}
        deployment = check(document, "the test's document", Path())
        place = Place(deployment, deployment.clusters[0], self.account.session)
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

    def get_topic_attributes(self, **_: Any) -> dict[str, Any]:
        return {"Attributes": {"Policy": self.topic_policy, "KmsMasterKeyId": "key"}}

    def get_key_policy(self, **_: Any) -> dict[str, Any]:
        if self.denied:
            raise client_error(self.denied, "GetKeyPolicy")
        return {"Policy": self.key_policy}

    def get_job_runs(self, **_: Any) -> dict[str, Any]:
        return {"JobRuns": self.runs}

    def describe_log_streams(self, **_: Any) -> dict[str, Any]:
        return {"logStreams": self.streams}

    def get_paginator(self, operation: str) -> Any:
        assert operation == "list_subscriptions_by_topic"
        return self

    def paginate(self, **_: Any) -> list[dict[str, Any]]:
        found = [{"Protocol": "email", "SubscriptionArn": each} for each in self.subscriptions]
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


_PAGED = ["Alarm updated from INSUFFICIENT_DATA to ALARM"]
_FAILED = [{"Id": "jr_1", "JobRunState": "FAILED"}]


@pytest.mark.parametrize(
    ("breaks", "checks"),
    [
        pytest.param(_old_run, {"runs"}, id="no-run-of-the-last-three-minutes"),
        pytest.param(_set(servers="b:9098"), {"brokers' addresses"}, id="another-logins-port"),
        pytest.param(_set(servers=""), {"brokers' addresses"}, id="no-address"),
        pytest.param(_no_metric, {"metrics"}, id="no-metric"),
        pytest.param(_set(history=_PAGED), {"heartbeat"}, id="paged-while-it-was-made"),
        pytest.param(_dead, {"heartbeat"}, id="heartbeat-in-alarm"),
        pytest.param(_no_disks, {"alarms on brokers"}, id="no-metrics-of-brokers"),
        pytest.param(_set(topic_policy="{}"), {"topic of alarms"}, id="closed-topic"),
        pytest.param(_set(key_policy="{}"), {"topic of alarms"}, id="closed-key"),
        pytest.param(
            _set(subscriptions=["PendingConfirmation"]), {"subscriptions"}, id="not-confirmed"
        ),
        pytest.param(_set(subscriptions=[]), {"subscriptions"}, id="nobody"),
        pytest.param(_set(status=200), {"views"}, id="open-views"),
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
