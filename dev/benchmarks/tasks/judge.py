# SPDX-License-Identifier: Apache-2.0
"""What was seen of groups, held against what holds when tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kafka_lag import contract
from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame
from kafka_lag_cli.tasks.limits import explain_limits
from kafka_lag_cli.tasks.shared_limit import COLUMNS, find_saturated_days

Row: TypeAlias = Mapping[str, Any]

_MINUTE_MS = 60_000


@dataclass(slots=True)
class Ledger:
    """What was written to a topic: the end of each partition's log, tick by tick."""

    times: list[float]
    ends: list[npt.NDArray[np.int64]]

    @classmethod
    def empty(cls) -> Ledger:
        """Before anything was written."""
        return cls([], [])

    def add(self, time: float, ends: npt.NDArray[np.int64]) -> None:
        """The ends at a time, minutes."""
        self.times.append(time)
        self.ends.append(ends)

    def age(self, now: float, read: npt.NDArray[np.int64]) -> float:
        """Minutes since the oldest record was written that is not `read` up to, 0 without one."""
        ends = np.array(self.ends)
        unread = np.flatnonzero(ends[-1] > read)
        firsts = [int(np.searchsorted(ends[:, at], read[at], side="right")) for at in unread]
        return max((now - self.times[first] for first in firsts), default=0.0)


def numbers_to_try(advice: int, most: int) -> list[int]:
    """Members that show whether the advice is within one of the least that holds the promise:
    one more holds it, two fewer do not. None where that is more than `most`.
    """
    if advice + 1 > most:
        return []
    return [number for number in (advice - 2, advice + 1) if number >= 1]


def is_right(advice: int | None, ages: Mapping[int, float], promise: float) -> bool:
    """Whether it is within one of the least that held, by the oldest age of each that was tried."""
    if advice is None or not ages:
        return False
    return all((age <= promise) is (number > advice) for number, age in ages.items())


def says_no_help(row: Row) -> bool:
    """Whether `kafka-lag tasks` says of this row of `groups` that more tasks do not help."""
    return any(True for _ in explain_limits(row))


def says_shared_limit(rows: Iterable[Row]) -> bool:
    """Whether it says of these runs that something the members share is at its limit."""
    return any(True for _ in find_saturated_days(_frame(rows), _MINUTE_MS))


def _frame(rows: Iterable[Row]) -> Frame:
    chosen = list(rows)
    kinds = contract.COLUMNS[contract.GROUPS]
    columns = {
        name: Column.optional(
            [row[name] for row in chosen], np.float64 if kinds[name] == "double" else np.int64
        )
        for name in COLUMNS
    }
    times = Column.of(np.array([row["taken_at"] for row in chosen], np.int64))
    return Frame.of({"taken_at": times, **columns})
