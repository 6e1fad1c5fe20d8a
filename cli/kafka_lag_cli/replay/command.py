# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag replay`: a deployment's document on days that were, from a folder or a bucket."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import click

from kafka_lag import contract
from kafka_lag.errors import ConfigError, ReporterError
from kafka_lag.formatting import format_list, format_minute
from kafka_lag.snapshots.store import BrowsableStore
from kafka_lag.views.latest_run import Snapshots
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.faults import ConfigurationError
from kafka_lag_cli.connecting.deployment_file import CDK_FILE, read_deployment
from kafka_lag_cli.replay.alarms import explain_left_out, metrics_watched
from kafka_lag_cli.replay.output import (
    print_proposals,
    print_replays,
    print_summaries,
    write_proposals,
    write_replays,
)
from kafka_lag_cli.replay.pages import Pages, replay_alarms
from kafka_lag_cli.replay.proposals import LEAST_DAYS, find_promises
from kafka_lag_cli.replay.recorded import Recorded, read_recorded
from kafka_lag_cli.replay.replayed import Replay, Side, explain_services_left_out
from kafka_lag_cli.replay.services import replay_services
from kafka_lag_cli.replay.web_page import write_page
from kafka_lag_cli.state.groups_over_time import AT_ONCE, DAY_MS, MINUTE_MS
from kafka_lag_cli.state.place import SnapshotPlace, place_options
from kafka_lag_cli.terminal.group_rows import CSV, JSON, TABLE
from kafka_lag_cli.terminal.progress import count_objects
from kafka_lag_cli.terminal.text import hint_at_name, open_screen, printable

_DAYS, _MOST_DAYS = 30, 400
_FEW = 3
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
    "--from", "first", metavar="YYYY-MM-DD", help=f"The first UTC day (default: {_DAYS} before)."
)
@click.option("--to", "last", metavar="YYYY-MM-DD", help="The last UTC day (default: today).")
@click.option(
    "--propose",
    type=click.FloatRange(0, 10_000),
    metavar="N",
    help="For each group the shortest promise (sla_seconds) with N pages a month at most.",
)
@click.option("--lines", is_flag=True, help="Every page, however many there are.")
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
) -> None:
    """Which pages a document would have sent on days that were.

    Every alarm on groups that the document deploys is evaluated as CloudWatch documents it, minute
    by minute, on the snapshots or the history of those days: missing data, M of N, queries. The
    services that it scales by TasksNeeded are replayed beside it. It is a model and not AWS; where
    AWS leaves open how it evaluates, the number of pages is a range.
    """
    since, until = _period(first, last)
    if propose is not None and against is not None:
        raise click.UsageError("--propose and --against cannot go together.")
    if propose is not None and html is not None:
        raise click.UsageError(
            "--html is of pages, and --propose is not about those of one promise."
        )
    if brief and (propose is not None or output != TABLE):
        raise click.UsageError("--brief is a sentence: neither --propose nor --output has one.")
    if propose is not None and until - since < LEAST_DAYS * DAY_MS - MINUTE_MS:
        raise click.UsageError(f"--propose needs {LEAST_DAYS} days at least: see --from.")
    try:
        wanted = _clusters(file or Path(CDK_FILE), cluster)
        others = {each.name: each for each in _clusters(against, None)} if against else {}
        store = place.open_store(AT_ONCE)
        read = list(_read_all(store, place, wanted, others, since, until))
        _check_groups(groups, [recorded for recorded, _, _ in read])
        if propose is None:
            replays = [_replay(*each, groups, compared=against is not None) for each in read]
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


def _period(first: str | None, last: str | None) -> tuple[int, int]:
    """From the beginning of the first day to the end of the last or now, ms UTC."""
    now = int(time.time() * 1000)
    end = _day("--to", last) if last else datetime.fromtimestamp(now / 1000, UTC).date()
    begin = _day("--from", first) if first else end - timedelta(days=_DAYS - 1)
    if begin > end:
        raise click.UsageError(f"--from is {begin} and after --to, {end}.")
    if (end - begin).days >= _MOST_DAYS:
        raise click.UsageError(f"{begin} to {end} are more than {_MOST_DAYS} days.")
    since, until = _midnight(begin), _midnight(end) + DAY_MS - 1
    if since > now:
        raise click.UsageError(f"{begin} has not been yet.")
    return since, min(until, now)


def _day(option: str, value: str) -> date:
    try:
        return datetime.strptime(value, "%Y-%m-%d").replace(tzinfo=UTC).date()
    except ValueError:
        raise click.UsageError(f"{option} {value} must be a date, written 2026-01-31.") from None


def _midnight(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000


def _clusters(path: Path, name: str | None) -> tuple[Cluster, ...]:
    """Those of a document, or one. Raises ConfigError, ConfigurationError."""
    if not path.is_file():
        raise ConfigError(f"There is no {path}: name a deployment's document by --config FILE.")
    clusters = read_deployment(path).clusters
    names = [each.name for each in clusters]
    if name is not None and name not in names:
        raise ConfigError(f"{path} has no cluster {name}: there is {format_list(names, _FEW)}.")
    return tuple(each for each in clusters if name in (None, each.name))


def _read_all(
    store: BrowsableStore,
    place: SnapshotPlace,
    wanted: tuple[Cluster, ...],
    others: dict[str, Cluster],
    since: int,
    until: int,
) -> Iterator[tuple[Recorded, Cluster, Cluster | None]]:
    """What was recorded of each cluster, as one document has it and as the other does."""
    stored = _stored_clusters(store)
    if not any(cluster.name in stored for cluster in wanted):
        there = f"there is {format_list(stored, _FEW)}" if stored else "there are none"
        names = format_list([each.name for each in wanted], _FEW)
        raise ConfigError(f"There are no snapshots of {names} in {place.describe()}; {there}.")
    for cluster in wanted:
        if cluster.name not in stored:
            sentence = f"There are no snapshots of {cluster.name}: it is left out."
            click.echo(printable(sentence), err=True)
            continue
        other = others.get(cluster.name)
        metrics = metrics_watched(cluster) | (metrics_watched(other) if other else frozenset())
        try:
            with count_objects() as progress:
                recorded = read_recorded(store, cluster.name, metrics, since, until, progress)
        except ConfigError as error:
            if len(wanted) == 1:
                raise
            click.echo(printable(str(error)), err=True)
            continue
        yield recorded, cluster, other


def _stored_clusters(store: BrowsableStore) -> list[str]:
    """Those with snapshots or a history, by name."""
    history = store.folders(f"{contract.HISTORY_PREFIX}/{contract.GROUPS}/")
    of_history = {name.removeprefix("cluster=") for name in history}
    return sorted(of_history.union(Snapshots(store, time.time).clusters()))


def _check_groups(groups: tuple[str, ...], read: Sequence[Recorded]) -> None:
    """Raises ConfigError for one that none of the clusters had."""
    every = sorted({group for recorded in read for group in recorded.groups})
    for group in groups:
        if group not in every:
            hint = hint_at_name(group, every)
            raise ConfigError(f"There is no group {group} in these days; {hint}")


def _replay(
    recorded: Recorded,
    cluster: Cluster,
    other: Cluster | None,
    groups: tuple[str, ...],
    *,
    compared: bool,
) -> Replay:
    """Beside a document without this cluster each page is added."""
    before = None
    if compared:
        before = (
            Side(cluster, Pages((), {}), (), ())
            if other is None
            else _side(recorded, other, groups)
        )
    return Replay(recorded, _side(recorded, cluster, groups), before)


def _side(recorded: Recorded, cluster: Cluster, groups: tuple[str, ...]) -> Side:
    left_out = (
        *explain_left_out(cluster, recorded.groups),
        *explain_services_left_out(cluster, recorded.groups),
    )
    services = tuple(
        service
        for service in replay_services(recorded, cluster)
        if not groups or service.group in groups
    )
    return Side(cluster, replay_alarms(recorded, cluster, groups), services, left_out)
