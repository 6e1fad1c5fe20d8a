# SPDX-License-Identifier: Apache-2.0
"""Scalable targets registered again: what a deploy changes, and what it leaves as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ministack.services.cloudformation import provisioners

from dev.rehearse.resources import register
from tests.infra.resolve import of_type
from tests.infra.scaling import services

TARGET = "AWS::ApplicationAutoScaling::ScalableTarget"
PLAIN = {
    "ServiceNamespace": "ecs",
    "ScalableDimension": "ecs:service:DesiredCount",
    "ResourceId": "service/web/plain",
    "MinCapacity": 1,
    "MaxCapacity": 8,
}
SUSPENDED = {**PLAIN, "SuspendedState": {"DynamicScalingInSuspended": True}}


class Deployed:
    """What the emulator's stacks make of a target, and what is registered after each step."""

    def __init__(self) -> None:
        self._events: list[dict[str, Any]] = []
        register(lambda event, **fields: self._events.append({"event": event, **fields}))
        self._handler = provisioners._RESOURCE_HANDLERS[TARGET]
        self._made = ""
        self._properties: dict[str, Any] = {}

    def deploy(self, properties: dict[str, Any]) -> dict[str, Any]:
        """Creates or updates it; what is then registered."""
        if self._made:
            self._made, _ = self._handler["update"](self._made, self._properties, properties, "")
        else:
            self._made, _ = self._handler["create"]("Target", properties, "")
        self._properties = properties
        registered: dict[str, Any] = self._events[-1]["properties"]
        return registered

    def delete(self) -> None:
        self._handler["delete"](self._made, self._properties)
        self._made = ""


@pytest.fixture(name="deployed")
def _deployed() -> Iterator[Deployed]:
    handlers = dict(provisioners._RESOURCE_HANDLERS)
    deployed = Deployed()
    yield deployed
    deployed.delete()
    provisioners._RESOURCE_HANDLERS.clear()
    provisioners._RESOURCE_HANDLERS.update(handlers)


def target_of(kind: str) -> dict[str, Any]:
    (target,) = of_type(services.resolved()[kind], TARGET).values()
    return target


def test_a_service_that_was_suspended_is_resumed_by_the_template_without(
    deployed: Deployed,
) -> None:
    assert set(deployed.deploy(target_of("suspended"))["SuspendedState"].values()) == {True}
    assert set(deployed.deploy(target_of("steps"))["SuspendedState"].values()) == {False}


def test_what_a_template_does_not_name_stays_as_it_was_registered(deployed: Deployed) -> None:
    deployed.deploy(SUSPENDED)
    assert deployed.deploy({**PLAIN, "MaxCapacity": 4}) == {**SUSPENDED, "MaxCapacity": 4}


def test_a_target_that_was_deleted_is_registered_without_a_past(deployed: Deployed) -> None:
    deployed.deploy(SUSPENDED)
    deployed.delete()
    assert deployed.deploy(PLAIN) == PLAIN
