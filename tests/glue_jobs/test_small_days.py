# SPDX-License-Identifier: Apache-2.0
"""Which days are of few rows, by the sizes of their objects."""

from datetime import date

import pytest

from kafka_lag_report.daily_report import EMPTY_OBJECT_BYTES, SMALL_BYTES, is_small
from kafka_lag_report.read_snapshots import Day, Run


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
