# SPDX-License-Identifier: Apache-2.0
"""Tasks by hour of the week, what other numbers would have done, and stores that are full: planted
weeks whose answers follow from how they were made."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame
from kafka_lag.wording.tasks import explain_limits
from kafka_lag_cli.state.groups_over_time import MINUTE_MS, Period
from kafka_lag_cli.tasks.comparison import COLUMNS, START_MINUTES, Comparison, compare
from kafka_lag_cli.tasks.policy import follow_tasks_needed
from kafka_lag_cli.tasks.shared_limit import find_saturated_days
from kafka_lag_cli.tasks.week import find_quartiles
from tests.builders import HOUR
from tests.cli.snapshots import ABSENT
from tests.golden import Golden

DAY = 24 * HOUR
MONDAY = 1_769_990_400_000  # 2026-02-02T00:00:00Z
CAPACITY = 100.0


def runs(start: int = MONDAY, step: int = MINUTE_MS, **columns: Any) -> Frame:
    """A row a run; columns that are not named are as of a group that does well."""
    count = max(map(len, columns.values()))
    usual: dict[str, Sequence[float | None]] = {
        "members": [1] * count,
        "tasks_needed": [1] * count,
        "produce_rate": [50.0] * count,
        "consume_rate": [50.0] * count,
        "capacity": [CAPACITY] * count,
        "lag": [0] * count,
        "max_lag": [0] * count,
        "partitions": [12] * count,
        "time_lag_seconds": [0.0] * count,
    }
    values = {**usual, **columns}
    return Frame.of(
        {
            "taken_at": Column.of(start + np.arange(count) * step),
            **{name: Column.optional(each, np.float64) for name, each in values.items()},
        }
    )


def exactly(first: int, needed: Sequence[float]) -> list[int]:
    """A policy that sets what is needed at once."""
    del first
    return [int(number) for number in needed]


def compared(frame: Frame, step: int = MINUTE_MS, **options: Any) -> Comparison:
    found = compare(frame, step, exactly, **({"partitions": 12} | options))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([4], (4, 4, 4, 4)),
        ([1, 2, 3, 4], (1, 2, 3, 4)),
        ([4, 1, 3, 2, 9], (2, 3, 4, 9)),
        ([2] * 7 + [12], (2, 2, 2, 12)),
        ([2] * 5 + [12] * 3, (2, 2, 12, 12)),
    ],
)
def test_quartiles_are_numbers_that_were_needed(
    values: list[int], expected: tuple[int, ...]
) -> None:
    found = find_quartiles(Column.of(np.array(values, np.int32)), 5 * MINUTE_MS)

    assert found is not None
    assert (found.lower, found.median, found.upper, found.most) == expected
    assert found.minutes == 5 * len(values)


def test_task_hours_and_changes_are_those_of_each_side() -> None:
    found = compared(runs(members=[4] * 60 + [6] * 60, tasks_needed=[2] * 30 + [3] * 60 + [2] * 30))

    assert found.minutes == 120
    assert (found.recorded.task_hours, found.recorded.changes) == (10.0, 1)
    assert (found.by_tasks_needed.task_hours, found.by_tasks_needed.changes) == (5.0, 2)


@pytest.mark.parametrize("column", ["members", "tasks_needed", "produce_rate", "capacity", "lag"])
def test_minutes_of_which_something_is_unknown_count_on_neither_side(column: str) -> None:
    values: list[float | None] = [5.0] * 60
    values[20:30] = [None] * 10
    whole: dict[str, Any] = {"members": [5.0] * 60, "tasks_needed": [5.0] * 60}

    found = compared(runs(**(whole | {column: values})))

    assert found.minutes == 50
    assert found.recorded.task_hours == found.by_tasks_needed.task_hours
    nothing = runs(**(whole | {column: [None] * 60}))
    assert compare(nothing, MINUTE_MS, exactly, partitions=9) is None


@pytest.mark.parametrize(("missing", "minutes"), [(1, 60), (2, 59), (10, 51)])
def test_a_run_stands_for_the_next_one_too_where_that_is_missing(
    missing: int, minutes: int
) -> None:
    values: list[float | None] = [5.0] * 60
    values[20 : 20 + missing] = [None] * missing

    unread: dict[str, Any] = dict.fromkeys(COLUMNS, values)

    found = compared(runs(**unread))

    assert found.minutes == minutes


def test_minutes_over_the_promise_are_those_above_it() -> None:
    frame = runs(time_lag_seconds=[60.0] * 10 + [60.1] * 7 + [None] * 3)

    assert compared(frame, sla_seconds=60.0).recorded.minutes_over == 7
    nothing_promised = compared(frame)
    for outcome in (nothing_promised.recorded, nothing_promised.by_tasks_needed):
        assert (outcome.minutes_over, outcome.minutes_over_modelled) == (None, None)


BACKLOG = {"lag": 60_000, "time_lag_seconds": 600.0, "tasks_needed": 2, "members": 2}


# With as many members as read x records/s less than are written, the oldest record's age grows by
# x / written a second, and falls likewise. Of 60 minutes, with a promise of 300 s and 12
# partitions, so many are over it.
@pytest.mark.parametrize(
    ("over", "partitions", "columns"),
    [
        pytest.param(0, 12, {"produce_rate": 100.0}, id="just enough"),
        pytest.param(0, 12, {"produce_rate": 90.0, "tasks_needed": 3}, id="more than enough"),
        # Half of it is left: 30 s a minute, so 300 s are passed after the tenth.
        pytest.param(50, 12, {"produce_rate": 200.0}, id="half as many as needed"),
        # 138,000 records lie there when the ten read, which make 90,000 of them in a minute (450 s)
        # and 42,000 in two.
        pytest.param(
            11 + START_MINUTES,
            12,
            {"produce_rate": 200.0, "tasks_needed": [1] * 20 + [10] * 40},
            id="then many",
        ),
        # 60,000 records of the last 600 s: with 100/s more than are written 300 s are left after
        # five minutes.
        pytest.param(4, 12, BACKLOG | {"produce_rate": 100.0}, id="a backlog that was there"),
        # Members beyond the partitions read nothing.
        pytest.param(50, 2, {"produce_rate": 400.0, "tasks_needed": 8}, id="few partitions"),
        pytest.param(0, 4, {"produce_rate": 400.0, "tasks_needed": 8}, id="enough partitions"),
    ],
)
def test_the_model_counts_minutes_in_which_the_oldest_record_is_too_old(
    over: int, partitions: int, columns: dict[str, Any]
) -> None:
    whole: dict[str, Any] = {
        name: value if isinstance(value, list) else [value] * 60 for name, value in columns.items()
    }
    found = compared(runs(**whole), sla_seconds=300.0, partitions=partitions)

    assert found.by_tasks_needed.minutes_over_modelled == over


@pytest.mark.parametrize(("age", "own"), [(0.0, 50), (301.0, 0)])
def test_minutes_late_in_the_model_alone_are_those_of_its_own_backlog(age: float, own: int) -> None:
    """Two members kept up, and one, as was needed for a moment, cannot."""
    frame = runs(
        produce_rate=[200.0] * 60,
        members=[2] * 60,
        tasks_needed=[1] * 60,
        time_lag_seconds=[0.0, *[age] * 59],
    )

    found = compared(frame, sla_seconds=300.0)

    assert found.by_tasks_needed.minutes_over_modelled == 50
    assert found.minutes_of_own_backlog == own


def test_the_model_of_what_was_says_what_was_seen() -> None:
    """A fluid consumer that reads 200/s of a curve up to 300/s, seen by a collector."""
    produced = 200.0 + 100.0 * np.sin(np.arange(1440) * 2 * np.pi / 720)
    left, backlog = [], 0.0
    for rate in produced:
        backlog = max(backlog + (rate - 200.0) * 60, 0.0)
        left.append(backlog)
    written = np.concatenate([[0.0], np.cumsum(produced * 60)])
    read = written[1:] - left
    ages = np.arange(1, 1441) * 60 - np.interp(read, written, np.arange(1441) * 60)

    found = compared(
        runs(
            produce_rate=produced.tolist(),
            members=[2] * 1440,
            tasks_needed=[3] * 1440,
            lag=[0, *left[:-1]],
            time_lag_seconds=ages.tolist(),
        ),
        sla_seconds=600.0,
    )

    assert found.recorded.minutes_over_modelled == found.recorded.minutes_over
    assert found.recorded.minutes_over == int((ages > 600).sum()) > 100
    assert found.by_tasks_needed.minutes_over_modelled == 0


def test_the_policy_sets_what_is_needed_within_its_bounds() -> None:
    needed = [3.0] * 5 + [30.0] * 3 + [float("nan")] * 2 + [1.0] * 5

    tasks = follow_tasks_needed(4, needed, least=2, most=12)

    assert tasks[0] == 4
    assert (tasks[4], tasks[9], tasks[14]) == (3, 12, 2)
    assert sum(a != b for a, b in pairwise(tasks)) == 3


def saturated_day(
    few: int, many: int, rate: Callable[[int], float], backlog: float = 1e6, on_one: float = 0.1
) -> Frame:
    """Twelve hours of few members, then as many of more, with a backlog on all partitions."""
    members = [few] * 144 + [many] * 144
    read = [rate(number) for number in members]
    lag = [backlog] * 288
    return runs(
        step=5 * MINUTE_MS,
        members=members,
        consume_rate=read,
        lag=lag,
        max_lag=[backlog * on_one] * 288,
    )


RESTLESS = runs(
    step=5 * MINUTE_MS,
    members=[4, 8] * 100,
    consume_rate=[400.0] * 200,
    lag=[1e6] * 200,
    max_lag=[1e5] * 200,
)


@pytest.mark.parametrize(
    ("frame", "is_slower"),
    [
        pytest.param(saturated_day(4, 8, lambda _: 400.0), False, id="shared store is full"),
        pytest.param(saturated_day(4, 8, lambda n: 480.0 - 20 * n), True, id="and gets slower"),
        pytest.param(saturated_day(2, 3, lambda n: 200.0 + n), False, id="hardly more"),
        pytest.param(saturated_day(4, 8, lambda n: 300.0 + 24 * n), False, id="not a quarter"),
        pytest.param(saturated_day(4, 8, lambda n: 300.0 + 26 * n), None, id="a quarter of it"),
        pytest.param(saturated_day(4, 8, lambda n: 100.0 * n), None, id="each reads as much"),
        pytest.param(saturated_day(4, 8, lambda _: 400.0, backlog=1e4), None, id="no backlog"),
        pytest.param(saturated_day(4, 8, lambda _: 400.0, on_one=0.9), None, id="on one partition"),
        pytest.param(saturated_day(12, 24, lambda _: 400.0), None, id="beyond the partitions"),
        pytest.param(saturated_day(4, 4, lambda _: 400.0), None, id="one number of members"),
        pytest.param(RESTLESS, None, id="never settled"),
    ],
)
def test_a_day_on_which_more_members_read_no_more_is_found(
    frame: Frame, is_slower: bool | None
) -> None:
    found = list(find_saturated_days(frame, 5 * MINUTE_MS))

    if is_slower is None:
        assert found == []
        return
    (day,) = found
    members = frame.numbers("members").values
    assert (day.day, day.fewer, day.more) == ("2026-02-02", members[0], max(members))
    assert day.is_slower == is_slower


def a_row(**columns: Any) -> dict[str, Any]:
    usual = {"members": 3, "partitions": 6, "capacity": 100.0, "produce_rate": 250.0}
    return {**ABSENT, **usual, **columns}


def slow(rate: float) -> str:
    """Evidence of a member that reads so many records/s."""
    return json.dumps({"member": "m-1", "consume_rate": rate, "produce_rate": 90.0})


HOT: dict[str, Any] = {"hottest_topic": "orders", "hottest_partition": 3}


def test_each_reason_why_more_tasks_do_not_help_has_its_sentence(golden: Golden) -> None:
    all_owned: dict[str, Any] = {"tasks_needed_reason": "partitions", "tasks_needed": 3}
    rows: list[dict[str, Any]] = [
        {},
        {"members": 6},
        {"members": 8},
        {"produce_rate": 600.0},
        {"produce_rate": 700.0},
        # All of them get too much: the one with most of it is not worth a sentence.
        {"produce_rate": 700.0, "hottest_share": 0.24},
        {"produce_rate": 700.0, "hottest_share": 0.26},
        {"hottest_share": 0.41},
        {"hottest_share": 0.39},
        {"hottest_share": 0.9, "produce_rate": None},
        {"hottest_share": 0.9, "capacity": None},
        {"shared_limit_members": 3, "shared_limit_rate": 75.0},
        {"worst_status": "stalled"},
        {"worst_status": "falling_behind"},
        all_owned,
        all_owned | {"tasks_needed": 4},
        {"members": 0, "produce_rate": 700.0},
        {"cause": "slow_member", "cause_evidence": slow(40.0), "produce_rate": 700.0},
        {"cause": "slow_member", "cause_evidence": slow(60.0)},
        {"cause": "open_transaction"},
    ]
    cases = [(str(row), explain_limits(a_row(**HOT | row))) for row in rows]
    # Tasks with several members have all partitions sooner.
    cases += [
        (f"two members a task, {members}", explain_limits(a_row(members=members, **all_owned), 2))
        for members in (5, 6)
    ]
    lines = [f"{name} -> {' | '.join(sentences) or 'nothing'}" for name, sentences in cases]
    golden.holds("tasks-limits.txt", "\n".join(lines))


@pytest.mark.parametrize(
    ("days", "interval", "minutes"),
    [(1, 60, 1), (2, 60, 1), (3, 60, 2), (14, 60, 5), (15, 60, 10), (14, 15, 5), (1, 300, 5)],
)
def test_slots_are_as_short_as_may_be(days: int, interval: int, minutes: int) -> None:
    assert Period.of(MONDAY, days, interval).slot_ms == minutes * MINUTE_MS
