# SPDX-License-Identifier: Apache-2.0
"""Columns whose values may be unknown: a mask beside the numbers says so, never a magic number."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Mask: TypeAlias = npt.NDArray[np.bool_]
Rows: TypeAlias = npt.NDArray[np.int64]
Seconds: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """Numbers (offsets, counts, milliseconds, codes) of which some are unknown.

    `values` and `known` have the same length; a value whose `known` is false means nothing.
    Arithmetic goes row by row with columns, arrays and numbers; a result is unknown if a part of it
    is, or if it is a division by 0. A comparison with an unknown is false.
    """

    values: npt.NDArray[Any]
    known: Mask

    # Makes numpy leave `array - column` to the column.
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def of(cls, values: npt.ArrayLike, known: npt.ArrayLike | None = None) -> Column:
        """Returns a column of these values, all known without a mask."""
        array = np.asarray(values)
        mask = _all_true(len(array)) if known is None else np.asarray(known, bool)
        return cls(array, mask)

    @classmethod
    def constant(cls, value: float, length: int, dtype: npt.DTypeLike = np.int64) -> Column:
        """Returns a column of one value; read-only, and as small as one of one row."""
        return cls(_repeat(np.array(value, dtype).tobytes(), length, dtype), _all_true(length))

    @classmethod
    def unknown(cls, length: int, dtype: npt.DTypeLike = np.int64) -> Column:
        """Returns a column without known values; read-only, and as small as one of one row."""
        return cls(_repeat(_ZERO, length, dtype), _repeat(_ZERO, length, np.bool_))

    def writable(self) -> Column:
        """Returns a copy whose rows can be set."""
        return Column(self.values.copy(), self.known.copy())

    @classmethod
    def optional(cls, values: Sequence[float | None], dtype: npt.DTypeLike = np.int64) -> Column:
        """Returns a column of Python values, None being unknown."""
        known = np.fromiter((v is not None for v in values), bool, len(values))
        return cls(np.array([0 if v is None else v for v in values], dtype), known)

    def __len__(self) -> int:
        return len(self.values)

    def __add__(self, other: Operand) -> Column:
        return self._combined(other, np.add)

    def __radd__(self, other: Operand) -> Column:
        return self._combined(other, np.add)

    def __sub__(self, other: Operand) -> Column:
        return self._combined(other, np.subtract)

    def __rsub__(self, other: Operand) -> Column:
        values, known = _parts(other)
        return Column(values - self.values, self._known_with(known))

    def __mul__(self, other: Operand) -> Column:
        return self._combined(other, np.multiply)

    def __rmul__(self, other: Operand) -> Column:
        return self._combined(other, np.multiply)

    def __truediv__(self, other: Operand) -> Column:
        with np.errstate(over="ignore"):
            if isinstance(other, int | float) and other:
                return Column(self.values / other, self.known)
            divisor, known = _parts(other)
            defined = self._known_with(known) & (divisor != 0)
            return Column(self.values / np.where(defined, divisor, 1), defined)

    def __rtruediv__(self, other: Operand) -> Column:
        values, known = _parts(other)
        return Column(np.broadcast_to(values, len(self)), self._known_with(known)) / self

    def __floordiv__(self, divisor: int) -> Column:
        return Column(self.values // divisor, self.known)

    def __neg__(self) -> Column:
        return Column(-self.values, self.known)

    def __lt__(self, other: Operand) -> Mask:
        return self._compared(other, np.less)

    def __le__(self, other: Operand) -> Mask:
        return self._compared(other, np.less_equal)

    def __gt__(self, other: Operand) -> Mask:
        return self._compared(other, np.greater)

    def __ge__(self, other: Operand) -> Mask:
        return self._compared(other, np.greater_equal)

    def __eq__(self, other: Operand) -> Mask:  # type: ignore[override]
        return self._compared(other, np.equal)

    def __ne__(self, other: Operand) -> Mask:  # type: ignore[override]
        return self._compared(other, np.not_equal)

    def clip(self, least: Operand | None = None, most: Operand | None = None) -> Column:
        """Returns values not below `least` nor above `most`; unknown if one of the three is."""
        low = self if least is None else self._combined(least, np.maximum)
        return low if most is None else low._combined(most, np.minimum)

    def fill(self, value: npt.NDArray[Any] | float) -> npt.NDArray[Any]:
        """Returns the values, with another in place of unknowns."""
        filled: npt.NDArray[Any] = np.where(self.known, self.values, value)
        return filled

    def rint(self) -> Column:
        """Returns the nearest whole numbers."""
        return Column(np.rint(self.fill(0)).astype(np.int64), self.known)

    def decoded(self, table: Sequence[int]) -> Column:
        """Returns the table's number at each code."""
        numbers = np.array(table, np.int32)
        return Column(numbers[np.where(self.known, self.values, 0)], self.known)

    def _combined(self, other: Operand, operation: Callable[..., Any]) -> Column:
        values, known = _parts(other)
        return Column(operation(self.values, values), self._known_with(known))

    def _compared(self, other: Operand, operation: Callable[..., Any]) -> Mask:
        values, known = _parts(other)
        mask: Mask = operation(self.values, values)
        for each in (self.known, known):
            if each is not None and not _is_whole(each):
                mask &= each
        return mask

    def _known_with(self, other: Mask | None) -> Mask:
        """Marks rows that are known in both."""
        if other is None or _is_whole(other):
            return self.known
        return other if _is_whole(self.known) else self.known & other

    def take(self, rows: Rows) -> Column:
        """Returns the values at `rows`; a negative row is unknown."""
        if not len(self) or _is_empty(self.known):
            return Column.unknown(len(rows), self.values.dtype)
        there = rows >= 0
        if _is_whole(self.known) and there.all():
            return Column(self.values[rows], _all_true(len(rows)))
        there &= self.known[rows]
        return Column(self.values[rows], there)

    def only(self, mask: Mask) -> Column:
        """Returns this column, unknown if the mask is false."""
        return Column(self.values, self.known & mask)

    def or_else(self, other: Column) -> Column:
        """Returns this column, with the other's values in place of unknowns."""
        if _is_whole(self.known) and self.values.dtype == other.values.dtype:
            return self
        return Column(np.where(self.known, self.values, other.values), self.known | other.known)

    def where(self, mask: Mask, other: Column) -> Column:
        """Returns this column if the mask is true, the other (also its unknowns) if false."""
        return Column(
            np.where(mask, self.values, other.values), np.where(mask, self.known, other.known)
        )

    def put(self, rows: Rows, other: Column) -> Column:
        """Returns this column with the other's values (also its unknowns) at `rows`."""
        values, known = self.values.copy(), self.known.copy()
        values[rows], known[rows] = other.values, other.known
        return Column(values, known)

    def is_same(self, other: Column | Strings) -> bool:
        """Returns True if the other has the same values and unknowns in all rows."""
        if self is other:
            return True
        if not isinstance(other, Column) or len(self) != len(other):
            return False
        differs = (self.values != other.values) & self.known
        differs |= self.known != other.known
        return not np.count_nonzero(differs)

    def compacted(self) -> Column:
        """Returns the same column in less memory if possible; it must not be written to.

        That is possible if all rows or none are known, or all are the same.
        """
        known = len(self) if _is_whole(self.known) else int(np.count_nonzero(self.known))
        if not known:
            return Column.unknown(len(self), self.values.dtype)
        if known < len(self):
            return self
        # Comparing the last row first avoids a look at all rows of most columns.
        if self.values[0] == self.values[-1] and not (self.values != self.values[0]).any():
            value = self.values[:1].tobytes()
            return Column(_repeat(value, known, self.values.dtype), _all_true(known))
        return Column(self.values, _all_true(known))

    def concat(self, other: Column) -> Column:
        """Returns this column followed by the other."""
        return Column(
            np.concatenate([self.values, other.values]), np.concatenate([self.known, other.known])
        )

    def to_list(self) -> list[Any]:
        """Returns Python values, None for unknown."""
        return [v if k else None for v, k in zip(self.values.tolist(), self.known, strict=True)]


_ZERO, _TRUE = bytes(8), b"\x01"


def _repeat(value: bytes, length: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Returns an array of one value that stores it only once."""
    return np.ndarray((length,), dtype, value, strides=(0,))


def _all_true(length: int) -> Mask:
    return _repeat(_TRUE, length, np.bool_)


def _is_whole(known: Mask) -> bool:
    """Returns True for a mask made by `_all_true`: one true value for all rows."""
    return known.strides == (0,) and len(known) > 0 and bool(known[0])


def _is_empty(known: Mask) -> bool:
    """Returns True for a mask made by `Column.unknown`: one false value for all rows."""
    return known.strides == (0,) and len(known) > 0 and not known[0]


Operand: TypeAlias = Column | npt.NDArray[Any] | float


def _parts(operand: Operand) -> tuple[Any, Mask | None]:
    """Returns the values and the mask of known ones, None if all are known."""
    return (operand.values, operand.known) if isinstance(operand, Column) else (operand, None)


@dataclass(frozen=True, slots=True, eq=False)
class Strings:
    """Strings (or other repeated values) as codes into `categories`, some unknown.

    Names repeat: 200,000 group-partitions hold a few thousand topics, compared as integers.
    A comparison goes row by row with a column or one value; it is false with an unknown.
    """

    __hash__ = None  # type: ignore[assignment]

    codes: Column
    categories: tuple[Any, ...]

    @classmethod
    def of(cls, values: Iterable[Hashable | None]) -> Strings:
        """Returns a column of Python values, None being unknown."""
        index: dict[Hashable, int] = {}
        codes = [-1 if v is None else index.setdefault(v, len(index)) for v in values]
        array = np.array(codes, np.int32)
        return cls(Column(array, array >= 0), tuple(index))

    @classmethod
    def unknown(cls, length: int) -> Strings:
        """Returns a column in which nothing is known."""
        return cls(Column.unknown(length, np.int32), ())

    @classmethod
    def constant(cls, word: Hashable, length: int) -> Strings:
        """Returns a column with one word in each row."""
        return cls(Column.constant(0, length, np.int32), (word,))

    def __len__(self) -> int:
        return len(self.codes)

    def __eq__(self, other: object) -> Mask:  # type: ignore[override]
        return self._codes_of(other) == self.codes

    def __ne__(self, other: object) -> Mask:  # type: ignore[override]
        mask: Mask = self.known & self._known_in(other) & ~(self == other)
        return mask

    def take(self, rows: Rows) -> Strings:
        """Returns the values at `rows`; a negative row is unknown."""
        return Strings(self.codes.take(rows), self.categories)

    def only(self, mask: Mask) -> Strings:
        """Returns this column, unknown if the mask is false."""
        return Strings(self.codes.only(mask), self.categories)

    def _codes_of(self, other: object) -> Column:
        """Returns another column, or one value in each row, in codes of this one."""
        if not isinstance(other, Strings):
            other = Strings.constant(other, len(self))
        return other.codes_in(self.categories)

    def _known_in(self, other: object) -> Mask:
        return other.known if isinstance(other, Strings) else np.ones(len(self), bool)

    def codes_in(self, words: Sequence[Hashable]) -> Column:
        """Returns the rows as codes into other words; unknown if these lack a row's word."""
        if words == self.categories:
            return self.codes
        index = {word: code for code, word in enumerate(words)}
        table = np.array([index.get(word, -1) for word in self.categories] or [-1], np.int32)
        codes = table[self._places()]
        return Column(codes, self._also_known(codes >= 0))

    def _places(self) -> npt.NDArray[np.int32]:
        """Returns codes, 0 for unknown, to look up in a table; they must not be written to."""
        codes = self.codes
        return codes.values if _is_whole(codes.known) else codes.fill(0)

    def _also_known(self, mask: Mask) -> Mask:
        """Returns the mask, false for unknown rows."""
        return mask if _is_whole(self.known) else mask & self.known

    def or_else(self, other: Strings) -> Strings:
        """Returns this column, with the other's words in place of unknowns."""
        words = self._words_with(other)
        return Strings(self.codes.or_else(other.codes_in(words)), words)

    def where(self, mask: Mask, other: Strings) -> Strings:
        """Returns this column if the mask is true, the other (also its unknowns) if false."""
        words = self._words_with(other)
        return Strings(self.codes.where(mask, other.codes_in(words)), words)

    def put(self, rows: Rows, other: Strings) -> Strings:
        """Returns this column with the other's words (also its unknowns) at `rows`."""
        words = self._words_with(other)
        return Strings(self.codes.put(rows, other.codes_in(words)), words)

    def concat(self, other: Strings) -> Strings:
        """Returns this column followed by the other, over one set of words."""
        words = self._words_with(other)
        return Strings(self.codes.concat(other.codes_in(words)), words)

    def _words_with(self, other: Strings) -> tuple[Any, ...]:
        """Returns the words of both; the words of this one keep their codes."""
        return tuple(dict.fromkeys(self.categories + other.categories))

    def is_in(self, words: Iterable[Hashable]) -> Mask:
        """Marks rows whose word is one of these; an unknown is not."""
        wanted = set(words)
        if wanted.isdisjoint(self.categories):
            return np.zeros(len(self), bool)
        table = np.array([word in wanted for word in self.categories], bool)
        return self._also_known(table[self._places()])

    def is_same(self, other: Column | Strings) -> bool:
        """Returns True if the other has the same words, codes and unknowns in all rows."""
        if self is other:
            return True
        if not isinstance(other, Strings) or self.categories != other.categories:
            return False
        return self.codes.is_same(other.codes)

    def are(self, wanted: Callable[[Any], bool]) -> Mask:
        """Marks rows with a word that is `wanted`; an unknown is not."""
        return self.is_in([word for word in self.categories if wanted(word)])

    def words_of(self, find: Callable[[Any], Hashable | None]) -> Strings:
        """Returns what `find` says of each row's word, None being unknown."""
        return Strings.of(map(find, self.categories)).take(self.codes.fill(-1).astype(np.int64))

    def numbers_of(
        self, find: Callable[[Any], float | None], dtype: npt.DTypeLike = np.float64
    ) -> Column:
        """Returns the number that `find` says of each row's word, None being unknown."""
        found = Column.optional([find(word) for word in self.categories], dtype)
        return found.take(self.codes.fill(-1).astype(np.int64))

    def lengths(self) -> Column:
        """Returns how many entries each list has."""
        return self.codes.decoded([len(each) for each in self.categories] or [0])

    def pruned(self) -> Strings:
        """Returns the same rows with only the words that they use as categories."""
        used = np.zeros(len(self.categories), bool)
        whole = _is_whole(self.known)
        used[self.codes.values if whole else self.codes.values[self.known]] = True
        if np.count_nonzero(used) == len(used):
            return self
        place = np.append(np.cumsum(used) - 1, 0).astype(np.int32)
        codes = place[self._places()]
        words = tuple(word for word, is_used in zip(self.categories, used, strict=True) if is_used)
        return Strings(Column(codes, self.codes.known), words)

    def compacted(self) -> Strings:
        """Returns the column pruned and in less memory; see `pruned` and `Column.compacted`."""
        pruned = self.pruned()
        return Strings(pruned.codes.compacted(), pruned.categories)

    @property
    def known(self) -> Mask:
        """Marks rows with a word."""
        return self.codes.known

    def to_list(self) -> list[Any]:
        """Returns Python values, None for unknown."""
        return [None if code is None else self.categories[code] for code in self.codes.to_list()]
