# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag replay`: a configuration on past days, from a folder or a bucket."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from kafka_lag.errors import ConfigError, ReporterError
from kafka_lag.wording.formatting import format_list, format_minute
from kafka_lag_cli.connecting.deployment_file import CDK_FILE
from kafka_lag_cli.help_sections import command, option
from kafka_lag_cli.replay.beside_aws import compare_with_aws as compare
from kafka_lag_cli.replay.documents import (
    DEFAULT_DAYS,
    Days,
    find_period,
    read_days,
    read_document,
    replay_days,
)
from kafka_lag_cli.replay.output import (
    print_beside_aws,
    print_proposals,
    print_replays,
    write_proposals,
    write_replays,
)
from kafka_lag_cli.replay.proposals import LEAST_DAYS, propose_slas
from kafka_lag_cli.replay.recorded import Recorded
from kafka_lag_cli.state.groups_over_time import AT_ONCE, DAY_MS, MINUTE_MS
from kafka_lag_cli.state.place import SnapshotPlace, place_options
from kafka_lag_cli.terminal.records import CSV, NDJSON, TABLE, output_option
from kafka_lag_cli.terminal.text import hint_at_name, open_screen, printable
from kafka_lag_config.faults import ConfigurationError

_EXAMPLES = """\b
examples:
  kafka-lag replay --config deployment.json --state ./lag
  kafka-lag replay --config new.json --from 2026-01-01 --to 2026-01-31 --output json
  kafka-lag replay --config deployment.json --state s3://kafka-lag-data --propose 2
"""


class _PagesAMonth(click.FloatRange):
    # As click has it in its sentence on what is none.
    name = "number of pages"


@command("replay", epilog=_EXAMPLES)
@option(
    "--config",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help=f"configuration, or a {CDK_FILE} that names it (./{CDK_FILE})",
)
@place_options
@click.option("--cluster", metavar="NAME", help="replay this cluster of several")
@click.option(
    "--group", "groups", metavar="NAME", multiple=True, help="show the pages of this group"
)
@click.option(
    "--from",
    "first",
    metavar="YYYY-MM-DD",
    help=f"first UTC day ({DEFAULT_DAYS} days in all)",
)
@click.option("--to", "last", metavar="YYYY-MM-DD", help="last UTC day (today)")
@click.option(
    "--propose",
    type=_PagesAMonth(0, 10_000),
    metavar="N",
    help="propose SLAs with at most N pages a month",
)
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
    groups: tuple[str, ...],
    first: str | None,
    last: str | None,
    propose: float | None,
    output: str,
    *,
    compare_with_aws: bool,
) -> None:
    """Try the alarms of a configuration on past days, and show the pages they would have sent.

    It is a model of CloudWatch. `kafka-lag diff` compares the pages of two configurations.
    """
    since, until = find_period(first, last)
    if propose is not None and until - since < LEAST_DAYS * DAY_MS - MINUTE_MS:
        raise click.UsageError(f"--propose needs {LEAST_DAYS} days at least: see --from.")
    if compare_with_aws:
        others_too = {
            "--group": bool(groups),
            "--propose": propose is not None,
            f"--output {output}": output in (NDJSON, CSV),
        }
        _refuse("--compare-with-aws is about the deployed configuration as a whole", others_too)
    try:
        document = read_document(file or Path(CDK_FILE), cluster)
        store = place.open_store(AT_ONCE)
        read = list(read_days(store, place, document.clusters, since, until))
        _check_groups(groups, [recorded for recorded, _, _ in read])
        if compare_with_aws:
            _show_beside_aws(read, document.name, place, output)
        elif propose is not None:
            _show_proposals(read, propose, groups, output)
        else:
            replays = [replay_days(days, own, groups) for days, own, _ in read]
            if output == TABLE:
                print_replays(replays, open_screen())
            else:
                write_replays(replays, output, sys.stdout)
    except ConfigurationError as error:
        raise click.ClickException(printable(error.line)) from error
    except ReporterError as error:
        raise click.ClickException(printable(str(error))) from error


def _refuse(reason: str, options: Mapping[str, bool]) -> None:
    """Raises UsageError for options that cannot go together with the one that is the reason."""
    if wrong := [name for name, is_given in options.items() if is_given]:
        raise click.UsageError(f"{reason}: leave out {format_list(wrong, len(wrong))}.")


def _show_proposals(
    read: Sequence[Days], pages_a_month: float, groups: tuple[str, ...], output: str
) -> None:
    """Raises ConfigError for a cluster of too few days."""
    for recorded, cluster, _ in read:
        if len(recorded.has_run) < LEAST_DAYS * DAY_MS // MINUTE_MS - 1:
            raise ConfigError(
                f"--propose needs {LEAST_DAYS} days at least: the runs of {cluster.name} begin at "
                f"{format_minute(recorded.begin)}."
            )
    every = [each for days, own, _ in read for each in propose_slas(days, own, pages_a_month)]
    proposals = [each for each in every if not groups or each.group in groups]
    if output == TABLE:
        print_proposals(proposals, pages_a_month, open_screen())
    else:
        write_proposals(proposals, output, sys.stdout)


def _show_beside_aws(
    read: Sequence[Days],
    deployment: str,
    place: SnapshotPlace,
    output: str,
) -> None:
    """Raises ConfigError, AwsError."""
    # Costs the start of those alone who use AWS.
    from kafka_lag_cli.account.session import open_session  # noqa: PLC0415

    found = []
    for recorded, cluster, _ in read:
        session = open_session(place.profile, cluster.place[1])
        found.append(compare(session.client("cloudwatch"), deployment, recorded, cluster))
    if output == TABLE:
        print_beside_aws(found, open_screen())
    else:
        click.echo(json.dumps(found))


def _check_groups(groups: tuple[str, ...], read: Sequence[Recorded]) -> None:
    """Raises ConfigError for one that none of the clusters had."""
    every = sorted({group for recorded in read for group in recorded.groups})
    for group in groups:
        if group not in every:
            hint = hint_at_name(group, every)
            raise ConfigError(f"There is no group {group} in these days; {hint}")
