# SPDX-License-Identifier: Apache-2.0
"""A service under policies of each kind: steps by number, exact numbers, a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from dev.sim.cloudwatch.autoscaling import ScalingAssumptions, Service
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


def tracking(target: float, **more: Any) -> dict[str, Any]:
    return {
        "Target": TARGET,
        "Tracking": {
            "Type": "AWS::ApplicationAutoScaling::ScalingPolicy",
            "Properties": {
                "PolicyType": "TargetTrackingScaling",
                "TargetTrackingScalingPolicyConfiguration": {
                    "TargetValue": target,
                    "CustomizedMetricSpecification": {
                        "Namespace": "KafkaLag",
                        "MetricName": "ScalingLag",
                        "Dimensions": [{"Name": n, "Value": value} for n, value in GROUP.items()],
                        "Statistic": "Maximum",
                    },
                    **more,
                },
            },
        },
    }


EXACT = scaled([60], tasks={})
BY_NUMBER = scaled([180, 300], steps=STEPS)


def tasks(
    resources: dict[str, Any],
    values: list[float | None],
    begun: int = 4,
    assumed: ScalingAssumptions | None = None,
) -> list[int]:
    """The number of tasks at the end of each minute."""
    metrics = Metrics()
    for minute, value in enumerate(values):
        if value is not None:
            for series in (LAG, NEEDED):
                metrics.put(series, minute, value)
    service = Service(resources, metrics, begun, assumed or ScalingAssumptions())
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
    ("values", "compared", "expected"),
    [
        ([12, 25, 11], "extreme", 7),
        ([12, 25, 11], "newest", 5),
        ([99, 12, 15, 11], "extreme", 7),
        ([1.5, 0.5, 1.8], "extreme", 2),
        ([1.5, 0.5, 1.8], "newest", 3),
    ],
)
def test_a_step_is_chosen_by_the_farthest_value_of_the_alarm_or_by_the_newest(
    values: list[float | None], compared: Any, expected: int
) -> None:
    assumed = ScalingAssumptions(compared=compared)
    over_three_minutes = scaled([600, 600], 3, steps=STEPS)
    # Two tasks go where the lag is under the bound by more than one.
    removing = over_three_minutes["Policy1"]["Properties"]["StepScalingPolicyConfiguration"]
    removing["StepAdjustments"] = [
        {"MetricIntervalUpperBound": -1, "ScalingAdjustment": -2},
        {"MetricIntervalLowerBound": -1, "MetricIntervalUpperBound": 0, "ScalingAdjustment": -1},
    ]
    assert tasks(over_three_minutes, values, assumed=assumed)[-1] == expected


def test_tracking_adds_in_proportion_after_three_minutes() -> None:
    assert tasks(tracking(10), [15, 15, 15, 10, 10]) == [4, 4, 6, 6, 6]


def test_tracking_removes_in_proportion_after_fifteen_minutes_below_nine_tenths() -> None:
    assert tasks(tracking(10), [5] * 15, begun=8)[-2:] == [8, 4]
    assert tasks(tracking(10), [9] * 40, begun=8)[-1] == 8
    assert tasks(tracking(10), [8.9] * 15, begun=8)[-1] == 8
    assert tasks(tracking(10), [8.7] * 15, begun=8)[-1] == 7


def test_tracking_that_may_not_remove_does_not() -> None:
    assert tasks(tracking(10, DisableScaleIn=True), [1] * 30) == [4] * 30


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


def test_new_bounds_move_the_tasks_into_them_and_hold_policies_within() -> None:
    metrics = Metrics()
    for minute in range(3):
        metrics.put(NEEDED, minute, 2)
    service = Service(EXACT, metrics, 4)
    assert service.set_bounds(6, 12) == 2
    assert (service.minute(0), service.tasks) == (0, 6)
    assert service.set_bounds(1, 12) == 0
    assert (service.minute(1), service.tasks) == (-4, 2)
