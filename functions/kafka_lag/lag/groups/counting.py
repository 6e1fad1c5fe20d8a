# SPDX-License-Identifier: Apache-2.0
"""What groups and topics count of each row: read now, or for one window as it was last read."""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Words
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.groups.counted import Counted
from kafka_lag.lag.partitions.memory import Seconds
from kafka_lag.lag.partitions.offset_lag import OffsetLag
from kafka_lag.lag.partitions.retention import risk_bound
from kafka_lag.lag.partitions.status import inactive
from kafka_lag.lag.rollup import counts_of, unread_seconds
from kafka_lag.lag.rules import Rules
from kafka_lag.lag.time_lag.ages import Ages

_UNCOUNTED = Words.of([contract.IGNORED, contract.UNCOMMITTED, contract.UNKNOWN, None])


def with_uncounted(rows: Frame, lags: OffsetLag, taken_at: int, rules: Rules) -> Frame:
    """`taken_at`, and `uncounted`: why a row adds nothing to the sums of its group and topic.

    A row that was not read counts as it was for one window after it was; then it is unknown.
    """
    unread, read_at = rows.words("unread_reason").known, rows.numbers("read_at")
    lately = read_at.known & (read_at.values >= taken_at - rules.window_ms)
    valid = ~unread | lately
    uncommitted, known = lags.uncommitted & valid, lags.lag.known & valid
    none = np.zeros(len(rows), bool)
    ignored = inactive(rows, taken_at) if rules.ignore_inactive else none
    why = np.select([ignored, uncommitted, ~known], [0, 1, 2], default=3)
    now = Column.of(np.full(len(rows), taken_at, np.int64))
    return rows.with_columns(taken_at=now, uncounted=_UNCOUNTED.take(why))


def counted(rows: Frame, topics: Frame, allowed: Column, ages: Ages, rules: Rules) -> Counted:
    """Of rows that say what is `uncounted`; `topics` and `allowed` (records) are each row's."""
    counts = counts_of(rows)
    surplus = np.maximum(counts.lag.values - allowed.values, 0)
    risk = rows.words("retention_risk").only(~counts.missing)
    return Counted(
        counts=counts,
        ages=ages,
        surplus=Column(surplus, counts.lag.known),
        produce_rate=topics.numbers("produce_rate"),
        until_loss=_until_loss(rows, risk, risk_bound(topics, rules)),
        risk_known=risk.known,
    )


def _until_loss(rows: Frame, risk: Words, bound: Seconds) -> Column:
    """Seconds of rows at risk, less by the time that went by since an unread row said so.

    0 where records were lost. A row that is not read may come to be at risk meanwhile, nearer to a
    loss than its `bound` (s).
    """
    seconds, lost = rows.numbers("seconds_until_loss"), risk.is_in([contract.LOST])
    passed = unread_seconds(rows)
    left = np.where(lost, 0.0, np.maximum(seconds.values - passed.values, 0.0))
    comes = passed.known & (seconds.values < contract.NO_LOSS_SECONDS) & (left < bound)
    comes &= risk.codes.known
    return Column(left, lost | ((risk.is_in([contract.AT_RISK]) | comes) & seconds.known))
