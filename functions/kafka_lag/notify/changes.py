# SPDX-License-Identifier: Apache-2.0
"""The differences between two runs of each group.

The rows hold each group's incident and troubles; this module does not decide what an incident is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kafka_lag import contract
from kafka_lag.contract.ids import incident_id, message_id
from kafka_lag.lag.columns import Mask
from kafka_lag.lag.frame import Frame

# One group's values by column of `groups`, None for unknown.
Row: TypeAlias = Mapping[str, Any]
_RANK = contract.GROUP_STATUS_VALUES
_OF_STATUS = (
    contract.OPENED,
    contract.WORSE,
    contract.BETTER,
    contract.RESOLVED,
    contract.GONE,
)


@dataclass(frozen=True, slots=True)
class Trouble:
    """A fault that a group may have beside its status.

    `name` is its name in columns. `begun` and `ended` are the kinds of messages about it.
    """

    name: str
    begun: str
    ended: str

    @property
    def held_since(self) -> str:
        """Returns the column with its beginning, which is known while the trouble is held."""
        return f"held_{self.name}_since"


LOSS = Trouble(contract.TROUBLE_LOSS, contract.LOSS_BEGUN, contract.LOSS_ENDED)
PROMISE = Trouble(contract.TROUBLE_SLA_BROKEN, contract.PROMISE_BROKEN, contract.PROMISE_KEPT)
RISK = Trouble(contract.TROUBLE_AT_RISK, contract.LOSS_NEAR, contract.LOSS_AVERTED)
TROUBLES = (LOSS, PROMISE, RISK)
_ENDED = {trouble.ended: trouble for trouble in TROUBLES}
# Kinds of changes that end an incident or a trouble.
ENDS = (contract.RESOLVED, contract.CAUGHT_UP, *_ENDED)


@dataclass(frozen=True, slots=True)
class GroupChange:
    """One change of one group in the run of `taken_at`; times in ms UTC.

    `status` is the reported one, or STATUS_GONE. `since` is the beginning of the condition that the
    kind names. If a trouble ended, it is the last run that saw the trouble. `row` is the group's
    row; if the group is gone, its last row. `before` is its row in the earlier run, empty if it has
    none.
    """

    cluster: str
    group: str
    kind: str
    status: str
    previous_status: str
    since: int
    taken_at: int
    row: Row
    before: Row

    @property
    def changes_status(self) -> bool:
        """Returns True if the status changed, or the group is gone."""
        return self.kind in _OF_STATUS

    @property
    def incident(self) -> Row:
        """Returns the row that holds the incident, else the group's earlier row."""
        return self.row if self.row.get("incident_id") else self.before

    @property
    def incident_id(self) -> str:
        """Returns the id that all messages of the incident share.

        A change without an incident has an id of its own.
        """
        known: str | None = self.incident.get("incident_id")
        return known or incident_id(self.cluster, self.group, self.since)

    @property
    def incident_since(self) -> int:
        """Returns when the incident began, ms UTC; the time stays as it was first published."""
        known: int | None = self.incident.get("incident_since")
        return self.since if known is None else known

    @property
    def ended(self) -> Trouble | None:
        """Returns the trouble that this change ends, else None."""
        return _ENDED.get(self.kind)

    @property
    def ended_since(self) -> int | None:
        """Returns when the trouble that ended had begun, ms UTC."""
        return self.before.get(self.ended.held_since) if self.ended else None

    @property
    def message_id(self) -> str:
        """Returns this message's own id, the same whenever the change is found again."""
        what = self.status if self.changes_status else self.kind
        since = self.since if self.ended_since is None else self.ended_since
        return message_id(self.cluster, self.group, what, since)

    @property
    def is_catching_up(self) -> bool:
        """Returns True if the group is OK again but still works off a backlog."""
        return self.kind == contract.RESOLVED and is_open(self.row)


def find_changes(
    cluster: str, taken_at: int, groups: Frame, before: Frame | None
) -> list[GroupChange]:
    """Compares the groups of the run of `taken_at` with those of an earlier run.

    Without an earlier run every group counts as OK so far.
    """
    marked = _list_marked(groups)
    if before is not None:
        marked |= _list_marked(before)
    rows, rows_before = _find_rows(groups, marked), _find_rows(before, marked)
    # The last row of a deleted group is not compared.
    rows_before = {
        group: row
        for group, row in rows_before.items()
        if row["status_reason"] not in contract.LAST_ROW_REASONS
    }
    changes: list[GroupChange] = []
    for group in sorted(marked):
        difference = _Difference(cluster, group, taken_at, rows_before.get(group, {}))
        changes += difference.compare(rows.get(group))
    return changes


def is_open(row: Row) -> bool:
    """Returns True if the row has an incident that has not ended."""
    return row.get("incident_id") is not None and row.get("incident_until") is None


@dataclass(frozen=True, slots=True)
class _Difference:
    """One group in two runs; `before` is its row in the earlier one."""

    cluster: str
    group: str
    taken_at: int
    before: Row

    def compare(self, row: Row | None) -> Iterator[GroupChange]:
        """Yields the group's changes; `row` is None if the later run has no row of the group."""
        was_open = is_open(self.before)
        if row is None:
            if was_open:
                yield self._end({**self.before, "status_reason": None})
        elif row["status_reason"] in contract.LAST_ROW_REASONS:
            if was_open or self.before.get("lag"):
                reason = {"status_reason": row["status_reason"]}
                yield self._end({**row, **self.before, **reason})
        elif row["status_reason"] == contract.TOPIC_UNWATCHED and not is_open(row):
            if was_open:
                yield self._end(row)
        elif was_open and row["incident_id"] not in (None, self.before["incident_id"]):
            # The first incident ended, and the second began, in runs that cannot be read.
            yield from self._compare(_without_incident(row))
            yield from _Difference(self.cluster, self.group, self.taken_at, {})._compare(row)
        else:
            yield from self._compare(row)

    def _compare(self, row: Row) -> Iterator[GroupChange]:
        changes = [*self._compare_troubles(row), *self._compare_status(row)]
        yield from changes
        is_over = is_open(self.before) and not is_open(row)
        if is_over and not any(each.kind in ENDS for each in changes):
            yield self._change(contract.CAUGHT_UP, row, row["incident_until"])
        at = row["skipped_at"]
        seen = self.before.get("taken_at")
        is_new = at is not None and (at == self.taken_at if seen is None else at > seen)
        if is_new and not (is_open(row) or is_over):
            yield self._change(contract.SKIPPED, row, at)

    def _compare_troubles(self, row: Row) -> Iterator[GroupChange]:
        for trouble in TROUBLES:
            old, new = _find_held(trouble, self.before), _find_held(trouble, row)
            if old == new:
                continue
            if old is not None and not (trouble is RISK and _has_lost(row)):
                seen_at = self.before.get(f"{trouble.name}_seen_at")
                yield self._change(trouble.ended, row, seen_at)
            if new is not None:
                yield self._change(trouble.begun, row, new)

    def _compare_status(self, row: Row) -> Iterator[GroupChange]:
        previous, status = _find_status(self.before), _find_status(row)
        if status == previous:
            return
        if status == contract.OK:
            kind = contract.RESOLVED
        elif previous == contract.OK:
            kind = contract.OPENED
        else:
            kind = contract.WORSE if _RANK[status] > _RANK[previous] else contract.BETTER
        yield self._change(kind, row, row["held_since"])

    def _end(self, row: Row) -> GroupChange:
        return self._change(contract.GONE, row, None, contract.STATUS_GONE)

    def _change(
        self, kind: str, row: Row, since: int | None, status: str | None = None
    ) -> GroupChange:
        previous = _find_status(self.before)
        status = status or _find_status(row)
        return GroupChange(
            cluster=self.cluster,
            group=self.group,
            kind=kind,
            status=status,
            previous_status=previous if kind in _OF_STATUS else status,
            since=self.taken_at if since is None else since,
            taken_at=self.taken_at,
            row=row,
            before=self.before,
        )


def _find_status(row: Row) -> str:
    return (row["incident_status"] or contract.OK) if is_open(row) else contract.OK


def _find_held(trouble: Trouble, row: Row) -> int | None:
    """Returns since when a trouble is held, ms UTC; None if messages do not report it.

    A near loss is reported at most once per incident, and not beside a loss.
    """
    since: int | None = row.get(trouble.held_since)
    if trouble is RISK and (since != row.get("incident_at_risk_since") or _has_lost(row)):
        return None
    return since


def _has_lost(row: Row) -> bool:
    return row.get(LOSS.held_since) is not None or bool(row.get("incident_lost"))


def _without_incident(row: Row) -> Row:
    names = [name for name in row if name.startswith("incident_")]
    return {**row, **dict.fromkeys([*names, *(each.held_since for each in TROUBLES)])}


def _list_marked(groups: Frame) -> set[str]:
    """Returns the names of groups with an incident, a skip or a last row."""
    names = groups.strings("consumer_group")
    marked: Mask = groups.strings("incident_id").known | groups.numbers("skipped_at").known
    marked = marked | groups.strings("status_reason").is_in(contract.LAST_ROW_REASONS)
    return set(names.take(np.flatnonzero(marked & names.known)).to_list())


def _find_rows(groups: Frame | None, names: set[str]) -> dict[str, Row]:
    if groups is None:
        return {}
    rows = np.flatnonzero(groups.strings("consumer_group").is_in(names))
    return {row["consumer_group"]: row for row in groups.take(rows).to_dicts()}
