# SPDX-License-Identifier: Apache-2.0
"""Logs record by record, with a time index that answers look-ups as brokers do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dev.sim.reading import Ints, Mask
from kafka_lag.lag.columns import Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.time_index import NEWEST, LookupResults


@dataclass(frozen=True, slots=True)
class Log:
    """One partition: for each offset its time by the producer's clock, and when it `came`, in ms.

    Offsets below `start` are deleted. Offsets that are `gone` hold a marker, or their record was
    compacted away. A segment has `segment` offsets. The segment of `start` still knows the newest
    time of its deleted records.
    """

    times: Ints
    came: Ints
    gone: Mask
    start: int = 0
    segment: int = 1_000_000

    @classmethod
    def of(cls, times: Ints) -> Log:
        """Returns a log by right clocks: no record came before its own time, some came later."""
        return cls(times, np.maximum.accumulate(times), np.zeros(len(times), bool))

    @property
    def living(self) -> Ints:
        """Returns the offsets that hold a record."""
        return np.flatnonzero(~self.gone & (np.arange(len(self.gone)) >= self.start))

    def end_at(self, moment: int) -> int:
        """Returns its end offset at a moment, in ms."""
        return int(np.searchsorted(self.came, moment, "right"))

    def next_living(self, offsets: Ints) -> Ints:
        """Returns the next offset with a record, from each of these on; the log's end for none."""
        living = np.append(self.living, len(self.times))
        found: Ints = living[np.searchsorted(living, offsets)]
        return found

    def look_up(self, time: int, end: int | None = None) -> tuple[int, int]:
        """Returns offset and time of the first record at or after a time, or of the newest record.

        -1 for none. Only the first segment whose newest time is as late is searched. The newest
        record may be a deleted one. `end`: the log's end at that moment.
        """
        first = self.start // self.segment * self.segment
        on_disk = np.flatnonzero(~self.gone[:end])
        on_disk = on_disk[on_disk >= first]
        times = self.times[on_disk]
        if time == NEWEST:
            found = on_disk[times == times.max(initial=time)]
        else:
            late = on_disk[times >= time]
            found = late[late // self.segment == late[:1] // self.segment]
            found = found[found >= self.start]
        return (int(found[0]), int(self.times[found[0]])) if len(found) else (-1, -1)


class RecordIndex:
    """Answers look-ups by time, as long as it `answers`, from logs by topic and partition.

    Records that come after the moment `now`, in ms, are not known; None: all are.
    """

    def __init__(self, logs: Mapping[tuple[str, int], Log], now: int | None = None) -> None:
        self.answers, self.now, self._logs = True, now, logs

    def __call__(self, partitions: Frame, times: Rows) -> LookupResults:
        """Returns the first record at or after each time."""
        if not self.answers:
            return LookupResults.unanswered(len(times))
        topics = partitions.strings("topic").to_list()
        numbers = partitions.numbers("partition_id").to_list()
        rows = zip(topics, numbers, times.tolist(), strict=True)
        found = []
        for topic, number, time in rows:
            log = self._logs[topic, number]
            found.append(log.look_up(time, None if self.now is None else log.end_at(self.now)))
        offsets, stamps = np.array(found, np.int64).reshape(-1, 2).T
        return LookupResults(offsets >= 0, offsets < 0, offsets, stamps)
