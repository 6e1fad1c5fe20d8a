# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.transactions`: what consumers of topics written in transactions are called."""

from __future__ import annotations

import sys

import click
from rich.console import Console

from dev.transactions.brokers import Plan, measure
from kafka_lag.brokers.source import quiet_library

_SHOWN = 20


@click.group("python -m dev.transactions", help=__doc__)
def main() -> None:
    """The command."""


@main.command()
@click.option("--runs", type=int, default=600, help="of the collector (600)")
@click.option("--interval", type=float, default=1.5, help="seconds from run to run (1.5)")
@click.option("--partitions", type=int, default=500, help="that are written (500)")
@click.option("--brokers", type=int, default=3, help="brokers (3)")
@click.option(
    "--protocol",
    type=click.Choice(["classic", "streams"]),
    default="streams",
    help="of Kafka Streams' group (streams)",
)
@click.option("--seed", type=int, default=1, help="of busy and quiet times (1)")
def brokers(
    runs: int, interval: float, partitions: int, brokers: int, protocol: str, seed: int
) -> None:
    """Real brokers, Kafka Streams and a producer, for some ten minutes on a quiet machine."""
    quiet_library()
    progress = Console(stderr=True, highlight=False)
    plan = Plan(runs, interval, partitions, brokers, protocol, seed)
    found = measure(plan, lambda words: progress.print(words, style="dim"))
    for word in sorted(found.counts):
        click.echo(f"{found.counts[word]:>8} {word}")
    click.echo(f"{found.cpu / max(1, found.counts['runs']):>8.3f} CPU seconds a run")
    for each in found.notes[:_SHOWN]:
        click.echo(f"wrong: {each}")
    sys.exit(1 if found.notes else 0)


if __name__ == "__main__":
    main()
