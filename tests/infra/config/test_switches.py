# SPDX-License-Identifier: Apache-2.0
"""Views and messages are off unless asked for, and never open or without a receiver."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag_cdk.config.shared import StatusMessages, Views
from tests.infra.config.refused import refused
from tests.infra.configured import cluster_json, deployment

SWITCHES = ("views", "status_messages")


@pytest.mark.parametrize("key", SWITCHES)
@pytest.mark.parametrize("given", [{}, "off", None])
def test_what_nobody_asked_for_is_off(key: str, given: Any) -> None:
    shared = {} if given == {} else {key: given}
    assert getattr(deployment(shared=shared).shared, key) is None


@pytest.mark.parametrize("key", SWITCHES)
def test_an_empty_object_is_on(key: str) -> None:
    assert getattr(deployment(shared={key: {}}).shared, key) in (Views(), StatusMessages())


@pytest.mark.parametrize("key", SWITCHES)
@pytest.mark.parametrize("given", ["on", "OFF", "", True, False, 7, [], ["off"]])
def test_anything_else_is_refused(key: str, given: Any) -> None:
    message = refused(cluster_json(), shared={key: given})
    assert message == (f'shared.{key}: must be an object, or "off"',)


def test_views_are_signed_for_unless_told_otherwise() -> None:
    assert Views().auth == contract.AUTH_IAM


@pytest.mark.parametrize("auth", ["none", "open", "", None])
def test_views_are_never_open(auth: Any) -> None:
    (message,) = refused(cluster_json(), shared={"views": {"auth": auth}})
    assert message == "shared.views.auth: Input should be 'iam' or 'bearer'"


@pytest.mark.parametrize(
    ("key", "given", "message"),
    [
        (
            "views",
            {"concurrency": 0},
            "views.concurrency: Input should be greater than or equal to 1",
        ),
        ("views", {"auht": "iam"}, "views.auht: unknown key, did you mean auth?"),
        (
            "views",
            {"memory_mb": 64},
            "views.memory_mb: Input should be greater than or equal to 256",
        ),
        (
            "status_messages",
            {"event_bus": "arn:aws:events:eu-west-1:111122223333:event-bus/ours"},
            "status_messages.event_bus: must be the name of an event bus of this account and "
            "region, not its ARN",
        ),
        (
            "status_messages",
            {"topic": False, "event_bus": None},
            'status_messages: notifies nobody: set topic or event_bus, or say "off" instead',
        ),
    ],
)
def test_what_makes_no_sense_is_told_with_its_place(
    key: str, given: dict[str, Any], message: str
) -> None:
    assert refused(cluster_json(), shared={key: given}) == (f"shared.{message}",)
