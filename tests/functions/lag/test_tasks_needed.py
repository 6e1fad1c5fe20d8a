# SPDX-License-Identifier: Apache-2.0
"""Tasks that a group needs: for the rate, for the backlog, and when they are not known."""

from __future__ import annotations

import pytest

from kafka_lag import contract
from kafka_lag.lag.group_settings import ByName, Rules, TaskSettings
from tests.functions.lag.builders import Runs, group

NEEDED = ("tasks_needed", "tasks_needed_reason")


def with_capacity(**settings: float) -> Rules:
    return Rules(tasks=ByName.of([("g", TaskSettings(**settings))]))  # type: ignore[arg-type]


def test_without_a_capacity_there_is_no_number() -> None:
    runs = Runs()
    runs.run(0, 0, 0)
    assert group(runs.run(1, 600, 600), *NEEDED) == (None, contract.NO_CAPACITY)


def test_the_first_reading_shows_no_rate() -> None:
    assert group(Runs(with_capacity(capacity=10)).run(0, 0, 0), *NEEDED) == (None, contract.NO_RATE)


@pytest.mark.parametrize(("capacity", "needed"), [(10.0, 1), (9.0, 1), (1000.0, 1)])
def test_a_partition_is_one_task_at_most(capacity: float, needed: int) -> None:
    runs = Runs(with_capacity(capacity=capacity))
    runs.run(0, 0, 0)
    assert group(runs.run(1, 600, 600), "tasks_needed") == (needed,)


def test_nothing_written_and_nothing_to_read_needs_no_task() -> None:
    runs = Runs(with_capacity(capacity=10))
    runs.run(0, 600, 600)
    assert group(runs.run(1, 600, 600), *NEEDED) == (0, contract.NEEDED_FOR_RATE)


def test_a_partition_that_was_not_read_makes_it_unknown() -> None:
    runs = Runs(with_capacity(capacity=10))
    runs.run(0, 0, 0)
    runs.run(1, 600, 600)
    found = group(runs.run(2, 1200, contract.NO_LEADER), *NEEDED)
    assert found == (None, contract.PARTITIONS_UNREAD)
