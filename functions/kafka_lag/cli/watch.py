# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag watch`: the collector against any Kafka cluster, without AWS, run after run.

A terminal is redrawn; a pipe gets each run below the one before.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.text import Text

from kafka_lag import contract
from kafka_lag.cli.collect_options import collect_options, collect_options_of
from kafka_lag.cli.group_details import group_details
from kafka_lag.cli.group_rows import CSV, TABLE, Selection, select_groups, write_rows
from kafka_lag.cli.group_table import STATUS_COLOURS, groups_table
from kafka_lag.cli.help_sections import SectionedCommand, option
from kafka_lag.cli.numbers import SECONDS
from kafka_lag.cli.schedule import Run, run_on_schedule
from kafka_lag.cli.selection_options import row_kind, selection_of, selection_options
from kafka_lag.cli.terminal import WarningPrinter, open_screen, printable
from kafka_lag.collector import WarningLogger
from kafka_lag.formatting import format_duration, format_quantity
from kafka_lag.lag.model import Snapshot

_BARS = "▁▂▃▄▅▆▇█"
_TREND_RUNS = 30
_WARNINGS = 4
# Heading, its blank line, the table's title, head and rule, its caption.
_LINES_AROUND_GROUPS = 8


@click.command(
    cls=SectionedCommand,
    epilog="""\b
examples:
  kafka-lag watch --bootstrap-servers localhost:9092
  kafka-lag watch --bootstrap-servers b-1.orders...kafka.eu-west-1.amazonaws.com:9098 \\
      --iam --profile monitoring --state ./lag
  kafka-lag watch --config deployment.toml --cluster orders --status ERR,WARN
  kafka-lag watch --bootstrap-servers localhost:9092 --output ndjson >> lag.ndjson
""",
)
@selection_options
@option("--interval", type=SECONDS, metavar="S", help="seconds between runs (60)")
@collect_options
def watch(**options: Any) -> int:
    """Shows the lag of a cluster's consumer groups until Ctrl-C, and keeps the snapshots.

    Needs Describe on the cluster, topics and groups; reads no record and changes nothing.
    `kafka-lag serve` shows the snapshots in a browser, `kafka-lag report` makes a day's report.
    """
    selection = selection_of(options)
    collect = collect_options_of(options, options["interval"])
    screen, stderr = open_screen(), Console(stderr=True)
    redraws = options["output"] == TABLE and screen.is_terminal
    view = WatchView(selection, collect.settings.rules.risk_horizon_ms / 1000)
    logger: WarningLogger = view if redraws else WarningPrinter(stderr)
    collector = collect.open_collector(logger)
    view.cluster = collector.cluster
    live = Live(get_renderable=lambda: view, console=screen, screen=True, refresh_per_second=2)
    try:
        with live if redraws else nullcontext():
            for run in run_on_schedule(collector, collect.settings.interval_ms // 1000):
                if run.error is not None:
                    # A first run that fails will not do better by waiting.
                    if view.snapshot is None:
                        raise run.error
                    logger.warning(str(run.error))
                else:
                    is_first = view.snapshot is None
                    view.add_run(run)
                    collect.remove_old_days()
                    if not redraws:
                        _append(view, options, heading=is_first)
                view.due = run.next_due
    except KeyboardInterrupt:
        pass
    if redraws and view.snapshot is not None:
        # What was seen last stays, as the terminal's other screen is gone.
        screen.print(view.groups(screen.width))
    return 0


def _append(view: WatchView, options: Mapping[str, Any], *, heading: bool) -> None:
    if view.snapshot is None:
        return
    if options["output"] == TABLE:
        screen = open_screen()
        screen.print(view.groups(screen.width))
        sys.stdout.flush()
        return
    write_rows(
        view.snapshot,
        view.cluster,
        view.selection,
        row_kind(options),
        options["output"],
        sys.stdout,
        heading=heading and options["output"] == CSV,
    )


@dataclass(slots=True)
class WatchView:
    """What a redrawn terminal shows: the newest run, those before it, and when the next is.

    `due` is in seconds since the epoch.
    """

    selection: Selection
    horizon_seconds: float
    cluster: str = ""
    snapshot: Snapshot | None = None
    run_seconds: float = 0.0
    due: float = 0.0
    lags: deque[int | None] = field(default_factory=lambda: deque(maxlen=_TREND_RUNS))
    warnings: deque[str] = field(default_factory=lambda: deque(maxlen=_WARNINGS))
    clock: Callable[[], float] = time.time

    def warning(self, message: str, /) -> None:
        """Something that a run warns of; the last few are shown."""
        at = datetime.fromtimestamp(self.clock(), UTC)
        self.warnings.append(f"{at:%H:%M:%S} {message}")

    def add_run(self, run: Run) -> None:
        """Takes a run that succeeded."""
        if run.report is None:
            return
        self.snapshot, self.run_seconds = run.report.snapshot, run.seconds
        groups = self.snapshot.groups
        known = [lag for lag in groups.numbers("lag").to_list() if lag is not None]
        self.lags.append(sum(known) if known or not len(groups) else None)

    def groups(self, width: int, top: int | None = None) -> RenderableType:
        """The table of groups, or the details of the one that was named."""
        if self.snapshot is None:
            return Text("reading the cluster", "dim")
        name = self.selection.group
        if name is None:
            chosen = min(filter(None, (self.selection.top, top)), default=None)
            selection = replace(self.selection, top=chosen)
            return groups_table(self.snapshot, width, self.horizon_seconds, selection)
        if not select_groups(self.snapshot, self.selection).matching:
            return Text(f"There is no group {printable(name)} in this run.")
        return group_details(self.snapshot, name, width, self.horizon_seconds)

    def heading(self) -> Text:
        """Cluster, counts by status, what is unread, the run's time, the next one, the trend."""
        parts = [Text(printable(self.cluster), "bold")]
        if self.snapshot is not None:
            parts += [_counts(self.snapshot), *_unread(self.snapshot)]
            parts.append(Text(f"read in {format_duration(self.run_seconds, precise=True)}"))
        left = math.ceil(self.due - self.clock())
        parts.append(Text(f"next run in {left} s" if left > 0 else "reading", "dim"))
        if any(self.lags):
            newest = self.lags[-1]
            total = "?" if newest is None else f"{newest:,}"
            parts.append(Text(f"lag {total} {draw_trend(self.lags)}"))
        return Text(" · ").join(parts)

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        room = options.max_height or console.height
        lines = max(1, room - _LINES_AROUND_GROUPS - len(self.warnings))
        yield self.heading()
        yield Text()
        yield self.groups(options.max_width, lines)
        for warning in self.warnings:
            yield Text(printable(warning), "yellow", no_wrap=True, overflow="ellipsis")


def draw_trend(values: deque[int | None]) -> str:
    """Bars from zero to the highest value; a blank where nothing is known."""
    highest = max(filter(None, values), default=0)
    steps = len(_BARS) - 1
    return "".join(
        " " if value is None else _BARS[round(value * steps / highest) if highest else 0]
        for value in values
    )


def _counts(snapshot: Snapshot) -> Text:
    """How many groups there are, and of each status."""
    statuses = snapshot.groups.strings("status").to_list()
    parts = [
        Text(f"{statuses.count(word)} {word}", STATUS_COLOURS[word])
        for word in (contract.ERR, contract.WARN, contract.OK)
        if word in statuses
    ]
    if None in statuses:
        parts.append(Text(f"{statuses.count(None)} ?", "dim"))
    groups = format_quantity(len(statuses), "group")
    return Text(f"{groups}: ").append_text(Text(" ").join(parts)) if parts else Text(groups)


def _unread(snapshot: Snapshot) -> Iterator[Text]:
    rows = snapshot.group_partitions
    unread = int(rows.strings("unread_reason").known.sum())
    if unread:
        yield Text(f"{format_quantity(unread, 'partition')} unread", "red")
