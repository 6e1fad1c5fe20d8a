# SPDX-License-Identifier: Apache-2.0
"""A Saturday of a quiet weekend through the whole job: unusual hours, and later usual values."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.daily_report import main
from kafka_lag_report.storage import Storage
from kafka_lag_report.usual import write_usual
from tests.glue_jobs.days import Row, a_day, report_rows, write_run
from tests.glue_jobs.hourly import Hour, write_hours

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

SATURDAY = date(2026, 1, 31)
HOUR = 12
KEY = "usual/cluster=demo/usual.parquet"
# Of a working day; on Saturdays and Sundays 40 % of it.
TIME_LAG, LAG, RATE = 100.0, 5_000.0, 50.0
# A Monday of the weeks before was a holiday.
HOLIDAY = SATURDAY - timedelta(days=26)
# As many times as much as on a Saturday, by group.
TODAY = {"even": 1.0, "three times": 3.0, "stopped": 0.0, "only lags": 1.0}


Lag = Callable[[int], tuple[float, float | None]]


def scattered(part: float, high: float | None = 1.0) -> Lag:
    """A mean lag of 1,000 that lies so far off, more and less in turn; and the most of the hour."""

    def of_week(week: int) -> tuple[float, float | None]:
        lag = 1_000.0 * (1 + part * (1 if week % 2 else -1))
        return lag, None if high is None else lag * high

    return of_week


def reaching(most: float, *weeks: int) -> Lag:
    """A mean lag of 1,000, of which runs had so much in these weeks."""
    return lambda week: (1_000.0, most if week in weeks else 1_000.0)


# Groups that are alike from week to week, and others: for how many weeks they were there, what each
# of their days has at noon, and the spread of the lag; None without a row. A tenth of the usual
# value stands for no spread, so 350 more are three and a half spreads.
SPREADS: dict[str, tuple[int, Lag, float | None]] = {
    "alike": (6, scattered(0.0), 0.0),
    "scattered by less than a quarter": (6, scattered(0.24), 480.0),
    "scattered by more": (6, scattered(0.26), 304.0),
    "scattered, and nobody knows the most": (6, scattered(0.26, None), 520.0),
    "scattered, twice as much within the hour": (6, scattered(0.26, 2.0), 808.0),
    "far off in one week": (6, reaching(10_000.0, 3), 0.0),
    "far off in two weeks": (6, reaching(10_000.0, 0, 3), 3_800.0),
    "nearly far off in two weeks": (6, reaching(1_351.0, 0, 3), 340.4),
    "not quite so far off": (6, reaching(1_349.0, 0, 3), 0.0),
    "four weeks": (4, scattered(0.0), 0.0),
    "three weeks": (3, scattered(0.0), None),
}


def level(day: date) -> float:
    return 0.4 if day.isoweekday() > 5 or day == HOLIDAY else 1.0


def write_weeks(root: Path) -> None:
    """Six weeks of `lag_hourly`, with 5 % more in every other week, and a queue of 4 to 6 parts."""
    for back in range(1, 43):
        day = SATURDAY - timedelta(days=back)
        much = level(day) * (1.05 if day.isocalendar().week % 2 else 1.0)
        rows = [
            Hour(
                consumer_group=group,
                hour=hour,
                time_lag_seconds=much * TIME_LAG,
                time_lag_deviation=3.0,
                lag=much * LAG,
                lag_deviation=much * 1_000.0,
                produce_rate=much * RATE,
                produce_rate_deviation=2.0,
            )
            for group in TODAY
            for hour in (HOUR, HOUR + 1)
        ]
        week = (back + 1) // 7  # of the calendar, as Saturday is its sixth day
        figures = [(case, of(week)) for case, (weeks, of, _) in SPREADS.items() if week < weeks]
        more = [
            Hour(consumer_group=case, hour=HOUR, lag=lag, lag_high=high, lag_deviation=0.0)
            for case, (lag, high) in figures
        ]
        write_hours(root, "demo", day, [*rows, *more])
        write_hours(root, "other", day, [replace(row, lag=7 * LAG) for row in rows])


def write_saturday(root: Path) -> None:
    """Two runs at noon."""
    for minute in range(2):
        at = datetime(2026, 1, 31, HOUR, minute, tzinfo=UTC)
        rows: list[Row] = [
            {
                "consumer_group": group,
                "time_lag_seconds": 0.4 * TIME_LAG * much,
                "lag": round(0.4 * LAG * (9 if group == "only lags" else much)),
                "produce_rate": 0.4 * RATE * much,
            }
            for group, much in TODAY.items()
        ]
        write_run(root, "groups", rows, at=at)
        write_run(root, "group_partitions", [], at=at)
        write_run(root, "topic_partitions", [], at=at)


def write_alone(spark: SparkSession, root: Path, cluster: str) -> None:
    """A cluster's object, of reports that lie there."""
    write_usual(spark, Storage(), str(root), a_day(cluster, root))


@dataclass(frozen=True, slots=True)
class Reported:
    """The day's anomalies by group and measure, and the object's rows and metadata."""

    root: Path
    anomalies: dict[tuple[str, str], Row]
    rows: list[Row]
    metadata: dict[str, str]


@pytest.fixture(name="reported", scope="module")
def _reported(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Reported:
    assert spark
    root = tmp_path_factory.mktemp("saturday")
    write_weeks(root)
    write_saturday(root)
    (root / KEY).parent.mkdir(parents=True)
    (root / KEY).write_bytes(b"damaged, and written anew")
    place, now = str(root), datetime(2026, 2, 1, 1, tzinfo=UTC)
    arguments = ["--input", place, "--output", place, "--date", str(SATURDAY)]
    assert main(arguments, now=lambda: now) == 0
    write_alone(spark, root, "other")
    anomalies = report_rows(root, "anomalies", "demo", str(SATURDAY))
    table = pq.ParquetFile(root / KEY).read()
    said = {name.decode(): text.decode() for name, text in table.schema.metadata.items()}
    found = {(row["consumer_group"], row["measure"]): row for row in anomalies}
    return Reported(root, found, table.to_pylist(), said)


def test_three_times_a_saturday_is_unusual_in_each_measure(reported: Reported) -> None:
    found = {
        measure: (row["value"], row["usual"], row["direction"], row["days"])
        for (group, measure), row in reported.anomalies.items()
        if group == "three times"
    }
    # Three weeks of six with 5 % more: the usual Saturday lies between them.
    assert found == {
        "time_lag_seconds": (pytest.approx(120.0), pytest.approx(41.0), "high", 6),
        "lag": (6000.0, pytest.approx(2050.0), "high", 6),
        "produce_rate": (pytest.approx(60.0), pytest.approx(20.5), "high", 6),
    }


def test_each_cluster_has_an_object_of_its_own_groups(reported: Reported) -> None:
    other = pq.ParquetFile(reported.root / KEY.replace("demo", "other")).read().to_pylist()
    sunday = {"weekday": 7, "hour": HOUR, "consumer_group": "even"}
    lags = [
        [row["usual_lag"] for row in rows if sunday.items() <= row.items()]
        for rows in (reported.rows, other)
    ]
    assert lags == [[pytest.approx(0.4 * LAG * 1.025)], [7 * LAG]]


def test_the_object_has_a_row_for_each_weekday_hour_and_group(reported: Reported) -> None:
    rows = [row for row in reported.rows if row["consumer_group"] in TODAY]
    keys = [(row["weekday"], row["hour"], row["consumer_group"]) for row in rows]
    hours = (HOUR, HOUR + 1)
    assert keys == [(d, h, group) for d in range(1, 8) for h in hours for group in sorted(TODAY)]
    assert reported.metadata == {
        "kafka_lag_usual_version": "1.1",
        "kafka_lag_usual_date": "2026-01-31",
    }


def usual(reported: Reported, weekday: int, group: str = "even", hour: int = HOUR) -> Row:
    (found,) = [
        row
        for row in reported.rows
        if (row["weekday"], row["hour"], row["consumer_group"]) == (weekday, hour, group)
    ]
    return found


def test_the_day_reported_is_among_those_that_are_usual_from_now_on(reported: Reported) -> None:
    # Before it 40, 42, 40, 42, 40 and 42 s; now its own 40 s instead of the oldest 42 s.
    assert usual(reported, 6)["usual_time_lag"] == 40.0
    assert usual(reported, 6, hour=HOUR + 1)["usual_time_lag"] == 40.0
    assert usual(reported, 6, "three times")["usual_time_lag"] == 41.0


def test_a_holiday_is_not_what_its_weekday_is_usually_like(reported: Reported) -> None:
    assert 100.0 <= usual(reported, 1)["usual_time_lag"] <= 105.0


def test_the_spread_of_a_run_takes_in_that_of_an_hours_runs(reported: Reported) -> None:
    row = usual(reported, 2)
    # Six Tuesdays, 100 and 105 s in turn: 2.5 s off 102.5 s, twice that; and 3 s within an hour.
    assert row["usual_time_lag"] == 102.5
    assert row["time_lag_spread"] == pytest.approx(math.hypot(5.0, 3.0), abs=0.06)
    assert row["usual_lag"] == 5125.0
    # Single runs lie 3.8 times as far apart as the moving averages that the hour knows.
    assert row["usual_produce_rate"] == pytest.approx(51.25, abs=0.06)
    assert row["produce_rate_spread"] == pytest.approx(math.hypot(2.5, 7.6), abs=0.06)
    assert row["lag_spread"] == pytest.approx(math.hypot(250.0, 1025.0), abs=0.06)


@pytest.mark.parametrize("case", SPREADS)
def test_the_spread_of_single_runs(reported: Reported, case: str) -> None:
    _, _, spread = SPREADS[case]
    rows = [r for r in reported.rows if (r["weekday"], r["consumer_group"]) == (3, case)]

    found = [(row["usual_lag"], row["lag_spread"]) for row in rows]
    assert found == ([] if spread is None else [(1_000.0, pytest.approx(spread))])


@pytest.mark.parametrize(
    ("known", "rows"),
    [
        pytest.param("2026-02-01", 1, id="of a later day"),
        # Of what was reported then nothing lies there any more.
        pytest.param("2026-01-31", 0, id="of the same day"),
    ],
)
def test_a_day_that_is_reported_again_replaces_all_but_a_newer_object(
    spark: SparkSession, reported: Reported, tmp_path: Path, known: str, rows: int
) -> None:
    path = tmp_path / KEY
    path.parent.mkdir(parents=True)
    table = pq.ParquetFile(reported.root / KEY).read()
    said = {"kafka_lag_usual_version": "1.0", "kafka_lag_usual_date": known}
    pq.write_table(table.slice(0, 1).replace_schema_metadata(said), path)
    write_alone(spark, tmp_path, "demo")
    assert pq.ParquetFile(path).metadata.num_rows == rows
