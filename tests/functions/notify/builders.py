# SPDX-License-Identifier: Apache-2.0
"""Builds sets of groups and changes in a line or two."""

from __future__ import annotations

from typing import Any

from kafka_lag import contract
from kafka_lag.contract.ids import incident_id
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import DTYPES, AnyColumn, Frame
from kafka_lag.notify.changes import GroupChange, Row
from tests.builders import MINUTE, NOON


def an_incident(group: str, status: str = contract.ERR, **more: Any) -> dict[str, Any]:
    """The columns of an open incident since noon."""
    return {
        "incident_id": incident_id("shop", group, NOON),
        "incident_since": NOON,
        "incident_from": NOON,
        "incident_status": status,
        **{f"incident_{name}": value for name, value in more.items()},
    }


def a_row(group: str, held: str | None = contract.OK, **more: Any) -> Row:
    """A group read now, whose held status began at noon, its incident too if it is not well."""
    bad = held not in (None, contract.OK)
    return {
        "consumer_group": group,
        "status": held,
        "held_status": held,
        "held_since": NOON if held else None,
        **(an_incident(group, str(held)) if bad else {}),
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


def a_change(group: str = "payments", row: Row | None = None, **more: Any) -> GroupChange:
    """A group that went from OK to ERR at noon, seen two minutes later, in an incident."""
    status = more.get("status", contract.ERR)
    change: dict[str, Any] = {
        "cluster": "shop",
        "kind": contract.OPENED,
        "status": status,
        "previous_status": contract.OK,
        "since": NOON,
        "taken_at": NOON + 2 * MINUTE,
        "before": {},
        **more,
    }
    return GroupChange(group=group, row={**an_incident(group, status), **(row or {})}, **change)


_KINDS = tuple(contract.COLUMNS[contract.GROUPS].items())


def _column(kind: str, values: list[Any]) -> AnyColumn:
    if kind not in DTYPES:
        return Strings.of(values)
    return Column.optional(values, DTYPES[kind])
