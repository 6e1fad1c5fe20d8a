# SPDX-License-Identifier: Apache-2.0
"""Sums and extremes over sets of rows, such as the partitions of a group or of a topic.

A sum without an unknown lag would look as if that lag had been worked off, and scale a service in.
So the sum of a set with a missing row is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kafka_lag.lag.columns import Column, Mask, Rows


@dataclass(frozen=True, slots=True)
class Sets:
    """Rows in `count` sets, 0 to count - 1. `of_row`: the set of each row; `count` means none."""

    of_row: Rows
    count: int

    def without(self, mask: Mask) -> Sets:
        """Returns the same sets without the marked rows."""
        return Sets(np.where(mask, self.count, self.of_row).astype(np.int64), self.count)

    def rows(self, mask: Mask | None = None) -> Column:
        """Returns each set's number of rows, or of marked rows."""
        of_row = self.of_row if mask is None else self.of_row[mask]
        return Column.of(np.bincount(of_row, minlength=self.count + 1)[:-1])

    def have(self, mask: Mask) -> Mask:
        """Marks the sets that have a marked row."""
        found = np.zeros(self.count + 1, bool)
        found[self.of_row[mask]] = True
        return found[:-1]

    def total(self, values: Column, missing: Mask | None = None) -> Column:
        """Returns each set's sum of known values; unknown if none is, or if a row is `missing`."""
        wide = np.result_type(values.values.dtype, np.int64)
        sums = np.zeros(self.count + 1, wide)
        np.add.at(sums, self.of_row[values.known], values.values[values.known].astype(wide))
        return Column(sums[:-1], self._whole(values.known, missing))

    def maximum(self, values: Column, missing: Mask | None = None) -> Column:
        """Returns each set's largest known value; unknown as for `total`."""
        known = values.known
        worst = self._largest(self.of_row[known], values.values[known])
        return Column(worst[:-1], self._whole(known, missing))

    def minimum(self, values: Column, missing: Mask | None = None) -> Column:
        """Returns each set's smallest known value; unknown as for `total`."""
        found = self.maximum(Column(-values.values, values.known), missing)
        return Column(-found.values, found.known)

    def first_at_maximum(self, among: Mask, *keys: npt.NDArray[Any]) -> Rows:
        """Returns each set's marked row with the largest first key, then second, and so on; or -1.

        If rows are equal, it is the first.
        """
        rows = np.flatnonzero(among)
        for key in keys:
            # Keeping rows with their set's largest value is cheaper than sorting 200,000 rows.
            of_row, values = self.of_row[rows], key[rows]
            rows = rows[values == self._largest(of_row, values)[of_row]]
        first = np.full(self.count + 1, -1, np.int64)
        first[self.of_row[rows][::-1]] = rows[::-1]
        return first[:-1]

    def _largest(self, of_row: Rows, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns each set's largest value, then that of rows in no set; at most 0 without rows."""
        largest = np.full(self.count + 1, values.min(initial=0), values.dtype)
        np.maximum.at(largest, of_row, values)
        return largest

    def _whole(self, known: Mask, missing: Mask | None) -> Mask:
        whole = self.have(known)
        return whole if missing is None else whole & ~self.have(missing)


def distinct(*columns: Column | Rows) -> tuple[Sets, Rows]:
    """Returns sets of rows with the same codes in all columns, and the first row of each set."""
    key = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        codes = column.values if isinstance(column, Column) else column
        key = key * (1 + int(codes.max(initial=0))) + codes
    _, first, of_row = np.unique(key, return_index=True, return_inverse=True)
    return Sets(of_row.astype(np.int64), len(first)), first.astype(np.int64)


def unique(values: npt.NDArray[Any], axis: int | None = None) -> npt.NDArray[Any]:
    """Returns `np.unique`.

    Counts are requested, because without them numpy imports masked arrays, which takes a tenth of a
    second of CPU in each new process.
    """
    found: npt.NDArray[Any] = np.unique(values, return_counts=True, axis=axis)[0]
    return found
