# SPDX-License-Identifier: Apache-2.0
"""How much of a day was seen."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.read_snapshots import FROM_HISTORY, FROM_SNAPSHOTS, Day, Run
from kafka_lag_report.schemas import CLUSTER, REPORTS, SNAPSHOTS
from kafka_lag_report.storage import Storage
from kafka_lag_report.tables.coverage import coverage
from tests.glue_jobs.days import NOON, write_run
from tests.glue_jobs.snapshots.places import found, write_history

pytestmark = pytest.mark.spark

DATE = date(2026, 1, 31)
MIDNIGHT = datetime(2026, 1, 31, tzinfo=UTC)


def runs(*minutes: int) -> tuple[Run, ...]:
    times = [MIDNIGHT + timedelta(minutes=minute) for minute in minutes]
    names = [f"hour={time:%H}/{time:%Y%m%dT%H%M%SZ}-0of1.parquet" for time in times]
    return tuple(Run(f"x/{n}", n, 9, t) for n, t in zip(names, times, strict=True))


def a_day(*minutes: int, in_progress: bool = False) -> Day:
    """Groups with these runs; the other datasets have none."""
    none: dict[tuple[str, str], tuple[Run, ...]] = {(name, "demo"): () for name in SNAPSHOTS}
    return Day(
        root="in/snapshots",
        history="out/history",
        date=DATE,
        in_progress=in_progress,
        clusters={"demo": "cluster=demo"},
        absent={},
        sources={"demo": FROM_SNAPSHOTS},
        runs={**none, ("groups", "demo"): runs(*minutes)},
    )


def covered(spark: SparkSession, day: Day, dataset: str = "groups") -> dict[str, Any]:
    """The dataset's row, with times as text, since Python would show the machine's own zone."""
    texts = [f"string({name}) AS {name}" for name in ("first_run", "last_run")]
    others = [name for name in REPORTS["coverage"].names if name not in ("first_run", "last_run")]
    rows = coverage(spark, Storage(), day).selectExpr("cluster", *others, *texts).collect()
    assert sorted(row["dataset"] for row in rows) == sorted([*SNAPSHOTS] * len(day.clusters))
    return next(row.asDict() for row in rows if row["dataset"] == dataset)


def test_a_day_of_runs_is_told_by_its_objects(spark: SparkSession) -> None:
    assert covered(spark, a_day(*range(0, 1440, 2))) == {
        "cluster": "demo",
        "dataset": "groups",
        "runs": 720,
        "expected_runs": 720,
        "objects": 720,
        "objects_skipped": 0,
        "skipped": None,
        "first_run": "2026-01-31 00:00:00",
        "last_run": "2026-01-31 23:58:00",
        "interval_seconds": 120.0,
        "longest_gap_seconds": 120.0,
        "in_progress": False,
        "source": "snapshots",
    }


def test_columns_are_the_reports(spark: SparkSession) -> None:
    assert coverage(spark, Storage(), a_day()).schema.fields == [
        CLUSTER,
        *REPORTS["coverage"].fields,
    ]


@pytest.mark.parametrize(
    ("minutes", "gap"),
    [
        ((100, 101, 110), 1330.0),
        ((700, 701, 1400), 700.0),
        ((10, 500, 1439), 939.0),
    ],
    ids=["to midnight", "from midnight", "between runs"],
)
def test_the_longest_gap_counts_both_midnights(
    minutes: tuple[int, ...], gap: float, spark: SparkSession
) -> None:
    assert covered(spark, a_day(*minutes))["longest_gap_seconds"] == gap * 60


def test_a_day_in_progress_is_measured_to_its_last_run(spark: SparkSession) -> None:
    row = covered(spark, a_day(60, 61, 62, 180, in_progress=True))

    assert row["in_progress"]
    assert (row["runs"], row["expected_runs"]) == (4, 181)
    assert row["longest_gap_seconds"] == 118 * 60


@pytest.mark.parametrize(("in_progress", "gap"), [(False, 86_400.0), (True, None)])
def test_a_dataset_without_runs_has_no_times(
    in_progress: bool, gap: float | None, spark: SparkSession
) -> None:
    row = covered(spark, a_day(in_progress=in_progress))

    assert (row["runs"], row["objects"], row["objects_skipped"]) == (0, 0, 0)
    assert row["longest_gap_seconds"] == gap
    unknown = ("expected_runs", "first_run", "last_run", "interval_seconds", "skipped")
    assert [row[name] for name in unknown] == [None] * 5


def test_a_single_run_tells_no_interval(spark: SparkSession) -> None:
    row = covered(spark, a_day(720))

    assert (row["interval_seconds"], row["expected_runs"]) == (None, None)
    assert row["first_run"] == row["last_run"] == "2026-01-31 12:00:00"


def test_what_was_left_out_is_counted_and_named(spark: SparkSession) -> None:
    day = a_day(*range(1440))
    bad = [run.path for run in day.runs["groups", "demo"][5:17]]

    row = covered(spark, day.without(dict.fromkeys(bad, "bad")))

    assert (row["runs"], row["objects"], row["objects_skipped"]) == (1428, 1440, 12)
    named = row["skipped"].split(", ")
    assert named == [f"20260131T00{minute:02d}00Z-0of1.parquet" for minute in range(5, 15)]
    assert row["longest_gap_seconds"] == 13 * 60


def test_a_day_compacted_in_this_run_is_told_by_its_objects(spark: SparkSession) -> None:
    row = covered(spark, a_day(1, 2).from_history())

    assert (row["objects"], row["source"]) == (2, "snapshots")


def test_the_history_tells_the_runs_that_have_rows(spark: SparkSession, tmp_path: Path) -> None:
    rows = [{"consumer_group": name, "taken_at": NOON} for name in "ab"]
    rows.append({"consumer_group": "a", "taken_at": NOON + timedelta(minutes=5)})
    write_history(tmp_path, "groups", write_run(tmp_path / "made", "groups", rows))

    row = covered(spark, found(tmp_path))

    assert (row["runs"], row["source"], row["interval_seconds"]) == (2, FROM_HISTORY, 300.0)
    assert (row["first_run"], row["last_run"]) == ("2026-01-31 12:00:00", "2026-01-31 12:05:00")
    assert (row["objects"], row["objects_skipped"], row["skipped"]) == (None, None, None)


def test_each_cluster_is_told_by_its_own_source(spark: SparkSession, tmp_path: Path) -> None:
    made = write_run(tmp_path / "made", "groups", [{"consumer_group": "a"}])
    write_history(tmp_path, "groups", made, folder="old")
    write_run(tmp_path, "groups", [{"consumer_group": "a"}], folder="new")
    day = found(tmp_path)

    rows = (
        coverage(spark, Storage(), day)
        .where("dataset = 'groups'")
        .select("cluster", "objects", "runs")
    )

    assert sorted(tuple(row) for row in rows.collect()) == [("new", 1, 1), ("old", None, 1)]
