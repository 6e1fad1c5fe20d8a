# SPDX-License-Identifier: Apache-2.0
"""Whole runs of `evaluate`, a minute apart, each with the history that a warm run has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dev.pauses_bench.tracks import DAY, Track
from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import AnyColumn, Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import ClusterReading
from kafka_lag.snapshots.previous import Memory

FIRST = 1_769_904_000_000  # 2026-02-01T00:00:00Z
_MINUTE_MS = 60_000
STATUSES = (
    contract.OK,
    contract.WARN,
    contract.STOP,
    contract.STALL,
    contract.REWIND,
    contract.ERR,
)
UNKNOWN = -1

Codes: TypeAlias = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Told:
    """A row a run, a column a track: status of the partition and held status of its group, as
    places in STATUSES, -1 for none."""

    status: Codes
    held: Codes


class Cluster:
    """Tracks as partitions of a topic, each read by a group of its own."""

    def __init__(self, tracks: Sequence[Track]) -> None:
        count = len(tracks)
        at = tracks[0].at_runs()
        self._end = np.stack([track.end[at] for track in tracks], axis=1)
        self._committed = np.stack([track.committed[at] for track in tracks], axis=1)
        self._owned = np.stack([track.owned[at] for track in tracks], axis=1)
        self._names = Strings.of(f"n{number:03}" for number in range(count))
        self._topic = Strings.constant("orders", count)
        self._zeros = Column.of(np.zeros(count, np.int64))
        self._numbers = Column.of(np.arange(count, dtype=np.int32))

    @property
    def runs(self) -> int:
        """How many there are."""
        return len(self._end)

    def reading(self, run: int) -> ClusterReading:
        """What a run sees."""
        at = FIRST + run * _MINUTE_MS
        count, nobody = len(self._names), Strings.unknown(len(self._names))
        moment = Column.of(np.full(count, at))
        key: dict[str, AnyColumn] = {
            "topic": self._topic,
            "topic_id": self._topic,
            "partition_id": self._numbers,
            "unread_reason": nobody,
            "read_at": moment,
        }
        topics = Frame.of(
            {
                **key,
                "asked_at": moment,
                "leader": self._numbers,
                "start_offset": self._zeros,
                "end_offset": Column.of(self._end[run]),
            }
        )
        member = self._names.only(self._owned[run])
        rows = Frame.of(
            {
                **key,
                "consumer_group": self._names,
                "member_id": member,
                "client_id": member,
                "client_host": member,
                "committed_offset": Column.of(self._committed[run]),
            }
        )
        return ClusterReading(topics, rows, self._groups(moment))

    def _groups(self, moment: Column) -> Frame:
        count = len(self._names)
        return Frame.of(
            {
                "consumer_group": self._names,
                "read_at": moment,
                "unread_reason": Strings.unknown(count),
                "group_state": Strings.constant("Stable", count),
                "group_type": Strings.constant("classic", count),
                "protocol": Strings.constant("consumer", count),
                "members": Column.of(np.ones(count, np.int32)),
            }
        )


def told(
    tracks: Sequence[Track], progress: Callable[[int, Told], None] = lambda _, __: None
) -> Told:
    """What the product says of tracks of one length, run by run; `progress` is called each day.

    Ages come from the ends of earlier runs alone: look-ups would double the time it takes.
    """
    rules, cluster = Rules(lookup_budget=0), Cluster(tracks)
    memory, shape = Memory.empty(), (cluster.runs, len(tracks))
    status, held = np.full(shape, UNKNOWN, np.int8), np.full(shape, UNKNOWN, np.int8)
    for run in range(cluster.runs):
        taken_at = FIRST + run * _MINUTE_MS
        reading = cluster.reading(run)
        snapshot = evaluate(reading, memory.previous_runs(), rules, taken_at).snapshot
        memory = memory.add_run(snapshot, rules.interval_ms, stored=True)
        status[run] = _codes(snapshot.group_partitions, "status")
        held[run] = _codes(snapshot.groups, "held_status")
        if run % DAY == DAY - 1:
            progress(run + 1, Told(status, held))
    return Told(status, held)


def _codes(frame: Frame, name: str) -> Codes:
    """In the order of the names, which is that of the tracks."""
    codes = frame.strings(name).codes_in(STATUSES)
    order = np.argsort(np.array(frame.strings("consumer_group").to_list()))
    return np.where(codes.known, codes.values, UNKNOWN)[order].astype(np.int8)
