# SPDX-License-Identifier: Apache-2.0
"""Services over an hour: the real collector's metrics, the template's alarms and policies."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from kafka_lag_cdk.simulation.autoscaling import ScalingAssumptions
from kafka_lag_cdk.simulation.evaluation import Assumptions
from tests.infra.scaling.services import Resources
from tests.infra.scaling.simulated import Simulation, Story, simulate

LEAST, MOST = 1, 8
# What two tasks cannot work off, eight can; and what one task can.
FLOOD, TRICKLE = 6000, 600


def flood_and_ebb(minute: int) -> int:
    return FLOOD if minute < 15 else TRICKLE


DAY = Story(flood_and_ebb, 95)
UP = [(2, 2), (4, 2), (6, 2)]
# Ten minutes apart, for a rebalance and what it costs.
DOWN = [(minute, -1) for minute in range(23, 93, 10)]


@pytest.fixture(name="day", scope="module")
def _day(resolved: dict[str, Resources]) -> Simulation:
    return simulate(DAY, resolved["steps"], tasks=2)


def test_a_flood_scales_out_and_once_it_is_worked_off_in_again(day: Simulation) -> None:
    assert day.changes == UP + DOWN


def test_the_flood_is_worked_off(day: Simulation) -> None:
    assert max(day.lags) > 10_000
    assert day.lags[-1] == 0


def test_tasks_reach_both_bounds_and_pass_neither(day: Simulation) -> None:
    assert (max(day.tasks), day.tasks[-1]) == (MOST, LEAST)
    assert all(LEAST <= tasks <= MOST for tasks in day.tasks)


@pytest.mark.thorough
def test_lines_that_are_delivered_twice_change_nothing(
    resolved: dict[str, Resources], day: Simulation
) -> None:
    twice = Story(flood_and_ebb, 95, copies=2)
    assert simulate(twice, resolved["steps"], tasks=2) == day


@pytest.mark.parametrize("delay", [pytest.param(1, marks=pytest.mark.thorough), 2])
def test_lines_that_come_late_cost_time_and_no_step(
    resolved: dict[str, Resources], delay: int
) -> None:
    simulation = simulate(Story(flood_and_ebb, 95, delay=delay), resolved["steps"], tasks=2)
    assert simulation.changes[:3] == [(minute + delay, change) for minute, change in UP]
    assert [change for _, change in simulation.changes[3:]] == [-1] * 7


@pytest.mark.thorough
def test_a_policy_that_compares_the_newest_value_does_the_same(
    resolved: dict[str, Resources], day: Simulation
) -> None:
    assert simulate(DAY, resolved["steps"], tasks=2, assumed=ScalingAssumptions("newest")) == day


def test_a_service_that_follows_the_age_works_the_flood_off_too(
    resolved: dict[str, Resources],
) -> None:
    simulation = simulate(Story(flood_and_ebb, 30), resolved["age"], tasks=2)
    assert [change for _, change in simulation.changes] == [1] * (MOST - 2)
    assert simulation.lags[-1] == 0


def unchanged_from(simulation: Simulation, minute: int) -> bool:
    return all(at < minute for at, _ in simulation.changes)


@pytest.mark.parametrize("kind", ["steps", "age"])
@pytest.mark.parametrize("extra", [0, 2, 5])
def test_a_collector_that_dies_leaves_the_tasks_as_they_are(
    resolved: dict[str, Resources], kind: str, extra: int
) -> None:
    """What it published before counts for as long as CloudWatch looks back beyond its periods."""
    assumed = ScalingAssumptions(alarms=Assumptions(extra))
    dead = range(8, 60)
    high = simulate(Story(lambda _: FLOOD, 60, dead), resolved[kind], 2, assumed)
    assert all(change > 0 for _, change in high.changes)
    assert unchanged_from(high, 8 + 2 + extra)
    dead = range(18, 60)
    quiet = simulate(Story(lambda _: TRICKLE, 60, dead), resolved[kind], 8, assumed)
    assert [change for _, change in quiet.changes] == [-1] * len(quiet.changes)
    assert unchanged_from(quiet, 18 + extra)


def broken(minutes: Collection[int]) -> dict[int, Collection[int]]:
    """One of three brokers is silent for so long."""
    return {minute: {1} for minute in minutes}


@pytest.mark.parametrize("kind", ["steps", "age"])
def test_a_broker_that_is_silent_stops_a_service_from_being_scaled_in(
    resolved: dict[str, Resources], kind: str
) -> None:
    story = Story(lambda _: TRICKLE, 47, silent=broken(range(18, 30)))
    simulation = simulate(story, resolved[kind], 8)
    # The fifteen minutes before it fell silent, then fifteen more from when it is back.
    assert simulation.changes == [(14, -1), (44, -1)]


@pytest.mark.parametrize("kind", ["steps", "age"])
def test_a_broker_that_is_silent_stops_a_service_from_being_scaled_out(
    resolved: dict[str, Resources], kind: str
) -> None:
    story = Story(lambda _: FLOOD, 16, silent=broken(range(2, 14)))
    assert simulate(story, resolved[kind], 2).changes == []


def test_a_broker_that_is_silent_changes_nothing_of_a_service_that_is_steady(
    resolved: dict[str, Resources],
) -> None:
    story = Story(lambda _: 2 * 1200, 40, behind=600, silent=broken(range(12, 24)))
    simulation = simulate(story, resolved["steps"], 2)
    assert simulation.changes == []
    assert set(simulation.lags) == {600}
