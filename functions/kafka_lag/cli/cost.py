# SPDX-License-Identifier: Apache-2.0
"""What a configuration will cost a month, read and printed."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from kafka_lag_cdk.config.deployment import Deployment
from kafka_lag_cdk.config.faults import ConfigurationError
from kafka_lag_cdk.config.reading import CONTEXT_KEY, read
from kafka_lag_cdk.config.source import load
from kafka_lag_cdk.cost.cost import cost_document, cost_of
from kafka_lag_cdk.cost.prices import load_prices
from kafka_lag_cdk.cost.table import print_cost

_CDK = "cdk.json"
_TEXT, _JSON = "text", "json"
_WIDTH = 100


def main(argv: Sequence[str] | None = None, folder: Path | None = None) -> int:
    """The exit code: 0, or 2 with sentences on stderr where nothing can be computed."""
    options = _parser().parse_args(argv)
    try:
        deployment = _read(options.config, folder or Path.cwd())
        if options.region:
            deployment = _in_region(deployment, options.region)
    except (ConfigurationError, _OptionError) as error:
        print(error, file=sys.stderr)
        return 2
    cost = cost_of(deployment, load_prices())
    try:
        if options.output == _JSON:
            print(json.dumps(cost_document(cost), indent=2))
        else:
            # Without a terminal rich takes 80 columns, and with a wide one all of them.
            screen = Console()
            screen.width = min(screen.width, _WIDTH) if screen.is_terminal else _WIDTH
            print_cost(cost, screen, every_line=options.lines)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read it has seen enough; what is left goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


class _OptionError(Exception):
    """An option that names what is not there; its text says what to do."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kafka-lag cost",
        description="What a configuration will cost a month, line by line, before it is deployed. "
        "Needs no AWS account: prices are in kafka_lag_cdk/cost/prices.toml.",
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        help=f"the configuration, or a {_CDK} that holds or names it (default: ./{_CDK})",
    )
    parser.add_argument("--region", help="only the clusters of this region")
    parser.add_argument(
        "--output", choices=(_TEXT, _JSON), default=_TEXT, help="tables (default) or one document"
    )
    parser.add_argument(
        "--lines", action="store_true", help="every line of each cluster, however many there are"
    )
    return parser


def _read(config: Path | None, folder: Path) -> Deployment:
    """The configuration named, or that of the folder's cdk.json."""
    path = folder / (config or _CDK)
    if not path.is_file():
        advice = "run this beside it, or name a configuration with --config FILE"
        raise _OptionError(f"There is no {path.absolute()}: {advice}.")
    if path.name != _CDK:
        return read(str(path), folder)
    return read(_context(path), path.parent)


def _context(path: Path) -> Any:
    try:
        return load(path).get("context", {}).get(CONTEXT_KEY)
    except AttributeError:
        raise ConfigurationError(str(path), ["it must hold an object `context`"]) from None


def _in_region(deployment: Deployment, region: str) -> Deployment:
    regions = list(dict.fromkeys(each for _, each in deployment.places()))
    if region not in regions:
        raise _OptionError(f"No cluster is in {region}: choose from {', '.join(regions)}.")
    clusters = tuple(c for c in deployment.clusters if deployment.place_of(c)[1] == region)
    return deployment.model_copy(update={"clusters": clusters})


if __name__ == "__main__":
    sys.exit(main())
