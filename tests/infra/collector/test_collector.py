# SPDX-License-Identifier: Apache-2.0
"""A collector has its place, its rights and its minute, and nothing beside them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_lag.collect_lag import scheduled_time
from kafka_lag_cdk.collector_function import cron_of

Of = Callable[[str, str], list[dict[str, Any]]]


def test_what_the_layer_holds_can_be_read_by_anybody(layers: dict[str, Path]) -> None:
    folder = layers["endpoints"] / "kafka-lag"
    assert {oct(path.stat().st_mode & 0o777) for path in folder.iterdir()} == {"0o644"}


def test_the_document_in_its_layer_keeps_the_order_of_its_expressions(
    documents: dict[str, dict[str, Any]],
) -> None:
    assert list(documents["scram"]["allowed_lag"]) == ["^z-", ".*"]


def test_a_private_authority_lies_beside_the_document(layers: dict[str, Path]) -> None:
    folder = layers["endpoints"] / "kafka-lag"
    assert json.loads((folder / "config.json").read_text())["cafile"] == "ca.pem"
    assert "CERTIFICATE" in (folder / "ca.pem").read_text()


def test_nothing_of_a_cluster_stays_when_its_stack_goes(
    templates: dict[str, dict[str, dict[str, Any]]],
) -> None:
    kept = [
        (kind, name)
        for kind, template in templates.items()
        for name, resource in template.items()
        if resource.get("DeletionPolicy", "Delete") != "Delete"
    ]
    assert kept == []


def test_the_schedule_fires_on_the_minute_and_tells_which(of: Of) -> None:
    (schedule,) = of("scram", "Scheduler::Schedule")
    assert (schedule["ScheduleExpression"], schedule["State"]) == ("cron(* * * * ? *)", "ENABLED")
    assert schedule["Target"]["RetryPolicy"]["MaximumRetryAttempts"] == 0
    sent = schedule["Target"]["Input"]
    text = sent.replace("<aws.scheduler.scheduled-time>", "2026-01-31T12:00:00Z")
    assert scheduled_time(json.loads(text), "orders") == 1_769_860_800_000


@pytest.mark.parametrize(
    ("minutes", "expression"),
    [(1, "cron(* * * * ? *)"), (5, "cron(0/5 * * * ? *)"), (60, "cron(0 * * * ? *)")],
)
def test_any_interval_begins_on_its_minute(minutes: int, expression: str) -> None:
    assert cron_of(minutes) == expression
