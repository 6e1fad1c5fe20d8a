# SPDX-License-Identifier: Apache-2.0
"""Records readings of three real brokers under traffic, with one fault after another.

Some seven minutes at a run every eight seconds, the interval that the document says; what is
counted in minutes elsewhere is counted in these intervals.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AclOperation, NewPartitions, NewTopic, ResourceType

from dev.compare import readings
from dev.compare.readings import Reading, Run, to_list
from dev.compare.report_days import plain
from dev.kafka import KafkaCluster
from dev.kafka.access import acl
from dev.traffic.traffic import Traffic
from kafka_lag.brokers.access import Credentials
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.source import KafkaSource, quiet_library
from kafka_lag.collector import Collector
from kafka_lag.errors import ReporterError
from kafka_lag.lag.model import ClusterReading, Problem
from kafka_lag.settings import settings_of
from kafka_lag.snapshots.store import FolderStore
from kafka_lag_cdk.config.document import normalised

RUNS, INTERVAL = 52, 8
_AGAIN, _GONE = "recreated", "deleted-group"
_ANSWERS_WITHIN = 15.0

Say = Callable[[str], None]


def document(servers: str, cafile: str) -> dict[str, Any]:
    """The collector's document; a replay connects to nobody."""
    return {
        "cluster": "recorded",
        "bootstrap_servers": servers.split(","),
        "cafile": cafile,
        "secret_id": "AmazonMSK_recorded",
        "interval_seconds": INTERVAL,
        "deadline_seconds": 7,
        "broker_timeout_seconds": 1.5,
        "allowed_lag": {"transactional": 1},
        "owner": {"^slow$": "Team Slow"},
        "sla_seconds": {"^slow$": 60},
        "uncommitted": {"^kip848$": "earliest"},
        "levels": {"drain_time": True, "members": True, "rebalancing": True},
    }


class RecordingSource:
    """A real source whose readings are kept."""

    def __init__(self, source: KafkaSource) -> None:
        self._source = source
        self.reading: ClusterReading | None = None

    def read(self, request: Any, deadline: float) -> ClusterReading:
        """What the brokers say."""
        self.reading = None
        self.reading = self._source.read(request, deadline)
        return self.reading

    def look_up(self, requests: Any, deadline: float) -> Any:
        """What the time index says; the logs are kept instead of it."""
        return self._source.look_up(requests, deadline)

    def not_responding(self) -> tuple[Problem, ...]:
        """The brokers that look-ups were lost on."""
        return self._source.not_responding()


class Warnings:
    """Where the collector's warnings go."""

    def __init__(self, say: Say) -> None:
        self._say = say

    def warning(self, message: str, /) -> None:
        """Says it."""
        self._say(f"  {message}")


class Tail(threading.Thread):
    """Reads (offset, timestamp) of every record that anybody writes, as it is written."""

    def __init__(self, servers: str) -> None:
        super().__init__(daemon=True)
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": "tail",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "isolation.level": "read_uncommitted",
                "topic.metadata.refresh.interval.ms": 2_000,
                "log_level": 0,
            }
        )
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._assigned: set[tuple[str, int]] = set()
        self._generation: dict[str, int] = {}
        self.logs: dict[tuple[str, int, int], tuple[list[int], list[int]]] = {}

    def run(self) -> None:
        """Until it is closed, new topics and partitions included."""
        looked = 0.0
        while not self._ended.is_set():
            if time.monotonic() - looked > 1.0:
                looked = time.monotonic()
                with suppress(Exception):
                    self._assign()
            for message in self._consumer.consume(2_000, timeout=0.2):
                if message.error() is None:
                    self._keep(message)
        self._consumer.close()

    def forget(self, topic: str) -> None:
        """The topic is about to be deleted: what comes under its name is another one's."""
        with self._lock:
            mine = [each for each in self._assigned if each[0] == topic]
            self._consumer.incremental_unassign([TopicPartition(*each) for each in mine])
            self._assigned -= set(mine)
            self._generation[topic] = self._generation.get(topic, 0) + 1

    def close(self) -> None:
        """Ends the thread."""
        self._ended.set()
        self.join(_ANSWERS_WITHIN)

    def _assign(self) -> None:
        topics = self._consumer.list_topics(timeout=2.0).topics
        with self._lock:
            there = {
                (name, number)
                for name, topic in topics.items()
                for number in topic.partitions
                if not name.startswith("__") and topic.error is None
            }
            new = there - self._assigned
            if new:
                self._consumer.incremental_assign([TopicPartition(t, p, 0) for t, p in new])
                self._assigned |= new

    def _keep(self, message: Any) -> None:
        with self._lock:
            topic = message.topic()
            key = topic, self._generation.get(topic, 0), message.partition()
            offsets, times = self.logs.setdefault(key, ([], []))
            offsets.append(message.offset())
            times.append(message.timestamp()[1])


class Faults:
    """What happens before which run."""

    def __init__(self, cluster: KafkaCluster, tail: Tail) -> None:
        self._cluster, self._tail = cluster, tail
        self._admin = cluster.admin()

        def _each(change: Callable[[int], None]) -> None:
            for node in cluster.node_ids:
                change(node)

        self._producer = Producer(
            {"bootstrap.servers": cluster.bootstrap("PLAINTEXT"), "log_level": 0}
        )
        describe = AclOperation.DESCRIBE
        self._no_group = acl("monitor", ResourceType.GROUP, "slow", describe, allow=False)
        topic = "orders-skewed"
        self._no_topic = acl("monitor", ResourceType.TOPIC, topic, describe, allow=False)
        self.at: Mapping[int, Callable[[], object]] = {
            2: self.create,
            10: lambda: cluster.pause(2),
            13: lambda: cluster.resume(2),
            16: lambda: cluster.kill(3),
            20: lambda: cluster.start(3),
            24: lambda: cluster.add_acl(self._no_group),
            25: lambda: cluster.add_acl(self._no_topic),
            28: lambda: cluster.remove_acl(self._no_group),
            29: lambda: cluster.remove_acl(self._no_topic),
            30: self.recreate,
            33: lambda: self._wait(self._admin.delete_consumer_groups([_GONE])),
            34: self.extend,
            36: lambda: self.commit("stopped", "orders-stopped", [0, 0, 0]),
            38: lambda: self.commit("idle", "orders-idle", [10_000]),
            40: lambda: _each(cluster.pause),
            42: lambda: _each(cluster.resume),
            44: self.purge,
            47: self.write,
        }

    def create(self) -> None:
        """A topic with a group that nobody is in, and another group to delete."""
        self._wait(self._admin.create_topics([NewTopic(_AGAIN, 6, replication_factor=1)]))
        self.write()
        self.commit(_AGAIN, _AGAIN, [50, 20, 100, 5, 0, 1])
        self.commit(_GONE, _AGAIN, [10, 10])

    def write(self) -> None:
        """A hundred records to each partition."""
        for number in range(600):
            self._producer.produce(_AGAIN, b"x", partition=number % 6)
        self._producer.flush(_ANSWERS_WITHIN)

    def recreate(self) -> None:
        """Deleted and made anew under the same name, with fewer records than were committed."""
        self._tail.forget(_AGAIN)
        self._wait(self._admin.delete_topics([_AGAIN]))
        # A broker refuses the name for as long as it still deletes.
        for _ in range(50):
            with suppress(Exception):
                self._wait(self._admin.create_topics([NewTopic(_AGAIN, 6, replication_factor=1)]))
                break
        self._producer.produce(_AGAIN, b"x", partition=0)
        self._producer.flush(_ANSWERS_WITHIN)

    def extend(self) -> None:
        """Two more partitions."""
        self._wait(self._admin.create_partitions([NewPartitions("orders-slow", 5)]))

    def commit(self, group: str, topic: str, offsets: list[int]) -> None:
        """Commits of a group without members, wherever they are."""
        wanted = [TopicPartition(topic, number, each) for number, each in enumerate(offsets)]
        request = [ConsumerGroupTopicPartitions(group, wanted)]
        self._wait(self._admin.alter_consumer_group_offsets(request))

    def purge(self) -> None:
        """The records before 500 of a partition that a group has not read."""
        self._wait(self._admin.delete_records([TopicPartition("orders-stopped", 0, 500)]))

    def _wait(self, futures: Mapping[Any, Any]) -> None:
        for future in futures.values():
            future.result(_ANSWERS_WITHIN)


def record(folder: Path, say: Say) -> None:
    """Runs the whole recording and writes it to `folder`."""
    quiet_library()
    with KafkaCluster(brokers=3) as cluster, Traffic(cluster):
        tail = Tail(cluster.bootstrap("PLAINTEXT"))
        tail.start()
        given = document(cluster.bootstrap(), str(cluster.cafile))
        with tempfile.TemporaryDirectory() as place:
            runs = _record(cluster, tail, given, Path(place), say)
        tail.close()
        logs = _logs(tail, runs)
    kept = {**given, "bootstrap_servers": ["recorded:9096"]}
    del kept["cafile"]
    readings.store(folder, kept, runs, logs)


def _record(
    cluster: KafkaCluster, tail: Tail, given: dict[str, Any], place: Path, say: Say
) -> list[Run]:
    settings = settings_of(normalised(given))
    monitor = cluster.users["monitor"]
    login = FixedCredentials(Credentials(monitor.username, monitor.password))
    source = RecordingSource(KafkaSource(settings.access, login))
    # The collector asks only for what earlier runs knew, so that a whole one is needed.
    collector = Collector(settings, source, FolderStore(place), [], Warnings(say))
    faults, runs = Faults(cluster, tail), []
    due = (int(time.time()) // INTERVAL + 1) * INTERVAL
    for number in range(RUNS):
        due = max(due + INTERVAL, (int(time.time()) // INTERVAL) * INTERVAL)
        time.sleep(max(0.0, due - time.time()))
        # Right before the read, so that it meets the fault before the cluster has worked around it.
        if number in faults.at:
            say(f"run {number}: a fault begins or ends")
            faults.at[number]()
        error = ""
        try:
            collector.run(due * 1000)
        except ReporterError as failure:
            error = str(failure)
        read = source.reading
        runs.append(Run(due * 1000, plain(read) if read is not None else error))
        say(f"run {number} of {RUNS}: {error or 'read'}")
    return runs


def _logs(tail: Tail, runs: list[Run]) -> readings.Logs:
    """The tail's logs by topic id, of which a name had one after another."""
    ids: dict[str, dict[str | None, None]] = {}
    for run in runs:
        if isinstance(run.reading, Reading):
            table = run.reading.tables["topic_partitions"]
            for topic, known in zip(
                to_list(table["topic"]), to_list(table["topic_id"]), strict=True
            ):
                ids.setdefault(topic, {})[known] = None
    found = {}
    for (topic, generation, partition), (offsets, times) in tail.logs.items():
        own = list(ids.get(topic, {}))
        if generation < len(own):
            log = np.array(offsets, np.int64), np.array(times, np.int64)
            found[topic, own[generation], partition] = log
    return found
