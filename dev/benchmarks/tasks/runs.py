# SPDX-License-Identifier: Apache-2.0
"""Runs of the collector's arithmetic on what brokers answer, a minute of the cases' clock apart."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka.admin import NewTopic

from dev.benchmarks.tasks.cases import Case
from dev.benchmarks.tasks.judge import Row, numbers_to_try
from dev.benchmarks.tasks.members import Plant
from dev.kafka import KafkaCluster
from kafka_lag.brokers.access import Access, Credentials
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.group_settings import ByName, NameFilter, Rules, TaskSettings
from kafka_lag.snapshots.previous import Memory

# Minutes, a run each: until an advice has come to rest, until members have joined, of a trial.
FOLLOWED, JOINING, TRIED, LIMITED, SHARED = 52, 8, 100, 22, 36
# Runs in which a group is only looked at: three minutes with a backlog make a number, more make it
# a better one.
_LOOKED_AT = 10
# The promise, minutes; also the time to catch up in.
PROMISE = 5.0
# Members that run, and are tried, at most.
MOST = 12
# The cases' clock begins here, so that all they do is of one day.
_FIRST = 1_769_904_000  # 2026-02-01T00:00:00Z
_WITHIN = 30.0


@dataclass(frozen=True, slots=True)
class Clock:
    """The cases' clock: a minute of it lasts `minute` s, from `began` (time.time) on."""

    began: float
    minute: float

    def now(self) -> float:
        """Seconds since 1970 of the cases' world."""
        return _FIRST + (time.time() - self.began) * 60.0 / self.minute

    def wait_for_run(self) -> int:
        """Returns with the next whole minute, as ms."""
        passed = (time.time() - self.began) / self.minute
        number = int(passed) + 1
        time.sleep(max(self.began + number * self.minute - time.time(), 0.0))
        return (_FIRST + number * 60) * 1_000


@dataclass(frozen=True, slots=True)
class Advice:
    """What was advised a case run by run, and the oldest age, minutes, by members tried."""

    case: Case
    needed: Sequence[int | None]
    row: Row
    tried: Mapping[int, float]

    @property
    def last(self) -> int | None:
        """The advice once it has come to rest."""
        return self.needed[-1]


class Bench:
    """A cluster, a plant on it, and a collector that reads both."""

    def __init__(self, cluster: KafkaCluster, speed: float, minute: float) -> None:
        self._cluster, self._minute = cluster, minute
        self._plant = Plant(_client(cluster), speed, minute)
        self._clock = Clock(time.time(), minute)
        monitor = cluster.users["monitor"]
        access = Access(tuple(cluster.bootstrap("SASL_SSL").split(",")), cafile=str(cluster.cafile))
        login = FixedCredentials(Credentials(monitor.username, monitor.password))
        self._source = KafkaSource(access, login, self._clock.now)

    def close(self) -> None:
        """Ends producers, consumers and connections."""
        self._plant.close()
        self._source.close()

    def follow(self, cases: Sequence[Case]) -> list[Advice]:
        """Sets each group to the tasks that it needs, then tries numbers around the advice."""
        self._begin(cases)
        needed: dict[str, list[int | None]] = {case.topic: [] for case in cases}
        rows: Mapping[str, Row] = {}
        for run, rows in enumerate(self._run(cases, FOLLOWED)):
            for case in cases:
                wanted = rows[case.topic]["tasks_needed"] if case.topic in rows else None
                needed[case.topic].append(wanted)
                if wanted is not None and run >= _LOOKED_AT:
                    self._plant.set_members(case.topic, min(max(wanted, 1), MOST))
        self._plant.end_groups()
        tried = self._try({case: needed[case.topic][-1] for case in cases})
        self._plant.end_topics()
        return [
            Advice(case, needed[case.topic], rows[case.topic], tried[case.topic]) for case in cases
        ]

    def watch(self, cases: Sequence[Case], runs: int = LIMITED) -> list[Row]:
        """The newest row of each group, which has its members from first to last."""
        self._begin(cases)
        *_, rows = self._run(cases, runs)
        self._end()
        return [rows[case.topic] for case in cases]

    def add_members(self, cases: Sequence[Case]) -> list[list[Row]]:
        """All rows of groups that get as many members as they grow to."""
        self._begin(cases)
        found: list[list[Row]] = [[] for _ in cases]
        for number, rows in enumerate(self._run(cases, 2 * SHARED)):
            for case, of_case in zip(cases, found, strict=True):
                if case.topic in rows:
                    of_case.append(rows[case.topic])
                if number == SHARED and case.grows_to is not None:
                    self._plant.set_members(case.topic, case.grows_to)
        self._end()
        return found

    def _end(self) -> None:
        self._plant.end_groups()
        self._plant.end_topics()

    def _begin(self, cases: Sequence[Case]) -> None:
        """Topics that are written to, and the cases' groups, once enough lies there."""
        admin = self._cluster.admin()
        new = [NewTopic(case.topic, len(case.shares), 1) for case in cases]
        for future in admin.create_topics(new).values():
            future.result()
        began, longest = time.monotonic(), max(case.behind for case in cases)
        for case in sorted(cases, key=lambda case: -case.behind):
            starts = began + (longest - case.behind) * self._minute
            time.sleep(max(starts - time.monotonic(), 0.0))
            self._plant.write(case)
        time.sleep(max(began + longest * self._minute - time.monotonic(), 0.0))
        for case in cases:
            self._plant.open_group(case, case.topic, case.start)

    def _try(self, advised: Mapping[Case, int | None]) -> dict[str, dict[int, float]]:
        """By topic and members the oldest age, minutes."""
        names: dict[tuple[str, int], str] = {}
        for case, advice in advised.items():
            for number in numbers_to_try(advice, MOST) if advice is not None else ():
                names[case.topic, number] = f"{case.topic}.{number}"
                self._plant.open_group(case, f"{case.topic}.{number}", number, from_start=False)
        time.sleep(JOINING * self._minute)
        ages: dict[tuple[str, int], list[float]] = {key: [] for key in names}
        for _ in range(TRIED):
            time.sleep(self._minute)
            for key, name in names.items():
                ages[key].append(self._plant.age(name))
        self._plant.end_groups()
        found: dict[str, dict[int, float]] = {case.topic: {} for case in advised}
        for (topic, number), of_group in ages.items():
            found[topic][number] = max(of_group)
        return found

    def _run(self, cases: Sequence[Case], runs: int) -> Iterator[Mapping[str, Row]]:
        """The rows of the cases' groups by name, run by run."""
        rules = _rules(cases)
        memory = Memory.empty()
        last = self._clock.wait_for_run() + runs * 60_000
        taken_at = 0
        while taken_at < last:
            taken_at = self._clock.wait_for_run()
            request = ReadRequest(groups=rules.groups, topics=rules.topics, taken_at=taken_at)
            reading = self._source.read(request, time.monotonic() + _WITHIN)
            report = evaluate(reading, memory.previous_runs(), rules, taken_at)
            memory = memory.add_run(report.snapshot, rules.interval_ms, stored=True)
            yield {row["consumer_group"]: row for row in report.snapshot.groups.to_dicts()}


def _client(cluster: KafkaCluster) -> Mapping[str, object]:
    return cluster.client_config(protocol="PLAINTEXT")


def _rules(cases: Sequence[Case]) -> Rules:
    mine = re.compile("^(" + "|".join(re.escape(case.topic) for case in cases) + ")$")
    tasks = ByName.of([("", TaskSettings(catch_up_seconds=PROMISE * 60))])
    return Rules(groups=NameFilter(mine), topics=NameFilter(mine), lookup_budget=0, tasks=tasks)
