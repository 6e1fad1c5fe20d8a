# SPDX-License-Identifier: Apache-2.0
"""What a deploy would meet in an account's limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


# Executions that are unreserved, what is shared, and what the cluster says.
CASES: dict[str, tuple[int, dict[str, Any], dict[str, Any]]] = {
    "nothing is reserved in a new account": (10, {}, {}),
    "views in a new account": (10, BEARER, {}),
    "one too few": (109, BEARER, {}),
    "just enough": (110, BEARER, {}),
    "a collector takes one more": (110, BEARER, {"function": {"alone": True}}),
    "messages": (100, {"status_messages": {"alone": True}}, {}),
    "views with IAM reserve none": (10, {"views": {}}, {}),
}


def test_concurrency_that_is_reserved_has_to_be_there(account: FakeAccount, golden: Golden) -> None:
    lines = []

    def look(name: str, free: int, shared: dict[str, Any], **cluster: Any) -> None:
        account.functions.free = free
        found = findings(account, shared, **cluster)[CONCURRENCY]
        parts = (f"{found.severity}: {found.what}", found.why, found.repair)
        lines.append(f"{name} -> {' | '.join(filter(None, parts))}")

    for name, (free, shared, cluster) in CASES.items():
        account.functions.total = free
        look(name, free, shared, **cluster)
    account.functions.total = 110
    account.deploy("kafka-lag-views", {"ViewsFunction": "arn:views"})
    for reserved in (10, 9):
        account.functions.reserved["arn:views"] = reserved
        look(f"{reserved} are reserved by what is deployed", 100, BEARER)
    golden.holds("doctor-limits.txt", "\n".join(lines))


class FakeAlarms:
    """CloudWatch with these metric alarms and a composite one, if both types are asked for."""

    def __init__(self, *names: str) -> None:
        self.names: dict[str, Sequence[str]] = {"MetricAlarm": names, "CompositeAlarm": ["both"]}

    def get_paginator(self, operation: str) -> FakeAlarms:
        assert operation == "describe_alarms"
        return self

    def paginate(
        self,
        AlarmTypes: tuple[str, ...] = ("MetricAlarm",),  # noqa: N803 - AWS's
    ) -> list[dict[str, Any]]:
        return [
            {f"{kind}s": [{"AlarmName": name} for name in self.names[kind]]} for kind in AlarmTypes
        ]


def test_alarms_are_counted_with_those_of_others(account: FakeAccount) -> None:
    # Those of this deployment are counted once.
    there = FakeAlarms("kafka-lag/orders/heartbeat", "somebody-elses", "another")
    account.session.fakes["cloudwatch"] = there
    groups = [f"group-{number}" for number in range(2_494)]
    rows: list[tuple[dict[str, Any], str, int]] = [
        ({}, "ok", 11),
        # One on what is unusual of a group.
        ({"groups": ["a", "b"], "anomalies": ["a"]}, "ok", 16),
        # A region takes 5,000.
        ({"groups": groups[:-1]}, "ok", 4_997),
        ({"groups": groups}, "warning", 4_999),
    ]
    for alarms, severity, ours in rows:
        levels = {"max_metrics": 100_000}
        found = findings(account, alarms=alarms, levels=levels)[ALARMS]
        said = f"{ours} of this deployment and 3 others in us-east-1"
        assert (found.severity, found.what) == (severity, said)


def test_interfaces_are_one_a_subnet_and_each_needs_an_address(account: FakeAccount) -> None:
    found = findings(account)[INTERFACES]
    assert (found.severity, found.what) == ("ok", f"2 of this deployment in {account.vpc}")
    full = account.new_subnet("10.0.200.0/28", "a")
    for _ in range(11):
        account.ec2.create_network_interface(SubnetId=full)
    vpc = account.document()["clusters"][0]["vpc"] | {"subnets": [full]}
    found = findings(account, vpc=vpc)[INTERFACES]
    assert found.severity == "fault"
    assert found.what == f"{full} has no address left for 1 of them"


def test_a_check_without_its_right_names_it(account: FakeAccount) -> None:
    for right, name in (
        ("lambda:GetAccountSettings", CONCURRENCY),
        ("cloudwatch:DescribeAlarms", ALARMS),
        ("ec2:DescribeNetworkInterfaces", INTERFACES),
    ):
        account.session.denied = {right}
        found = findings(account)[name]
        assert found.severity == "unknown"
        assert right in found.what
