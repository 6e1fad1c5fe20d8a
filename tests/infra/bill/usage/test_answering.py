# SPDX-License-Identifier: Apache-2.0
"""Quantities of views and messages, reckoned by hand; what is off costs nothing."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag_cdk.bill.usage.shared import shared_usage
from tests.infra.configured import cluster_json, deployment

DAYS = 30.4
RUNS = 1440 * DAYS
TWO = (cluster_json(name="a"), cluster_json(name="b"))


def quantities(*clusters: dict[str, Any], **shared: Any) -> dict[tuple[str, str], float]:
    found = deployment(*clusters, shared=shared)
    items = shared_usage(found.shared, found.clusters)
    assert len({(item.service, item.what) for item in items}) == len(items)
    return {(item.service, item.what): item.quantity for item in items}


def more(*clusters: dict[str, Any], **shared: Any) -> dict[tuple[str, str], float]:
    """What comes on top of the same without these keys."""
    before = quantities(*clusters)
    return {k: n - before.get(k, 0.0) for k, n in quantities(*clusters, **shared).items()}


def test_what_is_off_costs_nothing() -> None:
    assert quantities(views="off", status_messages="off") == quantities()


def test_a_scrape_a_minute_is_answered_from_every_cluster() -> None:
    found = more(*TWO, views={"memory_mb": 1024})
    assert found["Lambda", "views: requests"] == pytest.approx(RUNS)
    assert found["Lambda", "views: time"] == pytest.approx(RUNS * 2 * 0.3)
    assert found["S3", "views: lists"] == pytest.approx(RUNS * (1 + 3 * 2))
    assert found["S3", "views: reads"] == pytest.approx(RUNS * 2)


@pytest.mark.parametrize(("auth", "secrets"), [("iam", None), ("bearer", 1)])
def test_only_a_token_needs_a_secret(auth: str, secrets: int | None) -> None:
    assert quantities(views={"auth": auth}).get(("Secrets", "token of views")) == secrets


def test_every_run_of_every_cluster_is_compared() -> None:
    slow = cluster_json(name="slow", interval_seconds=300)
    found = more(TWO[0], slow, status_messages={})
    runs = RUNS * 1.2
    assert found["Lambda", "messages: requests"] == pytest.approx(runs)
    assert found["Lambda", "messages: time"] == pytest.approx(runs * 0.4 / 2)
    assert found["S3", "messages: writes"] == pytest.approx(runs * 2)
    assert found["S3", "messages: reads"] == pytest.approx(runs * 3)
    assert found["CloudWatch alarms", "of messages"] == 2


@pytest.mark.parametrize(("compacts", "events"), [(True, 8), (False, 5)])
def test_all_that_happens_in_the_bucket_is_an_event(compacts: bool, events: int) -> None:
    found = quantities(status_messages={}, report={"enabled": compacts})
    assert found["EventBridge", "of the bucket"] == pytest.approx(RUNS * events)


@pytest.mark.parametrize("one", [{"topic": False}, {"event_bus": None}])
def test_a_channel_less_is_a_cursor_less(one: dict[str, Any]) -> None:
    found = quantities(status_messages=one)
    assert found["S3", "messages: writes"] == found["S3", "messages: lists"] == pytest.approx(RUNS)
    assert found["S3", "messages: reads"] == pytest.approx(RUNS * 2)


def test_a_paused_cluster_sends_no_messages() -> None:
    found = quantities(cluster_json(paused=True), status_messages={})
    assert found["Lambda", "messages: requests"] == 0


@pytest.mark.parametrize(("topic", "messages"), [(True, 100), (False, 50)])
def test_receivers_of_the_topic_hear_of_changed_statuses_too(topic: bool, messages: int) -> None:
    found = quantities(status_messages={"topic": topic}, notify={"email": ["a@example.com"]})
    assert found["SNS", "e-mail"] == messages
