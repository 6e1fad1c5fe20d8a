# SPDX-License-Identifier: Apache-2.0
"""What `dev.benchmarks.tasks` plants and how it judges; its groups on brokers run there alone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dev.benchmarks.tasks.cases import (
    Bursts,
    Case,
    advice_cases,
    hot,
    limited_cases,
    shared_cases,
    skewed,
    unknown_cases,
)
from dev.benchmarks.tasks.judge import (
    Ledger,
    is_right,
    numbers_to_try,
    says_no_help,
    says_shared_limit,
)
from dev.benchmarks.tasks.members import Budget

EVERY = [
    *advice_cases(),
    *unknown_cases(),
    *(case for case, _ in limited_cases()),
    *(case for case, _ in shared_cases()),
]


@given(
    st.floats(2, 20),
    st.floats(0.1, 0.9),
    st.floats(0.1, 1.1),
    st.integers(0, 20),
    st.floats(0, 1),
)
def test_bursts_write_the_mean_in_each_period(
    every: float, share: float, times: float, periods: int, part: float
) -> None:
    bursts = Bursts(every, every * share, times)
    until = bursts.written((periods + part) * every)
    assert until + bursts.written(every) == pytest.approx(
        bursts.written((periods + 1 + part) * every)
    )
    assert bursts.written(periods * every) == pytest.approx(periods * every)


@pytest.mark.parametrize(
    ("minutes", "written"), [(2, 3.0), (4, 6.0), (6, 7.0), (8, 8.0), (10, 11.0)]
)
def test_a_burst_comes_first_in_its_period(minutes: float, written: float) -> None:
    assert Bursts(8, 4, 1.5).written(minutes) == pytest.approx(written)


def test_a_case_writes_its_load_to_its_partitions() -> None:
    case = Case("a", 3.0, hot(4, 0.7))
    assert case.written(10).tolist() == pytest.approx([3.0, 3.0, 21.0, 3.0])


def test_every_case_writes_all_of_its_load_to_a_topic_of_its_own() -> None:
    assert [sum(case.shares) for case in EVERY] == pytest.approx([1.0] * len(EVERY))
    assert len({case.topic for case in EVERY}) == len(EVERY) == 55


def test_a_skewed_topic_has_its_largest_share_not_first() -> None:
    shares = skewed(16, 0.5)
    assert sorted(shares) != list(shares) != sorted(shares, reverse=True)
    assert max(shares) / min(shares) == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("store", "contention", "members", "gives"),
    [(None, 0.0, 9, float("inf")), (2.0, 0.0, 9, 2.0), (2.0, 0.1, 1, 2.0), (2.0, 0.1, 6, 1.0)],
)
def test_a_store_gives_less_the_more_members_contend(
    store: float | None, contention: float, members: int, gives: float
) -> None:
    case = Case("a", 1.0, store=store, contention=contention)
    assert case.store_gives(members) == pytest.approx(gives)


def test_a_budget_is_so_many_records_a_second_and_saves_up_a_little() -> None:
    budget = Budget(100.0, saved=0.5)
    assert budget.refill(7.0) == 0
    assert budget.refill(7.2) == pytest.approx(20)
    budget.spend(15)
    assert budget.refill(7.3) == pytest.approx(15)
    assert budget.refill(99.0) == pytest.approx(50)


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
