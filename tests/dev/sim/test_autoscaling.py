# SPDX-License-Identifier: Apache-2.0
"""A service under policies of each kind: steps by number, and exact numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from dev.sim.cloudwatch.autoscaling import Service
from dev.sim.cloudwatch.metrics import Metrics, Series
from dev.sim.cloudwatch.templates import template_of
from kafka_lag_config.scaling import Scaling
from kafka_lag_config.scaling_rules import rules_of

GROUP = {"Cluster Name": "orders", "Consumer Group": "g"}
LAG = Series.of("KafkaLag", "ScalingLag", GROUP)
NEEDED = Series.of("KafkaLag", "TasksNeeded", GROUP)
TARGET: dict[str, Any] = {
    "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
    "Properties": {"MinCapacity": 1, "MaxCapacity": 12},
}
STEPS = {"out": [{"above": 10, "add": 1}, {"above": 20, "add": 3}], "below": 2}


def scaled(cooldowns: Sequence[int], minutes: int = 1, **how: Any) -> dict[str, Any]:
    """A service whose rules have these cooldowns, and alarms that look at so many minutes."""
    service = {"group": "g", "ecs_cluster": "web", "service": "worker", "partitions": 12}
    scaling = Scaling.model_validate({**service, "min": 1, "max": 12, **how})
    rules = tuple(
        replace(rule, datapoints=minutes, minutes=minutes, cooldown_seconds=seconds)
        for rule, seconds in zip(rules_of(scaling), cooldowns, strict=True)
    )
    return {**template_of(rules, scaling, "orders", "KafkaLag")}


EXACT = scaled([60], tasks={})
BY_NUMBER = scaled([180, 300], steps=STEPS)


def tasks(
    resources: dict[str, Any],
    values: list[float | None],
    begun: int = 4,
) -> list[int]:
    """The number of tasks at the end of each minute."""
    metrics = Metrics()
    for minute, value in enumerate(values):
        if value is not None:
            for series in (LAG, NEEDED):
                metrics.put(series, minute, value)
    service = Service(resources, metrics, begun)
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
    over_three_minutes = scaled([600, 600], 3, steps=STEPS)
    # Two tasks go where the lag is under the bound by more than one.
    removing = over_three_minutes["Policy1"]["Properties"]["StepScalingPolicyConfiguration"]
    removing["StepAdjustments"] = [
        {"MetricIntervalUpperBound": -1, "ScalingAdjustment": -2},
        {"MetricIntervalLowerBound": -1, "MetricIntervalUpperBound": 0, "ScalingAdjustment": -1},
    ]
    assert tasks(over_three_minutes, values)[-1] == expected


@pytest.mark.parametrize(
    ("direction", "value", "expected"),
    [
        ("DynamicScalingOutSuspended", 9, [4, 4]),
        ("DynamicScalingOutSuspended", 2, [2, 2]),
        ("DynamicScalingInSuspended", 9, [9, 9]),
        ("DynamicScalingInSuspended", 2, [4, 4]),
    ],
)
def test_what_is_suspended_does_nothing_and_the_other_direction_acts(
    direction: str, value: float, expected: list[int]
) -> None:
    suspended = {
        **TARGET,
        "Properties": {**TARGET["Properties"], "SuspendedState": {direction: True}},
    }
    assert tasks({**EXACT, "Target": suspended}, [value, value]) == expected
