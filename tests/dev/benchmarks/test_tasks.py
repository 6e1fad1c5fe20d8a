# SPDX-License-Identifier: Apache-2.0
"""What `dev.benchmarks.tasks` plants and how it judges; its groups on brokers run there alone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from dev.benchmarks.tasks.cases import (
    advice_cases,
    limited_cases,
    shared_cases,
    unknown_cases,
)
from dev.benchmarks.tasks.judge import (
    Ledger,
    is_right,
    numbers_to_try,
    says_no_help,
    says_shared_limit,
)

EVERY = [
    *advice_cases(),
    *unknown_cases(),
    *(case for case, _ in limited_cases()),
    *(case for case, _ in shared_cases()),
]


def test_every_case_writes_all_of_its_load_to_a_topic_of_its_own() -> None:
    assert [sum(case.shares) for case in EVERY] == pytest.approx([1.0] * len(EVERY))
    assert len({case.topic for case in EVERY}) == len(EVERY) == 55


@pytest.mark.parametrize(
    ("read", "age"),
    [
        pytest.param([5, 5], 0.0, id="all read"),
        pytest.param([3, 5], 1.5, id="the last record unread"),
        pytest.param([5, 0], 3.5, id="a partition not read at all"),
        pytest.param([4, 3], 1.5, id="one is older than the other"),
    ],
)
def test_the_age_is_that_of_the_oldest_unread_record(read: list[int], age: float) -> None:
    ledger = Ledger.empty()
    for time, ends in ((0.0, [0, 0]), (1.0, [2, 3]), (2.0, [3, 3]), (3.0, [5, 5])):
        ledger.add(time, np.array(ends))
    assert ledger.age(4.5 if age else 9.0, np.array(read)) == age


@pytest.mark.parametrize(
    ("advice", "numbers"), [(1, [2]), (2, [3]), (3, [1, 4]), (8, [6, 9]), (11, [9, 12]), (12, [])]
)
def test_two_fewer_and_one_more_are_tried(advice: int, numbers: list[int]) -> None:
    assert numbers_to_try(advice, most=12) == numbers


@pytest.mark.parametrize(
    ("advice", "ages", "right"),
    [
        pytest.param(4, {2: 5.1, 5: 5.0}, True, id="between them"),
        pytest.param(4, {2: 5.0, 5: 1.0}, False, id="too many"),
        pytest.param(4, {2: 9.0, 5: 5.1}, False, id="too few"),
        pytest.param(1, {2: 1.0}, True, id="the least there is"),
        pytest.param(30, {}, False, id="more than were tried"),
        pytest.param(None, {}, False, id="no number"),
    ],
)
def test_an_advice_is_right_within_one_task(
    advice: int | None, ages: Mapping[int, float], right: bool
) -> None:
    assert is_right(advice, ages, promise=5.0) is right


def _row(**values: object) -> dict[str, object]:
    return {
        "members": 2,
        "partitions": 12,
        "capacity": 10.0,
        "produce_rate": 30.0,
        "hottest_topic": "t",
        "hottest_partition": 3,
        "hottest_share": 0.1,
        "shared_limit_members": None,
        "tasks_needed": 3,
        "tasks_needed_reason": "backlog",
        "worst_status": "WARN",
        **values,
    }


@pytest.mark.parametrize(
    ("values", "says"),
    [({}, False), ({"hottest_share": 0.4}, True), ({"partitions": 2}, True)],
    ids=["more help", "a hot partition", "few partitions"],
)
def test_that_more_do_not_help_is_taken_from_the_command(
    values: dict[str, object], says: bool
) -> None:
    assert says_no_help(_row(**values)) is says


@pytest.mark.parametrize(("more", "says"), [(2.0, False), (1.0, True)], ids=["twice", "no more"])
def test_that_a_store_is_full_is_taken_from_the_command(more: float, says: bool) -> None:
    rows = [
        {
            "taken_at": minute * 60_000,
            "members": 2 if minute < 40 else 4,
            "partitions": 24,
            "consume_rate": 10.0 if minute < 40 else 10.0 * more,
            "lag": 9_000,
            "max_lag": 500,
        }
        for minute in range(80)
    ]
    assert says_shared_limit(rows) is says
