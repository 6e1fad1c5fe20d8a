# SPDX-License-Identifier: Apache-2.0
"""Checks whether an account has the concurrency that a deploy would reserve."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws
from moto.cloudformation.models import cloudformation_backends

from kafka_lag_cli.doctor.findings import Finding, collect_findings
from kafka_lag_cli.doctor.limits import CONCURRENCY, check_concurrency
from kafka_lag_cli.doctor.place import Place
from kafka_lag_config.reading import check
from tests.cli.fake_aws import ACCOUNT, REGION, FakeAccount
from tests.golden import Golden

BEARER: dict[str, Any] = {"views": {"auth": "bearer"}}


@pytest.fixture
def account() -> Iterator[FakeAccount]:
    with mock_aws():
        yield FakeAccount()


def check_it(account: FakeAccount, shared: dict[str, Any] | None = None, **cluster: Any) -> Finding:
    document = account.document(**cluster) | {"shared": shared or {}}
    deployment = check(document, "the test's document", Path())
    place = Place(deployment, deployment.clusters[0], account.session)
    (found,) = collect_findings(CONCURRENCY, check_concurrency(place))
    return found


# Executions that are unreserved, what is shared, and what the cluster says.
CASES: dict[str, tuple[int, dict[str, Any], dict[str, Any]]] = {
    "nothing is reserved in a new account": (10, {}, {}),
    "views in a new account": (10, BEARER, {}),
    "one too few": (109, BEARER, {}),
    "just enough": (110, BEARER, {}),
    "a collector takes one more": (110, BEARER, {"function": {"reserved_concurrency": 1}}),
    "messages": (100, {"status_messages": {"reserved_concurrency": 1}}, {}),
    "views with IAM reserve none": (10, {"views": {}}, {}),
}


def test_concurrency_that_is_reserved_has_to_be_there(account: FakeAccount, golden: Golden) -> None:
    lines = []

    def look(name: str, free: int, shared: dict[str, Any], **cluster: Any) -> None:
        account.functions.free = free
        found = check_it(account, shared, **cluster)
        parts = (f"{found.severity}: {found.what}", found.why, found.repair)
        lines.append(f"{name} -> {' | '.join(filter(None, parts))}")

    for name, (free, shared, cluster) in CASES.items():
        account.functions.total = free
        look(name, free, shared, **cluster)
    account.functions.total = 110
    account.deploy("kafka-lag-views", {"ViewsFunction": "arn:views"})
    look("what is deployed has its own", 100, BEARER)
    (views,) = cloudformation_backends[ACCOUNT][REGION].stacks.values()
    views.status = "ROLLBACK_COMPLETE"
    look("a first deploy has failed", 100, BEARER)
    golden.holds("doctor-limits.txt", "\n".join(lines))


def test_a_check_without_its_right_names_it(account: FakeAccount) -> None:
    account.session.denied = {"lambda:GetAccountSettings"}
    found = check_it(account)
    assert found.severity == "unknown"
    assert "lambda:GetAccountSettings" in found.what
