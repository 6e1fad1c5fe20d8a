# SPDX-License-Identifier: Apache-2.0
"""A time index that answers as Kafka's does, deleted heads and compaction included."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kafka_lag.lag.columns import Column, Rows, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.time_index import NEWEST, LookupResults


@dataclass(slots=True)
class Log:
    """One partition: offsets and timestamps of its records, those below `start` deleted.

    `segment` records a segment: the segment in which the log start lies still remembers the
    newest timestamp of its deleted records. `dead` offsets were compacted away.
    """

    times: list[int]
    start: int = 0
    segment: int = 1_000_000
    dead: set[int] = field(default_factory=set)

    @property
    def end(self) -> int:
        return len(self.times)

    def living(self) -> list[int]:
        return [o for o in range(self.start, self.end) if o not in self.dead]

    def newest(self) -> tuple[int, int]:
        """Of all records still on disk, deleted or not, the first with the greatest time."""
        on_disk = self._on_disk()
        if not on_disk:
            return -1, -1
        best = max(on_disk, key=lambda o: (self.times[o], -o))
        return best, self.times[best]

    def first_at(self, time: int) -> tuple[int, int]:
        """Only the first segment whose newest time reaches `time` is looked into."""
        for first in range(self.start // self.segment * self.segment, self.end, self.segment):
            inside = [o for o in self._on_disk() if first <= o < first + self.segment]
            if inside and max(self.times[o] for o in inside) >= time:
                for offset in inside:
                    if offset >= self.start and self.times[offset] >= time:
                        return offset, self.times[offset]
                return -1, -1
        return -1, -1

    def running_maximum(self, position: int) -> int | None:
        """M(c): the greatest timestamp of a living record up to the position."""
        times = [self.times[o] for o in self.living() if o <= position]
        return max(times, default=None)

    def _on_disk(self) -> list[int]:
        first = self.start // self.segment * self.segment
        return [o for o in range(first, self.end) if o not in self.dead]


class Broker:
    """Answers for its logs, by topic and partition; counts the look-ups."""

    def __init__(
        self,
        logs: dict[tuple[str, int], Log],
        unanswered: set[str] | None = None,
        *,
        knows_newest: bool = True,
    ) -> None:
        self.logs = logs
        self.unanswered = unanswered or set()
        self.knows_newest = knows_newest
        self.rounds: list[int] = []

    @property
    def look_up_count(self) -> int:
        return sum(self.rounds)

    def __call__(self, partitions: Frame, times: Rows) -> LookupResults:
        self.rounds.append(len(times))
        names = partitions.strings("topic").to_list()
        numbers = partitions.numbers("partition_id").to_list()
        answers = [
            (-2, -2) if name in self.unanswered else self._one(self.logs[name, number], time)
            for name, number, time in zip(names, numbers, times.tolist(), strict=True)
        ]
        offsets = np.array([o for o, _ in answers], np.int64)
        times = np.array([t for _, t in answers], np.int64)
        return LookupResults(offsets >= 0, offsets == -1, offsets, times)

    def _one(self, log: Log, time: int) -> tuple[int, int]:
        if time == NEWEST:
            return log.newest() if self.knows_newest else (-2, -2)
        return log.first_at(time)

    def partitions(self) -> Frame:
        """The columns of a search, one row a log."""
        return Frame.of(
            {
                "topic": Strings.of(name for name, _ in self.logs),
                "partition_id": Column.of(np.array([n for _, n in self.logs], np.int32)),
                "leader": Column.of(np.zeros(len(self.logs), np.int32)),
                "start_offset": Column.of(
                    np.array([log.start for log in self.logs.values()], np.int64)
                ),
            }
        )
