# SPDX-License-Identifier: Apache-2.0
"""Lag of one partition, case by case; numbers in ids are rows of the table of edge cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag.lag.columns import Column
from kafka_lag.lag.offset_lag import OffsetLag, compute_offset_lag

OFFSET = st.none() | st.integers(0, 2**62)
ROWS = st.lists(st.tuples(OFFSET, OFFSET, OFFSET, st.booleans()), min_size=1, max_size=30)
Row = tuple[int | None, int | None, int | None, bool]


def of(*rows: Row) -> OffsetLag:
    committed, start, end = (Column.optional([row[i] for row in rows]) for i in range(3))
    return compute_offset_lag(committed, start, end, from_start=np.array([row[3] for row in rows]))


@pytest.mark.parametrize(
    ("committed", "start", "end", "lag", "lost", "margin"),
    [
        pytest.param(40, 0, 100, 60, 0, 40, id="behind"),
        pytest.param(100, 0, 100, 0, 0, 100, id="caught-up"),
        pytest.param(101, 0, 100, 0, 0, 101, id="1-commit-moved-between-reads"),
        pytest.param(10, 30, 100, 70, 20, 0, id="4-commit-below-log-start"),
        pytest.param(100, 100, 100, 0, 0, 0, id="4-commit-at-start-of-an-emptied-log"),
        pytest.param(50, 100, 100, 0, 50, 0, id="4-everything-unread-was-deleted"),
        pytest.param(900, 0, 5, 0, 0, 900, id="5-commit-beyond-end"),
        pytest.param(40, None, 100, 60, None, None, id="10-start-unknown"),
        pytest.param(40, 0, None, None, 0, 40, id="10-end-unknown"),
        pytest.param(40, None, None, None, None, None, id="9-partition-unread"),
        pytest.param(99, 0, 100, 1, 0, 99, id="20-transaction-marker"),
        pytest.param(None, 0, 0, 0, None, None, id="2-uncommitted-and-empty"),
        pytest.param(None, 7, 7, 0, None, None, id="2-uncommitted-and-purged"),
        pytest.param(None, 0, 5, None, None, None, id="2-uncommitted"),
        pytest.param(None, None, 5, None, None, None, id="10-uncommitted-start-unknown"),
    ],
)
def test_lag_loss_and_margin(
    committed: int | None,
    start: int | None,
    end: int | None,
    lag: int | None,
    lost: int | None,
    margin: int | None,
) -> None:
    found = of((committed, start, end, False))
    assert found.lag.to_list() == [lag]
    assert found.lost.to_list() == [lost]
    assert found.margin.to_list() == [margin]


@pytest.mark.parametrize(
    ("row", "uncommitted"),
    [
        pytest.param((None, 0, 5, False), True, id="2-records-to-read"),
        pytest.param((None, 5, 5, False), False, id="2-nothing-to-read"),
        pytest.param((None, 0, 5, True), False, id="3-counted-from-start"),
        pytest.param((None, None, 5, False), False, id="10-nobody-can-say"),
        pytest.param((3, 0, 5, False), False, id="committed"),
    ],
)
def test_uncommitted_is_no_commit_with_records_to_read(row: Row, uncommitted: bool) -> None:
    assert of(row).uncommitted.tolist() == [uncommitted]


def test_a_group_that_starts_at_the_earliest_lags_from_the_log_start() -> None:
    assert of((None, 20, 100, True)).lag.to_list() == [80]


def test_from_start_does_not_move_a_group_that_has_committed() -> None:
    assert of((60, 20, 100, True)).lag.to_list() == [40]


@pytest.mark.parametrize(
    ("row", "beyond"),
    [
        pytest.param((101, 0, 100, False), True, id="5-past-the-end"),
        pytest.param((100, 0, 100, False), False, id="at-the-end"),
        pytest.param((None, 0, 100, False), False, id="no-commit"),
        pytest.param((101, 0, None, False), False, id="end-unknown"),
    ],
)
def test_beyond_end_is_flagged(row: Row, beyond: bool) -> None:
    assert of(row).beyond_end.tolist() == [beyond]


@given(ROWS)
def test_nothing_is_ever_negative(rows: list[Row]) -> None:
    found = of(*rows)
    for column in (found.lag, found.lost, found.margin):
        assert all(value is None or value >= 0 for value in column.to_list())


@given(ROWS)
def test_lag_is_unknown_only_without_an_end_or_a_position(rows: list[Row]) -> None:
    for row, lag in zip(rows, of(*rows).lag.to_list(), strict=True):
        committed, start, end, from_start = row
        placed = committed is not None or (
            start is not None and end is not None and (from_start or start >= end)
        )
        assert (lag is None) == (end is None or not placed)


@given(st.integers(0, 2**62), st.integers(0, 2**62), st.integers(0, 2**60))
def test_lag_and_loss_are_all_the_records_after_the_commit(
    committed: int, start: int, extra: int
) -> None:
    found = of((committed, start, max(committed, start) + extra, False))
    (lag,), (lost,) = found.lag.to_list(), found.lost.to_list()
    assert lag + lost == max(committed, start) + extra - committed


@given(ROWS)
def test_a_row_has_a_lag_or_is_uncommitted_never_both(rows: list[Row]) -> None:
    found = of(*rows)
    assert not (found.lag.known & found.uncommitted).any()
