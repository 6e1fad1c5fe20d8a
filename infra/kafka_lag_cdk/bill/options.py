# SPDX-License-Identifier: Apache-2.0
"""What the command line says, and the configuration that it names."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kafka_lag_cdk.config.deployment import Deployment
from kafka_lag_cdk.config.faults import ConfigurationError
from kafka_lag_cdk.config.reading import CONTEXT_KEY, read
from kafka_lag_cdk.config.source import load

_CDK = "cdk.json"

TEXT, JSON = "text", "json"


class UsageError(Exception):
    """Something on the command line that leads nowhere; its text says what to do."""


def parser() -> argparse.ArgumentParser:
    """The options of `kafka-lag cost`."""
    made = argparse.ArgumentParser(
        prog="kafka-lag cost",
        description="What a configuration will cost a month, line by line, before it is deployed. "
        "Needs no AWS account: prices are in kafka_lag_cdk/bill/prices.toml.",
    )
    made.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        help=f"the configuration, or a {_CDK} that holds or names it (default: ./{_CDK})",
    )
    made.add_argument("--region", help="only the clusters of this region")
    made.add_argument(
        "--output", choices=(TEXT, JSON), default=TEXT, help="tables (default) or one document"
    )
    made.add_argument(
        "--lines", action="store_true", help="every line of each cluster, however many there are"
    )
    return made


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """The options; exits with 2 for wrong ones, as argparse does."""
    return parser().parse_args(argv)


def configuration(config: Path | None, folder: Path) -> Deployment:
    """The configuration named, or that of the folder's cdk.json.

    Raises UsageError where there is no such file, ConfigurationError for faults in it.
    """
    path = folder / (config or _CDK)
    if not path.is_file():
        told = "run this beside it, or name a configuration with --config FILE"
        raise UsageError(f"There is no {path.absolute()}: {told}.")
    if path.name != _CDK:
        return read(str(path), folder)
    return read(_context(path), path.parent)


def within(deployment: Deployment, region: str | None) -> Deployment:
    """The clusters of one region, all without a name. Raises UsageError where it has none."""
    if region is None:
        return deployment
    regions = list(dict.fromkeys(place for _, place in deployment.places()))
    if region not in regions:
        raise UsageError(f"No cluster is in {region}: choose from {', '.join(regions)}.")
    kept = tuple(c for c in deployment.clusters if deployment.place_of(c)[1] == region)
    return deployment.model_copy(update={"clusters": kept})


def _context(path: Path) -> Any:
    try:
        return load(path).get("context", {}).get(CONTEXT_KEY)
    except AttributeError:
        raise ConfigurationError(str(path), ["it must hold an object `context`"]) from None
