# SPDX-License-Identifier: Apache-2.0
"""A group's status, and the partition that is to blame."""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Rows, Words
from kafka_lag.lag.frame import AnyColumn, Frame
from kafka_lag.lag.groups.counted import Counted
from kafka_lag.lag.sets import Sets

# From good to bad; and how bad for a group each status of its partitions is.
GROUP_STATUSES = (contract.OK, contract.WARN, contract.ERR)
_SEVERITY = {
    contract.OK: 0,
    contract.WARN: 1,
    contract.STOP: 2,
    contract.STALL: 2,
    contract.REWIND: 2,
    contract.ERR: 2,
}


def statuses(sets: Sets, rows: Frame, counted: Counted) -> dict[str, AnyColumn]:
    """Status, its reason, how complete it is, and the worst partition with member and leader.

    The status is unknown where no partition with a lag was read now, and where all is well but
    for one that lags and has no status yet; it has the worst partition's reason, or while there is
    none yet that nobody is there to read. `complete` is 0 where none was read, unknown where none
    has a commit.
    """
    read = ~rows.words("unread_reason").known
    severity = _severities(status_of(rows))
    seen = sets.have(read & counted.counts.lag.known)
    worst_known = sets.maximum(severity)
    # One that lags and cannot be judged yet may be anything: OK would be a guess.
    guess = sets.have(counted.lagging() & ~severity.known) & (worst_known.values == 0)
    status = Words(worst_known.only(seen & ~guess), GROUP_STATUSES)
    worst = rows.take(_worst(sets, rows, counted, severity))
    reasons = rows.words("status_reason")
    abandoned = sets.have(read & ~severity.known & reasons.is_in([contract.NO_MEMBER]))
    no_member = Words.constant(contract.NO_MEMBER, sets.count).only(abandoned & ~status.known)
    return {
        "status": status,
        "status_reason": worst.words("status_reason").only(status.known).or_else(no_member),
        "complete": _complete(sets, rows, counted, read),
        "worst_topic": worst.words("topic"),
        "worst_partition": worst.numbers("partition_id"),
        "worst_member": worst.words("member_id"),
        "worst_leader": worst.numbers("leader"),
    }


def status_of(rows: Frame) -> Words:
    """Each row's status, its last one where it was not read."""
    unread = rows.words("unread_reason").known
    return rows.words("status").or_else(rows.words("last_status").only(unread))


def _severities(status: Words) -> Column:
    codes = status.codes_in(tuple(_SEVERITY))
    return Column(np.array(tuple(_SEVERITY.values()), np.int32)[codes.values], codes.known)


def _worst(sets: Sets, rows: Frame, counted: Counted, severity: Column) -> Rows:
    """The row with the worst status, then the oldest, then with most lag, then the first.

    None where all is well, nor where all is well but for a row not heard of, which may be worse.
    A topic that the group left is less to blame than one it reads, at the same severity.
    """
    left = rows.words("status_reason").is_in([contract.INACTIVE])
    rank = np.where(severity.known & (severity.values > 0), 2 * severity.values - left, 0)
    age, lag = _or_less(counted.counts.age), _or_less(counted.counts.lag)
    bad = rank > 0
    at = sets.first_at_maximum(bad | counted.lagging(), rank, age, lag)
    sure = ~sets.have(counted.counts.missing) | sets.have(bad)
    return np.where(sure, at, -1)


def _or_less(column: Column) -> Rows:
    """Unknown below all that is known."""
    return np.where(column.known, column.values, -1)


def _complete(sets: Sets, rows: Frame, counted: Counted, read: Mask) -> Column:
    """The share read of the partitions that have a commit, or may have one nobody told."""
    committed = rows.numbers("committed_offset").known
    whole = sets.rows(committed | counted.counts.missing).values
    share = sets.rows(committed & read).values / np.maximum(whole, 1)
    return Column(share, whole > 0)
