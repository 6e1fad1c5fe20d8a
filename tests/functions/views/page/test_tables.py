# SPDX-License-Identifier: Apache-2.0
"""Rows are found and ordered as columns, what is unknown always last."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.views.page_tables import cut_page, match_substring, order_rows, rank_names

SOME = st.lists(st.none() | st.integers(-(10**15), 10**15), min_size=1)


@given(SOME)
def test_an_order_and_its_reverse_agree_but_for_the_unknown(values: list[int | None]) -> None:
    column = Column.optional(values)
    known = sorted(value for value in values if value is not None)
    unknown = [None] * values.count(None)

    up, down = (order_rows([key]) for key in (column, -column))

    assert column.take(up).to_list() == known + unknown
    assert column.take(down).to_list() == known[::-1] + unknown


def test_the_next_key_decides_among_equals() -> None:
    first, then = Column.of([1, 0, 1, 0]), Column.of([3, 9, 2, 8])

    assert order_rows([first, then]).tolist() == [3, 1, 2, 0]


def test_strings_are_ordered_whatever_their_case() -> None:
    strings = Strings.of(["b", None, "A", "a", "B"])

    assert strings.take(order_rows([rank_names(strings)])).to_list() == ["A", "a", "b", "B", None]


@pytest.mark.parametrize(("text", "found"), [("STRASSE", [0]), ("e", [0, 2]), ("", [0, 2])])
def test_a_text_is_found_within_words_whatever_the_case(text: str, found: list[int]) -> None:
    strings = Strings.of(["Straße", None, "else"])

    assert np.flatnonzero(match_substring(strings, text)).tolist() == found


@given(st.integers(0, 30), st.integers(1, 12), st.integers(1, 7))
def test_pages_hold_each_row_once(rows: int, page: int, size: int) -> None:
    frame = Frame({"n": Column.of(np.arange(rows))}, rows)
    order = np.arange(rows)[::-1]

    pages = cut_page(frame, order, 1, size).pages
    all_of_them = [cut_page(frame, order, one, size) for one in range(1, pages + 1)]

    assert [row["n"] for one in all_of_them for row in one.rows] == order.tolist()
    assert cut_page(frame, order, page, size) == all_of_them[min(page, pages) - 1]
