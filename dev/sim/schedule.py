# SPDX-License-Identifier: Apache-2.0
"""The best number of tasks for each quarter of an hour, if the load is known beforehand.

Dynamic programming over the age of the oldest unread record: where a member reads, the time that it
has reached moves on by its capacity over what is written to its partitions. The fewest minutes over
the promise come first, then the fewest task hours, each change at a price.
"""

from __future__ import annotations

import numpy as np

from dev.sim.cases.services import Case
from dev.sim.reading import Floats, Ints
from dev.sim.services import Conditions

SLOT = 15
# Ages on a grid of so many seconds, and the last one.
_GRID, _MOST = 10.0, 2_400.0
# A minute over the promise is worth more than any task hours.
_WORTH = 1_000.0


class Search:
    """Schedules of one case that keep the age under `promise`, s."""

    def __init__(self, case: Case, conditions: Conditions, promise: float) -> None:
        self._ages = np.arange(0.0, _MOST + _GRID, _GRID)
        self._numbers = np.arange(max(case.least, 1), case.most + 1)
        self._pause = int(np.ceil(conditions.rebalance_seconds / _GRID))
        self._slots = case.minutes // SLOT
        shares = np.array([_largest_share(case, int(number)) for number in self._numbers])
        shape = (self._slots, len(self._numbers), len(self._ages))
        self._after, self._over = np.zeros(shape, np.int32), np.zeros(shape)
        for slot in range(self._slots):
            age = np.tile(self._ages, (len(shares), 1))
            for minute in range(slot * SLOT, (slot + 1) * SLOT):
                age = _after_a_minute(case, minute, shares[:, None], age)
                self._over[slot] += age > promise
            self._after[slot] = self._at(age)

    def best(self, price: float) -> list[int]:
        """Returns tasks in each slot, if a change costs so many task hours."""
        count = len(self._ages)
        value = np.zeros(self._over.shape[1:])
        rows = np.arange(len(self._numbers))[:, None]
        choices = np.zeros(self._over.shape, np.int16)
        later = np.minimum(np.arange(count) + self._pause, count - 1)
        hours = self._numbers[:, None] * SLOT / 60
        for slot in reversed(range(self._slots)):
            kept = self._over[slot] * _WORTH + hours + value[rows, self._after[slot]]
            changed = kept[:, later] + price
            stays = kept <= changed.min(axis=0)
            value = np.where(stays, kept, changed.min(axis=0))
            choices[slot] = np.where(stays, rows, changed.argmin(axis=0))
        at, age, found = int(value[:, 0].argmin()), 0, []
        for slot in range(self._slots):
            new = int(choices[slot, at, age])
            age = min(age + self._pause, count - 1) if new != at and slot else age
            at, age = new, int(self._after[slot, new, age])
            found.append(int(self._numbers[at]))
        return found

    def _at(self, age: Floats) -> Ints:
        found: Ints = np.minimum(np.ceil(age / _GRID), len(self._ages) - 1).astype(np.int64)
        return found


def _largest_share(case: Case, tasks: int) -> float:
    """Returns the largest share of what is written that one of so many members owns."""
    return float(np.bincount(np.arange(case.partitions) % tasks, case.shares).max())


def _after_a_minute(case: Case, minute: int, share: Floats, age: Floats) -> Floats:
    read_at = np.clip(minute - age // 60, 0, case.minutes - 1).astype(int)
    rate = np.maximum(case.load[read_at] * share, 1e-9)
    found: Floats = np.clip(age + 60.0 * (1.0 - case.capacity[minute] / rate), 0.0, _MOST)
    return found
