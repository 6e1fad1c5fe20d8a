# SPDX-License-Identifier: Apache-2.0
"""All groups of a snapshot as a table for a terminal, those that need somebody on top.

A question mark is unknown, never zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from kafka_lag import contract
from kafka_lag.cli.terminal import printable
from kafka_lag.formatting import format_duration, format_short_duration
from kafka_lag.lag.columns import Rows
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.model import Snapshot

# A row of `groups`, and in `worst_status` the status of its worst partition.
Row: TypeAlias = Mapping[str, Any]

_COLUMNS = (
    *("group", "status", "lag", "time lag", "to loss", "state", "members"),
    *("worst partition", "broker", "remarks"),
)
_RIGHT = ("lag", "time lag", "to loss", "members", "broker")
# Columns that may be left out, those first that get room first; the others are always there.
_OPTIONAL = ("remarks", "worst partition", "state", "members", "broker")
# What may be shortened for another column, and to what width.
_SHORTENED = {"group": 14, "state": 6, "worst partition": 15, "remarks": 12}
_LEAST_GROUP = 8
_COLOURS = {contract.OK: "green", contract.WARN: "yellow", contract.ERR: "red"}
# What ERR stands for in a group.
_ERROR_CAUSES = (contract.STOP, contract.STALL, contract.REWIND)
# A status that is only the last known is as bad as it was, but no proof that all is well.
_RANKS = {contract.ERR: 0, contract.WARN: 1}
_RANK_UNSURE, _RANK_OK = 2, 3
_DAY_SECONDS = 86_400.0


def groups_table(
    snapshot: Snapshot, width: int = 120, horizon_seconds: float = _DAY_SECONDS
) -> Table:
    """A line a group: the worst status first, then the longest time lag, then the most lag.

    All have their group, status, lag, time lag and time to a loss. As far as there is room for
    them in `width` come remarks, worst partition, state, members and broker, in this order, those
    last that are empty throughout; names, state and remarks are shortened for them. A loss nearer
    than the horizon stands out.
    """
    time = datetime.fromtimestamp(snapshot.taken_at / 1000, UTC)
    table = Table(
        title=f"Consumer groups at {time:%H:%M:%S} UTC",
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    rows = sorted(_rows(snapshot), key=_order)
    lines = [cells(row, horizon_seconds) for row in rows]
    widths = _fit_widths(lines, width)
    # A line a group: long names end in an ellipsis, and are whole in JSON and in the snapshot.
    for name, column in widths.items():
        justify: Literal["left", "right"] = "right" if name in _RIGHT else "left"
        table.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis", width=column)
    for line in lines:
        worst = line["worst partition"]
        line["worst partition"] = _cut_start(worst, widths.get("worst partition", 0))
        table.add_row(*(line[name] for name in widths))
    if not lines:
        table.caption = "no consumer group that the filters allow"
    elif any(row["status"] is None and row["unread_reason"] is None and row["lag"] for row in rows):
        table.caption = "? a status takes two runs"
    return table


def cells(row: Row, horizon_seconds: float) -> dict[str, Text]:
    """The cells by the names of their columns, in the order of the table."""
    leader = row["worst_leader"]
    return {
        "group": Text(printable(row["consumer_group"])),
        "status": _status(row),
        "lag": _lag(row),
        "time lag": _time_lag(row),
        "to loss": _to_loss(row, horizon_seconds),
        "state": _state(row),
        "members": _unknown() if row["members"] is None else Text(f"{row['members']:,}"),
        "worst partition": _worst_partition(row),
        "broker": Text("" if leader is None else str(leader)),
        "remarks": Text(", ").join(_remarks(row)),
    }


def _rows(snapshot: Snapshot) -> list[dict[str, Any]]:
    groups = snapshot.groups
    worst = snapshot.group_partitions.take(_locate_worst(groups, snapshot.group_partitions))
    groups = groups.with_columns(worst_status=worst.strings("last_status"))
    values = zip(*(column.to_list() for column in groups.columns.values()), strict=True)
    return [dict(zip(groups.columns, row, strict=True)) for row in values]


def _locate_worst(groups: Frame, rows: Frame) -> Rows:
    worst = groups.with_columns(
        topic=groups.strings("worst_topic"), partition_id=groups.numbers("worst_partition")
    )
    return locate(worst, rows, ("consumer_group", "topic", "partition_id"))


def _order(row: Row) -> tuple[int, float, int, str]:
    word = _status_word(row)
    unsure = _RANK_OK if word == contract.OK else _RANK_UNSURE
    rank = _RANKS.get(word.rstrip("?"), unsure)
    return rank, -(row["time_lag_seconds"] or 0), -(row["lag"] or 0), row["consumer_group"]


def _status_word(row: Row) -> str:
    """The group's status; with a question mark the last known one, if there is none now."""
    return str(row["status"] or f"{row['last_status'] or ''}?")


def _status(row: Row) -> Text:
    """The word, and beside it what it stands for or why it is not known."""
    word, worst = _status_word(row), row["worst_status"]
    status = Text(word, _COLOURS.get(word.rstrip("?"), "dim"))
    why = (worst if worst in _ERROR_CAUSES else None, row["status_reason"], row["unread_reason"])
    return Text(" ").join([status, *(Text(reason) for reason in why if reason)])


def _lag(row: Row) -> Text:
    if row["lag"] is None:
        return _unknown()
    # A zero is no good sign where unread records have no commit to count from.
    uncounted = row["partitions_uncommitted"] or row["unread_reason"] is not None
    caught_up = row["lag"] == 0 and not uncounted
    return Text("0", "green") if caught_up else Text(f"{row['lag']:,}", "bold")


def _time_lag(row: Row) -> Text:
    """Rounded so that neither a least value nor an error is shown better than it is."""
    seconds, error = row["time_lag_seconds"], row["time_lag_error_seconds"]
    # At least nothing says nothing.
    if seconds is None or (error is None and not seconds):
        return _unknown()
    if error is None:
        return Text(f"≥ {format_duration(seconds, math.floor, precise=True)}")
    age = format_duration(seconds, precise=True) if seconds or error else "0"
    return Text(
        f"{age} ± {format_short_duration(error, math.ceil, precise=True)}" if error else age
    )


def _to_loss(row: Row, horizon_seconds: float) -> Text:
    seconds = row["seconds_until_loss"]
    if seconds is None:
        return _unknown()
    if seconds >= contract.NO_LOSS_SECONDS:
        return Text()
    left = f"in {format_short_duration(seconds, precise=True)}" if seconds >= 1 else "now"
    return Text(left, "bold red" if seconds < horizon_seconds else "")


def _state(row: Row) -> Text:
    if row["group_state"] is None:
        return _unknown()
    # Kafka has a word for each step of it, by two protocols.
    if row["group_state"] in contract.REBALANCING_STATES:
        return Text("Rebalancing", "yellow")
    return Text(printable(row["group_state"]))


def _worst_partition(row: Row) -> Text:
    if row["worst_topic"] is None:
        return Text()
    return Text(f"{printable(row['worst_topic'])}-{row['worst_partition']}")


def _remarks(row: Row) -> list[Text]:
    """The worst first, as the end may not fit."""
    parts, remarks = row["partitions"], []
    if row["group_type"] in contract.UNSUPPORTED_GROUP_TYPES:
        remarks.append(Text(f"{row['group_type']} group: no lag", "dim"))
    elif parts == 0 and row["unread_reason"] is None and row["status_reason"] is None:
        remarks.append(Text("no commit, owns nothing", "dim"))
    if row["records_lost"]:
        remarks.append(Text(f"{row['records_lost']:,} lost", "red"))
    if row["partitions_unknown"]:
        remarks.append(Text(f"{row['partitions_unknown']} of {parts} unread", "red"))
    if row["partitions_uncommitted"]:
        remarks.append(Text(f"{row['partitions_uncommitted']} of {parts} uncommitted"))
    return remarks


def _unknown() -> Text:
    return Text("?", "dim")


def _cut_start(partition: Text, width: int) -> Text:
    """Cut on the left where it is too long: its number is at the end."""
    if partition.cell_len <= width or not width:
        return partition
    return Text.assemble("…", partition[1 - width :])


def _fit_widths(lines: Sequence[Mapping[str, Text]], width: int) -> dict[str, int]:
    """The columns that there is room for, and how wide they are."""
    natural = {
        name: max([len(name), *(line[name].cell_len for line in lines)]) for name in _COLUMNS
    }
    least = {name: min(wide, _SHORTENED.get(name, wide)) for name, wide in natural.items()}
    filled = {name for line in lines for name, cell in line.items() if cell}
    chosen = set(_COLUMNS).difference(_OPTIONAL)
    for name in sorted(_OPTIONAL, key=lambda name: name not in filled):
        if _total_width(least[column] for column in (*chosen, name)) <= width:
            chosen.add(name)
    widths = {name: wide for name, wide in natural.items() if name in chosen}
    shortened = [name for name in _SHORTENED if name in widths]
    while _total_width(widths.values()) > width:
        longest = max(shortened, key=lambda name: widths[name] - least[name])
        if widths[longest] <= least[longest]:
            break
        widths[longest] -= 1
    missing = max(0, _total_width(widths.values()) - width)
    widths["group"] = max(min(widths["group"], _LEAST_GROUP), widths["group"] - missing)
    return widths


def _total_width(widths: Iterable[int]) -> int:
    # A column is followed by a blank and the box's own; the box begins with one.
    return sum(column + 2 for column in widths) + 1
