# SPDX-License-Identifier: Apache-2.0
"""A run on a terminal: its groups, or one of them with its partitions, offsets and members."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rich.console import Group, RenderableType
from rich.text import Text

from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.ownership import count_idle
from kafka_lag.views.losses import find_losses
from kafka_lag.wording.advice import advise
from kafka_lag.wording.causes import describe_cause
from kafka_lag.wording.formatting import (
    format_cause_of_loss,
    format_duration,
    format_quantity,
    format_time_of_day,
)
from kafka_lag_cli.terminal.group_rows import (
    Row,
    Selection,
    partitions_of,
    select_groups,
    select_partitions,
    sla_used,
)
from kafka_lag_cli.terminal.group_table import (
    cells,
    group_state,
    groups_table,
    show_number,
    status_level,
    status_text,
    status_words,
    time_lag,
    time_to_loss,
)
from kafka_lag_cli.terminal.text import ColumnLayout, printable

_DAY_SECONDS = 86_400.0
_ALL = Selection()
# The table's title, its head with a rule, blank lines and its caption.
_LINES_AROUND_GROUPS = 6
# What is said of the group, and titles, heads, rules, blank lines and captions of both tables.
_LINES_AROUND_TABLES = 18
_MAX_LOSSES = 3
# The reading that first shows movement.
_FIRST_JUDGED = 2
_PARTITIONS = ColumnLayout(
    names=(
        *("topic", "partition", "committed", "log end", "lag", "time lag", "status"),
        *("to loss", "log start", "client", "host", "leader"),
    ),
    right=(
        *("partition", "committed", "log end", "lag", "time lag"),
        *("to loss", "log start", "leader"),
    ),
    shortened={"topic": 8, "client": 8, "host": 10, "status": 12},
    wide=("to loss", "log start", "host", "leader"),
    optional=("client", "to loss", "log start", "host", "leader"),
    cut_in_middle=("topic", "client", "host"),
)
_MEMBERS = ColumnLayout(
    names=("client", "host", "partitions", "lag", "longest time lag", "member"),
    right=("partitions", "lag", "longest time lag"),
    shortened={"client": 8, "host": 10, "member": 16},
    wide=("member",),
    cut_in_middle=("client", "host", "member"),
)


def draw_run(
    snapshot: Snapshot,
    selection: Selection,
    rules: Rules,
    width: int,
    lines: int | None = None,
    notes: Mapping[str, str] | None = None,
    *,
    wide: bool = False,
) -> RenderableType:
    """Returns the table of groups, or the details of the selected one, in so many lines."""
    name, horizon = selection.group, rules.risk_horizon_ms / 1000
    if name is None:
        if lines is not None:
            room = max(1, lines - _LINES_AROUND_GROUPS)
            selection = replace(selection, top=min(selection.top or room, room))
        has_filters = not rules.groups.accepts_all
        return groups_table(
            snapshot, width, horizon, selection, notes, has_filters=has_filters, wide=wide
        )
    if not select_groups(snapshot, Selection(group=name)).matching:
        return Text(f"There is no group {printable(name)} in this run.")
    return group_details(snapshot, name, width, horizon, lines, selection, wide=wide)


def group_details(
    snapshot: Snapshot,
    name: str,
    width: int,
    horizon_seconds: float = _DAY_SECONDS,
    max_lines: int | None = None,
    selection: Selection = _ALL,
    *,
    wide: bool = False,
) -> Group:
    """Return the details of a group in the snapshot, at most `width` wide.

    In so few lines that not all partitions fit, those with the longest time lag are shown, unless
    the selection sorts them.
    """
    (row,) = select_groups(snapshot, Selection(group=name)).rows
    partitions = partitions_of(snapshot, [name])
    members = _MEMBERS.table(_members(partitions), width, wide=wide)
    drawn = select_partitions(partitions, selection)
    if max_lines is not None:
        room = max(1, max_lines - _LINES_AROUND_TABLES - members.row_count)
        if len(drawn) > room and not (selection.sort or selection.top):
            drawn = _longest_first(drawn)
        drawn = drawn[:room]
    more = len(partitions) - len(drawn)
    parts = _PARTITIONS.table(
        [_partition(each, horizon_seconds) for each in drawn],
        width,
        [f"and {more} more"] if more else [],
        # What was lost lies between the commit and the start of the log.
        also=("to loss", "log start") if row["records_lost"] else (),
        wide=wide,
    )
    parts.title = "Partitions"
    members.title = "Members"
    members.caption = _without_partitions(row, partitions)
    shown: list[RenderableType] = [
        Text.assemble((printable(name), "bold")),
        *describe_group(row, snapshot.taken_at, is_new=_is_new(partitions)),
        *_causes_of_loss(snapshot, name),
        Text(),
    ]
    if partitions:
        shown.append(parts)
    if members.row_count or members.caption:
        shown.append(members if members.row_count else Text(str(members.caption)))
    return Group(*shown)


def _longest_first(partitions: Sequence[Row]) -> list[Row]:
    return sorted(partitions, key=lambda row: -(row["time_lag_seconds"] or 0.0))


def _is_new(partitions: Sequence[Row]) -> bool:
    """Return true if no partition was read often enough for a status: what is seen may be old."""
    seen = [row["observations"] for row in partitions if row["observations"] is not None]
    return bool(seen) and max(seen) <= _FIRST_JUDGED


def describe_group(row: Row, now: int, *, is_new: bool = False) -> Iterable[Text]:
    """Yields what the group does, its cause and what to do; what `is_new` may have begun before."""
    shown = cells(row, _DAY_SECONDS)
    loss, words = shown["to loss"], status_words(row, row["worst_status"])
    if words and row["status"] and row["worst_status_since"] is not None:
        # What the consumer does comes first, and began at another time than the status.
        words[0] += _since(row["worst_status_since"], now, is_new=is_new)
    lost_since = _since(row["loss_since"], now, is_new=is_new) if row["records_lost"] else ""
    yield Text.assemble(
        *("status ", status_level(row), _since(row["status_since"], now, is_new=is_new)),
        f" ({', '.join(words)})" if words else "",
        *(", lag ", shown["lag"], ", time lag ", shown["time lag"]),
        *((", " if row["records_lost"] else ", first loss ", loss, lost_since) if loss else ()),
    )
    named = (("type", row["group_type"]), ("protocol", row["protocol"]))
    kind = ", ".join(f"{word} {value}" for word, value in named if value)
    yield Text.assemble(
        *("state ", group_state(row), f" ({printable(kind)})" if kind else ""),
        *(", members ", shown["members"]),
        f", owner {printable(row['owner'])}" if row["owner"] else "",
        *_sla(row, shown["sla"], now, is_new=is_new),
    )
    # Else a short time lag beside a loss would read as if all were well.
    left = Text("lag and time lag are of what is left" if row["records_lost"] else "")
    if said := [each for each in (shown["notes"], left) if each]:
        yield Text("; ").join(said)
    yield from _explain(row)


def _sla(row: Row, used: Text, now: int, *, is_new: bool) -> Iterable[str | Text]:
    """Yield the SLA, how much of it is used, and since when it is broken."""
    if not row["sla_seconds"]:
        return
    yield f", SLA {format_duration(row['sla_seconds'])}: "
    yield Text.assemble(used, " used")
    if (sla_used(row) or 0.0) > 1:
        yield f", broken{_since(row['sla_broken_since'], now, is_new=is_new)}"


def _explain(row: Row) -> Iterable[Text]:
    """Yield what happened, what to do, and the command to look with, if the cause is known."""
    text, to_do = describe_cause(row), advise(row)
    if text is not None:
        yield Text(f"cause: {printable(text.happened)}")
    if to_do is not None:
        yield Text(f"to do: {printable(to_do)}")
    if text is not None:
        yield Text(f"to look: {printable(text.command)}")
        if text.repair is not None:
            yield Text(f"to repair: {printable(text.repair)}")
    if row["runbook_url"]:
        yield Text(f"runbook: {printable(row['runbook_url'])}")


def _causes_of_loss(snapshot: Snapshot, name: str) -> Iterable[Text]:
    """A line for each topic of which records were lost, as far as there is something to say."""
    rows = snapshot.group_partitions
    of_group = rows.where(rows.strings("consumer_group").is_in([name]))
    losses = find_losses(of_group, snapshot.topic_partitions)
    for loss in losses[:_MAX_LOSSES]:
        cause = format_cause_of_loss(
            *(loss.retention_ms, loss.retention_bytes, loss.produce_rate, loss.consume_rate)
        )
        if cause:
            yield Text(f"{loss.records:,} lost of {printable(loss.topic)}: {cause}")
    if len(losses) > _MAX_LOSSES:
        yield Text(
            f"and of {format_quantity(len(losses) - _MAX_LOSSES, 'more topic', 'more topics')}"
        )


def _since(at: int | None, now: int, *, is_new: bool) -> str:
    least = "at least " if is_new else ""
    return "" if at is None else f" {least}since {format_time_of_day(at, now)}"


def _partition(row: Row, horizon_seconds: float) -> dict[str, Text]:
    return {
        "topic": Text(printable(row["topic"])),
        "partition": Text(str(row["partition_id"])),
        "committed": _committed(row),
        "log end": show_number(row["end_offset"]),
        "lag": show_number(row["lag"]),
        "time lag": time_lag(row),
        "status": status_text(row, row["consumer_status"]),
        "to loss": time_to_loss(row, horizon_seconds),
        "log start": show_number(row["start_offset"]),
        "client": _name(row["client_id"]),
        "host": _name(row["client_host"]),
        "leader": Text("" if row["leader"] is None else str(row["leader"])),
    }


def _committed(row: Row) -> Text:
    is_absent = row["committed_offset"] is None and row["unread_reason"] is None
    return Text("none", "dim") if is_absent else show_number(row["committed_offset"])


def _name(text: str | None) -> Text:
    return Text("-" if text is None else printable(text))


def _members(partitions: Sequence[Row]) -> list[dict[str, Text]]:
    """Return the members that own a partition, ordered by their lag."""
    owned: dict[str, list[Row]] = {}
    for row in partitions:
        if row["member_id"] is not None:
            owned.setdefault(row["member_id"], []).append(row)
    lines = []
    for member, rows in sorted(owned.items(), key=lambda item: (_client(item[1]), item[0])):
        lags = [row["lag"] for row in rows if row["lag"] is not None]
        # One that is not known may be the longest.
        longest = max(rows, key=lambda row: _or_endless(row["time_lag_seconds"]))
        lines.append(
            {
                "client": _name(rows[0]["client_id"]),
                "host": _name(rows[0]["client_host"]),
                "partitions": Text(str(len(rows))),
                "lag": show_number(sum(lags) if len(lags) == len(rows) else None),
                "longest time lag": time_lag(longest),
                "member": Text(printable(member)),
            }
        )
    return lines


def _or_endless(seconds: float | None) -> float:
    return math.inf if seconds is None else seconds


def _client(rows: Sequence[Row]) -> str:
    return str(rows[0]["client_id"] or "")


def _without_partitions(row: Row, partitions: Sequence[Row]) -> str | None:
    """A sentence on members of whom no partition is known, None where each has something."""
    if row["members"] is None:
        return None
    owners = {each["member_id"] for each in partitions if each["member_id"] is not None}
    if not row["members"]:
        return "no member"
    idle = count_idle(row, len(owners))
    if idle is None:
        others = format_quantity(row["members"] - len(owners), "member owns", "members own")
        return f"what {others} is not known"
    if not idle:
        return None
    return f"{format_quantity(idle, 'member owns', 'members own')} no partition that is read"
