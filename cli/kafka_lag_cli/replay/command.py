# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag replay`: a configuration on past days, from a folder or a bucket."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import click

from kafka_lag_cli.connecting.deployment_file import (
    CDK_FILE,
    CONFIG,
    choose_cluster,
    read_deployment,
)
from kafka_lag_cli.help_sections import command
from kafka_lag_cli.replay.days import Days, find_period, period_options, read_days, replay_days
from kafka_lag_cli.replay.output import print_beside_aws, print_replays, write_replays
from kafka_lag_cli.state.place import SnapshotPlace, place_options
from kafka_lag_cli.terminal.records import CSV, NDJSON, TABLE, output_option
from kafka_lag_cli.terminal.text import open_screen

_EXAMPLES = """\b
examples:
  kafka-lag replay --config deployment.json --state ./lag
  kafka-lag replay --config new.json --from 2026-01-01 --to 2026-01-31 --output json
"""


@command("replay", epilog=_EXAMPLES)
@CONFIG
@place_options
@click.option("--cluster", metavar="NAME", help="replay this cluster of several")
@period_options
@click.option(
    "--compare-with-aws",
    is_flag=True,
    help="compare with CloudWatch's history of the alarms",
)
@output_option
def replay(
    file: Path | None,
    place: SnapshotPlace,
    cluster: str | None,
    first: datetime | None,
    last: datetime | None,
    output: str,
    *,
    compare_with_aws: bool,
) -> None:
    """Try the alarms of a configuration on past days, and show the pages they would have sent.

    It is a model of CloudWatch. `kafka-lag diff` compares the pages of two configurations.
    """
    period = find_period(first, last)
    if compare_with_aws and output in (NDJSON, CSV):
        raise click.UsageError(
            f"--compare-with-aws has no lines of one form: leave out --output {output}."
        )
    deployment = read_deployment(file)
    wanted = deployment.clusters
    if cluster is not None:
        wanted = (choose_cluster(deployment, cluster, file or Path(CDK_FILE)),)
    read = list(read_days(place, wanted, period))
    if compare_with_aws:
        _show_beside_aws(read, deployment.name, place, output)
        return
    replays = [replay_days(days, own) for days, own, _ in read]
    if output == TABLE:
        print_replays(replays, open_screen())
    else:
        write_replays(replays, output, sys.stdout)


def _show_beside_aws(
    read: Sequence[Days],
    deployment: str,
    place: SnapshotPlace,
    output: str,
) -> None:
    """Raises ConfigError, AwsError."""
    # Costs the start of those alone who use AWS.
    from kafka_lag_cli.account.session import open_session  # noqa: PLC0415
    from kafka_lag_cli.replay.beside_aws import compare_with_aws  # noqa: PLC0415

    found = []
    for recorded, cluster, _ in read:
        session = open_session(place.profile, cluster.place[1])
        found.append(compare_with_aws(session.client("cloudwatch"), deployment, recorded, cluster))
    if output == TABLE:
        print_beside_aws(found, open_screen())
    else:
        click.echo(json.dumps(found))
