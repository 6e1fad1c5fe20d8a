# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag show`: the groups of a cluster once, read twice to see who stands still."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import click
from rich.console import Console

from kafka_lag import contract
from kafka_lag.collector import Collector, WarningLogger
from kafka_lag.errors import StoreError
from kafka_lag.lag.frame import locate
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import LagReport, Snapshot
from kafka_lag.settings import Settings
from kafka_lag.wording.formatting import format_short_duration
from kafka_lag_cli.connecting.collect_options import (
    CollectOptions,
    collect_options,
    collect_options_of,
)
from kafka_lag_cli.connecting.missing_rights import check_rights_to_read
from kafka_lag_cli.help_sections import SectionedCommand, option
from kafka_lag_cli.numbers import WholeNumber
from kafka_lag_cli.schedule import describe_unkept
from kafka_lag_cli.state.shared import HeldStore, find_interval
from kafka_lag_cli.terminal.group_details import group_details
from kafka_lag_cli.terminal.group_rows import Row, Selection, select_groups, sla_used, write_rows
from kafka_lag_cli.terminal.group_table import groups_table
from kafka_lag_cli.terminal.records import TABLE
from kafka_lag_cli.terminal.selection_options import (
    check_group,
    row_kind,
    selection_of,
    selection_options,
)
from kafka_lag_cli.terminal.text import WarningPrinter, ignore_closed_pipe, open_screen, wording_of

# Consumers commit each five seconds by default [Kafka, auto.commit.interval.ms].
_GAP = 6
REACHED, NOT_KNOWN = 3, 4
_SLA = "sla"
_AT_LEAST = {
    contract.ERR: frozenset({contract.ERR}),
    contract.WARN: frozenset({contract.ERR, contract.WARN}),
}


@click.command(
    cls=SectionedCommand,
    epilog="""\b
examples:
  kafka-lag show -b b-1.example:9096 --command-config client.properties
  kafka-lag show -b b-1.example:9098 --iam --group billing
""",
)
@selection_options
@option(
    "--gap",
    type=WholeNumber(0, 3600),
    default=str(_GAP),
    metavar="S",
    help=f"seconds until the second reading; 0 reads once ({_GAP})",
)
@option(
    "--fail-on",
    multiple=True,
    type=click.Choice([*_AT_LEAST, _SLA]),
    metavar="WORD",
    help="exit with 3 if a group is ERR or WARN, or breaks its sla",
)
@collect_options
def show(**options: Any) -> int:
    """Show the lag of a cluster's consumer groups, the worst first.
    Needs Describe on the cluster, topics and groups; reads no record.
    """
    selection = selection_of(options)
    collect = collect_options_of(options)
    stderr = Console(stderr=True)
    by_document = bool(options["config"])
    wording = wording_of(config=by_document)
    logger = WarningPrinter(stderr, wording)
    report = read_twice(collect, options["gap"], stderr, logger, by_document=by_document)
    if not len(report.snapshot.groups):
        check_rights_to_read(collect, report.snapshot)
    check_group(report.snapshot, selection.group, report.unread_brokers)
    code = exit_code(report, selection, options["fail_on"])
    with ignore_closed_pipe():
        _write(report, selection, collect.settings.rules, options)
    # Groups without any partition are worth to be shown first.
    check_rights_to_read(collect, report.snapshot)
    return code


def _write(
    report: TwoReadings, selection: Selection, rules: Rules, options: Mapping[str, Any]
) -> None:
    if options["output"] == TABLE:
        print_report(report, selection, rules, wide=options["wide"])
    else:
        write_rows(
            report.snapshot,
            report.cluster,
            selection,
            row_kind(options),
            options["output"],
            sys.stdout,
        )


@dataclass(frozen=True, slots=True)
class TwoReadings:
    """The second of two readings, `gap` seconds after the first one; 0 if there is only one.

    `idle`: by group, how many partitions have lag and no new commit in between, and how many have
    lag. Where nothing else is known of them for as long as a status takes, the snapshot has no
    status of them. A broker that was not read may know of more groups.
    """

    cluster: str
    snapshot: Snapshot
    gap: int
    idle: Mapping[str, tuple[int, int]]
    unread_brokers: tuple[str, ...] = ()


def read_twice(
    collect: CollectOptions,
    gap: int,
    stderr: Console,
    logger: WarningLogger,
    *,
    by_document: bool = False,
) -> TwoReadings:
    """Reads the cluster, waits and reads it again. Raises ReporterError.

    Beside somebody who collects into the same state it keeps nothing, and judges by that one's
    interval, unless a configuration says it. With filters it keeps nothing beside what they hide.
    """
    settings = replace(collect.settings, interval_ms=max(gap, 1) * 1000)
    # A reading by hand is not made to be kept.
    held = HeldStore(collect.open_store(lambda _sentence: None))

    def find(cluster: str) -> int | None:
        return find_interval(collect.state, cluster, time.time())

    def adapt(settings: Settings) -> Settings:
        interval = None if by_document else find(settings.cluster)
        return settings if interval is None else judge_at(settings, interval)

    collector = replace(collect, settings=settings).open_into(held, logger, adapt=adapt)
    keep = find(collector.cluster) is None
    readings = take_readings(collector, held, gap, stderr.status, logger, keep=keep)
    report = readings[-1]
    for note in report.notes:
        logger.warning(note)
    if len(readings) == 1:
        found = TwoReadings(collector.cluster, report.snapshot, 0, {})
    else:
        first, second = (reading.snapshot for reading in readings)
        found = compare_readings(collector.cluster, first, second, collector.rules, gap)
    if keep:
        collect.remove_old_days()
    brokers = (problem.name for problem in report.problems if problem.scope == "broker")
    return replace(found, unread_brokers=tuple(dict.fromkeys(brokers)))


def judge_at(settings: Settings, interval_ms: int) -> Settings:
    """Return settings for runs as far apart as those of the collector that shares the state."""
    return replace(settings, rules=settings.rules.at_interval(interval_ms))


def take_readings(
    collector: Collector,
    held: HeldStore,
    gap: int,
    waiting: Callable[[str], AbstractContextManager[object]],
    logger: WarningLogger,
    *,
    keep: bool,
    wait: Callable[[float], object] = time.sleep,
    clock: Callable[[], float] = time.time,
) -> list[LagReport]:
    """One reading, and another after `gap` seconds unless that is 0. Raises ReporterError.

    The last one alone is saved, if any shall be: two so close together are no interval. A store
    that fails costs no reading, and is warned of.
    """
    with waiting("reading the cluster"):
        outcomes = [collector.collect(int(clock()) * 1000)]
    if gap:
        # From the end of the first reading, which may take longer than the gap.
        with waiting(f"reading again {gap} s later, to see who stands still (--gap 0: do not)"):
            wait(gap)
            outcomes.append(collector.collect(int(clock()) * 1000))
    failure = outcomes[-1].failure
    if keep and not failure:
        try:
            held.save(outcomes[-1].report.snapshot.taken_at)
        except StoreError as error:
            failure = error
    if failure:
        logger.warning(describe_unkept(failure))
    return [outcome.report for outcome in outcomes]


def compare_readings(
    cluster: str, first: Snapshot, second: Snapshot, rules: Rules, gap: int
) -> TwoReadings:
    """Find groups that stood still between two readings; their status is not known yet."""
    rows = second.group_partitions
    before = first.group_partitions.take(locate(rows, first.group_partitions, contract.ROW_KEY))
    same = rows.numbers("committed_offset") == before.numbers("committed_offset")
    lagging = rows.numbers("lag") > 0
    idle = same & lagging
    window_ms = rules.window_ms
    is_old = ~(rows.numbers("time_lag_seconds") * 1000 <= window_ms)
    seen_shortly = ~(rows.numbers("commit_changed_at") <= second.taken_at - window_ms)
    unproven = idle & is_old & seen_shortly & rows.strings("status").is_in([contract.OK])
    names = rows.strings("consumer_group")
    idle_of, lagging_of = (Counter(names.only(mask).to_list()) for mask in (idle, lagging))
    counts = {name: (idle_of[name], lagging_of[name]) for name in idle_of if name is not None}
    groups = second.groups
    unsure = groups.strings("consumer_group").is_in(
        names.only(unproven).pruned().categories
    ) & groups.strings("status").is_in([contract.OK])
    snapshot = replace(
        second,
        group_partitions=rows.with_columns(status=rows.strings("status").only(~unproven)),
        groups=groups.with_columns(status=groups.strings("status").only(~unsure)),
    )
    return TwoReadings(cluster, snapshot, gap, counts)


def exit_code(report: TwoReadings, selection: Selection, fail_on: Collection[str]) -> int:
    """3 if a selected group is as bad as one of these, else 4 if that is not known of all, else 0.

    `--top` and `--status` hide no group from it.
    """
    if not fail_on:
        return 0
    everyone = replace(selection, top=None, statuses=frozenset())
    rows = select_groups(report.snapshot, everyone).rows
    bad = frozenset[str]().union(*(_AT_LEAST.get(word, ()) for word in fail_on))
    with_sla = [row for row in rows if row["sla_seconds"]] if _SLA in fail_on else []
    if any(row["status"] in bad for row in rows) or any(map(_breaks_sla, with_sla)):
        return REACHED
    unknown = bool(report.unread_brokers)
    unknown |= bool(bad) and any(map(_may_be_worse, rows))
    unknown |= any(row["time_lag_error_seconds"] is None for row in with_sla)
    return NOT_KNOWN if unknown else 0


def _breaks_sla(row: Row) -> bool:
    return (sla_used(row) or 0.0) > 1


def _may_be_worse(row: Row) -> bool:
    """A group without any lag to have a status of, as one of another protocol, is not."""
    unjudged = row["status"] is None and (row["lag"] is not None or row["unread_reason"])
    return bool(row["partitions_unknown"] or unjudged)


def print_report(
    report: TwoReadings, selection: Selection, rules: Rules, *, wide: bool = False
) -> None:
    """The groups selected, or the details of one."""
    screen = open_screen(wide=wide)
    if selection.group is not None:
        details = group_details(
            report.snapshot, selection.group, screen.width, selection=selection, wide=wide
        )
        screen.print(details)
        return
    horizon = rules.risk_horizon_ms / 1000
    notes = idle_notes(report)
    table = groups_table(
        report.snapshot,
        screen.width,
        horizon,
        selection,
        notes,
        has_filters=not rules.groups.accepts_all,
        wide=wide,
    )
    screen.print(table)


def idle_notes(report: TwoReadings) -> dict[str, str]:
    """Return by group how many partitions with lag stood still; without a number, all did."""
    waited = format_short_duration(report.gap)
    return {
        name: f"idle {waited}" if idle == lagging else f"{idle} of {lagging} idle"
        for name, (idle, lagging) in report.idle.items()
    }
