# SPDX-License-Identifier: Apache-2.0
"""What of a day was there and could be read."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.dev.report_check.small_days import DAY, TOMORROW, reports, second, write_rows
from tests.glue_jobs.days import Row, group_row, write_run


def coverage(root: Path, *, today: date = TOMORROW, dataset: str = "group_partitions") -> Row:
    (row,) = [row for row in reports(root, today=today)["coverage"] if row["dataset"] == dataset]
    return row


def write(root: Path, *minutes: int, rows: bool = True) -> list[Path]:
    return [
        write_run(
            root,
            "group_partitions",
            [group_row(0, 9, 0, 10)] if rows else [],
            at=second(60 * minute),
        )
        for minute in minutes
    ]


def test_a_day_with_gaps(tmp_path: Path) -> None:
    write(tmp_path, 5, 6, 7, 20)
    write(tmp_path, 21, rows=False)

    assert coverage(tmp_path) == {
        "dataset": "group_partitions",
        "runs": 5,
        "expected_runs": 1440,
        "objects": 5,
        "objects_skipped": 0,
        "skipped": None,
        "first_run": second(300),
        "last_run": second(21 * 60),
        "interval_seconds": 60,
        "longest_gap_seconds": 86_400 - 21 * 60,
        "in_progress": False,
        "source": "snapshots",
    }


@pytest.mark.parametrize(
    ("minutes", "gap", "expected"),
    [
        ((0, 1, 2, 3), 60, 4),
        ((100, 101, 150), 6000, 150 / 25.5 + 1),
        ((1, 2, 150, 151), 148 * 60, 152),
    ],
)
def test_a_day_in_progress_has_no_end_to_miss(
    minutes: tuple[int, ...], gap: int, expected: float, tmp_path: Path
) -> None:
    write(tmp_path, *minutes)

    row = coverage(tmp_path, today=DAY)

    assert (row["in_progress"], row["longest_gap_seconds"]) == (True, gap)
    assert row["expected_runs"] == round(expected)


def test_one_run_has_no_interval(tmp_path: Path) -> None:
    write(tmp_path, 600)

    row = coverage(tmp_path)

    assert (row["interval_seconds"], row["expected_runs"]) == (None, None)
    assert row["longest_gap_seconds"] == 14 * 3600


@pytest.mark.parametrize(("today", "gap"), [(TOMORROW, 86_400), (DAY, None)])
def test_a_dataset_without_objects(today: date, gap: int | None, tmp_path: Path) -> None:
    write(tmp_path, 600)

    row = coverage(tmp_path, dataset="groups", today=today)

    assert (row["runs"], row["objects"], row["objects_skipped"]) == (0, 0, 0)
    assert (row["first_run"], row["longest_gap_seconds"]) == (None, gap)


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:900])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _without_key(path: Path) -> None:
    pq.write_table(pq.ParquetFile(path).read().drop_columns(["partition_id"]), path)


def _another_type(path: Path) -> None:
    table = pq.ParquetFile(path).read()
    place = table.column_names.index("lag")
    pq.write_table(table.set_column(place, "lag", table["lag"].cast(pa.string())), path)


def _misnamed(path: Path) -> None:
    path.rename(path.with_name("foreign.parquet"))


def _of_another_hour(path: Path) -> None:
    path.rename(path.with_name("20260131T230000Z-0of1.parquet"))


@pytest.mark.parametrize("spoil", [_truncate, _empty, _without_key, _another_type])
def test_an_object_that_cannot_be_read_is_skipped(
    spoil: Callable[[Path], None], tmp_path: Path
) -> None:
    paths = write(tmp_path, 0, 1, 2, 3)
    spoil(paths[1])
    spoil(paths[3])

    row = coverage(tmp_path)

    assert (row["objects"], row["objects_skipped"], row["runs"]) == (4, 2, 2)
    assert row["skipped"] == f"{paths[1].name}, {paths[3].name}"
    assert row["interval_seconds"] == 120
    assert [row["lag_max"] for row in reports(tmp_path)["lag_summary"]] == [1]


@pytest.mark.parametrize("rename", [_misnamed, _of_another_hour])
def test_a_name_that_is_no_runs_is_skipped(rename: Callable[[Path], None], tmp_path: Path) -> None:
    first, *_ = write(tmp_path, 0, 1, 2)
    rename(first)

    row = coverage(tmp_path)

    assert (row["objects"], row["objects_skipped"], row["first_run"]) == (3, 1, second(60))
    assert row["skipped"] not in {None, first.name}


def test_ten_skipped_objects_are_named(tmp_path: Path) -> None:
    paths = write(tmp_path, *range(12))
    for path in paths[:11]:
        _truncate(path)

    row = coverage(tmp_path)

    assert row["objects_skipped"] == 11
    assert row["skipped"] == ", ".join(path.name for path in paths[:10])


def test_a_column_that_a_file_lacks_is_null(tmp_path: Path) -> None:
    old, _ = write(tmp_path, 0, 1)
    table = pq.ParquetFile(old).read()
    pq.write_table(table.drop_columns(["lag", "client_host", "unread_reason"]), old)

    (row,) = reports(tmp_path)["partition_skew"]

    assert (row["lag_partitions"], row["lag_mean"]) == (1, 1)


def test_a_column_that_no_file_has_is_null(tmp_path: Path) -> None:
    for path in write(tmp_path, 0, 1):
        pq.write_table(pq.ParquetFile(path).read().drop_columns(["lag", "topic_id"]), path)

    (row,) = reports(tmp_path)["partition_skew"]

    assert (row["lag_partitions"], row["lag_mean"]) == (0, None)


def test_odd_names_are_folders_all_the_same(tmp_path: Path) -> None:
    root, cluster = tmp_path / "state [1] {a,b}*", "blå & 1/2"
    write_run(root, "groups", [{"consumer_group": "g"}], folder=quote(cluster, safe=""))

    found = reports(root, cluster=cluster)

    assert [row["consumer_group"] for row in found["lag_summary"]] == ["g"]


def test_another_day_is_not_read(tmp_path: Path) -> None:
    write_rows(tmp_path, "groups", [{"consumer_group": "g", "taken_at": second(86_400)}])

    assert reports(tmp_path)["lag_summary"] == []
