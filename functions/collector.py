# SPDX-License-Identifier: Apache-2.0
"""One run: read, evaluate, publish, keep; and whatever fails, the rest is still tried."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from functions import contract
from functions.broker.reading import Question
from functions.errors import ReporterError, StoreError
from functions.lag.evaluate import evaluate
from functions.lag.model import ClusterReading, LagReport, Problem, Snapshot
from functions.settings import Settings
from functions.sinks.budget import plan
from functions.sinks.metrics import MetricSet, Sink, health_set, lag_sets, success_set
from functions.snapshots import history
from functions.snapshots.store import SnapshotStore

# Problems named in a log; a broker that is down can silence thousands of partitions.
_NAMED = 20


class Source(Protocol):
    """A cluster that can be read again and again."""

    def read(self, question: Question, deadline: float) -> ClusterReading:
        """One reading, ended by `deadline` (time.monotonic). Raises SourceError, ConfigError."""


class Journal(Protocol):
    """Where a run tells people what they should know; powertools' Logger is one."""

    def warning(self, message: str, /) -> None:
        """Something was not as it should be, and the run went on."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run has done: its report, and how many snapshot objects are new."""

    report: LagReport
    objects_written: int


class Collector:
    """Runs for one cluster; remembers the last snapshot so that a warm run reads none."""

    def __init__(
        self,
        settings: Settings,
        source: Source,
        store: SnapshotStore,
        sinks: list[Sink],
        journal: Journal,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._source = source
        self._store = store
        self._sinks = sinks
        self._journal = journal
        self._clock = clock
        self._last = Snapshot.empty()

    def run(self, taken_at: int, seconds_left: float | None = None) -> Outcome:
        """One run for the scheduled time `taken_at`, ms UTC.

        Raises ReporterError with every cause when something failed, after all else was done;
        only then is there no CollectorSuccess.
        """
        began = self._clock()
        limit = self._settings.deadline
        deadline = began + (limit if seconds_left is None else min(limit, seconds_left))
        before, failures = self._before(taken_at)
        blind = bool(failures)
        reading = self._read(before, deadline, failures)
        report = evaluate(reading, before, self._settings.rules, taken_at)
        chosen = plan(report, before, self._settings.levels)
        snapshot = Snapshot(
            taken_at,
            report.snapshot.topic_partitions,
            report.snapshot.group_partitions.with_columns(published=chosen.published),
            report.snapshot.groups,
        )
        self._tell(report, chosen.omitted)
        cluster = self._settings.cluster
        sets = lag_sets(report, chosen, self._settings.levels, cluster)
        failures += self._publish(sets, taken_at)
        # A set made without knowing the one before would become the newest, and forget it all.
        written, unkept = (0, []) if blind else self._keep(snapshot)
        failures += unkept
        health = [health_set(report, chosen, cluster, self._clock() - began)]
        if not failures:
            health.append(success_set(cluster))
        failures += self._publish(health, taken_at)
        if failures:
            raise _joined(failures)
        return Outcome(report, written)

    def _before(self, taken_at: int) -> tuple[Snapshot, list[ReporterError]]:
        """The snapshot before this run: memory if it is the very last one, else the store."""
        if self._last.taken_at == taken_at - self._settings.interval_ms:
            return self._last, []
        try:
            loaded = history.newest_before(self._store, self._settings.cluster, taken_at)
        except StoreError as error:
            return Snapshot.empty(), [error]
        for complaint in loaded.complaints:
            self._journal.warning(complaint)
        return loaded.snapshot, []

    def _read(
        self, before: Snapshot, deadline: float, failures: list[ReporterError]
    ) -> ClusterReading:
        try:
            return self._source.read(self._question(before), deadline)
        except ReporterError as error:
            if not failures:
                raise
            raise _joined([*failures, error]) from error

    def _question(self, before: Snapshot) -> Question:
        groups = before.groups
        gone = groups.words("status_reason").is_in([contract.GONE])
        # A group without lag has nothing to lose, and other protocols cannot prove it gone.
        other = groups.words("group_type").is_in(contract.UNSUPPORTED_GROUP_TYPES)
        return Question(
            groups=self._settings.rules.groups,
            topics=self._settings.rules.topics,
            known_groups=frozenset(groups.where(~gone & ~other).words("consumer_group").to_list()),
            known_topics=frozenset(before.topic_partitions.words("topic").words),
        )

    def _publish(self, sets: list[MetricSet], taken_at: int) -> list[ReporterError]:
        failures: list[ReporterError] = []
        for sink in self._sinks:
            try:
                sink.publish(sets, taken_at)
            except ReporterError as error:
                failures.append(error)
        return failures

    def _keep(self, snapshot: Snapshot) -> tuple[int, list[ReporterError]]:
        try:
            written = history.write(self._store, self._settings.cluster, snapshot)
        except StoreError as error:
            self._last = snapshot
            return 0, [error]
        # What another run wrote for this minute is the truth then, and is loaded next time.
        self._last = snapshot if written == len(contract.DATASETS) else Snapshot.empty()
        return written, []

    def _tell(self, report: LagReport, omitted: int) -> None:
        for line in told(report.problems):
            self._journal.warning(line)
        if omitted:
            self._journal.warning(
                f"{omitted} metrics over the budget of {self._settings.levels.max_metrics} were "
                "left out: raise levels.max_metrics or narrow groups and topics"
            )


def told(problems: tuple[Problem, ...]) -> list[str]:
    """Problems as lines for a log, the first twenty by name and the rest counted."""
    lines = [f"{p.scope} {p.name!r} not read ({p.reason}): {p.detail}" for p in problems[:_NAMED]]
    more = len(problems) - len(lines)
    return [*lines, f"and {more} more not read"] if more else lines


def _joined(failures: list[ReporterError]) -> ReporterError:
    causes = list(dict.fromkeys(str(failure) for failure in failures))
    return failures[0] if len(causes) == 1 else ReporterError("; ".join(causes))
