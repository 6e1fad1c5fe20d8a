# SPDX-License-Identifier: Apache-2.0
"""Which positions look-ups are spent on, and in which order."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from kafka_lag.lag.bounds import Bounds
from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.rules import Rules
from kafka_lag.lag.sets import distinct
from kafka_lag.lag.time_index.queue import Queue
from kafka_lag.lag.time_index.steps import allowance
from kafka_lag.lag.time_lag.positions import Positions
from kafka_lag.lag.time_lag.rests import Rests

_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS


def due(partitions: Frame, taken_at: int, interval_ms: int) -> Mask:
    """Partitions of topics whose hourly turn it is, spread over the hour by their names."""
    topic = partitions.words("topic")
    minutes = [zlib.crc32(str(word).encode("utf-8", "surrogatepass")) % 60 for word in topic.words]
    phase = np.array(minutes or [0], np.int64) * _MINUTE_MS
    due: Mask = ((taken_at - phase) % _HOUR_MS < interval_ms)[topic.codes.values]
    return due


def too_wide(bounds: Bounds, positions: Positions, rules: Rules) -> Mask:
    """Positions whose bracket is wider than their age allows, or open."""
    age = positions.now - np.where(bounds.before.known, bounds.before.values, positions.now)
    mask: Mask = ~bounds.width.known | (bounds.width.values > allowance(rules.tolerance, age))
    return mask


def worth_asking(
    rows: Frame,
    positions: Positions,
    bounds: Bounds,
    rests: Rests,
    rules: Rules,
) -> Mask:
    """Positions whose look-ups the whole budget is for.

    A group that moves is dated anew each run, and where runs were on time its bracket is of one
    interval: it comes second, unless its service level lies inside.
    """
    near = bounds.width.known & (2 * bounds.width.values <= 3 * rules.interval_ms)
    names = rows.words("consumer_group")
    levels = Column.optional([rules.sla_seconds.get(name) for name in names.words], np.float64)
    level = levels.take(np.where(names.known, names.codes.values, -1).astype(np.int64))
    youngest = Column.of(positions.now - bounds.before.values).take(positions.of_row)
    oldest = Column.of(positions.now - bounds.after.values).take(positions.of_row)
    limit = level.values * 1000
    torn = level.known & (youngest.values <= limit) & (limit < oldest.values)
    mask: Mask = ~near | positions.any_of(~rests.moved | torn)
    return mask


@dataclass(frozen=True, slots=True)
class Line:
    """Rows that wait for a date of their positions; `run` counts runs, by which they take turns.

    `moved` rows stood elsewhere in the run before.
    """

    rows: Frame
    lag: Column
    moved: Mask
    positions: Positions
    run: int

    def queue(self, at: Rows, budget: int) -> Queue:
        """The rows at the positions `at`, by pairs of group and topic."""
        wanted = np.full(len(self.positions) + 1, -1, np.int64)
        wanted[at] = np.arange(len(at))
        place = wanted[self.positions.of_row]
        waiting = np.flatnonzero(place >= 0)
        group, topic = (self.rows.words(name).codes.values for name in ("consumer_group", "topic"))
        pair = distinct(group[waiting], topic[waiting])[0].of_row
        return Queue.of(
            pair, place[waiting], self.lag.values[waiting], self.moved[waiting], self.run, budget
        )
