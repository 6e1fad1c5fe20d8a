# SPDX-License-Identifier: Apache-2.0
"""The share of a day for which there are runs."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.coverage import compute_coverage
from kafka_lag_report.read_snapshots import FROM_HISTORY, FROM_SNAPSHOTS, Day, Run
from kafka_lag_report.schemas import SNAPSHOTS, report_schema
from kafka_lag_report.storage import Storage
from tests.glue_jobs.days import NOON, a_day, write_run
from tests.glue_jobs.snapshots.places import clusters, write_history

COUNTS = (
    *("source", "runs", "interval_seconds", "objects", "objects_skipped", "skipped"),
    *("first_run", "last_run"),
)
MIDNIGHT = datetime(2026, 1, 31, tzinfo=UTC)


def runs(*minutes: int) -> tuple[Run, ...]:
    times = [MIDNIGHT + timedelta(minutes=minute) for minute in minutes]
    names = [f"hour={time:%H}/{time:%Y%m%dT%H%M%SZ}-0of1.parquet" for time in times]
    return tuple(Run(f"x/{n}", n, 9, t) for n, t in zip(names, times, strict=True))


def of_runs(*minutes: int, in_progress: bool = False) -> Day:
    """Groups with these runs; the other datasets have none."""
    none: dict[str, tuple[Run, ...]] = dict.fromkeys(SNAPSHOTS, ())
    return a_day(in_progress=in_progress, runs={**none, "groups": runs(*minutes)})


class NoSession:
    """Of a day that has objects no query is made; one of which the history is left is below."""


def covered(day: Day, dataset: str = "groups") -> dict[str, Any]:
    """The dataset's row."""
    report = compute_coverage(cast(SparkSession, NoSession()), Storage(), day)
    assert report.schema == report_schema("coverage")
    rows: list[dict[str, Any]] = report.to_pylist()
    assert [row["dataset"] for row in rows] == [*SNAPSHOTS]
    return next(row for row in rows if row["dataset"] == dataset)


@pytest.mark.parametrize(
    ("minutes", "gap"),
    [
        ((100, 101, 110), 1330.0),
        ((700, 701, 1400), 700.0),
        ((10, 500, 1439), 939.0),
    ],
    ids=["to midnight", "from midnight", "between runs"],
)
def test_the_longest_gap_counts_both_midnights(minutes: tuple[int, ...], gap: float) -> None:
    assert covered(of_runs(*minutes))["longest_gap_seconds"] == gap * 60


def test_a_day_in_progress_is_measured_to_its_last_run() -> None:
    row = covered(of_runs(60, 61, 62, 180, in_progress=True))

    assert row["in_progress"]
    assert (row["runs"], row["expected_runs"]) == (4, 181)
    assert row["longest_gap_seconds"] == 118 * 60


@pytest.mark.parametrize(("in_progress", "gap"), [(False, 86_400.0), (True, None)])
def test_a_dataset_without_runs_has_no_times(in_progress: bool, gap: float | None) -> None:
    row = covered(of_runs(in_progress=in_progress))

    assert (row["runs"], row["objects"], row["objects_skipped"]) == (0, 0, 0)
    assert row["longest_gap_seconds"] == gap
    unknown = ("expected_runs", "first_run", "last_run", "interval_seconds", "skipped")
    assert [row[name] for name in unknown] == [None] * 5


def test_what_was_left_out_is_counted_and_named() -> None:
    day = of_runs(*range(1440))
    bad = [run.path for run in day.runs["groups"][5:17]]

    row = covered(day.without(dict.fromkeys(bad, "bad")))

    assert (row["runs"], row["objects"], row["objects_skipped"]) == (1428, 1440, 12)
    named = row["skipped"].split(", ")
    assert named == [f"20260131T00{minute:02d}00Z-0of1.parquet" for minute in range(5, 15)]
    assert row["longest_gap_seconds"] == 13 * 60


@pytest.mark.spark
def test_each_cluster_is_told_by_its_own_source(spark: SparkSession, tmp_path: Path) -> None:
    rows = [{"consumer_group": name, "taken_at": NOON} for name in "ab"]
    rows.append({"consumer_group": "a", "taken_at": NOON + timedelta(minutes=5)})
    write_history(tmp_path, "groups", write_run(tmp_path / "made", "groups", rows), folder="old")
    write_run(tmp_path, "groups", [{"consumer_group": "a"}], folder="new")

    told = {
        cluster: compute_coverage(spark, Storage(), day)
        .filter(pc.field("dataset") == "groups")
        .select(COUNTS)
        .to_pylist()
        for cluster, day in clusters(tmp_path).items()
    }

    later = NOON + timedelta(minutes=5)
    assert told == {
        "new": [dict(zip(COUNTS, (FROM_SNAPSHOTS, 1, None, 1, 0, None, NOON, NOON), strict=True))],
        "old": [
            dict(zip(COUNTS, (FROM_HISTORY, 2, 300.0, None, None, None, NOON, later), strict=True))
        ],
    }
