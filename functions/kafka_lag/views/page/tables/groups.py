# SPDX-License-Identifier: Apache-2.0
"""The table of all groups, of one cluster or of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_lag.lag.columns import Column, Rows, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.views.page.asked import Asked
from kafka_lag.views.page.latest import Latest
from kafka_lag.views.page.tables.choosing import (
    Sheet,
    alphabet,
    any_contains,
    falling,
    ordered,
    sheet,
)
from kafka_lag.views.page.tables.severity import WORDS, severities

ROWS = 100
# Beyond these a list to choose from helps nobody; the address takes any owner.
_MOST_OWNERS = 300
SORTS = {
    "severity": "Severity",
    "group": "Group",
    "lag": "Lag",
    "time_lag": "Time lag",
    "loss": "Time to data loss",
    "members": "Members",
    "held": "Held since",
}
_COLUMNS = (
    *("consumer_group", "owner", "unread_reason", "group_state", "group_type", "members"),
    *("lag", "time_lag_seconds", "time_lag_error_seconds", "seconds_until_loss", "records_lost"),
    *("status", "last_status", "status_reason", "held_status", "held_since"),
    *("worst_topic", "worst_partition"),
)
_SEARCHED = ("consumer_group", "owner", "worst_topic")


@dataclass(frozen=True, slots=True)
class Groups:
    """The rows asked for; of all that was searched the count of each severity, and owners."""

    sheet: Sheet
    tally: tuple[int, ...]
    owners: tuple[str, ...]


def groups(latest: Sequence[Latest], asked: Asked) -> Groups:
    """Of the newest readable snapshots; every filter but `status` narrows the tally too."""
    frame = _joined(latest)
    owners = _owners(frame)
    frame = frame.where(any_contains(frame, _SEARCHED, asked.q))
    if asked.owner:
        frame = frame.where(frame.strings("owner").is_in([asked.owner]))
    severity = frame.numbers("severity").values
    tally = tuple(int(number) for number in np.bincount(severity, minlength=len(WORDS)))
    if asked.status:
        frame = frame.where(severity == WORDS.index(asked.status))
    return Groups(sheet(frame, _order(frame, asked), asked.page, ROWS), tally, owners)


def _joined(latest: Sequence[Latest]) -> Frame:
    """One frame of all, with `cluster`, `severity` and `taken_at` (ms UTC) of each row."""
    frames = []
    for one in latest:
        rows = Frame({name: one.groups.columns[name] for name in _COLUMNS}, len(one.groups))
        frames.append(
            rows.with_columns(
                cluster=Strings.constant(one.cluster, len(rows)),
                severity=severities(rows),
                taken_at=Column.of(np.full(len(rows), one.taken_at, np.int64)),
            )
        )
    joined, *others = frames
    for other in others:
        joined = joined.concat(other)
    return joined


def _owners(frame: Frame) -> tuple[str, ...]:
    words = frame.strings("owner").pruned().categories
    return tuple(sorted(words, key=str.casefold)[:_MOST_OWNERS])


def _order(frame: Frame, asked: Asked) -> Rows:
    severity = frame.numbers("severity")
    oldest, most = (falling(frame.numbers(name)) for name in ("time_lag_seconds", "lag"))
    names = alphabet(frame.strings("consumer_group"))
    first: dict[str, Column] = {
        "severity": severity,
        "group": names,
        "lag": most,
        "time_lag": oldest,
        "loss": frame.numbers("seconds_until_loss"),
        "members": falling(frame.numbers("members")),
        "held": falling(frame.numbers("held_since")),
    }
    key = first[asked.column]
    return ordered([falling(key) if asked.reversed else key, severity, oldest, most, names])
