# SPDX-License-Identifier: Apache-2.0
"""Frames: rows found by key as in a dict, joined and completed without losing a column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame, locate
from tests.builders import table

KEYS = st.lists(
    st.tuples(
        st.none() | st.sampled_from(["g1", "g2", "", "ü"]),
        st.none() | st.sampled_from(["orders", "g1", "x"]),
        st.none() | st.integers(0, 3) | st.integers(2**30, 2**31 - 1),
    ),
    max_size=25,
)
NAMES = ("consumer_group", "topic", "partition_id")


def keyed(rows: list[tuple[str | None, str | None, int | None]]) -> Frame:
    return Frame.of(
        {
            "consumer_group": Strings.of(group for group, _, _ in rows),
            "topic": Strings.of(topic for _, topic, _ in rows),
            "partition_id": Column.optional([number for *_, number in rows], np.int32),
        }
    )


@given(KEYS, KEYS)
def test_locate_finds_what_a_dict_finds(
    wanted: list[tuple[str | None, str | None, int | None]],
    among: list[tuple[str | None, str | None, int | None]],
) -> None:
    index = {key: row for row, key in enumerate(among) if None not in key}
    expected = [index.get(key, -1) for key in wanted]
    assert locate(keyed(wanted), keyed(among), NAMES).tolist() == expected


def test_locate_reads_a_key_in_the_order_it_is_given() -> None:
    wanted, among = keyed([("a", "b", 0)]), keyed([("b", "a", 0)])
    assert locate(wanted, among, ("consumer_group", "topic")).tolist() == [-1]


@given(KEYS, KEYS)
def test_concat_is_the_rows_of_both(
    left: list[tuple[str | None, str | None, int | None]],
    right: list[tuple[str | None, str | None, int | None]],
) -> None:
    assert table(keyed(left).concat(keyed(right)), *NAMES) == left + right


@given(KEYS)
def test_a_mask_keeps_the_rows_where_it_is_true(
    rows: list[tuple[str | None, str | None, int | None]],
) -> None:
    frame = keyed(rows)
    mask = frame.strings("topic").is_in(["orders"])
    assert table(frame.where(mask), *NAMES) == [row for row in rows if row[1] == "orders"]


@pytest.mark.parametrize("dataset", contract.DATASETS)
def test_completed_has_the_contracts_columns_in_its_order(dataset: str) -> None:
    frame = Frame.of({"read_at": Column.of([1, 2])}).completed(dataset)
    assert tuple(frame.columns) == tuple(contract.COLUMNS[dataset])
    assert {len(column) for column in frame.columns.values()} == {2}


def test_completed_leaves_what_is_there_and_knows_nothing_else() -> None:
    frame = Frame.of({"lag": Column.of([7])}).completed(contract.GROUPS)
    assert table(frame, "lag", "max_lag", "owner") == [(7, None, None)]


def test_completed_drops_what_the_dataset_has_not() -> None:
    frame = Frame.of({"lag": Column.of([7]), "topic": Strings.of(["t"])})
    assert "topic" not in frame.completed(contract.GROUPS)


def test_a_row_taken_from_nowhere_is_all_unknown() -> None:
    taken = Frame.empty(contract.GROUPS).take(np.array([-1]))
    assert {column.to_list()[0] for column in taken.columns.values()} == {None}


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match=r"different lengths: \[1, 2\]"):
        Frame.of({"lag": Column.of([1]), "max_lag": Column.of([1, 2])})


def test_strings_are_no_numbers_and_numbers_no_strings() -> None:
    frame = keyed([("g", "t", 0)])
    with pytest.raises(TypeError, match="topic holds strings"):
        frame.numbers("topic")
    with pytest.raises(TypeError, match="partition_id holds numbers"):
        frame.strings("partition_id")
