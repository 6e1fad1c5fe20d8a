# SPDX-License-Identifier: Apache-2.0
"""Tables: named columns of one length, in which modules pass numbers to each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Rows, Strings

AnyColumn: TypeAlias = Column | Strings
Columns: TypeAlias = dict[str, AnyColumn]

DTYPES: dict[str, Any] = {
    contract.LONG: np.int64,
    contract.INT: np.int32,
    contract.DOUBLE: np.float64,
    contract.BOOLEAN: np.bool_,
    contract.TIMESTAMP: np.int64,
}


@dataclass(frozen=True, slots=True)
class Frame:
    """Columns by name, all `length` rows long.

    Names and types are those of one dataset of `contract.COLUMNS`; a frame may hold only some of
    them. Reading an absent column raises KeyError; `completed` adds it with unknown values.
    """

    columns: Mapping[str, AnyColumn]
    length: int

    @classmethod
    def of(cls, columns: Mapping[str, AnyColumn]) -> Frame:
        """Returns a frame of at least one column. Raises ValueError for different lengths."""
        lengths = {len(column) for column in columns.values()}
        if len(lengths) != 1:
            raise ValueError(f"columns of different lengths: {sorted(lengths)}")
        return cls(dict(columns), lengths.pop())

    @classmethod
    def empty(cls, dataset: str) -> Frame:
        """Returns a frame with every column of a dataset and no rows."""
        return cls({}, 0).completed(dataset)

    def __len__(self) -> int:
        return self.length

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def numbers(self, name: str) -> Column:
        """Returns a column of numbers, times or booleans. Raises TypeError for one of strings."""
        column = self.columns[name]
        if not isinstance(column, Column):
            raise TypeError(f"{name} holds strings")
        return column

    def strings(self, name: str) -> Strings:
        """Returns a column of strings or lists. Raises TypeError for one of numbers."""
        column = self.columns[name]
        if not isinstance(column, Strings):
            raise TypeError(f"{name} holds numbers")
        return column

    def with_columns(self, **columns: AnyColumn) -> Frame:
        """Returns the rows with columns added or replaced. Raises ValueError for other lengths."""
        for name, column in columns.items():
            if len(column) != self.length:
                raise ValueError(f"column {name} has {len(column)} rows of {self.length}")
        if self.length >= _WORTH_COMPACTING:
            # Half of the columns of a run are unknown in all rows, and would pile up uncompacted.
            columns = {name: _compact(column) for name, column in columns.items()}
        return Frame({**self.columns, **columns}, self.length)

    def take(self, rows: Rows) -> Frame:
        """Returns the rows at these positions; a negative position gives a row of unknowns."""
        if self._is_whole(rows):
            return self
        return Frame({n: c.take(rows) for n, c in self.columns.items()}, len(rows))

    def lazy_take(self, rows: Rows) -> Frame:
        """Returns `take(rows)`, but takes each column only when it is used.

        That saves work on wide frames. The result keeps this frame in memory, so it must not be
        stored.
        """
        if self._is_whole(rows):
            return self
        return Frame(_LazyColumns(self.columns, rows), len(rows))

    def untaken(self) -> Frame:
        """Returns the same rows; a lazy frame forgets the columns taken so far."""
        if not isinstance(self.columns, _LazyColumns):
            return self
        return Frame(self.columns.untaken(), self.length)

    def _is_whole(self, rows: Rows) -> bool:
        """Returns True for all rows in order, which is usual from run to run and needs no copy."""
        length = self.length
        return len(rows) == length and not np.count_nonzero(rows != np.arange(length))

    def where(self, mask: Mask) -> Frame:
        """Returns the rows for which the mask is true."""
        return self if mask.all() else self.take(np.flatnonzero(mask))

    def lazy_where(self, mask: Mask) -> Frame:
        """Returns `where(mask)` with lazy columns; see `lazy_take`."""
        return self if mask.all() else self.lazy_take(np.flatnonzero(mask))

    def completed(self, dataset: str) -> Frame:
        """Returns exactly the columns of the dataset in its order; absent ones are unknown."""
        columns, kinds = self.columns, contract.COLUMNS[dataset]
        absent = {kind: unknown(kind, self.length) for kind in set(kinds.values())}
        return Frame(
            {n: columns[n] if n in columns else absent[kind] for n, kind in kinds.items()},
            self.length,
        )

    def compacted(self) -> Frame:
        """Returns the same rows in as little memory as possible; see `Column.compacted`."""
        if self.length < _WORTH_COMPACTING:
            columns = self.columns.items()
            return Frame(
                {n: c.pruned() if isinstance(c, Strings) else c for n, c in columns}, self.length
            )
        return Frame({name: c.compacted() for name, c in self.columns.items()}, self.length)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Returns each row as Python values by column, None for unknown."""
        values = [column.to_list() for column in self.columns.values()]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*values, strict=True)]

    def concat(self, other: Frame) -> Frame:
        """Returns these rows, then the other's; both must have the same columns."""
        joined: dict[str, AnyColumn] = {}
        for name, column in self.columns.items():
            if isinstance(column, Strings):
                joined[name] = column.concat(other.strings(name))
            else:
                joined[name] = column.concat(other.numbers(name))
        return Frame(joined, self.length + other.length)


class _LazyColumns(Mapping[str, AnyColumn]):
    """Columns at some rows, each taken when it is first used."""

    __slots__ = ("_columns", "_rows", "_taken")

    def __init__(self, columns: Mapping[str, AnyColumn], rows: Rows) -> None:
        self._columns, self._rows = columns, rows
        self._taken: dict[str, AnyColumn] = {}

    def __getitem__(self, name: str) -> AnyColumn:
        if name not in self._taken:
            self._taken[name] = self._columns[name].take(self._rows)
        return self._taken[name]

    def untaken(self) -> _LazyColumns:
        """Returns the same columns, none of them taken yet."""
        return _LazyColumns(self._columns, self._rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


# Columns of fewer rows are not worth compacting.
_WORTH_COMPACTING = 10_000


def _compact(column: AnyColumn) -> AnyColumn:
    """Returns the column in less memory; unused words of strings are kept."""
    if isinstance(column, Strings):
        return Strings(column.codes.compacted(), column.categories)
    return column.compacted()


def unknown(kind: str, length: int) -> AnyColumn:
    """Returns a column of a contract type in which nothing is known."""
    if kind == contract.STRING or kind in contract.LISTS:
        return Strings.unknown(length)
    return Column.unknown(length, DTYPES[kind])


def stack_numbers(frames: Sequence[Frame], name: str) -> tuple[Rows, Mask]:
    """Returns one column of frames of one length as a matrix, and a mask of its known values.

    The matrix has a row per frame.
    """
    columns = [frame.numbers(name) for frame in frames]
    return np.array([c.values for c in columns]), np.array([c.known for c in columns])


def locate(wanted: Frame, among: Frame, names: tuple[str, ...]) -> Rows:
    """Returns for each wanted row the row of `among` with the same key, -1 if there is none.

    A key with an unknown part matches nothing. If several rows have one key, the last is returned.
    """
    if not len(among) or not len(wanted):
        return np.full(len(wanted), -1, np.int64)
    left, right, count = _codes(wanted, among, names)
    if count <= _DENSE * (len(left) + len(right)):
        place = np.full(count + 1, -1, np.int64)
        rows = np.flatnonzero(right >= 0)
        np.maximum.at(place, right[rows], rows)
        return place[left]
    order = np.argsort(right, kind="stable")
    position = np.searchsorted(right, left, side="right", sorter=order) - 1
    found = order[np.maximum(position, 0)]
    match = (position >= 0) & (right[found] == left) & (left >= 0)
    return np.where(match, found, -1)


# Up to this many possible keys per row, a table of keys costs less than sorting the rows.
_DENSE = 8


def have_same_keys(one: Frame, other: Frame, names: tuple[str, ...]) -> bool:
    """Returns True if both have the same keys row by row, so that a join of one serves for both.

    It returns false as well if the same words have other codes, because it must cost less than a
    join.
    """
    return len(one) == len(other) and all(
        one.columns[name].is_same(other.columns[name]) for name in names
    )


def _codes(wanted: Frame, among: Frame, names: tuple[str, ...]) -> tuple[Rows, Rows, int]:
    """Returns the keys of both as numbers below a count; -1 or -2 if a part of a key is unknown."""
    left, right, count = np.zeros(len(wanted), np.int64), np.zeros(len(among), np.int64), 1
    for name in names:
        column = among.columns[name]
        if isinstance(column, Strings):
            ours, theirs = wanted.strings(name).codes_in(column.categories), column.codes
        else:
            ours, theirs = wanted.numbers(name), column
        base = 1 + max(int(ours.values.max(initial=0)), int(theirs.values.max(initial=0)))
        left = np.where(ours.known & (left >= 0), left * base + ours.values, -1)
        right = np.where(theirs.known & (right >= 0), right * base + theirs.values, -2)
        count *= base
    return left, right, count
