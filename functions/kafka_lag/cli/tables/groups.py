# SPDX-License-Identifier: Apache-2.0
"""All groups of a snapshot as a table, those that need somebody on top."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from kafka_lag import contract
from kafka_lag.cli.tables.cells import Row, cells, status_word
from kafka_lag.cli.tables.widths import fitted
from kafka_lag.lag.columns import Rows
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.model import Snapshot

_COLUMNS = (
    *("group", "status", "lag", "time lag", "to loss", "state", "members"),
    *("worst partition", "broker", "remarks"),
)
_RIGHT = ("lag", "time lag", "to loss", "members", "broker")
# A status that is only the last known is as bad as it was, but no proof that all is well.
_RANKS = {contract.ERR: 0, contract.WARN: 1}
_UNSURE, _WELL = 2, 3
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
    widths = dict(zip(_COLUMNS, fitted(lines, _COLUMNS, width), strict=True))
    kept = {name: column for name, column in widths.items() if column}
    # A line a group: long names end in an ellipsis, and are whole in JSON and in the snapshot.
    for name, column in kept.items():
        justify: Literal["left", "right"] = "right" if name in _RIGHT else "left"
        table.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis", width=column)
    for line in lines:
        line["worst partition"] = _with_end(line["worst partition"], widths["worst partition"])
        table.add_row(*(line[name] for name in kept))
    if not lines:
        table.caption = "no consumer group that the filters allow"
    elif any(row["status"] is None and row["unread_reason"] is None and row["lag"] for row in rows):
        table.caption = "? a status takes two runs"
    return table


def _rows(snapshot: Snapshot) -> list[dict[str, Any]]:
    groups = snapshot.groups
    blame = snapshot.group_partitions.take(_worst(groups, snapshot.group_partitions))
    groups = groups.with_columns(worst_status=blame.strings("last_status"))
    values = zip(*(column.to_list() for column in groups.columns.values()), strict=True)
    return [dict(zip(groups.columns, row, strict=True)) for row in values]


def _worst(groups: Frame, rows: Frame) -> Rows:
    worst = groups.with_columns(
        topic=groups.strings("worst_topic"), partition_id=groups.numbers("worst_partition")
    )
    return locate(worst, rows, ("consumer_group", "topic", "partition_id"))


def _order(row: Row) -> tuple[int, float, int, str]:
    word = status_word(row)
    unsure = _WELL if word == contract.OK else _UNSURE
    rank = _RANKS.get(word.rstrip("?"), unsure)
    return rank, -(row["time_lag_seconds"] or 0), -(row["lag"] or 0), row["consumer_group"]


def _with_end(partition: Text, width: int) -> Text:
    """Cut on the left where it is too long: its number is at the end."""
    if partition.cell_len <= width or not width:
        return partition
    return Text.assemble("…", partition[1 - width :])
