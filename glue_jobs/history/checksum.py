# SPDX-License-Identifier: Apache-2.0
"""Whether two sets of rows are the same, whatever their order: a count and sums of every column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as sf

# Sums of as many hashes as fit: 4 billion rows of 31 bits.
_HASH_VALUES = 1 << 31


@dataclass(frozen=True, slots=True)
class Checksum:
    """`rows`, the sum of their hashes over all columns, and rows `without_key` (foreign data)."""

    rows: int
    hashes: int
    without_key: int

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Checksum":
        """From the answer to `checksums`; Spark's sum of no rows is null."""
        return cls(values["rows"], values["hashes"] or 0, values["without_key"])


def checksums(columns: Sequence[str], keys: Sequence[str]) -> list[Column]:
    """Aggregates that `Checksum.of` reads, over these columns of a frame."""
    no_key = sf.lit(False)
    for key in keys:
        no_key = no_key | sf.col(key).isNull()
    return [
        sf.count("*").alias("rows"),
        sf.sum(sf.pmod(sf.xxhash64(*columns), sf.lit(_HASH_VALUES))).alias("hashes"),
        sf.count_if(no_key).alias("without_key"),
    ]
