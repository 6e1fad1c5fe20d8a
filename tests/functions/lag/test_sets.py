# SPDX-License-Identifier: Apache-2.0
"""Sums and maxima against plain Python; a missing row makes its set unknown."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag.lag.columns import Column
from kafka_lag.lag.sets import Sets, distinct

COUNT = 4
# Set, value, whether the row is missing: an unknown value need not be (uncommitted counts apart).
ROWS = st.lists(
    st.tuples(st.integers(0, COUNT - 1), st.none() | st.integers(0, 9), st.booleans()), max_size=30
)
Row = tuple[int, int | None, bool]


def sets_of(rows: list[Row]) -> tuple[Sets, Column, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    of_row = np.array([number for number, _, _ in rows], np.int64)
    missing = np.array([gone for *_, gone in rows], bool)
    return Sets(of_row, COUNT), Column.optional([value for _, value, _ in rows]), missing


def members(rows: list[Row], number: int) -> list[int] | None:
    """The known values of a set; None when a row of it is missing or nothing is known."""
    mine = [row for row in rows if row[0] == number]
    values = [value for _, value, _ in mine if value is not None]
    return values if values and not any(gone for *_, gone in mine) else None


@given(ROWS)
def test_a_total_is_the_sum_of_a_whole_set_and_else_unknown(rows: list[Row]) -> None:
    sets, values, missing = sets_of(rows)
    wholes = [members(rows, number) for number in range(COUNT)]
    expected = [None if whole is None else sum(whole) for whole in wholes]
    assert sets.total(values, missing).to_list() == expected


@given(ROWS)
def test_a_maximum_is_that_of_a_whole_set_and_else_unknown(rows: list[Row]) -> None:
    sets, values, missing = sets_of(rows)
    wholes = [members(rows, number) for number in range(COUNT)]
    expected = [None if whole is None else max(whole) for whole in wholes]
    assert sets.maximum(values, missing).to_list() == expected


@given(ROWS)
def test_a_minimum_is_that_of_a_whole_set_and_else_unknown(rows: list[Row]) -> None:
    sets, values, missing = sets_of(rows)
    wholes = [members(rows, number) for number in range(COUNT)]
    expected = [None if whole is None else min(whole) for whole in wholes]
    assert sets.minimum(values, missing).to_list() == expected


@given(st.lists(st.tuples(st.integers(0, COUNT - 1), st.integers(-2, 2), st.floats(-1, 1))))
def test_the_worst_row_has_the_largest_keys_in_turn_and_is_the_first_of_equals(
    rows: list[tuple[int, int, float]],
) -> None:
    of_row, *keys = (np.array([row[i] for row in rows], kind) for i, kind in enumerate("qqd"))
    among = np.arange(len(rows)) % 3 > 0
    expected = []
    for number in range(COUNT):
        mine = [(*row[1:], -at) for at, row in enumerate(rows) if row[0] == number and among[at]]
        expected.append(-max(mine)[-1] if mine else -1)
    assert Sets(of_row, COUNT).first_at_maximum(among, *keys).tolist() == expected


@given(ROWS)
def test_rows_left_out_of_their_sets_change_nothing_in_them(rows: list[Row]) -> None:
    sets, values, left_out = sets_of(rows)
    kept = sets_of([row for row in rows if not row[2]])
    for name in ("total", "maximum", "minimum"):
        expected = getattr(kept[0], name)(kept[1]).to_list()
        assert getattr(sets.without(left_out), name)(values).to_list() == expected
    assert sets.without(left_out).rows().to_list() == kept[0].rows().to_list()


@given(ROWS)
def test_marked_rows_are_counted_by_set(rows: list[Row]) -> None:
    sets, _, missing = sets_of(rows)
    expected = [sum(gone for s, _, gone in rows if s == number) for number in range(COUNT)]
    assert sets.rows(missing).to_list() == expected


def test_a_sum_may_be_larger_than_32_bits() -> None:
    sets = Sets(np.zeros(2, np.int64), 1)
    total = sets.total(Column.of([2**40, 2**40]), np.zeros(2, bool))
    assert total.to_list() == [2**41]


def test_a_sum_of_fractions_keeps_them() -> None:
    sets = Sets(np.zeros(2, np.int64), 1)
    assert sets.total(Column.of([0.5, 0.25])).to_list() == [0.75]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=30))
def test_distinct_gives_each_pair_one_set_and_its_first_row(pairs: list[tuple[int, int]]) -> None:
    left, right = (np.array([pair[i] for pair in pairs], np.int64) for i in range(2))
    sets, first = distinct(left, right)
    assert sets.count == len(set(pairs))
    assert [pairs[first[number]] for number in sets.of_row] == pairs
    assert all(pairs.index(pairs[row]) == row for row in first)
