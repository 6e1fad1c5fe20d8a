# SPDX-License-Identifier: Apache-2.0
"""Whatever is missing or late, nothing is scaled that the points which did come do not ask for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lag_cdk.simulation.autoscaling import ScalingAssumptions, Service
from kafka_lag_cdk.simulation.evaluation import Assumptions
from kafka_lag_cdk.simulation.metrics import Metrics, Series
from tests.infra.configured import STEPS
from tests.infra.scaling.services import Resources

LAG = Series.of("KafkaLag", "ScalingLag", {"Cluster Name": "orders", "Consumer Group": "billing"})
LEAST, MOST, BEGUN = 1, 8, 4
BELOW, FIRST = STEPS["below"], STEPS["out"][0]["above"]
OUT_POINTS, OUT_RANGE, IN_POINTS = 3, 5, 15

QUIET, BETWEEN, HIGH = 0.0, 500.0, 3000.0
SIGNS = {"0": QUIET, "=": BETWEEN, "X": HIGH, "-": None}

# A minute's value and after how many minutes it is seen; no value where nothing ever comes.
Minute = tuple[float | None, int]


def changes(
    resources: Resources, minutes: Sequence[Minute], extra: int = 2
) -> list[tuple[int, int]]:
    """Minutes in which the number of tasks changed, and by how many, from four on."""
    metrics = Metrics()
    for minute, (value, delay) in enumerate(minutes):
        if value is not None:
            metrics.put(LAG, minute, value, delay)
    service = Service(resources, metrics, BEGUN, ScalingAssumptions(alarms=Assumptions(extra)))
    by_minute = [(minute, service.minute(minute)) for minute in range(len(minutes))]
    return [(minute, change) for minute, change in by_minute if change]


def drawn(signs: str) -> list[Minute]:
    return [(SIGNS[sign], 0) for sign in signs]


def treating(resources: Resources, missing: str) -> Resources:
    """The same with alarms that take missing data for something else."""
    return {
        name: {**each, "Properties": {**each["Properties"], "TreatMissingData": missing}}
        if each["Type"] == "AWS::CloudWatch::Alarm"
        else each
        for name, each in resources.items()
    }


def minutes_between(low: float, high: float) -> st.SearchStrategy[list[Minute]]:
    """Any values of a range, any of them missing or late."""
    values = st.one_of(st.none(), st.floats(low, high))
    return st.lists(st.tuples(values, st.integers(0, 4)), max_size=60)


EXTRA = st.sampled_from([0, 1, 2, 5])


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(st.sampled_from([QUIET, QUIET, QUIET, QUIET, HIGH, None]), st.integers(0, 2)),
        max_size=90,
    ),
    EXTRA,
)
def test_every_change_rests_on_enough_points_that_came(
    resolved: dict[str, Resources], minutes: list[Minute], extra: int
) -> None:
    for minute, change in changes(resolved["steps"], minutes, extra):

        def seen(periods: int, now: int = minute) -> list[float]:
            """Values of the newest periods and the extra ones that had come by now."""
            first = max(now - periods - extra + 1, 0)
            arrived = enumerate(minutes[first : now + 1], first)
            return [
                value for at, (value, late) in arrived if value is not None and at + late <= now
            ]

        if change > 0:
            newest = seen(OUT_RANGE)[-OUT_RANGE:]
            assert sum(value >= FIRST for value in newest) >= OUT_POINTS
        else:
            newest = seen(IN_POINTS)[-IN_POINTS:]
            assert len(newest) == IN_POINTS
            assert max(newest) < BELOW


@settings(max_examples=40)
@given(minutes_between(0, 100_000), EXTRA)
def test_the_tasks_stay_within_their_bounds(
    resolved: dict[str, Resources], minutes: list[Minute], extra: int
) -> None:
    tasks = BEGUN
    for _, change in changes(resolved["steps"], minutes, extra):
        tasks += change
        assert LEAST <= tasks <= MOST


@pytest.mark.parametrize(
    ("signs", "expected"),
    [
        pytest.param("X" * 3, [(2, 1)], id="three minutes out"),
        pytest.param("XX-X", [(3, 1)], id="with a gap between"),
        pytest.param("X-X-X--", [(4, 1), (6, 1)], id="with two gaps, for as far as it looks back"),
        pytest.param("XX" + "-" * 30, [], id="two and then silence"),
        pytest.param("=====X" + "-" * 30, [], id="one and then silence"),
        pytest.param("X====X====X====", [], id="now and then"),
        pytest.param("0" * 14 + "-" * 30, [], id="quiet a minute too short"),
        pytest.param("0" * 14 + "=" + "0" * 14, [], id="quiet with a minute that was not"),
        pytest.param("0" * 15, [(14, -1)], id="quiet"),
        pytest.param("0" * 10 + "--" + "0" * 5, [(16, -1)], id="quiet with gaps between"),
        pytest.param("0" * 10 + "---" + "0" * 5, [], id="quiet with more gaps than it reaches"),
        pytest.param("0" + "-" * 60, [], id="quiet once"),
        pytest.param("-" * 60, [], id="nothing at all"),
        pytest.param(("0" * 5 + "---") * 8, [], id="quiet, but never for long"),
    ],
)
def test_gaps(resolved: dict[str, Resources], signs: str, expected: list[tuple[int, int]]) -> None:
    assert changes(resolved["steps"], drawn(signs)) == expected


@pytest.mark.parametrize(
    ("signs", "by_rule"),
    [
        pytest.param(
            # One quiet minute, long ago, would do: AWS's rule on premature alarms.
            "0" + "-" * 25,
            {"notBreaching": 0, "missing": -1, "ignore": 0},
            id="one quiet minute and silence",
        ),
        pytest.param(
            # The alarm fires when the collector dies.
            "0" * 16 + "-" * 25,
            {"notBreaching": -1, "missing": -2, "ignore": -3},
            id="quiet and then silence",
        ),
        pytest.param(
            "X--" + "-" * 25,
            {"notBreaching": 0, "missing": 3, "ignore": 0},
            id="one high minute and silence",
        ),
        pytest.param(
            "XXX" + "-" * 25,
            {"notBreaching": 3, "missing": 4, "ignore": 4},
            id="high and then silence",
        ),
    ],
)
def test_of_all_rules_for_missing_data_this_one_scales_least(
    resolved: dict[str, Resources], signs: str, by_rule: dict[str, int]
) -> None:
    found = {
        rule: sum(c for _, c in changes(treating(resolved["steps"], rule), drawn(signs)))
        for rule in by_rule
    }
    assert found == by_rule
