# SPDX-License-Identifier: Apache-2.0
"""Columns, frames and sets of rows."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame, have_same_keys, locate
from kafka_lag.lag.sets import Sets, distinct
from tests.builders import table

# Columns and words behave as lists of Python values in which None is unknown.

NUMBERS = st.lists(st.none() | st.integers(-(2**40), 2**40), max_size=20)
NAMES = st.lists(st.none() | st.sampled_from(["", "a", "b", "c", "ü", "a b"]), max_size=20)
SAME_LENGTH = st.lists(st.tuples(st.none() | st.integers(0, 9), st.none() | st.integers(0, 9)))


def rows_into(length: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(-1, length - 1) if length else st.just(-1), max_size=20)


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


def test_words_are_chosen_row_by_row_unknowns_too() -> None:
    one, other = Strings.of(["a", None, "b", "c"]), Strings.of(["d", "d", None, "a"])
    mask = np.array([True, True, False, False])

    assert one.where(mask, other).to_list() == ["a", None, None, "a"]


def test_words_are_put_at_some_rows_unknowns_too() -> None:
    one, other = Strings.of(["a", "b", "c"]), Strings.of(["d", None])

    assert one.put(np.array([2, 0]), other).to_list() == [None, "b", "d"]


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


def test_rows_of_a_column_in_which_nothing_is_known_take_no_memory() -> None:
    taken = Column.unknown(3, np.float64).take(np.array([2, -1, 0, 1]))

    assert taken.to_list() == [None] * 4
    assert taken.values.dtype == np.float64
    assert taken.values.strides == (0,)


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
        assert (left / column).to_list() == [None if not v else 7 / v for v in values]


@given(NUMBERS)
def test_whole_parts_and_nearest_whole_numbers_are_pythons(values: list[int | None]) -> None:
    column = Column.optional(values)
    assert (column // 2).to_list() == [None if v is None else v // 2 for v in values]
    assert (column / 4).rint().to_list() == [None if v is None else round(v / 4) for v in values]


# Where all rows are known, and known alike, an operation may return what it was given.


@pytest.mark.parametrize("name", [*OPERATIONS, *COMPARISONS])
@given(st.lists(st.tuples(st.integers(1, 9), st.none() | st.integers(1, 9)), min_size=1))
def test_columns_without_unknowns_compute_as_columns_whose_mask_is_written_out(
    name: str, pairs: list[tuple[int, int | None]]
) -> None:
    operation = {**OPERATIONS, **COMPARISONS}[name]
    values, other = np.array([a for a, _ in pairs]), Column.optional([b for _, b in pairs])
    whole, written = Column.of(values), Column(values, np.ones(len(values), bool))
    for left, right in ((whole, other), (other, whole), (whole, whole)):
        spelt = (written if each is whole else each for each in (left, right))
        assert _listed(operation(left, right)) == _listed(operation(*spelt))
    assert whole.or_else(other).to_list() == written.or_else(other).to_list()
    at = np.array([-1, 0, len(values) - 1])
    assert whole.take(at).to_list() == written.take(at).to_list()
    assert whole.take(at[1:]).to_list() == written.take(at[1:]).to_list()


def _listed(result: Any) -> list[Any]:
    return list(result.to_list() if isinstance(result, Column) else result.tolist())


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
    assert left.clip(right).to_list() == [
        None if a is None or b is None else max(a, b) for a, b in pairs
    ]
    assert left.fill(-1).tolist() == [-1 if a is None else a for a, _ in pairs]


# A column that is kept takes no memory for what is the same in each row.


@given(NUMBERS, NAMES)
def test_a_compacted_column_is_the_same(numbers: list[int | None], names: list[str | None]) -> None:
    assert Column.optional(numbers).compacted().to_list() == numbers
    assert Strings.of(names).compacted().to_list() == names


def test_what_is_known_of_all_rows_or_of_none_is_kept_once() -> None:
    known, unknown = np.ones(1_000, bool), np.zeros(1_000, bool)
    values = np.arange(1_000)

    assert Column(values, known).compacted().known.strides == (0,)
    assert Column(values, unknown).compacted().values.strides == (0,)
    assert Strings.of(["a"] * 1_000).compacted().known.strides == (0,)
    assert Column.of(np.full(1_000, 7)).compacted().values.strides == (0,)


def test_a_row_of_a_writable_copy_is_set_in_the_copy_alone() -> None:
    column = Column.unknown(2)
    copy = column.writable()
    copy.values[0], copy.known[0] = 7, True

    assert (copy.to_list(), column.to_list()) == ([7, None], [None, None])
    with pytest.raises(ValueError, match="read-only"):
        column.known[0] = True


# Frames: rows found by key as in a dict, joined and completed without losing a column.

KEYS = st.lists(
    st.tuples(
        st.none() | st.sampled_from(["g1", "g2", "", "ü"]),
        st.none() | st.sampled_from(["orders", "g1", "x"]),
        st.none() | st.integers(0, 3) | st.integers(2**30, 2**31 - 1),
    ),
    max_size=25,
)
# So few that a table holds all that are possible.
FEW_KEYS = st.lists(
    st.tuples(st.none() | st.just("g1"), st.none() | st.just("x"), st.none() | st.integers(0, 3)),
    max_size=25,
)
KEY_COLUMNS = ("consumer_group", "topic", "partition_id")


def keyed(rows: list[tuple[str | None, str | None, int | None]]) -> Frame:
    return Frame.of(
        {
            "consumer_group": Strings.of(group for group, _, _ in rows),
            "topic": Strings.of(topic for _, topic, _ in rows),
            "partition_id": Column.optional([number for *_, number in rows], np.int32),
        }
    )


@given(KEYS | FEW_KEYS, KEYS | FEW_KEYS)
def test_locate_finds_what_a_dict_finds(
    wanted: list[tuple[str | None, str | None, int | None]],
    among: list[tuple[str | None, str | None, int | None]],
) -> None:
    index = {key: row for row, key in enumerate(among) if None not in key}
    expected = [index.get(key, -1) for key in wanted]
    assert locate(keyed(wanted), keyed(among), KEY_COLUMNS).tolist() == expected


@given(FEW_KEYS, FEW_KEYS)
def test_frames_have_the_same_keys_only_if_each_row_has(
    one: list[tuple[str | None, str | None, int | None]],
    other: list[tuple[str | None, str | None, int | None]],
) -> None:
    assert have_same_keys(keyed(one), keyed(list(one)), KEY_COLUMNS)
    assert have_same_keys(keyed(one), keyed(other), KEY_COLUMNS) <= (one == other)


@pytest.mark.parametrize("column", KEY_COLUMNS)
def test_frames_that_differ_in_one_column_have_other_keys(column: str) -> None:
    one = keyed([("g1", "x", 0), ("g1", "x", 1)])
    other = one.with_columns(**{column: one.columns[column].take(np.array([0, -1]))})

    assert not have_same_keys(one, other, KEY_COLUMNS)


@given(KEYS.filter(len), st.data())
def test_rows_are_taken_at_any_positions(
    rows: list[tuple[str | None, str | None, int | None]], data: st.DataObject
) -> None:
    every = list(range(len(rows)))
    at = data.draw(st.just(every) | st.permutations(every) | rows_into(len(rows)))
    expected = [rows[row] if row >= 0 else (None, None, None) for row in at]

    positions = np.array(at, np.int64)
    assert table(keyed(rows).take(positions), *KEY_COLUMNS) == expected
    assert table(keyed(rows).lazy_take(positions), *KEY_COLUMNS) == expected


@given(KEYS, KEYS)
def test_concat_is_the_rows_of_both(
    left: list[tuple[str | None, str | None, int | None]],
    right: list[tuple[str | None, str | None, int | None]],
) -> None:
    assert table(keyed(left).concat(keyed(right)), *KEY_COLUMNS) == left + right


@given(KEYS)
def test_a_mask_keeps_the_rows_where_it_is_true(
    rows: list[tuple[str | None, str | None, int | None]],
) -> None:
    frame = keyed(rows)
    mask = frame.strings("topic").is_in(["orders"])
    assert table(frame.where(mask), *KEY_COLUMNS) == [row for row in rows if row[1] == "orders"]


@pytest.mark.parametrize("dataset", contract.DATASETS)
def test_completed_has_the_contracts_columns_in_its_order(dataset: str) -> None:
    frame = Frame.of({"read_at": Column.of([1, 2])}).completed(dataset)
    assert tuple(frame.columns) == tuple(contract.COLUMNS[dataset])
    assert {len(column) for column in frame.columns.values()} == {2}


def test_completed_leaves_what_is_there_and_knows_nothing_else() -> None:
    frame = Frame.of({"lag": Column.of([7])}).completed(contract.GROUPS)
    assert table(frame, "lag", "max_lag", "owner") == [(7, None, None)]


def test_what_was_taken_is_let_go_and_taken_again_when_it_is_used() -> None:
    frame = keyed([("a", "x", 1), (None, "y", None)])
    lazy = frame.lazy_take(np.array([1, 0]))
    before = lazy.columns["topic"]
    again = lazy.untaken().columns["topic"]

    assert again is not before
    assert again.to_list() == before.to_list()
    assert frame.untaken() is frame


def test_columns_of_many_rows_are_small_as_soon_as_they_are_in_a_frame() -> None:
    rows = 20_000
    unknown = Column(np.arange(rows), np.zeros(rows, bool))
    words = Strings(unknown, ("a",) * rows)
    frame = Frame.of({"lag": Column.of(np.arange(rows))}).with_columns(
        last_lag=unknown, topic=words
    )

    assert frame.numbers("last_lag").values.strides == (0,)
    assert frame.strings("topic").codes.values.strides == (0,)


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match=r"different lengths: \[1, 2\]"):
        Frame.of({"lag": Column.of([1]), "max_lag": Column.of([1, 2])})
    with pytest.raises(ValueError, match="column max_lag has 2 rows of 1"):
        Frame.of({"lag": Column.of([1])}).with_columns(max_lag=Column.of([1, 2]))


def test_strings_are_no_numbers_and_numbers_no_strings() -> None:
    frame = keyed([("g", "t", 0)])
    with pytest.raises(TypeError, match="topic holds strings"):
        frame.numbers("topic")
    with pytest.raises(TypeError, match="partition_id holds numbers"):
        frame.strings("partition_id")


# Sums and maxima against plain Python; a missing row makes its set unknown.

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
def test_a_maximum_and_a_minimum_are_those_of_a_whole_set_and_else_unknown(rows: list[Row]) -> None:
    sets, values, missing = sets_of(rows)
    wholes = [members(rows, number) for number in range(COUNT)]
    expected = [(None, None) if whole is None else (max(whole), min(whole)) for whole in wholes]
    found = sets.maximum(values, missing), sets.minimum(values, missing)
    assert list(zip(*(each.to_list() for each in found), strict=True)) == expected


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


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=30))
def test_distinct_gives_each_pair_one_set_and_its_first_row(pairs: list[tuple[int, int]]) -> None:
    left, right = (np.array([pair[i] for pair in pairs], np.int64) for i in range(2))
    sets, first = distinct(left, right)
    assert sets.count == len(set(pairs))
    assert [pairs[first[number]] for number in sets.of_row] == pairs
    assert all(pairs.index(pairs[row]) == row for row in first)
