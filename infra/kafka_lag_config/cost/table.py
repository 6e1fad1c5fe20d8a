# SPDX-License-Identifier: Apache-2.0
"""The cost for people: a table for each region, and below them what to know of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kafka_lag_config.cost.cost import Cost, Line, RegionCost, sum_usd
from kafka_lag_config.cost.warnings import ASSUMPTIONS

# With more clusters in a region each is one row.
_MOST_CLUSTERS_BY_LINE = 3

_UNVERIFIED = "?"
_NO_PLURAL = ("GB", "TB")
_LEAST_SHOWN_USD = 0.005
_WHOLE_FROM = 100


def print_cost(cost: Cost, screen: Console) -> None:
    """Prints the sums, their parts, and what they rest on."""
    for region in cost.regions:
        screen.print(_region_table(region), "", sep="\n")
    if len(cost.regions) > 1:
        screen.print(Text(f"All regions: ${format_usd(cost.usd)} a month", style="bold"))
        screen.print()
    if cost.warnings:
        _print_list("Look at", cost.warnings, screen)
        screen.print()
    _print_list("To know", (*ASSUMPTIONS, _price_dates(cost)), screen)


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
        caption_justify="left",
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
    table.caption = Text("\n".join(_sentences_below(region)))
    return table


def _sentences_below(region: RegionCost) -> Iterator[str]:
    if region.msk_metrics:
        metrics = format_units(region.msk_metrics, "metric")
        yield (
            f"MSK's own level PER_TOPIC_PER_PARTITION: {metrics}, ${format_usd(region.msk_usd)}; "
            "not in the sum"
        )


def _add_lines(table: Table, lines: Iterable[Line]) -> None:
    for line in lines:
        most = line.charges[0]
        mark = " " if all(each.verified for each in line.charges) else _UNVERIFIED
        table.add_row(
            line.part,
            f"{most.item}: {format_units(most.units, most.unit)}",
            line.lever or "",
            f"{format_usd(line.usd)} {mark}",
        )


def _price_dates(cost: Cost) -> str:
    dates = [price.retrieved for prices in cost.prices.values() for price in prices.values()]
    return (
        f"Prices of {', '.join(cost.prices)}, read from {min(dates)} to {max(dates)}: see "
        f"infra/kafka_lag_config/cost/prices.toml. Lines with {_UNVERIFIED} have prices that were "
        "not found in a copy of AWS's price list."
    )
