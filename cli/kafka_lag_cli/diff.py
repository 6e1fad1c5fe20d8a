# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag diff`: what a configuration would change, its pages on past days.

What is deployed is another configuration, or alerts of Prometheus, which have pages alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

import click
from rich.markdown import Markdown

from kafka_lag.wording.formatting import format_quantity
from kafka_lag_cli.connecting.deployment_file import CONFIG, read_deployment
from kafka_lag_cli.help_sections import FILE, command, option
from kafka_lag_cli.replay.alert_rules import judge_rules
from kafka_lag_cli.replay.changes import (
    Change,
    Kind,
    count_task_hours,
    describe_kind,
    find_changes,
    summarise_changes,
)
from kafka_lag_cli.replay.days import Replay, find_period, period_options, read_days, replay_days
from kafka_lag_cli.replay.output import LISTED, PAGE_NAMES, describe_cells, describe_page
from kafka_lag_cli.state.groups_over_time import AT_ONCE
from kafka_lag_cli.state.place import SnapshotPlace, place_options
from kafka_lag_cli.terminal.records import JSON, TABLE, output_option, write_records
from kafka_lag_cli.terminal.text import open_screen, printable_line
from kafka_lag_config.alarm_rules import (
    Rule,
    broker_rules,
    deployment_rules,
    group_rules,
    query_rules,
    reporter_rules,
)
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.cost.cost import cost_of, load_prices
from kafka_lag_config.deployment import Deployment

_EXAMPLES = """\b
examples:
  kafka-lag diff --against deployed.json --config new.json
  kafka-lag diff --against deployed.json --config new.json --state s3://kafka-lag-data --markdown
  kafka-lag diff --against rules.yml --config new.json --state ./lag
"""
# Names of rule files; a configuration is JSON or TOML.
_RULES = (".yml", ".yaml")
# Characters that are shown of a key's value, which may be a long list.
_SHOWN = 60

# What makes an alarm go off, by its rule and group.
_Alarms: TypeAlias = dict[tuple[str, str | None], tuple[object, ...]]


@command("diff", epilog=_EXAMPLES)
@click.option(
    "--against",
    metavar="FILE",
    required=True,
    type=FILE,
    help="configuration that is deployed, or Prometheus rules (.yml)",
)
@CONFIG
@place_options
@period_options
@option("--markdown", is_flag=True, help="as a comment on a pull request")
@output_option
def diff(
    against: Path,
    file: Path | None,
    place: SnapshotPlace,
    first: datetime | None,
    last: datetime | None,
    output: str,
    *,
    markdown: bool,
) -> None:
    """Compare two configurations: keys, alarms, cost, and with --state the pages of past days.

    Prometheus judges alert rules on these days, if it is installed.
    """
    if markdown and output != TABLE:
        raise click.UsageError(f"--markdown is for people: leave out --output {output}.")
    new, old, pages = read_deployment(file), None, []
    if against.suffix in _RULES:
        pages = list(_judge_rules(against, new, place, find_period(first, last)))
    else:
        old = read_deployment(against)
        if place.bucket is not None or place.state is not None:
            pages = list(_find_pages(old, new, place, find_period(first, last)))
    if output != TABLE:
        _write(old, new, pages, output)
        return
    screen = open_screen()
    is_drawn = screen.is_terminal and not markdown
    text = "\n".join(_write_markdown(old, new, pages, is_drawn=is_drawn))
    if is_drawn:
        screen.print(Markdown(text))
    else:
        click.echo(text)


@dataclass(frozen=True, slots=True)
class _Changes:
    """The replay of one cluster's days by the new configuration, and the pages of both.

    `task_hours`: of services that are set to the tasks they need, before and after. `not_judged`
    says which alert rules have no pages, and why.
    """

    replay: Replay
    pages: list[Change]
    task_hours: tuple[float, float] = (0.0, 0.0)
    not_judged: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        return summarise_changes(self.pages, self.replay.days)


def _find_pages(
    old: Deployment, new: Deployment, place: SnapshotPlace, period: tuple[int, int]
) -> Iterator[_Changes]:
    """Each cluster of the new configuration; of one that the old one lacks every page is added."""
    for recorded, cluster, other in read_days(place, new.clusters, period, old.clusters):
        before = () if other is None else replay_days(recorded, other).pages
        after = replay_days(recorded, cluster)
        hours = (
            0.0 if other is None else count_task_hours(recorded, other),
            count_task_hours(recorded, cluster),
        )
        yield _Changes(after, find_changes(before, after.pages), hours)


def _judge_rules(
    rules: Path, new: Deployment, place: SnapshotPlace, period: tuple[int, int]
) -> Iterator[_Changes]:
    """Each cluster of the configuration; a page that only an alert sends is removed."""
    store = place.open_store(AT_ONCE)
    for recorded, cluster, _ in read_days(place, new.clusters, period):
        before, not_judged = judge_rules(rules, store, recorded, cluster.name)
        after = replay_days(recorded, cluster)
        changes = find_changes(before, after.pages, by_group=True)
        yield _Changes(after, changes, not_judged=tuple(not_judged))


def _write_markdown(
    old: Deployment | None, new: Deployment, clusters: list[_Changes], *, is_drawn: bool
) -> Iterator[str]:
    """Yields the lines of a comment: each cluster's pages and tasks, then alarms, cost and keys.

    Without an old configuration there are pages alone. A terminal, on which Markdown `is_drawn`,
    has no HTML that folds the keys.
    """
    yield "### Consumer lag: what this configuration changes"
    for each in clusters:
        yield from ("", f"**{_quote_code(each.replay.cluster.name)}: {each.summary}**")
        was, will = each.task_hours
        if was or will:
            yield from ("", f"tasks: {was:,.0f} -> {will:,.0f} task hours ({will - was:+,.0f})")
        yield from _list_pages(each)
        if each.not_judged:
            yield from ("", *(f"- not judged: {_quote_code(rule)}" for rule in each.not_judged))
    if old is None:
        return
    was, will = _costs(old, new)
    yield from ("", f"- {_say_alarms(old, new)}")
    yield f"- cost: ${was:,.2f} -> ${will:,.2f} a month ({will - was:+,.2f})"
    yield from ("", "**Keys**" if is_drawn else "<details><summary>Keys</summary>", "")
    keys = [
        _quote_code(f"{key}: {_say_values(was, will)}")
        for key, was, will in _changed_keys(old, new)
    ]
    yield from (f"- {line}" for line in keys or ["No key changes."])
    if not is_drawn:
        yield from ("", "</details>")


def _list_pages(changes: _Changes) -> Iterator[str]:
    """Yields a table of the pages that do not stay."""
    listed = [each for each in changes.pages if each.kind != Kind.SAME]
    for number, each in enumerate(listed[-LISTED:]):
        cells = {"change": describe_kind(each)}
        cells |= describe_cells(each.page, changes.replay.recorded)
        # A bar ends a cell, also within code.
        for name in ("alarm", "group"):
            cells[name] = _quote_code(cells[name]).replace("|", r"\|")
        if not number:
            yield from ("", f"| {' | '.join(cells)} |", "|---" * len(cells) + "|")
        yield f"| {' | '.join(cells.values())} |"
    if len(listed) > LISTED:
        yield from ("", f"The newest {LISTED} of {len(listed):,}; all of them by --output json.")


def _quote_code(text: str) -> str:
    """Returns a stranger's text as code, in which Markdown means nothing."""
    plain = printable_line(text).replace("`", "'")
    return f"`{plain}`"


def _write(old: Deployment | None, new: Deployment, clusters: list[_Changes], form: str) -> None:
    """Writes JSON with all, or NDJSON and CSV with a line a page that either sends."""
    found = {} if old is None else _describe_rest(old, new)
    found["clusters"] = [
        {
            "cluster": each.replay.cluster.name,
            "summary": each.summary,
            "task_hours": dict(zip(("before", "after"), each.task_hours, strict=True)),
            "pages": [_describe(page) for page in each.pages],
            "not_judged": list(each.not_judged),
        }
        for each in clusters
    ]
    pages = [_describe(page) for each in clusters for page in each.pages]
    names = ("change", "later_seconds", *PAGE_NAMES)
    if form != JSON:
        for rule in (rule for each in clusters for rule in each.not_judged):
            click.echo(f"Not judged: {printable_line(rule)}", err=True)
    write_records(pages, form, sys.stdout, whole=found, names=names)


def _describe_rest(old: Deployment, new: Deployment) -> dict[str, Any]:
    """Returns keys, alarms and cost as JSON has them."""
    added, removed, moved, _ = _count_alarms(old, new)
    before, after = _costs(old, new)
    return {
        "keys": [
            {"key": key, "before": old_value, "after": new_value}
            for key, old_value, new_value in _changed_keys(old, new)
        ],
        "alarms": {"added": added, "removed": removed, "changed": moved},
        "usd_a_month": {"before": before, "after": after},
    }


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


def _keys_of(deployment: Deployment, names: set[str]) -> dict[str, str]:
    """Returns the keys of the configuration and of these clusters, whose order means nothing."""
    whole = deployment.model_dump(mode="json", exclude={"clusters"})
    clusters = {
        each.name: each.model_dump(mode="json")
        for each in deployment.clusters
        if each.name in names
    }
    return dict(_flattened({**whole, "clusters": clusters}, ""))


def _flattened(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Yields each key with its value as JSON; objects in lists have their keys one by one."""
    if isinstance(value, Mapping) and value:
        for key, below in value.items():
            yield from _flattened(below, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
        for number, each in enumerate(value):
            yield from _flattened(each, f"{place}[{number}]")
    else:
        yield place, json.dumps(value, ensure_ascii=False)


def _say_values(before: str, after: str) -> str:
    """Returns both values, cut if they differ in what is shown of them."""
    shown = [text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..." for text in (before, after)]
    return " -> ".join(shown if shown[0] != shown[1] else (before, after))


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
