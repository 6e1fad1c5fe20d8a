# SPDX-License-Identifier: Apache-2.0
"""The pages that a Prometheus rule file would have sent, by Prometheus itself on stored runs.

Each minute is a scrape of the exporter's families that the rules read. Prometheus evaluates the
rules at their own interval; `for` and `keep_firing_for` are counted here as it counts them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from kafka_lag import contract
from kafka_lag.contract import exposition
from kafka_lag.contract.exposition import FAMILIES, LABEL_CLUSTER, LABEL_GROUP, LEVELS, Family
from kafka_lag.errors import ConfigError
from kafka_lag.lag.columns import Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.snapshots.store import BrowsableStore, list_runs, read_dataset
from kafka_lag.views.prometheus import (
    ClusterRun,
    ScrapeOptions,
    load_run,
    write_families,
    write_label,
)
from kafka_lag.wording.formatting import format_list
from kafka_lag_cli.needs import check_prometheus
from kafka_lag_cli.replay.pages import Page, make_page
from kafka_lag_cli.replay.prometheus import Prometheus, PrometheusError, open_prometheus
from kafka_lag_cli.replay.recorded import Recorded
from kafka_lag_cli.state.groups_over_time import AT_ONCE, DAY_MS, MINUTE_MS, Progress
from kafka_lag_cli.terminal.progress import count_objects

# What promtool writes at once: a block of Prometheus.
_BLOCK_MS = 7_200_000
# Evaluations in one query; Prometheus allows 11,000.
_MOST_STEPS = 10_000

# Parts of an expression, in the form that Prometheus gives it.
_STRING = re.compile(r'"(?:\\.|[^"\\])*"')
_SELECTOR = re.compile(r"\{[^}]*\}")
_LABEL_LIST = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right) \([^)]*\)")
_METRIC = re.compile(r"(?<![\w:.])[A-Za-z_:][\w:]*(?![\w:]*\s*\()")
_WORDS = frozenset({"and", "or", "unless", "bool", "offset", "atan2", "Inf", "NaN"})
# A label that must have a value.
_MATCHED = re.compile(r"(\w+)(?:=~?'|!=(?!'))")
_LABELS = frozenset({LABEL_CLUSTER}).union(*(each.shown_labels for each in FAMILIES))
_NAMED = 3


@dataclass(frozen=True, slots=True)
class _Rule:
    """A rule with the metrics that it reads and the labels that these must have.

    `step`: every how many ms it is evaluated; `hold` and `keep`: an alert's `for` and
    `keep_firing_for` in ms.
    """

    name: str
    query: str
    set_labels: Mapping[str, str]
    is_alert: bool
    step: int
    hold: int
    keep: int
    metrics: frozenset[str]
    labels: frozenset[str]

    @classmethod
    def of(cls, group: Mapping[str, Any], rule: Mapping[str, Any]) -> _Rule:
        """Returns a rule as Prometheus' API has it."""
        # An empty string matches a series without the label.
        text = _STRING.sub(lambda found: "" if found[0] == '""' else "'", rule["query"])
        selectors = " ".join(_SELECTOR.findall(text))
        names = _METRIC.findall(_LABEL_LIST.sub("", _SELECTOR.sub("", text)))
        return cls(
            name=rule["name"],
            query=rule["query"],
            set_labels=rule.get("labels", {}),
            is_alert=rule["type"] == "alerting",
            step=round(group["interval"] * 1000),
            hold=round(rule.get("duration", 0) * 1000),
            keep=round(rule.get("keepFiringFor", 0) * 1000),
            metrics=frozenset(names) - _WORDS,
            labels=frozenset(_MATCHED.findall(selectors)),
        )


def judge_rules(
    file: Path, store: BrowsableStore, recorded: Recorded, cluster: str
) -> tuple[list[Page], list[str]]:
    """Returns the pages of a rule file on a cluster's runs, and which rules are not judged and why.

    Every alert counts, whatever its labels say. Raises MissingError, ConfigurationError,
    ConfigError, PrometheusError, StoreError.
    """
    check_prometheus()
    runs = _find_runs(store, recorded, cluster)
    with open_prometheus() as prometheus:
        groups = prometheus.read_rules(file)
        rules = [_Rule.of(group, rule) for group in groups for rule in group["rules"]]
        read = frozenset().union(*(each.metrics for each in rules))
        families = [each for each in FAMILIES if each.name in read]
        if families:
            scrapes = _Scrapes(store, cluster, runs, families)
            with count_objects() as progress:
                scrapes.store_all(prometheus, recorded, progress)
        judge = _Judge(prometheus, recorded, cluster, {each.name for each in families})
        judge.record([each for each in rules if not each.is_alert])
        judge.find_pages([each for each in rules if each.is_alert])
        return judge.pages, judge.left_out


def _find_runs(store: BrowsableStore, recorded: Recorded, cluster: str) -> Rows:
    """Returns the times of the stored runs, ms UTC. Raises ConfigError for days without any."""
    end = recorded.time(len(recorded.has_run))
    runs = np.array(list_runs(store, contract.GROUPS, cluster, recorded.begin, end), np.int64)
    minutes = recorded.begin + np.flatnonzero(recorded.has_run) * MINUTE_MS
    days = np.setdiff1d(minutes // DAY_MS, runs // DAY_MS)
    if len(days):
        day = datetime.fromtimestamp(int(days.max()) * DAY_MS / 1000, UTC)
        raise ConfigError(
            f"Alert rules are judged on snapshots, and of {day:%F} {cluster} has only history: "
            "choose later days by --from and --to."
        )
    return runs


@dataclass(frozen=True, slots=True)
class _Scrapes:
    """A scrape of these families each minute: of the newest of the runs, whose times are ms UTC."""

    store: BrowsableStore
    cluster: str
    runs: Rows
    families: Sequence[Family]

    def store_all(self, prometheus: Prometheus, recorded: Recorded, progress: Progress) -> None:
        """Has Prometheus store the scrapes of all recorded minutes."""
        minutes = recorded.begin + np.arange(len(recorded.has_run)) * MINUTE_MS
        minutes = minutes[minutes >= self.runs[0]]
        advance = progress(len(minutes))
        with ThreadPoolExecutor(AT_ONCE) as threads:
            for block in np.split(minutes, np.flatnonzero(np.diff(minutes // _BLOCK_MS)) + 1):
                prometheus.add(self._scrape(block, threads))
                advance(len(block))

    def _scrape(self, minutes: Rows, threads: ThreadPoolExecutor) -> Iterator[str]:
        for few in np.array_split(minutes, -(-len(minutes) // AT_ONCE)):
            newest = self.runs[np.searchsorted(self.runs, few, "right") - 1].tolist()
            different = list(dict.fromkeys(newest))
            loaded = dict(zip(different, threads.map(self._load, different), strict=True))
            for now, at in zip(few.tolist(), newest, strict=True):
                for text in write_families(self._options, [loaded[at]], now, self.families):
                    lines = (line for line in text.split("\n") if line and line[0] != "#")
                    yield from (f"{line} {now / 1000}\n" for line in lines)

    @property
    def _options(self) -> ScrapeOptions:
        return ScrapeOptions(max((each.shown_from for each in self.families), key=LEVELS.index))

    def _load(self, at: int) -> ClusterRun:
        return load_run(self._options, self._read, self.cluster, at)

    def _read(self, cluster: str, dataset: str, at: int) -> Frame:
        columns = None
        if dataset == contract.GROUPS:
            # Of a hundred columns, whose reading takes most of the time.
            shown = (each.columns for each in self.families if each.rows is exposition.Rows.GROUP)
            columns = {"consumer_group", "status_reason"}.union(*shown)
        return read_dataset(self.store, dataset, cluster, at, columns)


class _Judge:
    """Evaluates rules whose metrics are `known`; `left_out` says why others are not judged."""

    def __init__(
        self, prometheus: Prometheus, recorded: Recorded, cluster: str, known: set[str]
    ) -> None:
        self._prometheus, self._recorded, self._cluster = prometheus, recorded, cluster
        self._known = known
        self.pages: list[Page] = []
        self.left_out: list[str] = []

    def record(self, rules: Sequence[_Rule]) -> None:
        """Stores what recording rules record, each after the rules whose metrics it reads."""
        while rules:
            late = {each.name for each in rules}
            # Rules that read each other are left out, because none of their metrics is known.
            ready = [each for each in rules if not each.metrics & late] or rules
            self._try_each(ready, self._record)
            rules = [each for each in rules if each not in ready]

    def find_pages(self, alerts: Sequence[_Rule]) -> None:
        """Adds a page for each time that an alert fires for a group, whatever its other labels."""
        self._try_each(alerts, self._find_pages)

    def _try_each(self, rules: Sequence[_Rule], evaluate: Callable[[_Rule], None]) -> None:
        with self._prometheus.serving():
            labels = _LABELS.union(self._prometheus.ask("labels")) - {"__name__"}
            for rule in rules:
                unknown = sorted(rule.metrics - self._known)
                unknown += [f"label {name}" for name in sorted(rule.labels - labels)]
                if unknown:
                    names = format_list(unknown, _NAMED)
                    self.left_out.append(f"{rule.name} reads {names}, which snapshots do not hold")
                    continue
                try:
                    evaluate(rule)
                except PrometheusError as error:
                    self.left_out.append(f"{rule.name}: {error}")

    def _record(self, rule: _Rule) -> None:
        for answer in self._query(rule):
            self._prometheus.add(_write_recorded(rule, answer))
        self._known.add(rule.name)

    def _find_pages(self, rule: _Rule) -> None:
        times: dict[str | None, dict[object, list[int]]] = defaultdict(lambda: defaultdict(list))
        for answer in self._query(rule):
            for series in answer:
                # An alert has no metric's name: series of several metrics can be one alert.
                labels = {**series["metric"], "__name__": ""}
                of_series = times[labels.get(LABEL_GROUP)][frozenset(labels.items())]
                of_series += [round(float(at) * 1000) for at, _ in series["values"]]
        for group, of_group in times.items():
            firing = (
                find_firing(sorted({*each}), rule.step, rule.hold, rule.keep)
                for each in of_group.values()
            )
            for begin, end in _join(chain.from_iterable(firing)):
                seen = (begin - self._recorded.begin) // MINUTE_MS
                looked_at = slice(max(seen - rule.hold // MINUTE_MS, 0), seen + 1)
                self.pages.append(
                    make_page(
                        self._recorded, self._cluster, rule.name, group, (begin, end), looked_at
                    )
                )

    def _query(self, rule: _Rule) -> Iterator[list[dict[str, Any]]]:
        """Yields the series of a rule's expression, day by day or for fewer evaluations."""
        end = self._recorded.time(len(self._recorded.has_run))
        length = min(_MOST_STEPS, max(DAY_MS // rule.step, 1)) * rule.step
        for first in range(self._recorded.begin, end, length):
            bounds = {"start": first, "end": min(first + length, end) - 1, "step": rule.step}
            form = {name: str(value / 1000) for name, value in bounds.items()}
            yield self._prometheus.ask("query_range", query=rule.query, **form)["result"]


def _write_recorded(rule: _Rule, answer: list[dict[str, Any]]) -> Iterator[str]:
    """Yields a sample for each minute until the next evaluation, as if scraped."""
    for series in answer:
        labels = {**series["metric"], **rule.set_labels}
        labels.pop("__name__", None)
        text = ",".join(write_label(name, value) for name, value in labels.items())
        for at, value in series["values"]:
            begin = round(float(at) * 1000)
            for now in range(begin, begin + rule.step, MINUTE_MS):
                yield f"{rule.name}{{{text}}} {value} {now / 1000}\n"


def find_firing(times: Iterable[int], step: int, hold: int, keep: int) -> Iterator[tuple[int, int]]:
    """Yields when an alert begins and ceases to fire, ms; its expression was true at `times`.

    As in Prometheus it fires at the first evaluation that is `hold` ms after the first of unbroken
    ones, and ceases to at the first that is `keep` ms after the first without.
    """
    begin: int | None = None
    previous, since, over = -inf, 0, 0
    for at in times:
        if begin is not None and at > over:
            yield begin, over
            begin = None
        if at - previous > step:
            since = at
        if begin is None and at - since >= hold:
            begin = at
        previous, over = at, at + step - (-keep // step) * step
    if begin is not None:
        yield begin, over


def _join(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yields spans in order, those that touch as one."""
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((begin, end))
    yield from joined
