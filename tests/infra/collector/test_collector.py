# SPDX-License-Identifier: Apache-2.0
"""A collector's layer, schedule, network and rights, and no other resources.

The whole of each template is in `tests/golden/templates`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_lag.collect_lag import scheduled_time
from kafka_lag_cdk.collector_function import cron_of
from tests.infra.conftest import Options

PLAIN, IAM = "plain", "iam, paused, every five minutes"
ENDPOINTS = "not MSK, with endpoints and a function of its own"
ORDERED = "sinks of every kind"
Of = Callable[[str, str], list[dict[str, Any]]]


@pytest.fixture(name="stacks", scope="module")
def _stacks(options: Options) -> dict[str, dict[str, dict[str, Any]]]:
    """The resources of each option's cluster."""
    titles = options.titles.values()
    return {
        title: options.resources(each)
        for title, each in zip(titles, options.deployment.clusters, strict=True)
    }


@pytest.fixture(name="of", scope="module")
def _of(stacks: dict[str, dict[str, dict[str, Any]]]) -> Of:
    """Properties of all resources of a CloudFormation type in one option's stack."""
    return lambda option, kind: [
        each["Properties"] for each in stacks[option].values() if each["Type"] == f"AWS::{kind}"
    ]


def layer(of: Of, options: Options, option: str) -> Path:
    """Where the layer of the configuration was staged."""
    (found,) = of(option, "Lambda::LayerVersion")
    return options.folder / f"asset.{found['Content']['S3Key'][:-4]}" / "kafka-lag"


def test_the_layer_has_the_document_and_its_authority_for_anybody_to_read(
    of: Of, options: Options
) -> None:
    folder = layer(of, options, ENDPOINTS)
    assert {oct(path.stat().st_mode & 0o777) for path in folder.iterdir()} == {"0o644"}
    assert json.loads((folder / "config.json").read_text())["cafile"] == "ca.pem"
    assert "CERTIFICATE" in (folder / "ca.pem").read_text()


def test_the_document_keeps_the_order_of_its_expressions(of: Of, options: Options) -> None:
    document = json.loads((layer(of, options, ORDERED) / "config.json").read_text())
    assert list(document["allowed_lag"]) == ["^z-", ".*"]


def test_nothing_of_a_cluster_stays_when_its_stack_goes(
    stacks: dict[str, dict[str, dict[str, Any]]],
) -> None:
    resources = [each for stack in stacks.values() for each in stack.values()]
    assert {each.get("DeletionPolicy", "Delete") for each in resources} == {"Delete"}


def test_the_schedule_fires_on_the_minute_and_tells_which(of: Of) -> None:
    (schedule,) = of(PLAIN, "Scheduler::Schedule")
    assert (schedule["ScheduleExpression"], schedule["State"]) == ("cron(* * * * ? *)", "ENABLED")
    assert schedule["Target"]["RetryPolicy"]["MaximumRetryAttempts"] == 0
    sent = schedule["Target"]["Input"]
    text = sent.replace("<aws.scheduler.scheduled-time>", "2026-01-31T12:00:00Z")
    assert scheduled_time(json.loads(text), PLAIN) == 1_769_860_800_000


@pytest.mark.parametrize(
    ("minutes", "expression"),
    [(1, "cron(* * * * ? *)"), (5, "cron(0/5 * * * ? *)"), (60, "cron(0 * * * ? *)")],
)
def test_any_interval_begins_on_its_minute(minutes: int, expression: str) -> None:
    assert cron_of(minutes) == expression


@pytest.mark.parametrize(
    ("option", "opened"),
    [
        (PLAIN, {(443, 443), (9096, 9096)}),
        (IAM, {(443, 443), (9098, 9098)}),
        # Private connectivity gives brokers to come the ports after 14001.
        (ENDPOINTS, {(443, 443), (9196, 9196), (9197, 9197), (14001, 14100)}),
    ],
)
def test_out_go_https_and_the_brokers_ports_and_nothing_comes_in(
    option: str, opened: set[tuple[int, int]], of: Of
) -> None:
    (group,) = [
        each for each in of(option, "EC2::SecurityGroup") if "SecurityGroupIngress" not in each
    ]
    rules = [*group["SecurityGroupEgress"], *of(option, "EC2::SecurityGroupEgress")]
    assert {(each["FromPort"], each["ToPort"]) for each in rules} == opened
