# SPDX-License-Identifier: Apache-2.0
"""The metadata in commits of confluentinc/parallel-consumer, which finishes records in any order.

It commits the offset of the first record that is not finished, and in the metadata a map of the
records after it, up to the last finished one: Base64 of a letter and an array. The letter says how
the array is encoded: as a set of bits, or as lengths of runs, with numbers of 16 or 32 bits, and
perhaps compressed. A map longer than 4,096 characters is left out of the commit.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable

import numpy as np

# A compressed map of more bytes, 8 million records, is not read: a few bytes may hold any number.
_MOST_BYTES = 2**20


def count_finished(metadata: str) -> int:
    """Returns how many records after the commit are finished; 0 if the metadata holds no map."""
    if metadata[:1] not in FIRST_LETTERS:
        return 0
    try:
        data = base64.b64decode(metadata, validate=True)
        compressed = data[:1] in _COMPRESSED
        letter = _COMPRESSED.get(data[:1], data[:1])
        return _DECODERS[letter](_decompress(data[1:]) if compressed else data[1:])
    except (ValueError, KeyError, struct.error, OSError):
        return 0


def _decompress(data: bytes) -> bytes:
    # It takes longer to import than a small cluster to read.
    import pyarrow as pa  # noqa: PLC0415

    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        found: bytes = stream.read(_MOST_BYTES + 1)
    if len(found) > _MOST_BYTES:
        raise ValueError
    return found


def _count_bits(length: str) -> Callable[[bytes], int]:
    """Returns a decoder of bits, one a record, 1 if it is finished; `length` is their number.

    A byte more than the bits need is always there.
    """
    head = struct.Struct(length)

    def count(data: bytes) -> int:
        (number,) = head.unpack_from(data)
        bits = np.unpackbits(np.frombuffer(data, np.uint8, offset=head.size), bitorder="little")
        # The first record is the commit's, which is not finished.
        contradicts = bits[:1].any() or bits[max(number, 0) :].any()
        if contradicts or len(bits) != (number + 7) // 8 * 8 + 8:
            raise ValueError
        return int(bits.sum())

    return count


def _count_runs(length: str) -> Callable[[bytes], int]:
    """Returns a decoder of lengths of runs: of unfinished records, of finished ones, and so on."""

    def count(data: bytes) -> int:
        runs = np.frombuffer(data, length).astype(np.int64)
        if runs.tolist() != [0] and (runs <= 0).any():
            raise ValueError
        return int(runs[1::2].sum())

    return count


_DECODERS: dict[bytes, Callable[[bytes], int]] = {
    b"l": _count_bits(">h"),
    b"o": _count_bits(">i"),
    b"n": _count_runs(">i2"),
    b"e": _count_runs(">i4"),
}
_COMPRESSED = {b"a": b"l", b"s": b"o", b"J": b"n", b"p": b"e"}
# Of the Base64 of all letters. Metadata of other clients begins with others, or does not decode.
FIRST_LETTERS = frozenset(
    base64.b64encode(letter)[:1].decode() for letter in (*_DECODERS, *_COMPRESSED)
)
