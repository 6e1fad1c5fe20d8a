# SPDX-License-Identifier: Apache-2.0
"""A group's status over time: since when it is so, what has lasted, and since when all is not well.

All memory is in the newest snapshot's row of the group.
"""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Strings
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.rollup import GROUP_STATUSES
from kafka_lag.lag.rules import Rules


def track_incidents(groups: Frame, before: Snapshot, taken_at: int, rules: Rules) -> Frame:
    """Adds last_status, status_since, held_status, held_since and incident_since (ms UTC).

    A status is held once it lasted `rules.hold` runs; a run in which it is unknown neither ends
    nor proves it. A group that was gone starts anew, and no earlier row counts as OK.
    """
    old = _before(groups, before)
    status, last = _codes(groups, "status"), _codes(old, "last_status")
    now = Column.of(np.full(len(groups), taken_at, np.int64))
    same = ~status.known | _equal(status, last)
    since = old.numbers("status_since").only(same).or_else(now.only(status.known))
    lasts = taken_at - since.values >= (rules.hold - 1) * rules.interval_ms
    lasted, earlier = status.only(since.known & lasts), _codes(old, "held_status")
    kept = ~lasted.known | _equal(lasted, earlier)
    held_since = old.numbers("held_since").only(kept).or_else(since.only(lasted.known))
    held_status = lasted.or_else(earlier)
    return groups.with_columns(
        last_status=Strings(status.or_else(last), GROUP_STATUSES),
        status_since=since,
        held_status=Strings(held_status, GROUP_STATUSES),
        held_since=held_since,
        incident_since=_incident(old, status, held_status, held_since, taken_at - rules.window_ms),
    )


def _incident(
    old: Frame, status: Column, held_status: Column, held_since: Column, settled_by: int
) -> Column:
    """When a held OK was left; the same until OK, held for the window, is seen to be so still."""
    well = _equal(status, held_status) & (held_status.values == 0)
    over = well & held_since.known & (held_since.values <= settled_by)
    bad = held_status.known & (held_status.values > 0)
    return old.numbers("incident_since").only(~over).or_else(held_since.only(bad))


def _before(groups: Frame, before: Snapshot) -> Frame:
    gone = before.groups.strings("status_reason").is_in([contract.GONE])
    old = before.groups.where(~gone)
    return old.take(locate(groups, old, ("consumer_group",)))


def _codes(groups: Frame, name: str) -> Column:
    """Statuses as numbers, 0 for OK."""
    return groups.strings(name).codes_in(GROUP_STATUSES)


def _equal(one: Column, other: Column) -> Mask:
    mask: Mask = one.known & other.known & (one.values == other.values)
    return mask
