# SPDX-License-Identifier: Apache-2.0
"""Groups as a table for a terminal; strangers' names cannot colour or move anything on it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from functions import contract
from functions.lag.frame import Frame

_UNKNOWN = "[dim]?[/]"


def shown(name: str) -> str:
    """A name as rich markup that shows exactly its characters, unprintable ones escaped."""
    printable = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
    return escape(printable) or "''"


def groups_table(groups: Frame, taken_at: int) -> Table:
    """One line a group, the most lag first; a question mark is unknown, never zero."""
    time = datetime.fromtimestamp(taken_at / 1000, UTC)
    table = Table(
        title=f"Consumer groups at {time:%H:%M:%S} UTC",
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column("group", overflow="fold", min_width=13)
    table.add_column("state", no_wrap=True)
    table.add_column("members", justify="right")
    table.add_column("lag", justify="right", no_wrap=True)
    table.add_column("worst partition", overflow="fold", min_width=16)
    table.add_column("broker", justify="right")
    table.add_column("remarks", overflow="fold", min_width=10)
    rows = [dict(zip(groups.columns, row, strict=True)) for row in _rows(groups)]
    for row in sorted(rows, key=lambda row: (-(row["lag"] or 0), row["consumer_group"])):
        table.add_row(*_cells(row))
    if not rows:
        table.add_row("[dim]no consumer group yet[/]")
    return table


def _rows(frame: Frame) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_list() for column in frame.columns.values()), strict=True))


def _cells(row: dict[str, Any]) -> list[str]:
    return [
        shown(str(row["consumer_group"])),
        _state(row),
        _number(row["members"]),
        _lag(row["lag"]),
        _worst(row),
        "" if row["worst_leader"] is None else str(row["worst_leader"]),
        _remarks(row),
    ]


def _state(row: dict[str, Any]) -> str:
    state = row["group_state"]
    if state is None:
        return _UNKNOWN
    # PreparingRebalance and CompletingRebalance, as one short word.
    return "[yellow]Rebalancing[/]" if "Rebalanc" in str(state) else shown(str(state))


def _number(value: Any) -> str:
    return _UNKNOWN if value is None else f"{value:,}"


def _lag(value: Any) -> str:
    if value is None:
        return _UNKNOWN
    return "[green]0[/]" if value == 0 else f"[bold]{value:,}[/]"


def _worst(row: dict[str, Any]) -> str:
    if row["worst_topic"] is None:
        return ""
    return f"{shown(str(row['worst_topic']))}-{row['worst_partition']} ({row['max_lag']:,})"


def _remarks(row: dict[str, Any]) -> str:
    remarks = []
    if row["group_type"] in contract.UNSUPPORTED_GROUP_TYPES:
        remarks.append(f"[dim]{row['group_type']} group: no lag[/]")
    if row["status_reason"] is not None:
        remarks.append(str(row["status_reason"]))
    if row["unread_reason"] is not None:
        remarks.append(f"[red]not read: {row['unread_reason']}[/]")
    elif row["partitions_unknown"]:
        remarks.append(f"[red]{row['partitions_unknown']} of {row['partitions']} unread[/]")
    if row["partitions_uncommitted"]:
        remarks.append(f"{row['partitions_uncommitted']} of {row['partitions']} without commit")
    if row["records_lost"]:
        remarks.append(f"[red]{row['records_lost']:,} records lost[/]")
    return ", ".join(remarks)
