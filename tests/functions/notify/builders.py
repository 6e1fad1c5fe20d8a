# SPDX-License-Identifier: Apache-2.0
"""Sets of groups and changes, in a line or two."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import DTYPES, AnyColumn, Frame
from kafka_lag.notify.group_change import GroupChange
from kafka_lag.notify.group_rows import Row
from kafka_lag.notify.open_incidents import Incident
from tests.builders import MINUTE, NOON


def a_row(group: str, held: str | None = contract.OK, **more: Any) -> Row:
    """A group read now, whose held status began at noon, its incident too where it is not well."""
    bad = held not in (None, contract.OK)
    return {
        "consumer_group": group,
        "status": held,
        "held_status": held,
        "held_since": NOON if held else None,
        "incident_since": NOON if bad else None,
        **more,
    }


def a_deleted_group(group: str, **more: Any) -> Row:
    """The last row of a deleted group."""
    return {"consumer_group": group, "status_reason": contract.GONE, **more}


def a_set(*rows: Row) -> Frame:
    """The `groups` dataset of these rows; what a row does not say is unknown."""
    columns = {name: _column(kind, [row.get(name) for row in rows]) for name, kind in _KINDS}
    return Frame(columns, len(rows))


def minutes(*held: str | None) -> dict[int, Frame | None]:
    """A run a minute from noon, of group g with this held status, which began in that minute."""
    return {
        NOON + minute * MINUTE: a_set(a_row("g", status, held_since=NOON + minute * MINUTE))
        for minute, status in enumerate(held)
    }


def a_change(group: str = "payments", **more: Any) -> GroupChange:
    """A group that went from OK to ERR at noon, seen two minutes later."""
    change = GroupChange(
        cluster="shop",
        group=group,
        kind=contract.OPENED,
        status=contract.ERR,
        since=NOON,
        taken_at=NOON + 2 * MINUTE,
        row={},
        incident=Incident(contract.OK, NOON),
    )
    return vary(change, **more)


def vary(change: GroupChange, **more: Any) -> GroupChange:
    """The same with other values, of its incident too: by name, the status as `previous_status`."""
    of_incident = {name: more.pop(name) for name in _OF_INCIDENT & more.keys()}
    if "previous_status" in more:
        of_incident["status"] = more.pop("previous_status")
    return replace(change, incident=replace(change.incident, **of_incident), **more)


# Of both a change and its incident are `status` and `since`.
_OF_INCIDENT = {each.name for each in fields(Incident)} - {"status", "since"}
_KINDS = tuple(contract.COLUMNS[contract.GROUPS].items())


def _column(kind: str, values: list[Any]) -> AnyColumn:
    if kind not in DTYPES:
        return Strings.of(values)
    return Column.optional(values, DTYPES[kind])
