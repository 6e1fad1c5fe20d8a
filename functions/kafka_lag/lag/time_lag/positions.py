# SPDX-License-Identifier: Apache-2.0
"""Unread positions, each once: groups that stand at the same record of a partition share it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_lag.lag.columns import Column, Mask, Rows


@dataclass(frozen=True, slots=True)
class Positions:
    """`part` (a row of the topic_partitions frame) and `offset` of each; `now`, ms, of its reading.

    `of_row` gives each group-partition's position, -1 where it has none.
    """

    part: Rows
    offset: Rows
    now: Rows
    of_row: Rows

    def __len__(self) -> int:
        return len(self.part)

    def any_of(self, rows: Mask) -> Mask:
        """Positions at which at least one of the marked rows stands."""
        marked = np.zeros(len(self), bool)
        marked[self.of_row[rows & (self.of_row >= 0)]] = True
        return marked


def positions_of(unread: Mask, part: Rows, offset: Column, now: Rows) -> Positions:
    """The positions of rows that have unread records; a row without a partition has none."""
    rows = np.flatnonzero(unread & offset.known & (part >= 0))
    order = rows[np.lexsort((offset.values[rows], part[rows]))]
    parts, offsets = part[order], offset.values[order]
    first = np.ones(len(order), bool)
    first[1:] = (parts[1:] != parts[:-1]) | (offsets[1:] != offsets[:-1])
    of_row = np.full(len(unread), -1, np.int64)
    of_row[order] = np.cumsum(first) - 1
    latest = np.zeros(int(first.sum()), np.int64)
    np.maximum.at(latest, of_row[order], now[order])
    return Positions(parts[first], offsets[first], latest, of_row)
