# SPDX-License-Identifier: Apache-2.0
"""The output of `kafka-lag tasks`, for numbers that all differ."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from rich.console import Console

from kafka_lag import contract
from kafka_lag_cli.state.groups_over_time import MINUTE_MS, GroupsOverTime, Period
from kafka_lag_cli.tasks import describe_group, describe_in_full, print_group, print_groups
from tests.builders import HOUR, NOON
from tests.golden import Golden, write_once

ROW: dict[str, Any] = {
    **dict.fromkeys(contract.COLUMNS[contract.GROUPS]),
    "consumer_group": "billing",
    "taken_at": NOON,
    "members": 4,
    "partitions": 12,
    "tasks_needed": 6,
    "last_tasks_needed": 6,
    "tasks_needed_reason": contract.NEEDED_FOR_RATE,
    "capacity": 100.0,
    "capacity_low": 90.0,
    "capacity_high": 110.0,
    "capacity_samples": (90.0, 110.0),
    "rates_lately": (540.0, 550.0, 560.0),
    "produce_rate": 550.0,
    "consume_rate": 500.0,
    "lag": 1_200,
    "time_lag_seconds": 90.0,
    "sla_seconds": 60.0,
    "hottest_topic": "orders",
    "hottest_partition": 3,
    "hottest_share": 0.25,
}
PERIOD = Period(NOON - 14 * 24 * HOUR, NOON, 5 * MINUTE_MS)
# Of an hour on two Tuesdays.
HOUR_OF_WEEK = (2, 2, 2, 3, 3, 3, 3, 5, 5, 5, 5, 7)
NOTHING: dict[str, Any] = dict.fromkeys(
    ("tasks_needed", "members", "capacity", "lag", "partitions", "produce_rate")
)


def over_time(*needed: int, unreadable: int = 0) -> GroupsOverTime:
    """The tasks that were needed from Tuesday at 4 on, a number a slot."""
    times = np.array(PERIOD.slots) * PERIOD.slot_ms
    values = np.full((len(times), 1), np.nan)
    (first,) = np.flatnonzero(times == NOON - 4 * 24 * HOUR - 8 * HOUR)
    values[first : first + len(needed), 0] = needed
    has_run = np.ones(len(times), bool)
    return GroupsOverTime(
        PERIOD, ("billing",), times, has_run, unreadable, {"tasks_needed": values}
    )


def printed(
    *, with_week: bool = False, needed: tuple[int, ...] = HOUR_OF_WEEK, **columns: Any
) -> str:
    """What people read; the hours of the week are the same in each case."""
    out = io.StringIO()
    period = over_time(*needed, unreadable=0 if needed else 2)
    print_group("shop", {**ROW, **columns}, period, 1, Console(file=out, width=100))
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return "\n".join(each for each in lines if with_week or not each.strip()[:2].isdigit())


def printed_groups(*rows: dict[str, Any], needed: tuple[int, ...] = HOUR_OF_WEEK) -> str:
    out = io.StringIO()
    lines = [describe_group("shop", {**ROW, **row}, over_time(*needed)) for row in rows]
    print_groups(lines, 14, Console(file=out, width=100))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def test_one_group_and_all_of_them_are_printed_with_what_is_known(golden: Golden) -> None:
    unknown: dict[str, Any] = {**NOTHING, "tasks_needed_reason": contract.NO_CAPACITY}
    cases = {
        "all is known": printed(with_week=True),
        "nothing is known": printed(needed=(), **unknown),
        "more tasks do not help": printed(rates_lately=(2_000.0,)),
        "groups": printed_groups({}, {"members": 0}, {"cause": "open_transaction"}),
        "groups of which nothing is known": printed_groups(unknown, needed=()),
    }
    golden.holds("tasks.txt", write_once((name, text.splitlines()) for name, text in cases.items()))


def test_json_has_the_period_and_its_quartiles() -> None:
    found = describe_in_full("shop", ROW, over_time(*HOUR_OF_WEEK), 1)
    names = ("slot_seconds", "runs_read", "runs_unreadable", "since")
    assert tuple(found[name] for name in names) == (300, 4_033, 0, "2026-01-17T12:00:00Z")
    quartiles = ("minutes_known", "lower_quartile", "median", "upper_quartile", "most")
    assert tuple(found[name] for name in quartiles) == (60, 2, 3, 5, 7)


def test_a_row_a_group_has_the_names_of_the_snapshots() -> None:
    row = describe_group("shop", ROW, over_time(*HOUR_OF_WEEK))

    names = ("members", "tasks_needed", "capacity_high", "lag", "most")
    assert tuple(row[name] for name in names) == (4, 6, 110.0, 1200, 7)
    assert row["why"] == "550/s are written, one member reads 100/s"
