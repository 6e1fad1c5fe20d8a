# SPDX-License-Identifier: Apache-2.0
"""A sum over rows that any change of them changes, and their order does not."""

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag_report.checksum import Checksum, checksum
from kafka_lag_report.schemas import TEXT

_SCHEMA = pa.schema(
    [
        ("name", TEXT),
        ("other", TEXT),
        ("offset", pa.int64()),
        ("partition", pa.int32()),
        ("rate", pa.float64()),
        ("drain", pa.float64()),
        ("at", pa.timestamp("ms", tz="UTC")),
        ("replicas", pa.list_(pa.int32())),
    ]
)
_AT = datetime(2026, 1, 31, tzinfo=UTC)
_ROW = {
    "name": "a",
    "other": "b",
    "offset": 7,
    "partition": 7,
    "rate": 1.5,
    "drain": 2.5,
    "at": _AT,
    "replicas": [1, 2],
}
_LONG = st.none() | st.integers(-(1 << 63), (1 << 63) - 1)
_ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.none() | st.text(max_size=3),
            "offset": _LONG,
            "rate": st.none() | st.floats(allow_nan=False),
            "replicas": st.none() | st.lists(st.none() | st.integers(0, 9), max_size=3),
        }
    ),
    max_size=8,
)


def of(*rows: dict[str, Any]) -> Checksum:
    return checksum(pa.Table.from_pylist(list(rows), schema=_SCHEMA))


@given(rows=_ROWS, data=st.data())
def test_the_order_of_rows_changes_nothing(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    assert of(*data.draw(st.permutations(rows))) == of(*rows)


def test_how_rows_lie_in_memory_changes_nothing() -> None:
    table = pa.Table.from_pylist([_ROW, {**_ROW, "name": "z"}], schema=_SCHEMA)
    pieces = pa.concat_tables([table.slice(1), table.slice(0, 1)]).unify_dictionaries()

    assert checksum(pieces.combine_chunks()) == checksum(table)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "c"},
        {"name": ""},
        {"name": None},
        {"name": "b", "other": "a"},
        {"offset": 8},
        {"offset": None},
        {"offset": 0},
        {"partition": None},
        {"rate": -1.5},
        {"rate": -1.5, "drain": -2.5},
        {"rate": 2.5, "drain": 1.5},
        {"rate": None},
        {"at": datetime(2026, 1, 31, 0, 0, 0, 1000, tzinfo=UTC)},
        {"replicas": [2, 1]},
        {"replicas": [1, 2, None]},
        {"replicas": [1]},
        {"replicas": []},
        {"replicas": None},
    ],
    ids=str,
)
def test_any_change_of_a_value_changes_it(change: dict[str, Any]) -> None:
    others = [{**_ROW, "name": "before"}, {**_ROW, "name": "after"}]

    assert of(others[0], {**_ROW, **change}, others[1]) != of(others[0], _ROW, others[1])


@pytest.mark.parametrize("column", ["name", "offset", "rate", "replicas"])
def test_nothing_and_null_differ_from_each_other(column: str) -> None:
    zero = {"name": "", "offset": 0, "rate": 0.0, "replicas": []}[column]

    assert of({**_ROW, column: zero}) != of({**_ROW, column: None})


def test_values_that_change_rows_change_it() -> None:
    one, two = _ROW, {**_ROW, "name": "z", "offset": 9}
    swapped = {**one, "offset": 9}, {**two, "offset": 7}

    assert of(*swapped) != of(one, two)


def test_a_row_twice_is_not_a_row_once() -> None:
    assert of(_ROW, _ROW) != of(_ROW)
    assert of() == Checksum(0, 0)
