# SPDX-License-Identifier: Apache-2.0
"""A model: what a group's members did, and what as many tasks as needed would have done.

The number of tasks is what Application Auto Scaling would have set by the numbers that were
recorded, minute by minute. The backlog is a fluid: it grows by what was written, and shrinks by
what the members would have read at the capacity that was known, as if records could be divided at
will. Rebalances stop nobody in it; a task that is added reads after three minutes.

Minutes of which something is not known are left out on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.frame import Frame
from kafka_lag_cli.state.groups_over_time import MINUTE_MS

# From the minute in which a task is added to the one in which it reads.
START_MINUTES = 3
# A run stands for the time until the next one, for one slot more where that is missing.
_SLOTS_STOOD_FOR = 2
_MINUTES_AN_HOUR, _MINUTE_SECONDS = 60, 60.0
COLUMNS = ("members", "tasks_needed", "produce_rate", "capacity", "lag", "time_lag_seconds")

# A share of all minutes.
_MANY = 0.05

Floats = npt.NDArray[np.float64]
# From the tasks at first, and those needed by minute, to those that are set by minute.
Policy = Callable[[int, Sequence[float]], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one number of tasks; minutes over the SLA are null without an SLA.

    `minutes_over` were seen, `minutes_over_modelled` are those of the model.
    """

    task_hours: float
    changes: int
    minutes_over: int | None
    minutes_over_modelled: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Over so many `minutes`, those of which all was known.

    `minutes_of_own_backlog`: those in which the tasks needed break the promise in the model alone.
    Their numbers were recorded beside a smaller backlog, or none; with it they would be higher.
    """

    minutes: int
    recorded: Outcome
    by_tasks_needed: Outcome
    minutes_of_own_backlog: int | None

    @property
    def is_modelled_badly(self) -> bool:
        """True if the model of the past is far from the past itself."""
        seen, modelled = self.recorded.minutes_over, self.recorded.minutes_over_modelled
        return seen is not None and modelled is not None and self.is_many(abs(seen - modelled))

    def is_many(self, minutes: int) -> bool:
        """Return true if so many minutes change the verdict."""
        return minutes > self.minutes * _MANY


def compare(
    runs: Frame,
    slot_ms: int,
    policy: Policy,
    *,
    partitions: int,
    members_per_task: int = 1,
    sla_seconds: float | None = None,
) -> Comparison | None:
    """Return the past beside what would have been; null if no minute is known.

    `runs` have `taken_at` and `COLUMNS`.
    """
    minutes = _minutes_of(runs, slot_ms)
    if not len(minutes):
        return None
    members = minutes.numbers("members").values.astype(np.float64)
    needed = minutes.numbers("tasks_needed").values.astype(np.float64)
    first = int(np.ceil(members[0] / members_per_task))
    tasks = np.array(policy(first, needed.tolist()), np.float64)
    model, promise = _Model.of(minutes), np.inf if sla_seconds is None else sla_seconds

    def over(reading: Floats) -> Mask:
        mask: Mask = model.ages(np.minimum(reading, partitions)) > promise
        return mask

    def count(of_minutes: Mask) -> int | None:
        return None if sla_seconds is None else int(of_minutes.sum())

    seen = minutes.numbers("time_lag_seconds") > promise
    modelled = over(_started(tasks) * members_per_task)
    return Comparison(
        minutes=len(minutes),
        recorded=Outcome(
            task_hours=float(members.sum()) / members_per_task / _MINUTES_AN_HOUR,
            changes=_count_changes(members),
            minutes_over=count(seen),
            minutes_over_modelled=count(over(members)),
        ),
        by_tasks_needed=Outcome(
            task_hours=float(tasks.sum()) / _MINUTES_AN_HOUR,
            changes=_count_changes(tasks),
            minutes_over=None,
            minutes_over_modelled=count(modelled),
        ),
        minutes_of_own_backlog=count(modelled & ~seen),
    )


def _minutes_of(runs: Frame, slot_ms: int) -> Frame:
    """A row a minute of which all is known but, maybe, the age: the run that stands for it."""
    known, has_run = np.ones(len(runs), bool), np.zeros(len(runs), bool)
    for name in COLUMNS:
        column = runs.numbers(name)
        known &= (name == "time_lag_seconds") | column.known
        # A run in which something was not read ends what the one before it stands for.
        has_run |= column.known
    rows = np.flatnonzero(has_run)
    if not len(rows):
        return runs.take(rows)
    times = runs.numbers("taken_at").values[rows] // MINUTE_MS
    grid = np.arange(times[0], times[-1] + slot_ms // MINUTE_MS)
    run = np.searchsorted(times, grid, "right") - 1
    near = grid - times[run] < _SLOTS_STOOD_FOR * slot_ms // MINUTE_MS
    chosen: Rows = rows[run]
    return runs.take(chosen[near & known[chosen]])


def _count_changes(tasks: Floats) -> int:
    return int((np.diff(tasks) != 0).sum())


def _started(tasks: Floats) -> Floats:
    """Tasks that read: one that was added does so later, one that is removed no more."""
    before = np.concatenate([np.full(START_MINUTES, tasks[0]), tasks])
    windows = np.lib.stride_tricks.sliding_window_view(before, START_MINUTES + 1)
    found: Floats = windows.min(axis=1)
    return found


@dataclass(frozen=True, slots=True)
class _Model:
    """The log as a fluid: `written` in all by the end of each minute, from `-backlog` on."""

    produced: Floats
    capacity: Floats
    backlog: float
    age: float

    @classmethod
    def of(cls, minutes: Frame) -> _Model:
        age: Column = minutes.numbers("time_lag_seconds")
        return cls(
            minutes.numbers("produce_rate").values.clip(0.0) * _MINUTE_SECONDS,
            minutes.numbers("capacity").values * _MINUTE_SECONDS,
            float(minutes.numbers("lag").values[0]),
            float(age.fill(0.0)[0]),
        )

    def ages(self, members: Floats) -> Floats:
        """The age, s, of the oldest unread record at the end of each minute."""
        # Lindley's recursion: what is left is never below 0.
        sums = np.cumsum(self.produced - members * self.capacity)
        lowest = np.minimum.accumulate(np.minimum(sums, -self.backlog))
        left = sums - lowest
        written = np.concatenate([[-self.backlog, 0.0], np.cumsum(self.produced)])
        times = np.concatenate([[-self.age], np.arange(len(self.produced) + 1) * _MINUTE_SECONDS])
        read = written[2:] - left
        # Where nothing was written for a time, the last moment at which the log had not reached it.
        after = np.searchsorted(written, read, "right").clip(1, len(written) - 1)
        step = written[after] - written[after - 1]
        share = np.where(step > 0, (read - written[after - 1]) / np.where(step > 0, step, 1), 1.0)
        appended = times[after - 1] + share * (times[after] - times[after - 1])
        is_behind: Mask = left > np.maximum(1.0, written[2:] * 1e-12)
        ages: Floats = np.where(is_behind, times[2:] - appended, 0.0)
        return ages
