# SPDX-License-Identifier: Apache-2.0
"""A collector has its place, its rights and its minute, and nothing beside them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.collect_lag import scheduled_time
from kafka_lag_cdk.collector_function import cron_of
from tests.infra.configured import UUID

Of = Callable[[str, str], list[dict[str, Any]]]

NAME = "CollectorFunction"
ARN = f"arn:aws:kafka:eu-west-1:111122223333:cluster/orders/{UUID}"
BROKERS = "sg-0a1b2c3d4e5f60718"


def function(of: Of, kind: str) -> dict[str, Any]:
    found = [each for each in of(kind, "Lambda::Function") if "VpcConfig" in each]
    assert len(found) == 1
    return found[0]


def test_it_runs_in_the_brokers_subnets_on_a_current_runtime(of: Of) -> None:
    made = function(of, "scram")
    assert made["VpcConfig"]["SubnetIds"] == [
        "subnet-0a1b2c3d4e5f60718",
        "subnet-1a1b2c3d4e5f60718",
    ]
    reported = [
        made[key] for key in ("Runtime", "Architectures", "MemorySize", "Timeout", "Handler")
    ]
    assert reported == ["python3.13", ["arm64"], 512, 55, "kafka_lag.collect_lag.handler"]


def test_runtime_architecture_and_concurrency_follow_the_configuration(of: Of) -> None:
    made = function(of, "endpoints")
    keys = ("Runtime", "Architectures", "ReservedConcurrentExecutions")
    assert [made[key] for key in keys] == ["python3.14", ["x86_64"], 1]
    assert "ReservedConcurrentExecutions" not in function(of, "scram")


def test_its_environment_names_document_bucket_brokers_allocators_and_threads(
    of: Of, layers: dict[str, Path]
) -> None:
    reported = dict(function(of, "scram")["Environment"]["Variables"])
    asked = reported.pop(contract.ENV_BOOTSTRAP_SERVERS)
    assert re.fullmatch(r"collectorbootstrapserversanswer\w+-servers", asked)
    assert reported == {
        contract.ENV_CONFIG: "/opt/kafka-lag/config.json",
        contract.ENV_BUCKET: "the-bucket",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "MALLOC_ARENA_MAX": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    staged = layers["scram"] / Path(reported[contract.ENV_CONFIG]).relative_to("/opt")
    assert staged.is_file()


def test_what_the_layer_holds_can_be_read_by_anybody(layers: dict[str, Path]) -> None:
    folder = layers["endpoints"] / "kafka-lag"
    assert {oct(path.stat().st_mode & 0o777) for path in folder.iterdir()} == {"0o644"}


def test_a_deploy_waits_minutes_for_the_brokers_and_not_an_hour(of: Of) -> None:
    (asked,) = of("scram", "CloudFormation::CustomResource")
    assert asked["ServiceTimeout"] == 300


def test_brokers_come_from_msk_unless_they_are_given(of: Of) -> None:
    asked = function(of, "scram")["Environment"]["Variables"]
    assert contract.ENV_BOOTSTRAP_SERVERS in asked
    given = function(of, "endpoints")["Environment"]["Variables"]
    assert contract.ENV_BOOTSTRAP_SERVERS not in given
    assert not of("endpoints", "CloudFormation::CustomResource")


def test_msk_is_asked_about_this_cluster_and_its_login(of: Of) -> None:
    (asked,) = of("iam", "CloudFormation::CustomResource")
    assert (asked["ClusterArn"], asked["Way"]) == (ARN, "iam")


def test_the_document_in_its_layer_keeps_the_order_of_its_expressions(
    documents: dict[str, dict[str, Any]],
) -> None:
    assert list(documents["scram"]["allowed_lag"]) == ["^z-", ".*"]


def test_a_private_authority_lies_beside_the_document(layers: dict[str, Path]) -> None:
    folder = layers["endpoints"] / "kafka-lag"
    assert json.loads((folder / "config.json").read_text())["cafile"] == "ca.pem"
    assert "CERTIFICATE" in (folder / "ca.pem").read_text()


def test_logs_are_kept_as_long_as_configured(of: Of) -> None:
    assert 30 in [each["RetentionInDays"] for each in of("endpoints", "Logs::LogGroup")]
    assert 14 in [each["RetentionInDays"] for each in of("scram", "Logs::LogGroup")]


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


def test_an_event_is_neither_retried_nor_kept_beyond_its_minute(of: Of) -> None:
    (config,) = of("scram", "Lambda::EventInvokeConfig")
    assert (config["MaximumRetryAttempts"], config["MaximumEventAgeInSeconds"]) == (0, 60)


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


def test_a_paused_cluster_keeps_its_schedule_switched_off(of: Of) -> None:
    (schedule,) = of("iam", "Scheduler::Schedule")
    assert (schedule["ScheduleExpression"], schedule["State"]) == (
        "cron(0/5 * * * ? *)",
        "DISABLED",
    )
