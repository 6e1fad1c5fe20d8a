# SPDX-License-Identifier: Apache-2.0
"""What is a difference and what is none."""

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from dev.report_check import compare

SCHEMA = pa.schema(
    [
        ("topic", pa.string()),
        ("mean", pa.float64()),
        ("led", pa.list_(pa.int32())),
        ("n", pa.int32()),
    ]
)


def table(*rows: tuple[Any, ...]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


EXPECTED = table(("a", 1000.0, [1, 2], 1), (None, None, None, None))

DIFFERENT: dict[str, tuple[pa.Table, list[str]]] = {
    "a row less": (table(("a", 1000.0, [1, 2], 1)), ["topic None: row missing"]),
    "a row more": (
        table(("a", 1000.0, [1, 2], 1), (None, None, None, None), ("b", 1.0, [], 0)),
        ["topic 'b': row extra"],
    ),
    "a row twice": (
        table(("a", 1000.0, [1, 2], 1), (None, None, None, None), (None, None, None, None)),
        ["topic None: 2 rows, not 1"],
    ),
    "a number": (
        table(("a", 1000.00001, [1, 2], 1), (None, None, None, None)),
        ["topic 'a': mean is 1000.00001, not 1000.0"],
    ),
    "zero for unknown": (
        table(("a", 1000.0, [1, 2], 1), (None, 0.0, None, 0)),
        ["topic None: mean is 0.0, not None", "topic None: n is 0, not None"],
    ),
    "unknown for a number": (
        table(("a", None, [1, 2], None), (None, None, None, None)),
        ["topic 'a': mean is None, not 1000.0", "topic 'a': n is None, not 1"],
    ),
    "no number": (
        table(("a", float("nan"), [1, 2], 1), (None, None, None, None)),
        ["topic 'a': mean is nan, not 1000.0"],
    ),
    "a list in another order": (
        table(("a", 1000.0, [2, 1], 1), (None, None, None, None)),
        ["topic 'a': led is [2, 1], not [1, 2]"],
    ),
    "nothing written": (pa.table({}), ["topic 'a': row missing", "topic None: row missing"]),
    "a column less": (EXPECTED.drop_columns(["n"]), ["column missing: n"]),
    "a column more": (EXPECTED.append_column("x", [[1, 2]]), ["column extra: x"]),
    "columns in another order": (
        EXPECTED.select(["mean", "topic", "led", "n"]),
        ["columns in another order: mean, topic, led, n"],
    ),
    "another type": (
        EXPECTED.set_column(3, "n", EXPECTED["n"].cast(pa.int64())),
        ["column n: type int32 expected, not int64"],
    ),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_a_difference_is_told_in_words(case: str) -> None:
    actual, said = DIFFERENT[case]

    assert compare(EXPECTED, actual) == said


def test_order_and_the_last_bits_are_no_difference() -> None:
    actual = table((None, None, None, None), ("a", 1000.0 + 1e-7, [1, 2], 1))

    assert compare(EXPECTED, actual) == []


def test_how_a_file_keeps_times_and_lists_is_no_difference() -> None:
    at = datetime(2026, 1, 31, tzinfo=UTC)
    tables = [
        pa.table({"at": pa.array([at], pa.timestamp(unit, "UTC")), "led": pa.array([[1]], kind)})
        for unit, kind in (
            ("ms", pa.list_(pa.int32())),
            ("us", pa.list_(pa.field("element", pa.int32()))),
        )
    ]

    assert compare(*tables) == []
