# SPDX-License-Identifier: Apache-2.0
"""Sums and maxima of group-partitions for groups and topics: unknown stays unknown.

A sum with a part missing would look like lag worked off, and scale a service in. So a set with
a missing row has no sum at all; rows that do not count (uncommitted) are left out of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from functions.lag.columns import Column, Mask, Rows


@dataclass(frozen=True, slots=True)
class Sets:
    """Rows grouped into `count` sets; `of_row` names each row's set by its number."""

    of_row: Rows
    count: int

    def rows(self, mask: Mask) -> Column:
        """How many marked rows each set has."""
        return Column.of(np.bincount(self.of_row[mask], minlength=self.count))

    def total(self, values: Column, missing: Mask) -> Column:
        """Sum per set over known values; unknown if none is known or any row is missing."""
        sums = np.zeros(self.count, np.int64)
        np.add.at(sums, self.of_row[values.known], values.values[values.known])
        return Column(sums, self._whole(values, missing))

    def maximum(self, values: Column, missing: Mask) -> Column:
        """Largest known value per set, unknown as for `total`."""
        worst = np.zeros(self.count, values.values.dtype)
        np.maximum.at(worst, self.of_row[values.known], values.values[values.known])
        return Column(worst, self._whole(values, missing))

    def first_at_maximum(self, values: Column) -> Rows:
        """Per set the first row that holds its largest known value; -1 where none is known."""
        known = np.flatnonzero(values.known)
        order = known[np.lexsort((-known, values.values[known], self.of_row[known]))]
        first = np.full(self.count, -1, np.int64)
        first[self.of_row[order]] = order
        return first

    def _whole(self, values: Column, missing: Mask) -> Mask:
        some = np.bincount(self.of_row[values.known], minlength=self.count) > 0
        holes = np.bincount(self.of_row[missing], minlength=self.count) > 0
        whole: Mask = some & ~holes
        return whole


def distinct(*codes: Rows) -> tuple[Sets, Rows]:
    """Sets of rows with the same codes, and for each set the first row in it."""
    key = np.zeros(len(codes[0]), np.int64)
    for column in codes:
        key = key * (1 + int(column.max(initial=0))) + column
    _, first, of_row = np.unique(key, return_index=True, return_inverse=True)
    return Sets(of_row.astype(np.int64), len(first)), first.astype(np.int64)
