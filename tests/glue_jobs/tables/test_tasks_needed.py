# SPDX-License-Identifier: Apache-2.0
"""Tasks that a group needed, in the day and each hour, weighted by how long each run stands."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_lag.contract import NEEDED_FOR_BACKLOG, NEEDED_FOR_RATE
from kafka_lag_report.tables.tasks_needed import tasks_needed
from tests.glue_jobs.days import Row, frame
from tests.glue_jobs.tables.frames import found_in, minute, weighed

pytestmark = pytest.mark.spark

# seconds for which the run of each minute stands
RUNS: dict[float, float] = {0: 60.0, 1: 60.0, 2: 60.0, 3: 60.0, 60: 180.0}


def quartiles(lower: int, median: int, upper: int, most: int) -> Row:
    return {
        "lower_quartile": lower,
        "median": median,
        "upper_quartile": upper,
        "most": most,
    }


# minute -> tasks needed; the hour, null for the day; its row
CASES: dict[str, tuple[dict[int, Row], int | None, Row]] = {
    "a number that was needed, the least for that part of the time": (
        {0: {"tasks_needed": 4}, 1: {"tasks_needed": 1}, 2: {"tasks_needed": 2}},
        0,
        {**quartiles(1, 2, 4, 4), "known_minutes": 3.0},
    ),
    "one that is reached exactly is enough": (
        {n: {"tasks_needed": needed} for n, needed in enumerate([1, 2, 3, 9])},
        0,
        quartiles(1, 2, 3, 9),
    ),
    "the day counts by time, not by runs": (
        {
            **{n: {"tasks_needed": 1} for n in (0, 1)},
            60: {"tasks_needed": 5},
        },
        None,
        {**quartiles(1, 5, 5, 5), "known_minutes": 5.0},
    ),
    "a run that did not know it counts nowhere": (
        {0: {"tasks_needed": 3}, 1: {}, 2: {"tasks_needed": 7, "unread_reason": "timeout"}},
        0,
        {**quartiles(3, 3, 3, 3), "known_minutes": 1.0},
    ),
    "nothing to read needs none": ({0: {"tasks_needed": 0}}, 0, quartiles(0, 0, 0, 0)),
    "members beside it, and the last that was known": (
        {
            0: {"tasks_needed": 3, "members": 2, "tasks_needed_reason": NEEDED_FOR_BACKLOG},
            1: {"tasks_needed": 2, "members": 4, "tasks_needed_reason": NEEDED_FOR_RATE},
            2: {"tasks_needed": 1},
            3: {"members": 9},
        },
        None,
        {"members": 2, "last_tasks_needed": 1, "tasks_needed_reason": NEEDED_FOR_RATE},
    ),
}


@pytest.fixture(name="found", scope="module")
def _found(spark: SparkSession) -> dict[tuple[str, int | None], Any]:
    seen = [
        {"consumer_group": case, "taken_at": minute(n), **row}
        for case, (rows, _, _) in CASES.items()
        for n, row in rows.items()
    ]
    never = {"consumer_group": "never known", "taken_at": minute(0), "members": 3}
    report = tasks_needed(weighed(frame(spark, "groups", [*seen, never]), RUNS))
    return {(row["consumer_group"], row["hour"]): row for row in found_in(report)}


@pytest.mark.parametrize("case", CASES)
def test_tasks_needed(found: dict[tuple[str, int | None], Any], case: str) -> None:
    _, hour, expected = CASES[case]

    row = found[case, hour]
    assert {name: row[name] for name in expected} == expected


def test_a_group_has_a_row_for_the_day_and_each_hour_in_which_it_is_known(
    found: dict[tuple[str, int | None], Any],
) -> None:
    hours = {case: {hour for group, hour in found if group == case} for case, _ in found}

    assert hours == {
        case: {None, 0, *((1,) if 60 in rows else ())} for case, (rows, _, _) in CASES.items()
    }
