# SPDX-License-Identifier: Apache-2.0
"""Quartiles of tasks needed, and the reasons why more tasks do not help."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from kafka_lag.wording.tasks import explain_limits
from kafka_lag_cli.state.groups_over_time import MINUTE_MS, Period
from kafka_lag_cli.tasks import find_quartiles
from tests.builders import HOUR
from tests.cli.snapshots import ABSENT
from tests.golden import Golden

DAY = 24 * HOUR
MONDAY = 1_769_990_400_000  # 2026-02-02T00:00:00Z


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
    minutes, *found = find_quartiles(np.array(values, np.int32), 5 * MINUTE_MS).values()

    assert tuple(found) == expected
    assert minutes == 5 * len(values)


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
