# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag why`: why a group is behind, on snapshots or on brokers."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import click
from rich.console import Console

from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.store import BrowsableStore, FolderStore
from kafka_lag.wording.formatting import format_minute
from kafka_lag_cli.connecting.collect_options import (
    CollectOptions,
    collect_options,
    collect_options_of,
    names_brokers,
    refuse_without_brokers,
)
from kafka_lag_cli.connecting.missing_rights import check_rights_to_read
from kafka_lag_cli.help_sections import SectionedCommand, option
from kafka_lag_cli.numbers import WholeNumber
from kafka_lag_cli.state.groups_over_time import AT_ONCE
from kafka_lag_cli.state.place import SnapshotPlace
from kafka_lag_cli.state.runs import check_gone, find_runs, groups_of, run_of_group
from kafka_lag_cli.terminal.group_rows import Row
from kafka_lag_cli.terminal.progress import count_objects
from kafka_lag_cli.terminal.records import TABLE, output_option
from kafka_lag_cli.terminal.selection_options import check_group
from kafka_lag_cli.terminal.text import WarningPrinter, ignore_closed_pipe, open_screen, wording_of
from kafka_lag_cli.two_readings import read_twice
from kafka_lag_cli.why.explanation import explain, read_snapshot
from kafka_lag_cli.why.output import (
    print_explanation,
    print_troubles,
    write_explanation,
    write_troubles,
)

_HOURS, _MOST_HOURS = 3, 72
# Until the second reading, as for `show`.
_GAP = 6
_OF_COLLECTOR = ("gap",)
_TIME_OF_DAY = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")


@dataclass(frozen=True, slots=True)
class Request:
    """A request: the group, null for all groups in trouble; the time, ms, null for now."""

    group: str | None
    at: int | None
    hours: int
    output: str


@click.command(
    "why",
    cls=SectionedCommand,
    epilog="""\b
examples:
  kafka-lag why billing
  kafka-lag why billing --state s3://kafka-lag-data --at 2026-01-31T03:10
  kafka-lag why billing --bootstrap-servers localhost:9092
  kafka-lag why --all --output json
""",
)
@click.argument("group", required=False)
@option("--all", "every", is_flag=True, help="list every group in trouble")
@option(
    "--hours",
    type=WholeNumber(1, _MOST_HOURS),
    metavar="N",
    default=str(_HOURS),
    help=f"length of the timeline ({_HOURS})",
)
@option(
    "--at",
    metavar="TIME",
    help="explain a past time: 03:10 or 2026-01-31T03:10, UTC",
)
@output_option
@option(
    "--gap",
    type=WholeNumber(0, 3600),
    default=str(_GAP),
    metavar="S",
    help=f"seconds until the second reading of brokers ({_GAP})",
)
@collect_options
def why(**options: Any) -> None:
    """Explain why GROUP is behind: its cause, what to do, and its last hours.

    Reads the snapshots of --state; with --bootstrap-servers or --config the cluster itself.
    """
    request = _request_of(options)
    if names_brokers(options):
        if request.at is not None:
            raise click.UsageError("--at is of snapshots: leave out the brokers.")
        _answer_from_brokers(request, collect_options_of(options), options)
    else:
        refuse_without_brokers(options, _OF_COLLECTOR, allowed=["cluster"])
        _answer_from_store(request, options)


def _request_of(options: Mapping[str, Any]) -> Request:
    """Raises click.UsageError."""
    if (options["group"] is None) != options["every"]:
        raise click.UsageError("Name one group, or give --all.")
    at = None if options["at"] is None else parse_time(options["at"], time.time())
    return Request(options["group"], at, int(options["hours"]), options["output"])


def parse_time(text: str, now: float) -> int:
    """A time of the past, ms, UTC unless it names a zone; a time of day is the last such one.

    `now` in seconds. Raises click.UsageError.
    """
    today = datetime.fromtimestamp(now, UTC)
    if time_of_day := _TIME_OF_DAY.fullmatch(text):
        hour, minute = (int(each) for each in time_of_day.groups())
        moment = today.replace(hour=hour, minute=minute, second=0, microsecond=0)
        moment -= timedelta(days=1) if moment > today else timedelta()
    else:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise click.UsageError(
                f"--at {text} must be a time, written 03:10 or 2026-01-31T03:10."
            ) from None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment > today:
        raise click.UsageError(f"--at {text} has not been yet.")
    return int(moment.timestamp() * 1000)


def _answer_from_store(request: Request, options: Mapping[str, Any]) -> None:
    place = replace(options["state"] or SnapshotPlace(), profile=options["profile"])
    place.check_folder()
    store = place.open_store(AT_ONCE)
    runs = find_runs(store, place.describe(), options["cluster"], request.at)
    if request.group is None:
        _answer_all(request, [(run.cluster, run.taken_at, groups_of(run)) for run in runs])
        return
    check_gone(store, request.group, runs, request.hours)
    run = run_of_group(request.group, runs, request.at)
    newest = read_snapshot(store, run.cluster, run.taken_at)
    _answer_one(request, store, run.cluster, newest, round(run.interval_seconds * 1000))
    if request.at is None and run.is_old:
        click.echo(
            f"The newest run is of {format_minute(run.taken_at)}; nothing is known since then.",
            err=True,
        )


def _answer_from_brokers(
    request: Request, collect: CollectOptions, options: Mapping[str, Any]
) -> None:
    stderr, by_document = Console(stderr=True), bool(options["config"])
    wording = wording_of(config=by_document)
    logger = WarningPrinter(stderr, wording)
    report = read_twice(collect, options["gap"], stderr, logger, by_document=by_document)
    snapshot = report.snapshot
    if not len(snapshot.groups):
        check_rights_to_read(collect, snapshot)
    if request.group is None:
        _answer_all(request, [(report.cluster, snapshot.taken_at, snapshot.groups.to_dicts())])
        return
    check_group(snapshot, request.group, report.unread_brokers)
    interval_ms = collect.settings.rules.interval_ms
    _answer_one(request, FolderStore(collect.state), report.cluster, snapshot, interval_ms)


def _answer_all(request: Request, runs: Sequence[tuple[str, int, Sequence[Row]]]) -> None:
    with ignore_closed_pipe():
        if request.output == TABLE:
            print_troubles(runs, open_screen())
        else:
            write_troubles(runs, request.output, sys.stdout)


def _answer_one(
    request: Request, store: BrowsableStore, cluster: str, newest: Snapshot, interval_ms: int
) -> None:
    with count_objects() as progress:
        found = explain(
            store, cluster, str(request.group), newest, request.hours, interval_ms, progress
        )
    with ignore_closed_pipe():
        if request.output == TABLE:
            print_explanation(found, open_screen())
        else:
            write_explanation(found, request.output, sys.stdout)
