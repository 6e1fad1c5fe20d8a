# SPDX-License-Identifier: Apache-2.0
"""Alarms over minutes: periods, late values and warm-up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dev.sim.cloudwatch import Metrics, Series, states, transitions
from kafka_lag_config.simulation.evaluation import ALARM, OK

LAG = Series.of("KafkaLag", "OffsetLag", {"Cluster Name": "shop"})
ALARM_ON_LAG: Mapping[str, Any] = {
    "Namespace": "KafkaLag",
    "MetricName": "OffsetLag",
    "Dimensions": [{"Name": "Cluster Name", "Value": "shop"}],
    "Statistic": "Maximum",
    "Period": 60,
    "EvaluationPeriods": 3,
    "DatapointsToAlarm": 3,
    "Threshold": 10,
    "ComparisonOperator": "GreaterThanThreshold",
    "TreatMissingData": "missing",
}


def observed(values: str, **changes: Any) -> list[tuple[int, str]]:
    """Transitions over minutes whose values are 0 (good), X (breaching) or - (none)."""
    metrics = Metrics()
    for minute, sign in enumerate(values):
        if sign != "-":
            metrics.put(LAG, minute, 99 if sign == "X" else 1)
    alarm = {**ALARM_ON_LAG, **changes}
    return transitions(states(alarm, metrics, range(len(values))))


def test_ignoring_what_is_missing_keeps_an_alarm_for_ever() -> None:
    assert observed("00XXX" + "-" * 20, TreatMissingData="ignore") == [(0, OK), (4, ALARM)]


def test_a_period_of_five_minutes_slides_and_holds_one_run_each() -> None:
    every_fifth = "0----X----X----X----0----"
    assert observed(every_fifth, Period=300) == [(0, OK), (15, ALARM), (20, OK)]


WARM_UP: Mapping[str, Any] = {
    "TreatMissingData": "breaching",
    "Threshold": 1,
    "ComparisonOperator": "LessThanThreshold",
}


def test_without_warm_up_an_alarm_that_takes_missing_for_bad_begins_with_it() -> None:
    assert observed("-" * 5, **WARM_UP) == [(0, ALARM)]


def test_an_alarm_in_warm_up_waits_for_its_window_to_fill() -> None:
    # AWS's example: three periods of 5 minutes, created at 0, data from 4 on, evaluated at 19.
    warm: Mapping[str, Any] = {"WarmUpConfiguration": {"WarmUpPeriodDurationInMinutes": 30}}
    assert observed("----" + "0" * 30, Period=300, **WARM_UP, **warm) == [(19, OK)]


def test_an_alarm_in_warm_up_waits_no_longer_than_its_time() -> None:
    warm: Mapping[str, Any] = {"WarmUpConfiguration": {"WarmUpPeriodDurationInMinutes": 10}}
    assert observed("-" * 15, **WARM_UP, **warm) == [(10, ALARM)]


def test_the_band_of_an_anomaly_alarm_is_given() -> None:
    metric = {key: ALARM_ON_LAG[key] for key in ("Namespace", "MetricName", "Dimensions")}
    alarm = {
        "Metrics": [
            {"Id": "band", "Expression": "ANOMALY_DETECTION_BAND(lag, 2)"},
            {"Id": "lag", "MetricStat": {"Metric": metric, "Stat": "Maximum", "Period": 60}},
        ],
        "ThresholdMetricId": "band",
        "EvaluationPeriods": 2,
        "ComparisonOperator": "GreaterThanUpperThreshold",
    }
    metrics = Metrics()
    for minute, value in enumerate([5, 20, 20, 20]):
        metrics.put(LAG, minute, value)
    assert states(alarm, metrics, range(4), band=10.0) == [OK, OK, ALARM, ALARM]
    with pytest.raises(ValueError, match="give the band"):
        states(alarm, metrics, range(4))


def test_an_expression_over_a_metric_that_the_alarm_lacks_is_an_error() -> None:
    alarm = {"Metrics": [{"Id": "result", "Expression": "recordslost"}], "EvaluationPeriods": 2}
    with pytest.raises(ValueError, match="not metrics of the alarm: recordslost"):
        states(alarm, Metrics(), range(1))
