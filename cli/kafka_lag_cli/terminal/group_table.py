# SPDX-License-Identifier: Apache-2.0
"""All groups of a snapshot as a table for a terminal, those that need somebody on top.

A question mark is unknown, never zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime

from rich.table import Table
from rich.text import Text

from kafka_lag import contract
from kafka_lag.lag.model import Snapshot
from kafka_lag.wording.formatting import (
    format_duration,
    format_short_duration,
    format_sla_used,
    format_time_left,
)
from kafka_lag.wording.words import (
    ALWAYS_REBALANCING,
    NO_SHARED_LAG,
    breaks_sla,
    find_word,
    is_always_rebalancing,
    lacks_shared_lag,
    name_troubles,
)
from kafka_lag_cli.terminal.group_rows import (
    Row,
    Selection,
    select_groups,
    sla_used,
    status_word,
)
from kafka_lag_cli.terminal.text import ColumnLayout, printable

_LAYOUT = ColumnLayout(
    names=(
        *("group", "status", "lag", "time lag", "sla", "to loss", "members", "state"),
        *("worst partition", "broker", "notes"),
    ),
    right=("lag", "time lag", "sla", "to loss", "members", "broker"),
    shortened={"group": 8, "status": 16, "notes": 8},
    wide=("members", "state", "worst partition", "broker"),
    optional=("notes",),
    # Names of groups begin and end alike; a partition's number is at the end.
    cut_in_middle=("group", "worst partition"),
)
STATUS_COLOURS = {contract.OK: "green", contract.WARN: "yellow", contract.ERR: "red"}
# The trend of a lag over the last five runs.
_ARROWS = {contract.GROWING: " ↑", contract.STEADY: " →", contract.SHRINKING: " ↓"}
_MINUTE, _DAY_SECONDS = 60.0, 86_400.0
_EVERYTHING = Selection()


def groups_table(
    snapshot: Snapshot,
    width: int = 120,
    horizon_seconds: float = _DAY_SECONDS,
    selection: Selection = _EVERYTHING,
    notes: Mapping[str, str] | None = None,
    *,
    has_filters: bool = False,
    wide: bool = False,
) -> Table:
    """Returns a table with a line for each group, by default in the order of `rank_urgency`.

    `wide` adds members, state, worst partition and broker. How much of the SLA is used is shown if
    any group has one. A loss nearer than the horizon stands out, and so does a broken SLA.
    `notes` are of who reads the table, by group. With `has_filters` there may be more groups.
    """
    chosen = select_groups(snapshot, selection)
    added = notes or {}
    lines = [cells(row, horizon_seconds, added.get(row["consumer_group"])) for row in chosen.rows]
    captions = []
    if not chosen.total:
        captions.append(
            "no consumer group that the filters allow"
            if has_filters
            else "the cluster lists no groups"
        )
    elif not lines:
        captions.append(f"none of {chosen.total} groups is like that")
    elif len(lines) < chosen.matching:
        captions.append(f"and {chosen.matching - len(lines)} more")
    if any(_awaits_status(row) for row in chosen.rows):
        captions.append("? not known before the second run")
    has_slas = any(row["sla_seconds"] for row in chosen.rows)
    layout = _LAYOUT if has_slas else _LAYOUT.without("sla")
    table = layout.table(lines, width, captions, wide=wide)
    at = datetime.fromtimestamp(snapshot.taken_at / 1000, UTC)
    table.title = f"Consumer groups at {at:%H:%M:%S} UTC"
    return table


def _awaits_status(row: Row) -> bool:
    return row["status"] is None and row["unread_reason"] is None and row["lag"] is not None


def cells(row: Row, horizon_seconds: float, note: str | None = None) -> dict[str, Text]:
    """Returns the cells by the names of their columns, in the order of the table."""
    leader = row["worst_leader"]
    return {
        "group": Text(printable(row["consumer_group"])),
        "status": status_text(row, row["worst_status"]),
        "lag": _lag(row),
        "time lag": time_lag(row),
        "sla": share_of_sla(row),
        "to loss": time_to_loss(row, horizon_seconds),
        "members": show_number(row["members"]),
        "state": group_state(row),
        "worst partition": _worst_partition(row),
        "broker": Text("" if leader is None else str(leader)),
        "notes": Text(", ").join(_notes(row, note)),
    }


def status_text(row: Row, consumer: str | None) -> Text:
    """The status of a group or a partition, and what it stands for or why it is not known.

    Beside what the consumer does a loss is not named here: `time_to_loss` has its number.
    """
    words = status_words(row, consumer)
    return Text(" ").join([status_level(row), *([Text(", ".join(words))] if words else [])])


def status_level(row: Row) -> Text:
    """Returns OK, WARN or ERR in its colour; OK with a broken SLA has that of WARN."""
    word = status_word(row)
    broken = word == contract.OK and breaks_sla(row)
    colour = STATUS_COLOURS.get(contract.WARN if broken else word.rstrip("?"), "dim")
    return Text(word, colour)


def status_words(row: Row, consumer: str | None) -> list[str]:
    """Return the words for a row's status, or why it was not read."""
    unread = [find_word(row["unread_reason"])] if row["unread_reason"] else []
    if unread and row["status"] is None:
        return unread
    lost = None if consumer else row["records_lost"]
    reason = row["status_reason"]
    if consumer and reason == contract.RECORDS_LOST:
        reason = None
    return [*unread, *name_troubles(consumer, reason, lost, sla_broken=breaks_sla(row))]


def _lag(row: Row) -> Text:
    if row["lag"] is None:
        return unknown()
    # A zero is no good sign where unread records have no commit to count from.
    uncounted = row["partitions_uncommitted"] or row["unread_reason"] is not None
    caught_up = row["lag"] == 0 and not uncounted
    if caught_up:
        return Text("0", "green")
    arrow = _ARROWS.get(row["trend"] or "", "") if row["lag"] else ""
    return Text.assemble((f"{row['lag']:,}", "bold"), arrow)


def time_lag(row: Row) -> Text:
    """Returns the time lag, rounded so that neither a lower bound nor an error looks better.

    Of an age in whole minutes and seconds an error of a second or less says nothing more.
    """
    seconds, error = row["time_lag_seconds"], row["time_lag_error_seconds"]
    # At least nothing says nothing.
    if seconds is None or (error is None and not seconds):
        return unknown()
    if error is None:
        return Text(f"≥ {format_duration(seconds, math.floor, precise=True)}")
    if seconds >= _MINUTE and error <= 1:
        error = 0
    age = format_duration(seconds, precise=True) if seconds or error else "0"
    return Text(
        f"{age} ± {format_short_duration(error, math.ceil, precise=True)}" if error else age
    )


def time_to_loss(row: Row, horizon_seconds: float) -> Text:
    """Return the time to a loss, or how many records were lost; empty if nothing is at risk."""
    if row["records_lost"]:
        return Text(f"{row['records_lost']:,} lost", "bold red")
    seconds = row["seconds_until_loss"]
    if seconds is None:
        return unknown()
    if seconds >= contract.NO_LOSS_SECONDS or row.get("retention_risk") == contract.SAFE:
        return Text()
    left = f"in {format_time_left(seconds)}" if seconds >= 1 else "now"
    return Text(left, "bold red" if seconds < horizon_seconds else "")


def share_of_sla(row: Row) -> Text:
    """Return how much of the SLA is used; empty without an SLA."""
    if not row["sla_seconds"]:
        return Text()
    used = sla_used(row)
    if used is None:
        return unknown()
    return Text(format_sla_used(used), "bold red" if used > 1 else "")


def group_state(row: Row) -> Text:
    if row["group_state"] is None:
        return unknown()
    # Kafka has a word for each step of it, by two protocols.
    if row["group_state"] in contract.REBALANCING_STATES:
        return Text("Rebalancing", "yellow")
    return Text(printable(row["group_state"]))


def _worst_partition(row: Row) -> Text:
    if row["worst_topic"] is None:
        return Text()
    return Text(f"{printable(row['worst_topic'])}-{row['worst_partition']}")


def _notes(row: Row, added: str | None) -> list[Text]:
    """Returns the notes, the worst first, because the end may not fit."""
    parts, notes = row["partitions"], []
    if lacks_shared_lag(row):
        notes.append(Text(NO_SHARED_LAG, "dim"))
    elif parts == 0 and row["unread_reason"] is None and row["status_reason"] is None:
        notes.append(Text("no partition that is read", "dim"))
    if row["partitions_unknown"]:
        notes.append(Text(f"{row['partitions_unknown']} of {parts} unread", "red"))
    if added:
        notes.append(Text(added, "yellow"))
    if is_always_rebalancing(row):
        notes.append(Text(ALWAYS_REBALANCING, "yellow"))
    if row["held_up_records"] is not None:
        topic, number = row["open_transaction_topic"], row["open_transaction_partition"]
        where = f"{printable(topic)}-{number}"
        held = f"{row['held_up_records']:,} held up by a transaction in {where}"
        notes.append(Text(held, "yellow"))
    if row["skip_reason"] == contract.GONE and row["records_skipped"]:
        notes.append(Text(f"offsets gone, {row['records_skipped']:,} left unread", "yellow"))
    if row["unusual"]:
        notes.append(Text("unusual at this hour", "yellow"))
    if row["partitions_uncommitted"]:
        notes.append(Text(f"{row['partitions_uncommitted']} of {parts} uncommitted"))
    return notes


def show_number(value: int | None) -> Text:
    """Returns a number with separators, or a question mark."""
    return unknown() if value is None else Text(f"{value:,}")


def unknown() -> Text:
    return Text("?", "dim")
