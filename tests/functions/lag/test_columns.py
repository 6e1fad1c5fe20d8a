# SPDX-License-Identifier: Apache-2.0
"""Columns and words behave as lists of Python values in which None is unknown."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag.lag.columns import Column, Strings

NUMBERS = st.lists(st.none() | st.integers(-(2**40), 2**40), max_size=20)
NAMES = st.lists(st.none() | st.sampled_from(["", "a", "b", "c", "ü", "a b"]), max_size=20)
SAME_LENGTH = st.lists(st.tuples(st.none() | st.integers(0, 9), st.none() | st.integers(0, 9)))


def rows_into(length: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(-1, length - 1) if length else st.just(-1), max_size=20)


@given(NUMBERS)
def test_numbers_survive_with_their_unknowns(values: list[int | None]) -> None:
    assert Column.optional(values).to_list() == values


@given(NAMES)
def test_words_survive_with_their_unknowns(values: list[str | None]) -> None:
    assert Strings.of(values).to_list() == values


@given(st.data())
def test_taking_rows_gives_unknown_for_a_negative_row(data: st.DataObject) -> None:
    numbers, names = data.draw(NUMBERS), data.draw(NAMES)
    for column, values in ((Column.optional(numbers), numbers), (Strings.of(names), names)):
        rows = data.draw(rows_into(len(values)))
        taken = column.take(np.array(rows, np.int64)).to_list()
        assert taken == [None if row < 0 else values[row] for row in rows]


@given(SAME_LENGTH)
def test_numbers_or_else_fills_only_the_unknown(pairs: list[tuple[int | None, int | None]]) -> None:
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    filled = Column.optional(left).or_else(Column.optional(right))
    assert filled.to_list() == [b if a is None else a for a, b in pairs]


@given(SAME_LENGTH)
def test_words_or_else_joins_different_dictionaries(
    pairs: list[tuple[int | None, int | None]],
) -> None:
    left, right = Strings.of(a for a, _ in pairs), Strings.of(b for _, b in pairs)
    assert left.or_else(right).to_list() == [b if a is None else a for a, b in pairs]


@given(NAMES, NAMES)
def test_words_concat_joins_different_dictionaries(
    left: list[str | None], right: list[str | None]
) -> None:
    assert Strings.of(left).concat(Strings.of(right)).to_list() == left + right


@given(NUMBERS, NUMBERS)
def test_numbers_concat_keeps_the_unknowns(left: list[int | None], right: list[int | None]) -> None:
    assert Column.optional(left).concat(Column.optional(right)).to_list() == left + right


@given(NAMES, st.sets(st.sampled_from(["a", "b", "nowhere"])))
def test_unknown_is_in_no_set_of_words(values: list[str | None], wanted: set[str]) -> None:
    assert Strings.of(values).is_in(wanted).tolist() == [v in wanted for v in values]


@given(NAMES, st.lists(st.sampled_from(["a", "c", "nowhere"]), unique=True))
def test_codes_into_another_dictionary_name_the_same_word(
    values: list[str | None], words: list[str]
) -> None:
    codes = Strings.of(values).codes_in(words).to_list()
    assert [None if c is None else words[c] for c in codes] == [
        value if value in words else None for value in values
    ]


def test_only_makes_unknown_what_the_mask_leaves_out() -> None:
    mask = np.array([True, False, True])
    assert Column.optional([1, 2, None]).only(mask).to_list() == [1, None, None]
    assert Strings.of(["a", "b", None]).only(mask).to_list() == ["a", None, None]


def test_a_constant_is_known_in_each_row() -> None:
    assert Strings.constant("gone", 2).to_list() == ["gone", "gone"]


def test_unknown_columns_know_nothing() -> None:
    assert Column.unknown(2).to_list() == Strings.unknown(2).to_list() == [None, None]


@given(st.data())
def test_pruned_words_are_the_same_rows_and_no_word_too_many(data: st.DataObject) -> None:
    values = data.draw(NAMES)
    taken = Strings.of(values).take(np.array(data.draw(rows_into(len(values))), np.int64))
    pruned = taken.pruned()
    assert pruned.to_list() == taken.to_list()
    assert set(pruned.categories) == set(taken.to_list()) - {None}


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@pytest.mark.parametrize("name", OPERATIONS)
@given(SAME_LENGTH)
def test_arithmetic_is_unknown_where_a_part_is_and_where_nothing_divides(
    name: str, pairs: list[tuple[int | None, int | None]]
) -> None:
    operation = OPERATIONS[name]

    def expected(left: int | None, right: int | None) -> Any:
        if left is None or right is None or (name == "/" and right == 0):
            return None
        return operation(left, right)

    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    got = operation(Column.optional(left), Column.optional(right)).to_list()
    assert got == [expected(a, b) for a, b in pairs]
    assert operation(Column.optional(left), 3).to_list() == [expected(a, 3) for a in left]
    assert operation(Column.optional(left), np.full(len(left), 3)).to_list() == [
        expected(a, 3) for a in left
    ]


@given(NUMBERS)
def test_a_number_and_an_array_may_stand_on_the_left(values: list[int | None]) -> None:
    column = Column.optional(values)
    for left in (7, np.full(len(values), 7)):
        assert (left - column).to_list() == [None if v is None else 7 - v for v in values]
        assert (left + column).to_list() == [None if v is None else 7 + v for v in values]
        assert (left * column).to_list() == [None if v is None else 7 * v for v in values]


@pytest.mark.parametrize("name", COMPARISONS)
@given(SAME_LENGTH)
def test_a_comparison_with_an_unknown_is_false(
    name: str, pairs: list[tuple[int | None, int | None]]
) -> None:
    compare = COMPARISONS[name]

    def expected(left: int | None, right: int | None) -> bool:
        return left is not None and right is not None and compare(left, right)

    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    got = compare(Column.optional(left), Column.optional(right))
    assert got.tolist() == [expected(a, b) for a, b in pairs]
    assert compare(Column.optional(left), 4).tolist() == [expected(a, 4) for a in left]
    assert compare(4, Column.optional(left)).tolist() == [expected(4, a) for a in left]


@given(SAME_LENGTH)
def test_a_value_is_clipped_from_below_and_above(
    pairs: list[tuple[int | None, int | None]],
) -> None:
    left, right = Column.optional([a for a, _ in pairs]), Column.optional([b for _, b in pairs])
    assert left.clip(2).to_list() == [None if a is None else max(a, 2) for a, _ in pairs]
    assert left.clip(2, 5).to_list() == [None if a is None else min(max(a, 2), 5) for a, _ in pairs]
    assert left.clip(most=right).to_list() == [
        None if a is None or b is None else min(a, b) for a, b in pairs
    ]
    assert left.fill(-1).tolist() == [-1 if a is None else a for a, _ in pairs]
