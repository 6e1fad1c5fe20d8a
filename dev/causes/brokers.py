# SPDX-License-Identifier: Apache-2.0
"""Cases side by side on three brokers, seen by the real collector every two seconds."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from dev.causes.faults import WARM_UP, Case
from dev.causes.recording import Recording, Truth
from dev.causes.score import WATCHED, find_troubled
from dev.causes.stage import Scene, Stage
from dev.causes.writer import Writer
from dev.faults.proxy import Proxies, Proxy
from dev.kafka import KafkaCluster, Protocol
from dev.kafka.readiness import wait_until
from kafka_lag.brokers.access import Access
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.source import KafkaSource, quiet_library
from kafka_lag.collector import Collector
from kafka_lag.errors import ReporterError
from kafka_lag.lag.group_settings import NameFilter, Rules, Tolerance
from kafka_lag.lag.model import Snapshot
from kafka_lag.settings import Settings

INTERVAL_MS = 2_000
# A run stands for a minute: ten of them are the window, a minute's tolerance of a second is 100 ms.
RULES = Rules(interval_ms=INTERVAL_MS, window_ms=10 * INTERVAL_MS, tolerance=Tolerance(100, 0.001))

# Of what is on the machine at once.
_MOST_CASES, _MOST_MEMBERS = 12, 45
# Cases begin one after another, not all in the same second.
_APART = 1.0
# A run or two more than what is judged.
_RUNS_MORE = 2
_DEADLINE = 20.0
_FLOWS_AFTER = 10.0
_JOINS_WITHIN = 240.0
_SLOW_LINE: Protocol = "SASL_PLAINTEXT"
_BROKER_SETTINGS = {
    "replica.lag.time.max.ms": "4000",
    # A transaction that stays open is none of the broker's business for as long as a case takes.
    "transaction.max.timeout.ms": "900000",
    "group.consumer.heartbeat.interval.ms": "1000",
    "group.consumer.min.heartbeat.interval.ms": "1000",
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.min.session.timeout.ms": "6000",
    "group.min.session.timeout.ms": "1000",
}

Say = Callable[[str], None]


def run_cases(cases: Sequence[Case], folder: Path, say: Say) -> Recording:
    """All of them, in as few waves as the machine bears; what was seen stays in the folder."""
    quiet_library()
    recording = Recording.begin(folder)
    waves = plan_waves(cases)
    with _start(say) as (cluster, proxies):
        for number, wave in enumerate(waves, 1):
            say(f"wave {number} of {len(waves)}: {', '.join(case.name for case in wave)}")
            with Writer(cluster.client_config(protocol="PLAINTEXT") | {"log_level": 0}) as writer:
                scene = Scene(cluster, writer, proxies)
                _Wave(number, wave, scene, recording, say).run()
            for node in cluster.node_ids:
                proxies[node].delay = 0.0
    return recording


def plan_waves(cases: Sequence[Case]) -> list[list[Case]]:
    """Cases that may run at the same time, in the order in which they came."""
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


@contextmanager
def _start(say: Say) -> Iterator[tuple[KafkaCluster, Proxies]]:
    cluster = KafkaCluster(settings=_BROKER_SETTINGS)
    proxies = {
        node: Proxy(cluster.broker_address(node, _SLOW_LINE), encrypted=False, seed=node)
        for node in cluster.node_ids
    }
    for node, proxy in proxies.items():
        cluster.advertise(node, _SLOW_LINE, proxy.address)
    with ExitStack() as stack:
        running = stack.enter_context(Proxies(proxies))
        say("starting three brokers")
        yield stack.enter_context(cluster), running


@dataclass(slots=True)
class _Begun:
    """A case that is on: when it ends at the latest, and runs of each group since its first
    trouble."""

    stage: Stage
    ends: float
    runs: Counter[str] = field(default_factory=Counter)
    over: bool = False


class _Wave:
    """Cases that run at the same time."""

    def __init__(
        self, number: int, cases: Sequence[Case], scene: Scene, recording: Recording, say: Say
    ) -> None:
        self._scene, self._recording, self._say = scene, recording, say
        self._name, self._prefix = f"wave-{number}", f"{number}-"
        self._stages = [
            Stage(case, f"{self._prefix}{place:02}", scene) for place, case in enumerate(cases)
        ]
        self._begun: list[_Begun] = []

    def run(self) -> None:
        """From the first topic to the last; what goes wrong is printed, and the case not judged."""
        try:
            for stage in self._stages:
                stage.set_up()
            wait_until(
                lambda: all(stage.has_joined() for stage in self._stages),
                what="every member in its group",
                timeout=_JOINS_WITHIN,
            )
            self._say("all members have joined")
            # Nobody's cluster begins to be written in the moment in which it is first read.
            time.sleep(_FLOWS_AFTER)
            self._collect()
        finally:
            self._scene.over.set()
            for stage in self._stages:
                stage.tear_down()
        for stage in self._stages:
            stage.delete()
        for error in self._scene.errors:
            self._say(f"NOT AS PLANNED: {error}")

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
        collector = Collector(settings, source, self._recording.store, [], _Ignored())
        begins = time.monotonic() + WARM_UP
        waiting = [(begins + _APART * n, stage) for n, stage in enumerate(self._stages)]
        while waiting or not all(each.over for each in self._begun):
            taken_at = _wait_for_next_run()
            while waiting and waiting[0][0] <= time.monotonic():
                self._begin(waiting.pop(0)[1])
            try:
                self._look(collector.run(taken_at).report.snapshot)
            except ReporterError as error:
                self._say(f"run {taken_at}: {error}")
        source.close()

    def _begin(self, stage: Stage) -> None:
        at, case = int(time.time() * 1_000), stage.case
        stage.begin()
        self._begun.append(_Begun(stage, time.monotonic() + case.watched))
        for group, name in stage.names.items():
            right = frozenset(case.right.get(group, ()))
            self._recording.add(Truth(case.name, self._name, name, at, right))

    def _look(self, snapshot: Snapshot) -> None:
        """Whether each case has shown what is judged of it."""
        troubled = find_troubled(snapshot)
        for each in self._begun:
            ill = [each.stage.names[group] for group in each.stage.case.right]
            each.runs.update(name for name in ill if name in troubled or each.runs[name])
            shown = ill and all(each.runs[name] >= WATCHED + _RUNS_MORE for name in ill)
            each.over = each.over or bool(shown) or time.monotonic() > each.ends


class _Ignored:
    """A collector's warnings, such as of the first run of a wave."""

    def warning(self, message: str, /) -> None:
        """Nobody reads it."""


def _wait_for_next_run() -> int:
    taken_at = (int(time.time() * 1_000) // INTERVAL_MS + 1) * INTERVAL_MS
    time.sleep(max(0.0, taken_at / 1_000 - time.time()))
    return taken_at
