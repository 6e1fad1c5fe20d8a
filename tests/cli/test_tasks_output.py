# SPDX-License-Identifier: Apache-2.0
"""What `kafka-lag tasks` prints, line by line, of numbers that all differ."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from kafka_lag import contract
from kafka_lag_cli.state.groups_over_time import MINUTE_MS, Period
from kafka_lag_cli.tasks.advice import Advice, Needed, Service
from kafka_lag_cli.tasks.comparison import Comparison, Outcome
from kafka_lag_cli.tasks.limits import explain_limits
from kafka_lag_cli.tasks.output import print_advice, print_groups, write_advice, write_groups
from kafka_lag_cli.tasks.week import HourOfWeek, Quartiles
from tests.builders import HOUR, NOON

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


def printed(advice: Advice) -> list[str]:
    out = io.StringIO()
    print_advice(advice, Console(file=out, width=200))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_one_group_is_printed_with_all_that_is_known() -> None:
    lines = printed(ADVICE)

    assert lines[:8] == [
        "billing on shop at 2026-01-31 12:00 UTC",
        "tasks needed       6: 550/s are written, one member reads 100/s",
        "members now        4",
        "one member reads   100/s, 90/s to 110/s by 2 minutes with a backlog",
        "produced           550/s",
        "lag                1,200 records, 1 min 30 s old",
        "hottest partition  orders 3, 25% of what is written",
        "partitions         12",
    ]
    assert lines[9].split() == ["UTC", *("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")]
    assert lines[14].split() == ["04", "?", "3..5", "?", "?", "?", "?", "?"]
    assert lines[34] == (
        "Tasks needed by hour of the week in UTC: median..upper quartile of 1,440 minutes in 14 "
        "days; 4,000 runs read, one in 5 minutes."
    )
    assert lines[36:39] == [
        "In the 20,000 minutes of which all is known:",
        "  what was            1,344.0 task hours, 3 changes, 11 minutes over the promise (12 in "
        "the model)",
        "  by tasks needed     900.2 task hours, 40 changes, 1 minute over the promise",
    ]
    assert lines[39].startswith("The second line is a model: 1 to 12 tasks, set by Application")


def test_what_is_not_known_of_a_group_is_said_so() -> None:
    row = {**ROW, **dict.fromkeys(("tasks_needed", "members", "capacity", "lag", "partitions"))}
    row |= {"produce_rate": None, "hottest_partition": None, "time_lag_seconds": None}
    row |= {"tasks_needed_reason": contract.NO_CAPACITY}
    nothing = replace(ADVICE, now=Needed("shop", row, None), comparison=None, unreadable=2)
    lines = printed(nothing)

    assert lines[1].startswith("tasks needed      ?: ")
    assert lines[2:7] == [
        "members now       ?",
        "one member reads  ?",
        "produced          ?",
        "lag               ?",
        "partitions        ?",
    ]
    assert "of 0 minutes in 14 days" in lines[33]
    assert lines[33].endswith(" 2 runs cannot be read.")
    assert lines[35] == (
        "No comparison: members, rate, lag and tasks needed were never known together."
    )


def test_what_more_tasks_would_not_change_and_partitions_that_would_is_printed() -> None:
    lines = printed(replace(ADVICE, limits=("one.", "two."), partitions_wanted=20))

    assert "partitions         12; 20 would allow what is written to be read" in lines
    assert lines[8:10] == ["More tasks do not help: one.", "More tasks do not help: two."]


def test_without_a_promise_no_minute_is_over_it() -> None:
    outcome = Outcome(24.0, 1, None, None)
    lines = printed(replace(ADVICE, comparison=Comparison(60, outcome, outcome, None)))

    assert "  what was            24.0 task hours, 1 change" in lines


FAR = (
    "Do not go by the model here: of what was it says 3 minutes over the promise, and 9 were seen, "
    "as where one partition is late and the others are not."
)
OWN = (
    "In 6 minutes the second line breaks the promise where nothing was as late when its numbers "
    "were recorded: beside such a backlog they would have been higher, so take them for the least."
)


@pytest.mark.parametrize(
    ("seen", "modelled", "own", "sentences"),
    [
        pytest.param(8, 3, 5, [], id="a twentieth of the minutes is little"),
        pytest.param(9, 3, 6, [FAR], id="far from what was seen"),
        pytest.param(
            3,
            9,
            0,
            [FAR.replace("says 3", "says 9").replace("9 were", "3 were")],
            id="far above it",
        ),
        pytest.param(4, 3, 6, [OWN], id="a backlog of its own"),
    ],
)
def test_what_makes_the_model_doubtful_stands_behind_it(
    seen: int, modelled: int, own: int, sentences: list[str]
) -> None:
    outcomes = (Outcome(24.0, 1, seen, modelled), Outcome(24.0, 1, None, 6))
    lines = printed(replace(ADVICE, comparison=Comparison(100, *outcomes, own)))

    assert lines[-len(sentences) - 1].startswith("The second line is a model")
    assert lines[len(lines) - len(sentences) :] == sentences


def groups(*rows: dict[str, Any], needed: Quartiles | None = NEEDED) -> list[list[str]]:
    out = io.StringIO()
    lines = [Needed("shop", {**ROW, **row}, needed) for row in rows]
    print_groups(lines, 14, Console(file=out, width=200))
    return [w for line in out.getvalue().splitlines() if (w := line.split()) and "─" not in line]


def test_a_line_a_group_has_what_is_needed_now_and_was_and_how_the_promise_is_kept() -> None:
    head, line, caption = groups({})
    assert head[:5] == ["group", "members", "needed", "median", "upper"]
    assert line[:7] == ["billing", "4", "6", "3", "5", "7", "150%"]
    assert caption[-3:] == ["in", "14", "days"]


def test_groups_of_which_nothing_is_promised_have_no_column_for_it() -> None:
    assert "promise" not in groups({"sla_seconds": None})[0]
    both = groups({"sla_seconds": None}, {"time_lag_seconds": None})
    assert "promise" in both[0]
    assert (both[1][5], both[2][6]) == ("7", "?")


def test_what_was_never_needed_is_unknown() -> None:
    (line,) = [line for line in groups({}, needed=None) if line[:1] == ["billing"]]
    assert line[:6] == ["billing", "4", "6", "?", "?", "?"]


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


@pytest.mark.parametrize("form", ["csv", "ndjson"])
def test_rows_are_the_hours_of_the_week(form: str) -> None:
    text = written(form)
    rows = (
        list(csv.DictReader(io.StringIO(text)))
        if form == "csv"
        else [json.loads(line) for line in text.splitlines()]
    )
    names = ("cluster", "consumer_group", "weekday", "hour", "minutes_known", "median", "most")

    assert len(rows) == 168
    found: Sequence[Any] = [str(rows[28][name]) for name in names]
    assert found == ["shop", "billing", "Tue", "4", "1440", "3", "7"]


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


def test_partitions_that_are_too_few_are_said_with_how_many_would_do() -> None:
    assert list(explain_limits({**ROW, "produce_rate": 1_900.0, "hottest_share": 0.01})) == [
        "12 partitions cannot be read as fast as they are written, as each has one reader: 19 or "
        "more would allow it, if each member still reads 100/s."
    ]
