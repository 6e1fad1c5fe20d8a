# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag diff`: what a configuration would change, its pages on past days."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import click
from rich.console import Console
from rich.text import Text

from kafka_lag.errors import ReporterError
from kafka_lag.wording.formatting import format_quantity
from kafka_lag_cli.connecting.deployment_file import CDK_FILE, read_deployment
from kafka_lag_cli.help_sections import option
from kafka_lag_cli.replay.changes import (
    Change,
    Kind,
    count_task_hours,
    describe_kind,
    find_changes,
    summarise_changes,
)
from kafka_lag_cli.replay.documents import DEFAULT_DAYS, Replay, find_period, read_days, replay_days
from kafka_lag_cli.replay.output import PAGE_NAMES, PAGES, cells_of_page, describe_page
from kafka_lag_cli.state.groups_over_time import AT_ONCE
from kafka_lag_cli.state.place import SnapshotPlace, place_options
from kafka_lag_cli.terminal.records import TABLE, output_option, write_records
from kafka_lag_cli.terminal.text import open_screen, printable, printable_line
from kafka_lag_config.alarm_rules import (
    Rule,
    broker_rules,
    deployment_rules,
    group_rules,
    query_rules,
    reporter_rules,
)
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.cost.cost import cost_of
from kafka_lag_config.cost.prices import load_prices
from kafka_lag_config.deployment import Deployment
from kafka_lag_config.faults import ConfigurationError

_EXAMPLES = """\b
examples:
  kafka-lag diff --against deployed.json --config new.json
  kafka-lag diff --against deployed.json --config new.json --state s3://kafka-lag-data --markdown
"""
# Characters that are shown of a key's value, which may be a long list.
_SHOWN = 60
# Pages that are listed of each cluster.
_LISTED = 20
_CHANGES = replace(PAGES, names=("change", *PAGES.names))

# Keys of a configuration by their place, and what makes an alarm go off by its rule and group.
_Keys: TypeAlias = dict[str, str]
_Alarms: TypeAlias = dict[tuple[str, str | None], tuple[object, ...]]


@click.command("diff", epilog=_EXAMPLES)
@click.option(
    "--against",
    metavar="FILE",
    required=True,
    type=click.Path(path_type=Path),
    help="configuration that is deployed",
)
@option(
    "--config",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help=f"new one, or a {CDK_FILE} that names it (./{CDK_FILE})",
)
@place_options
@click.option(
    "--from",
    "first",
    metavar="YYYY-MM-DD",
    help=f"first UTC day ({DEFAULT_DAYS} days in all)",
)
@click.option("--to", "last", metavar="YYYY-MM-DD", help="last UTC day (today)")
@option("--markdown", is_flag=True, help="as a comment on a pull request")
@output_option
def diff(
    against: Path,
    file: Path | None,
    place: SnapshotPlace,
    first: str | None,
    last: str | None,
    output: str,
    *,
    markdown: bool,
) -> None:
    """Compare two configurations: keys, alarms, cost, and with --state the pages of past days."""
    if markdown and output != TABLE:
        raise click.UsageError(f"--markdown is for people: leave out --output {output}.")
    try:
        old, new = (_read(each) for each in (against, file or Path(CDK_FILE)))
        pages = []
        if place.bucket is not None or place.state is not None:
            pages = list(_find_pages(old, new, place, find_period(first, last)))
        if markdown:
            click.echo("\n".join(_write_markdown(old, new, pages)))
        elif output == TABLE:
            _print_all(old, new, pages, open_screen())
        else:
            _write(old, new, pages, output)
    except ConfigurationError as error:
        raise click.ClickException(printable(error.line)) from error
    except ReporterError as error:
        raise click.ClickException(printable(str(error))) from error


def _read(path: Path) -> Deployment:
    if not path.is_file():
        raise click.UsageError(f"There is no {path}: name a configuration.")
    return read_deployment(path)


@dataclass(frozen=True, slots=True)
class _Changes:
    """The replay of one cluster's days by the new configuration, and the pages of both.

    `task_hours`: of services that are set to the tasks they need, before and after.
    """

    replay: Replay
    pages: list[Change]
    task_hours: tuple[float, float]

    @property
    def summary(self) -> str:
        return summarise_changes(self.pages, self.replay.days)

    @property
    def tasks(self) -> str | None:
        """A line on the hours of tasks; None if no service is set to the tasks it needs."""
        before, after = self.task_hours
        if not before and not after:
            return None
        return f"tasks: {before:,.0f} -> {after:,.0f} task hours ({after - before:+,.0f})"

    @property
    def listed(self) -> list[Change]:
        """Pages that do not stay."""
        return [each for each in self.pages if each.kind != Kind.SAME]


def _find_pages(
    old: Deployment, new: Deployment, place: SnapshotPlace, period: tuple[int, int]
) -> Iterator[_Changes]:
    """Each cluster of the new configuration; of one that the old one lacks every page is added."""
    store = place.open_store(AT_ONCE)
    for recorded, cluster, other in read_days(store, place, new.clusters, *period, old.clusters):
        before = () if other is None else replay_days(recorded, other, ()).pages
        after = replay_days(recorded, cluster, ())
        hours = (
            0.0 if other is None else count_task_hours(recorded, other),
            count_task_hours(recorded, cluster),
        )
        yield _Changes(after, find_changes(before, after.pages), hours)


def _print_all(old: Deployment, new: Deployment, clusters: list[_Changes], screen: Console) -> None:
    for line in (*_say_keys(old, new), *_say_totals(old, new)):
        _print(screen, line)
    for each in clusters:
        _print_pages(each, screen)


def _say_keys(old: Deployment, new: Deployment) -> list[str]:
    keys = [f"{key}: {was} -> {will}" for key, was, will in _changed_keys(old, new)]
    return keys or ["No key changes."]


def _say_totals(old: Deployment, new: Deployment) -> tuple[str, str]:
    before, after = _costs(old, new)
    cost = f"cost: ${before:,.2f} -> ${after:,.2f} a month ({after - before:+,.2f})"
    return _say_alarms(old, new), cost


def _write_markdown(old: Deployment, new: Deployment, clusters: list[_Changes]) -> Iterator[str]:
    """Yields the lines of a comment: each cluster's pages and tasks, then alarms, cost and keys."""
    yield "### Consumer lag: what this configuration changes"
    for each in clusters:
        yield from ("", f"**{_quote_code(each.replay.cluster.name)}: {each.summary}**")
        yield from ("", each.tasks) if each.tasks else ()
        yield from _list_pages(each)
    yield ""
    yield from (f"- {line}" for line in _say_totals(old, new))
    yield from ("", "<details><summary>Keys</summary>", "")
    yield from (f"- {_quote_code(line)}" for line in _say_keys(old, new))
    yield from ("", "</details>")


def _list_pages(changes: _Changes) -> Iterator[str]:
    recorded, listed = changes.replay.recorded, changes.listed
    if not listed:
        return
    yield from ("", f"| {' | '.join(_CHANGES.names)} |", "|---" * len(_CHANGES.names) + "|")
    end = recorded.time(len(recorded.has_run))
    for each in listed[-_LISTED:]:
        cells = [
            describe_kind(each),
            *(cell.plain for cell in cells_of_page(each.page, end).values()),
        ]
        # A bar ends a cell, also within code.
        cells[2] = _quote_code(cells[2]).replace("|", r"\|")
        yield f"| {' | '.join(cells)} |"
    if len(listed) > _LISTED:
        yield from ("", f"The newest {_LISTED} of {len(listed):,}.")


def _quote_code(text: str) -> str:
    """Returns a stranger's text as code, in which Markdown means nothing."""
    plain = printable_line(text).replace("`", "'")
    return f"`{plain}`"


def _print_pages(changes: _Changes, screen: Console) -> None:
    recorded, listed = changes.replay.recorded, changes.listed
    _print(screen, f"{changes.replay.cluster.name}: {changes.summary}")
    if changes.tasks:
        _print(screen, changes.tasks)
    if listed:
        end = recorded.time(len(recorded.has_run))
        cells = [
            {"change": Text(describe_kind(each)), **cells_of_page(each.page, end)}
            for each in listed[-_LISTED:]
        ]
        more = [f"the newest {_LISTED} of {len(listed):,}; all of them by --output json"]
        screen.print(_CHANGES.table(cells, screen.width, more if len(listed) > _LISTED else []))


def _write(old: Deployment, new: Deployment, clusters: list[_Changes], form: str) -> None:
    """Writes JSON with all, or NDJSON and CSV with a line a page that either sends."""
    added, removed, moved, _ = _count_alarms(old, new)
    before, after = _costs(old, new)
    found = {
        "keys": [
            {"key": key, "before": old_value, "after": new_value}
            for key, old_value, new_value in _changed_keys(old, new)
        ],
        "alarms": {"added": added, "removed": removed, "changed": moved},
        "usd_a_month": {"before": before, "after": after},
        "clusters": [
            {
                "cluster": each.replay.cluster.name,
                "summary": each.summary,
                "task_hours": dict(zip(("before", "after"), each.task_hours, strict=True)),
                "pages": [_describe(page) for page in each.pages],
            }
            for each in clusters
        ],
    }
    pages = [_describe(page) for each in clusters for page in each.pages]
    names = ("change", "later_seconds", *PAGE_NAMES)
    write_records(pages, form, sys.stdout, whole=found, names=names)


def _describe(change: Change) -> dict[str, Any]:
    return {
        "change": change.kind.value,
        "later_seconds": change.later_seconds,
        **describe_page(change.page),
    }


def _changed_keys(old: Deployment, new: Deployment) -> Iterator[tuple[str, str, str]]:
    """Yields keys whose values differ, with both; a key that is left out has its default."""
    names, new_names = ({each.name for each in document.clusters} for document in (old, new))
    for name in sorted(names ^ new_names):
        is_new = name in new_names
        yield f"clusters.{name}", "none" if is_new else "there", "there" if is_new else "none"
    both = names & new_names
    before, after = _keys_of(old, both), _keys_of(new, both)
    for key in {**before, **after}:
        if before.get(key) != after.get(key):
            yield key, before.get(key, "none"), after.get(key, "none")


def _keys_of(deployment: Deployment, names: set[str]) -> _Keys:
    """Returns the keys of the configuration and of these clusters, whose order means nothing."""
    whole = deployment.model_dump(mode="json", exclude={"clusters"})
    clusters = {
        each.name: each.model_dump(mode="json")
        for each in deployment.clusters
        if each.name in names
    }
    return dict(_flattened({**whole, "clusters": clusters}, ""))


def _flattened(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for key, below in value.items():
            yield from _flattened(below, f"{place}.{key}" if place else str(key))
    else:
        text = json.dumps(value, ensure_ascii=False)
        yield place, text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _count_alarms(old: Deployment, new: Deployment) -> tuple[int, int, int, int]:
    """Returns how many alarms come, go, go off by other numbers, and are in both."""
    before, after = _alarms_of(old), _alarms_of(new)
    both = before.keys() & after.keys()
    changed = sum(before[key] != after[key] for key in both)
    return len(after) - len(both), len(before) - len(both), changed, len(both)


def _say_alarms(old: Deployment, new: Deployment) -> str:
    added, removed, changed, both = _count_alarms(old, new)
    if not (added or removed or changed):
        return f"alarms: none of {both:,} changes"
    return (
        f"alarms: +{added:,}, -{removed:,}; {changed:,} of {format_quantity(both, 'other')} "
        "would go off by other numbers"
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
    facts = cluster.facts
    shared = [*reporter_rules(facts), *broker_rules(facts), *query_rules(facts)]
    yield from ((None, rule, None) for rule in shared)
    yield from group_rules(facts)
    yield from ((group, rule, None) for group, rule in deployment_rules(facts))


def _costs(old: Deployment, new: Deployment) -> tuple[float, float]:
    prices = load_prices()
    before, after = (cost_of(each, prices).usd for each in (old, new))
    return before, after


def _print(screen: Console, line: str) -> None:
    screen.print(Text(printable_line(line)), soft_wrap=True)
