# SPDX-License-Identifier: Apache-2.0
"""Share groups have the lag of Kafka's own tool, whatever happened to their records."""

from __future__ import annotations

import fcntl
import subprocess
import termios
import time
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from confluent_kafka import Producer
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType

from dev.kafka import KafkaCluster
from dev.kafka.cluster import quick_start
from dev.kafka.jars import DEAD_LETTER_QUEUE, SHARE_LAG, kafka_server
from kafka_lag.lag.model import LagReport
from tests.dev.cluster_fixture import STEADY
from tests.kafka.looking import (
    ANSWERED_WITHIN,
    create,
    group,
    looker,
    partitions,
    produce,
)
from tests.kafka_versions import needs

pytestmark = [pytest.mark.kafka, pytest.mark.thorough, needs(SHARE_LAG)]

_STATE_TOPIC = "share.coordinator.state.topic"
_SETTINGS = {
    **STEADY,
    f"{_STATE_TOPIC}.replication.factor": "1",
    f"{_STATE_TOPIC}.min.isr": "1",
    f"{_STATE_TOPIC}.num.partitions": "3",
    # Records that are held stay so for the whole test, except those of a group with its own time.
    "group.share.record.lock.duration.ms": "600000",
    "group.share.max.record.lock.duration.ms": "3600000",
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.delivery.count.limit": "2",
}
PARTITIONS, MORE, RECORDS = 18, 20, 10
ALL = str(PARTITIONS * RECORDS)
# What becomes of the records of each group, by the options of members that come one after another:
# not all that they are delivered is finished.
GROUPS: dict[str, Sequence[Sequence[str]]] = {
    "untouched": (),
    "read": (("--max-messages", ALL),),
    "in part": (("--max-messages", "57"),),
    "rejected": (("--reject", "--max-messages", ALL),),
    "released": (("--release", "--max-messages", ALL),),
    "delivered too often": (("--release", "--max-messages", ALL),) * 2,
    "of two topics": (("--max-messages", ALL), ("--topic", "more-jobs", "--max-messages", "70")),
    "with dead letters": (("--reject", "--max-messages", ALL),),
}
# Members that stay hold records: of the first group for the whole test, of the other for a second.
HELD, EXPIRED = "held", "expired"
STAYING = (HELD, EXPIRED)
DEAD_LETTERS = "dlq.jobs"
Said = dict[tuple[str, str, int], tuple[int | None, int | None]]


class _Tools:
    """Kafka's own programs on one cluster."""

    def __init__(self, cluster: KafkaCluster) -> None:
        server = kafka_server()
        self._java = ["java", *quick_start(server), "-cp", server.class_path]
        self._servers = ["--bootstrap-server", cluster.bootstrap("PLAINTEXT")]

    def _command(self, program: str, *options: str) -> list[str]:
        return [*self._java, f"org.apache.kafka.tools.consumer.{program}", *self._servers, *options]

    def share_groups(self, *options: str) -> str:
        """Returns the output of kafka-share-groups."""
        command = self._command("group.ShareGroupCommand", *options)
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def say(self) -> Said:
        """Start offset and lag of each partition."""
        said: Said = {}
        for line in self.share_groups("--describe", "--all-groups").splitlines():
            cells = line.rsplit(maxsplit=4)
            if len(cells) == 5 and cells[2].isdigit():
                start, lag = (None if cell == "-" else int(cell) for cell in cells[3:])
                said[cells[0], cells[1], int(cells[2])] = start, lag
        return said

    @contextmanager
    def member(self, name: str, *options: str) -> Iterator[subprocess.Popen[bytes]]:
        """A member of the group, ended at the end; nobody reads what it prints."""
        topic = () if "--topic" in options else ("--topic", "jobs")
        options = (*topic, "--group", name, *options)
        command = self._command("ConsoleShareConsumer", *options)
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            try:
                yield process
            finally:
                process.kill()


@pytest.fixture(name="looks", scope="module")
def _looks() -> Iterator[tuple[Said, LagReport, Said]]:
    """The tool, then us, then the tool, while one member holds records and another reads on."""
    with KafkaCluster(brokers=1, settings=_SETTINGS) as cluster:
        tools = _Tools(cluster)
        create(cluster, "jobs", PARTITIONS)
        create(cluster, "more-jobs", MORE)
        produce(cluster, "jobs", dict.fromkeys(range(PARTITIONS), RECORDS))
        produce(cluster, "more-jobs", dict.fromkeys(range(MORE), RECORDS))
        _configure(cluster, EXPIRED, "share.record.lock.duration.ms", "1000")
        if not DEAD_LETTER_QUEUE.missing:
            create(cluster, DEAD_LETTERS, config={"errors.deadletterqueue.group.enable": "true"})
            setting = "errors.deadletterqueue.topic.name"
            _configure(cluster, "with dead letters", setting, DEAD_LETTERS)
        every = [(name, "jobs") for name in [*GROUPS, *STAYING]]
        for name, topic in [*every, ("of two topics", "more-jobs")]:
            reset = ("--reset-offsets", "--to-earliest", "--topic", topic, "--execute")
            tools.share_groups("--group", name, *reset)
        for name, members in GROUPS.items():
            for options in members:
                with tools.member(name, *options, "--timeout-ms", "10000") as process:
                    process.communicate(timeout=ANSWERED_WITHIN)
        yield from _while_held(cluster, tools)


def _configure(cluster: KafkaCluster, name: str, setting: str, value: str) -> None:
    """Gives a group a setting of its own."""
    admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap("PLAINTEXT"))
    group_of = ConfigResource(ConfigResourceType.GROUP, name, {setting: value})
    admin.alter_configs([group_of], raise_on_unknown=False, incremental=True)
    admin.close()


def _while_held(cluster: KafkaCluster, tools: _Tools) -> Iterator[tuple[Said, LagReport, Said]]:
    # The pipe of a member that nobody reads is full after some of these, and it holds the others.
    _produce_long(cluster, 1_000)
    with tools.member(HELD) as holding, tools.member(EXPIRED) as expiring:
        deadline = time.monotonic() + ANSWERED_WITHIN
        while not (_is_full(holding) and _is_full(expiring)):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        with tools.member(HELD, "--timeout-ms", "3000") as process:
            process.communicate(timeout=ANSWERED_WITHIN)
        with looker(cluster) as eyes:
            before, report, after = tools.say(), eyes.look(), tools.say()
            while before != after:
                assert time.monotonic() < deadline
                before, report, after = tools.say(), eyes.look(), tools.say()
            yield before, report, after


def _is_full(process: subprocess.Popen[bytes]) -> bool:
    """Whether the pipe of this process holds nearly all that it can, 64 KiB."""
    waiting = array("i", [0])
    fcntl.ioctl(process.stdout, termios.FIONREAD, waiting)  # type: ignore[arg-type]
    return waiting[0] > 50_000


def _produce_long(cluster: KafkaCluster, count: int) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap("PLAINTEXT"), "log_level": 0})
    for number in range(count):
        producer.produce("jobs", b"x" * 1_000, partition=0)
        if number % 50 == 0:
            producer.flush(ANSWERED_WITHIN)
    assert producer.flush(ANSWERED_WITHIN) == 0


def test_start_offset_and_lag_are_those_of_kafkas_tool(
    looks: tuple[Said, LagReport, Said],
) -> None:
    said, report, _ = looks
    ours = {
        (name, *where): (row["committed_offset"], row["lag"])
        for name in [*GROUPS, *STAYING]
        for where, row in partitions(report, name).items()
    }
    assert ours == said
    assert len(said) == PARTITIONS * len([*GROUPS, *STAYING]) + MORE == 200
    # Whether records are finished out of order depends on which partitions each member got.
    assert {lag == 0 for _, lag in said.values()} == {True, False}


def test_members_and_the_time_lag_of_the_start_offset_are_known(
    looks: tuple[Said, LagReport, Said],
) -> None:
    _, report, _ = looks
    members = {name: group(report, name)["members"] for name in [*GROUPS, *STAYING]}
    assert members == dict.fromkeys(GROUPS, 0) | dict.fromkeys(STAYING, 1)
    assert {row["member_id"] for row in partitions(report, HELD).values()} == {"shared"}
    for name in [*GROUPS, *STAYING]:
        for row in partitions(report, name).values():
            assert (row["time_lag_seconds"] > 0) == (row["lag"] > 0)


@needs(DEAD_LETTER_QUEUE)
def test_rejected_records_lie_in_the_queue_of_dead_letters(
    looks: tuple[Said, LagReport, Said],
) -> None:
    _, report, _ = looks
    rows = report.snapshot.topic_partitions
    ends = dict(
        zip(rows.strings("topic").to_list(), rows.numbers("end_offset").to_list(), strict=True)
    )
    assert ends[DEAD_LETTERS] == int(ALL)
