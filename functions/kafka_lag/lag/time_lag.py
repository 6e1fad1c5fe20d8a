# SPDX-License-Identifier: Apache-2.0
"""The time lag that rows report: an estimate between proven bounds, its error and its method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.append_time import AppendTimes
from kafka_lag.lag.columns import Column, Mask, Strings
from kafka_lag.lag.frame import Frame


def estimate_time_lag(
    rows: Frame, lag: Column, allowed: Column, dates: AppendTimes, now: Column
) -> Ages:
    """The age of every row that was read; `now`, ms, is its own reading."""
    clear = lag <= allowed
    nothing = Column(np.zeros(len(rows)), clear)
    behind = ~clear & lag.known
    # Times are the broker's or a producer's as well: one a moment ahead is age 0, not less.
    dated = behind & dates.best.known
    return Ages(
        seconds=nothing.or_else(_seconds(now, dates.best).only(dated)),
        least=nothing.or_else(_seconds(now, dates.before).only(dated)),
        most=nothing.or_else(_seconds(now, dates.after).only(dated)),
        method=_methods(rows, lag, dates, clear, dated),
    )


def add_time_lag(rows: Frame, ages: Ages, dates: AppendTimes) -> Frame:
    """The rows with their time lag, its error and method; unknown where not read this time.

    The error is the farther end of what is proven, and unknown where nothing bounds the age.
    """
    read = ~rows.strings("unread_reason").known
    bounded = ages.seconds.known & ages.most.known
    error = np.maximum(
        ages.most.values - ages.seconds.values, ages.seconds.values - ages.least.fill(0.0)
    )
    times = {"after": dates.after, "before": dates.before, "time": dates.record}
    carried = {f"next_record_{name}": column for name, column in times.items()}
    return rows.with_columns(
        **{n: column.where(read, rows.numbers(n)) for n, column in carried.items()},
        time_lag_seconds=ages.seconds.only(read),
        time_lag_error_seconds=Column(np.maximum(error, 0.0), bounded & read),
        time_lag_method=ages.method.only(read),
    )


def _methods(rows: Frame, lag: Column, dates: AppendTimes, clear: Mask, dated: Mask) -> Strings:
    none = Strings.constant(contract.METHOD_NONE, len(rows)).only(clear & (lag.values == 0))
    allowed = Strings.constant(contract.METHOD_ALLOWED, len(rows)).only(clear)
    carried = Strings.constant(contract.METHOD_CARRIED, len(rows))
    return none.or_else(allowed).or_else(dates.method.only(dated)).or_else(carried.only(dated))


def _seconds(now: Column, time: Column) -> Column:
    return (now - time).clip(0) / 1_000


@dataclass(frozen=True, slots=True)
class Ages:
    """Time lags of group-partitions in seconds (float64), by the clock of the reading.

    `seconds` is the estimate. The truth lies in [`least`, `most`]: an unknown `least` proves
    nothing (0), an unknown `most` is unbounded. `method` is one of the contract's words.
    """

    seconds: Column
    least: Column
    most: Column
    method: Strings
