# SPDX-License-Identifier: Apache-2.0
"""What stands below the tables: MSK's own levels, where the money goes, what to know."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kafka_lag_cdk.bill import advice
from kafka_lag_cdk.bill.comparison import MSK_DEFAULT_HAS, MSK_DEFAULT_LACKS, Comparison
from kafka_lag_cdk.bill.lines import Bill, PlaceBill
from kafka_lag_cdk.bill.printing.numbers import dollars
from kafka_lag_cdk.config.shared import Report


def show_comparison(place: PlaceBill, screen: Console) -> None:
    """The same groups watched by MSK, where there are clusters of MSK's."""
    told = place.comparison
    if not told.clusters:
        return
    screen.print(Text("The metrics of these groups, by others", style="bold"))
    _list(
        screen,
        (
            f"MSK's DEFAULT level: $0.00 ({MSK_DEFAULT_HAS})",
            f"MSK's PER_TOPIC_PER_PARTITION level: {_by_partition(told)}",
            f"here, as configured: ${dollars(told.here_usd)} for {told.here_metrics:,} metrics",
            f"here, with every partition: ${dollars(told.here_by_partition_usd)} for "
            f"{told.here_by_partition_metrics:,} metrics; in snapshots they are already",
        ),
    )


def _by_partition(told: Comparison) -> str:
    if told.serverless == told.clusters:
        return "none, as MSK Serverless does not have it"
    text = (
        f"${dollars(told.msk_usd)} for {told.msk_metrics:,} metrics, and those by broker and topic "
        "that come with it"
    )
    without = f"; {told.serverless} of {told.clusters} clusters are Serverless and do not have it"
    return text + without if told.serverless else text


def show_remarks(bill: Bill, report: Report, screen: Console) -> None:
    """What the free level lacks, what to turn, warnings, and what all of it rests on."""
    if any(place.comparison.clusters for place in bill.places):
        _titled(screen, "What MSK's DEFAULT level lacks", MSK_DEFAULT_LACKS)
    _titled(
        screen,
        "What most of it hangs on",
        (
            f"{lever.key}: ${dollars(lever.usd)}, {lever.share:.0%} ({lever.what})"
            for lever in advice.levers(bill)
        ),
    )
    _titled(screen, "To know", (*advice.warnings(bill, report), *_prices(bill)))


def _prices(bill: Bill) -> tuple[str, ...]:
    lists = {place.prices.region: place.prices for place in bill.places}
    dates = [price.retrieved for prices in lists.values() for price in prices.prices.values()]
    return (
        *advice.ASSUMPTIONS,
        f"Prices of {', '.join(lists)}, read from {min(dates)} to {max(dates)}: see "
        "infra/kafka_lag_cdk/bill/prices.toml. Those with ? were not found in a copy of AWS's "
        "price list.",
    )


def _titled(screen: Console, title: str, sentences: Iterable[str]) -> None:
    kept = list(sentences)
    if kept:
        screen.print(Text(title, style="bold"))
        _list(screen, kept)


def _list(screen: Console, sentences: Iterable[str]) -> None:
    grid = Table.grid(padding=(0, 1, 0, 0))
    for sentence in sentences:
        grid.add_row("-", Text(sentence))
    screen.print(grid)
    screen.print()
