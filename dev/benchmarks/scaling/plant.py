# SPDX-License-Identifier: Apache-2.0
"""Services that read topics, ten seconds at a time: tasks, partitions, rebalances, commits.

Every service is a group and a topic of one cluster, so that one run of `evaluate` sees them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dev.benchmarks.scaling.cases import Case, Floats
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import AnyColumn, Frame
from kafka_lag.lag.model import ClusterReading

FIRST = 1_769_904_000_000  # 2026-02-01T00:00:00Z
MINUTE_MS = 60_000
STEP_SECONDS = 10
STEPS = 60 // STEP_SECONDS
# What partitions with little to read leave over is shared out again.
_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Conditions:
    """Seconds that a task takes to start and to stop, and that a rebalance stops the group for."""

    start_seconds: int = 90
    stop_seconds: int = 30
    rebalance_seconds: int = 30


class Plant:
    """All services at one moment; `running` is the number of tasks of each that have started."""

    def __init__(self, cases: Sequence[Case], conditions: Conditions, tasks: Sequence[int]) -> None:
        self._cases, self._conditions = cases, conditions
        sizes = [case.partitions for case in cases]
        count, rows = len(cases), sum(sizes)
        self._service = np.repeat(np.arange(count), sizes)
        self._number = np.concatenate([np.arange(size) for size in sizes])
        self._share = np.concatenate([case.shares for case in cases])
        self._speed = np.array([case.speed for case in cases])
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
        self._paused_until = np.zeros(count, np.int64)
        self._frames = _Frames(cases, self._service, self._number, self._members)

    def change(self, service: int, tasks: int) -> None:
        """The number of tasks is to be this; they start and stop in their time."""
        more = tasks > self._target(service)
        seconds = self._conditions.start_seconds if more else self._conditions.stop_seconds
        at = self._step + -(-seconds // STEP_SECONDS)
        later = [each for each in self._pending if each[1] != service or each[0] <= at]
        self._pending = [*later, (at, service, tasks)]

    def _target(self, service: int) -> int:
        wanted = [each for each in self._pending if each[1] == service]
        return max(wanted)[2] if wanted else int(self._set[service])

    def minute(self) -> None:
        """A minute passes."""
        now = self._step // STEPS
        loads = np.array([case.load[min(now, case.minutes - 1)] for case in self._cases])
        written = (loads * self._speed)[self._service] * self._share * STEP_SECONDS
        stuck = self._stuck(now)
        for _ in range(STEPS):
            self._join()
            self._end += written
            self._read(self._shares_of_speed(now) * self._speed, stuck)
            self._step += 1
            self._ends[self._step] = np.floor(self._end)

    def _shares_of_speed(self, now: int) -> Floats:
        running = zip(self._cases, self.running.tolist(), strict=True)
        each = [case.share_of_speed(min(now, case.minutes - 1), tasks) for case, tasks in running]
        return np.array(each)

    def _join(self) -> None:
        """Tasks that have started join, those that stopped leave: the group rebalances."""
        due = sorted(each for each in self._pending if each[0] <= self._step)
        self._pending = [each for each in self._pending if each[0] > self._step]
        for _, service, tasks in due:
            self._set[service] = tasks
        now, pause = self._step // STEPS, self._conditions.rebalance_seconds // STEP_SECONDS
        for service, case in enumerate(self._cases):
            tasks = min(int(self._set[service]), case.starts)
            tasks = 0 if any(now in minutes for minutes in case.away) else tasks
            if self.running[service] != tasks:
                self.running[service] = tasks
                self._paused_until[service] = self._step + pause

    def _stuck(self, now: int) -> npt.NDArray[np.bool_]:
        stuck = np.zeros(len(self._end), bool)
        for service, case in enumerate(self._cases):
            if case.stuck and now in case.stuck[1]:
                stuck |= (self._service == service) & (self._number == case.stuck[0])
        return stuck

    def _read(self, capacity: Floats, stuck: npt.NDArray[np.bool_]) -> None:
        """Each member reads its partitions alike, and of those with less all that lies there."""
        works = (self._step >= self._paused_until) & (self.running > 0)
        works &= (self._step + 1) % self._poll == 0
        left = np.where(stuck | ~works[self._service], 0.0, self._end - self._committed)
        if not left.any():
            return
        owner, members = self._owner(), len(self._cases) * self._members
        budget = np.repeat(capacity * self._poll * STEP_SECONDS, self._members)
        for _ in range(_ROUNDS):
            waiting = left > 0
            number = np.bincount(owner, waiting, members)
            each = (budget / np.maximum(number, 1.0))[owner]
            read = np.where(waiting, np.minimum(left, each), 0.0)
            left -= read
            self._committed += read
            budget = budget - np.bincount(owner, read, members)

    def _owner(self) -> npt.NDArray[np.int64]:
        members = np.maximum(self.running, 1)[self._service]
        owner: npt.NDArray[np.int64] = self._service * self._members + self._number % members
        return owner

    def ages(self) -> Floats:
        """The age, s, of each service's oldest unread record, without partitions that are stuck."""
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
        age[self._stuck_lately()] = 0.0
        found = np.zeros(len(self._cases))
        np.maximum.at(found, self._service, age)
        return found

    def _stuck_lately(self) -> npt.NDArray[np.bool_]:
        """Those that are stuck, or were and are worked off."""
        stuck = np.zeros(len(self._end), bool)
        for service, case in enumerate(self._cases):
            if case.stuck and self._step // STEPS >= case.stuck[1].start:
                stuck |= (self._service == service) & (self._number == case.stuck[0])
        return stuck

    def lags(self) -> Floats:
        """Records behind, by service."""
        lags = np.bincount(self._service, self._end - self._committed, len(self._cases))
        return lags.astype(np.float64)

    def reading(self) -> ClusterReading:
        """What the brokers answer now."""
        at = FIRST + self._step // STEPS * MINUTE_MS
        assigned = self._step >= self._paused_until
        owner = Column.of(self._owner().astype(np.int32))
        owner = owner.only((assigned & (self.running > 0))[self._service])
        ends = self._ends[self._step]
        return self._frames.reading(at, ends, self._committed, owner, self.running, assigned)


class _Frames:
    """The frames of a reading, of which offsets and members change from run to run."""

    def __init__(
        self,
        cases: Sequence[Case],
        service: npt.NDArray[np.int64],
        number: npt.NDArray[np.int64],
        members: int,
    ) -> None:
        names = tuple(group_name(at) for at in range(len(cases)))
        self._rows, self._count = len(service), len(cases)
        words = Strings(Column.of(service.astype(np.int32)), names)
        self._key: dict[str, AnyColumn] = {
            "topic": words,
            "topic_id": words,
            "partition_id": Column.of(number.astype(np.int32)),
            "unread_reason": Strings.unknown(self._rows),
        }
        self._groups = words
        self._zeros = Column.of(np.zeros(self._rows, np.int64))
        self._leader = Column.of((number % 3).astype(np.int32))
        self._names = Strings(Column.of(np.arange(self._count, dtype=np.int32)), names)
        self._member_names = tuple(
            f"{name}-{member}" for name in names for member in range(members)
        )

    def reading(
        self,
        at: int,
        end: Floats,
        committed: Floats,
        owner: Column,
        running: npt.NDArray[np.int64],
        stable: npt.NDArray[np.bool_],
    ) -> ClusterReading:
        """What is read `at` a time, ms; `owner`: the member of each partition, of all services'."""
        moment = Column.of(np.full(self._rows, at))
        key = {**self._key, "read_at": moment}
        topics = Frame.of(
            {
                **key,
                "asked_at": moment,
                "leader": self._leader,
                "start_offset": self._zeros,
                "end_offset": Column.of(end.astype(np.int64)),
            }
        )
        member = Strings(owner, self._member_names)
        rows = Frame.of(
            {
                **key,
                "consumer_group": self._groups,
                "member_id": member,
                "client_id": member,
                "client_host": member,
                "committed_offset": Column.of(np.floor(committed).astype(np.int64)),
            }
        )
        states = Strings(
            Column.of(np.where(running == 0, 2, np.where(stable, 0, 1)).astype(np.int32)),
            ("Stable", "PreparingRebalance", "Empty"),
        )
        groups = Frame.of(
            {
                "consumer_group": self._names,
                "read_at": Column.of(np.full(self._count, at)),
                "unread_reason": Strings.unknown(self._count),
                "group_state": states,
                "group_type": Strings.constant("classic", self._count),
                "protocol": Strings.constant("consumer", self._count),
                "members": Column.of(running.astype(np.int32)),
            }
        )
        return ClusterReading(topics, rows, groups)


def group_name(service: int) -> str:
    """The group, and the topic, of a service."""
    return f"s{service:04}"
