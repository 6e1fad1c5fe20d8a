# SPDX-License-Identifier: Apache-2.0
"""Metrics, log and alarms are charged for where sinks make them, and only there."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag_cdk.bill.usage.cluster import cluster_usage
from tests.infra.configured import cluster_json, deployment

DAYS = 30.4
RUN_LOG = 800
OTLP = {"otlp": {"endpoint": "https://vendor.example/v1/metrics"}}


def quantities(**changes: Any) -> dict[tuple[str, str], float]:
    found = deployment(cluster_json(**changes))
    (one,) = found.clusters
    return {(i.service, i.what): i.quantity for i in cluster_usage(one, found.shared)}


def test_the_log_is_the_sink_unless_told_otherwise() -> None:
    assert quantities(sinks=["emf"]) == quantities()


def test_what_is_put_by_request_is_not_in_the_log() -> None:
    found = quantities(sinks=["cloudwatch"], expected={"groups": 500}, levels={"max_metrics": 5000})
    metrics = sum(n for (service, what), n in found.items() if what.startswith(("by ", "the ")))
    assert 2000 < metrics <= 3000
    assert found["CloudWatch metrics", "requests"] == pytest.approx(1440 * DAYS * 3)
    written = found["CloudWatch logs", "ingestion"]
    assert written == pytest.approx(RUN_LOG * 1440 * DAYS / 1024**3)


@pytest.mark.parametrize("sink", ["emf", "cloudwatch"])
def test_what_an_endpoint_alone_is_told_is_neither_a_metric_nor_a_line_nor_an_alarm(
    sink: str,
) -> None:
    own = {"sigv4": True, "levels": {"partitions": {}, "max_metrics": 100_000, "members": True}}
    assert quantities(sinks=[sink, {"otlp": own}]) == quantities(sinks=[sink])


def test_what_an_endpoint_does_without_is_paid_for_all_the_same() -> None:
    own = {"sigv4": True, "levels": {"topics": False, "max_metrics": 0}}
    found = quantities(sinks=["emf", {"otlp": own}], levels={"partitions": {}})
    assert found["CloudWatch metrics", "by topic"] > 0
    assert found["CloudWatch metrics", "by partition"] > 0


@pytest.mark.parametrize("sinks", [[], [OTLP]])
def test_without_metrics_in_cloudwatch_there_are_none_to_pay_or_to_watch(
    sinks: list[Any],
) -> None:
    found = quantities(sinks=sinks)
    assert [key for key in found if key[0] == "CloudWatch metrics"] == []
    assert ("CloudWatch alarms", "any group") not in found
    assert found["CloudWatch alarms", "of the reporter"] == 2
