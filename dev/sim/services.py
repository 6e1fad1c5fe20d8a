# SPDX-License-Identifier: Apache-2.0
"""Services whose tasks start and stop as a policy asks, in steps of ten seconds.

Each service is a group and a topic of one cluster, so that one run sees them all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dev.sim.cases.services import Case
from dev.sim.reading import Floats, Ints, Layout, Sight
from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings

STEP_SECONDS = 10
STEPS = 60 // STEP_SECONDS
# Capacity that partitions with little to read leave over is given to the others in this many
# rounds.
_ROUNDS = 4
# Steps until a task has started or stopped, and of a rebalance in which nobody reads.
_STARTS, _STOPS, _REBALANCES = 9, 3, 3
# A member of a share group takes the records that it reads in so many seconds; the start offset
# moves on once all that the members hold is finished.
_HELD_SECONDS = 5


class Services:
    """All services at one moment; `running` is the number of tasks of each that have started."""

    def __init__(self, cases: Sequence[Case], tasks: Sequence[int]) -> None:
        self._cases = cases
        sizes = [case.partitions for case in cases]
        count, rows = len(cases), sum(sizes)
        self._partitions = np.array(sizes)
        self._service = np.repeat(np.arange(count), sizes)
        self._number = np.concatenate([np.arange(size) for size in sizes])
        self._share = np.concatenate([case.shares for case in cases])
        self._speed = np.array([case.speed for case in cases])
        self._slow = np.array([case.slow for case in cases])
        self._is_shared = np.array([case.share_group for case in cases])
        self._poll = np.array([case.poll_seconds // STEP_SECONDS for case in cases])
        self._members = max(*(case.most for case in cases), 1)
        self._end = np.zeros(rows)
        self._committed = np.zeros(rows)
        self._ends = np.zeros((max(case.minutes for case in cases) * STEPS + 1, rows))
        self._oldest = np.zeros(rows, np.int64)
        self._step = 0
        self._set = np.array(tasks)
        self.running = self._set.copy()
        self._pending: list[tuple[int, int, int]] = []
        self._names = tuple(
            f"{group_name(service)}-{member}"
            for service in range(count)
            for member in range(self._members)
        )
        self._paused_until = np.zeros(count, np.int64)

    def change(self, service: int, tasks: int) -> None:
        """Sets the number of tasks; they start and stop in their time."""
        wanted = [each for each in self._pending if each[1] == service]
        target = max(wanted)[2] if wanted else int(self._set[service])
        at = self._step + (_STARTS if tasks > target else _STOPS)
        later = [each for each in self._pending if each[1] != service or each[0] <= at]
        self._pending = [*later, (at, service, tasks)]

    def live_a_minute(self) -> None:
        """Lets a minute pass."""
        now = self._step // STEPS
        loads = np.array([case.load[min(now, case.minutes - 1)] for case in self._cases])
        written = (loads * self._speed)[self._service] * self._share * STEP_SECONDS
        for _ in range(STEPS):
            self._join()
            self._end += written
            running = zip(self._cases, self.running.tolist(), strict=True)
            shares = [case.share_of_speed(min(now, case.minutes - 1), n) for case, n in running]
            self._read(np.array(shares) * self._speed)
            self._step += 1
            self._ends[self._step] = np.floor(self._end)

    def _join(self) -> None:
        """Lets started tasks join and stopped ones leave, with a rebalance of the group."""
        due = sorted(each for each in self._pending if each[0] <= self._step)
        self._pending = [each for each in self._pending if each[0] > self._step]
        for _, service, tasks in due:
            self._set[service] = tasks
        changed = (self.running != self._set) & ~self._is_shared
        self.running = self._set.copy()
        self._paused_until[changed] = self._step + _REBALANCES

    def _read(self, capacity: Floats) -> None:
        """Lets each member read equally from its partitions, or all that is there."""
        works = (self._step >= self._paused_until) & (self.running > 0)
        works &= (self._step + 1) % self._poll == 0
        left = np.where(works[self._service], self._end - self._committed, 0.0)
        if not left.any():
            return
        owner, members = self._owner(), len(self._cases) * self._members
        budget = np.repeat(capacity * self._poll * STEP_SECONDS, self._members)
        budget[:: self._members] *= self._slow
        # Members of a share group read as one.
        others = np.maximum(self.running - 1, 0) * capacity * self._poll * STEP_SECONDS
        budget[:: self._members] += np.where(self._is_shared, others, 0.0)
        for _ in range(_ROUNDS):
            waiting = left > 0
            number = np.bincount(owner, waiting, members)
            each = (budget / np.maximum(number, 1.0))[owner]
            read = np.where(waiting, np.minimum(left, each), 0.0)
            left -= read
            self._committed += read
            budget = budget - np.bincount(owner, read, members)

    def _owner(self) -> Ints:
        members = np.where(self._is_shared, 1, np.maximum(self.running, 1))[self._service]
        owner: Ints = self._service * self._members + self._number % members
        return owner

    def ages(self) -> Floats:
        """Returns seconds since each service's oldest unread record."""
        committed = np.floor(self._committed)
        rows = np.arange(len(committed))
        while True:
            # The first step at which the log had reached past the commit.
            behind = (self._oldest < self._step) & (self._ends[self._oldest, rows] <= committed)
            if not behind.any():
                break
            self._oldest[behind] += 1
        unread = self._ends[self._step] > committed
        age = np.where(unread, (self._step - self._oldest) * STEP_SECONDS, 0.0)
        found = np.zeros(len(self._cases))
        np.maximum.at(found, self._service, age)
        return found

    def lags(self) -> Floats:
        """Returns unread records by service."""
        lags = np.bincount(self._service, self._end - self._committed, len(self._cases))
        return lags.astype(np.float64)

    def layout(self) -> Layout:
        """Returns the rows of all readings."""
        names = [group_name(at) for at in range(len(self._cases))]
        sizes = {name: case.partitions for name, case in zip(names, self._cases, strict=True)}
        return Layout.of(sizes, {name: name for name in names})

    def sight(self) -> Sight:
        """Returns the present state of the cluster."""
        is_stable, runs = self._step >= self._paused_until, self.running > 0
        shared = self._is_shared[self._service]
        finished = np.floor(self._committed).astype(np.int64)
        end = self._ends[self._step].astype(np.int64)
        owner = np.where(shared, len(self._names), self._owner())
        states = np.where(~runs, 2, np.where(is_stable, 0, 1)).astype(np.int32)
        return Sight(
            end=end,
            committed=np.where(shared, finished - finished % self._held(), finished),
            owner=np.where((is_stable & runs)[self._service], owner, -1),
            members=(*self._names, contract.SHARED_MEMBER),
            counts=self.running,
            states=Strings(Column.of(states), ("Stable", "PreparingRebalance", "Empty")),
            leader=self._number % 3,
            shared=self._is_shared,
            lag=Column.of(end - finished, shared),
        )

    def _held(self) -> Ints:
        """Returns the records of each partition that the members of its share group hold."""
        each = np.maximum(self.running, 1) * self._speed * _HELD_SECONDS / self._partitions
        held: Ints = np.ceil(each).astype(np.int64)[self._service]
        return held


def group_name(service: int) -> str:
    """Returns the name of a service's group and topic."""
    return f"s{service:04}"
