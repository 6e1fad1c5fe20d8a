# SPDX-License-Identifier: Apache-2.0
"""Real transactions on real brokers, real readers of committed records, and run after run.

Half of the partitions are written record by record, the others by Kafka Streams, exactly once.
Writers are busy for some seconds and quiet for longer than the window, in turn.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import NewTopic

from dev.kafka import KafkaCluster, KafkaClusterError
from dev.kafka.cluster import run_tool
from dev.kafka.extra_jars import STREAMS, extra_jar
from dev.kafka.jars import kafka_server
from dev.kafka.readiness import wait_until
from dev.sim.scorers.transactions import BAD
from kafka_lag.brokers.access import Access, Credentials
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import KafkaSource, look_up_until
from kafka_lag.contract import OK, OPEN_TRANSACTION, STALL, STOP
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import NameFilter, Rules
from kafka_lag.lag.model import LagReport
from kafka_lag.snapshots.previous import Memory

LEDGER, ORDERS, BILLS = "ledger", "orders", "bills"
LEDGER_READERS, BILL_READERS, APPLICATION = "ledger-readers", "bill-readers", "billing"
READERS = {LEDGER_READERS: LEDGER, BILL_READERS: BILLS}
_ORDER_PARTITIONS = 4
_WITHIN = 120.0
_WINDOW_INTERVALS = 6
# Seconds that writers are busy, and more than a window that they are quiet.
_BUSY, _QUIET_WINDOWS = (4.0, 8.0), (1.3, 2.2)
# A transaction stays open for so many runs in every third busy time.
_OPEN_RUNS, _OPEN_EVERY = 5, 3
_TRANSACTION_SECONDS = (0.1, 0.6)
_REST_RUNS, _KNOWN_RESTS = 5, 2


@dataclass(frozen=True, slots=True)
class Plan:
    """How many runs, seconds apart, over how many partitions of both topics together."""

    runs: int
    interval: float
    partitions: int
    brokers: int
    protocol: str
    seed: int

    @property
    def rules(self) -> Rules:
        """Rules as of a deployment, at this pace."""
        mine = re.compile(f"^({LEDGER}|{ORDERS}|{BILLS}|{APPLICATION}|.*-readers)")
        interval_ms = int(self.interval * 1_000)
        return Rules(
            groups=NameFilter(mine),
            topics=NameFilter(re.compile(f"^({LEDGER}|{ORDERS}|{BILLS})$")),
            interval_ms=interval_ms,
            window_ms=_WINDOW_INTERVALS * interval_ms,
        )


@dataclass(slots=True)
class Counts:
    """What was found, by a word for each."""

    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    # CPU seconds of the runs alone.
    cpu: float = 0.0
    # By group, topic and partition: the commit, the run that first saw it, and the rests so far.
    commits: dict[tuple[str, str, int], tuple[int, int, int]] = field(default_factory=dict)

    def rests(self, key: tuple[str, str, int], commit: int) -> int:
        """How many rests are over: commits that stood for so many runs, and moved."""
        run = self.counts["runs"]
        then, since, rests = self.commits.get(key, (commit, run, 0))
        if commit != then:
            since, rests = run, rests + (run - since >= _REST_RUNS)
        self.commits[key] = commit, since, rests
        return rests


def measure(plan: Plan, say: Callable[[str], None]) -> Counts:
    """Brokers, writers, readers and runs; what was right and wrong."""
    found = Counts()
    settings = {"transaction.max.timeout.ms": "900000"}
    with KafkaCluster(brokers=plan.brokers, settings=settings) as cluster, ExitStack() as stack:
        half = plan.partitions // 2
        _create(cluster, {LEDGER: half, BILLS: plan.partitions - half, ORDERS: _ORDER_PARTITIONS})
        say("brokers are up; Kafka Streams starts")
        stack.enter_context(_application(cluster, plan.protocol))
        writers = Writers(cluster, plan)
        runs = Runs(cluster, plan, found)
        stack.callback(runs.source.close)
        readers = [Readers(cluster, group, topic) for group, topic in READERS.items()]
        for each in readers:
            stack.callback(each.stop)
        writers.write_once()
        _wait_for_commits(runs)
        say("all partitions were written and read; runs begin")
        _run(plan, writers, runs, found, say)
        say("at rest: Kafka's own tools")
        _rest(plan, runs)
        _compare(cluster, runs.look(), found)
        _hold_open(cluster, writers, runs, found)
        _stop_readers(plan, readers, writers, runs, found)
    return found


def _create(cluster: KafkaCluster, counts: dict[str, int]) -> None:
    topics = [NewTopic(name, count, 1) for name, count in counts.items()]
    for future in cluster.admin().create_topics(topics).values():
        future.result(_WITHIN)


@contextmanager
def _application(cluster: KafkaCluster, protocol: str) -> Iterator[None]:
    """Kafka Streams, as a process of its own."""
    server = kafka_server()
    class_path = f"{server.class_path}:{extra_jar(STREAMS)}"
    source = Path(__file__).with_name("Copies.java")
    with tempfile.TemporaryDirectory(prefix="streams-") as state:
        names = [cluster.bootstrap("PLAINTEXT"), APPLICATION, ORDERS, BILLS, state, protocol]
        quiet = ["-Xmx256m", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]
        with subprocess.Popen(["java", *quiet, "-cp", class_path, str(source), *names]) as process:
            try:
                yield
            finally:
                process.terminate()
                process.wait(_WITHIN)


class Writers:
    """Who writes both topics; transactions of a record in each partition of a part of them."""

    def __init__(self, cluster: KafkaCluster, plan: Plan) -> None:
        options = {"bootstrap.servers": cluster.bootstrap("PLAINTEXT"), "log_level": 0}
        timeout = {"transaction.timeout.ms": 600_000}
        self.ledger = Producer({**options, **timeout, "transactional.id": LEDGER})
        self.ledger.init_transactions(_WITHIN)
        self._orders = Producer(options)
        self._half = plan.partitions // 2
        self._bills = plan.partitions - self._half
        self._rng = np.random.default_rng([37, plan.seed])

    def begin(self) -> None:
        """A transaction with a record in each partition of the ledger, all on the brokers."""
        self.ledger.begin_transaction()
        for number in range(self._half):
            self.ledger.produce(LEDGER, b"record", partition=number)
        self.ledger.flush(_WITHIN)

    def finish(self) -> None:
        """Its end."""
        self.ledger.commit_transaction(_WITHIN)

    def order(self, share: float = 1.0) -> None:
        """A record for each bill, or for so large a share of them."""
        for number in range(self._bills):
            if self._rng.random() < share:
                value = str(number).encode()
                self._orders.produce(ORDERS, value, partition=number % _ORDER_PARTITIONS)
        self._orders.flush(_WITHIN)

    def write_once(self) -> None:
        """Something in each partition."""
        self.begin()
        self.finish()
        self.order()

    def be_busy(self, until: float) -> None:
        """One transaction after the other, until so late on the monotonic clock."""
        while time.monotonic() < until:
            self.begin()
            self.order(0.5)
            time.sleep(self._rng.uniform(*_TRANSACTION_SECONDS))
            self.finish()
            self.order(0.5)
        # The last one leaves nothing out, so that all rest below a marker.
        self.write_once()


class Readers:
    """One consumer of committed records that commits the offset after the last one of each."""

    def __init__(self, cluster: KafkaCluster, group: str, topic: str) -> None:
        options = {
            "bootstrap.servers": cluster.bootstrap("PLAINTEXT"),
            "group.id": group,
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "log_level": 0,
        }
        self._consumer, self._topic = Consumer(options), topic
        self._consumer.subscribe([topic])
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while not self._stopped.is_set():
            last: dict[int, int] = {}
            for record in self._consumer.consume(2_000, 0.1):
                if record.error() is None:
                    last[int(record.partition() or 0)] = int(record.offset() or 0)
            if last:
                offsets = [TopicPartition(self._topic, n, at + 1) for n, at in last.items()]
                self._consumer.commit(offsets=offsets, asynchronous=False)
        self._consumer.close()

    def stop(self) -> None:
        """It leaves the group; a second time does nothing."""
        self._stopped.set()
        self._thread.join()


class Runs:
    """Runs of the collector, each knowing those before."""

    def __init__(self, cluster: KafkaCluster, plan: Plan, found: Counts) -> None:
        user = cluster.users["monitor"]
        access = Access(tuple(cluster.bootstrap("SASL_SSL").split(",")), cafile=str(cluster.cafile))
        credentials = FixedCredentials(Credentials(user.username, user.password))
        self.source = KafkaSource(access, credentials)
        self._rules, self._found = plan.rules, found
        self._memory = Memory.empty()

    def forget(self) -> None:
        """The next run is the first."""
        self._memory = Memory.empty()

    def look(self) -> LagReport:
        """One run, now."""
        began, now = time.process_time(), int(time.time() * 1_000)
        deadline = time.monotonic() + _WITHIN
        request = ReadRequest(groups=self._rules.groups, topics=self._rules.topics, taken_at=now)
        reading = self.source.read(request, deadline)
        look_up = look_up_until(self.source, deadline, time.monotonic)
        report = evaluate(reading, self._memory.previous_runs(), self._rules, now, look_up)
        self._memory = self._memory.add_run(report.snapshot, self._rules.interval_ms, stored=True)
        self._found.cpu += time.process_time() - began
        return report


def _rows(frame: Frame, group: str, *names: str) -> list[tuple[Any, ...]]:
    columns = zip(*(frame.columns[name].to_list() for name in names), strict=True)
    groups = frame.strings("consumer_group").to_list()
    return [row for row, of in zip(columns, groups, strict=True) if of == group]


def _wait_for_commits(runs: Runs) -> None:
    def committed() -> bool:
        rows = runs.look().snapshot.group_partitions
        offsets = [_rows(rows, group, "committed_offset") for group in READERS]
        return all(of and all(offset is not None for (offset,) in of) for of in offsets)

    wait_until(committed, what="a commit in each partition", timeout=_WITHIN)


def _run(
    plan: Plan, writers: Writers, runs: Runs, found: Counts, say: Callable[[str], None]
) -> None:
    """The runs, with busy and quiet times in turn; what they call the readers meanwhile."""
    rng, cycle, done = np.random.default_rng([38, plan.seed]), 0, 0
    # What came before was to see that all is there.
    runs.forget()
    while done < plan.runs:
        busy = threading.Thread(
            target=writers.be_busy, args=(time.monotonic() + rng.uniform(*_BUSY),)
        )
        busy.start()
        while busy.is_alive() and done < plan.runs:
            done += _count_run(plan, runs, found)
        busy.join()
        if cycle % _OPEN_EVERY == _OPEN_EVERY - 1:
            done += _leave_open(plan, writers, runs, found)
        quiet = time.monotonic() + plan.rules.window_ms / 1_000 * rng.uniform(*_QUIET_WINDOWS)
        while time.monotonic() < quiet and done < plan.runs:
            done += _count_run(plan, runs, found)
        cycle += 1
        say(f"{done} runs, {cycle} times busy and quiet: {dict(found.counts)}")


def _count_run(plan: Plan, runs: Runs, found: Counts) -> int:
    began = time.monotonic()
    report = runs.look()
    _count(report, found)
    time.sleep(max(0.0, began + plan.interval - time.monotonic()))
    return 1


def _count(report: LagReport, found: Counts) -> None:
    found.counts["runs"] += 1
    for group in (*READERS, APPLICATION):
        rows = report.snapshot.group_partitions
        names = ("topic", "partition_id", "committed_offset", "status", "lag", "time_lag_method")
        for topic, number, commit, status, lag, method in _rows(rows, group, *names):
            known = found.rests((group, topic, number), commit) >= _KNOWN_RESTS
            when = "after the second rest" if known else "before the second rest"
            bad = status in BAD
            found.counts[f"{group}, {when}: {'false' if bad else 'right'}"] += 1
            if bad and known:
                run = found.counts["runs"]
                found.notes.append(f"run {run}: {topic}-{number} {status} {lag} {method}")


def _leave_open(plan: Plan, writers: Writers, runs: Runs, found: Counts) -> int:
    """A transaction that stays open for some runs: named by the second that sees it?"""
    earliest = time.time() * 1_000
    writers.begin()
    latest = time.time() * 1_000
    named: int | None = None
    for number in range(_OPEN_RUNS):
        began = time.monotonic()
        report = runs.look()
        _count(report, found)
        ((reason, since),) = _rows(
            report.snapshot.groups, LEDGER_READERS, "status_reason", "open_transaction_since"
        )
        if reason == OPEN_TRANSACTION and named is None:
            named = number
            early, late = earliest - 1_000 * plan.interval, latest + 1_000 * plan.interval
            near = early <= since <= late
            found.counts[f"begin of an open transaction: {'near' if near else 'off'}"] += 1
        time.sleep(max(0.0, began + plan.interval - time.monotonic()))
    writers.finish()
    word = "late" if named is None or named > 1 else "named by the second run"
    found.counts[f"open transaction: {word}"] += 1
    return _OPEN_RUNS


def _rest(plan: Plan, runs: Runs) -> None:
    until = time.monotonic() + 2 * plan.rules.window_ms / 1_000
    while time.monotonic() < until:
        runs.look()
        time.sleep(plan.interval)


def _tool(cluster: KafkaCluster, name: str, *arguments: str) -> str:
    with suppress(KafkaClusterError):
        return run_tool(cluster.bootstrap("PLAINTEXT"), name, *arguments)
    return ""


def _compare(cluster: KafkaCluster, report: LagReport, found: Counts) -> None:
    """Ours beside what `kafka-consumer-groups` and `kafka-streams-groups` describe."""
    rows = report.snapshot.group_partitions
    said = _described(
        _tool(cluster, "consumer.group.ConsumerGroupCommand", "--describe", "--all-groups")
    )
    for group in (*READERS, APPLICATION):
        tool = said
        if group == APPLICATION and not any(key[0] == group for key in said):
            tool = _described(
                _tool(
                    cluster,
                    "streams.StreamsGroupCommand",
                    *("--describe", "--offsets", "--verbose", "--group", group),
                )
            )
        for topic, number, committed, lag, status in _rows(
            rows, group, "topic", "partition_id", "committed_offset", "lag", "status"
        ):
            same = tool.get((group, topic, number)) == (committed, lag)
            found.counts[f"{group}, beside Kafka's tool: {'same' if same else 'other'}"] += 1
            found.counts[
                f"{group}, at rest: {status}, lag {min(lag, 2)}{'+' if lag > 1 else ''}"
            ] += 1


def _described(text: str) -> dict[tuple[str, str, int], tuple[int, int]]:
    """Commit and lag by group, topic and partition, wherever the tool has these columns."""
    said: dict[tuple[str, str, int], tuple[int, int]] = {}
    names: list[str] = []
    for line in text.splitlines():
        cells = line.split()
        if "PARTITION" in cells:
            names = cells
        elif len(cells) >= len(names) > 0 and "PARTITION" in names:
            row = dict(zip(names, cells, strict=False))
            committed = row.get("CURRENT-OFFSET", "-")
            lag = row.get("LAG", row.get("OFFSET-LAG", "-"))
            if row["PARTITION"].isdigit() and committed.isdigit() and lag.isdigit():
                key = row["GROUP"], row["TOPIC"], int(row["PARTITION"])
                said[key] = int(committed), int(lag)
    return said


_DESCRIBED = 5


def _hold_open(cluster: KafkaCluster, writers: Writers, runs: Runs, found: Counts) -> None:
    """Ours beside what `kafka-transactions` says of one that is open."""
    writers.begin()
    runs.look()
    report = runs.look()
    topics = report.snapshot.topic_partitions
    names = ("topic", "partition_id", "stable_offset", "end_offset")
    stable = {
        (topic, number): offset
        for topic, number, offset, end in zip(
            *(topics.columns[n].to_list() for n in names), strict=True
        )
        if offset is not None and offset < end
    }
    listed = _tool(cluster, "TransactionsCommand", "list")
    ongoing = {line.split()[0] for line in listed.splitlines() if "Ongoing" in line}
    found.counts[f"kafka-transactions: ongoing {sorted(ongoing)}"] += 1
    found.counts["open transactions by us, partitions"] += len(stable)
    for number in range(_DESCRIBED):
        text = _tool(
            cluster,
            "TransactionsCommand",
            *("describe-producers", "--topic", LEDGER, "--partition", str(number)),
        )
        begins = {line.split()[-1] for line in text.splitlines()[1:]}
        same = str(stable.get((LEDGER, number))) in begins
        found.counts[f"first offset by kafka-transactions: {'same' if same else 'other'}"] += 1
    ((reason, records),) = _rows(
        report.snapshot.groups, LEDGER_READERS, "status_reason", "held_up_records"
    )
    found.counts[f"held up: {reason}, {records} records"] += 1
    writers.finish()


def _stop_readers(
    plan: Plan, readers: list[Readers], writers: Writers, runs: Runs, found: Counts
) -> None:
    """Nobody reads the next records: all partitions are to be reported."""
    _rest(plan, runs)
    for each in readers:
        each.stop()
    writers.write_once()
    until = time.monotonic() + plan.rules.window_ms / 1_000 + 3 * plan.interval
    while time.monotonic() < until:
        report = runs.look()
        time.sleep(plan.interval)
    for group in READERS:
        for (status,) in _rows(report.snapshot.group_partitions, group, "status"):
            word = "reported" if status in (STALL, STOP) else f"missed ({status or OK})"
            found.counts[f"{group}, nobody reads the next record: {word}"] += 1
