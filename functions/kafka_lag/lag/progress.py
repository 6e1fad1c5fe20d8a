# SPDX-License-Identifier: Apache-2.0
"""Progress on a backlog: by the rates, or from one move of the commit to another.

Rates are averages over a few minutes: they show progress if commits come as often as the runs. A
commit that moves less often passes many records at once, and seems to catch up in the run that sees
it. So it is judged by the lag left after its moves, compared with the highest of the last window.
"""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Seconds
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.movement import is_first_reading
from kafka_lag.lag.previous_rows import seconds_between, set_where_read
from kafka_lag.lag.run import Run
from kafka_lag.lag.skips import has_skipped

# After WARN a backlog must drain within this many times its age, so that noise does not flip the
# status.
_SURE = 3.0
# Consumer statuses that make a status WARN.
_WARNINGS = (contract.FALLING_BEHIND, contract.SLOW, contract.NO_MEMBER)
# Consumer statuses of a commit that does not move for too long.
_UNMOVING = (contract.STOPPED, contract.STALLED)
# Moves of the commit are compared if they are at least this many intervals apart.
_APART_INTERVALS = 3
# Rates count if no two recent moves of the commit were more than this many intervals apart.
_OFTEN_INTERVALS = 2.5


def add_progress(e: Evaluation, age: Seconds) -> Frame:
    """Returns the rows with the columns that show progress; unread rows are unchanged.

    `commit_gap_seconds`: the longest recent time between two moves of the commit, at most a window;
    it halves in each window. `progress_from_lag`: the lag, records, after the move of the commit in
    the run of `progress_from` (ms). It is the highest of the last window, and later ones are
    compared with it.
    `not_catching_up_since`: since when, ms, nothing has proven that the backlog is being worked
    off; unknown if this run proves it. A first reading shows no movement, and counts as a whole
    window. So does the run after the first commit that follows a stop.
    """
    rows, old, run = e.rows, e.previous.rows, e.run
    forward = rows.numbers("committed_offset") > old.numbers("committed_offset")
    moved = forward & ~has_skipped(rows, old)
    gaps = _find_gaps(old, moved, run)
    gains = _gains_surely(rows, old, age, run) & moved
    often, was_warn = _is_often(gaps, run), was_warned(old)
    drains = often & _drains_within(rows, age * _SURE)
    sure = (rows.numbers("lag") <= e.unreadable) | drains | (gains & ~(often & was_warn))
    first = is_first_reading(rows)
    begun = Column.of(np.where(first, run.taken_at - run.rules.window_ms, run.taken_at))
    since = old.numbers("not_catching_up_since")
    # Between two moves that are far apart a run shows nothing.
    looked = moved | often | first
    # The first commit after a stop covers a part of an interval, so only the next run judges.
    resumed = Column.of(
        np.full(len(rows), run.taken_at - run.rules.window_ms + 2 * run.rules.interval_ms)
    )
    since = since.or_else(begun.only(looked))
    since = resumed.where(moved & _was_unmoving(old), since).only(~sure)
    renewed = _restarts_comparison(rows, old, gains, moved, run)
    this_run = run.now(len(rows))
    return set_where_read(
        rows,
        commit_gap_seconds=gaps,
        progress_from=this_run.where(renewed, old.numbers("progress_from")),
        progress_from_lag=rows.numbers("lag").where(renewed, old.numbers("progress_from_lag")),
        not_catching_up_since=since,
    )


def is_not_catching_up(rows: Frame, old: Frame, age: Seconds, run: Run) -> Mask:
    """Marks rows that are not catching up, and have not for a window or were WARN before.

    The window ends with this run, so one interval less lies between the first such run and this
    one. A window must pass because after a burst of records no consumer seems to catch up for some
    minutes. Draining within SLOW_FROM_AGES ages prevents WARN; ending WARN takes _SURE ages.
    """
    since, was_warn = rows.numbers("not_catching_up_since"), was_warned(old)
    lasted = run.taken_at - since >= run.rules.window_ms - run.rules.interval_ms
    often = _is_often(rows.numbers("commit_gap_seconds"), run)
    drains = _drains_within(rows, age * np.where(was_warn, _SURE, contract.SLOW_FROM_AGES))
    drains |= ~was_warn & _shrinks(rows, old, age * contract.SLOW_FROM_AGES)
    mask: Mask = since.known & (lasted | was_warn) & ~(often & drains)
    return mask


def was_warned(old: Frame) -> Mask:
    """Marks rows that were WARN in the previous run, or would have been without a loss."""
    status = old.strings("last_status")
    behind_a_loss = status.is_in([contract.ERR]) & old.strings("consumer_status").is_in(_WARNINGS)
    return status.is_in([contract.WARN]) | behind_a_loss


def _was_unmoving(old: Frame) -> Mask:
    """Marks rows whose consumer was stopped or stalled in the previous run."""
    return old.strings("consumer_status").is_in(_UNMOVING)


def _drains_within(rows: Frame, limit: Seconds) -> Mask:
    return rows.numbers("drain_seconds") <= limit


def _shrinks(rows: Frame, old: Frame, limit: Seconds) -> Mask:
    """Marks rows whose backlog is gone within `limit`, s, if it goes on as since the last reading.

    Rates show a burst of records for minutes after it has ended; this comparison does not.
    """
    lag, seconds = rows.numbers("lag"), seconds_between(rows, old)
    mask: Mask = (seconds > 0) & ((old.numbers("lag") - lag) * limit >= lag * seconds)
    return mask


def _find_gaps(old: Frame, moved: Mask, run: Run) -> Column:
    """Returns `commit_gap_seconds` after this run.

    A gap excludes time in which nothing was unread, and a reported stop, because neither shows how
    often a group commits while it reads.
    """
    window, interval = run.window_seconds, run.interval_seconds
    unmoved = run.seconds_since(old.numbers("commit_changed_at"))
    unread = (old.numbers("time_lag_seconds") + interval).fill(np.inf)
    gap = unmoved.clip(0.0, np.minimum(unread, window))
    known = old.numbers("commit_gap_seconds")
    lately = known * np.exp2(-gap.fill(0.0) / window)
    longest = gap.clip(lately.fill(0.0))
    after_stop = _was_unmoving(old)
    counted = longest.where(~after_stop, known.or_else(gap.clip(most=interval))).or_else(known)
    return counted.where(moved, known)


def _is_often(gaps: Column, run: Run) -> Mask:
    return gaps <= _OFTEN_INTERVALS * run.interval_seconds


def _gains_surely(rows: Frame, old: Frame, age: Seconds, run: Run) -> Mask:
    """Marks rows whose lag has shrunk so fast that it will be gone within _SURE times its age.

    A run sees a commit up to an interval after it was made, so a lag that grows may seem to shrink
    by the records written in that time. Over _APART_INTERVALS that is too little to count.
    """
    lag = rows.numbers("lag")
    seconds = run.seconds_since(old.numbers("progress_from"))
    gain = old.numbers("progress_from_lag") - lag
    apart = seconds >= _APART_INTERVALS * run.interval_seconds
    mask: Mask = apart & (gain * age * _SURE >= lag * seconds)
    return mask


def _restarts_comparison(rows: Frame, old: Frame, gains: Mask, moved: Mask, run: Run) -> Mask:
    """Marks rows whose lag in this run is the one that later ones are compared with.

    That is so after a gain, if the lag is no lower than the one before, once a window is over, and
    if the commit was set back or past records.
    """
    highest, since = old.numbers("progress_from_lag"), old.numbers("progress_from")
    over = run.taken_at - since >= run.rules.window_ms
    changed = rows.numbers("committed_offset") != old.numbers("committed_offset")
    was_set = changed & ~moved
    higher = rows.numbers("lag") >= highest
    mask: Mask = was_set | (moved & (~since.known | gains | over | higher))
    return mask
