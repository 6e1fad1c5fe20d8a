# SPDX-License-Identifier: Apache-2.0
"""How right time lags are: logs of known record times on three real brokers, against the truth.

Each case is run cold (nothing known before), once more, and with an hour of runs behind it. Ends
with 1 when a measure is missed: the 95th percentile of the error within max(2 s, 0.3 % of the
age), no truth outside the stated error, few look-ups, no impossible number.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console

from dev.benchmarks.time_lag.cases import CASES, WIDE, Case
from dev.benchmarks.time_lag.runs import Line, measure_case
from dev.benchmarks.time_lag.staging import Stage
from dev.benchmarks.time_lag.tables import WIDTH, cases_table, json_of, wide_table
from dev.kafka import KafkaCluster
from kafka_lag.brokers.access import Access, Credentials
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.source import KafkaSource, quiet_library
from kafka_lag.lag.group_settings import Rules
from kafka_lag_cli.connecting.rule_options import rule_options, rules_of
from kafka_lag_cli.help_sections import SectionedCommand, option

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
@rule_options
def main(names: Sequence[str], seed: int, *, as_json: bool, **rules: Any) -> None:
    """Prints the tables, and what was missed; ends with 1 if anything was."""
    quiet_library()
    progress = Console(stderr=True, highlight=False)
    cases = [CASES[name] for name in dict.fromkeys(names or CASES)]
    measured = _measured(cases, seed, rules_of(rules), progress)
    missed = [f"{line.case}, {line.run}: {why}" for line in measured for why in line.missed]
    if as_json:
        sys.stdout.write(json.dumps([json_of(line) for line in measured], indent=1) + "\n")
    else:
        _show(measured)
    for words in missed:
        progress.print(f"[red]missed[/] {words}", soft_wrap=True)
    sys.exit(1 if missed else 0)


def _measured(cases: Sequence[Case], seed: int, rules: Rules, progress: Console) -> list[Line]:
    def say(words: str) -> None:
        progress.print(words, style="dim")

    measured: list[Line] = []
    say("starting three brokers")
    with KafkaCluster(settings=_SETTINGS) as cluster:
        prepared = Stage(cluster, seed, say).prepare(cases)
        source = _source(cluster)
        for each in prepared:
            say(f"{each.case.name}: {len(each.groups):,} positions")
            measured += measure_case(source, each, rules)
        source.close()
    return measured


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
