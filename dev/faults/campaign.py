# SPDX-License-Identifier: Apache-2.0
"""A campaign: brokers, traffic and faults in threads, runs of the collector one after another."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from dev.faults.faults import USER, Orders, Scene, choose, settle
from dev.faults.judge import judge_run
from dev.faults.proxy import Proxies, Proxy
from dev.faults.pulse import Pulse
from dev.faults.run import Finding, History, Run, Verdict
from dev.faults.subject import Clock, Secret, Store, Subject
from dev.faults.traffic import Traffic
from dev.faults.truth import Truth
from dev.kafka import KafkaCluster, Protocol
from kafka_lag.brokers.access import Access
from kafka_lag.brokers.source import quiet_library

# A run is judged once all that was under way then has been answered, or after so long.
_SETTLES_WITHIN_MS = 30_000
# Runs that a fault may still show in after it is over; those after must be right and whole.
_RECOVERING = 2
_JUDGED_CALM = 1
_BROKER_TIMEOUT = 1.5
_INTERVAL_MS = 1_000
# Seconds that a run may take beyond its deadline, on a busy machine.
_MARGIN = 1.5
_SAYS_EVERY = 10.0
_FAULTS_END_WITHIN = 300.0
# Of all runs so many must have published numbers, or the campaign judged too little.
_LEAST_WHOLE = 0.5


@dataclass(frozen=True, slots=True)
class Options:
    """How long, from which seed, with TLS or not; without `faults` all kinds of them."""

    minutes: float = 3.0
    seed: int = 1
    tls: bool = False
    faults: tuple[str, ...] = ()


@dataclass(slots=True)
class Result:
    """What a campaign found."""

    seed: int
    faults: Counter[str] = field(default_factory=Counter)
    # Faults that were tried and came to nothing.
    without_effect: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    failed: int = 0
    whole: int = 0
    calm: int = 0
    checked: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    wrong: list[Finding] = field(default_factory=list)
    late: list[tuple[int, float, float]] = field(default_factory=list)
    slowest: float = 0.0
    # Moments at which a broker did not answer though no fault was on it.
    slow: int = 0
    errors: list[str] = field(default_factory=list)
    # Which faults there were when a run was wrong: the seed alone repeats no thread's timing.
    during: dict[int, str] = field(default_factory=dict)

    @property
    def good(self) -> bool:
        """Whether nothing was wrong or late, and enough was judged, with faults and without."""
        return not (self.wrong or self.late or self.errors or self.missing_checks)

    @property
    def missing_checks(self) -> list[str]:
        """What is missing for a campaign that shows anything."""
        least = _LEAST_WHOLE * self.runs
        shares = {
            "no number was judged by the truth": not self.checked.total(),
            "no fault happened": not self.faults.total(),
            "no run was calm": not self.calm,
            f"{self.whole} of {self.runs} runs published numbers": self.whole < least,
        }
        return [text for text, holds in shares.items() if holds]

    def add(self, run: Run, verdict: Verdict, during: str) -> None:
        """Count one run."""
        self.runs += 1
        self.calm += run.calm
        self.failed += run.error is not None
        self.whole += bool(run.frames)
        self.slowest = max(self.slowest, run.seconds)
        self.checked += verdict.checked
        self.missing += verdict.missing
        self.wrong += verdict.wrong
        if verdict.late:
            self.late.append((run.number, run.seconds, run.limit))
        if verdict.wrong or verdict.late:
            self.during[run.number] = during


class _Faults:
    """Faults in a thread of their own: some, quiet until runs were calm, some more."""

    def __init__(self, scene: Scene, result: Result, only: tuple[str, ...]) -> None:
        self._scene, self._result, self._only = scene, result, only
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="faults")
        self.active: tuple[str, ...] = ("start",)
        self.latest: tuple[str, ...] = self.active
        self.calm_runs = self.episodes = 0
        self.lock = threading.Lock()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """No more faults; returns when those under way are over, or cannot be waited for."""
        self._stop.set()
        self._thread.join(_FAULTS_END_WITHIN)
        if self._thread.is_alive():
            with self.lock:
                active = ", ".join(self.active)
            self._result.errors.append(f"faults did not end: {active}")

    def begun(self) -> tuple[tuple[str, ...], int, int]:
        """A run begins: which faults there are, how many episodes of faults there were, and how
        many runs since the last.
        """
        with self.lock:
            return self.active, self.episodes, self.calm_runs

    def ended(self, before: tuple[str, ...], episodes: int) -> tuple[str, ...]:
        """That run is over; returns which faults there are, or were while it was on."""
        with self.lock:
            after = self.active if self.episodes == episodes else self.latest
            self.calm_runs += not (before or after)
            return after

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._over()
                self._quiet()
                if not self._stop.is_set():
                    self._episode()
            self._over()
        except Exception as error:  # noqa: BLE001 - the campaign itself is broken, and says so
            self._result.errors.append(f"the campaign failed: {type(error).__name__}: {error}")

    def _episode(self) -> None:
        chosen = choose(self._scene.rng, self._only)
        with self.lock:
            self.active = self.latest = tuple(each.__name__ for each in chosen)
            self.episodes += 1
        with ThreadPoolExecutor(len(chosen)) as pool:
            for name, future in [(f.__name__, pool.submit(f, self._scene)) for f in chosen]:
                happened = future.result()
                counts = self._result.faults if happened else self._result.without_effect
                counts[name] += 1
        settle(self._scene)

    def _over(self) -> None:
        with self.lock:
            self.active, self.calm_runs = (), 0

    def _quiet(self) -> None:
        while self.calm_runs < _RECOVERING + _JUDGED_CALM and not self._stop.is_set():
            time.sleep(0.05)


class Campaign:
    """Runs the collector on a cluster under faults and judges it; `say` gets lines of progress."""

    def __init__(self, options: Options, say: Callable[[str], None]) -> None:
        self._options, self._say = options, say
        self.result = Result(options.seed)
        self._clock = Clock()
        self._waiting: deque[tuple[Run, int, str]] = deque()
        self._begun: deque[int] = deque(maxlen=_RECOVERING)
        self._clocks: deque[int] = deque(maxlen=_RECOVERING)
        self._history = History()

    def run(self) -> Result:
        """All of it, brokers started and ended."""
        quiet_library()
        with self._scene() as (scene, access), self._watched(scene) as self._pulse:
            subject = self._subject(scene, access)
            # Brokers and traffic start on the same processors as the runs that are timed.
            settle(scene)
            self._say("runs and faults begin")
            faults = _Faults(scene, self.result, self._options.faults)
            faults.start()
            try:
                self._runs(subject, scene, access, faults)
            finally:
                faults.stop()
                subject.close()
        # The traffic has ended: whatever is not answered by now never will be.
        self._judge(scene.truth, at_all_events=True)
        self.result.slow = len(self._pulse.slow)
        return self.result

    @contextmanager
    def _scene(self) -> Iterator[tuple[Scene, Access]]:
        options = self._options
        protocol: Protocol = "SASL_SSL" if options.tls else "SASL_PLAINTEXT"
        cluster = KafkaCluster()
        proxies = {
            node: Proxy(
                cluster.broker_address(node, protocol),
                encrypted=options.tls,
                seed=options.seed + node,
            )
            for node in cluster.node_ids
        }
        for node, proxy in proxies.items():
            cluster.advertise(node, protocol, proxy.address)
        with ExitStack() as stack:
            running = stack.enter_context(Proxies(proxies))
            self._say("starting three brokers")
            stack.enter_context(cluster)
            truth = Truth()
            traffic = stack.enter_context(
                Traffic(cluster.admin(), cluster.bootstrap("PLAINTEXT"), truth, options.seed)
            )
            account = cluster.users[USER]
            rng = random.Random(options.seed)  # noqa: S311 - faults, not secrets
            secret = Secret(USER, account.password)
            access = Access(
                tuple(proxy.address for proxy in proxies.values()),
                security_protocol=protocol,
                cafile=str(cluster.cafile) if options.tls else None,
                broker_timeout=_BROKER_TIMEOUT,
            )
            yield Scene(cluster, running, traffic, truth, Store(), secret, rng), access

    def _watched(self, scene: Scene) -> Pulse:
        nodes = scene.cluster.node_ids
        addresses = {node: scene.cluster.broker_address(node, "PLAINTEXT") for node in nodes}
        return Pulse(scene.truth, addresses)

    def _subject(self, scene: Scene, access: Access) -> Subject:
        return Subject(access, scene.secret, scene.store, self._clock, _INTERVAL_MS)

    def _runs(self, subject: Subject, scene: Scene, access: Access, faults: _Faults) -> None:
        interval, number = _INTERVAL_MS, 0
        ends = time.monotonic() + 60 * self._options.minutes
        said = time.monotonic()
        taken_at = (int(time.time() * 1000) // interval + 1) * interval
        while time.monotonic() < ends and not self.result.errors:
            self._judge(scene.truth)
            self.result.errors += scene.traffic.errors
            time.sleep(max(0.0, taken_at / 1000 - time.time()))
            self._clock.ahead_ms = scene.orders.clock_ahead_ms
            scene.orders.clock_runs += bool(self._clock.ahead_ms)
            number += 1
            self._ordered(number, taken_at, subject, scene, access, faults)
            # What could not be started in time is left out, as a schedule does.
            now = int(time.time() * 1000)
            taken_at = max(taken_at + interval, now // interval * interval)
            if scene.orders.skipped:
                taken_at += interval * scene.orders.skipped
                scene.orders.skipped = 0
            if time.monotonic() - said > _SAYS_EVERY:
                said = time.monotonic()
                self._progress()

    def _ordered(
        self,
        number: int,
        taken_at: int,
        subject: Subject,
        scene: Scene,
        access: Access,
        faults: _Faults,
    ) -> None:
        """One run, or several, as the faults want it."""
        orders: Orders = scene.orders
        if orders.cold:
            subject.cold()
            orders.cold = False
        if orders.concurrent:
            other = self._subject(scene, access)
            with ThreadPoolExecutor(1) as pool:
                beside = pool.submit(self._one, other, number, taken_at, faults)
                self._one(subject, number, taken_at, faults)
                beside.result()
            other.close()
            orders.concurrent = False
            return
        self._one(subject, number, taken_at, faults)
        if orders.repeated:
            self._one(subject, number, taken_at, faults)
            orders.repeated = False
        if orders.late:
            interval = _INTERVAL_MS
            self._one(subject, number, taken_at - orders.late * interval, faults)
            orders.late = 0

    def _one(self, subject: Subject, number: int, taken_at: int, faults: _Faults) -> None:
        before, episodes, quiet = faults.begun()
        try:
            run = subject.run(number, taken_at)
        except Exception as error:  # noqa: BLE001 - a run raises ReporterError and nothing else
            named = f"run {number} raised {type(error).__name__}: {error}"
            self.result.errors.append(f"{named} (during {', '.join(before)})")
            subject.cold()
            return
        after = faults.ended(before, episodes)
        clocks = (*self._clocks,)
        self._clocks.append(run.clock_ahead)
        calm = not before and not after and quiet >= _RECOVERING
        during = " ".join(before or after) or f"{quiet + 1} runs after"
        since = min([run.began, *self._begun])
        self._begun.append(run.began)
        self._waiting.append((replace(run, clocks_before=clocks, calm=calm), since, during))

    def _judge(self, truth: Truth, *, at_all_events: bool = False) -> None:
        now, view = int(time.time() * 1000), None
        while self._waiting:
            run, since, during = self._waiting[0]
            overdue = now - run.ended > _SETTLES_WITHIN_MS
            if not (at_all_events or overdue or truth.settled(run.ended)):
                return
            self._waiting.popleft()
            if run.calm and self._pulse.was_slow(since, run.ended):
                run, during = replace(run, calm=False), "a broker is slow of itself"
            view = view or truth.view()
            verdict = judge_run(view, run, self._history, _MARGIN)
            self._history.add(run)
            self.result.add(run, verdict, during)

    def _progress(self) -> None:
        result = self.result
        self._say(
            f"{sum(result.faults.values())} faults, {result.runs} runs, "
            f"{sum(result.checked.values()):,} numbers, {len(result.wrong)} wrong, "
            f"{len(result.late)} late"
        )
