# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag watch`: the collector against any Kafka cluster, without AWS.

Snapshots in a folder, groups on screen.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from kafka_lag import contract
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.source import KafkaSource, quiet_library
from kafka_lag.cli.group_table import groups_table
from kafka_lag.cli.login_options import BrokerOptions, add_brokers, brokers_of
from kafka_lag.cli.rule_options import add_rules, rules_of
from kafka_lag.cli.terminal import escape_markup
from kafka_lag.collector import Collector
from kafka_lag.errors import ReporterError
from kafka_lag.formatting import format_iso_time
from kafka_lag.lag.group_settings import NameFilter, Rules
from kafka_lag.lag.model import LagReport
from kafka_lag.settings import INTERNAL_TOPICS, Settings
from kafka_lag.snapshots.keys import CLUSTER_NAME
from kafka_lag.snapshots.store import FolderStore
from kafka_lag_cdk.config.document import window_fault

_EXAMPLES = """examples:
  uv run kafka-lag watch --bootstrap-servers localhost:9092 --once
  PASSWORD=... uv run kafka-lag watch --bootstrap-servers b-1.example:9096,b-2.example:9096 \\
      --security-protocol SASL_SSL --username monitor --password-env PASSWORD --state ./lag
  uv run kafka-lag watch --bootstrap-servers b-1.orders...kafka.eu-west-1.amazonaws.com:9098 \\
      --iam --profile monitoring --state ./lag
  uv run kafka-lag watch --bootstrap-servers b-1.example:9094 --certfile monitor.pem \\
      --keyfile monitor.key --state ./lag
"""


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """Checked options; the interval in seconds, the cluster None for Kafka's own id."""

    brokers: BrokerOptions
    rules: Rules
    state: Path
    cluster: str | None
    interval: int
    once: bool
    output: str


def main(argv: Sequence[str] | None = None) -> int:
    """Watches until Ctrl-C (0), or once; 1 when the cluster could not be read, 2 for usage."""
    quiet_library()
    screen, stderr = Console(), Console(stderr=True)
    try:
        options = parse_options(argv)
        watcher = _watcher(options, stderr)
        if options.once:
            _show(watcher.run_now(), options, screen)
            return 0
        _watch(watcher, options, screen, stderr)
    except ReporterError as error:
        stderr.print(f"[red]{escape_markup(str(error))}[/]", soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        return 0
    except BrokenPipeError:
        # Whoever read the output has seen enough; what is left of it goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def parse_options(
    argv: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ
) -> WatchOptions:
    """The options; exits with 2 and one sentence for what is wrong."""
    parser = _parser()
    parsed = parser.parse_args(argv)
    state = parsed.state or _cache_folder(environ)
    if state.exists() and not state.is_dir():
        parser.error(f"--state: {state} is no folder")
    fault = window_fault(parsed.window, parsed.interval)
    if fault:
        parser.error(f"--window: {fault}")
    return WatchOptions(
        brokers=brokers_of(parser, parsed, environ),
        rules=replace(
            rules_of(parsed, parsed.interval),
            groups=NameFilter(parsed.groups_allow, parsed.groups_deny),
            topics=NameFilter(parsed.topics_allow, parsed.topics_deny),
        ),
        state=state,
        cluster=parsed.cluster,
        interval=parsed.interval,
        once=parsed.once,
        output=parsed.output,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kafka-lag watch",
        description="Shows the lag of a cluster's consumer groups and keeps snapshots in a folder. "
        "Needs Describe on the cluster, topics and groups; reads no record, changes nothing.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--state", type=Path, metavar="DIR", help="snapshots go here (default: your cache folder)"
    )
    parser.add_argument("--cluster", type=_cluster, help="its name (default: Kafka's cluster id)")
    parser.add_argument(
        "--interval", type=_seconds, default=60, metavar="S", help="seconds between runs (60)"
    )
    parser.add_argument("--once", action="store_true", help="one run, then exit")
    parser.add_argument("--output", choices=("table", "json"), default="table")
    add_brokers(parser)
    _add_filters(parser.add_argument_group("filters", "unanchored regular expressions; deny wins"))
    add_rules(parser)
    return parser


def _cache_folder(environ: Mapping[str, str]) -> Path:
    """Where the XDG base directory specification has a user's caches, on macOS too."""
    return Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kafka-lag"


def _add_filters(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--groups-allow", type=_regex, metavar="RE")
    group.add_argument("--groups-deny", type=_regex, metavar="RE")
    group.add_argument("--topics-allow", type=_regex, metavar="RE")
    group.add_argument(
        "--topics-deny",
        type=_regex,
        metavar="RE",
        default=re.compile(INTERNAL_TOPICS),
        help="replaces the default, which hides Kafka's own topics",
    )


def _regex(text: str) -> re.Pattern[str]:
    if not text:
        raise argparse.ArgumentTypeError("an empty expression matches every name: leave it out")
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression: {error}") from error


def _cluster(text: str) -> str:
    if not CLUSTER_NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} must be letters, digits, '.', '_' or '-'")
    return text


def _seconds(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of seconds, at least 1")
    return int(text)


@dataclass(frozen=True, slots=True)
class Watcher:
    """A collector and the clock that schedules it; the interval in seconds."""

    collector: Collector
    interval: int

    def run_now(self) -> LagReport:
        """One run, for the second it is."""
        return self.collector.run(int(time.time()) * 1000).report

    def run_on_time(self) -> LagReport:
        """One run for the next whole interval of the clock."""
        due = (int(time.time()) // self.interval + 1) * self.interval
        time.sleep(max(0.0, due - time.time()))
        return self.collector.run(due * 1000).report


@dataclass(frozen=True, slots=True)
class ConsoleLogger:
    """Warnings of a run, one line each on a console."""

    console: Console

    def warning(self, message: str, /) -> None:
        """Prints the line as it is; names in it cannot act as markup."""
        _print_warning(self.console, "yellow", message)


def _watcher(options: WatchOptions, stderr: Console) -> Watcher:
    access = options.brokers.access
    source = KafkaSource(access, FixedCredentials(options.brokers.make_login()))
    deadline = max(45.0, access.broker_timeout)
    cluster = options.cluster or source.cluster_id(time.monotonic() + deadline)
    settings = Settings(
        cluster,
        access,
        options.rules,
        interval_ms=options.interval * 1000,
        deadline=deadline,
    )
    store = FolderStore(options.state)
    collector = Collector(settings, source, store, [], ConsoleLogger(stderr))
    return Watcher(collector, options.interval)


def _watch(watcher: Watcher, options: WatchOptions, screen: Console, stderr: Console) -> None:
    """The first run at once, and it must succeed; later ones may fail, with a warning."""
    run: Callable[[], LagReport] = watcher.run_now
    first = True
    while True:
        try:
            _show(run(), options, screen)
        except ReporterError as error:
            if first:
                raise
            _print_warning(stderr, "red", str(error))
        run, first = watcher.run_on_time, False


def _print_warning(console: Console, colour: str, message: str) -> None:
    now = f"{datetime.now(UTC):%H:%M:%S}"
    console.print(f"[dim]{now}[/] [{colour}]{escape_markup(message)}[/]", soft_wrap=True)


def _show(report: LagReport, options: WatchOptions, screen: Console) -> None:
    if options.output == "json":
        sys.stdout.write(json.dumps(_json_rows(report)) + "\n")
        sys.stdout.flush()
        return
    horizon = options.rules.risk_horizon_ms / 1000
    screen.print(groups_table(report.snapshot, screen.width, horizon))


def _json_rows(report: LagReport) -> list[dict[str, Any]]:
    rows = report.snapshot.group_partitions.completed(contract.GROUP_PARTITIONS)
    types = contract.COLUMNS[contract.GROUP_PARTITIONS]
    columns = [
        [None if ms is None else format_iso_time(ms, "milliseconds") for ms in column.to_list()]
        if types[name] == contract.TIMESTAMP
        else column.to_list()
        for name, column in rows.columns.items()
    ]
    return [dict(zip(rows.columns, row, strict=True)) for row in zip(*columns, strict=True)]


if __name__ == "__main__":
    raise SystemExit(main())
