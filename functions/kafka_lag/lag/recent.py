# SPDX-License-Identifier: Apache-2.0
"""The last values of each group, the newest last: a list column as numbers to reckon with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kafka_lag.lag.columns import Column, Rows, Strings

Matrix: TypeAlias = npt.NDArray[np.float64]

# Digits that are kept: more than are measured, and they cost bytes in every snapshot.
_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Recent:
    """`most` values a row at most: the last `count` of each row of `values` are there."""

    values: Matrix
    count: Rows

    @classmethod
    def of(cls, lists: Strings, most: int) -> Recent:
        """From a list column; unknown is an empty list, and of a longer one the last values."""
        taken = [tuple(each)[-most:] for each in lists.categories]
        table, count = np.zeros((len(taken) + 1, most)), np.zeros(len(taken) + 1, np.int64)
        for row, values in enumerate(taken):
            count[row] = len(values)
            table[row, most - len(values) :] = values
        at = np.where(lists.known, lists.codes.values, -1)
        return cls(table[at], count[at])

    @property
    def present(self) -> npt.NDArray[np.bool_]:
        """Where in `values` there is one."""
        most = self.values.shape[1]
        found: npt.NDArray[np.bool_] = np.arange(most) >= most - self.count[:, None]
        return found

    def appended(self, value: Column, times: Rows) -> Recent:
        """With a known value at the end of its row so many times; the oldest give way."""
        most = self.values.shape[1]
        shift = np.where(value.known, np.clip(times, 0, most), 0)
        at = np.arange(most)[None, :] + shift[:, None]
        wide = np.concatenate([self.values, np.broadcast_to(value.fill(0.0)[:, None], at.shape)], 1)
        return Recent(np.take_along_axis(wide, at, 1), np.minimum(self.count + shift, most))

    def to_lists(self) -> Strings:
        """The list column; an empty list is unknown."""
        rounded: list[list[Any]] = np.round(self.values, _DIGITS).tolist()
        return Strings.of(
            tuple(values[len(values) - count :]) if count else None
            for values, count in zip(rounded, self.count.tolist(), strict=True)
        )

    def sorted_value(self, place: Rows) -> Column:
        """The value at this place of each row in rising order, the least being 0; unknown where
        there are not so many.
        """
        most = self.values.shape[1]
        rising = np.sort(np.where(self.present, self.values, -np.inf), axis=1)
        known = (place >= 0) & (place < self.count)
        at = np.where(known, most - self.count + place, 0)
        found = np.take_along_axis(rising, at[:, None], 1)[:, 0]
        return Column(np.where(known, found, 0.0), known)

    def upper_median(self) -> Column:
        """The middle value, the upper of two; unknown of none."""
        return self.sorted_value(self.count // 2)

    def mean(self) -> Column:
        """Unknown of none."""
        total = np.where(self.present, self.values, 0.0).sum(axis=1)
        return Column.of(total) / self.count

    def noise(self) -> Column:
        """The standard deviation around a trend, by the differences of neighbours; 0 of one.

        [von Neumann: Distribution of the ratio of the mean square successive difference to the
        variance, 1941].
        """
        pairs = self.present[:, :-1]
        squares = np.where(pairs, np.diff(self.values, axis=1) ** 2, 0.0).sum(axis=1)
        return Column.of(np.sqrt(squares / np.maximum(2 * pairs.sum(axis=1), 1)))

    def last(self, number: int) -> Recent:
        """Only so many of the newest."""
        return Recent(self.values[:, -number:], np.minimum(self.count, number))

    def minimum(self) -> Column:
        """Unknown of none."""
        return self.sorted_value(np.zeros(len(self.count), np.int64))

    def greatest_median(self, width: int) -> Column:
        """The greatest of the medians of so many values in a row, the median of fewer.

        It keeps a step as it is, which a mean would make several of. `width` is odd.
        """
        rows = np.lib.stride_tricks.sliding_window_view(self.values, width, axis=1)
        medians = np.partition(rows, width // 2, axis=2)[:, :, width // 2]
        whole = self.present[:, : medians.shape[1]]
        greatest = np.where(whole, medians, -np.inf).max(axis=1)
        found = whole.any(axis=1)
        return Column.of(np.where(found, greatest, 0.0), found).or_else(self.upper_median())
