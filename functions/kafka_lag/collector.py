# SPDX-License-Identifier: Apache-2.0
"""One run: read, evaluate, publish, store. If one step fails, the others are still tried."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Protocol

from kafka_lag import contract
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import ClusterSource, look_up_until
from kafka_lag.brokers.throttling import describe_throttling
from kafka_lag.errors import (
    ReporterError,
    SinkError,
    SourceError,
    StoreError,
    UnusableError,
    describe_unforeseen,
)
from kafka_lag.lag.carry_over import accept_rows
from kafka_lag.lag.columns import Rows
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import ClusterReading, LagReport, Problem, Snapshot, no_figures
from kafka_lag.lag.time_index import LookupResults
from kafka_lag.settings import Settings
from kafka_lag.sinks.budget import mark_published, omission_warnings, plan_each
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.metric_sets import (
    ConfiguredSink,
    MetricSet,
    count_groups_read,
    health_set,
    lag_sets,
    success_set,
)
from kafka_lag.snapshots.previous import Memory, load_memory
from kafka_lag.snapshots.store import SnapshotStore, call_within, start_call, write_snapshot
from kafka_lag.snapshots.usual import load_usual
from kafka_lag.wording.formatting import format_quantity

# Problems named in a log; a broker that is down can make thousands of partitions unread.
_NAMED_PROBLEMS = 20
# Problems named in the error of a run that read nothing: brokers come first.
_NAMED_CAUSES = 3

# The share of a run's time, from its beginning, by which each step must be over. A time lag with a
# wide error is better than none, so times are looked up last. The time after the reading is for the
# evaluation, the sinks and the snapshot.
_LOADING_SHARE = 0.3
_LOOK_UP_SHARE = 0.6
_READING_SHARE = 0.9

# A sink and the store are tried for this many seconds even if the time of the run is used up.
_LEAST_SECONDS = 1.0

# A loss that is only this much farther away than the risk horizon may be a risk soon.
_NEAR_LOSS_SECONDS = 3_600.0

_HOUR_MS = 3_600_000
_NO_HOUR = -1


class WarningLogger(Protocol):
    """Takes warnings about a run; powertools' Logger is one."""

    def warning(self, message: str, /) -> None:
        """Logs that something was wrong, and that the run went on."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run: its report and how many snapshot objects it wrote.

    `failure` is one error with every cause if a step failed, else None.
    """

    report: LagReport
    objects_written: int
    failure: ReporterError | None = None


@dataclass(frozen=True, slots=True)
class _Usual:
    """The usual figures of an hour (counted since 1970) and of the hours beside it.

    `warning` says why they could not be read, if so.
    """

    hour: int = _NO_HOUR
    figures: tuple[Frame, ...] = field(default_factory=lambda: (no_figures(),))
    warning: str = ""


class Collector:
    """Runs for one cluster; `memory` holds the earlier runs that a warm function need not load."""

    def __init__(
        self,
        settings: Settings,
        source: ClusterSource,
        store: SnapshotStore,
        sinks: Sequence[ConfiguredSink],
        logger: WarningLogger,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._source = source
        self._store = store
        self._sinks = sinks
        self._levels = (settings.levels, *(sink.levels for sink in sinks))
        self._logger = logger
        self._clock = clock
        self.memory = Memory.empty()
        # True if the store may hold runs that the memory lacks.
        self._must_load = False
        self._usual = _Usual()

    @property
    def cluster(self) -> str:
        """Returns the cluster's name, as in keys and dimensions."""
        return self._settings.cluster

    @property
    def rules(self) -> Rules:
        """Returns the rules by which runs are evaluated."""
        return self._settings.rules

    def run(self, taken_at: int, seconds_left: float | None = None) -> Outcome:
        """Makes one run for the scheduled time `taken_at`, ms UTC.

        Raises ReporterError with every cause if something failed, after all else was done. The run
        then publishes no CollectorSuccess.
        """
        outcome = self.collect(taken_at, seconds_left)
        if outcome.failure:
            raise outcome.failure
        return outcome

    def collect(self, taken_at: int, seconds_left: float | None = None) -> Outcome:
        """Makes one run for views that show the report even if it was not stored or published.

        Raises ReporterError, after all else was done, only if nothing was read.
        """
        began = self._clock()
        limit = self._settings.deadline
        limit = limit if seconds_left is None else min(limit, seconds_left)
        end = began + limit
        memory, failures = self._load_memory(taken_at, _LOADING_SHARE * limit)
        # A snapshot that was made without the store's newest one would replace it and lose its
        # state.
        may_store = not failures
        if not failures:
            self._load_usual(taken_at, began + _LOADING_SHARE * limit - self._clock())
        reading = self._read(
            self._read_request(memory.newest, taken_at), began + _READING_SHARE * limit, failures
        )
        until = began + _LOOK_UP_SHARE * limit
        report = self._evaluate(reading, memory, taken_at, until, failures)
        plans = plan_each(report, memory.newest, self._levels)
        self._log_warnings(problem_lines(report.problems))
        self._log_warnings([describe_throttling(report.throttled)] if report.throttled else [])
        self._log_warnings(report.warnings)
        places = ((sink.levels, sink.key) for sink in self._sinks)
        self._log_warnings(omission_warnings(places, plans))

        cluster = self._settings.cluster
        lags = cache(lambda levels: lag_sets(report, plans[levels], levels, cluster))
        snapshot = mark_published(report.snapshot, plans[self._settings.levels])
        partial = _find_partial(reading, snapshot, memory.newest, self._settings.rules)
        if partial:
            failures.append(partial)
        # Storing runs beside publishing: on a second core, or while the sinks are waited for.
        storing = self._start_storing(snapshot) if may_store and not partial else None
        failures += self._publish(lags, taken_at, end)
        written = 0
        if storing is None:
            # A repeated run without its previous runs knows less than the memory it would replace,
            # and a partial run lacks groups.
            if taken_at != self.memory.newest.taken_at and not partial:
                self._remember(memory.add_run(snapshot, self._settings.interval_ms, stored=False))
        else:
            left = end - self._clock() - _LEAST_SECONDS * len(self._sinks)
            try:
                written = self._finish_storing(storing, snapshot, memory, left)
            except StoreError as error:
                failures.append(error)
        nothing_read = _check_anything_read(report)
        if nothing_read:
            failures.append(nothing_read)

        omitted = max((plans[sink.levels].omitted for sink in self._sinks), default=0)
        health = [health_set(report, omitted, cluster, self._clock() - began)]
        health += [] if failures else [success_set(cluster)]
        failures += self._publish(lambda _: health, taken_at, end)
        failure = _join_errors(failures) if failures else None
        if failure and nothing_read:
            raise failure
        return Outcome(replace(report, snapshot=snapshot), written, failure)

    def _load_memory(self, taken_at: int, seconds: float) -> tuple[Memory, list[ReporterError]]:
        """Returns the earlier runs: the memory if it is of the previous run, else the store's.

        If the store does not answer, returns the memory of any run within the window, else an empty
        one. The store is then tried again in each run, and nothing is stored until it has answered.
        """
        settings = self._settings
        age = taken_at - self.memory.newest.taken_at
        if age == settings.interval_ms and not self._must_load:
            return self.memory, []
        try:
            loaded = call_within(
                max(seconds, _LEAST_SECONDS),
                lambda: load_memory(self._store, settings.cluster, taken_at, settings.interval_ms),
            )
        except StoreError as error:
            self._must_load = True
            is_recent = 0 < age <= settings.rules.window_ms
            return self.memory if is_recent else Memory.empty(), [error]
        self._must_load = False
        self._log_warnings(loaded.warnings)
        return loaded.value, []

    def _load_usual(self, taken_at: int, seconds: float) -> None:
        """Loads the usual figures of this hour, once an hour; a run also works without them.

        If the store does not answer, the next run tries again.
        """
        hour = taken_at // _HOUR_MS
        if self._usual.hour == hour:
            return
        figures: tuple[Frame, ...] = (no_figures(),)
        warning, known_for = "", hour
        try:
            figures = call_within(
                max(seconds, _LEAST_SECONDS),
                lambda: load_usual(self._store, self._settings.cluster, taken_at),
            )
        except StoreError as error:
            if not isinstance(error, UnusableError):
                known_for = _NO_HOUR
            warning = f"what is usual for the groups is not known: {error}"
            # A warning that lasts for days is logged once by each warm function.
            if warning != self._usual.warning:
                self._log_warnings([warning])
        self._usual = _Usual(known_for, figures, warning)

    def _read(
        self, request: ReadRequest, deadline: float, failures: list[ReporterError]
    ) -> ClusterReading:
        try:
            return self._source.read(request, deadline)
        except ReporterError as error:
            if not failures:
                raise
            raise _join_errors([*failures, error]) from error

    def _read_request(self, previous: Snapshot, taken_at: int) -> ReadRequest:
        groups = previous.groups
        gone = groups.strings("status_reason").is_in(contract.LAST_ROW_REASONS)
        return ReadRequest(
            groups=self._settings.rules.groups,
            topics=self._settings.rules.topics,
            known_groups=frozenset(groups.lazy_where(~gone).strings("consumer_group").to_list()),
            committed_groups=_find_committed_groups(previous.group_partitions),
            known_topics=frozenset(
                topic
                for rows in (previous.topic_partitions, previous.group_partitions)
                for topic in rows.strings("topic").categories
            ),
            topics_near_loss=self._find_topics_near_loss(previous),
            unread_groups=frozenset(_select_unread(groups).strings("consumer_group").to_list()),
            unread_partitions=_select_unread(previous.topic_partitions),
            taken_at=taken_at,
        )

    def _find_topics_near_loss(self, previous: Snapshot) -> frozenset[str]:
        """Returns topics with a partition at risk or nearly; their settings must not be old."""
        rows = previous.group_partitions
        left = rows.numbers("seconds_until_loss")
        near = self._settings.rules.risk_horizon_ms / 1000 + _NEAR_LOSS_SECONDS
        at_risk = rows.strings("retention_risk").is_in([contract.LOST, contract.AT_RISK])
        nearing = (left.values <= near) & (left.values < contract.NO_LOSS_SECONDS)
        soon = at_risk | (left.known & nearing)
        return frozenset(rows.strings("topic").only(soon).pruned().categories)

    def _evaluate(
        self,
        reading: ClusterReading,
        memory: Memory,
        taken_at: int,
        deadline: float,
        failures: list[ReporterError],
    ) -> LagReport:
        """Returns the report; its look-ups end by `deadline`.

        Brokers that did not answer look-ups are among its problems. An error of the look-ups is
        added to the failures, and the report then lacks only their times.
        """
        send = look_up_until(self._source, deadline, self._clock)

        def look_up(partitions: Frame, times: Rows) -> LookupResults:
            results = LookupResults.unanswered(len(times))
            with _isolate(failures, SourceError, "Looking up times"):
                results = send(partitions, times)
            return results  # noqa: RET504 - unanswered where sending failed

        rules = replace(self._settings.rules, cluster=self.cluster)
        usual, *beside = self._usual.figures
        previous_runs = replace(memory.previous_runs(), usual=usual, usual_beside=tuple(beside))
        report = evaluate(reading, previous_runs, rules, taken_at, look_up)
        return replace(
            report,
            problems=report.problems + self._source.not_responding(),
            throttled=self._source.throttled(),
        )

    def _publish(
        self, sets_of: Callable[[Levels], list[MetricSet]], taken_at: int, deadline: float
    ) -> list[ReporterError]:
        """Publishes to every sink the metrics that its levels chose, and returns what failed.

        A sink that hangs takes no more than an equal share of the time left for it, the sinks after
        it and the snapshot.
        """
        failures: list[ReporterError] = []
        for behind, each in zip(range(len(self._sinks), 0, -1), self._sinks, strict=True):
            share = (deadline - self._clock()) / (behind + 1)
            with _isolate(failures, SinkError, type(each.sink).__name__):
                each.sink.publish(sets_of(each.levels), taken_at, max(share, _LEAST_SECONDS))
        return failures

    def _start_storing(self, snapshot: Snapshot) -> Callable[[float], int]:
        cluster, servers = self._settings.cluster, self._settings.access.bootstrap_servers
        return start_call(lambda: write_snapshot(self._store, cluster, snapshot, servers))

    def _finish_storing(
        self,
        storing: Callable[[float], int],
        snapshot: Snapshot,
        memory: Memory,
        seconds: float,
    ) -> int:
        """Waits for the snapshot and returns how many objects were written. Raises StoreError.

        Remembers `memory` with this run for the next one.
        """
        interval_ms = self._settings.interval_ms
        try:
            written = storing(max(seconds, _LEAST_SECONDS))
        except StoreError:
            self._remember(memory.add_run(snapshot, interval_ms, stored=False))
            raise
        if written == len(contract.DATASETS):
            self._remember(memory.add_run(snapshot, interval_ms, stored=True))
        elif not self._is_late(snapshot.taken_at):
            # The snapshot that another run wrote for this minute counts, and is loaded next time.
            self.memory = Memory.empty()
        return written

    def _remember(self, memory: Memory) -> None:
        """Keeps the memory for the next run, unless this run is late, after one of a later time.

        A late run dates its observations by its own time, and does not know those made meanwhile.
        """
        if not self._is_late(memory.newest.taken_at):
            self.memory = memory

    def _is_late(self, taken_at: int) -> bool:
        """Returns True if the remembered run has a later time.

        A run that is later by more than a window means that the clock was set back.
        """
        return 0 < self.memory.newest.taken_at - taken_at <= self._settings.rules.window_ms

    def _log_warnings(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._logger.warning(line)


@contextmanager
def _isolate(failures: list[ReporterError], kind: type[ReporterError], what: str) -> Iterator[None]:
    """Adds errors that a block raises to the failures of a run, which goes on after the block.

    KeyboardInterrupt and SystemExit are raised at once, because the process is to end and no part
    of the run has failed.
    """
    try:
        yield
    except ReporterError as error:
        failures.append(error)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001  # an unforeseen error must not end the run
        failure = kind(f"{what} failed unexpectedly ({describe_unforeseen(error)}).")
        failure.__cause__ = error
        failures.append(failure)


def problem_lines(problems: tuple[Problem, ...]) -> list[str]:
    """Returns problems as lines for a log, the first twenty by name and the rest counted.

    Problems caused by one broker share a line with the broker's host and port.
    """
    causes: dict[str | int, list[Problem]] = {}
    for number, problem in enumerate(problems):
        causes.setdefault(number if problem.broker is None else problem.broker, []).append(problem)
    named = list(causes.values())[:_NAMED_PROBLEMS]
    more = len(problems) - sum(map(len, named))
    lines = [_problem_line(some) for some in named]
    return [*lines, f"and {more} more not read"] if more else lines


def _problem_line(problems: Sequence[Problem]) -> str:
    """Returns one line for problems that have one cause."""
    first = next((each for each in problems if each.scope == "broker"), problems[0])
    if first.broker is None:
        return f"{first.scope} {first.name!r} not read ({first.reason}): {first.detail}"
    said = first.detail
    if first.scope != "broker":
        said = f"{first.scope} {first.name!r}, {said}"
    where = f"at {first.address}: " if first.address else ""
    others = Counter(each.scope for each in problems if each is not first)
    counts = [format_quantity(count, scope) for scope, count in others.items()]
    with_it = f"; with it {' and '.join(counts)}" if counts else ""
    return f"broker {first.broker!r} not read ({first.reason}): {where}{said}{with_it}"


def _find_committed_groups(rows: Frame) -> frozenset[str]:
    """Returns groups with a commit on a topic that no ACL hid."""
    shown = ~rows.strings("unread_reason").is_in([contract.DENIED])
    committed = rows.numbers("committed_offset").known & shown
    return frozenset(rows.strings("consumer_group").only(committed).pruned().categories)


def _select_unread(frame: Frame) -> Frame:
    return frame.lazy_where(frame.strings("unread_reason").known)


def _find_partial(
    reading: ClusterReading, snapshot: Snapshot, previous: Snapshot, rules: Rules
) -> SourceError | None:
    """Returns an error for a run without any list of groups that lacks groups of the previous run.

    Once stored, such a run would count as complete.
    """
    if reading.lists_groups:
        return None
    names, known = (each.groups.strings("consumer_group") for each in (snapshot, previous))
    gone = previous.groups.strings("status_reason").is_in(contract.LAST_ROW_REASONS)
    wanted = accept_rows(previous.groups, rules) & ~gone
    missing = int((wanted & ~known.is_in(names.categories)).sum())
    if not missing:
        return None
    return SourceError(
        f"No broker lists its groups, and {format_quantity(missing, 'group')} of the previous run "
        "could not be found by name: this run is not stored."
    )


def _check_anything_read(report: LagReport) -> SourceError | None:
    """Returns an error for a run that read no group's commits, though there are or may be some."""
    unread = report.snapshot.groups.strings("unread_reason").known.any()
    if count_groups_read(report) or not (
        unread or any(p.scope == "broker" for p in report.problems)
    ):
        return None
    causes = "; ".join(problem_lines(report.problems)[:_NAMED_CAUSES])
    return SourceError(f"The commits of no group could be read: {causes or 'no answer'}.")


def _join_errors(failures: list[ReporterError]) -> ReporterError:
    causes = list(dict.fromkeys(str(failure) for failure in failures))
    return failures[0] if len(causes) == 1 else ReporterError("; ".join(causes))
