# SPDX-License-Identifier: Apache-2.0
"""Who is dated first when the budget does not reach for all.

What is published is the oldest position of each group and topic, so those that may be it come
first; among equals the pairs of group and topic take turns from run to run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_lag.lag.columns import Mask, Rows

# Look-ups set aside for a position when it is let in: two for its partition, then some steps.
_EACH = 5
_LAST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Queue:
    """`pair` and `position` of each group-partition that waits; `rank` within its pair, 0 first.

    `turn` is each pair's place in this run. Those that do not `move` are asked about once and
    never again, so that they come first.
    """

    pair: Rows
    position: Rows
    rank: Rows
    turn: Rows
    moves: Mask

    @classmethod
    def of(cls, pair: Rows, position: Rows, lag: Rows, moves: Mask, run: int, budget: int) -> Queue:
        """Pairs are numbered from 0; within one most lag comes first. `run` counts runs.

        When all pairs had their turn, the next in rank leads each of them.
        """
        order = np.lexsort((-lag, pair))
        first = np.searchsorted(pair[order], pair[order])
        size = np.bincount(pair, minlength=1)
        pairs, before = len(size), run * max(1, budget // _EACH)
        rank = np.empty(len(pair), np.int64)
        rank[order] = (np.arange(len(pair)) - first - before // pairs) % size[pair[order]]
        turn = (np.arange(pairs) - before) % pairs
        return cls(pair, position, rank, turn, moves)

    def let_in(self, open_: Mask, inside: Mask, low: Rows, high: Rows, left: int) -> Mask:
        """Open positions that may ask now: those inside already, and as many more as fit.

        `low` and `high` are the times, ms, between which each position still may be.
        """
        waiting = open_ & ~inside
        room = left // _EACH - int((open_ & inside).sum())
        if room >= int(waiting.sum()):
            return open_
        order = self._order(low, high)
        line = order[waiting[order]][: max(room, 0)]
        chosen: Mask = open_ & inside
        chosen[line] = True
        # A rest too small for a whole position still serves the first in line.
        if left > 0 and not chosen.any() and waiting.any():
            chosen[order[waiting[order]][:1]] = True
        return chosen

    def _order(self, low: Rows, high: Rows) -> Rows:
        """Positions, those first that may be the oldest of a group and topic."""
        surely = np.full(len(self.turn), _LAST, np.int64)
        np.minimum.at(surely, self.pair, high[self.position])
        may_be = low[self.position] <= surely[self.pair]
        later = np.where(may_be, 0, 2) + self.moves
        key, turn = (np.full(len(low), _LAST, np.int64) for _ in range(2))
        np.minimum.at(key, self.position, self.rank + later * len(self.pair))
        np.minimum.at(turn, self.position, self.turn[self.pair])
        order: Rows = np.lexsort((turn, key))
        return order
