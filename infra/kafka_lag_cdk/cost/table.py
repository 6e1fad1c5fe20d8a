# SPDX-License-Identifier: Apache-2.0
"""The cost for people: a table for each region, and below them what to know of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kafka_lag_cdk.cost.cost import Cost, Line, RegionCost, sum_usd
from kafka_lag_cdk.cost.warnings import ASSUMPTIONS

# With more clusters in a region each is one row.
_MOST_CLUSTERS_BY_LINE = 3

_UNVERIFIED = "?"
_NO_PLURAL = ("GB", "TB")
_LEAST_SHOWN_USD = 0.005
_WHOLE_FROM = 100


def print_cost(cost: Cost, screen: Console, *, every_line: bool = False) -> None:
    """Prints all of it; `every_line` of each cluster, however many there are."""
    for region in cost.regions:
        by_line = every_line or len(region.clusters) <= _MOST_CLUSTERS_BY_LINE
        screen.print(_region_table(region, by_line=by_line), "", sep="\n")
    if len(cost.regions) > 1:
        screen.print(Text(f"All regions: ${format_usd(cost.usd)} a month", style="bold"))
        screen.print()
    if cost.warnings:
        _print_list("Look at", cost.warnings, screen)
        screen.print()
    _print_list("To know", (*ASSUMPTIONS, _price_dates(cost)), screen)


def format_usd(usd: float) -> str:
    """Dollars and cents; what would round to none is `<0.01`."""
    return "<0.01" if 0 < usd < _LEAST_SHOWN_USD else f"{usd:,.2f}"


def format_units(units: float, unit: str) -> str:
    """`1 metric`, `2 metrics`, `0.641 GB`: three digits below a hundred, whole above."""
    number = f"{units:,.0f}" if units >= _WHOLE_FROM or units == int(units) else f"{units:.3g}"
    return f"{number} {unit}{'' if units == 1 or unit in _NO_PLURAL else 's'}"


def _print_list(heading: str, sentences: Iterable[str], screen: Console) -> None:
    screen.print(Text(heading, style="bold"))
    rows = Table.grid(padding=(0, 1, 0, 0))
    for sentence in sentences:
        rows.add_row("-", Text(sentence))
    screen.print(rows)


def _region_table(region: RegionCost, *, by_line: bool) -> Table:
    where = f"{region.region}, account {region.account}" if region.account else region.region
    groups = sum(each.cluster.expected.groups for each in region.clusters)
    per_group = f", ${format_usd(region.usd / groups)} a group" if groups else ""
    prices = "" if region.prices_of == region.region else f", at the prices of {region.prices_of}"
    table = Table(
        title=Text(f"{where}: ${format_usd(region.usd)} a month{per_group}{prices}", style="bold"),
        title_justify="left",
        caption_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for name in ("service", "item"):
        table.add_column(name, overflow="fold")
    table.add_column("quantity", justify="right", overflow="fold")
    table.add_column("as", overflow="fold")
    table.add_column("$ a month", justify="right", no_wrap=True)
    for one in region.clusters:
        expected, each = one.cluster.expected, one.usd_per_group
        table.add_row(
            one.cluster.name,
            "" if each is None else f"${format_usd(each)} a group",
            format_units(expected.groups, "group"),
            format_units(expected.group_partitions, "group-partition"),
            _usd_cell(one.usd),
            style="bold",
        )
        if by_line:
            _add_lines(table, one.lines)
            table.add_section()
    table.add_section()
    table.add_row("shared", "", "", "", _usd_cell(sum_usd(region.shared)), style="bold")
    _add_lines(table, region.shared)
    table.caption = Text("\n".join(_sentences_below(region)))
    return table


def _sentences_below(region: RegionCost) -> Iterator[str]:
    if (largest := region.largest) is not None:
        line, usd = largest
        lever = f"; {line.lever} changes it" if line.lever else ""
        yield (
            f"Largest line: {line.service}, {line.item}, ${format_usd(usd)} or "
            f"{100 * usd / region.usd:.0f} % of the sum{lever}"
        )
    if (msk := region.msk_level) is not None:
        metrics = format_units(msk.quantity, msk.unit)
        yield f"{msk.item}, {msk.basis}: {metrics}, ${format_usd(msk.usd)}; not in the sum"


def _add_lines(table: Table, lines: Iterable[Line]) -> None:
    previous = ""
    for line in lines:
        table.add_row(
            "" if line.service == previous else line.service,
            line.item,
            format_units(line.quantity, line.unit),
            line.basis,
            _usd_cell(line.usd, verified=line.verified),
        )
        previous = line.service


def _usd_cell(usd: float, *, verified: bool = True) -> str:
    return f"{format_usd(usd)} {' ' if verified else _UNVERIFIED}"


def _price_dates(cost: Cost) -> str:
    dates = [price.retrieved for prices in cost.prices.values() for price in prices.values()]
    return (
        f"Prices of {', '.join(cost.prices)}, read from {min(dates)} to {max(dates)}: see "
        f"infra/kafka_lag_cdk/cost/prices.toml. Those with {_UNVERIFIED} were not found in a copy "
        "of AWS's price list."
    )
