# SPDX-License-Identifier: Apache-2.0
"""A group's row of a run: one value a column of `groups`, and what such a row proves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from kafka_lag import contract

# What is younger, or written in less, is no backlog.
YOUNG_SECONDS = 60.0
_T = TypeVar("_T")

# One group's values by column of `groups`, None for unknown.
Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """The run of `taken_at` on a cluster, beside the last one that was reported; ms UTC.

    `rows_at` gives the rows of an earlier run by group, none where it cannot be read.
    """

    cluster: str
    taken_at: int
    last_reported: int
    rows_at: Callable[[int], Mapping[str, Row]]


def was_read(row: Row) -> bool:
    """Return true if this run read the group: missing data is not a recovery."""
    return row["status"] is not None and row["unread_reason"] is None


def is_behind(row: Row) -> bool:
    """Return true if unread records are old, or more than are written in a short time."""
    age, lag, written = (row.get(name) for name in ("time_lag_seconds", "lag", "produce_rate"))
    is_old = age is not None and age > YOUNG_SECONDS
    is_long = lag is not None and written is not None and lag > written * YOUNG_SECONDS
    return bool(lag and (is_old or is_long))


def count_skipped(row: Row) -> int:
    """Records that were skipped for sure, within the window."""
    is_sure = row.get("skip_reason") != contract.READ_OR_SKIPPED
    return (row.get("records_skipped") or 0) if is_sure else 0


def identify_members(row: Row) -> int | None:
    """A number that stays as long as no member leaves or joins; None where there is none, or it is
    not known, as in a rebalance.

    While a group has members, Kafka lets nobody else set its offsets.
    """
    if not row.get("members") or row.get("group_state") in contract.REBALANCING_STATES:
        return None
    number: int | None = first_known(row.get("members_hash"), row.get("group_epoch"))
    return number


def first_known(value: _T | None, default: _T) -> _T:
    """The value, unless it is unknown."""
    return default if value is None else value
