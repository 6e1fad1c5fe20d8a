# SPDX-License-Identifier: Apache-2.0
"""The monthly cost of a configuration, read and printed."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console

from kafka_lag_cli.connecting.deployment_file import CDK_FILE, read_deployment
from kafka_lag_cli.help_sections import option
from kafka_lag_config.cost.cost import cost_document, cost_of
from kafka_lag_config.cost.prices import load_prices
from kafka_lag_config.cost.table import print_cost
from kafka_lag_config.deployment import Deployment
from kafka_lag_config.faults import ConfigurationError

_TEXT, _JSON = "text", "json"
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
    help=f"the configuration, or a {CDK_FILE} that holds or names it (default: ./{CDK_FILE})",
)
@click.option("--region", help="only the clusters of this region")
@click.option(
    "--output",
    type=click.Choice([_TEXT, _JSON]),
    default=_TEXT,
    help=f"tables ({_TEXT}) or JSON",
)
def cost(config: Path | None, region: str | None, output: str) -> int:
    """Print what a configuration will cost a month, before it is deployed.

    Needs no AWS account: prices are in kafka_lag_config/cost/prices.toml, with source and date.
    """
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
    if output == _JSON:
        click.echo(json.dumps(cost_document(found), indent=2))
        return 0
    # Without a terminal rich takes 80 columns, and with a wide one all of them.
    screen = Console()
    screen.width = min(screen.width, _WIDTH) if screen.is_terminal else _WIDTH
    print_cost(found, screen)
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
