# SPDX-License-Identifier: Apache-2.0
"""The movement of each row's commit from run to run: its last change, and whether it went back."""

from __future__ import annotations

import numpy as np

from kafka_lag.lag.batches import learn_batches
from kafka_lag.lag.columns import Column, Mask
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Columns, Frame
from kafka_lag.lag.pauses import find_moves, learn_pauses
from kafka_lag.lag.previous_rows import PreviousRows, set_where_read
from kafka_lag.lag.run import Run


def add_movement(e: Evaluation) -> Frame:
    """Returns the rows with the movement of their commits; unread rows are unchanged.

    `observations`: how many runs read this topic, counted up to `most_observations`.
    `commit_changed_at`: the first run, ms, that read this commit. Unknown without a commit, and
    for the first commit read on a recreated topic, because the old topic may have left it.
    `rewound_from`: the highest commit before it went back. `rewound_at`: the run, ms, in which it
    last went back. Both are unknown again once the commit has reached `rewound_from`.
    Columns of recurring pauses and of batches: see `pauses` and `batches`.
    """
    rows, previous, run = e.rows, e.previous, e.run
    now, then = rows.numbers("committed_offset"), previous.rows.numbers("committed_offset")
    move = find_moves(previous.rows, now > then, now < then, run)
    window = run.window_seconds
    return set_where_read(
        rows,
        observations=_count_observations(previous.rows, most_observations(run)),
        commit_changed_at=_find_last_change(now, then, previous, run),
        **_find_rewinds(now, previous.rows, run),
        **learn_pauses(previous.rows, move, window),
        **learn_batches(previous.rows, move, window),
    )


def most_observations(run: Run) -> int:
    """Returns how many readings fill the window, at least 2: one shows no movement."""
    return max(2, run.rules.window_ms // run.rules.interval_ms)


def is_first_reading(rows: Frame) -> Mask:
    """Marks rows that one run has read so far, which shows no movement."""
    return rows.numbers("observations") <= 1


def is_still(rows: Frame, run: Run) -> Mask:
    """Marks rows whose commit has not moved for longer than the window.

    A row whose commit was never seen to change is marked once its readings fill the window.
    """
    since, seen = rows.numbers("commit_changed_at"), rows.numbers("observations")
    long = since.known & ~run.within_window(since)
    never = ~since.known & (seen >= most_observations(run))
    still: Mask = long | never
    return still


def _count_observations(old: Frame, most: int) -> Column:
    seen = old.numbers("observations").clip(most=most - 1).fill(0) + 1
    return Column.of(seen.astype(np.int32))


def _find_last_change(now: Column, then: Column, previous: PreviousRows, run: Run) -> Column:
    since = previous.rows.numbers("commit_changed_at")
    this_run = run.now(len(now)).only(now.known & ~previous.recreated)
    return since.where(now == then, this_run)


def _find_rewinds(now: Column, old: Frame, run: Run) -> Columns:
    """Returns `rewound_from` and `rewound_at`; `now` is the commit of this run.

    A lower commit does not count as a rewind if the previous one was on another topic or beyond the
    end of the log, because records up to there were never read from this log.
    """
    then, top = old.numbers("committed_offset"), old.numbers("rewound_from")
    end = old.numbers("end_offset")
    reached = old.numbers("commit_changed_at").known & ~(then > end)
    back = reached & (now < then)
    highest = then.where(~(top > then), top)
    source = highest.where(back, top)
    below = now < source
    this_run = run.now(len(now))
    since = this_run.where(back, old.numbers("rewound_at"))
    return {"rewound_from": source.only(below), "rewound_at": since.only(below)}
