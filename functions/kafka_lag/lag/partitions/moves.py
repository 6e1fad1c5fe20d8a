# SPDX-License-Identifier: Apache-2.0
"""How a commit moves from run to run: since when it lies still, went back, and usually pauses."""

from __future__ import annotations

import numpy as np

from kafka_lag.lag.columns import Column, Mask
from kafka_lag.lag.frame import AnyColumn, Frame
from kafka_lag.lag.partitions.memory import Memory, updated
from kafka_lag.lag.partitions.pause_columns import learnt
from kafka_lag.lag.rules import Rules


def with_moves(rows: Frame, memory: Memory, taken_at: int, rules: Rules) -> Frame:
    """Observations, the commit's last change, its rewind and its usual pause, where read now.

    `observations`: readings of this topic, counted up to `most_observations`.
    `commit_changed_at`: the first run, ms, that saw this commit; unknown without a commit, and
    while it is the one that a recreated topic was first read with, as it may be the old topic's.
    `rewound_from`, `rewound_at`: the highest commit before it went back, and the run, ms, that
    saw it go back last; unknown once that commit is reached again.
    Columns of pauses: see `pauses`.
    """
    now, was = rows.numbers("committed_offset"), memory.was.numbers("committed_offset")
    forward, back = now > was, now < was
    return updated(
        rows,
        observations=_observations(memory.was, most_observations(rules)),
        commit_changed_at=_changed_at(now, was, memory, taken_at),
        **_rewinds(now, memory.was, taken_at),
        **learnt(memory.was, rows, forward, back, taken_at, rules),
    )


def most_observations(rules: Rules) -> int:
    """Readings that fill the window; 2 at least, as one shows no movement."""
    return max(2, rules.window_ms // rules.interval_ms)


def lies_still(rows: Frame, taken_at: int, rules: Rules) -> Mask:
    """Rows whose commit has not moved for longer than the window, as far as runs saw.

    Of a row without a commit to this topic none moved in all the readings that fill the window.
    """
    since, seen = rows.numbers("commit_changed_at"), rows.numbers("observations")
    long = since.known & ~lately(since, taken_at, rules)
    never = ~since.known & (seen >= most_observations(rules))
    still: Mask = long | never
    return still


def lately(since: Column, taken_at: int, rules: Rules) -> Mask:
    """Times, ms, that lie within the window: up to exactly its length ago."""
    return taken_at - since <= rules.window_ms


def _observations(was: Frame, most: int) -> Column:
    seen = was.numbers("observations").clip(most=most - 1).fill(0) + 1
    return Column.of(seen.astype(np.int32))


def _changed_at(now: Column, was: Column, memory: Memory, taken_at: int) -> Column:
    since = memory.was.numbers("commit_changed_at")
    this_run = Column(np.full(len(now), taken_at, np.int64), now.known & ~memory.recreated)
    return since.where(now == was, this_run)


def _rewinds(now: Column, memory: Frame, taken_at: int) -> dict[str, AnyColumn]:
    """A commit of another topic, or one that this log never reached, is none to go back from."""
    was, top = memory.numbers("committed_offset"), memory.numbers("rewound_from")
    end = memory.numbers("end_offset")
    ours = memory.numbers("commit_changed_at").known & ~(was > end)
    back = ours & (now < was)
    highest = was.where(~(top > was), top)
    source = highest.where(back, top)
    below = now < source
    this_run = Column.of(np.full(len(now), taken_at, np.int64))
    since = this_run.where(back, memory.numbers("rewound_at"))
    return {"rewound_from": source.only(below), "rewound_at": since.only(below)}
