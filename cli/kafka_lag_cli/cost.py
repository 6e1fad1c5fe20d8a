# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag cost`: the monthly cost of a configuration, a table for each region."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kafka_lag_cli.connecting.deployment_file import CONFIG, read_deployment
from kafka_lag_cli.help_sections import command
from kafka_lag_cli.terminal.records import TABLE, output_option, write_records
from kafka_lag_config.cost.cost import Cost, Line, compare_ways, cost_of, load_prices, sum_usd

_WIDTH = 100
# With more clusters in a region each is one row.
_MOST_CLUSTERS_BY_LINE = 3
_UNVERIFIED = "?"
_NO_PLURAL = ("GB", "series")
_LEAST_SHOWN_USD = 0.005
_WHOLE_FROM = 100

_NOTES = (
    "An average month of 30.4 days, before tax, discounts and free tiers, once all that expires is "
    "as old as it gets; what never expires as of a year after the deploy.",
    "Sizes and times of runs are measured, those of the daily report and a scrape a minute are "
    "assumed (infra/kafka_lag_config/cost). An expression that lists names, as in ^(a|b)$, counts "
    "those; any other is taken to match everything.",
    "A KMS key made here counts as three: each of its first two yearly rotations costs as much "
    "again.",
    "Not counted: traffic, queries and messages, which are a few percent at most, and what OTLP "
    "endpoints that are not AWS's charge.",
    "Prices, with source and date: infra/kafka_lag_config/cost/prices.toml. Lines with "
    f"{_UNVERIFIED} have prices that were not found in a copy of AWS's price list.",
)


@command(
    epilog="""\b
examples:
  kafka-lag cost
  kafka-lag cost --config deployment.toml
  kafka-lag cost --config deployment.toml --output json
""",
)
@CONFIG
@output_option
def cost(file: Path | None, output: str) -> None:
    """Estimate what a configuration costs a month, without an AWS account."""
    deployment = read_deployment(file)
    found = cost_of(deployment, load_prices())
    if output == TABLE:
        # Without a terminal rich takes 80 columns, and with a wide one all of them.
        screen = Console()
        screen.width = min(screen.width, _WIDTH) if screen.is_terminal else _WIDTH
        print_cost(found, screen, compare_ways(deployment, load_prices()))
    else:
        _write(found, output)


def _write(found: Cost, form: str) -> None:
    """Writes a record for each line; the lines that clusters share name no cluster."""
    lines = [
        {
            "account": line.account,
            "region": line.region,
            "cluster": line.cluster,
            "part": line.part,
            "most": format_units(line.units, line.unit),
            "usd": round(line.usd, 4),
            "lever": line.lever,
        }
        for line in found.lines
    ]
    total = {"currency": "USD", "total": round(found.usd, 4)}
    whole = {**total, "lines": lines, "warnings": list(found.warnings)}
    write_records(lines, form, sys.stdout, whole=whole)


def print_cost(cost: Cost, screen: Console, ways: Iterable[tuple[str, float, float]] = ()) -> None:
    """Prints the sums, their parts, the two ways of metrics, and the assumptions."""
    places = [list(lines) for _, lines in groupby(cost.lines, lambda x: (x.account, x.region))]
    for lines in places:
        screen.print(_place_table(lines), "", sep="\n")
    if len(places) > 1:
        screen.print(Text(f"All regions: ${format_usd(cost.usd)} a month", style="bold"))
        screen.print()
    if rows := list(ways):
        screen.print(_ways_table(rows), "", sep="\n")
    for heading, sentences in (("Look at", cost.warnings), ("To know", _NOTES)):
        if sentences:
            screen.print(Text(heading, style="bold"))
            listed = Table.grid(padding=(0, 1, 0, 0))
            for sentence in sentences:
                listed.add_row("-", Text(sentence))
            screen.print(listed)
            screen.print()


def format_usd(usd: float) -> str:
    """Returns dollars and cents; `<0.01` for what would round to none."""
    return "<0.01" if 0 < usd < _LEAST_SHOWN_USD else f"{usd:,.2f}"


def format_units(units: float, unit: str) -> str:
    """Returns `1 metric`, `2 metrics` or `0.641 GB`: three digits below a hundred, whole above."""
    number = f"{units:,.0f}" if units >= _WHOLE_FROM or units == int(units) else f"{units:.3g}"
    return f"{number} {unit}{'' if units == 1 or unit in _NO_PLURAL else 's'}"


def _table(title: str) -> Table:
    heading = Text(title, style="bold")
    return Table(title=heading, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)


def _place_table(lines: list[Line]) -> Table:
    """Returns the table of an account and region: its clusters, then what they share."""
    first, usd = lines[0], format_usd(sum_usd(lines))
    where = f"{first.region}, account {first.account}" if first.account else first.region
    table = _table(f"{where}: ${usd} a month")
    for name in ("part", "most of it", "changed by"):
        table.add_column(name, overflow="fold")
    table.add_column("$ a month", justify="right", no_wrap=True)
    by_cluster = [(name, list(own)) for name, own in groupby(lines, lambda line: line.cluster)]
    for name, own in by_cluster:
        usd = f"{format_usd(sum_usd(own))}  "
        table.add_row(name or "shared", "", "", usd, style="bold")
        if name is None or len(by_cluster) <= _MOST_CLUSTERS_BY_LINE + 1:
            for line in own:
                usd = f"{format_usd(line.usd)} {' ' if line.verified else _UNVERIFIED}"
                most = format_units(line.units, line.unit)
                table.add_row(line.part, most, line.lever or "", usd)
            table.add_section()
    return table


def _ways_table(rows: Iterable[tuple[str, float, float]]) -> Table:
    table = _table("The whole by levels of metrics, $ a month, beside a new endpoint or NAT")
    table.add_column("metrics of")
    for name in ("classic", "by OTLP"):
        table.add_column(name, justify="right", no_wrap=True)
    for word, classic, otlp in rows:
        table.add_row(word, f"{format_usd(classic)}  ", f"{format_usd(otlp)} {_UNVERIFIED}")
    return table
