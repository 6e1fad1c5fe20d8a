# SPDX-License-Identifier: Apache-2.0
"""The order of groups on the terminal and on the status page, the most urgent first."""

from __future__ import annotations

from typing import Final

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame

# The severities of rows, the worst first.
ERR, WARN, UNKNOWN, OK = range(4)
_SEVERITIES: Final = {
    status: (OK, WARN, ERR)[number] for status, number in contract.PARTITION_SEVERITIES.items()
}


def rank_severities(rows: Frame) -> Column:
    """Returns ERR to OK for each row, groups or partitions; it is always known.

    A row that was not read is in error if it last was, and unknown if it was last OK. A group with
    a broken SLA is at least in WARN.
    """
    status, last = (_rank_statuses(rows.strings(name)) for name in ("status", "last_status"))
    unread = np.where(last.known, np.minimum(last.values, UNKNOWN), UNKNOWN)
    severity = np.where(status.known, status.values, unread)
    if contract.HELD_SLA_BROKEN in rows.columns:
        severity[rows.numbers(contract.HELD_SLA_BROKEN).known & (severity > WARN)] = WARN
    return Column.of(severity)


def rank_urgency(groups: Frame) -> list[Column]:
    """Returns keys to order groups by, each with the worst first.

    They are severity, whether records are being lost, time to a loss, time lag, lag. Deleted
    records cannot be read later, and a backlog can, so a loss comes before any age.
    """
    lost, until = groups.numbers("records_lost"), groups.numbers("seconds_until_loss")
    return [
        rank_severities(groups),
        Column.of(np.where(lost > 0, 0, 1)),
        # An unknown time must not come after one that is known to be long.
        Column.of(until.fill(contract.NO_LOSS_SECONDS)),
        *(-groups.numbers(name) for name in ("time_lag_seconds", "lag")),
    ]


def _rank_statuses(statuses: Strings) -> Column:
    codes = statuses.codes_in(tuple(_SEVERITIES))
    severities = np.array(tuple(_SEVERITIES.values()), np.int64)
    return Column(severities[codes.values], codes.known)
