# SPDX-License-Identifier: Apache-2.0
"""The capacity of one member: learnt from minutes with a backlog, and from nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag.lag.group_settings import ByName, Rules, TaskSettings
from tests.functions.lag.builders import Runs, group

# Records in the log at each run, and what a consumer of 600 a minute has read of them.
END, A_MINUTE = 100_000, 600


def slow_runs(count: int, rules: Rules | None = None, **more: Any) -> Any:
    """The last report of so many runs, in which one member of 10 records/s has a backlog."""
    runs = Runs(rules or Rules())
    for minute in range(count - 1):
        runs.run(minute, A_MINUTE * minute, END, **more)
    return runs.run(count - 1, A_MINUTE * (count - 1), END, **more)


@pytest.mark.parametrize(("runs", "known"), [(4, None), (5, 10.0), (30, 10.0)])
def test_the_capacity_is_known_after_three_minutes_with_a_backlog(
    runs: int, known: float | None
) -> None:
    # The first two runs are needed to see the commit move.
    assert group(slow_runs(runs), "capacity", "capacity_low", "capacity_high") == (known,) * 3


def test_the_last_fifteen_samples_are_there() -> None:
    assert group(slow_runs(30), "capacity_samples") == ((10.0,) * 15,)


def test_a_capacity_that_is_configured_wins() -> None:
    rules = Rules(tasks=ByName.of([("g", TaskSettings(capacity=77.0))]))
    assert group(slow_runs(30, rules), "capacity", "capacity_low") == (77.0, 10.0)


def test_a_group_without_known_members_has_none() -> None:
    assert group(slow_runs(30, members=0), "capacity", "capacity_samples") == (None, None)
