# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag cost`: the monthly cost of a configuration, a table for each region."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kafka_lag_cli.connecting.deployment_file import CDK_FILE, read_deployment
from kafka_lag_cli.help_sections import option
from kafka_lag_cli.terminal.records import TABLE, output_option, write_records
from kafka_lag_config.cost.cost import Cost, Line, RegionCost, compare_ways, cost_of, sum_usd
from kafka_lag_config.cost.prices import load_prices
from kafka_lag_config.deployment import Deployment
from kafka_lag_config.faults import ConfigurationError

_WIDTH = 100
# With more clusters in a region each is one row.
_MOST_CLUSTERS_BY_LINE = 3

_UNVERIFIED = "?"
_NO_PLURAL = ("GB",)
_LEAST_SHOWN_USD = 0.005
_WHOLE_FROM = 100

_NOTES = (
    "An average month of 30.4 days, before tax, discounts and free tiers, once all that expires is "
    "as old as it gets; what never expires as of a year after the deploy.",
    "Sizes and times of runs are measured, those of the daily report and a scrape a minute are "
    "assumed (infra/kafka_lag_config/cost). Filters by expressions are taken to match everything.",
    "Not counted: traffic, queries and messages, which are a few percent at most.",
    "Prices, with source and date: infra/kafka_lag_config/cost/prices.toml. Lines with "
    f"{_UNVERIFIED} have prices that were not found in a copy of AWS's price list.",
)


@click.command(
    epilog="""\b
examples:
  kafka-lag cost
  kafka-lag cost --config deployment.toml
  kafka-lag cost --config deployment.toml --region eu-west-1 --output json
""",
)
@option(
    "--config",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help=f"configuration, or a {CDK_FILE} that names it (./{CDK_FILE})",
)
@option("--region", metavar="R", help="show the clusters of this region")
@output_option
def cost(config: Path | None, region: str | None, output: str) -> int:
    """Estimate what a configuration costs a month, without an AWS account."""
    try:
        deployment = _read(config or Path(CDK_FILE))
        if region:
            deployment = _in_region(deployment, region)
    except ConfigurationError as error:
        click.echo(error.line if len(error.faults) == 1 else str(error), err=True)
        return 2
    except _OptionError as error:
        click.echo(str(error), err=True)
        return 2
    found = cost_of(deployment, load_prices())
    if output != TABLE:
        lines = list(_list_lines(found))
        total = {"currency": "USD", "total": _round(found.usd)}
        whole = {**total, "lines": lines, "warnings": list(found.warnings)}
        write_records(lines, output, sys.stdout, whole=whole)
        return 0
    # Without a terminal rich takes 80 columns, and with a wide one all of them.
    screen = Console()
    screen.width = min(screen.width, _WIDTH) if screen.is_terminal else _WIDTH
    print_cost(found, screen, compare_ways(deployment, load_prices()))
    return 0


class _OptionError(Exception):
    """An option that names what is not there; its text says what to do."""


def _read(path: Path) -> Deployment:
    if not path.is_file():
        advice = "run this beside it, or name a configuration with --config FILE"
        raise _OptionError(f"There is no {path.absolute()}: {advice}.")
    return read_deployment(path)


def _in_region(deployment: Deployment, region: str) -> Deployment:
    regions = list(dict.fromkeys(each for _, each in deployment.places()))
    if region not in regions:
        raise _OptionError(f"No cluster is in {region}: choose from {', '.join(regions)}.")
    clusters = tuple(c for c in deployment.clusters if deployment.place_of(c)[1] == region)
    return deployment.model_copy(update={"clusters": clusters})


def _list_lines(cost: Cost) -> Iterator[dict[str, Any]]:
    """Yields a record for each line; those that clusters share name none."""
    for region in cost.regions:
        of_clusters = [(each.cluster.name, each.lines) for each in region.clusters]
        for cluster, lines in (*of_clusters, (None, region.shared)):
            for line in lines:
                yield {
                    "account": region.account,
                    "region": region.region,
                    "cluster": cluster,
                    "part": line.part,
                    "most": _describe_most(line),
                    "usd": _round(line.usd),
                    "lever": line.lever,
                }


def _round(usd: float) -> float:
    """Returns dollars to a hundredth of a cent."""
    return round(usd, 4)


def print_cost(cost: Cost, screen: Console, ways: Iterable[tuple[str, float, float]] = ()) -> None:
    """Prints the sums, their parts, the two ways of metrics, and what all rests on."""
    for region in cost.regions:
        screen.print(_region_table(region), "", sep="\n")
    if len(cost.regions) > 1:
        screen.print(Text(f"All regions: ${format_usd(cost.usd)} a month", style="bold"))
        screen.print()
    if rows := list(ways):
        screen.print(_ways_table(rows), "", sep="\n")
    if cost.warnings:
        _print_list("Look at", cost.warnings, screen)
        screen.print()
    _print_list("To know", _NOTES, screen)


def format_usd(usd: float) -> str:
    """Returns dollars and cents; `<0.01` for what would round to none."""
    return "<0.01" if 0 < usd < _LEAST_SHOWN_USD else f"{usd:,.2f}"


def format_units(units: float, unit: str) -> str:
    """Returns `1 metric`, `2 metrics` or `0.641 GB`: three digits below a hundred, whole above."""
    number = f"{units:,.0f}" if units >= _WHOLE_FROM or units == int(units) else f"{units:.3g}"
    return f"{number} {unit}{'' if units == 1 or unit in _NO_PLURAL else 's'}"


def _print_list(heading: str, sentences: Iterable[str], screen: Console) -> None:
    screen.print(Text(heading, style="bold"))
    rows = Table.grid(padding=(0, 1, 0, 0))
    for sentence in sentences:
        rows.add_row("-", Text(sentence))
    screen.print(rows)


def _region_table(region: RegionCost) -> Table:
    where = f"{region.region}, account {region.account}" if region.account else region.region
    groups = sum(each.cluster.expected.groups for each in region.clusters)
    per_group = f", ${format_usd(region.usd / groups)} a group" if groups else ""
    prices = "" if region.prices_of == region.region else f", at the prices of {region.prices_of}"
    table = Table(
        title=Text(f"{where}: ${format_usd(region.usd)} a month{per_group}{prices}", style="bold"),
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for name in ("part", "most of it", "changed by"):
        table.add_column(name, overflow="fold")
    table.add_column("$ a month", justify="right", no_wrap=True)
    by_line = len(region.clusters) <= _MOST_CLUSTERS_BY_LINE
    for one in region.clusters:
        expected, each = one.cluster.expected, one.usd_per_group
        sizes = (
            format_units(expected.groups, "group"),
            format_units(expected.group_partitions, "group-partition"),
        )
        a_group = "" if each is None else f"${format_usd(each)} a group"
        usd = f"{format_usd(one.usd)}  "
        table.add_row(one.cluster.name, ", ".join(sizes), a_group, usd, style="bold")
        if by_line:
            _add_lines(table, one.lines)
            table.add_section()
    table.add_section()
    table.add_row("shared", "", "", f"{format_usd(sum_usd(region.shared))}  ", style="bold")
    _add_lines(table, region.shared)
    return table


def _ways_table(rows: Iterable[tuple[str, float, float]]) -> Table:
    title = Text(
        "The whole by levels of metrics, $ a month, beside a new endpoint or NAT", style="bold"
    )
    table = Table(
        title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False
    )
    table.add_column("metrics of")
    for name in ("classic", "by OTLP"):
        table.add_column(name, justify="right", no_wrap=True)
    for word, classic, otlp in rows:
        table.add_row(word, f"{format_usd(classic)}  ", f"{format_usd(otlp)} {_UNVERIFIED}")
    return table


def _add_lines(table: Table, lines: Iterable[Line]) -> None:
    for line in lines:
        mark = " " if all(each.verified for each in line.charges) else _UNVERIFIED
        usd = f"{format_usd(line.usd)} {mark}"
        table.add_row(line.part, _describe_most(line), line.lever or "", usd)


def _describe_most(line: Line) -> str:
    most = line.charges[0]
    return format_units(most.units, most.unit)
