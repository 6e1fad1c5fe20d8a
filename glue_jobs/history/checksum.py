# SPDX-License-Identifier: Apache-2.0
"""Whether two sets of rows are the same, whatever their order: counts, and a sum of hashes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as sf

# Sums of as many hashes as fit: 4 billion rows of 31 bits.
_HASH_VALUES = 1 << 31

_ROWS, _HASHES = "rows", "hashes"


@dataclass(frozen=True, slots=True)
class Checksum:
    """`rows`, how many values of each column are `known`, and the sum of the rows' hashes."""

    rows: int
    hashes: int
    known: Mapping[str, int]

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Checksum":
        """From the answer to `checksums`; Spark's sum of no rows is null."""
        known = {name: n for name, n in values.items() if name not in (_ROWS, _HASHES)}
        return cls(values[_ROWS], values[_HASHES] or 0, known)


def checksums(columns: Sequence[str]) -> list[Column]:
    """Aggregates that `Checksum.of` reads, over these columns of a frame.

    The hash passes over nulls, so values that changed columns are told by the counts.
    """
    return [
        sf.count("*").alias(_ROWS),
        sf.sum(sf.pmod(sf.xxhash64(*columns), sf.lit(_HASH_VALUES))).alias(_HASHES),
        *(sf.count(name).alias(f"known_{name}") for name in columns),
    ]
