# SPDX-License-Identifier: Apache-2.0
"""Where groups with unread records stand: each offset of a partition once, whoever is there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_lag.lag.columns import Column, Mask, Rows


@dataclass(frozen=True, slots=True)
class Backlog:
    """Group-partitions with unread records: those in `mask`.

    `part`: the row of the partition. `offset`: of the next unread record. `lag`: in records.
    """

    mask: Mask
    part: Rows
    offset: Column
    lag: Column


@dataclass(frozen=True, slots=True)
class Positions:
    """Offsets at which groups are, each once: `part` (a row of `topic_partitions`) and `offset`.

    `now`: ms, when the end of the partition was read. `of_row`: the position of each
    group-partition, -1 where nothing is unread.
    """

    part: Rows
    offset: Rows
    now: Rows
    of_row: Rows

    def __len__(self) -> int:
        return len(self.part)

    def any_of(self, rows: Mask) -> Mask:
        """Positions of at least one of the marked rows."""
        marked = np.zeros(len(self), bool)
        marked[self.of_row[rows & (self.of_row >= 0)]] = True
        return marked


def find_positions(backlog: Backlog, read_at: Column) -> Positions:
    """The positions of rows whose partition was read, ms; its row is -1 where there is none."""
    part, offset, now = backlog.part, backlog.offset.fill(0), read_at.fill(0)
    rows = np.flatnonzero(backlog.mask & backlog.offset.known & read_at.known & (part >= 0))
    order = rows[np.lexsort((offset[rows], part[rows]))]
    parts, offsets = part[order], offset[order]
    first = np.ones(len(order), bool)
    first[1:] = (parts[1:] != parts[:-1]) | (offsets[1:] != offsets[:-1])
    of_row = np.full(len(backlog.mask), -1, np.int64)
    of_row[order] = np.cumsum(first) - 1
    latest = np.zeros(int(first.sum()), np.int64)
    np.maximum.at(latest, of_row[order], now[order])
    return Positions(parts[first], offsets[first], latest, of_row)
