# SPDX-License-Identifier: Apache-2.0
"""Topics and groups at work while faults happen, by `dev.sim.live`, and faults on them.

Clients use the listener without proxies, so that faults between collector and brokers do not reach
them.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from threading import Lock, Thread
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import NewPartitions

from dev.kafka import KafkaCluster, KafkaClusterError
from dev.kafka.access import wait_for
from dev.kafka.jars import CONSUMER_PROTOCOL
from dev.kafka.readiness import wait_until
from dev.kafka.records import commit_offsets, delete_records
from dev.sim.live.logs import Log
from dev.sim.live.planting import TOPIC, Planted, read_scenarios
from dev.truth.scenarios import read_logs

PREFIX = "faulty-"
# A record is sent until it is acknowledged, and acknowledged once no fault can take it back.
_SURELY = {"acks": "all", "enable.idempotence": True, "message.timeout.ms": 0}
# Records that are under way when a topic is deleted are acknowledged by then.
_LANDS_WITHIN = 2.0
_STOPS_WITHIN = 90.0
_MOST_PARTITIONS = 6
_SCENARIOS = """
faulty steady | all records are read at once
    topic rates=3,3,3,3 min.insync.replicas=2; group members=2 ms=1
faulty behind | one member is too slow
    topic rates=3,3,3 min.insync.replicas=2; group members=1 ms=400
faulty bursts | records come all five seconds
    topic rates=3,3,3,3 batch_seconds=150 min.insync.replicas=2; group members=1 ms=1
faulty idle | hardly a record comes
    topic rates=0,0,0 min.insync.replicas=2; write 20 5m 1m; group members=1 ms=1
faulty churn | faults delete it and add partitions
    topic rates=3,3 min.insync.replicas=2
faulty transactions | records are written in transactions, some of them aborted
    topic rates=0,0 min.insync.replicas=2; group members=1 ms=1
faulty kip848 | all records are read at once, by the protocol of KIP-848
    topic rates=3,3,3 min.insync.replicas=2; group members=2 ms=1 protocol=consumer
"""
# Groups without members commit by so many records less than the end, or rest, or go back.
_HABITS = {"ends": 0, "near": 2, "far": 40, "rests": 0, "wanders": 5}
CHURN, TRANSACTIONS = "faulty-churn", "faulty-transactions"


class Traffic(Planted):
    """A context manager: all of it at work, and written down in `history`."""

    def __init__(self, cluster: KafkaCluster, seed: int) -> None:
        scenarios = read_scenarios(_SCENARIOS)
        if CONSUMER_PROTOCOL.missing:
            del scenarios[-1]
        super().__init__(cluster, scenarios, _SURELY, seed=seed)
        self.errors, self._threads = list[str](), list[Thread]()
        self._cluster, self._rng = cluster, random.Random(seed)  # noqa: S311 - traffic, not secrets
        self._by_prefix = {on.prefix: on for _, on in self.on}
        self.topics = {f"{prefix}.{TOPIC}": on for prefix, on in self._by_prefix.items()}
        self.committers = [f"{PREFIX}{habit}-{n}" for n in range(2) for habit in _HABITS]
        # A fault holds it while it deletes topics or groups, so that no commit is made meanwhile.
        self._committing = Lock()

    def __enter__(self) -> Self:
        super().__enter__()
        for act in (self._commit, self._write_transactions):
            self._threads.append(Thread(target=self._run, args=(act,), daemon=True))
            self._threads[-1].start()
        return self

    @property
    def groups(self) -> list[str]:
        """Returns all groups, with members and without."""
        return [*self.committers, *(name for _, on in self.on for name in on.names.values())]

    def finish(self) -> None:
        """Ends the writing, and reads back the brokers' commits and records."""
        self.scene.over.set()
        for thread in self._threads:
            thread.join(_STOPS_WITHIN)
        self.scene.writer.streams.clear()
        time.sleep(_LANDS_WITHIN)
        read_logs(self._cluster, self.history)

    def recreate(self, pause: float) -> None:
        """Deletes a topic, and creates it again after so many seconds."""
        on, topic = self._by_prefix[CHURN], f"{CHURN}.{TOPIC}"
        self.scene.writer.streams.pop(topic)
        time.sleep(_LANDS_WITHIN)
        with self._committing:
            logs = self._logs(topic)
            on.delete()
            for log in logs:
                log.over = time.time()
            time.sleep(pause)
            admin = self._cluster.admin()
            wait_until(lambda: topic not in admin.list_topics(timeout=5).topics, what="it gone")
            on.create_topics()
        self.scene.writer.add(topic, on.case.topics[TOPIC])

    def extend(self) -> bool:
        """Adds a partition; returns whether there was room for one."""
        topic = f"{CHURN}.{TOPIC}"
        logs, stream = self._logs(topic), self.scene.writer.streams[topic].topic
        if len(logs) >= _MOST_PARTITIONS:
            return False
        begun = time.time()
        more = [NewPartitions(topic, len(logs) + 1)]
        wait_for(self._cluster.admin().create_partitions(more))
        self.history.logs[topic, len(logs)].append(Log(begun))
        self.scene.writer.add(topic, replace(stream, rates=(*stream.rates, stream.rates[0])))
        return True

    def purge(self, topic: str, left: int) -> bool:
        """Deletes all records of a partition but the last few; returns whether there were any."""
        number = self._rng.randrange(len(self._logs(topic)))
        log = self._logs(topic)[number]
        before, first = _end(log) - left, log.starts[-1][1] if log.starts else 0
        if before <= first:
            return False
        delete_records(self._cluster.admin(), {(topic, number): before})
        log.starts.append((time.time(), before))
        return True

    def delete_group(self) -> None:
        """Deletes a group without members, which commits again soon."""
        with self._committing:
            name = self._rng.choice(self.committers)
            wait_for(self._cluster.admin().delete_consumer_groups([name]))

    def rewind(self) -> None:
        """Lets a group without members commit what lies before its last commits."""
        self._commit_once(self._rng.choice(self.committers), 60)

    def _logs(self, topic: str) -> list[Log]:
        logs = sorted(self.history.logs.items())
        return [each[-1] for at, each in logs if at[0] == topic and each[-1].over > time.time()]

    def _commit_once(self, group: str, behind: int) -> None:
        with self._committing:
            topics = self._rng.sample(sorted(self.topics), 3)
            commit_offsets(
                self._cluster.admin(),
                {
                    group: {
                        (topic, number): max(0, _end(log) - self._rng.randint(behind // 2, behind))
                        for topic in topics
                        for number, log in enumerate(self._logs(topic))
                    }
                },
            )

    def _commit(self) -> None:
        """Commits for groups without members, each by its habit."""
        for group in self.committers:
            self._commit_once(group, 10)
        while not self.scene.over.wait(self._rng.uniform(0.05, 0.3)):
            group = self._rng.choice(self.committers)
            habit = group.removeprefix(PREFIX).rpartition("-")[0]
            if habit == "rests" and self._rng.randrange(50):
                continue
            with suppress(TimeoutError, KafkaException):
                self._commit_once(group, _HABITS[habit])

    def _write_transactions(self) -> None:
        while not self.scene.over.wait(self._rng.uniform(0.5, 2.0)):
            then = self._rng.choice(("aborts", *4 * ("commits",)))
            with suppress(KafkaException, KafkaClusterError):
                self._by_prefix[TRANSACTIONS].write_transaction(2, 0.0, 0.0, then)

    def _run(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception as error:  # noqa: BLE001 - without this thread nothing moves
            self.errors.append(f"traffic failed: {type(error).__name__}: {error}")


def _end(log: Log) -> int:
    return log.offsets[-1] + 1 if log.offsets else 0
