# SPDX-License-Identifier: Apache-2.0
"""Whole runs of the job that are killed, or whose disk gets full: each cluster is old or new."""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from shutil import copytree, rmtree

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.daily_report import main
from kafka_lag_report.publishing import unfinished
from kafka_lag_report.schemas import SNAPSHOTS
from kafka_lag_report.storage import Storage
from tests.glue_jobs.days import Row, group_row, minute, topic_row, write_run
from tests.glue_jobs.small_disks import leave, mounted

pytestmark = [pytest.mark.thorough, pytest.mark.spark, pytest.mark.timeout(1_800)]

DATE = "2026-01-31"
CLUSTERS = ("one", "two")
# Minutes of the runs that the old reports know, and of those that came later.
EARLY, LATE = range(6), range(6, 12)
# A run that is killed has printed this last, and was at work at what comes next.
STAGES = ("session", "history", "reduce", "pages")
KEYS = ("consumer_group", "topic", "partition_id", "taken_at")


def write_minutes(root: Path, minutes: range) -> None:
    for cluster in CLUSTERS:
        for number in minutes:
            rows = [group_row(p, 9 * number, 0, 10 * number) for p in range(3)]
            ends = [topic_row(p, 10 * number) for p in range(3)]
            group: Row = {"consumer_group": "billing", "lag": 3 * number, "status": "OK"}
            for dataset, written in zip(
                ("group_partitions", "topic_partitions", "groups"),
                (rows, ends, [group]),
                strict=True,
            ):
                write_run(root, dataset, written, at=minute(number), folder=cluster)


@dataclass(frozen=True, slots=True)
class Days:
    """A state whose reports lack the late runs, and one whose reports have them."""

    old: Path
    new: Path

    def whose(self, root: Path, cluster: str) -> str:
        """Whose the cluster's reports are; it fails if they are of both, or of none."""
        of = {str(reports(path, cluster)): path.name for path in (self.old, self.new)}
        return of[str(reports(root, cluster))]


def reports(root: Path, cluster: str) -> dict[str, object]:
    """All that is published of the cluster."""
    files = sorted((root / "reports").glob(f"*/cluster={cluster}/dt={DATE}/*"))
    return {
        str(file.relative_to(root)): pq.ParquetFile(file).read().to_pylist()
        if file.suffix == ".parquet"
        else file.read_text()
        for file in files
    }


def rows(root: Path, kind: str, dataset: str, cluster: str) -> "Counter[tuple[object, ...]]":
    """How often each row is there, in `snapshots` or the `history`."""
    found = Counter[tuple[object, ...]]()
    for file in (root / kind / dataset / f"cluster={cluster}" / f"dt={DATE}").rglob("*.parquet"):
        table = pq.ParquetFile(file).read()
        names = [name for name in KEYS if name in table.schema.names]
        found.update(zip(*(table[name].to_pylist() for name in names), strict=True))
    return found


@pytest.fixture(name="days", scope="module")
def _days(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Days:
    assert spark
    root = tmp_path_factory.mktemp("days")
    days = Days(root / "old", root / "new")
    write_minutes(days.old, EARLY)
    assert report(days.old) == 0
    write_minutes(days.old, LATE)
    copytree(days.old, days.new)
    assert report(days.new) == 0
    assert [days.whose(root / name, "one") for name in ("old", "new")] == ["old", "new"]
    return days


def report(root: Path) -> int:
    return main(["--input", str(root), "--output", str(root), "--date", DATE])


def check(root: Path, days: Days) -> "Counter[str]":
    """Whose each cluster's reports are; it fails if any is a mixture, or a row missing or twice."""
    half = {place.partition("/")[0] for place in unfinished(Storage(), str(root))}
    before = {c: days.whose(root, c) for c in CLUSTERS if f"cluster={c}" not in half}
    for finish in unfinished(Storage(), str(root)).values():
        finish()
    after = {cluster: days.whose(root, cluster) for cluster in CLUSTERS}
    assert before.items() <= after.items()
    for cluster in CLUSTERS:
        for dataset in SNAPSHOTS:
            history = rows(root, "history", dataset, cluster)
            all_rows = rows(days.new, "history", dataset, cluster)
            assert rows(days.old, "history", dataset, cluster) <= history <= all_rows
            # of a run all rows or none
            of_run, of_whole_run = (
                Counter(row[-1] for row in each) for each in (history, all_rows)
            )
            assert of_run.items() <= of_whole_run.items()
    return Counter(after.values())


@pytest.mark.parametrize("stage", STAGES)
def test_a_run_that_is_killed_leaves_each_cluster_old_or_new(
    days: Days, tmp_path: Path, stage: str
) -> None:
    root = tmp_path / "state"
    copytree(days.old, root)
    with started(root) as process:
        assert process.stdout
        next(line for line in process.stdout if line.startswith(f"stage {stage}:"))
        # within the next stage, wherever that is by then
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(Random(stage).uniform(0.0, 0.2))  # noqa: S311 - a moment, not a secret
        os.killpg(process.pid, signal.SIGKILL)

    check(root, days)
    assert report(root) == 0
    assert check(root, days) == {"new": len(CLUSTERS)}


def started(root: Path) -> "subprocess.Popen[str]":
    """A run of the job, and its JVM, in a session of its own."""
    places = ["--input", str(root), "--output", str(root), "--date", DATE, "--timings"]
    return subprocess.Popen(
        [sys.executable, "-m", "kafka_lag_report.daily_report", *places],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


@pytest.fixture(name="disk")
def _disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path, 8) as disk:
        yield disk


def test_a_run_whose_disk_gets_full_leaves_each_cluster_old_or_new(days: Days, disk: Path) -> None:
    root, found = disk / "state", Counter[str]()
    for blocks in (0, 20, 60, 100, 140, 180):
        copytree(days.old, root)
        filled = leave(disk, blocks)
        report(root)
        filled.unlink()
        found += check(root, days)
        rmtree(root)
    assert {*found} == {"old", "new"}
