# SPDX-License-Identifier: Apache-2.0
"""Whole runs of the job over a day: of two clusters, after a killed run, and in progress."""

import io
import shutil
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.daily_report import main
from kafka_lag_report.schemas import REPORTS, SNAPSHOTS
from tests.glue_jobs.days import NOON, Row, group_row, minute, report_rows, topic_row, write_run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark"), pytest.mark.timeout(900)]

DATE = "2026-01-31"
KEYS = (667, 166, 167)  # records per run and partition of the demo's skewed topic
RUNS = range(4)
OBJECTIVE: Row = {
    "slo_age_seconds": 60.0,
    "slo_target": 99.0,
    "slo_days": 7,
    "time_lag_seconds": 1.0,
    "time_lag_error_seconds": 0.0,
}
ODD = "blå & 1/2"
# The folders of two clusters that have the same day; one of them has a bad object as well.
SPOILT, ENCODED = "007", quote(ODD, safe="")
OWN = f"cluster={ENCODED}/dt={DATE}"


def write_day(root: Path, *, folder: str) -> None:
    """Four runs of a skewed topic; partition 2's consumer stopped, retention overtakes it."""
    for run in RUNS:
        at = minute(run)
        ends = [run * keys for keys in KEYS]
        committed = [ends[0], ends[1], 100 if run else None]
        starts = [0, 0, max(run - 1, 0) * 150]
        topics = [topic_row(p, end) for p, end in enumerate(ends)]
        groups = [group_row(p, committed[p], starts[p], end) for p, end in enumerate(ends)]
        write_run(root, "topic_partitions", [*topics, topic_row(3, None)], at=at, folder=folder)
        write_run(root, "group_partitions", groups, at=at, folder=folder)
        group = {"consumer_group": "billing", "tasks_needed": 1, **OBJECTIVE}
        write_run(root, "groups", [group], at=at, folder=folder)


def report(root: Path, *more: str, now: datetime = NOON + timedelta(days=1)) -> int:
    places = ["--input", str(root), "--output", str(root)]
    return main([*places, "--date", DATE, *more], now=lambda: now)


def written(root: Path) -> dict[str, bytes]:
    """Every file but the snapshots, hidden ones too."""
    files = (path for path in root.rglob("*") if path.is_file())
    found = {str(path.relative_to(root)): path for path in files}
    return {name: p.read_bytes() for name, p in found.items() if not name.startswith("snapshots/")}


def places(files: Sequence[str]) -> list[str]:
    """Files by their names, and those of the history, which are any, by their folders."""
    return sorted(n.rpartition("/")[0] if n.startswith("history/") else n for n in files)


def history_rows(root: Path, dataset: str) -> list[Row]:
    files = sorted((root / "history" / dataset / OWN).glob("*.parquet"))
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]


@dataclass(frozen=True, slots=True)
class Reported:
    """A folder with the reports of one run, and what it said."""

    root: Path
    out: str
    err: str


@pytest.fixture(name="reported", scope="module")
def _reported(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """Two clusters' days, one run over both."""
    assert spark
    root = tmp_path_factory.mktemp("reported")
    for folder in (SPOILT, ENCODED):
        write_day(root, folder=folder)
    bad = write_run(root, "group_partitions", [], at=minute(len(RUNS)), folder=SPOILT)
    pq.write_table(pa.table({"temperature": [21.5]}), bad)
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        assert report(root) == 0
    return Reported(root, out.getvalue(), err.getvalue())


@pytest.fixture(name="repaired", scope="module")
def _repaired(reported: Reported, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The day of one as runs left it that were killed at every step, and one run after them."""
    root = tmp_path_factory.mktemp("killed") / "copy"
    shutil.copytree(reported.root, root)
    history, reports = root / "history", root / "reports"
    # between the files of a dataset, and before the next dataset
    (of_groups,) = (history / "groups" / OWN).iterdir()
    pq.write_table(pq.ParquetFile(of_groups).read().slice(0, 2), of_groups)
    shutil.rmtree(history / "topic_partitions" / OWN)
    # while a file was written
    (of_groups.parent / ".part-half.parquet.tmp").write_bytes(b"PAR1 half")
    # one run is there in part: its other rows are to come, those of the others are to stay
    (of_partitions,) = (history / "group_partitions" / OWN).iterdir()
    rows = pq.ParquetFile(of_partitions).read().sort_by([("taken_at", "ascending")])
    pq.write_table(rows.slice(1), of_partitions)
    # while reports were computed, while one was written, and before what it replaces was removed
    staged = reports / "_replacing" / OWN / "0123abcd" / "lag_summary"
    staged.mkdir(parents=True)
    (staged / "part-0.parquet").write_bytes(b"PAR1 half")
    table = reports / "lag_summary" / OWN / "report.parquet"
    (table.parent / ".report.parquet.tmp").write_bytes(b"PAR1 half")
    shutil.copy(table, table.with_name("part-of-before.parquet"))
    (reports / "retention_risk" / OWN / "report.parquet").unlink()
    (reports / "page" / OWN / "report.html").write_text("of before")
    tomorrow = reports / "retention_risk" / f"cluster={ENCODED}" / "dt=2026-02-01"
    tomorrow.mkdir()
    (tomorrow / "part.parquet").write_text("of another day")
    assert report(root, "--cluster", ODD) == 0
    return root


@pytest.fixture(name="in_progress", scope="module")
def _in_progress(reported: Reported, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The other's day before it is over, of which there was something unusual before."""
    root = tmp_path_factory.mktemp("in-progress")
    for dataset in SNAPSHOTS:
        place = Path("snapshots") / dataset / f"cluster={SPOILT}"
        shutil.copytree(reported.root / place, root / place)
    earlier = root / "reports/anomalies" / f"cluster={SPOILT}" / f"dt={DATE}"
    earlier.mkdir(parents=True)
    (earlier / "report.parquet").write_text("of before")
    assert report(root, now=NOON + timedelta(hours=1)) == 0
    return root


@pytest.mark.parametrize("progress", [False, True], ids=["over", "in progress"])
def test_one_bad_object_is_skipped_counted_and_shown(
    reported: Reported, in_progress: Path, progress: bool
) -> None:
    root = in_progress if progress else reported.root
    shown = {row["dataset"]: row for row in report_rows(root, "coverage", cluster=SPOILT)}

    row = shown["group_partitions"]
    assert (row["runs"], row["objects"], row["objects_skipped"]) == (4, 5, 1)
    assert row["skipped"] == f"{minute(4):%Y%m%dT%H%M%S}Z-0of1.parquet"
    assert shown["topic_partitions"]["objects_skipped"] == 0
    (skew,) = report_rows(root, "partition_skew", cluster=SPOILT)
    (whole,) = report_rows(reported.root, "partition_skew", cluster=ENCODED)
    assert skew["lag_max"] == whole["lag_max"]


def test_output_is_removed_where_there_are_no_rows_any_more(in_progress: Path) -> None:
    assert not list((in_progress / "reports/anomalies").rglob("*.parquet"))


def test_a_day_in_progress_teaches_nothing_and_has_no_history(in_progress: Path) -> None:
    assert sorted(path.name for path in in_progress.iterdir()) == ["reports", "snapshots"]
    assert {row["in_progress"] for row in report_rows(in_progress, "coverage", SPOILT)} == {True}


def test_an_objective_is_known_to_the_last_run_of_a_day_in_progress(in_progress: Path) -> None:
    (row,) = report_rows(in_progress, "slo", SPOILT)

    assert (row["kept_minutes"], row["unknown_minutes"], row["until"]) == (4.0, 0.0, minute(4))


@pytest.mark.parametrize("dataset", SNAPSHOTS)
def test_after_killed_runs_each_row_is_in_the_history_once(
    reported: Reported, repaired: Path, dataset: str
) -> None:
    before, after = (
        sorted(repr(row) for row in history_rows(root, dataset))
        for root in (reported.root, repaired)
    )

    # by hand, of each run: three partitions of the group, four of the topic, one group
    per_run = {"groups": 1, "group_partitions": 3, "topic_partitions": 4}
    assert len(before) == len(RUNS) * per_run[dataset]
    assert after == before


@pytest.mark.parametrize("name", sorted(set(REPORTS) - {"anomalies"}))
def test_after_killed_runs_each_report_is_there_once(
    reported: Reported, repaired: Path, name: str
) -> None:
    rows = report_rows(repaired, name, ENCODED)

    assert rows == report_rows(reported.root, name, ENCODED)
    assert rows
    assert "billing" in (repaired / "reports/page" / OWN / "report.html").read_text()


@pytest.mark.parametrize("part", [f"cluster={SPOILT}/", "dt=2026-02-01/"])
def test_a_second_run_leaves_other_clusters_and_days_alone(
    reported: Reported, repaired: Path, part: str
) -> None:
    other = {"reports/retention_risk/" + f"cluster={ENCODED}/dt=2026-02-01/part.parquet"}
    before = written(reported.root) | dict.fromkeys(other, b"of another day")
    after = written(repaired)

    assert [name for name in before if part in name]
    assert {n: b for n, b in after.items() if part in n} == {
        n: b for n, b in before.items() if part in n
    }


def test_nothing_of_killed_runs_is_left_behind(reported: Reported, repaired: Path) -> None:
    found = [name for name in written(repaired) if "dt=2026-02-01" not in name]

    assert sorted(set(places(found))) == sorted(set(places([*written(reported.root)])))
    assert not [name for name in found if "tmp" in name]
