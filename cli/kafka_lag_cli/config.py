# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag config`: the document of a collector without a deployment of this project's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click

from kafka_lag_cdk.config.document import normalised
from kafka_lag_cdk.config.faults import ConfigurationError
from kafka_lag_cdk.config.source import CLUSTERS, load

_OF_A_DEPLOYMENT = (
    "it is the document of a deployment, which writes its collectors' itself: check it with "
    "kafka-lag cost --config"
)


@click.command(
    epilog="""\b
example:
  kafka-lag config orders.toml > config.json
""",
)
@click.argument("file", type=click.Path(path_type=Path))
def config(file: Path) -> int:
    """Checks a collector's document and writes it with all defaults.

    FILE is JSON or TOML (.toml), keys as in the docs. What is printed is what the function reads
    from the file in KAFKA_LAG_CONFIG.
    """
    try:
        source = load(file)
        if isinstance(source, Mapping) and CLUSTERS in source:
            raise ConfigurationError(str(file), [_OF_A_DEPLOYMENT])
        document = normalised(source, str(file), file.parent)
    except ConfigurationError as error:
        click.echo(error.line if len(error.faults) == 1 else str(error), err=True)
        return 2
    click.echo(json.dumps(document, indent=2))
    return 0
