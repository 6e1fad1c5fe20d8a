# SPDX-License-Identifier: Apache-2.0
"""A collector that runs beside a server, in a thread of the same process."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from types import TracebackType
from typing import Self

from kafka_lag.collector import WarningLogger
from kafka_lag.errors import ReporterError
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.store import BrowsableStore
from kafka_lag_cli.connecting.collect_options import CollectOptions
from kafka_lag_cli.schedule import run_on_schedule
from kafka_lag_cli.state.shared import OneCluster, mark_collected

# A run may fail, and the one after it be late, before anybody restarts the process.
_INTERVALS = 3
_LEAST_SECONDS = 60.0
_END_SECONDS = 5.0


class _EndedError(Exception):
    """The process ends: there is no next run."""


class Collecting:
    """Collects while it is entered. `clock` is in seconds since the epoch.

    A cluster that cannot be reached is tried again at the next interval, at the start too.
    """

    def __init__(
        self, options: CollectOptions, logger: WarningLogger, clock: Callable[[], float]
    ) -> None:
        self._options = options
        self._logger = logger
        self._clock = clock
        self._ended = Event()
        self._interval = options.settings.interval_ms // 1000
        # Kafka's own id is known once brokers have answered.
        self._cluster = options.settings.cluster or None
        self._succeeded: float | None = None
        # Whether the last run was read, and the store did not take it.
        self._is_unkept = False
        self._show: Callable[[str, Snapshot], None] = lambda _cluster, _snapshot: None
        self._thread = Thread(target=self._collect, name="collector", daemon=True)
        # A login that cannot be made will not be by waiting. Raises ConfigError.
        options.make_source()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Snapshots are written whole or not at all, so a run that hangs need not be awaited.
        self._ended.set()
        self._thread.join(_END_SECONDS)

    def own(self, store: BrowsableStore) -> BrowsableStore:
        """Returns a view of the store with only the collected cluster."""
        return OneCluster(store, lambda: self._cluster)

    def show_by(self, show: Callable[[str, Snapshot], None]) -> None:
        """Passes each run that read the cluster, and the cluster, to `show` from another thread."""
        self._show = show

    def health(self) -> str | None:
        """Returns what is wrong; null if a run succeeded lately."""
        what = "been read and kept" if self._is_unkept else "succeeded"
        if self._succeeded is None:
            return f"no run has {what} yet"
        age = self._clock() - self._succeeded
        if age <= max(_INTERVALS * self._interval, _LEAST_SECONDS):
            return None
        return f"no run has {what} for {age:.0f} seconds"

    def _collect(self) -> None:
        while not self._ended.is_set():
            try:
                self._run()
            except _EndedError:
                return
            except ReporterError as error:
                self._logger.warning(str(error))
            except Exception as error:  # noqa: BLE001 - else nobody would collect from then on
                self._logger.warning(f"a run ended in {type(error).__name__}: {error}")
            self._ended.wait(self._interval)

    def _run(self) -> None:
        collector = self._options.open_collector(self._logger)
        self._cluster = collector.cluster
        for run in run_on_schedule(collector, self._interval, self._wait, self._clock):
            if run.warning:
                self._logger.warning(run.warning)
            self._is_unkept = bool(run.report and run.error and not run.kept)
            if run.report is None:
                continue
            if not self._is_unkept:
                self._succeeded = self._clock()
            self._show(collector.cluster, run.report.snapshot)
            if run.kept:
                mark_collected(self._options.state, collector.cluster, self._interval)
            self._options.remove_old_days()

    def _wait(self, seconds: float) -> None:
        if self._ended.wait(seconds):
            raise _EndedError
