# SPDX-License-Identifier: Apache-2.0
"""Alarms over minutes: periods, late values, warm-up, what is done and how often."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kafka_lag_cdk.simulation.evaluation import ALARM, INSUFFICIENT_DATA, OK, Assumptions
from kafka_lag_cdk.simulation.metrics import Metrics, Series
from kafka_lag_cdk.simulation.timeline import Invocation, invocations, states, transitions

LAG = Series.of("KafkaLag", "OffsetLag", {"Cluster Name": "shop"})
TOPIC = "arn:aws:sns:eu-west-1:111122223333:alarms"
POLICY = "arn:aws:autoscaling:eu-west-1:111122223333:scalingPolicy:0a1b:resource/ecs/s:policyName/p"
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
    "AlarmActions": [TOPIC],
}


def observed(
    values: str, delay: int = 0, assumed: Assumptions | None = None, **changes: Any
) -> list[tuple[int, str]]:
    """Transitions over minutes whose values are 0 (good), X (breaching) or - (none)."""
    metrics = Metrics(delay=delay)
    for minute, sign in enumerate(values):
        if sign != "-":
            metrics.put(LAG, minute, 99 if sign == "X" else 1)
    alarm = {**ALARM_ON_LAG, **changes}
    return transitions(states(alarm, metrics, range(len(values)), assumed or Assumptions()))


def test_three_breaches_in_a_row_alarm_and_one_good_value_ends_it() -> None:
    assert observed("000XXX000") == [(0, OK), (5, ALARM), (6, OK)]


@pytest.mark.parametrize("delay", [0, 1, 2])
def test_late_values_shift_an_alarm_and_change_nothing_else(delay: int) -> None:
    quiet = observed("000XXX0000", delay)
    assert quiet == [(delay, OK), (5 + delay, ALARM), (6 + delay, OK)]


@pytest.mark.parametrize("extra", [0, 2, 5])
def test_data_that_ends_is_insufficient_once_none_is_left_in_the_range(extra: int) -> None:
    ended = observed("0000" + "-" * 12, assumed=Assumptions(extra_points=extra))
    assert ended == [(0, OK), (3 + 3 + extra, INSUFFICIENT_DATA)]


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


def test_a_topic_hears_of_changes_and_a_scaling_policy_of_every_minute() -> None:
    alarm = {"AlarmActions": [TOPIC, POLICY], "OKActions": [TOPIC]}
    done = invocations(alarm, [OK, ALARM, ALARM, INSUFFICIENT_DATA], start=7)
    assert done == [
        Invocation(7, TOPIC, OK),
        Invocation(8, TOPIC, ALARM),
        Invocation(8, POLICY, ALARM),
        Invocation(9, POLICY, ALARM),
    ]


def test_an_alarm_whose_actions_are_off_does_nothing() -> None:
    assert invocations({"AlarmActions": [TOPIC], "ActionsEnabled": False}, [ALARM]) == []


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


LOST = Series.of("KafkaLag", "RecordsLost", {"Cluster Name": "shop"})


def math(expression: str, *names: str) -> dict[str, Any]:
    """An alarm on an expression over metrics of these ids and names."""
    stats: list[dict[str, Any]] = [
        {
            "Id": name.lower(),
            "MetricStat": {
                "Metric": {
                    "Namespace": "KafkaLag",
                    "MetricName": name,
                    "Dimensions": [{"Name": "Cluster Name", "Value": "shop"}],
                },
                "Stat": "Maximum",
                "Period": 60,
            },
            "ReturnData": False,
        }
        for name in names
    ]
    counts = {"EvaluationPeriods": 2, "Threshold": 5, "TreatMissingData": "notBreaching"}
    operator = {"ComparisonOperator": "GreaterThanThreshold"}
    return {"Metrics": [{"Id": "result", "Expression": expression}, *stats], **counts, **operator}


def put(metrics: Metrics, series: Series, values: str) -> None:
    for minute, sign in enumerate(values):
        if sign != "-":
            metrics.put(series, minute, float(sign))


@pytest.mark.parametrize(("lost", "alarms"), [("0" * 8, []), ("0--0----", [2, 5, 6, 7])])
def test_fill_lets_a_metric_count_while_another_is_missing(lost: str, alarms: list[int]) -> None:
    metrics = Metrics()
    put(metrics, LAG, "8" * 8)
    put(metrics, LOST, lost)
    alarm = math("IF(FILL(recordslost, -1) < 0, offsetlag, 0)", "OffsetLag", "RecordsLost")
    observed = states(alarm, metrics, range(8), Assumptions(extra_points=0))
    assert [minute for minute, state in enumerate(observed) if state == ALARM] == alarms


def test_where_fill_sees_no_empty_metric_the_alarm_has_no_data() -> None:
    metrics = Metrics()
    put(metrics, LAG, "8" * 8)
    alarm = math("IF(FILL(recordslost, -1) < 0, offsetlag, 0)", "OffsetLag", "RecordsLost")
    assumed = Assumptions(empty_series="missing")
    assert ALARM not in states(alarm, metrics, range(8), assumed)


def test_an_expression_over_a_metric_that_the_alarm_lacks_is_an_error() -> None:
    with pytest.raises(ValueError, match="not metrics of the alarm: recordslost"):
        states(math("recordslost", "OffsetLag"), Metrics(), range(1))
