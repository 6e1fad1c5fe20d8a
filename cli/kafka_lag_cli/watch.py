# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag watch`: the collector against any Kafka cluster, without AWS, run after run.

A terminal is redrawn; a pipe gets each run below the one before.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.text import Text

from kafka_lag import contract
from kafka_lag.collector import WarningLogger
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import Snapshot
from kafka_lag.wording.formatting import format_duration, format_quantity
from kafka_lag_cli.connecting.collect_options import (
    collect_options,
    collect_options_of,
    keep_days_option,
)
from kafka_lag_cli.help_sections import command, option
from kafka_lag_cli.numbers import SECONDS
from kafka_lag_cli.schedule import Run, interruptible, run_on_schedule
from kafka_lag_cli.state.shared import mark_collected
from kafka_lag_cli.terminal.group_details import draw_run
from kafka_lag_cli.terminal.group_rows import Selection
from kafka_lag_cli.terminal.group_table import STATUS_COLOURS
from kafka_lag_cli.terminal.records import TABLE
from kafka_lag_cli.terminal.selection_options import selection_of, selection_options, write_selected
from kafka_lag_cli.terminal.text import (
    WarningPrinter,
    name_options,
    open_screen,
    printable,
    wording_of,
)

_BARS = "▁▂▃▄▅▆▇█"
_TREND_RUNS = 30
_WARNINGS = 4


@command(
    epilog="""\b
examples:
  kafka-lag watch -b localhost:9092 --state ./lag
  kafka-lag watch --config deployment.toml --status ERR,WARN
  kafka-lag watch -b localhost:9092 --output ndjson >> lag.ndjson
""",
)
@selection_options
@option("--interval", type=SECONDS, metavar="S", help="seconds between runs (60)")
@keep_days_option
@collect_options
def watch(**options: Any) -> int:
    """Show the lag of a cluster's consumer groups until Ctrl-C, and keep the snapshots.

    `kafka-lag serve` shows them in a browser, `kafka-lag report` makes a day's report.
    """
    selection = selection_of(options)
    collect = collect_options_of(options, options["interval"])
    screen, stderr = open_screen(), Console(stderr=True)
    redraws = options["output"] == TABLE and screen.is_terminal
    wording = wording_of(config=options["config"])
    view = WatchView(selection, collect.settings.rules, wording, wide=options["wide"])
    logger: WarningLogger = view if redraws else WarningPrinter(stderr, wording)
    collector = collect.open_collector(logger)
    view.cluster = collector.cluster
    live = Live(get_renderable=lambda: view, console=screen, screen=True, refresh_per_second=2)
    interval = collect.settings.interval_ms // 1000

    def show(run: Run) -> None:
        if run.kept:
            mark_collected(collect.state, collector.cluster, interval)
        collect.remove_old_days()
        if not redraws:
            _append(view, options, screen, heading=len(view.lags) == 1)

    try:
        with live if redraws else nullcontext(), interruptible() as wait:
            show_runs(run_on_schedule(collector, interval, wait), view, logger, show)
    except KeyboardInterrupt:
        pass
    if redraws and view.snapshot is not None:
        # What was seen last stays, as the terminal's other screen is gone.
        screen.print(view.groups(screen.width))
    return 0


def show_runs(
    runs: Iterable[Run], view: WatchView, logger: WarningLogger, show: Callable[[Run], None]
) -> None:
    """Adds runs to the view as they come, and shows each that was read, even if it is not kept.

    Raises the error of a first run that read nothing: it will not do better by waiting.
    """
    for run in runs:
        if run.report is None and run.error and view.snapshot is None:
            raise run.error
        if run.warning:
            logger.warning(run.warning)
        if run.report is not None:
            view.add_run(run)
            show(run)
        view.due = run.next_due


def _append(view: WatchView, options: Mapping[str, Any], screen: Console, *, heading: bool) -> None:
    if view.snapshot is None:
        return
    if options["output"] == TABLE:
        screen.print(view.groups(screen.width))
        sys.stdout.flush()
        return
    write_selected(view.snapshot, view.cluster, view.selection, options, heading=heading)


@dataclass(slots=True)
class WatchView:
    """The content of a redrawn terminal: the newest run, the runs before, and the next one's time.

    `due` is in seconds since the epoch.
    """

    selection: Selection
    rules: Rules
    wording: Callable[[str], str] = name_options
    cluster: str = ""
    snapshot: Snapshot | None = None
    run_seconds: float = 0.0
    due: float = 0.0
    lags: deque[int | None] = field(default_factory=lambda: deque(maxlen=_TREND_RUNS))
    warnings: deque[str] = field(default_factory=lambda: deque(maxlen=_WARNINGS))
    clock: Callable[[], float] = time.time
    wide: bool = False

    def warning(self, message: str, /) -> None:
        """Adds a warning of a run; the last few are shown."""
        at = datetime.fromtimestamp(self.clock(), UTC)
        self.warnings.append(f"{at:%H:%M:%S} {self.wording(message)}")

    def add_run(self, run: Run) -> None:
        """Adds a run that was read."""
        if run.report is None:
            return
        self.snapshot, self.run_seconds = run.report.snapshot, run.seconds
        groups = self.snapshot.groups
        # A lag that is summed without a group, or a part of it, would look like a recovery.
        lag = groups.numbers("lag")
        missing = (groups.numbers("partitions_unknown") > 0) | (
            ~lag.known & (groups.numbers("partitions") > 0)
        )
        unread = groups.strings("unread_reason").known | missing
        known = [value for value in lag.to_list() if value is not None]
        self.lags.append(None if unread.any() else sum(known))

    def groups(self, width: int, lines: int | None = None) -> RenderableType:
        """Returns the table of groups, or the details of the named one, in so many lines."""
        if self.snapshot is None:
            return Text("reading the cluster", "dim")
        return draw_run(self.snapshot, self.selection, self.rules, width, lines, wide=self.wide)

    def heading(self) -> Text:
        """Returns cluster, counts by status, lag, the run's time, the next one's, and the trend."""
        parts = [Text(printable(self.cluster), "bold")]
        if self.snapshot is not None:
            parts += [_counts(self.snapshot), *_unread(self.snapshot)]
            parts.append(Text(f"read in {format_duration(self.run_seconds, precise=True)}"))
        left = math.ceil(self.due - self.clock())
        parts.append(Text(f"next run in {left} s" if left > 0 else "reading", "dim"))
        # The thread that collects appends to it.
        lags = tuple(self.lags)
        if any(lags):
            total = "?" if lags[-1] is None else f"{lags[-1]:,}"
            parts.append(Text(f"lag {total} {draw_trend(lags)}"))
        return Text(" · ").join(parts)

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        heading, warnings = self.heading(), tuple(self.warnings)
        above = len(console.render_lines(heading, options.update(height=None))) + 1
        yield heading
        yield Text()
        height = options.max_height or console.height
        yield self.groups(options.max_width, height - above - len(warnings))
        for warning in warnings:
            yield Text(printable(warning), "yellow", no_wrap=True, overflow="ellipsis")


def draw_trend(values: Sequence[int | None]) -> str:
    """Returns bars from zero to the highest value; a blank stands for an unknown one."""
    highest = max(filter(None, values), default=0)
    steps = len(_BARS) - 1
    return "".join(
        " " if value is None else _BARS[round(value * steps / highest) if highest else 0]
        for value in values
    )


def _counts(snapshot: Snapshot) -> Text:
    """Returns the number of groups, in all and by status."""
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
