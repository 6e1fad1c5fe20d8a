# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag why`: why a group is behind, from the snapshots of a folder or a bucket."""

from __future__ import annotations

import re
import sys
import time
from datetime import UTC, datetime, timedelta

import click

from kafka_lag.views.latest_run import Snapshots
from kafka_lag.wording.formatting import format_minute
from kafka_lag_cli.help_sections import command
from kafka_lag_cli.numbers import WholeNumber
from kafka_lag_cli.state.groups_over_time import AT_ONCE
from kafka_lag_cli.state.place import SnapshotPlace, place_options
from kafka_lag_cli.state.runs import check_gone, find_runs, groups_of, run_of_group
from kafka_lag_cli.terminal.records import TABLE, output_option
from kafka_lag_cli.terminal.text import open_screen
from kafka_lag_cli.why.explanation import explain
from kafka_lag_cli.why.output import (
    print_explanation,
    print_troubles,
    write_explanation,
    write_troubles,
)

_HOURS, _MOST_HOURS = 3, 72
_TIME_OF_DAY = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_EXAMPLES = """\b
examples:
  kafka-lag why billing
  kafka-lag why billing --state s3://kafka-lag-data --at 2026-01-31T03:10
  kafka-lag why --all --output json
"""


@command("why", epilog=_EXAMPLES)
@click.argument("group", required=False)
@click.option("--all", "every", is_flag=True, help="list every group in trouble")
@place_options
@click.option("--cluster", metavar="NAME", help="name of the cluster, if there are several")
@click.option(
    "--hours",
    type=WholeNumber(1, _MOST_HOURS),
    metavar="N",
    default=str(_HOURS),
    help=f"length of the timeline ({_HOURS})",
)
@click.option(
    "--at",
    metavar="TIME",
    help="explain a past time: 03:10 or 2026-01-31T03:10, UTC",
)
@output_option
def why(
    group: str | None,
    every: bool,
    place: SnapshotPlace,
    cluster: str | None,
    hours: int,
    at: str | None,
    output: str,
) -> None:
    """Explain why GROUP is behind: its cause, what to do, and its last hours.

    `kafka-lag show --group GROUP` names the cause as a cluster is now, without snapshots.
    """
    if (group is None) != every:
        raise click.UsageError("Name one group, or give --all.")
    moment = None if at is None else parse_time(at, time.time())
    store = place.open_store(AT_ONCE)
    runs = find_runs(store, place.describe(), cluster, moment)
    if group is None:
        found = [(run.cluster, run.taken_at, groups_of(run)) for run in runs]
        if output == TABLE:
            print_troubles(found, open_screen())
        else:
            write_troubles(found, output, sys.stdout)
        return
    check_gone(store, group, runs, hours)
    run = run_of_group(group, runs, moment)
    explanation = explain(Snapshots(store, time.time), run, group, hours)
    if output == TABLE:
        print_explanation(explanation, open_screen())
    else:
        write_explanation(explanation, output, sys.stdout)
    if run.is_old:
        at = format_minute(run.taken_at)
        click.echo(f"The newest run is of {at}; nothing is known since then.", err=True)


def parse_time(text: str, now: float) -> int:
    """Returns a time of the past, ms, UTC unless it names a zone; a time of day is the last one.

    `now` in seconds. Raises click.UsageError.
    """
    today = datetime.fromtimestamp(now, UTC)
    if time_of_day := _TIME_OF_DAY.fullmatch(text):
        hour, minute = (int(each) for each in time_of_day.groups())
        moment = today.replace(hour=hour, minute=minute, second=0, microsecond=0)
        moment -= timedelta(days=1) if moment > today else timedelta()
    else:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise click.UsageError(
                f"--at {text} must be a time, written 03:10 or 2026-01-31T03:10."
            ) from None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment > today:
        raise click.UsageError(f"--at {text} has not been yet.")
    return int(moment.timestamp() * 1000)
