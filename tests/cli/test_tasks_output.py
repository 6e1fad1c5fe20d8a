# SPDX-License-Identifier: Apache-2.0
"""The output of `kafka-lag tasks`, for numbers that all differ."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

from rich.console import Console

from kafka_lag import contract
from kafka_lag_cli.state.groups_over_time import MINUTE_MS, Period
from kafka_lag_cli.tasks.advice import Advice, Needed
from kafka_lag_cli.tasks.output import print_advice, print_groups, write_advice, write_groups
from kafka_lag_cli.tasks.week import HourOfWeek, Quartiles
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
NEEDED = Quartiles(minutes=1_440, lower=2, median=3, upper=5, most=7)
WEEK = tuple(
    HourOfWeek(day, hour, NEEDED if (day, hour) == (1, 4) else None)
    for day in range(7)
    for hour in range(24)
)
ADVICE = Advice(
    now=Needed("shop", ROW, NEEDED),
    period=Period(NOON - 14 * 24 * HOUR, NOON, 5 * MINUTE_MS),
    runs=4_000,
    unreadable=0,
    partitions_wanted=None,
    limits=(),
    week=WEEK,
)


def printed(advice: Advice, *, with_week: bool = False) -> str:
    """What people read; the hours of the week are the same in each case."""
    out = io.StringIO()
    print_advice(advice, Console(file=out, width=100))
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return "\n".join(each for each in lines if with_week or not each.strip()[:2].isdigit())


def printed_groups(*rows: dict[str, Any], needed: Quartiles | None = NEEDED) -> str:
    out = io.StringIO()
    lines = [Needed("shop", {**ROW, **row}, needed) for row in rows]
    print_groups(lines, 14, Console(file=out, width=100))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def test_one_group_and_all_of_them_are_printed_with_what_is_known(golden: Golden) -> None:
    unknown = dict.fromkeys(
        ("tasks_needed", "members", "capacity", "lag", "partitions", "produce_rate")
    )
    row = {**ROW, **unknown, "tasks_needed_reason": contract.NO_CAPACITY}
    row |= {"hottest_partition": None, "time_lag_seconds": None}
    nothing = replace(ADVICE, now=Needed("shop", row, None), unreadable=2)
    cases = {
        "all is known": printed(ADVICE, with_week=True),
        "nothing is known": printed(nothing),
        "more tasks do not help": printed(
            replace(ADVICE, limits=("one.", "two."), partitions_wanted=20)
        ),
        "groups": printed_groups({}, {"sla_seconds": None}, {"time_lag_seconds": None}),
        "groups without promises": printed_groups({"sla_seconds": None}),
        "groups of which nothing is known": printed_groups({}, needed=None),
    }
    golden.holds("tasks.txt", write_once((name, text.splitlines()) for name, text in cases.items()))


def written(form: str, advice: Advice = ADVICE) -> str:
    out = io.StringIO()
    write_advice(advice, form, out)
    return out.getvalue()


def test_json_has_the_period_and_its_quartiles() -> None:
    found = json.loads(written("json"))
    names = ("slot_seconds", "runs_read", "runs_unreadable", "since")
    assert tuple(found[name] for name in names) == (300, 4_000, 0, "2026-01-17T12:00:00Z")
    quartiles = ("minutes_known", "lower_quartile", "median", "upper_quartile", "most")
    assert tuple(found[name] for name in quartiles) == (1_440, 2, 3, 5, 7)


def test_a_row_a_group_has_the_names_of_the_snapshots() -> None:
    out = io.StringIO()
    write_groups([ADVICE.now], "csv", out)
    (row,) = csv.DictReader(io.StringIO(out.getvalue()))

    assert {name: row[name] for name in ("members", "tasks_needed", "capacity_high", "lag")} == {
        "members": "4",
        "tasks_needed": "6",
        "capacity_high": "110.0",
        "lag": "1200",
    }
    assert (row["why"], row["most"]) == ("550/s are written, one member reads 100/s", "7")
