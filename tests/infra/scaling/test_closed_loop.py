# SPDX-License-Identifier: Apache-2.0
"""Services in a closed loop: planted loads, the collector's arithmetic, the deployed rule.

`python -m dev.benchmarks.scaling` has days of many more loads.
"""

from __future__ import annotations

import numpy as np
import pytest

from dev.benchmarks.scaling.cases import Case, flood, hot
from dev.benchmarks.scaling.runs import Trace, run

HOURS = 4
LOADS = {
    "half a task": Case("half a task", np.full(240, 0.5)),
    "three and a half": Case("three and a half", np.full(240, 3.5)),
    "eleven": Case("eleven", np.full(240, 11.0), speed=1000.0),
    "a hot partition": Case("a hot partition", np.full(240, 1.5), shares=hot(24, 0.6)),
    "a flood": Case("a flood", flood(1.0)[360:600]),
    "tasks that do not start": Case("tasks that do not start", np.full(240, 2.5), starts=2),
    "all replaced at once": Case(
        "all replaced at once", np.full(240, 3.5), away=(range(120, 123), range(180, 183))
    ),
}


@pytest.fixture(name="traces", scope="module")
def _traces() -> dict[str, Trace]:
    cases = list(LOADS.values())
    found = run([(case, "tasks") for case in cases])
    return dict(zip(LOADS, found, strict=True))


@pytest.fixture(name="by_lag", scope="module")
def _by_lag() -> Trace:
    (found,) = run([(LOADS["three and a half"], "steps")])
    return found


@pytest.mark.parametrize("load", ["half a task", "three and a half", "eleven", "a hot partition"])
def test_a_constant_load_changes_twice_at_most_and_keeps_its_promise(
    traces: dict[str, Trace], load: str
) -> None:
    trace = traces[load]
    assert trace.changes() <= 2
    assert trace.changes(since=60) == 0
    assert trace.minutes_over(since=60) == 0


@pytest.mark.thorough
def test_steps_by_lag_never_come_to_rest_at_the_same_load(by_lag: Trace) -> None:
    assert by_lag.changes(since=60) > 10


def test_a_flood_is_met_at_once_and_leaves_nothing_behind(traces: dict[str, Trace]) -> None:
    trace = traces["a flood"]
    assert max(trace.wanted) >= 10
    assert trace.wanted[-1] <= 2
    assert trace.changes() <= 6


def test_tasks_that_do_not_start_are_not_called_for_and_back(traces: dict[str, Trace]) -> None:
    trace = traces["tasks that do not start"]
    assert sorted(trace.wanted) == trace.wanted
    assert trace.changes(since=120) == 0


def test_an_outage_costs_a_change_each_way(traces: dict[str, Trace]) -> None:
    assert traces["all replaced at once"].changes(since=100) <= 2 * 2 * 2
