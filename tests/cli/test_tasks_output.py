# SPDX-License-Identifier: Apache-2.0
"""What `kafka-lag tasks` prints, of numbers that all differ."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from kafka_lag import contract
from kafka_lag_cli.state.groups_over_time import MINUTE_MS, Period
from kafka_lag_cli.tasks.advice import Advice, Needed, Service
from kafka_lag_cli.tasks.comparison import Comparison, Outcome
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
    bounds=(1, 12),
    comparison=Comparison(
        minutes=20_000,
        recorded=Outcome(1_344.0, 3, 11, 12),
        by_tasks_needed=Outcome(900.25, 40, None, 1),
        minutes_of_own_backlog=1,
    ),
    saturated=(),
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


def compared(seen: int | None, modelled: int | None, own: int | None) -> Advice:
    """Of 100 minutes, with so many over the promise."""
    outcomes = Outcome(24.0, 1, seen, modelled), Outcome(24.0, 1, None, 6)
    return replace(ADVICE, comparison=Comparison(100, *outcomes, own))


def test_one_group_and_all_of_them_are_printed_with_what_is_known(golden: Golden) -> None:
    unknown = dict.fromkeys(
        ("tasks_needed", "members", "capacity", "lag", "partitions", "produce_rate")
    )
    row = {**ROW, **unknown, "tasks_needed_reason": contract.NO_CAPACITY}
    row |= {"hottest_partition": None, "time_lag_seconds": None}
    nothing = replace(ADVICE, now=Needed("shop", row, None), comparison=None, unreadable=2)
    no_promise = Outcome(24.0, 1, None, None)
    cases = {
        "all is known": printed(ADVICE, with_week=True),
        "nothing is known": printed(nothing),
        "more tasks do not help": printed(
            replace(ADVICE, limits=("one.", "two."), partitions_wanted=20)
        ),
        "nothing is promised": printed(
            replace(ADVICE, comparison=Comparison(60, no_promise, no_promise, None))
        ),
        "a twentieth of the minutes is no doubt": printed(compared(8, 3, 5)),
        "the model is far above what was seen": printed(compared(3, 9, 0)),
        "the model is far from what was seen": printed(compared(9, 3, 6)),
        "the model has a backlog of its own": printed(compared(4, 3, 6)),
        "groups": printed_groups({}, {"sla_seconds": None}, {"time_lag_seconds": None}),
        "groups without promises": printed_groups({"sla_seconds": None}),
        "groups of which nothing is known": printed_groups({}, needed=None),
    }
    golden.holds("tasks.txt", write_once((name, text.splitlines()) for name, text in cases.items()))


def written(form: str, advice: Advice = ADVICE) -> str:
    out = io.StringIO()
    write_advice(advice, form, out)
    return out.getvalue()


def test_json_has_both_outcomes_and_the_period() -> None:
    found = json.loads(written("json"))
    outcome = ("task_hours", "changes", "minutes_over", "minutes_over_modelled")

    assert tuple(found["recorded"][name] for name in outcome) == (1_344.0, 3, 11, 12)
    assert tuple(found["by_tasks_needed"][name] for name in outcome) == (900.25, 40, None, 1)
    assert found["minutes_of_own_backlog"] == 1
    names = ("minutes_compared", "min", "max", "slot_seconds", "runs_read", "runs_unreadable")
    assert tuple(found[name] for name in names) == (20_000, 1, 12, 300, 4_000, 0)
    quartiles = ("minutes_known", "lower_quartile", "median", "upper_quartile", "most")
    assert tuple(found[name] for name in quartiles) == (1_440, 2, 3, 5, 7)
    assert found["since"] == "2026-01-17T12:00:00Z"
    nothing = json.loads(written("json", replace(ADVICE, comparison=None)))
    assert (nothing["recorded"], nothing["by_tasks_needed"], nothing["minutes_compared"]) == (
        None,
        None,
        0,
    )


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


@pytest.mark.parametrize(
    ("service", "partitions", "bounds"),
    [
        (Service(), 12, (1, 12)),
        (Service(), 0, (1, 1)),
        (Service(least=0), 0, (0, 1)),
        (Service(members_per_task=5), 12, (1, 3)),
        (Service(members_per_task=6), 12, (1, 2)),
        (Service(least=4, members_per_task=6), 12, (4, 4)),
        (Service(most=20), 12, (1, 20)),
        (Service(least=2, most=1), 12, (2, 2)),
    ],
)
def test_there_are_as_many_tasks_as_have_a_partition_unless_it_is_said(
    service: Service, partitions: int, bounds: tuple[int, int]
) -> None:
    assert service.bounds(partitions) == bounds
