# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag show`: the groups of a cluster once, read twice to see who stands still."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from kafka_lag import contract
from kafka_lag.wording.formatting import format_short_duration
from kafka_lag_cli.connecting.collect_options import collect_options, collect_options_of
from kafka_lag_cli.help_sections import command, option
from kafka_lag_cli.numbers import WholeNumber
from kafka_lag_cli.terminal.group_rows import Row, Selection, select_groups, sla_used
from kafka_lag_cli.terminal.records import TABLE
from kafka_lag_cli.terminal.selection_options import (
    check_group,
    selection_of,
    selection_options,
    write_selected,
)
from kafka_lag_cli.terminal.text import WarningPrinter, ignore_closed_pipe, open_screen, wording_of

if TYPE_CHECKING:
    from kafka_lag.lag.group_settings import Rules
    from kafka_lag_cli.two_readings import TwoReadings

# Consumers commit each five seconds by default [Kafka, auto.commit.interval.ms].
_GAP = 6
REACHED, NOT_KNOWN = 3, 4
_SLA = "sla"
_AT_LEAST = {
    contract.ERR: frozenset({contract.ERR}),
    contract.WARN: frozenset({contract.ERR, contract.WARN}),
}


@command(
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
    with stderr.status("reading the cluster"):
        # Numbers, Parquet and Kafka's client cost the start of those alone who read a cluster.
        from kafka_lag_cli.connecting.missing_rights import check_rights_to_read  # noqa: PLC0415
        from kafka_lag_cli.two_readings import read_twice  # noqa: PLC0415

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
    # Groups of which no partition can be read are printed before the missing rights are explained.
    check_rights_to_read(collect, report.snapshot)
    return code


def _write(
    report: TwoReadings, selection: Selection, rules: Rules, options: Mapping[str, Any]
) -> None:
    if options["output"] == TABLE:
        from kafka_lag_cli.terminal.group_details import draw_run  # noqa: PLC0415

        notes, wide = idle_notes(report), options["wide"]
        screen = open_screen(wide=wide)
        screen.print(
            draw_run(report.snapshot, selection, rules, screen.width, notes=notes, wide=wide)
        )
    else:
        write_selected(report.snapshot, report.cluster, selection, options)


def exit_code(report: TwoReadings, selection: Selection, fail_on: Collection[str]) -> int:
    """Returns 3 if a selected group is as bad as one of these, 4 if that is unknown of one, else 0.

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
    """Returns true if an unknown status may be worse; a group of another protocol has none."""
    unjudged = row["status"] is None and (row["lag"] is not None or row["unread_reason"])
    return bool(row["partitions_unknown"] or unjudged)


def idle_notes(report: TwoReadings) -> dict[str, str]:
    """Returns by group how many partitions with lag stood still; without a number, all did."""
    waited = format_short_duration(report.gap)
    return {
        name: f"idle {waited}" if idle == lagging else f"{idle} of {lagging} idle"
        for name, (idle, lagging) in report.idle.items()
    }
