# SPDX-License-Identifier: Apache-2.0
"""How right time lags are: logs of known record times on three real brokers, against the truth.

Each case is run cold (nothing known before), once more, and with an hour of runs behind it. Ends
with 1 when a measure is missed: the 95th percentile of the error within max(2 s, 0.3 % of the
age), no truth outside the stated error, few look-ups, no impossible number.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from dev.benchmarks.time_lag.brokers import Place, steady_for
from dev.benchmarks.time_lag.cases import CASES, HOUR, WIDE, Case
from dev.benchmarks.time_lag.runs import Line, measure_case
from dev.benchmarks.time_lag.staging import Stage
from dev.benchmarks.time_lag.tables import WIDTH, cases_table, json_of, wide_table
from dev.kafka import KafkaCluster
from dev.kafka.readiness import wait_until
from dev.kafka.tiered import TIERED_TOPIC, tiered_settings
from kafka_lag.brokers.access import Access, Credentials
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import KafkaSource, quiet_library
from kafka_lag.lag.group_settings import Rules
from kafka_lag_cli.connecting.rule_options import rule_options, rules_of
from kafka_lag_cli.help_sections import SectionedCommand, option

_SEGMENTS = {"segment.ms": str(6 * HOUR)}
_WITHIN, _UNMOVED_SECONDS = 60.0, 5.0
# The log cleaner looks for work at once, not every 15 s; a thousand small logs need no indexes
# of 10 MB each, which take long to make and to remove.
_SETTINGS = {"log.cleaner.backoff.ms": "200", "log.index.size.max.bytes": "65536"}


@click.command(
    "python -m dev.benchmarks.time_lag",
    help=__doc__,
    epilog="cases: " + "; ".join(f"{case.name} ({case.summary})" for case in CASES.values()),
    cls=SectionedCommand,
)
@option(
    "--case",
    "names",
    type=click.Choice(list(CASES)),
    multiple=True,
    metavar="NAME",
    help="one of those below, as often as you like (default: all)",
)
@option("--seed", type=int, default=1, help="of times and commits (1)")
@option("--json", "as_json", is_flag=True, help="JSON instead of tables")
@option(
    "--tiered",
    is_flag=True,
    help="topics whose old segments lie in remote storage alone; none are compacted",
)
@rule_options
def main(names: Sequence[str], seed: int, *, as_json: bool, tiered: bool, **rules: Any) -> None:
    """Prints the tables, and what was missed; ends with 1 if anything was."""
    quiet_library()
    progress = Console(stderr=True, highlight=False)
    cases = [CASES[name] for name in dict.fromkeys(names or CASES)]
    if tiered:
        cases = [_tiered(case) for case in cases if case.kept is None]
    measured = _measured(cases, seed, rules_of(rules), progress, tiered=tiered)
    missed = [f"{line.case}, {line.run}: {why}" for line in measured for why in line.missed]
    if as_json:
        sys.stdout.write(json.dumps([json_of(line) for line in measured], indent=1) + "\n")
    else:
        _show(measured)
    for words in missed:
        progress.print(f"[red]missed[/] {words}", soft_wrap=True)
    sys.exit(1 if missed else 0)


def _tiered(case: Case) -> Case:
    """The same with segments that end by the records' own times."""
    return replace(case, config={**_SEGMENTS, **case.config, **TIERED_TOPIC})


def _measured(
    cases: Sequence[Case], seed: int, rules: Rules, progress: Console, *, tiered: bool
) -> list[Line]:
    def say(words: str) -> None:
        progress.print(words, style="dim")

    measured: list[Line] = []
    say("starting three brokers")
    with tempfile.TemporaryDirectory(prefix="remote-") as remote, ExitStack() as stack:
        more = tiered_settings(Path(remote), brokers=3) if tiered else {}
        cluster = stack.enter_context(KafkaCluster(settings={**_SETTINGS, **more}))
        prepared = Stage(cluster, seed, say).prepare(cases)
        source = _source(cluster)
        stack.callback(source.close)
        if tiered:
            _wait_for_copies(source, say)
        for each in prepared:
            say(f"{each.case.name}: {len(each.groups):,} positions")
            measured += measure_case(source, each, rules)
    return measured


def _wait_for_copies(source: KafkaSource, say: Callable[[str], None]) -> None:
    """Until no local log start moves any more, of which some have."""
    say("waiting for segments that lie in remote storage alone")

    def local_starts() -> dict[Place, int]:
        reading = source.read(ReadRequest(), time.monotonic() + _WITHIN).topic_partitions
        names = ("topic", "partition_id", "local_start_offset", "start_offset")
        rows = zip(*(reading.columns[name].to_list() for name in names), strict=True)
        return {(topic, n): local for topic, n, local, start in rows if local and local > start}

    wait_until(lambda: bool(local_starts()), what="a segment in remote storage alone")
    steady_for(local_starts, _UNMOVED_SECONDS)
    say(f"{len(local_starts()):,} partitions begin in remote storage")


def _source(cluster: KafkaCluster) -> KafkaSource:
    monitor = cluster.users["monitor"]
    access = Access(tuple(cluster.bootstrap("SASL_SSL").split(",")), cafile=str(cluster.cafile))
    return KafkaSource(access, FixedCredentials(Credentials(monitor.username, monitor.password)))


def _show(measured: Sequence[Line]) -> None:
    console = Console()
    if console.width < WIDTH and not console.is_terminal:
        console = Console(width=WIDTH)
    console.print(cases_table(measured))
    wide = [line for line in measured if line.case == WIDE]
    if wide:
        console.print(wide_table(wide))


if __name__ == "__main__":
    main()
