# SPDX-License-Identifier: Apache-2.0
"""The last values of each group, the newest last: a list column as a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kafka_lag.lag.columns import Column, Rows, Strings

Matrix: TypeAlias = npt.NDArray[np.float64]

# The median of the differences of two values of a normal distribution, in standard deviations.
_MEDIAN_DIFFERENCE = 0.954
# Digits that are stored: more than are measured, and each costs bytes in every snapshot.
_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Recent:
    """At most `most` values per row; only the last `count` of each row of `values` are valid."""

    values: Matrix
    count: Rows

    @classmethod
    def of(cls, lists: Strings, most: int) -> Recent:
        """Returns the last `most` values of each list; an unknown list has none."""
        taken = [tuple(each)[-most:] for each in lists.categories]
        table, count = np.zeros((len(taken) + 1, most)), np.zeros(len(taken) + 1, np.int64)
        for row, values in enumerate(taken):
            count[row] = len(values)
            table[row, most - len(values) :] = values
        at = lists.codes.fill(-1)
        return cls(table[at], count[at])

    @property
    def most(self) -> int:
        """Returns the largest number of values per row."""
        return int(self.values.shape[1])

    @property
    def present(self) -> npt.NDArray[np.bool_]:
        """Marks valid values."""
        most = self.most
        found: npt.NDArray[np.bool_] = np.arange(most) >= most - self.count[:, None]
        return found

    def appended(self, value: Column, times: Rows) -> Recent:
        """Returns the rows with a known value added at the end `times` times; the oldest go."""
        most = self.most
        shift = np.where(value.known, np.clip(times, 0, most), 0)
        at = np.arange(most)[None, :] + shift[:, None]
        wide = np.concatenate([self.values, np.broadcast_to(value.fill(0.0)[:, None], at.shape)], 1)
        return Recent(np.take_along_axis(wide, at, 1), np.minimum(self.count + shift, most))

    def averaged(self, rate: Column, lasted: Rows, now: int, slot_ms: int) -> Recent:
        """Returns the rows with a known rate of the last `lasted` ms until `now` added.

        Each value is the mean of a slot of time; slots end at multiples of `slot_ms`. The rest of a
        slot that is not over counts with the rate of the slot before it.
        """
        then, slot = now - lasted, (now - 1) // slot_ms
        slot_then = (then - 1) // slot_ms
        begun = np.where(self.count == 0, 1, slot - slot_then)
        left = np.where(begun > 0, (slot_then + 1) * slot_ms - then, lasted)
        ended = self._with_newest(self.values[:, -1], rate, left / slot_ms)
        grown = ended.appended(rate, begun)
        has_more = (begun > 0) & (grown.count > 1)
        newest = np.where(has_more, grown.values[:, -2], grown.values[:, -1])
        share = np.where(has_more, (now - slot * slot_ms) / slot_ms, 0.0)
        return grown._with_newest(newest, rate, share)

    def _with_newest(
        self, newest: npt.NDArray[np.float64], rate: Column, share: npt.NDArray[np.float64]
    ) -> Recent:
        """Returns the rows with `newest` as the newest value if the rate is known.

        For `share` of its slot the rate replaces the value before.
        """
        before = np.where(self.count > 1, self.values[:, -2], newest)
        changed = newest + (rate.fill(0.0) - before) * share
        last = np.where(rate.known & (self.count > 0), changed, self.values[:, -1])
        return Recent(np.column_stack([self.values[:, :-1], last]), self.count)

    def to_lists(self) -> Strings:
        """Returns the list column; an empty list is unknown."""
        rounded: list[list[Any]] = np.round(self.values, _DIGITS).tolist()
        return Strings.of(
            tuple(values[len(values) - count :]) if count else None
            for values, count in zip(rounded, self.count.tolist(), strict=True)
        )

    def sorted_value(self, place: Rows) -> Column:
        """Returns the value at this place of each row in rising order, from 0.

        It is unknown if the row has fewer values.
        """
        most = self.most
        rising = np.sort(np.where(self.present, self.values, -np.inf), axis=1)
        known = (place >= 0) & (place < self.count)
        at = np.where(known, most - self.count + place, 0)
        found = np.take_along_axis(rising, at[:, None], 1)[:, 0]
        return Column(np.where(known, found, 0.0), known)

    def upper_median(self) -> Column:
        """Returns the middle value, the upper of two; unknown without values."""
        return self.sorted_value(self.count // 2)

    def mean(self) -> Column:
        """Returns the mean; unknown without values."""
        total = np.where(self.present, self.values, 0.0).sum(axis=1)
        return Column.of(total) / self.count

    def noise(self) -> Column:
        """Returns the standard deviation around a trend, by differences of neighbours; 0 for one.

        [von Neumann: Distribution of the ratio of the mean square successive difference to the
        variance, 1941].
        """
        pairs = self.present[:, :-1]
        squares = np.where(pairs, np.diff(self.values, axis=1) ** 2, 0.0).sum(axis=1)
        return Column.of(np.sqrt(squares / np.maximum(2 * pairs.sum(axis=1), 1)))

    def usual_noise(self) -> Column:
        """Returns the noise by the upper median of these differences; 0 for one value.

        A few large steps have no effect on it.
        """
        steps = Recent(np.abs(np.diff(self.values, axis=1)), np.maximum(self.count - 1, 0))
        return Column.of(steps.upper_median().fill(0.0) / _MEDIAN_DIFFERENCE)

    def last(self, number: int) -> Recent:
        """Returns only this many of the newest values."""
        return Recent(self.values[:, -number:], np.minimum(self.count, number))

    def without(self, number: int) -> Recent:
        """Returns the values without this many of the newest."""
        return Recent(self.values[:, :-number], np.maximum(self.count - number, 0))

    def maximum(self) -> Column:
        """Returns the largest value; unknown without values."""
        return self.sorted_value(self.count - 1)

    def minimum(self) -> Column:
        """Returns the smallest value; unknown without values."""
        return self.sorted_value(np.zeros(len(self.count), np.int64))

    def even_rate(self, late: npt.NDArray[np.float64]) -> Column:
        """Returns the least rate that works off any successive values at most `late` values later.

        It is the greatest quotient of their sum by their number plus `late`, at least the mean.
        """
        mean, values = self.mean(), np.where(self.present, self.values, 0.0)
        sums = np.cumsum(np.pad(values, ((0, 0), (1, 0))), axis=1)
        rate = mean.fill(0.0)
        for number in range(1, self.most + 1):
            greatest = (sums[:, number:] - sums[:, :-number]).max(axis=1)
            rate = np.maximum(rate, greatest / (number + late))
        return Column(rate, mean.known)
