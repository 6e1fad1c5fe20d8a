# SPDX-License-Identifier: Apache-2.0
"""Which days are of few rows, by the sizes of their objects, and what is started for them."""

from datetime import date
from pathlib import Path
from typing import NoReturn

import pytest

from kafka_lag_report.daily_report import EMPTY_OBJECT_BYTES, SMALL_BYTES, is_small, main
from kafka_lag_report.errors import DataError
from kafka_lag_report.read_snapshots import Day, Run
from kafka_lag_report.session import own_settings


def a_day(*sizes: int, source: str = "snapshots") -> Day:
    """Of objects of so many bytes."""
    runs = tuple(Run(f"x/{n}", f"{n}", size, None) for n, size in enumerate(sizes))
    return Day(
        cluster="demo",
        folder="cluster=demo",
        root="in/snapshots",
        history="out/history",
        date=date(2026, 1, 31),
        in_progress=False,
        source=source,
        runs={"groups": runs},
    )


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
    assert is_small(a_day(*sizes)) == small


def test_nobody_looked_at_what_only_the_history_has() -> None:
    assert not is_small(a_day(source="history"))


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


def test_code_that_runs_a_few_times_is_compiled_by_the_quick_compiler_alone() -> None:
    java = "spark.driver.extraJavaOptions"
    quick, usual = (own_settings(few_rows=few)[java].split() for few in (True, False))

    assert set(usual) < set(quick)
    assert "-XX:TieredStopAtLevel=1" in set(quick) - set(usual)
