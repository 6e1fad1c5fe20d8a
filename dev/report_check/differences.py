# SPDX-License-Identifier: Apache-2.0
"""How two tables of a report differ, in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import isclose
from typing import Any

import pyarrow as pa

Row = dict[str, Any]
Key = tuple[Any, ...]

# A column of one of these names is part of a row's key in whichever report it is.
_KEYS = (
    "consumer_group",
    "topic",
    "partition_id",
    "hour",
    "measure",
    "leader",
    "leader_rack",
    "client_host",
    "client_id",
    "member_id",
    "dataset",
)
_TOLERANCE = 1e-9


def compare(expected: pa.Table, actual: pa.Table) -> list[str]:
    """The differences, none for equal tables; rows may be in any order.

    Doubles may differ by 1e-9 of the greater and 1e-9; null equals only null. A table without
    columns is one without rows.
    """
    if actual.num_columns and (faults := _columns(expected.schema, actual.schema)):
        return faults
    key = [name for name in _KEYS if name in expected.column_names]
    left, right = _by_key(expected, key), _by_key(actual, key)
    faults = []
    for place in sorted(left.keys() | right.keys(), key=repr):
        faults += _rows(_named(key, place), left[place], right[place])
    return faults


def _columns(expected: pa.Schema, actual: pa.Schema) -> list[str]:
    if expected.names != actual.names:
        missing = [name for name in expected.names if name not in actual.names]
        extra = [name for name in actual.names if name not in expected.names]
        if not missing and not extra:
            return [f"columns in another order: {', '.join(actual.names)}"]
        return [f"column missing: {name}" for name in missing] + [
            f"column extra: {name}" for name in extra
        ]
    return [
        f"column {name}: type {_kind(field.type)} expected, not {_kind(actual.field(name).type)}"
        for name, field in zip(expected.names, expected, strict=True)
        if _kind(field.type) != _kind(actual.field(name).type)
    ]


def _kind(kind: pa.DataType) -> str:
    """Its name, without what no reader of values sees: a time's unit, a list's inner name."""
    if pa.types.is_timestamp(kind):
        return f"timestamp in {kind.tz}"
    if pa.types.is_list(kind):
        return f"list of {kind.value_type}"
    return str(kind)


def _by_key(table: pa.Table, key: list[str]) -> defaultdict[Key, list[Row]]:
    found: defaultdict[Key, list[Row]] = defaultdict(list)
    for row in table.to_pylist():
        found[tuple(row[name] for name in key)].append(row)
    return found


def _named(key: list[str], place: Key) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in zip(key, place, strict=True))


def _rows(place: str, expected: list[Row], actual: list[Row]) -> Iterator[str]:
    if not actual:
        yield f"{place}: row missing"
    elif not expected:
        yield f"{place}: row extra"
    elif len(expected) != len(actual):
        yield f"{place}: {len(actual)} rows, not {len(expected)}"
    else:
        for one, other in zip(expected, actual, strict=True):
            for name, value in one.items():
                if not _equal(value, other[name]):
                    yield f"{place}: {name} is {other[name]!r}, not {value!r}"


def _equal(expected: Any, actual: Any) -> bool:
    if isinstance(expected, float) and isinstance(actual, float):
        return isclose(expected, actual, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return bool(expected == actual)
