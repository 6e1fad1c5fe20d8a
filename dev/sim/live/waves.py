# SPDX-License-Identifier: Apache-2.0
"""Cases side by side on three brokers, seen by the real collector every two seconds."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

from dev.faults.proxy import start_behind_proxies
from dev.kafka import KafkaCluster, Protocol
from dev.kafka.readiness import wait_until
from dev.sim.events import MINUTE, SHORTENED, Case, end_of
from dev.sim.live.stage import Scene, Stage
from dev.sim.live.writer import Writer
from dev.sim.reading import MINUTE_MS
from dev.sim.run import BEGIN, WATCHED, Warnings, find_troubled
from dev.sim.truth import right_causes
from kafka_lag import contract
from kafka_lag.brokers.access import Access
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.source import KafkaSource, quiet_library
from kafka_lag.collector import Collector
from kafka_lag.errors import ReporterError
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.group_settings import NameFilter, Rules, Tolerance
from kafka_lag.lag.model import Snapshot
from kafka_lag.settings import Settings
from kafka_lag.snapshots.store import FolderStore

INTERVAL_MS = round(MINUTE / SHORTENED * 1_000)
# Ten runs are the window, as with a run a minute; a minute's tolerance of a second is 100 ms.
RULES = Rules(interval_ms=INTERVAL_MS, window_ms=10 * INTERVAL_MS, tolerance=Tolerance(100, 0.001))

# The machine bears so many cases and members at once.
_MOST_CASES, _MOST_MEMBERS = 12, 45
# Cases begin so many seconds apart.
_APART = 1.0
# A case is watched for some runs more than are judged.
_RUNS_MORE = 2
_DEADLINE = 20.0
_FLOWS_AFTER = 10.0
_JOINS_WITHIN = 240.0
_SLOW_LINE: Protocol = "SASL_PLAINTEXT"
_BROKER_SETTINGS = {
    "replica.lag.time.max.ms": "4000",
    # No broker aborts an open transaction while a case runs.
    "transaction.max.timeout.ms": "900000",
    "group.consumer.heartbeat.interval.ms": "1000",
    "group.consumer.min.heartbeat.interval.ms": "1000",
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.min.session.timeout.ms": "6000",
    "group.min.session.timeout.ms": "1000",
}


@dataclass(slots=True)
class Watched:
    """A case on brokers: its snapshots under the names of the case, and the first of its events.

    `ill_before`: groups that were in trouble before anything happened, which proves nothing.
    """

    case: Case
    stage: Stage
    ends: float = 0.0
    began_ms: float = 0.0
    snapshots: list[Snapshot] = field(default_factory=list)
    first: int = 0
    ill_before: frozenset[str] = frozenset()
    runs: Counter[str] = field(default_factory=Counter)
    over: bool = False

    def as_in_memory(self) -> Iterator[Snapshot]:
        """Yields the runs at the times, and with the groups' time lags, that memory would have."""
        for each in self.snapshots:
            minute = (each.taken_at - self.began_ms) // INTERVAL_MS + self.case.warm_up / MINUTE
            at, lags = BEGIN + round(minute) * MINUTE_MS, each.groups.numbers("time_lag_seconds")
            times = Column.constant(at, len(lags))
            groups = each.groups.with_columns(taken_at=times, time_lag_seconds=lags * SHORTENED)
            if minute >= 0:
                yield replace(each, taken_at=at, groups=groups)


_say = partial(print, file=sys.stderr, flush=True)


def run_live(cases: Sequence[Case], folder: Path | None) -> Iterator[Watched]:
    """Yields the cases as their waves end; a folder keeps the snapshots of each wave."""
    quiet_library()
    folder = folder or Path(mkdtemp(prefix="sim-"))
    _say(f"snapshots are kept in {folder}")
    waves = plan_waves(cases)
    cluster = KafkaCluster(settings=_BROKER_SETTINGS)
    _say("starting three brokers")
    with start_behind_proxies(cluster, _SLOW_LINE) as proxies:
        for number, wave in enumerate(waves, 1):
            _say(f"wave {number} of {len(waves)}: {', '.join(case.name for case in wave)}")
            with Writer(cluster.client_config(protocol="PLAINTEXT") | {"log_level": 0}) as writer:
                scene = Scene(cluster, writer, proxies)
                yield from _Wave(number, wave, scene, FolderStore(folder)).run()
            for node in cluster.node_ids:
                proxies[node].delay = 0.0


def plan_waves(cases: Sequence[Case]) -> list[list[Case]]:
    """Returns the cases in groups that may run at the same time; some need the brokers alone."""
    waves: list[list[Case]] = []
    members = 0
    for case in sorted(cases, key=lambda each: each.alone):
        needed = sum(group.members for group in case.groups.values())
        full = members + needed > _MOST_MEMBERS or (waves and len(waves[-1]) >= _MOST_CASES)
        if not waves or full or case.alone:
            waves.append([])
            members = 0
        waves[-1].append(case)
        members += needed
    return waves


class _Wave:
    """Cases that run at the same time."""

    def __init__(
        self, number: int, cases: Sequence[Case], scene: Scene, store: FolderStore
    ) -> None:
        self._scene, self._store = scene, store
        self._name, self._prefix = f"wave-{number}", f"{number}-"
        self._watched = [
            Watched(case, Stage(case, f"{self._prefix}{place:02}", scene))
            for place, case in enumerate(cases)
        ]
        self._suffering = {case.name: frozenset(right_causes(case)) for case in cases}

    def run(self) -> list[Watched]:
        """Runs all cases; what does not happen as planned is said, and its case left out."""
        stages = [each.stage for each in self._watched]
        try:
            for stage in stages:
                stage.set_up()
            wait_until(
                lambda: all(stage.has_joined() for stage in stages),
                what="every member in its group",
                timeout=_JOINS_WITHIN,
            )
            _say("all members have joined")
            # The collector's first run must not see topics that are empty.
            time.sleep(_FLOWS_AFTER)
            self._collect()
        finally:
            self._scene.over.set()
            for stage in stages:
                stage.tear_down()
        for stage in stages:
            stage.delete()
        for case, error in self._scene.errors:
            _say(f"NOT AS PLANNED: {case}: {error}")
        failed = {case for case, _ in self._scene.errors}
        return [each for each in self._watched if each.case.name not in failed]

    def _collect(self) -> None:
        servers = self._scene.cluster.bootstrap("PLAINTEXT").split(",")
        access = Access(tuple(servers), security_protocol="PLAINTEXT", broker_timeout=2.0)
        mine = NameFilter(allow=re.compile(rf"^{self._prefix}"))
        settings = Settings(
            self._name,
            access,
            replace(RULES, groups=mine, topics=mine),
            interval_ms=INTERVAL_MS,
            deadline=_DEADLINE,
        )
        source = KafkaSource(access, FixedCredentials())
        collector = Collector(settings, source, self._store, [], Warnings())
        begins = time.monotonic() + max(each.case.warm_up for each in self._watched) / SHORTENED
        waiting = [(begins + _APART * place, each) for place, each in enumerate(self._watched)]
        while waiting or not all(each.over for each in self._watched):
            taken_at = _wait_for_next_run()
            while waiting and waiting[0][0] <= time.monotonic():
                _begin(waiting.pop(0)[1])
            try:
                snapshot = collector.run(taken_at).report.snapshot
            except ReporterError as error:
                _say(f"run {taken_at}: {error}")
                continue
            for each in self._watched:
                self._look(each, strip_prefix(snapshot, f"{each.stage.prefix}."))
        source.close()

    def _look(self, watched: Watched, snapshot: Snapshot) -> None:
        """Keeps a run; ends the case once all happened and it has shown all judged values."""
        watched.snapshots.append(snapshot)
        troubled = find_troubled(snapshot)
        if not watched.ends:
            watched.first = len(watched.snapshots)
            watched.ill_before = troubled
            return
        ill = self._suffering[watched.case.name]
        watched.runs.update(name for name in ill if name in troubled or watched.runs[name])
        shown = ill and all(watched.runs[name] >= WATCHED + _RUNS_MORE for name in ill)
        last = max((end_of(*each) for each in watched.case.happens), default=0.0)
        left = watched.ends - time.monotonic()
        happened = left < (watched.case.watched - last) / SHORTENED
        watched.over = watched.over or bool(shown and happened) or left < 0


def _begin(watched: Watched) -> None:
    watched.stage.begin()
    watched.began_ms = time.time() * 1_000
    watched.ends = time.monotonic() + watched.case.watched / SHORTENED


def _wait_for_next_run() -> int:
    taken_at = (int(time.time() * 1_000) // INTERVAL_MS + 1) * INTERVAL_MS
    time.sleep(max(0.0, taken_at / 1_000 - time.time()))
    return taken_at


def strip_prefix(snapshot: Snapshot, prefix: str) -> Snapshot:
    """Returns the rows whose names begin with the prefix, without it."""
    frames = []
    for dataset in contract.DATASETS:
        frame = snapshot.dataset(dataset)
        for column in {"topic", "consumer_group"} & set(frame.columns):
            names = [str(name or "") for name in frame.strings(column).to_list()]
            own = np.array([name.startswith(prefix) for name in names], bool)
            cut = Strings.of(name.removeprefix(prefix) for name in names if name.startswith(prefix))
            frame = frame.where(own).with_columns(**{column: cut})
        frames.append(frame)
    return Snapshot(snapshot.taken_at, *frames)
