# SPDX-License-Identifier: Apache-2.0
"""A service under policies of each kind: steps by number, and exact numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from dev.sim.autoscaling import Service, series_of_group
from dev.sim.cloudwatch import Metrics
from kafka_lag_config.scaling import Scaling
from kafka_lag_config.scaling_rules import Adjustment, ScalingRule, rules_of

STEPS = {"out": [{"above": 10, "add": 1}, {"above": 20, "add": 3}], "below": 2}
Scaled = tuple[list[ScalingRule], Scaling]


def scaled(cooldowns: Sequence[int], minutes: int = 1, **how: Any) -> Scaled:
    """A service whose rules have these cooldowns, and alarms that look at so many minutes."""
    service = {"group": "g", "ecs_cluster": "web", "service": "worker", "partitions": 12}
    scaling = Scaling.model_validate({**service, "min": 1, "max": 12, **how})
    rules = [
        replace(rule, datapoints=minutes, minutes=minutes, cooldown_seconds=seconds)
        for rule, seconds in zip(rules_of(scaling), cooldowns, strict=True)
    ]
    return rules, scaling


EXACT = scaled([60], tasks={})
BY_NUMBER = scaled([180, 300], steps=STEPS)


def tasks(how: Scaled, values: list[float | None], begun: int = 4) -> list[int]:
    """The number of tasks at the end of each minute."""
    metrics = Metrics()
    for minute, value in enumerate(values):
        if value is not None:
            for name in ("ScalingLag", "TasksNeeded"):
                metrics.put(series_of_group(name, "g"), minute, value)
    service = Service(*how, metrics, begun)
    numbers = []
    for minute in range(len(values)):
        service.minute(minute)
        numbers.append(service.tasks)
    return numbers


def test_a_larger_number_is_set_within_the_cooldown_and_a_smaller_one_after_it() -> None:
    assert tasks(EXACT, [5, 5, 2, 2, 9, 9]) == [5, 5, 2, 2, 9, 9]
    assert tasks(scaled([180], tasks={}), [5, 9, 2, 2, 2]) == [5, 9, 9, 9, 2]


def test_a_step_in_waits_and_a_step_out_ends_the_wait() -> None:
    assert tasks(BY_NUMBER, [1, 1, 1, 1, 1, 1]) == [3, 3, 3, 3, 3, 2]
    assert tasks(BY_NUMBER, [1, 20, 1, 1]) == [3, 6, 5, 5]


@pytest.mark.parametrize(
    ("values", "expected"),
    [([12, 25, 11], 7), ([99, 12, 15, 11], 7), ([1.5, 0.5, 1.8], 2)],
)
def test_a_step_is_chosen_by_the_farthest_value_of_the_alarm(
    values: list[float | None], expected: int
) -> None:
    (out, into), scaling = scaled([600, 600], 3, steps=STEPS)
    # Two tasks go where the lag is under the bound by more than one.
    into = replace(into, steps=(Adjustment(None, -1, -2), Adjustment(-1, 0, -1)))
    assert tasks(([out, into], scaling), values)[-1] == expected


@pytest.mark.parametrize("value", [9, 2])
def test_what_is_suspended_does_nothing(value: float) -> None:
    assert tasks(scaled([60], tasks={}, suspended=True), [value, value]) == [4, 4]
