# SPDX-License-Identifier: Apache-2.0
"""A time index that answers as Kafka's does, including deleted heads and compaction."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dev.sim import records
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

    def answer(self, time: int) -> tuple[int, int]:
        """What a broker answers to a look-up of this time, or of the newest record."""
        times = np.array(self.times, np.int64)
        gone = np.isin(np.arange(self.end), [*self.dead])
        return records.Log(times, times, gone, self.start, self.segment).look_up(time)

    def running_maximum(self, position: int) -> int | None:
        """M(c): the greatest timestamp of a living record up to the position."""
        times = [self.times[o] for o in self.living() if o <= position]
        return max(times, default=None)


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
        return log.answer(time) if self.knows_newest or time != NEWEST else (-2, -2)

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
