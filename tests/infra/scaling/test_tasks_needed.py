# SPDX-License-Identifier: Apache-2.0
"""Services that are set to the tasks needed: known, unknown, and the value used instead."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import pytest

from dev.sim.autoscaling import Service, series_of_group
from dev.sim.cloudwatch import Metrics
from kafka_lag_config.scaling import Scaling
from kafka_lag_config.scaling_rules import rules_of
from kafka_lag_config.simulation.evaluation import Assumptions

BEGUN = 4
STEPS = {"out": [{"above": 100, "add": 2}], "below": 10}


def scaling(**how: Any) -> Scaling:
    service = {"group": "g", "ecs_cluster": "web", "service": "worker"}
    return Scaling.model_validate({**service, "min": 1, "max": 50, "partitions": 60, **how})


def tasks(
    how: Scaling,
    values: dict[str, list[float | None]],
    assumed: Assumptions | None = None,
) -> list[int]:
    """The number at the end of each minute, by metrics named like `g TasksNeeded`."""
    metrics, minutes = Metrics(), len(next(iter(values.values())))
    for name, column in values.items():
        group, metric = name.split()
        series = series_of_group(metric, group)
        for minute, value in enumerate(column):
            if value is not None:
                metrics.put(series, minute, value)
    service = Service(rules_of(how), how, metrics, BEGUN, assumed or Assumptions())
    return list(accumulate(map(service.minute, range(minutes)), initial=BEGUN))[1:]


@pytest.mark.parametrize("number", [1, 2, 20, 21, 40, 41, 50])
def test_each_number_is_set_at_once_up_and_down(number: int) -> None:
    how = scaling(tasks={})
    assert tasks(how, {"g TasksNeeded": [number, number]}) == [number, number]
    assert tasks(how, {"g TasksNeeded": [50, number]}) == [50, number]
    assert tasks(how, {"g TasksNeeded": [1, number]}) == [1, number]


def test_no_policy_has_more_steps_than_aws_takes() -> None:
    rules = rules_of(scaling(tasks={}, min=0, max=45))
    numbers = [[step.tasks for step in rule.steps] for rule in rules]
    assert numbers == [[*range(20)], [*range(20, 40)], [*range(40, 46)]]


def test_what_is_needed_beyond_the_bounds_is_set_to_them() -> None:
    assert tasks(scaling(tasks={}, min=2), {"g TasksNeeded": [0, 99]}) == [2, 50]
    assert tasks(scaling(tasks={}, min=0), {"g TasksNeeded": [0, 1]}) == [0, 1]


def test_a_number_that_is_not_known_changes_nothing() -> None:
    newest = Assumptions(extra_points=0)
    found = tasks(scaling(tasks={}), {"g TasksNeeded": [None, 7, None, None]}, newest)
    assert found == [4, 7, 7, 7]


def test_of_two_groups_the_larger_number_counts_and_both_must_be_known() -> None:
    how = scaling(tasks={"groups": ["h"]})
    values: dict[str, list[float | None]] = {
        "g TasksNeeded": [7, 2, None, 30],
        "h TasksNeeded": [3, 9, 50, 1],
    }
    assert tasks(how, values, Assumptions(extra_points=0)) == [7, 9, 9, 30]


def quiet(minutes: int) -> list[float | None]:
    return [0.0] * minutes


def test_steps_beside_it_act_only_while_the_number_is_not_known() -> None:
    how = scaling(tasks={}, steps=STEPS)
    high: list[float | None] = [500.0] * 6
    nothing: list[float | None] = [None] * 6
    assert tasks(how, {"g TasksNeeded": nothing, "g ScalingLag": high})[-1] > BEGUN
    known: list[float | None] = [4.0] * 6
    assert tasks(how, {"g TasksNeeded": known, "g ScalingLag": high}) == [4] * 6
    assert tasks(how, {"g TasksNeeded": [4.0] * 70, "g ScalingLag": quiet(70)}) == [4] * 70


def test_steps_beside_it_remove_a_task_after_an_hour_and_rest_for_another() -> None:
    how = scaling(tasks={}, steps=STEPS)
    found = tasks(how, {"g TasksNeeded": [None] * 130, "g ScalingLag": quiet(130)})
    assert (found[58], found[59], found[118], found[119]) == (4, 3, 3, 2)


def test_without_either_metric_nothing_is_scaled_and_nor_where_fill_sees_no_empty_one() -> None:
    how = scaling(tasks={}, steps=STEPS)
    nothing: list[float | None] = [None] * 70
    assert tasks(how, {"g TasksNeeded": nothing, "g ScalingLag": nothing}) == [4] * 70
    unseen = Assumptions(empty_series="missing")
    values = {"g TasksNeeded": nothing, "g ScalingLag": quiet(70)}
    assert tasks(how, values, unseen) == [4] * 70


def test_steps_that_name_their_own_rest_keep_it() -> None:
    own = {**STEPS, "in_minutes": 20, "in_cooldown_seconds": 900}
    found = tasks(
        scaling(tasks={}, steps=own), {"g TasksNeeded": [None] * 40, "g ScalingLag": quiet(40)}
    )
    assert (found[18], found[19], found[34]) == (4, 3, 2)


@pytest.mark.parametrize(
    ("interval", "out", "into"),
    [(1, (3, 5), (15, 15)), (2, (2, 3), (8, 8)), (4, (1, 2), (4, 4)), (60, (1, 1), (1, 1))],
)
def test_of_the_steps_that_stand_in_a_part_of_a_run_counts_whole(
    interval: int, out: tuple[int, int], into: tuple[int, int]
) -> None:
    found = {rule.name: rule.periods(interval) for rule in rules_of(scaling(steps=STEPS))}
    assert found == {"scale-out": out, "scale-in": into}
