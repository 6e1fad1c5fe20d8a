# SPDX-License-Identifier: Apache-2.0
"""One run: read, evaluate, publish, keep; and whatever fails, the rest is still tried."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

from kafka_lag import contract
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import ClusterSource, look_up_until
from kafka_lag.errors import ReporterError, SourceError, StoreError
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import ClusterReading, LagReport, Problem, Snapshot
from kafka_lag.settings import Settings
from kafka_lag.sinks.budget import Levels, noted
from kafka_lag.sinks.metrics import MetricSet, groups_read, health_set, lag_sets, success_set
from kafka_lag.sinks.outlets import Outlet, Planner, omissions
from kafka_lag.snapshots.history import write
from kafka_lag.snapshots.memory import Memory, recall
from kafka_lag.snapshots.store import SnapshotStore
from kafka_lag.snapshots.waiting import answered

# Problems named in a log; a broker that is down can silence thousands of partitions.
_NAMED = 20
# Those in the error of a run that read nothing: brokers come first.
_CAUSES = 3

# By which share of a run's time, counted from its beginning, each step must be over. A wide error
# on a time lag is better than none, so the last to be asked for are times; what is left after the
# reading is for the arithmetic, the sinks and the snapshot.
_LOADING_SHARE = 0.3
_ASKING_SHARE = 0.6
_READING_SHARE = 0.9

# A sink and the store are tried for so many seconds also where the time of the run is used up.
_LEAST_SECONDS = 1.0

# A loss that is so much farther away than a risk may be one in the next run.
_NEARLY_SECONDS = 3_600.0


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
    """Runs for one cluster; `memory` is what a warm run need not load."""

    def __init__(
        self,
        settings: Settings,
        source: ClusterSource,
        store: SnapshotStore,
        outlets: Sequence[Outlet],
        journal: Journal,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._source = source
        self._store = store
        self._outlets = outlets
        self._planner = Planner(settings.levels, outlets)
        self._journal = journal
        self._clock = clock
        self.memory = Memory.empty()

    def run(self, taken_at: int, seconds_left: float | None = None) -> Outcome:
        """One run for the scheduled time `taken_at`, ms UTC.

        Raises ReporterError with every cause when something failed, after all else was done;
        only then is there no CollectorSuccess.
        """
        began = self._clock()
        limit = self._settings.deadline
        limit = limit if seconds_left is None else min(limit, seconds_left)
        memory, failures = self._recalled(taken_at, _LOADING_SHARE * limit)
        blind = bool(failures)
        before, rules = memory.newest, self._settings.rules
        reading = self._read(before, began + _READING_SHARE * limit, failures)
        look_up = look_up_until(self._source, began + _ASKING_SHARE * limit, self._clock)
        report = evaluate(reading, memory.previous_runs(), rules, taken_at, look_up)
        problems = report.problems + self._source.not_responding()
        report = replace(report, problems=problems)
        plans, cluster = self._planner.plans(report, before), self._settings.cluster
        snapshot = noted(report.snapshot, plans[self._settings.levels])
        self._tell((*told(report.problems), *report.remarks, *omissions(self._outlets, plans)))
        sets = cache(lambda levels: lag_sets(report, plans[levels], levels, cluster))
        failures += self._publish(sets, taken_at, began + limit)
        # A set made without knowing the one before would become the newest, and forget it all.
        left = began + limit - self._clock() - _LEAST_SECONDS * len(self._outlets)
        written, unkept = (0, []) if blind else self._keep(snapshot, memory, left)
        failures += unkept + _nothing_read(report)
        seconds, success = self._clock() - began, [] if failures else [success_set(cluster)]
        health = cache(
            lambda levels: [health_set(report, plans[levels], cluster, seconds), *success]
        )
        failures += self._publish(health, taken_at, began + limit)
        if failures:
            raise _joined(failures)
        return Outcome(report, written)

    def _recalled(self, taken_at: int, seconds: float) -> tuple[Memory, list[ReporterError]]:
        """What is known before this run: memory if it is of the very last one, else the store's."""
        settings = self._settings
        if self.memory.newest.taken_at == taken_at - settings.interval_ms:
            return self.memory, []
        try:
            recalled = answered(
                lambda: recall(self._store, settings.cluster, taken_at, settings.interval_ms),
                max(seconds, _LEAST_SECONDS),
            )
        except StoreError as error:
            return Memory.empty(), [error]
        self._tell(recalled.complaints)
        return recalled.memory, []

    def _read(
        self, before: Snapshot, deadline: float, failures: list[ReporterError]
    ) -> ClusterReading:
        try:
            return self._source.read(self._read_request(before), deadline)
        except ReporterError as error:
            if not failures:
                raise
            raise _joined([*failures, error]) from error

    def _read_request(self, before: Snapshot) -> ReadRequest:
        groups = before.groups
        gone = groups.strings("status_reason").is_in([contract.GONE])
        # A group without lag has nothing to lose, and other protocols cannot prove it gone.
        other = groups.strings("group_type").is_in(contract.UNSUPPORTED_GROUP_TYPES)
        return ReadRequest(
            groups=self._settings.rules.groups,
            topics=self._settings.rules.topics,
            known_groups=frozenset(
                groups.where(~gone & ~other).strings("consumer_group").to_list()
            ),
            known_topics=frozenset(before.topic_partitions.strings("topic").categories),
            topics_near_loss=self._near_loss(before),
            unread_groups=frozenset(_unread(groups).strings("consumer_group").to_list()),
            unread_partitions=_unread(before.topic_partitions),
        )

    def _near_loss(self, before: Snapshot) -> frozenset[str]:
        """Topics with a partition at risk, or nearly: settings decide there within minutes."""
        rows = before.group_partitions
        left = rows.numbers("seconds_until_loss")
        near = self._settings.rules.risk_horizon_ms / 1000 + _NEARLY_SECONDS
        at_risk = rows.strings("retention_risk").is_in([contract.LOST, contract.AT_RISK])
        nearing = (left.values <= near) & (left.values < contract.NO_LOSS_SECONDS)
        soon = at_risk | (left.known & nearing)
        return frozenset(rows.strings("topic").only(soon).pruned().categories)

    def _publish(
        self, sets_of: Callable[[Levels], list[MetricSet]], taken_at: int, deadline: float
    ) -> list[ReporterError]:
        """To every sink what its levels chose: one that hangs takes no more than its share of the
        time that is left to those after it and the snapshot.
        """
        failures: list[ReporterError] = []
        for behind, outlet in zip(range(len(self._outlets), 0, -1), self._outlets, strict=True):
            sets = sets_of(outlet.levels)
            share = (deadline - self._clock()) / (behind + 1)
            try:
                outlet.sink.publish(sets, taken_at, max(share, _LEAST_SECONDS))
            except ReporterError as error:
                failures.append(error)
        return failures

    def _keep(
        self, snapshot: Snapshot, memory: Memory, seconds: float
    ) -> tuple[int, list[ReporterError]]:
        interval_ms = self._settings.interval_ms
        try:
            written = answered(
                lambda: write(self._store, self._settings.cluster, snapshot),
                max(seconds, _LEAST_SECONDS),
            )
        except StoreError as error:
            self.memory = memory.then(snapshot, interval_ms, stored=False)
            return 0, [error]
        if written == len(contract.DATASETS):
            self.memory = memory.then(snapshot, interval_ms, stored=True)
        else:
            # What another run wrote for this minute is the truth then, and is loaded next time.
            self.memory = Memory.empty()
        return written, []

    def _tell(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._journal.warning(line)


def _unread(frame: Frame) -> Frame:
    return frame.where(frame.strings("unread_reason").known)


def told(problems: tuple[Problem, ...]) -> list[str]:
    """Problems as lines for a log, the first twenty by name and the rest counted."""
    lines = [f"{p.scope} {p.name!r} not read ({p.reason}): {p.detail}" for p in problems[:_NAMED]]
    more = len(problems) - len(lines)
    return [*lines, f"and {more} more not read"] if more else lines


def _nothing_read(report: LagReport) -> list[ReporterError]:
    """What fails a run without the commits of any group, though there are or may be some."""
    unread = report.snapshot.groups.strings("unread_reason").known.any()
    if groups_read(report) or not (unread or any(p.scope == "broker" for p in report.problems)):
        return []
    causes = "; ".join(told(report.problems)[:_CAUSES])
    return [SourceError(f"The commits of no group could be read: {causes or 'no answer'}.")]


def _joined(failures: list[ReporterError]) -> ReporterError:
    causes = list(dict.fromkeys(str(failure) for failure in failures))
    return failures[0] if len(causes) == 1 else ReporterError("; ".join(causes))
