# SPDX-License-Identifier: Apache-2.0
"""A configuration on this machine, and one cluster of it; needs no client of Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from kafka_lag.wording.formatting import format_list
from kafka_lag_cli.help_sections import FILE, option
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.deployment import Deployment
from kafka_lag_config.faults import ConfigurationError
from kafka_lag_config.reading import CONTEXT_KEY, read
from kafka_lag_config.source import CLUSTERS, load

CDK_FILE = "cdk.json"
_NAMED = 5


CONFIG = option(
    "--config",
    "file",
    type=FILE,
    metavar="FILE",
    help=f"configuration, or a {CDK_FILE} that names it (./{CDK_FILE})",
)


def read_deployment(path: Path | None) -> Deployment:
    """Returns the deployment of a file, or of a `cdk.json` that holds or names it.

    Raises ConfigurationError with every fault; UsageError if no file is named and none is here.
    """
    if path is None:
        path = Path(CDK_FILE)
        if not path.is_file():
            raise click.UsageError(f"There is no {path}: name a configuration by --config FILE.")
    if path.name != CDK_FILE:
        return read(str(path), Path())
    try:
        source = load(path).get("context", {}).get(CONTEXT_KEY)
    except AttributeError:
        raise ConfigurationError(str(path), ["it must hold an object `context`"]) from None
    return read(source, path.parent)


def read_deployed_cluster(path: Path, name: str | None) -> tuple[Deployment, Cluster] | None:
    """The deployment of a file and the cluster of that name, or its only one; None where the file
    is of one collector, without a deployment.

    Raises UsageError, ConfigurationError.
    """
    if path.name != CDK_FILE:
        source = load(path)
        if not (isinstance(source, Mapping) and CLUSTERS in source):
            return None
    deployment = read_deployment(path)
    return deployment, choose_cluster(deployment, name, path)


def choose_cluster(deployment: Deployment, name: str | None, path: Path) -> Cluster:
    """Returns the cluster of that name, or the only one. Raises UsageError."""
    names = [each.name for each in deployment.clusters]
    if name is None and len(names) > 1:
        raise click.UsageError(
            f"{path} has {len(names)} clusters ({format_list(names, _NAMED)}): choose one by "
            "--cluster."
        )
    if name is not None and name not in names:
        raise click.UsageError(
            f"{path} has no cluster {name}: it has {format_list(names, _NAMED)}."
        )
    return deployment.clusters[names.index(name) if name else 0]
