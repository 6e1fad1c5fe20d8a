# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag replay`: a deployment's document on past days, from a folder or a bucket."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from kafka_lag.errors import ConfigError, ReporterError
from kafka_lag.formatting import format_minute
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.faults import ConfigurationError
from kafka_lag_cli.connecting.deployment_file import CDK_FILE, read_deployment
from kafka_lag_cli.replay.beside_aws import compare_recorded
from kafka_lag_cli.replay.documents import (
    DEFAULT_DAYS,
    find_period,
    read_clusters,
    read_days,
    replay_days,
)
from kafka_lag_cli.replay.output import (
    print_beside_aws,
    print_proposals,
    print_replays,
    print_summaries,
    write_beside_aws,
    write_proposals,
    write_replays,
)
from kafka_lag_cli.replay.proposals import LEAST_DAYS, find_promises
from kafka_lag_cli.replay.recorded import Recorded
from kafka_lag_cli.replay.web_page import write_page
from kafka_lag_cli.state.groups_over_time import AT_ONCE, DAY_MS, MINUTE_MS
from kafka_lag_cli.state.place import SnapshotPlace, place_options
from kafka_lag_cli.terminal.group_rows import CSV, JSON, TABLE
from kafka_lag_cli.terminal.text import hint_at_name, open_screen, printable

_EXAMPLES = """\b
examples:
  kafka-lag replay --config deployment.json --state ./lag
  kafka-lag replay --config new.json --against deployment.json --bucket kafka-lag-data
  kafka-lag replay --config new.json --from 2026-01-01 --to 2026-01-31 --output json
  kafka-lag replay --config deployment.json --bucket kafka-lag-data --propose 2
"""


@click.command("replay", epilog=_EXAMPLES)
@click.option(
    "--config",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help=f"The deployment's document, or a {CDK_FILE} that holds or names it "
    f"(default: ./{CDK_FILE}).",
)
@click.option(
    "--against",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Another document, as that which is deployed: what would be added, gone or moved.",
)
@place_options
@click.option("--cluster", metavar="NAME", help="Of several in the document, this one alone.")
@click.option("--group", "groups", metavar="NAME", multiple=True, help="Only this one's pages.")
@click.option(
    "--from",
    "first",
    metavar="YYYY-MM-DD",
    help=f"The first UTC day (default: {DEFAULT_DAYS} before).",
)
@click.option("--to", "last", metavar="YYYY-MM-DD", help="The last UTC day (default: today).")
@click.option(
    "--propose",
    type=click.FloatRange(0, 10_000),
    metavar="N",
    help="For each group the promise (sla_seconds, in M of N runs) with N pages a month at most.",
)
@click.option("--lines", is_flag=True, help="Every page, however many there are.")
@click.option(
    "--compare-with-aws",
    is_flag=True,
    help="What CloudWatch's history of the deployed alarms has instead, by your AWS credentials.",
)
@click.option("--brief", is_flag=True, help="A sentence for each cluster, and nothing else.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also a page with a timeline for each group that pages.",
)
@click.option("--output", type=click.Choice([TABLE, JSON, CSV]), default=TABLE)
def replay(
    file: Path | None,
    against: Path | None,
    place: SnapshotPlace,
    cluster: str | None,
    groups: tuple[str, ...],
    first: str | None,
    last: str | None,
    propose: float | None,
    html: Path | None,
    output: str,
    *,
    lines: bool,
    brief: bool,
    compare_with_aws: bool,
) -> None:
    """Which pages a document would have sent on past days.

    Every alarm on groups that the document deploys is evaluated as CloudWatch documents it, minute
    by minute, on the snapshots or the history of those days: missing data, M of N, queries. The
    services that it scales by TasksNeeded are replayed beside it. It is a model and not AWS; where
    AWS leaves open how it evaluates, the number of pages is a range.
    """
    since, until = find_period(first, last)
    if propose is not None and against is not None:
        raise click.UsageError("--propose and --against cannot go together.")
    if propose is not None and html is not None:
        raise click.UsageError(
            "--html is of pages, and --propose is not about those of one promise."
        )
    if compare_with_aws and (
        against or groups or brief or propose is not None or html is not None or output == CSV
    ):
        raise click.UsageError(
            "--compare-with-aws is about the deployed document as a whole: leave out --against, "
            "--group, --brief, --propose, --html and --output csv."
        )
    if brief and (propose is not None or output != TABLE):
        raise click.UsageError("--brief is a sentence: neither --propose nor --output has one.")
    if propose is not None and until - since < LEAST_DAYS * DAY_MS - MINUTE_MS:
        raise click.UsageError(f"--propose needs {LEAST_DAYS} days at least: see --from.")
    try:
        wanted = read_clusters(file or Path(CDK_FILE), cluster)
        others = {each.name: each for each in read_clusters(against, None)} if against else {}
        store = place.open_store(AT_ONCE)
        read = list(read_days(store, place, wanted, others, since, until))
        _check_groups(groups, [recorded for recorded, _, _ in read])
        if compare_with_aws:
            _show_beside_aws(read, file or Path(CDK_FILE), place, output)
            return
        if propose is None:
            replays = [replay_days(*each, groups, compared=against is not None) for each in read]
            if html is not None:
                write_page(replays, html)
            if brief:
                print_summaries(replays, open_screen())
            elif output == TABLE:
                print_replays(replays, open_screen(), every_line=lines)
            else:
                write_replays(replays, output, sys.stdout)
            return
        for recorded, own, _ in read:
            if len(recorded.has_run) < LEAST_DAYS * DAY_MS // MINUTE_MS - 1:
                raise ConfigError(
                    f"--propose needs {LEAST_DAYS} days at least: the runs of {own.name} begin at "
                    f"{format_minute(recorded.begin)}."
                )
        every = [each for days, own, _ in read for each in find_promises(days, own, propose)]
        proposals = [each for each in every if not groups or each.group in groups]
        if output == TABLE:
            print_proposals(proposals, propose, open_screen())
        else:
            write_proposals(proposals, output, sys.stdout)
    except ConfigurationError as error:
        raise click.ClickException(printable(error.line)) from error
    except ReporterError as error:
        raise click.ClickException(printable(str(error))) from error


def _show_beside_aws(
    read: Sequence[tuple[Recorded, Cluster, Cluster | None]],
    path: Path,
    place: SnapshotPlace,
    output: str,
) -> None:
    """Raises ConfigError, AwsError."""
    # Costs the start of those alone who use AWS.
    from kafka_lag_cli.account.session import open_session  # noqa: PLC0415
    from kafka_lag_cli.replay.aws_history import read_history  # noqa: PLC0415

    deployment = read_deployment(path).name
    found = []
    for recorded, cluster, _ in read:
        session = open_session(place.profile, cluster.place[1])
        history = read_history(session.client("cloudwatch"), deployment, cluster, recorded)
        found.append(compare_recorded(recorded, cluster, history))
    if output == TABLE:
        print_beside_aws(found, open_screen())
    else:
        write_beside_aws(found, sys.stdout)


def _check_groups(groups: tuple[str, ...], read: Sequence[Recorded]) -> None:
    """Raises ConfigError for one that none of the clusters had."""
    every = sorted({group for recorded in read for group in recorded.groups})
    for group in groups:
        if group not in every:
            hint = hint_at_name(group, every)
            raise ConfigError(f"There is no group {group} in these days; {hint}")
