# SPDX-License-Identifier: Apache-2.0
"""The plan for the budget of look-ups by time: which positions get one, and in which order.

Two searches share the budget (`share_budget`). The first may use all of it, for positions that need
a look-up because their bounds are wide and nothing else narrows them. The second may use a tenth,
if that much is left: consumers that move have a new position in each run, whose bounds are about an
interval apart, so a look-up is useful but not needed. Positions without a look-up keep the bounds
that they have: such a row is `interpolated` or `at_least`, with an error beyond the tolerance, or
has no age yet in a cluster's first run. Nothing else shows it; the run counts the look-ups that it
sent (`LagReport.look_ups`).

Within a search (`admit`) positions that do not move come first, then those that may have the oldest
record.

A position is admitted while the budget has five look-ups left for it and for each other one that is
admitted and not found yet: 20 at once with a budget of 100. Five are no limit: a position that
needs two lets others in, and one that needs ten goes on until the budget is spent.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np

from kafka_lag.lag.bounds import Bounds, compute_allowance
from kafka_lag.lag.columns import Mask, Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.positions import Positions

_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS
# This part of the budget is for consumers that move: they need new look-ups in each run.
_MOVING_SHARE = 10


def is_due(partitions: Frame, taken_at: int, interval_ms: int) -> Mask:
    """Marks partitions of topics that are due for their hourly look-up, spread by name."""

    def is_of_this_run(topic: str) -> bool:
        phase = zlib.crc32(topic.encode()) % 60 * _MINUTE_MS
        return (taken_at - phase) % _HOUR_MS < interval_ms

    return partitions.strings("topic").are(is_of_this_run)


def is_too_wide(bounds: Bounds, positions: Positions, rules: Rules) -> Mask:
    """Marks positions whose bounds are farther apart than the tolerance allows, or missing."""
    age = (positions.now - bounds.before).fill(0)
    return ~(bounds.width <= compute_allowance(rules.tolerance, age))


def is_worth_a_look_up(
    rows: Frame, positions: Positions, bounds: Bounds, moved: Mask, rules: Rules
) -> Mask:
    """Marks positions that need a look-up; for others it is only useful.

    A group that moves has a new position in each run, whose bounds are about one interval apart.
    That is good enough unless its SLA lies between the bounds. `moved` marks rows.
    """
    near = 2 * bounds.width <= 3 * rules.interval_ms
    limit = rows.strings("consumer_group").numbers_of(rules.sla_seconds.get) * 1000
    youngest = (positions.now - bounds.before).take(positions.of_row)
    oldest = (positions.now - bounds.after).take(positions.of_row)
    torn = (youngest <= limit) & (oldest > limit)
    mask: Mask = ~near | positions.any_of(~moved | torn)
    return mask


def share_budget(wide: Mask, worth: Mask, budget: int) -> Iterator[tuple[Rows, int]]:
    """Yields the positions of each of the two searches, and the most look-ups it may use.

    `wide` marks positions whose bounds are too wide, `worth` those that then need a look-up.
    """
    for mask, most in ((wide & worth, budget), (wide & ~worth, budget // _MOVING_SHARE)):
        at = np.flatnonzero(mask)
        if len(at):
            yield at, most


# Look-ups reserved for a position when it is admitted: two for its partition, then some steps.
_EACH = 5


def admit(open_: Mask, inside: Mask, moves: Mask, low: Rows, left: int) -> Mask:
    """Marks open positions to look up now: those `inside`, and as many more as `left` allows.

    `left` counts look-ups. Positions that do not move come first, because they need look-ups only
    once, and then those that may have the oldest record: their time is at or after `low`, ms.
    """
    waiting = open_ & ~inside
    room = left // _EACH - int((open_ & inside).sum())
    if room >= int(waiting.sum()):
        return open_
    order = np.lexsort((low, moves))
    line = order[waiting[order]]
    chosen: Mask = open_ & inside
    chosen[line[: max(room, 0)]] = True
    # Too few look-ups are left to finish a position, but they help the first in the queue.
    if left > 0 and not chosen.any():
        chosen[line[:1]] = True
    return chosen
