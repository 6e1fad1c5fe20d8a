# SPDX-License-Identifier: Apache-2.0
"""The time lag that rows report: an estimate between proven bounds, its error and its method."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.append_sources import AppendTimes
from kafka_lag.lag.append_time import estimate_append_times
from kafka_lag.lag.columns import Column, Mask, Strings
from kafka_lag.lag.delays import count_undue, find_due_time
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.log_ends import align_ends, find_bounds
from kafka_lag.lag.offset_lag import find_lowest_position
from kafka_lag.lag.positions import find_positions, is_compacted
from kafka_lag.lag.previous_rows import find_read_at, is_read
from kafka_lag.lag.rests import find_short_rests, forget_rests
from kafka_lag.lag.share_groups import is_shared, set_finished
from kafka_lag.lag.transactions import find_transactional


def add_time_lag(e: Evaluation) -> Frame:
    """Returns the rows with time lag, its error and method; unknown if unread in this run.

    The error is the distance to the farther proven bound; unknown without an upper bound.
    """
    rows, is_behind = e.rows, e.rows.numbers("lag") > e.allowed
    due, read = find_due_time(rows, find_read_at(rows)), is_read(rows)
    old = forget_rests(e.previous.rows, find_transactional(e.newest.topic_partitions))
    unread = e.position.only(is_behind & ~e.is_marker)
    times = estimate_append_times(e, unread, set_finished(old, is_shared(e.of_group)))
    e.estimated = _estimate_time_lag(e, times, due)
    e.ages = ages = _widen_for_short_rests(e, is_behind, due)
    younger = ages.seconds - ages.least.fill(0.0)
    error = (ages.most - ages.seconds).clip(younger).clip(0.0)
    carried = {
        "next_record_after": times.after,
        "next_record_before": times.before,
        "next_record_time": times.record,
    }
    rows = rows.with_columns(
        **{n: column.where(read, rows.numbers(n)) for n, column in carried.items()},
        time_lag_seconds=ages.seconds.only(read),
        time_lag_error_seconds=error.only(read),
        time_lag_method=ages.method.only(read),
    )
    e.undue = count_undue(rows, e.of_topic.numbers("produce_rate"))
    return rows


def _estimate_time_lag(e: Evaluation, times: AppendTimes, now: Column) -> Ages:
    """Returns the time lag of rows, 0 if the lag is allowed or only markers lag.

    `times` are append times of the next unread records; `now`, ms, is when the row was read, or
    before which a record must have come to be due.
    """
    lag, allowed = e.rows.numbers("lag"), e.allowed
    caught_up = (lag <= allowed) | e.is_marker
    nothing = Column(np.zeros(len(lag)), caught_up)
    behind = ~caught_up & lag.known
    # Append times may be by another clock: a time ahead of `now` gives age 0, not less.
    dated = behind & times.best.known
    return Ages(
        seconds=nothing.or_else(_seconds(now, times.best).only(dated)),
        least=nothing.or_else(_seconds(now, times.before).only(dated)),
        most=nothing.or_else(_seconds(now, times.after).only(dated)),
        method=_choose_methods(lag, allowed, times, caught_up, dated),
    )


def _choose_methods(
    lag: Column, allowed: Column, times: AppendTimes, caught_up: Mask, dated: Mask
) -> Strings:
    def method(word: str, where: Mask) -> Strings:
        return Strings.constant(word, len(lag)).only(where)

    none = method(contract.METHOD_NONE, caught_up & (lag == 0))
    within = method(contract.METHOD_ALLOWED, lag <= allowed)
    marker = method(contract.METHOD_MARKER, caught_up)
    found = none.or_else(within).or_else(marker).or_else(times.method.only(dated))
    return found.or_else(method(contract.METHOD_CARRIED, dated))


def _seconds(now: Column, time: Column) -> Column:
    return (now - time).clip(0) / 1_000


@dataclass(frozen=True, slots=True)
class Ages:
    """Time lags of group-partitions in seconds, by the reporter's clock.

    `seconds` is the estimate. The true value lies between `least` and `most`; an unknown `least` is
    0, an unknown `most` means that there is no upper bound. `method` is one of the contract's
    METHOD_ values.
    """

    seconds: Column
    least: Column
    most: Column
    method: Strings

    def allow_for_cleaning(self, compacted: Mask) -> Ages:
        """Returns these ages; carried ones on compacted topics get a lower bound of 0.

        The dated record may have been cleaned away, and the next one may be as new as this run.
        """
        carried = compacted & self.method.is_in([contract.METHOD_CARRIED])
        nothing = Column.of(np.zeros(len(self.seconds)))
        return replace(self, least=nothing.where(carried & self.least.known, self.least))

    def extend_to(self, oldest: Column, mask: Mask) -> Ages:
        """Returns these ages with marked upper bounds at least `oldest`, s; unknown: no bound."""
        farthest = self.most.where(self.most > oldest, oldest).only(self.most.known & oldest.known)
        return replace(self, most=farthest.where(mask, self.most))


def _widen_for_short_rests(e: Evaluation, is_behind: Mask, now: Column) -> Ages:
    """Returns the ages with wider bounds for short rests, share groups and compacted topics.

    The first two may still read offsets taken for markers or finished, so the next record may be as
    old as the commit's position. `now` as in `_estimate_time_lag`.
    """
    ages = e.estimated.allow_for_cleaning(is_compacted(e.of_topic))
    lowest = find_lowest_position(e)
    below = lowest.only(is_behind & (e.position > lowest) & now.known)
    positions = find_positions(e.topics, e.at_topic, below)
    at = np.flatnonzero(positions.of_row >= 0)
    if not len(at):
        return ages
    ends = align_ends(positions.partitions, e.previous_runs.ends)
    part, offset = positions.part[positions.of_row[at]], below.take(at).fill(0)
    seen = find_bounds(ends, part, e.position.take(at).fill(0) - 1).before
    rows, old = e.rows.lazy_take(at), e.previous.rows.lazy_take(at)
    mask = np.zeros(len(e.rows), bool)
    mask[at] = find_short_rests(rows, old, seen, e.run) | is_shared(e.of_group)[at]
    after = Column.unknown(len(mask)).put(at, find_bounds(ends, part, offset).after)
    return ages.extend_to(_seconds(now, after), mask)
