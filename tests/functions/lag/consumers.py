# SPDX-License-Identifier: Apache-2.0
"""Consumers of known speed, planted second by second and seen once a minute by `evaluate`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import AnyColumn, Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import ClusterReading, Snapshot
from kafka_lag.snapshots.previous import Memory
from tests.builders import MINUTE, NOON

Floats: TypeAlias = npt.NDArray[np.float64]
SECONDS = 60


@dataclass(frozen=True, slots=True)
class Consumers:
    """One group of `members` equal members on as many partitions; all is a function of time, s.

    `written` and `speed` are records/s, of each partition and of each member. They commit what they
    have read `trails` seconds before, every `commits` seconds from second `phase` on.
    """

    written: Callable[[npt.NDArray[np.int64]], Floats]
    speed: Callable[[npt.NDArray[np.int64]], Floats]
    members: int = 1
    commits: int = 5
    phase: int = 0
    trails: int = 0

    def offsets(self, minutes: int) -> tuple[Floats, Floats]:
        """The log's end and the commit of each partition, minute by minute."""
        second = np.arange(minutes * SECONDS)
        end, most = self.written(second).cumsum(), self.speed(second)
        read = np.zeros(len(second))
        position = 0.0
        for at, (there, budget) in enumerate(zip(end.tolist(), most.tolist(), strict=True)):
            position = min(there, position + budget)
            read[at] = position
        last = (second - self.phase) // self.commits * self.commits + self.phase - self.trails
        committed = np.where(last >= 0, read[np.maximum(last, 0)], 0.0)
        at_runs = np.arange(SECONDS - 1, len(second), SECONDS)
        return np.floor(end[at_runs]), np.floor(committed[at_runs])


def steady(rate: float) -> Callable[[npt.NDArray[np.int64]], Floats]:
    """The same at any time."""
    return lambda second: np.full(len(second), rate)


def minute_noise(rate: float, noise: float, seed: int) -> Callable[..., Floats]:
    """Normal noise of each minute."""

    def records(second: npt.NDArray[np.int64]) -> Floats:
        rng = np.random.default_rng(seed)
        of_minute = rng.normal(rate, rate * noise, int(second[-1]) // SECONDS + 1)
        found: Floats = np.maximum(of_minute, 0.0)[second // SECONDS]
        return found

    return records


def random_records(rate: float, seed: int) -> Callable[..., Floats]:
    """Records one by one, at random."""
    return lambda second: np.random.default_rng(seed).poisson(rate, len(second)).astype(float)


@dataclass(slots=True)
class Cluster:
    """Groups by name, all seen in each run; `snapshots` has those of the runs so far."""

    groups: Mapping[str, Consumers]
    minutes: int
    rules: Rules = field(default_factory=lambda: Rules(lookup_budget=0))

    def snapshots(self) -> list[Snapshot]:
        """What each run left behind."""
        names = tuple(self.groups)
        group = np.repeat(np.arange(len(names)), [each.members for each in self.groups.values()])
        number = np.concatenate([np.arange(each.members) for each in self.groups.values()])
        offsets = [each.offsets(self.minutes) for each in self.groups.values()]
        memory, found = Memory.empty(), list[Snapshot]()
        for run in range(self.minutes):
            at = NOON + run * MINUTE
            ends = np.array([end[run] for end, _ in offsets])[group]
            commits = np.array([committed[run] for _, committed in offsets])[group]
            reading = _reading(names, group, number, ends, commits, at)
            snapshot = evaluate(reading, memory.previous_runs(), self.rules, at).snapshot
            memory = memory.add_run(snapshot, self.rules.interval_ms, stored=True)
            found.append(snapshot)
        return found


def _reading(
    names: Sequence[str],
    group: npt.NDArray[np.int64],
    number: npt.NDArray[np.int64],
    ends: Floats,
    commits: Floats,
    at: int,
) -> ClusterReading:
    count, groups = len(group), len(names)
    name = Strings(Column.of(group.astype(np.int32)), tuple(names))
    read_at, nobody = Column.of(np.full(count, at + 200)), Strings.unknown(count)
    key: dict[str, AnyColumn] = {
        "topic": name,
        "topic_id": name,
        "partition_id": Column.of(number.astype(np.int32)),
        "unread_reason": nobody,
        "read_at": read_at,
    }
    topics = Frame.of(
        {
            **key,
            "asked_at": read_at,
            "start_offset": Column.of(np.zeros(count, np.int64)),
            "end_offset": Column.of(ends.astype(np.int64)),
        }
    )
    member = Strings.of(f"member-{each}" for each in number.tolist())
    rows = Frame.of(
        {
            **key,
            "consumer_group": name,
            "committed_offset": Column.of(commits.astype(np.int64)),
            "member_id": member,
            "client_id": member,
            "client_host": member,
        }
    )
    described = Frame.of(
        {
            "consumer_group": Strings.of(names),
            "read_at": Column.of(np.full(groups, at + 200)),
            "unread_reason": Strings.unknown(groups),
            "group_state": Strings.constant("Stable", groups),
            "group_type": Strings.constant("classic", groups),
            "protocol": Strings.constant("consumer", groups),
            "members": Column.of(np.bincount(group).astype(np.int32)),
            "members_hash": Column.of(np.ones(groups, np.int64)),
        }
    )
    return ClusterReading(topics, rows, described)
