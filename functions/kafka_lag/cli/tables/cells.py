# SPDX-License-Identifier: Apache-2.0
"""What the table says of one group; a question mark is unknown, never zero."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

from rich.text import Text

from kafka_lag import contract
from kafka_lag.cli.tables.durations import in_one, in_two
from kafka_lag.cli.tables.names import printable

# A row of `groups`, and in `worst_status` the status of the partition that is to blame.
Row: TypeAlias = Mapping[str, Any]

_COLOURS = {contract.OK: "green", contract.WARN: "yellow", contract.ERR: "red"}
# What ERR stands for in a group.
_BLAME = (contract.STOP, contract.STALL, contract.REWIND)


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
        "worst partition": _worst(row),
        "broker": Text("" if leader is None else str(leader)),
        "remarks": Text(", ").join(_remarks(row)),
    }


def status_word(row: Row) -> str:
    """The group's status; with a question mark the last known one, if there is none now."""
    return str(row["status"] or f"{row['last_status'] or ''}?")


def _status(row: Row) -> Text:
    """The word, and beside it what it stands for or why it is not known."""
    word, blame = status_word(row), row["worst_status"]
    status = Text(word, _COLOURS.get(word.rstrip("?"), "dim"))
    why = (blame if blame in _BLAME else None, row["status_reason"], row["unread_reason"])
    return Text(" ").join([status, *(Text(reason) for reason in why if reason)])


def _lag(row: Row) -> Text:
    if row["lag"] is None:
        return _unknown()
    # Nothing to be glad of where unread records have no commit to count from.
    glad = row["lag"] == 0 and not row["partitions_uncommitted"] and row["unread_reason"] is None
    return Text("0", "green") if glad else Text(f"{row['lag']:,}", "bold")


def _time_lag(row: Row) -> Text:
    """Rounded so that neither a least value nor an error is told better than it is."""
    seconds, error = row["time_lag_seconds"], row["time_lag_error_seconds"]
    # At least nothing says nothing.
    if seconds is None or (error is None and not seconds):
        return _unknown()
    if error is None:
        return Text(f"≥ {in_two(seconds, math.floor)}")
    told = in_two(seconds) if seconds or error else "0"
    return Text(f"{told} ± {in_one(error, math.ceil)}" if error else told)


def _to_loss(row: Row, horizon_seconds: float) -> Text:
    seconds = row["seconds_until_loss"]
    if seconds is None:
        return _unknown()
    if seconds >= contract.NO_LOSS_SECONDS:
        return Text()
    told = f"in {in_one(seconds, math.floor)}" if seconds >= 1 else "now"
    return Text(told, "bold red" if seconds < horizon_seconds else "")


def _state(row: Row) -> Text:
    if row["group_state"] is None:
        return _unknown()
    # Kafka has a word for each step of it, by two protocols.
    if row["group_state"] in contract.REBALANCING_STATES:
        return Text("Rebalancing", "yellow")
    return Text(printable(row["group_state"]))


def _worst(row: Row) -> Text:
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
