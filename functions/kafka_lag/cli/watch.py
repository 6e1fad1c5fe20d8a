# SPDX-License-Identifier: Apache-2.0
"""The collector against any Kafka cluster, without AWS: snapshots in a folder, groups on screen."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rich.console import Console

from kafka_lag import contract
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.source import KafkaSource, quiet_library
from kafka_lag.cli.options.watch import WatchOptions, parse
from kafka_lag.cli.tables import groups_table, shown
from kafka_lag.collector import Collector
from kafka_lag.errors import ReporterError
from kafka_lag.lag.model import LagReport
from kafka_lag.settings import Settings
from kafka_lag.snapshots.store import FolderStore


def main(argv: Sequence[str] | None = None) -> int:
    """Watches until Ctrl-C (0), or once; 1 when the cluster could not be read, 2 for usage."""
    quiet_library()
    screen, complaints = Console(), Console(stderr=True)
    try:
        options = parse(argv)
        watcher = _watcher(options, complaints)
        if options.once:
            _show(watcher.look(), options, screen)
            return 0
        _watch(watcher, options, screen, complaints)
    except ReporterError as error:
        complaints.print(f"[red]{shown(str(error))}[/]", soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        return 0
    except BrokenPipeError:
        # Whoever read the output has seen enough; what is left of it goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


@dataclass(frozen=True, slots=True)
class Watcher:
    """A collector and the clock that schedules it; the interval in seconds."""

    collector: Collector
    interval: int

    def look(self) -> LagReport:
        """One run, for the second it is."""
        return self.collector.run(int(time.time()) * 1000).report

    def look_on_time(self) -> LagReport:
        """One run for the next whole interval of the clock."""
        due = (int(time.time()) // self.interval + 1) * self.interval
        time.sleep(max(0.0, due - time.time()))
        return self.collector.run(due * 1000).report


@dataclass(frozen=True, slots=True)
class ConsoleJournal:
    """Warnings of a run, one line each on a console."""

    console: Console

    def warning(self, message: str, /) -> None:
        """Prints the line as it is; names in it cannot act as markup."""
        _complain(self.console, "yellow", message)


def _watcher(options: WatchOptions, complaints: Console) -> Watcher:
    source = KafkaSource(options.access, FixedCredentials(options.credentials))
    deadline = max(45.0, options.access.broker_timeout)
    cluster = options.cluster or source.cluster_id(time.monotonic() + deadline)
    settings = Settings(
        cluster,
        options.access,
        options.rules,
        interval_ms=options.interval * 1000,
        deadline=deadline,
    )
    store = FolderStore(options.state)
    collector = Collector(settings, source, store, [], ConsoleJournal(complaints))
    return Watcher(collector, options.interval)


def _watch(watcher: Watcher, options: WatchOptions, screen: Console, complaints: Console) -> None:
    """The first look at once, and it must succeed; later ones may fail and are told."""
    look: Callable[[], LagReport] = watcher.look
    first = True
    while True:
        try:
            _show(look(), options, screen)
        except ReporterError as error:
            if first:
                raise
            _complain(complaints, "red", str(error))
        look, first = watcher.look_on_time, False


def _complain(console: Console, colour: str, message: str) -> None:
    now = f"{datetime.now(UTC):%H:%M:%S}"
    console.print(f"[dim]{now}[/] [{colour}]{shown(message)}[/]", soft_wrap=True)


def _show(report: LagReport, options: WatchOptions, screen: Console) -> None:
    if options.output == "json":
        sys.stdout.write(json.dumps(_json_rows(report)) + "\n")
        sys.stdout.flush()
        return
    horizon = options.rules.risk_horizon_ms / 1000
    screen.print(groups_table(report.snapshot, screen.width, horizon))


def _json_rows(report: LagReport) -> list[dict[str, Any]]:
    rows = report.snapshot.group_partitions.completed(contract.GROUP_PARTITIONS)
    kinds = contract.COLUMNS[contract.GROUP_PARTITIONS]
    columns = [
        [_iso(value) for value in column.to_list()]
        if kinds[name] == contract.TIMESTAMP
        else column.to_list()
        for name, column in rows.columns.items()
    ]
    return [dict(zip(rows.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def _iso(milliseconds: int | None) -> str | None:
    if milliseconds is None:
        return None
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


if __name__ == "__main__":
    raise SystemExit(main())
