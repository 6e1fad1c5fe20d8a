# SPDX-License-Identifier: Apache-2.0
"""Many alarms at once: they have the states of the evaluator that follows AWS's words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dev.sim.cloudwatch import Metrics, Series, contributor_states, states
from kafka_lag_config.simulation import evaluation
from kafka_lag_config.simulation.evaluation import Assumptions, Counts
from kafka_lag_config.simulation.grid import (
    ALARM,
    INSUFFICIENT_DATA,
    OK,
    Condition,
    find_spans,
    find_states,
)

NAMES = {
    evaluation.OK: OK,
    evaluation.ALARM: ALARM,
    evaluation.INSUFFICIENT_DATA: INSUFFICIENT_DATA,
}
BOUND = 10.0
# Good, breaching, exactly at the bound, none.
SIGNS = {"0": 1.0, "X": 99.0, "=": BOUND, "-": float("nan")}

assumptions = st.builds(
    Assumptions,
    extra_points=st.integers(0, 4),
    undecided=st.sampled_from(["retain", "OK"]),
    series_end=st.sampled_from(["range", "three hours"]),
)
counts = st.integers(1, 6).flatmap(
    lambda periods: st.builds(
        Counts,
        datapoints=st.integers(1, periods),
        periods=st.just(periods),
        missing=st.sampled_from(["missing", "ignore", "breaching", "notBreaching"]),
    )
)
operators = st.sampled_from(
    [
        "GreaterThanOrEqualToThreshold",
        "GreaterThanThreshold",
        "LessThanThreshold",
        "LessThanOrEqualToThreshold",
    ]
)
# Long gaps, as they are what the rules of missing data are about.
runs = st.lists(st.tuples(st.sampled_from("0X=-"), st.integers(1, 9)), min_size=1, max_size=12)


def signs_of(pieces: list[tuple[str, int]]) -> str:
    return "".join(sign * length for sign, length in pieces)


def grid_of(*signs: str) -> np.ndarray[Any, Any]:
    longest = max(map(len, signs))
    return np.array([[SIGNS[sign] for sign in each.ljust(longest, "-")] for each in signs]).T


def metrics_of(signs: str, series: Series, delay: int) -> Metrics:
    metrics = Metrics(delay=delay)
    for minute, sign in enumerate(signs):
        if sign != "-":
            metrics.put(series, minute, SIGNS[sign])
    return metrics


@given(runs, counts, operators, assumptions, st.integers(0, 3), st.sampled_from([1, 2, 5]))
def test_an_alarm_has_the_states_of_the_evaluator_that_reads_like_awss_text(
    pieces: list[tuple[str, int]],
    counted: Counts,
    operator: str,
    assumed: Assumptions,
    delay: int,
    period: int,
) -> None:
    signs = signs_of(pieces)
    series = Series.of("KafkaLag", "OffsetLag", {"Cluster Name": "shop"})
    alarm = {
        "Namespace": "KafkaLag",
        "MetricName": "OffsetLag",
        "Dimensions": [{"Name": "Cluster Name", "Value": "shop"}],
        "Statistic": "Maximum",
        "Period": 60 * period,
        "EvaluationPeriods": counted.periods,
        "DatapointsToAlarm": counted.datapoints,
        "Threshold": BOUND,
        "ComparisonOperator": operator,
        "TreatMissingData": counted.missing,
    }
    slow = states(alarm, metrics_of(signs, series, delay), range(len(signs)), assumed)
    condition = Condition(operator, BOUND, counted, period)
    fast = find_states(grid_of(signs), condition, assumed, delay)[:, 0]
    assert fast.tolist() == [NAMES[state] for state in slow]


@given(runs, counts, assumptions, st.integers(0, 3))
def test_a_contributor_has_the_states_of_the_evaluator_that_reads_like_awss_text(
    pieces: list[tuple[str, int]], counted: Counts, assumed: Assumptions, delay: int
) -> None:
    # From a first value on, to longer than the three hours after which a query forgets a series.
    signs = "0" + signs_of(pieces) + "-" * 190
    series = Series.of(
        "KafkaLag", "OffsetLag", {"Cluster Name": "shop", "Consumer Group": "billing"}
    )
    query = (
        'SELECT MAX(OffsetLag) FROM SCHEMA("KafkaLag","Cluster Name","Consumer Group") '
        'WHERE "Cluster Name"=\'shop\' GROUP BY "Cluster Name","Consumer Group" '
        "ORDER BY MAX() DESC"
    )
    alarm = {
        "Metrics": [{"Id": "query", "Expression": query, "Period": 60}],
        "EvaluationPeriods": counted.periods,
        "DatapointsToAlarm": counted.datapoints,
        "Threshold": BOUND,
        "ComparisonOperator": "GreaterThanThreshold",
        "TreatMissingData": counted.missing,
    }
    metrics = metrics_of(signs, series, delay)
    (slow,) = contributor_states(alarm, metrics, range(len(signs)), assumed).values()
    condition = Condition("GreaterThanThreshold", BOUND, counted, contributors=True)
    fast = find_states(grid_of(signs), condition, assumed, delay)[:, 0]
    assert fast.tolist() == [NAMES[state] for state in slow]


def test_each_series_has_a_bound_of_its_own_and_no_neighbours_state() -> None:
    signs = ["0" * 9, "X" * 9] * 40
    bounds = np.array([0.0, 99.0] * 40)
    condition = Condition("GreaterThanThreshold", bounds, Counts(3, 5))
    last = find_states(grid_of(*signs), condition)[-1]
    assert last.tolist() == [ALARM, OK] * 40


@pytest.mark.parametrize(
    ("signs", "spans"),
    [
        ("", []),
        ("0000", []),
        ("XXX00", [(0, 2, 3)]),
        ("0XXXX", [(0, 3, 5)]),
        ("XXX0XXX", [(0, 2, 3), (0, 6, 7)]),
    ],
    ids=["nothing", "never", "ended", "still", "twice"],
)
def test_spans_are_first_minute_and_the_one_after_the_last(
    signs: str, spans: list[tuple[int, int, int]]
) -> None:
    condition = Condition("GreaterThanThreshold", BOUND, Counts(3, 3))
    grid = grid_of(signs) if signs else np.empty((0, 1))
    assert list(find_spans(find_states(grid, condition))) == spans
