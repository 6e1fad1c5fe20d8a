# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag alive`: whether commits of one member of a group advance, for a liveness probe."""

from __future__ import annotations

import time

import click

from kafka_lag.errors import ReporterError, describe_unforeseen
from kafka_lag.views.latest_run import Snapshots
from kafka_lag.views.member_probe import probe_member
from kafka_lag_cli.help_sections import command
from kafka_lag_cli.state.groups_over_time import AT_ONCE
from kafka_lag_cli.state.place import SnapshotPlace, place_options
from kafka_lag_cli.terminal.text import printable

STALLED, NOT_KNOWN = 1, 4
_EXAMPLES = """\b
examples:
  kafka-lag alive billing --client-id billing-0 --state s3://kafka-lag-data
  kafka-lag alive billing --client-id billing-0; test $? -ne 1
"""


@command("alive", epilog=_EXAMPLES)
@click.argument("group")
@click.option("--client-id", required=True, metavar="ID", help="the client.id of the member")
@click.option("--cluster", metavar="NAME", help="name of the cluster, if there are several")
@place_options
def alive(group: str, client_id: str, cluster: str | None, place: SnapshotPlace) -> int:
    """Say whether commits of the member of GROUP with this client ID advance.

    Exits with 1 only if its partitions have unread records and none of its commits advanced for ten
    minutes, and with 4 if nothing is known of the member. If nothing is proven, it exits with 0.
    """
    try:
        snapshots = Snapshots(place.open_store(AT_ONCE), time.time)
        names = [cluster] if cluster else snapshots.clusters()
        if len(names) != 1:
            found = ", ".join(names) or "none"
            click.echo(f"Name the cluster by --cluster; there is {found}.", err=True)
            return NOT_KNOWN
        verdict = probe_member(snapshots, names[0], group, client_id, int(time.time() * 1000))
    except ReporterError as error:
        # Another exit code than that of a stalled member, which a probe restarts.
        click.echo(printable(str(error)), err=True)
        return NOT_KNOWN
    except Exception as error:  # noqa: BLE001 - Python would exit with the code of a stalled member
        click.echo(printable(describe_unforeseen(error)), err=True)
        return NOT_KNOWN
    click.echo(printable(verdict.reason))
    if not verdict.is_known:
        return NOT_KNOWN
    return STALLED if verdict.is_alive is False else 0
