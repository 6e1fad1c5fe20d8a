# SPDX-License-Identifier: Apache-2.0
"""Replays for people and programs: tables, JSON, or CSV with a line a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from kafka_lag.wording.formatting import (
    format_count,
    format_duration,
    format_iso_time,
    format_minute,
    format_quantity,
)
from kafka_lag_cli.replay.days import Replay
from kafka_lag_cli.replay.pages import ASSUMED, DELAY_MINUTES, Page
from kafka_lag_cli.replay.recorded import Recorded
from kafka_lag_cli.terminal.records import write_records
from kafka_lag_cli.terminal.text import ColumnLayout, print_line, printable

_WEEK_DAYS = 7
# Pages and groups that are listed for people.
LISTED, _MOST_GROUPS = 20, 10
_PAGES = ColumnLayout(
    names=("alarm", "group", "begin UTC", "lasts", "delay", "worst age", "worst status"),
    right=("lasts", "delay", "worst age"),
    shortened={"group": 8, "alarm": 9},
    optional=("delay", "worst age", "worst status"),
    cut_in_middle=("group",),
)
PAGE_NAMES = (
    *("cluster", "alarm", "consumer_group", "begin", "end", "delay_seconds"),
    *("worst_time_lag_seconds", "worst_status"),
)


def print_replays(replays: Sequence[Replay], screen: Console) -> None:
    """Each cluster's pages by alarm, by group and one by one, the newest last."""
    for number, replay in enumerate(replays):
        if number:
            screen.print()
        _print_one(replay, screen)
    print_line(
        screen,
        f"A model of CloudWatch, not AWS: a value is seen {DELAY_MINUTES} minute later, an alarm "
        f"looks {ASSUMED.extra_points} points farther back than its periods.",
    )


def _print_one(replay: Replay, screen: Console) -> None:
    recorded, pages = replay.recorded, replay.pages
    minutes, runs = len(recorded.has_run), int(recorded.has_run.sum())
    unreadable = (
        f", {format_quantity(recorded.unreadable, 'run')} cannot be read"
        if recorded.unreadable
        else ""
    )
    head = (
        f"{replay.cluster.name}, {format_minute(recorded.begin)} to "
        f"{format_minute(recorded.time(minutes - 1))}: {format_count(runs)} runs in "
        f"{format_count(minutes)} minutes{unreadable}"
    )
    print_line(screen, head, "bold")
    for line in (_summarise(replay), *_count_alarms(replay)):
        print_line(screen, line)
    if pages:
        shown = pages[-LISTED:]
        captions = [f"the newest {len(shown)} of {len(pages):,}; all of them by --output csv"]
        cells = [
            {name: _cell(text) for name, text in describe_cells(each, recorded).items()}
            for each in shown
        ]
        screen.print(_PAGES.table(cells, screen.width, captions if len(shown) < len(pages) else []))
    groups = Counter(each.group for each in pages if each.group is not None)
    if len(groups) > 1:
        most = ", ".join(f"{name} {count}" for name, count in groups.most_common(_MOST_GROUPS))
        print_line(screen, f"Most of them: {most}.")
    for sentence in replay.left_out:
        print_line(screen, f"Not replayed: {sentence}.")


def _summarise(replay: Replay) -> str:
    count = len(replay.pages)
    days = format_quantity(max(round(replay.days), 1), "day")
    return f"{format_quantity(count, 'page')} in {days}, {_each_week(count, replay):.1f} a week."


def _each_week(count: int, replay: Replay) -> float:
    return count / replay.days * _WEEK_DAYS


def _count_alarms(replay: Replay) -> Iterator[str]:
    """Yields a line for each rule that pages, the most frequent first."""
    for rule, count in Counter(page.rule for page in replay.pages).most_common():
        pages = [page for page in replay.pages if page.rule == rule]
        delays = [page.delay_seconds for page in pages if page.delay_seconds is not None]
        late = f", median delay {format_duration(median(delays))}" if delays else ""
        groups = len({page.group for page in pages if page.group is not None})
        of = f" of {format_quantity(groups, 'group')}" if groups else ""
        yield f"  {rule}: {format_quantity(count, 'page')}{of}{late}"


def describe_cells(page: Page, recorded: Recorded) -> dict[str, str]:
    """Returns the cells of a page by column."""
    end = recorded.time(len(recorded.has_run)) if page.end is None else page.end
    lasts = format_duration((end - page.begin) / 1000)
    return {
        "alarm": page.rule,
        "group": printable(page.group) if page.group is not None else "-",
        "begin UTC": format_minute(page.begin).removesuffix(" UTC"),
        "lasts": lasts if page.end is not None else f"{lasts}, on",
        "delay": _duration(page.delay_seconds),
        "worst age": _duration(page.worst_age_seconds),
        "worst status": page.worst_status or "?",
    }


def _duration(seconds: float | None) -> str:
    return "?" if seconds is None else format_duration(seconds)


def _cell(text: str) -> Text:
    return Text(text, "dim" if text == "?" else "")


def print_beside_aws(found: Sequence[Mapping[str, Any]], screen: Console) -> None:
    """Prints how many pages agree by each reading, and where the model is wrong."""
    for each in found:
        print_line(
            screen,
            f"{each['cluster']}: the model beside CloudWatch's history of the last 30 days",
        )
        for record in (*each["readings"], *each["differences"]):
            print_line(screen, ", ".join(f"{key} {value}" for key, value in record.items()))
    print_line(screen, "Same: both begin within two minutes of each other.")


def write_replays(replays: Sequence[Replay], form: str, out: TextIO) -> None:
    """Writes JSON with all, or NDJSON and CSV with a line a page."""
    pages = [describe_page(page) for replay in replays for page in replay.pages]
    write_records(pages, form, out, whole=[_whole(each) for each in replays], names=PAGE_NAMES)


def _whole(replay: Replay) -> dict[str, Any]:
    recorded, pages = replay.recorded, replay.pages
    return {
        "cluster": replay.cluster.name,
        "from": format_iso_time(recorded.begin),
        "to": format_iso_time(recorded.time(len(recorded.has_run))),
        "runs": int(recorded.has_run.sum()),
        "unreadable_runs": recorded.unreadable,
        "summary": _summarise(replay),
        "pages_a_week": _each_week(len(pages), replay),
        "pages": [describe_page(page) for page in pages],
        "not_replayed": list(replay.left_out),
    }


def describe_page(page: Page) -> dict[str, Any]:
    """Returns a page as JSON has it."""
    return {
        "cluster": page.cluster,
        "alarm": page.rule,
        "consumer_group": page.group,
        "begin": format_iso_time(page.begin),
        "end": None if page.end is None else format_iso_time(page.end),
        "delay_seconds": page.delay_seconds,
        "worst_time_lag_seconds": page.worst_age_seconds,
        "worst_status": page.worst_status,
    }
