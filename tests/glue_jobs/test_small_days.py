# SPDX-License-Identifier: Apache-2.0
"""Which days have few rows, by the sizes of their objects, and the session started for them."""

from pathlib import Path
from typing import NoReturn

import pytest

from kafka_lag_report.daily_report import EMPTY_OBJECT_BYTES, SMALL_BYTES, is_small, main
from kafka_lag_report.errors import DataError
from kafka_lag_report.read_snapshots import Day, Run
from tests.glue_jobs.days import a_day


def of_sizes(*sizes: int, source: str = "snapshots") -> Day:
    """A day of objects of so many bytes."""
    runs = tuple(Run(f"x/{n}", f"{n}", size, None) for n, size in enumerate(sizes))
    return a_day(source=source, runs={"groups": runs})


@pytest.mark.parametrize(
    ("sizes", "small"),
    [
        ([EMPTY_OBJECT_BYTES] * 4_320, True),
        ([EMPTY_OBJECT_BYTES + SMALL_BYTES], True),
        ([EMPTY_OBJECT_BYTES + SMALL_BYTES + 1], False),
        ([EMPTY_OBJECT_BYTES + SMALL_BYTES // 2 + 1] * 2, False),
    ],
    ids=["hardly a row a minute", "up to the limit", "over it", "over it in two objects"],
)
def test_a_day_is_small_by_its_rows(sizes: list[int], small: bool) -> None:
    assert is_small(of_sizes(*sizes)) == small


def test_nobody_looked_at_what_only_the_history_has() -> None:
    assert not is_small(of_sizes(source="history"))


@pytest.mark.parametrize("bytes_each", [1, SMALL_BYTES + EMPTY_OBJECT_BYTES + 1])
def test_the_session_suits_the_largest_of_the_clusters(tmp_path: Path, bytes_each: int) -> None:
    for cluster, size in (("small", 1), ("other", bytes_each)):
        folder = tmp_path / f"snapshots/groups/cluster={cluster}/dt=2026-01-31/hour=12"
        folder.mkdir(parents=True)
        with (folder / "20260131T120000Z-0of1.parquet").open("wb") as file:
            file.truncate(size)
    opened = list[bool]()

    def session(*, few_rows: bool) -> NoReturn:
        opened.append(few_rows)
        raise DataError("no session is needed to know it")

    places = ["--input", str(tmp_path), "--output", str(tmp_path)]
    assert main([*places, "--date", "2026-01-31"], session=session) == 1
    assert opened == [bytes_each == 1]
