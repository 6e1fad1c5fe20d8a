# SPDX-License-Identifier: Apache-2.0
"""Tasks by hour of the week, and stores that are full: planted weeks whose answers follow from how
they were made."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame
from kafka_lag.wording.tasks import explain_limits
from kafka_lag_cli.state.groups_over_time import MINUTE_MS, Period
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
        {"produce_rate": 700.0, "rates_lately": (590.0, 610.0)},
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
