# SPDX-License-Identifier: Apache-2.0
"""What a deploy would meet in an account's limits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws

from kafka_lag_cdk.config.reading import check
from kafka_lag_cli.doctor.findings import Finding, collect_findings
from kafka_lag_cli.doctor.limits import ALARMS, CONCURRENCY, INTERFACES, check_limits
from kafka_lag_cli.doctor.place import Place
from tests.cli.fake_aws import FakeAccount
from tests.golden import Golden

BEARER: dict[str, Any] = {"views": {"auth": "bearer"}}


@pytest.fixture
def account() -> Iterator[FakeAccount]:
    with mock_aws():
        yield FakeAccount()


def findings(
    account: FakeAccount, shared: dict[str, Any] | None = None, **cluster: Any
) -> dict[str, Finding]:
    """The one finding of each check."""
    document = account.document(**cluster) | {"shared": shared or {}}
    deployment = check(document, "the test's document", Path())
    place = Place(deployment, deployment.clusters[0], account.session)
    return {
        name: found
        for name, checked in check_limits(place)
        for found in collect_findings(name, checked)
    }


CASES: dict[str, tuple[int, dict[str, Any], dict[str, Any], str]] = {
    "nothing is reserved in a new account": (10, {}, {}, "ok"),
    "views in a new account": (10, BEARER, {}, "fault"),
    "one too few": (109, BEARER, {}, "fault"),
    "just enough": (110, BEARER, {}, "ok"),
    "a collector takes one more": (110, BEARER, {"function": {"alone": True}}, "fault"),
    "messages": (100, {"status_messages": {"alone": True}}, {}, "fault"),
    "views with IAM reserve none": (10, {"views": {}}, {}, "ok"),
}


def test_concurrency_that_is_reserved_has_to_be_there(account: FakeAccount, golden: Golden) -> None:
    lines = []
    for name, (free, shared, cluster, severity) in CASES.items():
        account.functions.total = account.functions.free = free
        found = findings(account, shared, **cluster)[CONCURRENCY]
        assert found.severity == severity, name
        # The quota of executions at once.
        assert ("L-B99A9384" in str(found.repair)) == (severity == "fault")
        lines.append(f"{name} -> {' | '.join(filter(None, (found.what, found.why, found.repair)))}")
    golden.holds("doctor-limits.txt", "\n".join(lines))


def deploy(account: FakeAccount, stack: str, output: str, value: str) -> None:
    body = {
        "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
        "Outputs": {output: {"Value": value}},
    }
    cloudformation = account.session.client("cloudformation")
    cloudformation.create_stack(StackName=stack, TemplateBody=json.dumps(body))


def test_what_a_deployed_function_has_reserved_is_no_more(account: FakeAccount) -> None:
    deploy(account, "kafka-lag-views", "ViewsFunction", "arn:views")
    account.functions.reserved["arn:views"] = 10
    account.functions.total, account.functions.free = 110, 100
    assert findings(account, BEARER)[CONCURRENCY].severity == "ok"
    account.functions.reserved["arn:views"] = 9
    assert findings(account, BEARER)[CONCURRENCY].severity == "fault"


def test_alarms_of_this_deployment_are_counted_once(account: FakeAccount) -> None:
    cloudwatch = account.session.client("cloudwatch")
    for name in ("kafka-lag/orders/heartbeat", "somebody-elses"):
        cloudwatch.put_metric_alarm(
            AlarmName=name,
            ComparisonOperator="GreaterThanThreshold",
            EvaluationPeriods=1,
            MetricName="m",
            Namespace="n",
            Period=60,
            Statistic="Maximum",
            Threshold=1,
        )
    found = findings(account)[ALARMS]
    assert (found.severity, found.what) == (
        "ok",
        "11 of this deployment and 1 others in us-east-1",
    )


class CompositeAlarms:
    """CloudWatch with one alarm of each type, of which it names those that it is asked for."""

    def get_paginator(self, operation: str) -> CompositeAlarms:
        assert operation == "describe_alarms"
        return self

    def paginate(
        self,
        AlarmTypes: tuple[str, ...] = ("MetricAlarm",),  # noqa: N803 - AWS's
    ) -> list[dict[str, Any]]:
        return [{f"{kind}s": [{"AlarmName": kind}] for kind in AlarmTypes}]


def test_composite_alarms_count_too(account: FakeAccount) -> None:
    account.session.fakes["cloudwatch"] = CompositeAlarms()
    assert findings(account)[ALARMS].what == "11 of this deployment and 2 others in us-east-1"


def test_more_alarms_than_a_region_takes_are_warned_of(account: FakeAccount) -> None:
    groups = [f"group-{number}" for number in range(2500)]
    levels = {"max_metrics": 100_000}
    found = findings(account, alarms={"groups": groups}, levels=levels)[ALARMS]
    assert found.severity == "warning"
    assert found.what.startswith("5011 of this deployment and 0 others")
    fewer = findings(account, alarms={"groups": groups[:2490]}, levels=levels)[ALARMS]
    assert fewer.severity == "ok"


def test_alarms_on_what_is_unusual_of_a_group_are_counted(account: FakeAccount) -> None:
    found = findings(account, alarms={"groups": ["a", "b"], "anomalies": ["a"]})[ALARMS]
    assert found.what.startswith("16 of this deployment")


def test_interfaces_are_one_a_subnet(account: FakeAccount) -> None:
    found = findings(account)[INTERFACES]
    assert (found.severity, found.what) == ("ok", f"2 of this deployment in {account.vpc}")


def test_a_subnet_without_an_address_is_a_fault(account: FakeAccount) -> None:
    full = account.new_subnet("10.0.200.0/28", "a")
    for _ in range(11):
        account.ec2.create_network_interface(SubnetId=full)
    vpc = account.document()["clusters"][0]["vpc"] | {"subnets": [full]}
    found = findings(account, vpc=vpc)[INTERFACES]
    assert found.severity == "fault"
    assert found.what == f"{full} has no address left for 1 of them"


@pytest.mark.parametrize(
    ("right", "name"),
    [
        ("lambda:GetAccountSettings", CONCURRENCY),
        ("cloudwatch:DescribeAlarms", ALARMS),
        ("ec2:DescribeNetworkInterfaces", INTERFACES),
    ],
)
def test_a_check_without_its_right_names_it(account: FakeAccount, right: str, name: str) -> None:
    account.session.denied = {right}
    found = findings(account)[name]
    assert found.severity == "unknown"
    assert right in found.what
