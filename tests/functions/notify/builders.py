# SPDX-License-Identifier: Apache-2.0
"""Sets of groups and changes, in a line or two."""

from __future__ import annotations

from typing import Any

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import DTYPES, AnyColumn, Frame
from kafka_lag.notify.changes import GroupChange, Row
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
    values: dict[str, Any] = {
        "kind": contract.OPENED,
        "status": contract.ERR,
        "previous_status": contract.OK,
        "since": NOON,
        "incident_since": NOON,
        "row": {},
        **more,
    }
    return GroupChange(cluster="shop", group=group, taken_at=NOON + 2 * MINUTE, **values)


_KINDS = tuple(contract.COLUMNS[contract.GROUPS].items())


def _column(kind: str, values: list[Any]) -> AnyColumn:
    if kind not in DTYPES:
        return Strings.of(values)
    return Column.optional(values, DTYPES[kind])
