# SPDX-License-Identifier: Apache-2.0
"""The monthly cost of a configuration, read and printed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from kafka_lag_cli.connecting.deployment_file import CDK_FILE, read_deployment
from kafka_lag_cli.help_sections import option
from kafka_lag_cli.terminal.records import TABLE, output_option, write_records
from kafka_lag_config.cost.cost import cost_document, cost_of
from kafka_lag_config.cost.prices import load_prices
from kafka_lag_config.cost.table import print_cost
from kafka_lag_config.deployment import Deployment
from kafka_lag_config.faults import ConfigurationError

_WIDTH = 100


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
        whole = cost_document(found)
        write_records(_list_lines(whole), output, sys.stdout, whole=whole)
        return 0
    # Without a terminal rich takes 80 columns, and with a wide one all of them.
    screen = Console()
    screen.width = min(screen.width, _WIDTH) if screen.is_terminal else _WIDTH
    print_cost(found, screen)
    return 0


def _list_lines(whole: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields a record for each line; those that clusters share have none."""
    for place in whole["places"]:
        for part in [*place["clusters"], {"name": None, **place["shared"]}]:
            for line in part["lines"]:
                key = {"region": place["region"], "cluster": part["name"]}
                yield key | {name: line[name] for name in ("part", "usd", "lever")}


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
