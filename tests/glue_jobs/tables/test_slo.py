# SPDX-License-Identifier: Apache-2.0
"""Minutes of an objective that were kept, broken and unknown, in a day and in its window."""

from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.report_files import compute
from kafka_lag_report.run_weights import run_weights
from kafka_lag_report.schemas import report_schema
from kafka_lag_report.tables.slo import add_windows, slo
from tests.glue_jobs.days import Row, frame
from tests.glue_jobs.tables.frames import MIDNIGHT, minute, weighed

pytestmark = pytest.mark.spark

DAY = MIDNIGHT.date()
DAY_MINUTES = 24 * 60
OBJECTIVE: Row = {"slo_age_seconds": 60.0, "slo_target": 99.0, "slo_days": 7}
KEPT: Row = {**OBJECTIVE, "time_lag_seconds": 60.0, "time_lag_error_seconds": 1.0}
BROKEN: Row = {**OBJECTIVE, "time_lag_seconds": 60.5, "time_lag_error_seconds": 1.0}
UNREAD: Row = {**OBJECTIVE, "unread_reason": "timeout", "time_lag_seconds": 99.0}

# Rows by minute of the day, each of which stands for a minute; what the report has of them.
CASES: dict[str, tuple[Mapping[int, Row], Row]] = {
    "an age as old as the objective has it is kept": (
        {0: KEPT, 1: BROKEN, 2: BROKEN},
        {"kept_minutes": 1.0, "broken_minutes": 2.0, "unknown_minutes": 1437.0},
    ),
    "what is not read is unknown": (
        {0: KEPT, 1: UNREAD},
        {"kept_minutes": 1.0, "broken_minutes": 0.0, "unknown_minutes": 1439.0},
    ),
    "at least so old: broken beyond the age, else nobody knows": (
        {
            0: BROKEN | {"time_lag_error_seconds": None},
            1: KEPT | {"time_lag_error_seconds": None},
        },
        {"kept_minutes": 0.0, "broken_minutes": 1.0, "unknown_minutes": 1439.0},
    ),
    "a group that is new counts from its first run": (
        {1430: KEPT, 1431: KEPT},
        {"kept_minutes": 2.0, "unknown_minutes": 8.0, "since": minute(1430)},
    ),
    "a group that is gone counts to the run that found it so": (
        {0: KEPT, 1: KEPT, 3: OBJECTIVE | {"status_reason": "gone"}},
        {"kept_minutes": 2.0, "unknown_minutes": 1.0, "until": minute(3)},
    ),
    "each run is judged by its own objective, the last one is reported": (
        {0: KEPT, 1: KEPT | {"slo_age_seconds": 30.0, "slo_target": 90.0, "slo_days": 1}},
        {"kept_minutes": 1.0, "broken_minutes": 1.0, "age_seconds": 30.0, "target": 90.0}
        | {"days": 1, "budget_minutes": pytest.approx(144.0)},
    ),
    "an objective that is dropped counts as long as it was there": (
        {0: KEPT, 1: {"time_lag_seconds": 0.0, "time_lag_error_seconds": 0.0}},
        {"kept_minutes": 1.0, "unknown_minutes": 0.0, "until": minute(1)},
    ),
    "the burn rate is of what is known": (
        {0: KEPT, 1: BROKEN, 2: UNREAD},
        {"burn_rate": pytest.approx(50.0), "budget_left_minutes": pytest.approx(99.8)},
    ),
    "of nothing known there is no burn rate": (
        {0: UNREAD},
        {"burn_rate": None, "budget_left_minutes": pytest.approx(100.8)},
    ),
}


@pytest.fixture(name="found", scope="module")
def _found(spark: SparkSession) -> dict[str, Row]:
    seen = [
        {"consumer_group": case, "taken_at": minute(n), **row}
        for case, (rows, _) in CASES.items()
        for n, row in rows.items()
    ]
    without = {"consumer_group": "without", "taken_at": minute(0), "time_lag_seconds": 1.0}
    groups = weighed(frame(spark, "groups", [*seen, without]), {})
    table = compute({"slo": slo(groups, DAY, in_progress=False)})["slo"]
    return {row["consumer_group"]: row for row in add_windows(table, DAY, {}).to_pylist()}


@pytest.mark.parametrize("case", CASES)
def test_minutes_of_an_objective(found: dict[str, Row], case: str) -> None:
    _, expected = CASES[case]
    assert {name: found[case][name] for name in expected} == expected


def test_a_group_without_an_objective_has_no_row(found: dict[str, Row]) -> None:
    assert found.keys() == CASES.keys()


def test_a_day_in_progress_is_known_to_its_last_run(spark: SparkSession) -> None:
    rows = [{"consumer_group": "billing", "taken_at": minute(n), **KEPT} for n in (0, 1, 2)]
    groups = weighed(frame(spark, "groups", rows), {})
    (row,) = compute({"slo": slo(groups, DAY, in_progress=True)})["slo"].to_pylist()
    assert (row["kept_minutes"], row["unknown_minutes"]) == (3.0, 0.0)
    assert row["until"] == minute(3)


def of_day(day: date, broken: float, unknown: float = 0.0, **more: Any) -> pa.Table:
    """A whole day of a group, as its report has it without a window."""
    begin = MIDNIGHT + (day - DAY)
    row = {
        "consumer_group": "billing",
        "age_seconds": 60.0,
        "target": 99.0,
        "days": 7,
        "since": begin,
        "until": begin + timedelta(days=1),
        "kept_minutes": DAY_MINUTES - broken - unknown,
        "broken_minutes": broken,
        "unknown_minutes": unknown,
        **more,
    }
    return pa.Table.from_pylist([row], report_schema("slo"))


def windows(today: pa.Table, **before: pa.Table) -> Row:
    """The row of today beside tables of so many days before, as `d3`."""
    earlier = {DAY - timedelta(days=int(name[1:])): table for name, table in before.items()}
    (row,) = add_windows(today, DAY, earlier).to_pylist()
    return dict(row)


def back(days: int) -> date:
    return DAY - timedelta(days=days)


def test_a_window_has_its_days_and_none_before() -> None:
    row = windows(of_day(DAY, 5), d6=of_day(back(6), 40), d7=of_day(back(7), 999))
    assert row["window_broken_minutes"] == 45
    assert row["budget_left_minutes"] == pytest.approx(100.8 - 45)


def test_days_without_a_report_are_unknown() -> None:
    row = windows(of_day(DAY, 5, 10), d3=of_day(back(3), 40, 20))
    assert row["window_unknown_minutes"] == 30 + 2 * DAY_MINUTES


def test_days_by_another_age_are_unknown() -> None:
    row = windows(of_day(DAY, 5), d1=of_day(back(1), 40, age_seconds=30.0))
    assert (row["window_broken_minutes"], row["window_unknown_minutes"]) == (5, DAY_MINUTES)


def test_who_had_an_objective_the_day_before_is_expected_from_midnight_on() -> None:
    late = of_day(DAY, 0, since=minute(600), kept_minutes=DAY_MINUTES - 600.0)
    assert windows(late)["unknown_minutes"] == 0
    assert windows(late, d1=of_day(back(1), 0))["unknown_minutes"] == 600


# What a minute was, of `simulate`.
ABSENT, UNKNOWN, WAS_BROKEN, WAS_KEPT = range(4)


def simulate(
    random: np.random.Generator, groups: int, days: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """Minutes of runs with gaps; what each run saw of each group; what each minute was of each.

    A run stands until the next, or twice as long as the pause before it; the first of a day, where
    nothing is known of that, twice as long as the usual one.
    """
    minutes = days * DAY_MINUTES
    pauses = random.choice([20, 20, 20, 20, 50, 200], size=minutes // 20)
    runs = np.concatenate([[0], np.cumsum(pauses)])
    runs = runs[runs < minutes]
    seen = random.choice(
        [UNKNOWN, WAS_BROKEN, WAS_KEPT], size=(len(runs), groups), p=[0.2, 0.1, 0.7]
    ).astype(np.int8)
    first = random.integers(0, len(runs) // 2, size=groups) * random.integers(0, 2, size=groups)
    was = np.full((minutes, groups), ABSENT, np.int8)
    for group, begin in enumerate(first):
        seen[:begin, group] = ABSENT
        was[runs[begin] :, group] = UNKNOWN
    for day in range(days):
        own = np.flatnonzero(runs // DAY_MINUTES == day)
        usual = int(np.median(np.diff(runs[own])))
        for place, run in enumerate(own):
            before = usual if place == 0 else runs[run] - runs[run - 1]
            last = run == own[-1]
            after = usual if last else min(runs[run + 1] - runs[run], 2 * before)
            stands = slice(runs[run], min(runs[run] + after, (day + 1) * DAY_MINUTES))
            known = seen[run] > UNKNOWN
            was[stands, known] = seen[run, known]
    return runs, seen, was


@pytest.mark.thorough
def test_budgets_are_the_exact_integral_of_minutes(spark: SparkSession, tmp_path: Path) -> None:
    groups, days = 1_000, 3
    runs, seen, was = simulate(np.random.default_rng(40), groups, days)
    begin = MIDNIGHT - timedelta(days=days - 1)
    tables: dict[date, pa.Table] = {}
    for number in range(days):
        day = (begin + timedelta(days=number)).date()
        own = np.flatnonzero(runs // DAY_MINUTES == number)
        at, group = np.nonzero(seen[own] != ABSENT)
        saw = seen[own][at, group]
        taken = int(begin.timestamp()) * 1000 + runs[own][at] * 60_000
        count = len(at)
        rows = pa.table(
            {
                "consumer_group": [f"g{each}" for each in group],
                "taken_at": pa.array(taken).cast(pa.timestamp("ms", tz="UTC")),
                "unread_reason": pa.nulls(count, pa.string()),
                "status_reason": pa.nulls(count, pa.string()),
                "time_lag_seconds": pa.array(
                    np.where(saw == WAS_KEPT, 10.0, 90.0), mask=saw == UNKNOWN
                ),
                "time_lag_error_seconds": np.ones(count),
                "slo_age_seconds": np.full(count, 60.0),
                "slo_target": np.full(count, 99.0),
                "slo_days": np.full(count, days, np.int32),
            }
        )
        pq.write_table(rows, tmp_path / f"{number}.parquet")
        snapshots = spark.read.parquet(str(tmp_path / f"{number}.parquet"))
        weighted = run_weights(snapshots).weigh(snapshots)
        found = compute({"slo": slo(weighted, day, in_progress=False)})["slo"]
        tables[day] = add_windows(found, day, dict(tables))
    rows_by_group = {row["consumer_group"]: row for row in tables[DAY].to_pylist()}
    assert len(rows_by_group) == groups
    budget = days * DAY_MINUTES * 0.01
    for place in range(groups):
        row, truth = rows_by_group[f"g{place}"], np.bincount(was[:, place], minlength=4)
        assert row["window_kept_minutes"] == pytest.approx(truth[WAS_KEPT], abs=1e-6)
        assert row["window_broken_minutes"] == pytest.approx(truth[WAS_BROKEN], abs=1e-6)
        assert row["window_unknown_minutes"] == pytest.approx(truth[UNKNOWN], abs=1e-6)
        assert row["budget_left_minutes"] == pytest.approx(budget - truth[WAS_BROKEN], abs=1e-6)
