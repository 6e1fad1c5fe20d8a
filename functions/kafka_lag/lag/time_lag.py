# SPDX-License-Identifier: Apache-2.0
"""The time lag that rows report: an estimate between proven bounds, its error and its method."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.append_sources import AppendTimes
from kafka_lag.lag.append_time import ShortRests
from kafka_lag.lag.columns import Column, Mask, Strings
from kafka_lag.lag.frame import Frame


def estimate_time_lag(
    rows: Frame, lag: Column, allowed: Column, markers: Mask, times: AppendTimes, now: Column
) -> Ages:
    """The time lag of each row, 0 where its lag is `allowed` (records), or is `markers` alone.

    `times` are append times of the next unread records; `now`, ms, is when the row was read.
    """
    caught_up = (lag <= allowed) | markers
    nothing = Column(np.zeros(len(rows)), caught_up)
    behind = ~caught_up & lag.known
    # Append times may be by another clock: one that is ahead of `now` is age 0, not less.
    dated = behind & times.best.known
    return Ages(
        seconds=nothing.or_else(_seconds(now, times.best).only(dated)),
        least=nothing.or_else(_seconds(now, times.before).only(dated)),
        most=nothing.or_else(_seconds(now, times.after).only(dated)),
        method=_choose_methods(lag, allowed, times, caught_up, dated),
    )


def add_time_lag(rows: Frame, ages: Ages, times: AppendTimes) -> Frame:
    """The rows with their time lag, its error and method; unknown where unread in this run.

    The error is the distance to the farther of the two proven bounds; unknown without an upper one.
    """
    read = ~rows.strings("unread_reason").known
    younger = ages.seconds - ages.least.fill(0.0)
    error = (ages.most - ages.seconds).clip(younger).clip(0.0)
    carried = {
        "next_record_after": times.after,
        "next_record_before": times.before,
        "next_record_time": times.record,
    }
    return rows.with_columns(
        **{n: column.where(read, rows.numbers(n)) for n, column in carried.items()},
        time_lag_seconds=ages.seconds.only(read),
        time_lag_error_seconds=error.only(read),
        time_lag_method=ages.method.only(read),
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

    `seconds` is the estimate. The true value lies within `least` and `most`; an unknown `least` is
    0, an unknown `most` is no bound at all. `method` is one of the contract's METHOD_ values.
    """

    seconds: Column
    least: Column
    most: Column
    method: Strings

    def after_cleaning(self, compacted: Mask) -> Ages:
        """These ages, but for what cleaning may have removed since an earlier run dated them.

        On a compacted topic the record may be gone, and the next one be as new as this run.
        """
        carried = compacted & self.method.is_in([contract.METHOD_CARRIED])
        nothing = Column.of(np.zeros(len(self.seconds)))
        return replace(self, least=nothing.where(carried & self.least.known, self.least))

    def before_short_rests(self, rests: ShortRests, now: Column) -> Ages:
        """These ages, but where a group may still read what it is taken to rest below, that may be
        as old as its position allows. `now`, ms, is when the row was read.
        """
        oldest = _seconds(now, rests.after)
        farthest = self.most.where(self.most > oldest, oldest).only(self.most.known & oldest.known)
        return replace(self, most=farthest.where(rests.mask, self.most))
