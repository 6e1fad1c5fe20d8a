# SPDX-License-Identifier: Apache-2.0
"""Why a group is behind, for people in 80 columns, and as JSON. Unknown is `?`, or null."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TextIO, TypeAlias

from rich.console import Console
from rich.text import Text

from kafka_lag import contract
from kafka_lag.wording.advice import advise
from kafka_lag.wording.causes import describe_cause
from kafka_lag.wording.evidence import read_evidence
from kafka_lag.wording.formatting import (
    format_iso_time,
    format_list,
    format_minute,
    format_quantity,
    format_rate,
    format_short_duration,
    format_time_of_day,
)
from kafka_lag.wording.words import (
    ALWAYS_REBALANCING,
    breaks_sla,
    describe_skip,
    find_word,
    is_always_rebalancing,
)
from kafka_lag_cli.state.groups_over_time import MINUTE_MS
from kafka_lag_cli.terminal.group_details import describe_group
from kafka_lag_cli.terminal.group_rows import Row
from kafka_lag_cli.terminal.group_table import (
    STATUS_COLOURS,
    show_number,
    status_text,
    unknown,
)
from kafka_lag_cli.terminal.records import write_records
from kafka_lag_cli.terminal.text import ColumnLayout, print_line, printable
from kafka_lag_cli.why.explanation import Explanation
from kafka_lag_cli.why.timeline import Minute, Stretch, fold

# A time, ms, and now: as a time of day, with its date where that is not today's.
_Clock: TypeAlias = Callable[[int, int], str]

_UNKNOWN = "?"
_BAD = (contract.WARN, contract.ERR)
_MOST_OTHERS = 5
_STRETCHES = ColumnLayout(
    names=(
        *("from", "lasted", "status", "members", "written", "read", "lag", "age"),
        *("cause", "rebalances"),
    ),
    right=("lasted", "members", "written", "read", "lag", "age", "rebalances"),
    shortened={"status": 8, "cause": 8},
    optional=("cause", "rebalances"),
)
_TROUBLES = ColumnLayout(
    names=("group", "cluster", "status", "since", "cause", "why"),
    right=(),
    shortened={"group": 8, "cluster": 8, "status": 12, "why": 16},
    optional=("why",),
    cut_in_middle=("group", "cluster"),
)


def print_explanation(found: Explanation, screen: Console) -> None:
    """Prints what is wrong and what to do; then the last hours."""
    row, now = found.row, found.row["taken_at"]
    title = f"{printable(row['consumer_group'])} on {found.cluster} at {format_minute(now)}"
    print_line(screen, title, "bold")
    for line in (*describe_group(row, now), *_describe_rest(found)):
        # Commands are whole on their lines, so that they can be copied.
        screen.print(line, soft_wrap=line.plain.startswith(("to look", "to repair")))
    screen.print()
    _print_timeline(found, screen)


def _describe_rest(found: Explanation) -> Iterator[Text]:
    """Yields the last cause that there was, the last skip, and others in trouble."""
    now = found.row["taken_at"]
    last = next((each for each in reversed(found.timeline.minutes) if each.row["cause"]), None)
    if describe_cause(found.row) is None:
        why = "none" if found.row["status"] == contract.OK else "not known"
        if found.row["status"] is None and len(found.timeline.minutes) == 1:
            why = "not known before the second run"
        if found.row["cause"] is not None:
            why = f"{find_word(found.row['cause'])}, which a later version has named"
        elif last is not None:
            at = format_time_of_day(last.taken_at, now)
            why += f"; until {at} it was: {find_word(last.row['cause'])}"
        yield Text(f"cause: {why}")
    if (skip := found.timeline.last_skip()) is not None:
        at = format_time_of_day(skip["skipped_at"], now)
        yield Text(f"skipped: {describe_skip(skip)}, at {at}")
    if found.others:
        names = [
            printable(other["consumer_group"])
            + (f" ({find_word(other['cause'])})" if other["cause"] else "")
            for other in found.others
        ]
        yield Text(f"also in trouble on its topics: {format_list(names, _MOST_OTHERS)}")


def _print_timeline(found: Explanation, screen: Console) -> None:
    timeline, now = found.timeline, found.row["taken_at"]
    first = timeline.minutes[0].taken_at
    runs = format_quantity(len(timeline.minutes), "run")
    unread = f", {timeline.unreadable} more not readable" if timeline.unreadable else ""
    title = f"From {format_time_of_day(first, now)} to {format_time_of_day(now, now)}"
    print_line(screen, f"{title} ({runs}{unread})", "bold")
    clock = _to_the_second if timeline.interval_ms < MINUTE_MS else _to_the_minute
    lines = [_stretch(each, clock, now) for each in fold(timeline)]
    screen.print(_STRETCHES.table(lines, screen.width))


def _stretch(stretch: Stretch, clock: _Clock, now: int) -> dict[str, Text]:
    worst, last = stretch.worst.row, stretch.last.row
    return {
        "from": Text(clock(stretch.minutes[0].taken_at, now)),
        "lasted": Text(format_short_duration(stretch.seconds, round)),
        "status": _status(worst),
        "members": Text(_range(stretch.bounds("members"))),
        "written": Text(_rate(stretch.mean("produce_rate"))),
        "read": Text(_rate(stretch.read)),
        "lag": show_number(last["lag"]),
        "age": _age(last["time_lag_seconds"]),
        "cause": Text(find_word(last["cause"]) if last["cause"] else ""),
        "rebalances": Text(f"{stretch.total('rebalances'):,}"),
    }


def _status(row: Row) -> Text:
    status = row["status"] or _UNKNOWN
    word = row["worst_status"] or row["unread_reason"]
    text = Text(status, STATUS_COLOURS.get(status, "dim"))
    return text.append(f" {find_word(word)}", "default") if word else text


def _to_the_minute(at: int, now: int) -> str:
    return format_time_of_day(at, now).removesuffix(" UTC")


def _to_the_second(at: int, now: int) -> str:
    return f"{_to_the_minute(at, now)}:{at // 1_000 % 60:02}"


def _range(bounds: tuple[int, int] | None) -> str:
    if bounds is None:
        return _UNKNOWN
    least, most = bounds
    return f"{least:,}" if least == most else f"{least:,}-{most:,}"


def _rate(rate: float | None) -> str:
    return _UNKNOWN if rate is None else format_rate(rate)


def _age(seconds: float | None) -> Text:
    if seconds is None:
        return unknown()
    return Text(format_short_duration(seconds, precise=True) if seconds else "0")


def write_explanation(found: Explanation, form: str, out: TextIO) -> None:
    """Writes JSON with all, or NDJSON and CSV with a line a run of the timeline."""
    row = found.row
    minutes = [_minute(each) for each in found.timeline.minutes]
    answer = {
        "cluster": found.cluster,
        **_group(row),
        "cause": _cause(row),
        "skipped": _skip(found.timeline.last_skip()),
        "others": [
            {
                name: other[name]
                for name in ("consumer_group", "status", "worst_status", "owner", "cause")
            }
            for other in found.others
        ],
        "timeline": {
            "since": format_iso_time(found.timeline.since),
            "runs": found.timeline.runs,
            "unreadable": found.timeline.unreadable,
            "minutes": minutes,
        },
    }
    key = {"cluster": found.cluster, "consumer_group": row["consumer_group"]}
    write_records((key | each for each in minutes), form, out, whole=answer)


def _group(row: Row) -> dict[str, Any]:
    numbers = ("lag", "time_lag_seconds", "produce_rate", "consume_rate", "members")
    return {
        "consumer_group": row["consumer_group"],
        "taken_at": format_iso_time(row["taken_at"]),
        "status": row["status"],
        "status_since": _iso(row["status_since"]),
        "worst_status": row["worst_status"],
        "worst_status_since": _iso(row["worst_status_since"]),
        "owner": row["owner"],
        "runbook_url": row["runbook_url"],
        **{name: row[name] for name in numbers},
    }


def _cause(row: Row) -> dict[str, Any] | None:
    text = describe_cause(row)
    if text is None:
        return None
    return {
        "name": row["cause"],
        "since": _iso(row["cause_since"]),
        "evidence": read_evidence(row),
        "happened": text.happened,
        "to_do": advise(row),
        "command": text.command,
        "repair": text.repair,
    }


def _skip(row: Row | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {
        "records": row["records_skipped"],
        "at": _iso(row["skipped_at"]),
        "reason": row["skip_reason"],
        "text": describe_skip(row),
    }


def _iso(at: int | None) -> str | None:
    return None if at is None else format_iso_time(at)


def _minute(minute: Minute) -> dict[str, Any]:
    row = minute.row
    names = (
        *("status", "worst_status", "unread_reason", "members", "owners_changed", "rebalances"),
        *("produce_rate", "consume_rate", "lag", "time_lag_seconds", "cause"),
    )
    return {
        "taken_at": format_iso_time(minute.taken_at),
        **{name: row[name] for name in names},
    }


def print_troubles(runs: Sequence[tuple[str, int, Sequence[Row]]], screen: Console) -> None:
    """A line for each group in trouble, the worst first."""
    several = len(runs) > 1
    lines = [_trouble(cluster, row, at) for cluster, at, row in _list_troubles(runs)]
    times = sorted({at for _, at, _ in runs})
    ends = dict.fromkeys(map(format_minute, (times[0], times[-1])))
    at = f"from {' to '.join(ends)}" if len(ends) > 1 else f"at {format_minute(times[0])}"
    groups = sum(len(rows) for _, _, rows in runs)
    if not lines:
        every = format_quantity(groups, "group")
        print_line(screen, f"None of {every} is in trouble {at}.")
        return
    layout = _TROUBLES if several else _TROUBLES.without("cluster")
    table = layout.table(lines, screen.width, [f"{len(lines)} of {groups} groups {at}"])
    screen.print(table)


def _list_troubles(
    runs: Sequence[tuple[str, int, Sequence[Row]]],
) -> list[tuple[str, int, Row]]:
    """Returns groups in WARN or ERR, with a broken SLA, rebalancing all the time, or with a cause;
    the worst first."""
    found = [
        (cluster, at, row)
        for cluster, at, rows in runs
        for row in rows
        if _is_in_trouble(row) or row["cause"] is not None or is_always_rebalancing(row)
    ]
    return sorted(found, key=lambda each: (each[2]["urgency"], each[2]["consumer_group"]))


def _is_in_trouble(row: Row) -> bool:
    return row["status"] in _BAD or breaks_sla(row)


def _trouble(cluster: str, row: Row, now: int) -> dict[str, Text]:
    text = describe_cause(row)
    since = row["status_since"] if row["worst_status"] is None else row["worst_status_since"]
    return {
        "group": Text(printable(row["consumer_group"])),
        "cluster": Text(cluster),
        "status": status_text(row, row["worst_status"]),
        "since": Text(_UNKNOWN if since is None else _to_the_minute(since, now)),
        "cause": Text(_name_cause(row)),
        "why": Text("" if text is None else printable(text.happened)),
    }


def _name_cause(row: Row) -> str:
    if row["cause"] is not None:
        return find_word(row["cause"])
    return ALWAYS_REBALANCING if is_always_rebalancing(row) else _UNKNOWN


def write_troubles(runs: Sequence[tuple[str, int, Sequence[Row]]], form: str, out: TextIO) -> None:
    """Writes a record for each group."""
    answer = [
        {"cluster": cluster, **_group(row), "cause": _cause(row)}
        for cluster, _, row in _list_troubles(runs)
    ]
    write_records(answer, form, out)
