# SPDX-License-Identifier: Apache-2.0
"""The offsets at which groups with unread records are: each offset of a partition once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.frame import Frame


@dataclass(frozen=True, slots=True)
class Positions:
    """Offsets at which groups are, each once.

    A row per partition: `partitions`, the rows of `topic_partitions` with a position. A row per
    position: `part` (its row of `partitions`), `offset`, `now` (ms, when the end of the partition
    was read) and `compacted`: true if the record at the offset may be gone. `of_row`: the position
    of each group-partition, -1 if there is none.
    """

    partitions: Frame
    part: Rows
    offset: Rows
    now: Rows
    compacted: Mask
    of_row: Rows

    def __len__(self) -> int:
        return len(self.part)

    def take(self, at: Rows) -> Positions:
        """Returns these positions only, numbered from 0."""
        number = np.full(len(self) + 1, -1, np.int64)
        number[at] = np.arange(len(at))
        return replace(
            self,
            part=self.part[at],
            offset=self.offset[at],
            now=self.now[at],
            compacted=self.compacted[at],
            of_row=number[self.of_row],
        )

    def any_of(self, rows: Mask) -> Mask:
        """Marks positions of at least one of the marked rows."""
        marked = np.zeros(len(self), bool)
        marked[self.of_row[rows & (self.of_row >= 0)]] = True
        return marked


def find_positions(topics: Frame, at_topic: Rows, offset: Column) -> Positions:
    """Returns the positions of rows with a known `offset` whose partition has been read.

    `at_topic`: the row of each row's partition in `topics`, -1 for none.
    """
    read_at = topics.numbers("read_at").take(at_topic)
    rows = np.flatnonzero(offset.known & read_at.known & (at_topic >= 0))
    topic, offsets, now = at_topic[rows], offset.fill(0)[rows], read_at.fill(0)[rows]
    order = np.lexsort((offsets, topic))
    rows, topic, offsets, now = rows[order], topic[order], offsets[order], now[order]
    first = np.ones(len(rows), bool)
    first[1:] = (topic[1:] != topic[:-1]) | (offsets[1:] != offsets[:-1])
    of_row = np.full(len(at_topic), -1, np.int64)
    of_row[rows] = np.cumsum(first) - 1
    used, part = np.unique(topic[first], return_inverse=True)
    partitions = topics.lazy_take(used)
    compacted = is_compacted(partitions)[part]
    return Positions(partitions, part, offsets[first], now[first], compacted, of_row)


def is_compacted(partitions: Frame) -> Mask:
    """Marks partitions of compacted topics, in which single records may be gone."""
    return partitions.strings("cleanup_policy").are(lambda word: "compact" in word)
