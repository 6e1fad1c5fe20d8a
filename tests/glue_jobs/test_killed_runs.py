# SPDX-License-Identifier: Apache-2.0
"""The run after one that was killed: everything is right, and nothing of it is left behind."""

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.daily_report import main
from tests.glue_jobs.days import Row, group_row, minute, report_rows, topic_row, write_run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark"), pytest.mark.timeout(900)]

DATE, DAY = "2026-01-31", "cluster=demo/dt=2026-01-31"
RUNS = 4
DATASETS = ("groups", "group_partitions", "topic_partitions")
# Two partitions of a group, one of a topic, one group: by hand, of each run.
ROWS = {"groups": 1, "group_partitions": 2, "topic_partitions": 1}


def report(root: Path) -> int:
    places = ["--input", str(root), "--output", str(root)]
    return main([*places, "--date", DATE])


def names_below(root: Path) -> list[str]:
    """Every file, hidden ones too, but what the history's own are called."""
    files = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return sorted(str(p.parent) if "history" in p.parts else str(p) for p in files)


def history_rows(root: Path, dataset: str) -> list[Row]:
    files = sorted((root / "history" / dataset / DAY).glob("*.parquet"))
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]


def cut(path: Path, table: pa.Table) -> None:
    pq.write_table(table, path)


@pytest.fixture(name="whole", scope="module")
def _whole(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A day that was reported without anything in between."""
    assert spark
    root = tmp_path_factory.mktemp("whole")
    for run in range(RUNS):
        end, at = 100 + 10 * run, minute(run)
        rows = [group_row(partition, end - 5, 0, end) for partition in (0, 1)]
        write_run(root, "group_partitions", rows, at=at)
        write_run(root, "topic_partitions", [topic_row(0, end)], at=at)
        write_run(root, "groups", [{"consumer_group": "billing"}], at=at)
    assert report(root) == 0
    return root


@pytest.fixture(name="repaired", scope="module")
def _repaired(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same day as runs left it that were killed at every step, and one run after them."""
    root = tmp_path_factory.mktemp("killed") / "copy"
    shutil.copytree(whole, root)
    history, reports = root / "history", root / "reports"
    # between the files of a dataset, and before the next dataset
    (of_groups,) = (history / "groups" / DAY).iterdir()
    cut(of_groups, pq.ParquetFile(of_groups).read().slice(0, 2))
    shutil.rmtree(history / "topic_partitions")
    # while a file was written
    (of_groups.parent / ".part-half.parquet.tmp").write_bytes(b"PAR1 half")
    # one run is there in part: its other rows are to come, those of the others are to stay
    (of_partitions,) = (history / "group_partitions" / DAY).iterdir()
    rows = pq.ParquetFile(of_partitions).read().sort_by([("taken_at", "ascending")])
    cut(of_partitions, rows.slice(1))
    # while reports were computed, while one was written, and before what it replaces was removed
    staged = reports / "_staging-cluster=demo" / "lag_summary"
    staged.mkdir(parents=True)
    (staged / "part-0.parquet").write_bytes(b"PAR1 half")
    table = reports / "lag_summary" / DAY / "report.parquet"
    (table.parent / ".report.parquet.tmp").write_bytes(b"PAR1 half")
    shutil.copy(table, table.with_name("part-of-before.parquet"))
    (reports / "retention_risk" / DAY / "report.parquet").unlink()
    (reports / "page" / DAY / "report.html").write_text("of before")
    assert report(root) == 0
    return root


@pytest.mark.parametrize("dataset", DATASETS)
def test_each_row_is_in_the_history_once(repaired: Path, dataset: str) -> None:
    keys = [
        (row["taken_at"], row.get("consumer_group"), row.get("partition_id"))
        for row in history_rows(repaired, dataset)
    ]

    assert len(keys) == len(set(keys)) == RUNS * ROWS[dataset]
    assert {key[0] for key in keys} == {minute(run) for run in range(RUNS)}


def test_the_history_is_right_in_every_column(whole: Path, repaired: Path) -> None:
    for dataset in DATASETS:
        expected, found = (
            sorted(repr(row) for row in history_rows(root, dataset)) for root in (whole, repaired)
        )
        assert found == expected


def test_each_report_is_there_once(whole: Path, repaired: Path) -> None:
    for name in ("lag_summary", "retention_risk", "coverage"):
        assert report_rows(repaired, name) == report_rows(whole, name)
        assert report_rows(repaired, name)
    assert "billing" in (repaired / "reports/page" / DAY / "report.html").read_text()


def test_nothing_is_left_behind(whole: Path, repaired: Path) -> None:
    found = names_below(repaired)

    assert sorted(set(found)) == sorted(set(names_below(whole)))
    assert not [name for name in found if "tmp" in name or "_staging" in name]
