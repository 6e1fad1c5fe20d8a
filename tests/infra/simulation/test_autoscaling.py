# SPDX-License-Identifier: Apache-2.0
"""A service under policies of each kind: steps by number, exact numbers, a target."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag_cdk.simulation.autoscaling import ScalingAssumptions, Service
from kafka_lag_cdk.simulation.metrics import Metrics, Series

LOAD = Series.of("Load", "Load", {})
METRIC = {"Namespace": "Load", "MetricName": "Load"}
TARGET: dict[str, Any] = {
    "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
    "Properties": {"MinCapacity": 1, "MaxCapacity": 12},
}


def alarm(policy: str, operator: str, threshold: float, minutes: int) -> dict[str, Any]:
    return {
        "Type": "AWS::CloudWatch::Alarm",
        "Properties": {
            **METRIC,
            "Statistic": "Maximum",
            "Period": 60,
            "ComparisonOperator": operator,
            "Threshold": threshold,
            "EvaluationPeriods": minutes,
            "TreatMissingData": "notBreaching",
            "AlarmActions": [f"arn:aws:autoscaling:::scalingPolicy:0:policyName/{policy.lower()}"],
        },
    }


def steps(kind: str, cooldown: int, *adjustments: tuple[float | None, float | None, int]) -> Any:
    bounds = ("MetricIntervalLowerBound", "MetricIntervalUpperBound")
    return {
        "Type": "AWS::ApplicationAutoScaling::ScalingPolicy",
        "Properties": {
            "PolicyType": "StepScaling",
            "StepScalingPolicyConfiguration": {
                "AdjustmentType": kind,
                "Cooldown": cooldown,
                "StepAdjustments": [
                    {
                        **{k: v for k, v in zip(bounds, each[:2], strict=True) if v is not None},
                        "ScalingAdjustment": each[2],
                    }
                    for each in adjustments
                ],
            },
        },
    }


def tracking(target: float, **more: Any) -> dict[str, Any]:
    return {
        "Target": TARGET,
        "Tracking": {
            "Type": "AWS::ApplicationAutoScaling::ScalingPolicy",
            "Properties": {
                "PolicyType": "TargetTrackingScaling",
                "TargetTrackingScalingPolicyConfiguration": {
                    "TargetValue": target,
                    "CustomizedMetricSpecification": {**METRIC, "Statistic": "Maximum"},
                    **more,
                },
            },
        },
    }


EXACT = {
    "Target": TARGET,
    "Alarm": alarm("Exact", "GreaterThanOrEqualToThreshold", 0, 1),
    "Exact": steps("ExactCapacity", 60, (None, 3, 2), (3, 6, 5), (6, None, 9)),
}
BY_NUMBER = {
    "Target": TARGET,
    "OutAlarm": alarm("Out", "GreaterThanOrEqualToThreshold", 10, 1),
    "Out": steps("ChangeInCapacity", 180, (0, 10, 1), (10, None, 3)),
    "InAlarm": alarm("In", "LessThanThreshold", 2, 1),
    "In": steps("ChangeInCapacity", 300, (None, 0, -1)),
}


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
            metrics.put(LOAD, minute, value)
    service = Service(resources, metrics, begun, assumed or ScalingAssumptions())
    numbers = []
    for minute in range(len(values)):
        service.minute(minute)
        numbers.append(service.tasks)
    return numbers


def test_an_exact_number_is_set_up_and_down_at_once_and_stays() -> None:
    assert tasks(EXACT, [4, 4, 1, 1, 8, 8]) == [5, 5, 2, 2, 9, 9]


def test_a_larger_number_is_set_within_the_cooldown_and_a_smaller_one_after_it() -> None:
    slow = {**EXACT, "Exact": steps("ExactCapacity", 180, (None, 3, 2), (3, 6, 5), (6, None, 9))}
    assert tasks(slow, [4, 8, 1, 1, 1]) == [5, 9, 9, 9, 2]


def test_a_step_in_waits_and_a_step_out_ends_the_wait() -> None:
    assert tasks(BY_NUMBER, [1, 1, 1, 1, 1, 1]) == [3, 3, 3, 3, 3, 2]
    assert tasks(BY_NUMBER, [1, 20, 1, 1]) == [3, 6, 5, 5]


OVER_THREE_MINUTES = {
    "Target": TARGET,
    "OutAlarm": alarm("Out", "GreaterThanOrEqualToThreshold", 10, 3),
    "Out": steps("ChangeInCapacity", 600, (0, 10, 1), (10, None, 3)),
    "InAlarm": alarm("In", "LessThanThreshold", 2, 3),
    "In": steps("ChangeInCapacity", 600, (None, -1, -2), (-1, 0, -1)),
}


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
    assert tasks(OVER_THREE_MINUTES, values, assumed=assumed)[-1] == expected


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
        ("DynamicScalingOutSuspended", 8, [4, 4]),
        ("DynamicScalingOutSuspended", 1, [2, 2]),
        ("DynamicScalingInSuspended", 8, [9, 9]),
        ("DynamicScalingInSuspended", 1, [4, 4]),
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
        metrics.put(LOAD, minute, 1)
    service = Service(EXACT, metrics, 4)
    assert service.set_bounds(6, 12) == 2
    assert (service.minute(0), service.tasks) == (0, 6)
    assert service.set_bounds(1, 12) == 0
    assert (service.minute(1), service.tasks) == (-4, 2)
