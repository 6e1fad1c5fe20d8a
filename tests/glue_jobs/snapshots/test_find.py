# SPDX-License-Identifier: Apache-2.0
"""The objects that are found for a date, and their places."""

from pathlib import Path
from urllib.parse import quote

import pytest

from kafka_lag_report.read_snapshots import parse_run_time
from kafka_lag_report.schemas import SNAPSHOTS
from tests.glue_jobs.days import NOON, minute, write_run
from tests.glue_jobs.snapshots.places import DATE, clusters, found, utc, write_history

ODD = "blå & 1/2"


def test_each_object_has_its_time_and_size(tmp_path: Path) -> None:
    late, early = (write_run(tmp_path, "groups", [], at=minute(m)) for m in (75, 0))

    runs = found(tmp_path).runs["groups"]

    assert [(run.taken_at, run.size) for run in runs] == [
        (NOON, early.stat().st_size),
        (utc(13, 15), late.stat().st_size),
    ]
    assert [Path(run.path) for run in runs] == [early, late]


@pytest.mark.parametrize(
    "name",
    [
        "hour=12/other.parquet",
        "hour=13/20260131T120000Z-0of1.parquet",
        "hour=12/20260130T120000Z-0of1.parquet",
        "20260131T120000Z-0of1.parquet",
        "hour=12/more/20260131T120000Z-0of1.parquet",
        "hour=12/20260131T126000Z-0of1.parquet",
    ],
)
def test_a_name_that_no_run_has_tells_no_time(name: str) -> None:
    assert parse_run_time(name, DATE) is None


def test_files_under_other_names_and_hidden_ones_are_not_found(tmp_path: Path) -> None:
    path = write_run(tmp_path, "groups", [])
    path.with_suffix(".parquet.part").write_text("being written")
    path.with_name("_copy.parquet").write_text("hidden")
    (path.parent / "_temporary").mkdir()
    (path.parent / "_temporary" / path.name).write_text("hidden")

    assert [run.path for run in found(tmp_path).runs["groups"]] == [str(path)]


def test_a_cluster_without_the_day_is_absent(tmp_path: Path) -> None:
    write_run(tmp_path, "groups", [])
    folder = f"cluster={quote(ODD, safe='')}"
    (tmp_path / "snapshots/groups" / folder / "dt=2026-01-30").mkdir(parents=True)

    days = clusters(tmp_path)

    assert {name: (day.folder, day.source) for name, day in days.items()} == {
        "demo": ("cluster=demo", "snapshots"),
        ODD: (folder, None),
    }


@pytest.mark.parametrize(
    ("raw", "compacted", "source"),
    [
        (["topic_partitions", "group_partitions", "groups"], [], "snapshots"),
        (["topic_partitions", "group_partitions", "groups"], ["groups"], "snapshots"),
        (["groups"], [], "snapshots"),
        ([], ["groups"], "history"),
        (["groups"], ["topic_partitions", "groups"], "history"),
        ([], [], None),
    ],
)
def test_a_day_is_in_the_history_once_objects_are_gone(
    raw: list[str], compacted: list[str], source: str | None, tmp_path: Path
) -> None:
    for dataset in SNAPSHOTS:
        made = write_run(tmp_path / "made", dataset, [])
        (tmp_path / "snapshots" / dataset / "cluster=demo").mkdir(parents=True)
        if dataset in raw:
            write_run(tmp_path, dataset, [])
        if dataset in compacted:
            write_history(tmp_path, dataset, made)

    assert found(tmp_path).source == source
