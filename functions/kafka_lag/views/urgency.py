# SPDX-License-Identifier: Apache-2.0
"""The order of groups, the most urgent first, on the terminal and on the status page."""

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
    """Returns ERR to OK of each row, groups or partitions: known throughout.

    A row that was not read is in error if it last was; one that was last OK is unknown. A group
    with a broken SLA is in WARN at least.
    """
    status, last = (_rank_statuses(rows.strings(name)) for name in ("status", "last_status"))
    unread = np.where(last.known, np.minimum(last.values, UNKNOWN), UNKNOWN)
    severity = np.where(status.known, status.values, unread)
    if contract.HELD_SLA_BROKEN in rows.columns:
        severity[rows.numbers(contract.HELD_SLA_BROKEN).known & (severity > WARN)] = WARN
    return Column.of(severity)


def rank_urgency(groups: Frame) -> list[Column]:
    """Keys to order groups by, each from the worst up: severity, whether records are being lost,
    time to a loss, time lag, lag.

    What retention deletes cannot be read later, and a backlog can. So a loss comes before any age.
    """
    lost, until = groups.numbers("records_lost"), groups.numbers("seconds_until_loss")
    return [
        rank_severities(groups),
        Column.of(np.where(lost > 0, 0, 1)),
        # What is not known shall not come after a group that is known to be far from a loss.
        Column.of(until.fill(contract.NO_LOSS_SECONDS)),
        *(-groups.numbers(name) for name in ("time_lag_seconds", "lag")),
    ]


def _rank_statuses(statuses: Strings) -> Column:
    codes = statuses.codes_in(tuple(_SEVERITIES))
    severities = np.array(tuple(_SEVERITIES.values()), np.int64)
    return Column(severities[codes.values], codes.known)
