# SPDX-License-Identifier: Apache-2.0
"""A run over several clusters: if some fail, the others still get report, history and page."""

import io
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.daily_report import main
from kafka_lag_report.storage import Storage
from tests.glue_jobs.days import group_row, minute, report_rows, topic_row, write_run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark"), pytest.mark.timeout(900)]

DATE = "2026-01-31"
MINOR, BAD, NEWER, HUNGRY, LATE = "minor", "bad", "newer", "hungry", "late"
DATASETS = ("groups", "group_partitions", "topic_partitions")
VERSION = "kafka_lag_schema_version"


class NoRoom(Storage):
    """A disk with one cluster whose rows do not fit into memory."""

    def tail(self, path: str) -> bytes:
        if f"cluster={HUNGRY}/" in path:
            raise MemoryError("cannot allocate 9000000000 bytes")
        return super().tail(path)


@dataclass(frozen=True, slots=True)
class Ended:
    root: Path
    code: int
    err: list[str]
    message: str


def write_cluster(root: Path, name: str) -> list[Path]:
    """Three runs in which the group reads 10 records a minute and is 5 behind."""
    paths = []
    for run in range(3):
        end = 100 + 10 * run
        rows = {
            "groups": [{"consumer_group": "billing", "lag": 5}],
            "group_partitions": [group_row(0, end - 5, 0, end)],
            "topic_partitions": [topic_row(0, end)],
        }
        for dataset in DATASETS:
            path = write_run(root, dataset, rows[dataset], at=minute(run), folder=name)
            paths.append(path)
    return paths


def of_release(path: Path, version: str, **more: pa.Array) -> None:
    """The object as a later release would have written it, with these columns at its end."""
    table = pq.ParquetFile(path).read()
    for name, values in more.items():
        table = table.append_column(name, values)
    pq.write_table(table.replace_schema_metadata({VERSION: version}), path)


@pytest.fixture(name="ended", scope="module")
def _ended(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """A run over clusters it names: one is of a newer MINOR version, the others have no report."""
    assert spark
    root = tmp_path_factory.mktemp("apart")
    objects = {name: write_cluster(root, name) for name in (MINOR, BAD, NEWER, HUNGRY)}
    write_run(root, "groups", [], at=minute(24 * 60), folder=LATE)
    for number, path in enumerate(p for p in objects[MINOR] if "group_partitions" in p.parts):
        if number:
            of_release(
                path,
                "2.99",
                zone=pa.array(["eu"]),
                fetches=pa.array([number], pa.int64()),
                paused=pa.array([True]),
                hosts=pa.array([["a", "b"]]),
            )
    for path in [p for p in objects[BAD] if "groups" in p.parts][:2]:
        path.write_text("no Parquet")
    of_release(objects[NEWER][0], "3.0")
    places = ["--input", str(root), "--output", str(root), "--date", DATE]
    places += ["--cluster", MINOR, BAD, NEWER, HUNGRY, LATE]
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main(places, storage=NoRoom)
    return Ended(root, code, err.getvalue().splitlines(), out.getvalue())


def history(root: Path, dataset: str, cluster: str) -> pa.Table:
    (file,) = (root / "history" / dataset / f"cluster={cluster}" / f"dt={DATE}").iterdir()
    return pq.ParquetFile(file).read()


def test_a_cluster_beside_those_that_fail_is_reported(ended: Ended) -> None:
    (topic,) = [r for r in report_rows(ended.root, "lag_summary", MINOR) if r["topic"]]

    assert (topic["consumer_group"], topic["topic"]) == ("billing", "orders")
    page = ended.root / f"reports/page/cluster={MINOR}/dt={DATE}/report.html"
    assert "billing" in page.read_text()
    assert [history(ended.root, name, MINOR).num_rows for name in DATASETS] == [3, 3, 3]


@pytest.mark.parametrize("cluster", [BAD, NEWER, HUNGRY, LATE])
def test_a_cluster_that_fails_has_neither_report_nor_page(ended: Ended, cluster: str) -> None:
    assert not list((ended.root / "reports").rglob(f"cluster={cluster}"))


def test_each_failure_is_one_line_and_the_run_fails_with_all(ended: Ended) -> None:
    *lines, last = ended.err

    assert ended.code == 1
    assert len(lines) == 4
    (late,) = [line for line in lines if f"no snapshots of {LATE} for {DATE}" in line]
    assert late.removeprefix("daily_report: ") in last
    (bad,) = [line for line in lines if f"no report of {BAD} on {DATE}: " in line]
    assert "not a Parquet file" in bad
    (newer,) = [line for line in lines if f"no report of {NEWER} on {DATE}: " in line]
    assert "schema version 3.0" in newer
    (hungry,) = [line for line in lines if f"no report of {HUNGRY} on {DATE}: " in line]
    assert "MemoryError: cannot allocate 9000000000 bytes" in hungry
    assert all(f"{name} on {DATE}" in last for name in (BAD, NEWER, HUNGRY))
    assert all(f"no report of {name}: " in ended.message for name in (BAD, NEWER, HUNGRY))


def test_columns_of_a_newer_minor_version_are_in_the_history(ended: Ended) -> None:
    rows = history(ended.root, "group_partitions", MINOR).sort_by("taken_at")

    types = {n: rows.schema.field(n).type for n in ("zone", "fetches", "paused", "hosts")}
    assert types == {
        "zone": pa.string(),
        "fetches": pa.int64(),
        "paused": pa.bool_(),
        "hosts": pa.list_(pa.string()),
    }
    assert rows["zone"].to_pylist() == [None, "eu", "eu"]
    assert rows["fetches"].to_pylist() == [None, 1, 2]
    assert rows["paused"].to_pylist() == [None, True, True]
    assert rows["hosts"].to_pylist() == [None, ["a", "b"], ["a", "b"]]
    assert rows["lag"].to_pylist() == [5, 5, 5]
