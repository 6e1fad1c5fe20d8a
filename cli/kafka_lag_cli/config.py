# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag config`: the configuration of a collector without a deployment of this project's."""

from __future__ import annotations

import json
from pathlib import Path

import click

from kafka_lag_cli.connecting.deployment_file import read_deployed_cluster
from kafka_lag_cli.help_sections import command, option
from kafka_lag_config.document import normalised
from kafka_lag_config.source import load


@command(
    epilog="""\b
examples:
  kafka-lag config orders.toml > config.json
  kafka-lag config deployment.toml --cluster orders
""",
)
@click.argument("file", type=click.Path(path_type=Path))
@option("--cluster", metavar="NAME", help="name of the cluster, if there are several")
def config(file: Path, cluster: str | None) -> None:
    """Check a configuration, and print a collector's with all defaults.

    FILE is JSON or TOML (.toml), keys as in the docs: one collector's, or a deployment's. What is
    printed is what the function reads from the file in KAFKA_LAG_CONFIG; a deployment adds brokers
    and secrets that AWS names.
    """
    if deployed := read_deployed_cluster(file, cluster):
        document = deployed[1].document()
    else:
        document = normalised(load(file), str(file), file.parent)
        if cluster is not None and cluster != document["cluster"]:
            raise click.UsageError(
                f"{file} is of the cluster {document['cluster']}, not {cluster}."
            )
    click.echo(json.dumps(document, indent=2))
