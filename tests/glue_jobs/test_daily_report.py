# SPDX-License-Identifier: Apache-2.0
"""Whole runs of the job over a day of snapshots in the real layout."""

import io
import shutil
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.daily_report import main
from kafka_lag_report.schemas import REPORTS, SNAPSHOTS
from tests.glue_jobs.days import NOON, Row, group_row, minute, report_rows, topic_row, write_run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark"), pytest.mark.timeout(900)]

KEYS = (667, 166, 167)  # records per run and partition of the demo's skewed topic
RUNS = range(4)
ODD = "blå & 1/2"
# The folders of four clusters that have the same day; one of them has a bad object as well.
DEMO, OTHER, SPOILT, ENCODED = "demo", "other", "007", quote(ODD, safe="")


def write_day(root: Path, *, folder: str = "demo", start: datetime = NOON) -> None:
    """Four runs of a skewed topic; partition 2's consumer stopped, retention overtakes it."""
    for run in RUNS:
        at = start + timedelta(minutes=run)
        ends = [run * keys for keys in KEYS]
        committed = [ends[0], ends[1], 100 if run else None]
        starts = [0, 0, max(run - 1, 0) * 150]
        topics = [topic_row(p, end) for p, end in enumerate(ends)]
        groups = [group_row(p, committed[p], starts[p], end) for p, end in enumerate(ends)]
        write_run(root, "topic_partitions", [*topics, topic_row(3, None)], at=at, folder=folder)
        write_run(root, "group_partitions", groups, at=at, folder=folder)
        write_run(root, "groups", [{"consumer_group": "billing"}], at=at, folder=folder)


def report(root: Path, *more: str, date: str = "2026-01-31") -> int:
    places = ["--input", str(root), "--output", str(root)]
    return main([*places, "--date", date, *more])


def written(root: Path) -> dict[str, bytes]:
    """Every file under reports/, hidden ones too."""
    files = (path for path in (root / "reports").rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def rows_of(files: Sequence[Path]) -> list[str]:
    """The rows of these files in any order, by column."""
    rows = [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
    return sorted(repr(sorted(row.items())) for row in rows)


def gini(values: Sequence[float]) -> float:
    pairs = sum(abs(a - b) for a in values for b in values)
    return pairs / (2 * len(values) * sum(values))


@dataclass(frozen=True, slots=True)
class Again:
    """A second run over a first one's folder: what there was before it, and what it said."""

    root: Path
    before: dict[str, bytes]
    rows: dict[str, list[Row]]
    out: str
    err: str

    def left_alone(self, part: str) -> bool:
        """Whether the files with this in their path are those there were, unchanged."""
        before, now = (
            {name: held for name, held in files.items() if part in name}
            for files in (self.before, written(self.root))
        )
        return bool(before) and before == now


@pytest.fixture(name="reported", scope="module")
def _reported(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with four clusters' days and the reports of one run over all of them."""
    assert spark
    root = tmp_path_factory.mktemp("reported")
    for folder in (DEMO, OTHER, SPOILT, ENCODED):
        write_day(root, folder=folder)
    bad = write_run(root, "group_partitions", [], at=minute(len(RUNS)), folder=SPOILT)
    pq.write_table(pa.table({"temperature": [21.5]}), bad)
    assert report(root) == 0
    return root


@pytest.fixture(name="again", scope="module")
def _again(reported: Path, tmp_path_factory: pytest.TempPathFactory) -> Again:
    """Another run for all but one of its clusters; `demo` has lost its group partitions."""
    root = tmp_path_factory.mktemp("again") / "copy"
    shutil.copytree(reported, root)
    tomorrow = root / "reports/retention_risk" / f"cluster={ENCODED}" / "dt=2026-02-01"
    tomorrow.mkdir()
    (tomorrow / "part.parquet").write_text("of another day")
    for run in RUNS:
        write_run(root, "group_partitions", [], at=minute(run))
    before = written(root)
    rows = {name: report_rows(root, name, ENCODED) for name in REPORTS}
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        assert report(root, "--no-history", "--cluster", DEMO, SPOILT, ODD) == 0
    return Again(root, before, rows, out.getvalue(), err.getvalue())


def test_the_demos_topic_is_skewed_in_production(reported: Path) -> None:
    produced = [(RUNS[-1] - RUNS[0]) * keys for keys in KEYS]

    (row,) = report_rows(reported, "partition_skew")

    assert (row["consumer_group"], row["topic"]) == ("billing", "orders")
    assert (row["production_top_partition"], row["production_skewed"]) == (0, True)
    assert row["production_max"] == max(produced)
    assert row["production_max_to_mean"] == pytest.approx(max(produced) / mean(produced))
    assert row["production_top_share"] == pytest.approx(max(produced) / sum(produced))
    assert row["production_gini"] == pytest.approx(gini(produced))


def test_lag_is_averaged_where_it_is_known(reported: Path) -> None:
    # partition 2: uncommitted in the first run; the log start passes the commit in runs 2 and 3
    lags = [0.0, 0.0, mean([167 - 100, 334 - 150, 501 - 300])]

    (row,) = report_rows(reported, "partition_skew")

    assert row["lag_partitions"] == 3
    assert row["lag_max"] == pytest.approx(lags[2])
    assert row["lag_mean"] == pytest.approx(mean(lags))
    assert row["lag_gini"] == pytest.approx(gini(lags))
    assert (row["lag_top_partition"], row["lag_skewed"]) == (2, True)


def test_a_partition_overtaken_by_retention_is_lost(reported: Path) -> None:
    rows = {row["partition_id"]: row for row in report_rows(reported, "retention_risk")}

    lost = rows[2]
    assert (lost["retention_risk"], lost["records_lost"], lost["least_margin"]) == ("LOST", 200, 0)
    assert lost["least_margin_at"] == minute(2)
    assert (rows[0]["retention_risk"], rows[0]["records_lost"]) == (None, 0)
    assert rows[0]["least_seconds_until_loss"] is None


def test_files_have_the_declared_columns_and_millisecond_times(reported: Path) -> None:
    # nothing is unusual yet on a first day
    for name, declared in ((n, s) for n, s in REPORTS.items() if n != "anomalies"):
        (file,) = (reported / "reports" / name / "cluster=demo" / "dt=2026-01-31").glob("*.parquet")
        schema = pq.read_schema(file)

        assert schema.names == declared.names
        times = [field.type for field in schema if pa.types.is_timestamp(field.type)]
        assert set(times) <= {pa.timestamp("ms", tz="UTC")}


def test_nothing_but_reports_pages_and_history_is_left_behind(reported: Path) -> None:
    folders = sorted(path.name for path in (reported / "reports").iterdir())
    # a report without rows, as nothing is unusual yet, is no folder
    assert folders == sorted({*REPORTS, "page"} - {"anomalies"})
    assert sorted(path.name for path in (reported / "history").iterdir()) == sorted(SNAPSHOTS)


def test_the_history_is_the_days_rows_in_one_file_each(reported: Path) -> None:
    for dataset in SNAPSHOTS:
        objects = sorted((reported / "snapshots" / dataset / "cluster=demo").rglob("*.parquet"))
        (file,) = (reported / "history" / dataset / "cluster=demo").rglob("*.parquet")
        assert rows_of([file]) == rows_of(objects)


def test_each_cluster_has_a_page_that_names_its_groups(reported: Path) -> None:
    for folder in (DEMO, OTHER, SPOILT, ENCODED):
        page = reported / f"reports/page/cluster={folder}/dt=2026-01-31/report.html"
        assert "billing" in page.read_text()


def test_the_message_is_printed_and_where_the_pages_lie(again: Again) -> None:
    lost = (
        "billing lost at least 200 records of orders on 1 partition: deleted before they were read"
    )
    assert f"- {SPOILT}: {lost}" in again.out
    assert f"- {ODD}: {lost}" in again.out
    for name, folder in ((DEMO, DEMO), (SPOILT, SPOILT), (ODD, ENCODED)):
        place = f"{again.root}/reports/page/cluster={folder}/dt=2026-01-31/report.html"
        assert f"Page of {name}: {place}\n" in again.out
    assert again.err == ""


@pytest.mark.parametrize("part", [f"cluster={OTHER}/", "dt=2026-02-01/"])
def test_a_second_run_leaves_other_clusters_and_days_alone(again: Again, part: str) -> None:
    assert again.left_alone(part)


def test_a_second_run_replaces_its_own_output(again: Again) -> None:
    own = f"cluster={ENCODED}/dt=2026-01-31/"
    before, after = (
        {n for n in files if own in n} for files in (again.before, written(again.root))
    )

    assert {name: report_rows(again.root, name, ENCODED) for name in REPORTS} == again.rows
    assert after == before


def test_output_is_removed_where_the_rows_are_gone(again: Again) -> None:
    assert report_rows(again.root, "retention_risk") == []
    assert report_rows(again.root, "retention_risk", cluster=ENCODED) != []


def test_folders_of_odd_clusters_keep_their_names(reported: Path, again: Again) -> None:
    for root in (reported, again.root):
        for folder in (SPOILT, ENCODED):
            assert len(report_rows(root, "retention_risk", cluster=folder)) == 3
    assert ODD in again.out


@pytest.mark.parametrize("history", [True, False], ids=["history", "no-history"])
def test_one_bad_object_is_skipped_counted_and_shown(
    reported: Path, again: Again, history: bool
) -> None:
    root = reported if history else again.root
    shown = {row["dataset"]: row for row in report_rows(root, "coverage", cluster=SPOILT)}

    row = shown["group_partitions"]
    assert (row["runs"], row["objects"], row["objects_skipped"]) == (4, 5, 1)
    assert row["skipped"] == f"{minute(4):%Y%m%dT%H%M%S}Z-0of1.parquet"
    assert shown["topic_partitions"]["objects_skipped"] == 0
    (skew,) = report_rows(root, "partition_skew", cluster=SPOILT)
    (whole,) = report_rows(reported, "partition_skew")
    assert skew["lag_max"] == whole["lag_max"]


def test_the_default_date_is_yesterday(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path, "groups", [])

    ended = main(
        ["--input", str(tmp_path), "--output", str(tmp_path)],
        now=lambda: datetime(2026, 2, 3, 3, tzinfo=UTC),
    )

    assert ended == 1
    assert "for 2026-02-02 under" in capsys.readouterr().err
