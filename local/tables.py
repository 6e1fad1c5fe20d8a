# SPDX-License-Identifier: Apache-2.0
"""Groups as a table for a terminal; strangers' names cannot colour or move anything on it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from functions import contract
from functions.lag.frame import Frame

_COLUMNS: tuple[tuple[str, Literal["left", "right"]], ...] = (
    ("group", "left"),
    ("state", "left"),
    ("members", "right"),
    ("lag", "right"),
    ("worst partition", "left"),
    ("broker", "right"),
    ("remarks", "left"),
)
_FLEXIBLE, _LEAST = (0, 4, 6), 8
_UNKNOWN = "[dim]?[/]"


def shown(name: str) -> str:
    """A name as rich markup that shows exactly its characters, unprintable ones escaped."""
    printable = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
    return escape(printable) or "''"


def groups_table(groups: Frame, taken_at: int, width: int = 120) -> Table:
    """One line a group, the most lag first; a question mark is unknown, never zero."""
    time = datetime.fromtimestamp(taken_at / 1000, UTC)
    table = Table(
        title=f"Consumer groups at {time:%H:%M:%S} UTC",
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    rows = [dict(zip(groups.columns, row, strict=True)) for row in _rows(groups)]
    rows.sort(key=lambda row: (-(row["lag"] or 0), row["consumer_group"]))
    cells = [_cells(row) for row in rows]
    # A line a group: long names end in an ellipsis, and are whole in JSON and in the snapshot.
    for (name, justify), column in zip(_COLUMNS, _widths(cells, width), strict=True):
        table.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis", width=column)
    for line in cells:
        table.add_row(*line)
    if not rows:
        table.caption = "no consumer group that the filters allow"
    return table


def _widths(cells: list[list[str]], width: int) -> list[int]:
    """As wide as the cells need; what does not fit is taken from the names and remarks."""
    columns = [[name, *(line[i] for line in cells)] for i, (name, _) in enumerate(_COLUMNS)]
    widths = [max(Text.from_markup(cell).cell_len for cell in column) for column in columns]
    # A column is followed by a blank and the box's own; the box begins with one.
    while sum(widths) + 2 * len(widths) + 1 > width and max(widths[i] for i in _FLEXIBLE) > _LEAST:
        widest = max(_FLEXIBLE, key=lambda i: widths[i])
        widths[widest] -= 1
    return widths


def _rows(frame: Frame) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_list() for column in frame.columns.values()), strict=True))


def _cells(row: dict[str, Any]) -> list[str]:
    return [
        shown(str(row["consumer_group"])),
        _state(row),
        _number(row["members"]),
        _lag(row),
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


def _lag(row: dict[str, Any]) -> str:
    if row["lag"] is None:
        return _UNKNOWN
    # Nothing to be glad of where unread records have no commit to count from.
    glad = row["lag"] == 0 and not row["partitions_uncommitted"] and row["unread_reason"] is None
    return "[green]0[/]" if glad else f"[bold]{row['lag']:,}[/]"


def _worst(row: dict[str, Any]) -> str:
    if row["worst_topic"] is None:
        return ""
    return f"{row['max_lag']:,} in {shown(str(row['worst_topic']))}-{row['worst_partition']}"


def _remarks(row: dict[str, Any]) -> str:
    """The worst first, as the end may not fit."""
    parts, remarks = row["partitions"], []
    if row["group_type"] in contract.UNSUPPORTED_GROUP_TYPES:
        remarks.append(f"[dim]{row['group_type']} group: no lag[/]")
    elif parts == 0 and row["unread_reason"] is None and row["status_reason"] is None:
        remarks.append("[dim]no commit, owns nothing[/]")
    if row["status_reason"] is not None:
        remarks.append(str(row["status_reason"]))
    if row["records_lost"]:
        remarks.append(f"[red]{row['records_lost']:,} lost[/]")
    if row["unread_reason"] is not None:
        remarks.append(f"[red]not read: {row['unread_reason']}[/]")
    elif row["partitions_unknown"]:
        remarks.append(f"[red]{row['partitions_unknown']} of {parts} unread[/]")
    if row["partitions_uncommitted"]:
        remarks.append(f"{row['partitions_uncommitted']} of {parts} uncommitted")
    return ", ".join(remarks)
