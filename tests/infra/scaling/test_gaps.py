# SPDX-License-Identifier: Apache-2.0
"""Missing or late points never scale a service beyond the points that arrived."""

from __future__ import annotations

import pytest

from dev.sim.autoscaling import Service, series_of_group
from dev.sim.cloudwatch import Metrics
from kafka_lag_config.scaling import Scaling
from kafka_lag_config.scaling_rules import rules_of
from kafka_lag_config.simulation.evaluation import Assumptions
from tests.infra.configured import SERVICE, STEPS

LAG = series_of_group("ScalingLag", "billing")
BY_STEPS = Scaling.model_validate({**SERVICE, "min": 1, "max": 8, "steps": STEPS})
BEGUN = 4
# Quiet, between, high; no value where nothing ever comes.
SIGNS = {"0": 0.0, "=": 500.0, "X": 3000.0, "-": None}


def changes(signs: str, extra: int = 2) -> list[tuple[int, int]]:
    """Minutes in which the number of tasks changed, and by how many, from four on."""
    metrics = Metrics()
    for minute, sign in enumerate(signs):
        if (value := SIGNS[sign]) is not None:
            metrics.put(LAG, minute, value)
    service = Service(rules_of(BY_STEPS), BY_STEPS, metrics, BEGUN, Assumptions(extra))
    by_minute = [(minute, service.minute(minute)) for minute in range(len(signs))]
    return [(minute, change) for minute, change in by_minute if change]


@pytest.mark.parametrize(
    ("signs", "expected"),
    [
        pytest.param("X" * 3, [(2, 1)], id="three minutes out"),
        pytest.param("XX-X", [(3, 1)], id="with a gap between"),
        pytest.param("X-X-X--", [(4, 1), (6, 1)], id="with two gaps, for as far as it looks back"),
        pytest.param("XX" + "-" * 30, [], id="two and then silence"),
        pytest.param("X--" + "-" * 25, [], id="one high minute and silence"),
        pytest.param("=====X" + "-" * 30, [], id="one and then silence"),
        pytest.param("X====X====X====", [], id="now and then"),
        pytest.param("0" * 14 + "-" * 30, [], id="quiet a minute too short"),
        pytest.param("0" * 14 + "=" + "0" * 14, [], id="quiet with a minute that was not"),
        pytest.param("0" * 15, [(14, -1)], id="quiet"),
        pytest.param("0" * 16 + "-" * 25, [(14, -1)], id="quiet and then silence"),
        pytest.param("0" * 10 + "--" + "0" * 5, [(16, -1)], id="quiet with gaps between"),
        pytest.param("0" * 10 + "---" + "0" * 5, [], id="quiet with more gaps than it reaches"),
        # One quiet minute, long ago, would do where missing data is missing.
        pytest.param("0" + "-" * 60, [], id="quiet once"),
        pytest.param("-" * 60, [], id="nothing at all"),
        pytest.param(("0" * 5 + "---") * 8, [], id="quiet, but never for long"),
    ],
)
def test_gaps(signs: str, expected: list[tuple[int, int]]) -> None:
    assert changes(signs) == expected


@pytest.mark.parametrize("extra", [0, 5])
def test_a_service_is_scaled_to_its_bounds_and_no_further(extra: int) -> None:
    assert sum(change for _, change in changes("X" * 60, extra)) == 8 - BEGUN
    assert sum(change for _, change in changes("0" * 90, extra)) == 1 - BEGUN
