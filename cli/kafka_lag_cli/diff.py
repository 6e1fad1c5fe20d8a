# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag diff`: what a deployment's document would change, its pages on past days."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import click
from rich.console import Console
from rich.text import Text

from kafka_lag.errors import ReporterError
from kafka_lag.wording.formatting import format_quantity
from kafka_lag_cdk.alarm_rules import (
    Rule,
    broker_rules,
    group_rules,
    query_rules,
    reporter_rules,
)
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.deployment import Deployment
from kafka_lag_cdk.config.faults import ConfigurationError
from kafka_lag_cdk.cost.cost import cost_of
from kafka_lag_cdk.cost.prices import load_prices
from kafka_lag_cli.connecting.deployment_file import CDK_FILE, read_deployment
from kafka_lag_cli.help_sections import option
from kafka_lag_cli.replay.documents import DEFAULT_DAYS, find_period, read_days, replay_days
from kafka_lag_cli.replay.output import print_summaries
from kafka_lag_cli.state.groups_over_time import AT_ONCE
from kafka_lag_cli.state.place import SnapshotPlace, place_options
from kafka_lag_cli.terminal.text import open_screen, printable, printable_line

_EXAMPLES = """\b
examples:
  kafka-lag diff --against deployed.json --config new.json
  kafka-lag diff --against deployed.json --config new.json --bucket kafka-lag-data
"""
# Values that are shown of a key; a list may be long.
_SHOWN = 60

# Keys of a document by their place, and what makes an alarm go off by its rule and group.
_Keys: TypeAlias = dict[str, str]
_Alarms: TypeAlias = dict[tuple[str, str | None], tuple[object, ...]]


@click.command("diff", epilog=_EXAMPLES)
@click.option(
    "--against",
    metavar="FILE",
    required=True,
    type=click.Path(path_type=Path),
    help="The document that is deployed.",
)
@option(
    "--config",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help=f"The new one, or a {CDK_FILE} that holds or names it (default: ./{CDK_FILE}).",
)
@place_options
@click.option(
    "--from",
    "first",
    metavar="YYYY-MM-DD",
    help=f"The first UTC day (default: {DEFAULT_DAYS} days in all).",
)
@click.option("--to", "last", metavar="YYYY-MM-DD", help="The last UTC day (default: today).")
def diff(
    against: Path, file: Path | None, place: SnapshotPlace, first: str | None, last: str | None
) -> None:
    """What another document would change: keys, alarms, cost, and pages.

    Pages are those of past days, where --bucket or --state says which snapshots are theirs:
    the last 30 days, as `kafka-lag replay --against` has them.
    """
    screen = open_screen()
    try:
        old, new = (_read(each) for each in (against, file or Path(CDK_FILE)))
        for line in (*_changed_keys(old, new), *_changed_alarms(old, new), _changed_cost(old, new)):
            _print(screen, line)
        if place.bucket is not None or place.state is not None:
            _print_pages(old, new, place, find_period(first, last), screen)
    except ConfigurationError as error:
        raise click.ClickException(printable(error.line)) from error
    except ReporterError as error:
        raise click.ClickException(printable(str(error))) from error


def _read(path: Path) -> Deployment:
    if not path.is_file():
        raise click.UsageError(f"There is no {path}: name a deployment's document.")
    return read_deployment(path)


def _changed_keys(old: Deployment, new: Deployment) -> Iterator[str]:
    """Keys as a deploy takes them: one that is left out has its default."""
    before, after = _keys_of(old), _keys_of(new)
    changed = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    for key in changed:
        yield f"{key}: {before.get(key, 'none')} -> {after.get(key, 'none')}"
    if not changed:
        yield "No key changes."


def _keys_of(deployment: Deployment) -> _Keys:
    """Clusters by their names, as their order means nothing."""
    whole = deployment.model_dump(mode="json", exclude={"clusters"})
    clusters = {each.name: each.model_dump(mode="json") for each in deployment.clusters}
    return dict(_flattened({**whole, "clusters": clusters}, ""))


def _flattened(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for key, below in value.items():
            yield from _flattened(below, f"{place}.{key}" if place else str(key))
    else:
        text = json.dumps(value, ensure_ascii=False)
        yield place, text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _changed_alarms(old: Deployment, new: Deployment) -> Iterator[str]:
    before, after = _alarms_of(old), _alarms_of(new)
    both = before.keys() & after.keys()
    changed = sum(before[key] != after[key] for key in both)
    added, removed = len(after) - len(both), len(before) - len(both)
    yield (
        f"alarms: +{added:,}, -{removed:,}; {changed:,} of {format_quantity(len(both), 'other')} "
        "would go off by other numbers"
        if added or removed or changed
        else f"alarms: none of {len(both):,} changes"
    )


def _alarms_of(deployment: Deployment) -> _Alarms:
    return {
        (f"{cluster.name}/{rule.name}", group): (
            rule.threshold if threshold is None else threshold,
            rule.datapoints,
            rule.periods,
            cluster.interval_minutes,
        )
        for cluster in deployment.clusters
        for group, rule, threshold in _rules_of(cluster)
    }


def _rules_of(cluster: Cluster) -> Iterator[tuple[str | None, Rule, float | None]]:
    shared = [*reporter_rules(paused=cluster.paused, sinks=cluster.sink_names)]
    shared += broker_rules(brokers=cluster.watches_brokers, disks=cluster.has_disks)
    shared += query_rules(cluster)
    yield from ((None, rule, None) for rule in shared)
    yield from group_rules(cluster)


def _changed_cost(old: Deployment, new: Deployment) -> str:
    prices = load_prices()
    before, after = (cost_of(each, prices).usd for each in (old, new))
    return f"cost: ${before:,.2f} -> ${after:,.2f} a month ({after - before:+,.2f})"


def _print_pages(
    old: Deployment,
    new: Deployment,
    place: SnapshotPlace,
    period: tuple[int, int],
    screen: Console,
) -> None:
    store = place.open_store(AT_ONCE)
    read = read_days(store, place, new.clusters, old.clusters, *period)
    print_summaries([replay_days(*each, (), compared=True) for each in read], screen)


def _print(screen: Console, line: str) -> None:
    screen.print(Text(printable_line(line)), soft_wrap=True)
