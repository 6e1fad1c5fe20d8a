# SPDX-License-Identifier: Apache-2.0
"""Where each partition's log begins and ends at any second: a formula, so no run needs another."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dev.days.describe import Day, Partition, Topic
from dev.days.events import HOUR, Surge

Seconds: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = npt.NDArray[np.int64]

_DAY = 86_400.0
# Bursts come every 4 to 30 minutes.
_SHORTEST, _LONGEST = 240.0, 1_800.0
# Kafka deletes whole segments: about ten minutes of records each.
_SEGMENT_SECONDS = 600.0


class Logs:
    """One row a topic partition, in the order of the day's topics; times in seconds of the day."""

    def __init__(self, day: Day) -> None:
        pairs = [(number, p) for number, t in enumerate(day.topics) for p in t.partitions]
        self.topic = np.array([number for number, _ in pairs], np.int32)
        self.partition = np.array([n for t in day.topics for n in range(len(t.partitions))], "i4")
        self.rate = np.array([p.rate for _, p in pairs])
        leaders = [p.leader for _, p in pairs]
        self.leader = np.array([-1 if leader is None else leader for leader in leaders], np.int32)
        self.since = np.array([_since(day.topics[number], p) for number, p in pairs])
        self.until = self._of_topics([topic.exists.end * HOUR for topic in day.topics])
        self._shape(day)
        self._origin = self._grown(self.since, None)

    def __len__(self) -> int:
        return len(self.topic)

    def exist(self, second: float) -> npt.NDArray[np.bool_]:
        """Which partitions there are."""
        mask: npt.NDArray[np.bool_] = (self.since <= second) & (second < self.until)
        return mask

    def ends(self, seconds: float | Seconds, rows: Numbers | None = None) -> Numbers:
        """The next offset to be written, of all partitions or of `rows` (each at its second)."""
        origin = self._origin if rows is None else self._origin[rows]
        rate = self.rate if rows is None else self.rate[rows]
        written = rate * (self._grown(seconds, rows) - origin)
        return np.maximum(written, 0.0).astype(np.int64)

    def starts(self, second: float) -> Numbers:
        """The oldest offset that retention has left."""
        segment = np.maximum(np.round(self.rate * _SEGMENT_SECONDS), 1.0)
        old = self.ends(np.where(np.isfinite(self.retention), second - self.retention, -np.inf))
        return (old // segment * segment).astype(np.int64)

    def _shape(self, day: Day) -> None:
        rng = np.random.default_rng(day.seed)
        of = self._of_topics
        self._swing = of([topic.swing for topic in day.topics])
        self._peak = of([topic.peak_hour * HOUR for topic in day.topics])
        self._bursts = of([topic.bursts for topic in day.topics])
        kept = [
            np.inf
            if t.retention_seconds is None or "delete" not in t.cleanup_policy
            else t.retention_seconds
            for t in day.topics
        ]
        self.retention = of(kept)
        self._period = rng.uniform(_SHORTEST, _LONGEST, len(self))
        self._phase = rng.uniform(0.0, 2 * np.pi, len(self))
        self._surges = [
            (surge, np.array([t.name == surge.topic for t in day.topics])[self.topic])
            for surge in day.events
            if isinstance(surge, Surge)
        ]

    def _of_topics(self, values: list[float]) -> Seconds:
        array: Seconds = np.array(values, np.float64)[self.topic]
        return array

    def _grown(self, seconds: float | Seconds, rows: Numbers | None) -> Seconds:
        """Seconds' worth of mean production since an origin that is each partition's own."""

        def own(values: Any) -> Any:
            return values if rows is None else values[rows]

        time = np.maximum(seconds, own(self.since))
        turn = 2 * np.pi / own(self._period)
        time = time + own(self._bursts) / turn * np.sin(turn * time + own(self._phase))
        daily = 2 * np.pi / _DAY
        grown: Seconds = time + own(self._swing) / daily * np.sin(daily * (time - own(self._peak)))
        for surge, rows_hit in self._surges:
            begin, end = surge.when.begin * HOUR, surge.when.end * HOUR
            more = np.clip(time, begin, end) - begin
            grown = grown + own(rows_hit) * (surge.factor - 1.0) * more
        return grown


def _since(topic: Topic, partition: Partition) -> float:
    return max(partition.since, topic.exists.begin) * HOUR
