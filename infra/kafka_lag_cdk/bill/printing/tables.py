# SPDX-License-Identifier: Apache-2.0
"""The bill as tables of at most 100 columns: every line of a few clusters, a row each of many."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kafka_lag_cdk.bill.lines import Bill, ClusterBill, Line, PlaceBill, total
from kafka_lag_cdk.bill.prices import PriceList
from kafka_lag_cdk.bill.printing.numbers import counted, dollars
from kafka_lag_cdk.bill.printing.remarks import show_comparison, show_remarks
from kafka_lag_cdk.bill.usage import item
from kafka_lag_cdk.config.shared import Report

# With more clusters in a region each is one row.
_FEW = 3

# What the columns of that row gather.
_COLUMNS = {
    "metrics": (item.METRICS,),
    "alarms": (item.ALARMS, item.DASHBOARD),
    "logs": (item.LOGS,),
    "Lambda": (item.LAMBDA,),
    "S3": (item.S3,),
    "network": (item.NETWORK,),
}

UNVERIFIED = "?"


def show(bill: Bill, report: Report, screen: Console, *, every_line: bool = False) -> None:
    """Prints all of it: by region and cluster, shared, compared, and what to know of it."""
    for place in bill.places:
        _show_place(place, screen, every_line=every_line)
    if len(bill.places) > 1:
        screen.print(Text(f"All regions: ${dollars(bill.usd)} a month", style="bold"))
        screen.print()
    show_remarks(bill, report, screen)


def _show_place(place: PlaceBill, screen: Console, *, every_line: bool) -> None:
    where = f"{place.region}, account {place.account}" if place.account else place.region
    groups = sum(one.cluster.expected.groups for one in place.clusters)
    if every_line or len(place.clusters) <= _FEW:
        for one in place.clusters:
            screen.print(_cluster_table(one, place.prices))
    else:
        screen.print(_clusters_table(place.clusters, f"Clusters in {where}"))
    screen.print(_lines_table(place.shared, place.prices, f"Shared in {where}"))
    each = f", ${dollars(place.usd / groups)} a group" if groups else ""
    known = place.prices.region == place.region
    prices = "" if known else f", at the prices of {place.prices.region}"
    screen.print(Text(f"{where}: ${dollars(place.usd)} a month{each}{prices}", style="bold"))
    screen.print()
    show_comparison(place, screen)


def _cluster_table(one: ClusterBill, prices: PriceList) -> Table:
    expected = one.cluster.expected
    sizes = f"{expected.groups:,} groups, {expected.group_partitions:,} group-partitions"
    table = _lines_table(one.lines, prices, f"{one.cluster.name}: {sizes}")
    each = one.usd_per_group
    if each is not None:
        table.add_row("a group", "", "", "", f"{dollars(each)}  ")
    return table


def _lines_table(lines: Sequence[Line], prices: PriceList, title: str) -> Table:
    table = _table(title)
    for name in ("service", "item"):
        table.add_column(name, overflow="fold")
    table.add_column("quantity", justify="right", overflow="fold")
    table.add_column("as", overflow="fold")
    table.add_column("$ a month", justify="right", no_wrap=True)
    service = ""
    for line in sorted(lines, key=lambda line: item.SERVICES.index(line.item.service)):
        told, price = line.item, prices[line.item.price]
        mark = "" if price.verified else f" {UNVERIFIED}"
        table.add_row(
            "" if told.service == service else told.service,
            told.what,
            counted(told.quantity, price.unit),
            told.basis,
            f"{dollars(line.usd)}{mark or '  '}",
        )
        service = told.service
    table.add_section()
    table.add_row("together", "", "", "", f"{dollars(total(lines))}  ", style="bold")
    return table


def _clusters_table(bills: Sequence[ClusterBill], title: str) -> Table:
    table = _table(title)
    table.add_column("cluster", overflow="fold")
    for name in ("groups", *_COLUMNS, "together", "a group"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in bills:
        each = one.usd_per_group
        table.add_row(
            one.cluster.name,
            f"{one.cluster.expected.groups:,}",
            *_cells(one.lines),
            dollars(one.usd, brief=True),
            "" if each is None else dollars(each),
        )
    table.add_section()
    lines = [line for one in bills for line in one.lines]
    groups = sum(one.cluster.expected.groups for one in bills)
    table.add_row(
        "together",
        f"{groups:,}",
        *_cells(lines),
        dollars(total(lines), brief=True),
        dollars(total(lines) / groups) if groups else "",
        style="bold",
    )
    return table


def _cells(lines: Iterable[Line]) -> list[str]:
    sums: defaultdict[str, float] = defaultdict(float)
    for line in lines:
        sums[line.item.service] += line.usd
    return [dollars(sum(sums[name] for name in names), brief=True) for names in _COLUMNS.values()]


def _table(title: str) -> Table:
    return Table(
        title=Text(title, style="bold"),
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
