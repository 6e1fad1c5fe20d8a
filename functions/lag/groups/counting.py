# SPDX-License-Identifier: Apache-2.0
"""What groups and topics count of each row: read now, or last said by a broker that is silent."""

from __future__ import annotations

import numpy as np

from functions import contract
from functions.lag.columns import Column, Words
from functions.lag.frame import Frame
from functions.lag.groups.counted import Counted
from functions.lag.partitions.offset_lag import OffsetLag
from functions.lag.partitions.retention import at_risk
from functions.lag.partitions.status import inactive
from functions.lag.rules import Rules
from functions.lag.time_lag.ages import Ages


def counted(
    rows: Frame,
    topics: Frame,
    lags: OffsetLag,
    allowed: Column,
    ages: Ages,
    now: Column,
    taken_at: int,
    rules: Rules,
) -> Counted:
    """Counts hold a silent row's last word within the window, times and status for as long as
    the row is kept; `topics` and `now` (ms) are each row's.
    """
    silent, read_at = rows.words("unread_reason").known, rows.numbers("read_at")
    silent_for = Column(now.values - read_at.values, silent & read_at.known)
    heard = ~silent | (read_at.known & (read_at.values >= taken_at - rules.window_ms))
    lag, uncommitted = lags.lag.only(heard), lags.uncommitted & heard
    status = rows.words("status").or_else(rows.words("last_status").only(silent))
    no_rows = np.zeros(len(rows), bool)
    return Counted(
        lag=lag,
        missing=~lag.known & ~uncommitted,
        uncommitted=uncommitted,
        lost=lags.lost,
        unknown=silent | ~(lags.lag.known | lags.uncommitted),
        ages=ages,
        produce_rate=topics.numbers("produce_rate"),
        until_loss=_until_loss(rows, silent_for),
        at_risk=at_risk(rows),
        status=status,
        scaling=_scaling(lag, allowed, status),
        ignored=inactive(rows, taken_at) if rules.ignore_inactive else no_rows,
    )


def _until_loss(rows: Frame, silent_for: Column) -> Column:
    """Seconds, less by the time that went by since a silent row said so."""
    seconds = rows.numbers("seconds_until_loss")
    passed = np.where(silent_for.known, silent_for.values / 1000, 0.0)
    return Column(np.maximum(seconds.values - passed, 0.0), seconds.known)


def _scaling(lag: Column, allowed: Column, status: Words) -> Column:
    """Lag that more consumers could work off: a record that stalls one would stall them all."""
    stalled = status.is_in([contract.STALL])
    surplus = np.maximum(lag.values - allowed.values, 0)
    return Column(np.where(stalled, 0, surplus), lag.known)
