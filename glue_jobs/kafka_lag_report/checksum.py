# SPDX-License-Identifier: Apache-2.0
"""Whether two tables hold the same rows, whatever their order: a count, and a sum of hashes."""

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Words = npt.NDArray[np.uint64]

# What stands for null: as likely to be met by chance as any other 64 bits.
_NULL = np.uint64(0x9E3779B97F4A7C15)
# One odd factor a column, the same on every machine.
_SEED = 1
_FOLD = np.uint64(32)


@dataclass(frozen=True, slots=True)
class Checksum:
    """How many rows, and the sum of their hashes modulo 2**64.

    Each row's hash takes in every column by its place, and whether it is null.
    """

    rows: int
    hashes: int

    def __add__(self, other: "Checksum") -> "Checksum":
        """Of both tables' rows together."""
        return Checksum(self.rows + other.rows, (self.hashes + other.hashes) % (1 << 64))


NO_ROWS = Checksum(0, 0)


def checksum(table: pa.Table) -> Checksum:
    """Of any table; quick for numbers, truths, times, dictionaries of text, lists of numbers."""
    drawn = np.random.default_rng(_SEED).integers(1 << 63, size=table.num_columns, dtype=np.uint64)
    factors = drawn * np.uint64(2) + np.uint64(1)
    rows = np.zeros(table.num_rows, dtype=np.uint64)
    for column, factor in zip(table.columns, factors, strict=True):
        words = _words(column.combine_chunks())
        # a sign is the highest bit, which no odd factor moves
        words ^= words >> _FOLD
        words *= factor
        rows += words
    # a sum of products alone would not notice values that changed rows
    rows ^= rows >> _FOLD
    rows *= _NULL
    rows ^= rows >> _FOLD
    return Checksum(table.num_rows, int(rows.sum(dtype=np.uint64)))


def _words(column: pa.Array) -> Words:
    """Each value as 64 bits of its own, in a fresh array."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        words = _texts(column)
    elif pa.types.is_list(kind) and pa.types.is_integer(kind.value_type):
        words = _lists(column)
    elif pa.types.is_integer(kind) or kind == pa.float64() or pa.types.is_timestamp(kind):
        words = _numbers(column)
    else:
        words = _others(column)
    if column.null_count:
        words[column.is_null().to_numpy(zero_copy_only=False)] = _NULL
    return words


def _texts(column: pa.DictionaryArray) -> Words:
    hashes = [
        int.from_bytes(blake2b(value, digest_size=8).digest(), "little")
        for value in column.dictionary.cast(pa.binary()).to_pylist()
    ]
    words = np.array([*hashes, 0], dtype=np.uint64)
    chosen: Words = words[column.indices.fill_null(-1).to_numpy()]
    return chosen


def _others(column: pa.Array) -> Words:
    """Of any type, value by value: of this release lists of doubles, in a row a group."""
    texts = pa.array([repr(value) for value in column.to_pylist()], pa.string())
    return _texts(texts.dictionary_encode())


def _numbers(column: pa.Array) -> Words:
    if not pa.types.is_floating(column.type):
        column = column.cast(pa.int64())
    words: Words = column.fill_null(0).to_numpy().view(np.uint64).copy()
    return words


def _lists(column: pa.ListArray) -> Words:
    """The sum of what stands at each place, times the place."""
    lengths = pc.list_value_length(column).fill_null(0).to_numpy()
    ends = np.cumsum(lengths)
    places = np.arange(lengths.sum(), dtype=np.uint64) - np.repeat(ends - lengths, lengths).astype(
        np.uint64
    )
    values = column.flatten().fill_null(-1).to_numpy().astype(np.uint64)
    sums = np.zeros(len(values) + 1, dtype=np.uint64)
    np.cumsum((values + _NULL) * (places * np.uint64(2) + _NULL), out=sums[1:])
    words: Words = sums[ends] - sums[ends - lengths]
    return words
