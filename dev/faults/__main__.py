# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.faults`: runs the collector under faults on real brokers, and judges its values.

Prints the faults, the number of values checked against the logs, wrong values (each rule with its
first case), and missing values with their reason. Exits with 1 if a value was wrong, or if too few
values were judged.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from dev.faults.faults import LANES, USER, Scene, choose, settle
from dev.faults.judge import Fault, Verdict, judge
from dev.faults.proxy import start_behind_proxies
from dev.faults.subject import INTERVAL_MS, Run, Secret, Store, Subject
from dev.faults.traffic import Traffic
from dev.kafka import KafkaCluster, KafkaClusterError, Protocol
from kafka_lag.brokers.access import Access
from kafka_lag.brokers.source import quiet_library

NAMES = tuple(sorted({fault.__name__ for lane in LANES.values() for fault in lane}))
# The number of runs that may still show a fault after its end, and of calm runs after these.
_RECOVERING, _CALM = 2, 1
_BROKER_TIMEOUT = 1.5
_SAYS_EVERY = 10.0
_FAULTS_END_WITHIN = 300.0
# This share of all runs must have read numbers, and this share of the calm runs must have read
# everything.
_LEAST_SHARE = 0.5
_ON_BROKERS = {each.__name__ for each in LANES["brokers"]}


@dataclass(slots=True)
class Result:
    """The result of a campaign; `without_effect` counts faults that did not happen when tried."""

    seed: int
    faults: Counter[str] = field(default_factory=Counter)
    without_effect: Counter[str] = field(default_factory=Counter)
    runs: list[Run] = field(default_factory=list)
    verdict: Verdict = field(default_factory=Verdict)
    errors: list[str] = field(default_factory=list)

    @property
    def calm(self) -> int:
        """Runs that no fault shows in."""
        return sum(run.calm for run in self.runs)

    def list_problems(self) -> list[str]:
        """Returns reasons why the campaign is not good, besides wrong values."""
        read = sum(bool(run.rows) for run in self.runs)
        problems = {
            "no number was judged by the truth": not self.verdict.checked.total(),
            "no fault happened": not self.faults.total(),
            "no run was calm": not self.calm,
            f"{read} of {len(self.runs)} runs read numbers": read < _LEAST_SHARE * len(self.runs),
            f"{self.verdict.whole} of {self.calm} calm runs read all that there was": (
                self.verdict.whole < _LEAST_SHARE * self.calm
            ),
        }
        return [*self.errors, *(text for text, holds in problems.items() if holds)]


class _Faults:
    """Faults in a thread of their own: some, none until a run was calm, some more."""

    def __init__(self, scene: Scene, result: Result, only: tuple[str, ...]) -> None:
        self._scene, self._result, self._only = scene, result, only
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="faults")
        self.lock = threading.Lock()
        self.active: tuple[str, ...] = ("start",)
        self.seen: set[str] = set()
        self.runs_since = 0
        self.on_brokers: list[Fault] = []

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Begins no more faults; returns when those under way are over, or do not end."""
        self._stop.set()
        self._thread.join(_FAULTS_END_WITHIN)
        if self._thread.is_alive():
            self._result.errors.append(f"faults did not end: {', '.join(self.active)}")

    def run_begins(self) -> None:
        """Forgets the faults of earlier runs."""
        with self.lock:
            self.seen = set(self.active)

    def run_ends(self) -> tuple[bool, str]:
        """Returns whether the run was calm, and names the faults of its time."""
        with self.lock:
            calm = not self.seen and self.runs_since >= _RECOVERING
            during = " ".join(sorted(self.seen)) or f"{self.runs_since + 1} runs after"
            self.runs_since += not self.seen
            return calm, during

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                with self.lock:
                    self.active, self.runs_since = (), 0
                while self.runs_since <= _RECOVERING + _CALM and not self._stop.is_set():
                    time.sleep(0.05)
                if not self._stop.is_set():
                    self._make_some()
        except Exception as error:  # noqa: BLE001 - the campaign itself is broken, and says so
            self._result.errors.append(f"the campaign failed: {type(error).__name__}: {error}")

    def _make_some(self) -> None:
        chosen = choose(self._scene.rng, self._only)
        names = tuple(each.__name__ for each in chosen)
        with self.lock:
            self.active = names
            self.seen |= set(names)
        begun = time.time()
        with ThreadPoolExecutor(len(chosen)) as pool:
            futures = [pool.submit(each, self._scene) for each in chosen]
            for name, future in zip(names, futures, strict=True):
                counts = self._result.faults if future.result() else self._result.without_effect
                counts[name] += 1
        settle(self._scene)
        for name in _ON_BROKERS & set(names):
            self.on_brokers.append(Fault(name, begun, time.time()))


class Campaign:
    """Runs the collector on a cluster under faults and judges it; `say` gets lines of progress.

    Without `only` all kinds of faults happen.
    """

    def __init__(
        self, say: Callable[[str], None], minutes: float, seed: int, tls: bool, only: Sequence[str]
    ) -> None:
        self._say, self._minutes, self._tls, self._only = say, minutes, tls, tuple(only)
        self.result = Result(seed)

    def run(self) -> Result:
        """Starts brokers, and runs and judges the collector on them until the time is up."""
        quiet_library()
        with self._start() as (scene, access):
            subject = Subject(access, scene.secret, scene.store)
            # Brokers and traffic start on the same processors as the runs that are timed.
            settle(scene)
            self._say("runs and faults begin")
            faults = _Faults(scene, self.result, self._only)
            faults.start()
            try:
                self._run_all(subject, scene, access, faults)
            finally:
                faults.stop()
                subject.close()
            self._say("reading the truth back from the brokers")
            scene.traffic.finish()
            history = scene.traffic.history
        self.result.verdict = judge(self.result.runs, history, faults.on_brokers)
        return self.result

    @contextmanager
    def _start(self) -> Iterator[tuple[Scene, Access]]:
        seed, tls = self.result.seed, self._tls
        protocol: Protocol = "SASL_SSL" if tls else "SASL_PLAINTEXT"
        cluster = KafkaCluster()
        self._say("starting three brokers")
        with ExitStack() as stack:
            proxies = stack.enter_context(start_behind_proxies(cluster, protocol, seed))
            traffic = stack.enter_context(Traffic(cluster, seed))
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="faults-"))
            rng = random.Random(seed)  # noqa: S311 - faults, not secrets
            secret = Secret(USER, cluster.users[USER].password)
            access = Access(
                tuple(proxies[node].address for node in cluster.node_ids),
                security_protocol=protocol,
                cafile=str(cluster.cafile) if tls else None,
                broker_timeout=_BROKER_TIMEOUT,
            )
            store = Store(Path(folder))
            yield Scene(cluster, proxies, traffic, store, secret, rng, tls), access

    def _run_all(self, subject: Subject, scene: Scene, access: Access, faults: _Faults) -> None:
        number, said, orders = 0, time.monotonic(), scene.orders
        ends = said + 60 * self._minutes
        taken_at = (int(time.time() * 1000) // INTERVAL_MS + 1) * INTERVAL_MS
        while time.monotonic() < ends and not self.result.errors:
            self.result.errors += scene.traffic.errors
            time.sleep(max(0.0, taken_at / 1000 - time.time()))
            subject.ahead_ms = orders.clock_ahead_ms
            orders.clock_runs += bool(subject.ahead_ms)
            number += 1
            if orders.cold:
                subject.cold()
                orders.cold = False
            if orders.concurrent:
                self._run_beside(subject, Subject(access, scene.secret, scene.store), taken_at)
                orders.concurrent = False
            self._run_once(subject, number, taken_at, faults)
            if orders.late:
                self._run_once(subject, number, taken_at - orders.late * INTERVAL_MS, faults)
                orders.late = 0
            # A run that could not be started in time is left out, as by a schedule.
            now = int(time.time() * 1000)
            taken_at = max(taken_at + INTERVAL_MS, now // INTERVAL_MS * INTERVAL_MS)
            taken_at += INTERVAL_MS * orders.skipped
            orders.skipped = 0
            if time.monotonic() - said > _SAYS_EVERY:
                said = time.monotonic()
                self._say(f"{self.result.faults.total()} faults, {len(self.result.runs)} runs")

    def _run_beside(self, subject: Subject, other: Subject, taken_at: int) -> None:
        """Lets two processes run for the same time at once; nothing but an error is judged."""
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda each: each.run(0, taken_at), (subject, other)))
        other.close()

    def _run_once(self, subject: Subject, number: int, taken_at: int, faults: _Faults) -> None:
        faults.run_begins()
        try:
            run = subject.run(number, taken_at)
        except Exception as error:  # noqa: BLE001 - a run raises ReporterError and nothing else
            named = f"run {number} raised {type(error).__name__}: {error}"
            self.result.errors.append(f"{named} (during {', '.join(faults.seen)})")
            subject.cold()
            return
        calm, during = faults.run_ends()
        self.result.runs.append(replace(run, calm=calm, during=during))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the campaign; returns 1 if anything was wrong, or too little judged."""
    parser = argparse.ArgumentParser(prog="python -m dev.faults", description=__doc__)
    add = parser.add_argument
    add("--minutes", type=float, default=3.0, help="how long (3)")
    add("--seed", type=int, default=1, help="of faults and traffic (1)")
    add("--tls", action="store_true", help="connect by SASL_SSL, not by SASL_PLAINTEXT")
    add("--fault", action="append", choices=NAMES, default=[], help="only this one, or these")
    given = parser.parse_args(arguments)
    console = Console(soft_wrap=True, markup=False)
    try:
        result = Campaign(console.print, given.minutes, given.seed, given.tls, given.fault).run()
    except KafkaClusterError as error:
        Console(stderr=True).print(str(error), style="red", markup=False, soft_wrap=True)
        return 1
    return show(result, console)


def show(result: Result, console: Console) -> int:
    """Prints the findings; returns 1 if the campaign is not good."""
    verdict, problems = result.verdict, result.list_problems()
    for title, counts in (
        ("faults", result.faults),
        ("faults that came to nothing", result.without_effect),
        ("checked by the truth", verdict.checked),
        ("missing, with the reason", verdict.missing),
    ):
        table = Table(title=title, show_header=False)
        for name, count in counts.most_common():
            table.add_row(name, f"{count:,}")
        console.print(table)
    first = {each.rule: each for each in reversed(verdict.wrong)}
    for rule, count in Counter(each.rule for each in verdict.wrong).most_common():
        each = first[rule]
        console.print(
            f"WRONG {count} times: {rule}. First in run {each.run.number} ({each.run.during}): "
            f"{each.where} says {each.published}, truth: {each.truth}"
        )
    for problem in problems:
        console.print(f"ERROR {problem}")
    failed = sum(run.error is not None for run in result.runs)
    slowest = max((run.ended - run.began for run in result.runs), default=0.0)
    console.print(
        f"seed {result.seed}: {result.faults.total()} faults, {len(result.runs)} runs "
        f"({failed} with a named error, {result.calm} calm, {verdict.whole} of these whole, "
        f"the slowest {slowest:.2f} s), {len(verdict.wrong)} wrong"
    )
    return 1 if verdict.wrong or problems else 0


if __name__ == "__main__":
    sys.exit(main())
