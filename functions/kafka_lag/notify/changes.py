# SPDX-License-Identifier: Apache-2.0
"""Changes of a run: held statuses other than those last reported, troubles that began or ended
whatever the status, skipped records, and deleted groups.

Nothing here reads or sends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Mask
from kafka_lag.lag.frame import Frame
from kafka_lag.notify.gone_groups import (
    end_unwatched,
    find_deletion,
    follow_missing,
    is_unwatched,
)
from kafka_lag.notify.group_change import GroupChange
from kafka_lag.notify.group_rows import ComparedRun, Row
from kafka_lag.notify.incident_lifecycle import follow_group
from kafka_lag.notify.open_incidents import Incident, OpenIncidents, Reported
from kafka_lag.notify.troubles import TROUBLES

_UNHEALTHY = [status for status, rank in contract.GROUP_STATUS_VALUES.items() if rank > 0]


@dataclass(frozen=True, slots=True)
class RunChanges:
    """Changes of one run, incidents open after them, and how many groups there are."""

    changes: tuple[GroupChange, ...]
    incidents: OpenIncidents
    groups: int


def find_changes(
    reported: Reported, taken_at: int, groups: Frame, read_groups: Callable[[int], Frame | None]
) -> RunChanges:
    """Compares the `groups` of the run of `taken_at` with what was reported last.

    `read_groups` gives those of earlier runs by time, None for one that cannot be read any more: of
    a deleted group only these have the lag. The incident of a group whose held status is unknown
    stays as it is, that of a group without a row until it is missing for MISSING_MS.
    """
    rows_at = cache(lambda at: _rows_by_group(read_groups(at)))
    run = ComparedRun(reported.cluster, taken_at, reported.taken_at, rows_at)
    changes: list[GroupChange] = []
    incidents: dict[str, Incident] = {}
    for group, incident in _list_missing(groups, reported.incidents):
        found, after = follow_missing(run, group, incident)
        changes += found
        if after is not None:
            incidents[group] = after
    count = len(groups) + len(changes)
    for row in _list_candidates(groups, reported.incidents):
        group = row["consumer_group"]
        known = reported.incidents.get(group)
        if row["status_reason"] in contract.LAST_ROW_REASONS:
            changes += find_deletion(run, row, known)
        elif is_unwatched(row):
            changes += end_unwatched(run, row, known)
        else:
            found, after = follow_group(run, row, known)
            changes += found
            if after is not None:
                incidents[group] = after
    return RunChanges(tuple(changes), incidents, count)


def _rows_by_group(groups: Frame | None) -> dict[str, Row]:
    return {} if groups is None else {row["consumer_group"]: row for row in groups.to_dicts()}


def _list_missing(groups: Frame, incidents: OpenIncidents) -> list[tuple[str, Incident]]:
    """Open incidents of groups without a row."""
    names = groups.strings("consumer_group")
    present = set(names.take(np.flatnonzero(names.is_in(incidents))).to_list())
    return [(group, each) for group, each in incidents.items() if group not in present]


def _list_candidates(groups: Frame, incidents: OpenIncidents) -> Sequence[Row]:
    """Rows that may be a change: of groups not well, with an open incident, or deleted."""
    names = groups.strings("consumer_group")
    candidates: Mask = groups.strings("held_status").is_in(_UNHEALTHY)
    candidates |= groups.strings("status_reason").is_in(
        [*contract.LAST_ROW_REASONS, contract.TOPIC_UNWATCHED]
    )
    candidates |= names.is_in(incidents)
    candidates |= groups.numbers("skipped_at").known
    for trouble in TROUBLES:
        candidates |= groups.numbers(trouble.held_since).known
    return groups.take(np.flatnonzero(candidates & names.known)).to_dicts()
