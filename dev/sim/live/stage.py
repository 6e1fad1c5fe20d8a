# SPDX-License-Identifier: Apache-2.0
"""One case on real brokers: its topics, its members, and its events."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from dev.faults.elections import elect_first
from dev.faults.proxy import Proxies
from dev.kafka import KafkaCluster
from dev.kafka.access import wait_for
from dev.kafka.readiness import NEVER_TIMES_OUT, wait_for_topics, wait_until
from dev.kafka.records import commit_offsets, listed, read_commits
from dev.sim import events as on
from dev.sim.events import RECORD_BYTES, SHORTENED, Case, Event, Group
from dev.sim.live.member import CRASHED, Orders, run_member
from dev.sim.live.writer import Writer

_ANSWERS_WITHIN = 30.0
_LEAVES_WITHIN = 15.0
_COMES_BACK_AFTER = 1.0
_POLLS_WITHIN_MS = 600_000
# A member on a slow line gets so many bytes of a partition in each answer. On disk a record takes
# some bytes more than its value.
_SMALL_PIECES, _MORE_BYTES, _MORE_BYTES_IN_LOG = 2_000, 10, 15
_TRANSACTION_MS = 900_000
# Only whole segments are deleted.
_ROLLS_SOON = {"segment.ms": "2000", "segment.bytes": str(1024 * 1024)}

# Members are forked from a small process: a hundred of them start in seconds.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["dev.sim.live.member"])


@dataclass(slots=True)
class Scene:
    """The parts that all cases of a wave share; `errors` are pairs of a case and its fault."""

    cluster: KafkaCluster
    writer: Writer
    proxies: Proxies
    over: threading.Event = field(default_factory=threading.Event)
    errors: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class _Member:
    process: Any
    control: Connection

    def order(self, orders: Orders) -> None:
        with suppress(OSError):
            self.control.send(orders)

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError, TypeError):
            os.kill(self.process.pid, number)


class Members:
    """The members of a group by number; a new one gets the orders that hold for all."""

    def __init__(self, name: str, topic: str, group: Group, config: Mapping[str, Any]) -> None:
        self.name, self.topic = name, topic
        self._group, self._config = group, dict(config)
        self._orders: list[Orders] = []
        self._members: dict[int, _Member] = {}
        self.lock = threading.RLock()

    @property
    def numbers(self) -> list[int]:
        """Returns the numbers of the present members."""
        return sorted(self._members)

    def start(self, number: int, ms: float | None = None) -> None:
        """Starts a member in its own process."""
        ours, theirs = _PROCESSES.Pipe()
        config = {**self._config, "client.id": f"{self.name}-{number}"}
        each = self._group.workers == "each"
        process = _PROCESSES.Process(
            target=run_member,
            args=(config, self.topic, theirs, ms or self._group.ms, each),
            daemon=True,
        )
        process.start()
        theirs.close()
        with self.lock:
            self._members[number] = member = _Member(process, ours)
            for orders in self._orders:
                member.order(orders)

    def order(self, orders: Orders, numbers: Iterable[int] | None = None) -> None:
        """Orders these members; without numbers, all present and later members."""
        with self.lock:
            if numbers is None:
                self._orders.append(orders)
            for number in self.numbers if numbers is None else numbers:
                self._members[number].order(orders)

    def forget_orders(self) -> None:
        """Lets members that come later work as the first ones did."""
        self._orders.clear()

    def signal(self, number: int, numbers: Iterable[int] | None = None) -> None:
        """Sends a signal to the processes of these members, or of all."""
        for each in self.numbers if numbers is None else numbers:
            self._members[each].signal(number)

    def leave(self, numbers: Iterable[int] | None = None) -> None:
        """Lets them leave in good order; returns when they are gone."""
        with self.lock:
            leaving = [*(self.numbers if numbers is None else numbers)]
            gone = [self._members.pop(each) for each in leaving if each in self._members]
        for member in gone:
            member.order(Orders(leaves=True))
        for member in gone:
            member.process.join(_LEAVES_WITHIN)
            if member.process.is_alive():
                member.signal(signal.SIGKILL)

    def move(self, topic: str) -> None:
        """Lets all leave, and as many join that read another topic from its end."""
        numbers = self.numbers
        self.leave()
        self.topic, self._config["auto.offset.reset"] = topic, "latest"
        for number in numbers:
            self.start(number)

    def kill(self, numbers: Iterable[int] | None = None) -> None:
        """Ends their processes at once."""
        with self.lock:
            for each in [*(self.numbers if numbers is None else numbers)]:
                if member := self._members.pop(each, None):
                    member.signal(signal.SIGKILL)
                    member.process.join(_LEAVES_WITHIN)

    def take_crashed(self) -> list[int]:
        """Returns and removes the members that crashed since the last call."""
        with self.lock:
            found = [n for n, m in self._members.items() if m.process.exitcode == CRASHED]
            for number in found:
                del self._members[number]
        return found


class Stage:
    """A case whose topics and groups have a prefix before their names."""

    def __init__(self, case: Case, prefix: str, scene: Scene) -> None:
        self.case, self.prefix, self._scene = case, prefix, scene
        # When brokers stopped, when the others saw them again, in ms since 1970, and which.
        self.downs: list[tuple[float, float, int]] = []
        self._topics = {name: self.name_of(name) for name in case.topics}
        self.names = {name: self.name_of(name) for name in case.groups}
        self._members = {
            name: Members(
                self.names[name], self._topics[group.topic], group, self._configure(name, group)
            )
            for name, group in case.groups.items()
        }

    def name_of(self, name: str) -> str:
        """Returns the name on brokers of a topic or a group of the case."""
        return f"{self.prefix}.{name}"

    def set_up(self) -> None:
        """Creates topics, writes them, and starts the members."""
        self.create_topics()
        self.start()

    def create_topics(self) -> None:
        """Creates the topics; returns when each broker knows them."""
        new = [self._new_topic(name) for name in self.case.topics]
        admin = self._scene.cluster.admin()
        wait_for(admin.create_topics(new, request_timeout=_ANSWERS_WITHIN))
        wait_for_topics(self._scene.cluster.bootstrap("PLAINTEXT"), list(self._topics.values()))

    def start(self) -> None:
        """Begins to write the topics, and starts the members."""
        for name, topic in self.case.topics.items():
            self._scene.writer.add(self._topics[name], topic)
        for name, group in self.case.groups.items():
            for number in range(group.members):
                self._members[name].start(number)

    def has_joined(self) -> bool:
        """Returns whether all members of each group own partitions."""
        futures = self._scene.cluster.admin().describe_consumer_groups(
            list(self.names.values()), request_timeout=NEVER_TIMES_OUT
        )
        for name, group in self.case.groups.items():
            found = futures[self.names[name]].result(_ANSWERS_WITHIN)
            # The client library has no name for the state of KIP-848's groups that assign.
            settled = found.state.name == "STABLE" or group.protocol == "consumer"
            owned = {at for member in found.members for at in member.assignment.topic_partitions}
            every = len(self.case.topics[group.topic].rates)
            if not settled or len(found.members) != group.members or len(owned) != every:
                return False
        return True

    def tear_down(self) -> None:
        """Ends all members and the writing."""
        for name in self._topics.values():
            self._scene.writer.streams.pop(name, None)
        for members in self._members.values():
            members.kill()

    def delete(self) -> None:
        """Deletes the topics."""
        futures = self._scene.cluster.admin().delete_topics(
            list(self._topics.values()), operation_timeout=_ANSWERS_WITHIN
        )
        for future in futures.values():
            future.exception(_ANSWERS_WITHIN)

    def begin(self) -> None:
        """Lets the events happen from now on, each in its own thread."""
        for seconds, event in self.case.happens:
            self._later(seconds, partial(self.let_happen, event))
        if any(isinstance(event, on.Poison) for _, event in self.case.happens):
            self._later(0.0, self._supervise)

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        def run() -> None:
            if self._waits(seconds):
                return
            try:
                act()
            except Exception as error:  # noqa: BLE001 - the case did not happen, and says so
                self._scene.errors.append((self.case.name, f"{type(error).__name__}: {error}"))

        threading.Thread(target=run, daemon=True, name=self.case.name).start()

    def _waits(self, seconds: float) -> bool:
        """Waits so many seconds of the world; returns whether the wave is over."""
        return self._scene.over.wait(seconds / SHORTENED)

    def let_happen(self, event: Event) -> None:
        """Lets an event happen, and undoes it once it is over."""
        undo, lasts = self._change(event), getattr(event, "lasts", None)
        if undo is not None and lasts is not None:
            self._later(lasts, undo)

    def _change(self, event: Event) -> Callable[[], None] | None:
        """Makes the event happen; returns a function that undoes it, or None."""
        topics, members = self._topics, self._members
        match event:
            case on.Produce(topic, times, ramp):
                self._change_rate(topic, times, ramp)
                return partial(self._change_rate, topic, 1.0, ramp)
            case on.Slow(group, ms, numbers, partitions, None):
                if isinstance(ms, tuple):
                    for number, each in zip(members[group].numbers, ms, strict=True):
                        members[group].order(Orders(ms=each), (number,))
                else:
                    members[group].order(Orders(ms=ms, partitions=partitions), numbers)
            case on.Hang(group, numbers):
                members[group].order(Orders(hangs=True), numbers)
                return partial(members[group].order, Orders(hangs=False), numbers)
            case on.Freeze(group, numbers):
                members[group].signal(signal.SIGSTOP, numbers)
                return partial(members[group].signal, signal.SIGCONT, numbers)
            case on.Kill(group, numbers):
                members[group].kill(numbers)
            case on.Leave(group, numbers, None):
                members[group].leave(numbers)
            case on.Join(group, count):
                first = max(members[group].numbers, default=-1) + 1
                for number in range(first, first + count):
                    members[group].start(number)
            case on.Move(group, to):
                members[group].move(topics[to])
            case on.Deploy(group, pause, ms=ms):
                self._deploy(members[group], pause, ms)
            case on.Flap(lasts=None):
                self._flap(event)
            case on.Poison(group, partition, then, None):
                members[group].order(Orders(poison=(partition, then)))
            case on.Reset(group, seconds, partitions):
                self._reset(group, seconds, partitions)
            case on.Recreate(topic):
                self._recreate(topic)
            case on.Retain(topic, seconds, by_size, None):
                self._retain(topic, seconds / SHORTENED, by_size=by_size)
            case on.OpenTransaction(topic, partition, lasts):
                self._open_transaction(topics[topic], partition, lasts)
            case on.MoveLeaders(topic, None):
                self._move_leaders(topics[topic])
            case on.StopBroker(broker, lasts):
                self._stop_broker(broker, lasts)
            case on.SlowBroker(broker, rate, None):
                size = RECORD_BYTES + _MORE_BYTES
                self._scene.proxies[broker].delay = _SMALL_PIECES / size / rate
            case _:
                raise NotImplementedError(f"{event} happens in memory only")
        return None

    def _change_rate(self, topic: str, times: float | tuple[float, ...], ramp: float) -> None:
        self._scene.writer.streams[self._topics[topic]].change(times, ramp / SHORTENED)

    def _deploy(self, members: Members, pause: float, ms: float | None) -> None:
        members.forget_orders()
        for number in members.numbers:
            members.leave([number])
            if self._waits(pause):
                return
            members.start(number, ms)

    def _flap(self, event: on.Flap) -> None:
        members = self._members[event.group]
        numbers = members.numbers[-event.members :]
        while True:
            (members.kill if event.kill else members.leave)(numbers)
            if self._waits(event.down):
                return
            for number in numbers:
                members.start(number)
            if self._waits(event.up):
                return

    def _supervise(self) -> None:
        """Starts members again that crashed."""
        while not self._scene.over.wait(0.2):
            for members in self._members.values():
                for number in members.take_crashed():
                    again = partial(members.start, number)
                    self._later(_COMES_BACK_AFTER * SHORTENED, again)

    def _reset(self, name: str, seconds: float | None, partitions: Iterable[int] | None) -> None:
        members, group = self._members[name], self.case.groups[name]
        numbers = members.numbers
        members.leave()
        topic = self._topics[group.topic]
        rates = self.case.topics[group.topic].rates
        admin = self._scene.cluster.admin()
        places = [(topic, n) for n in (range(len(rates)) if partitions is None else partitions)]
        to = listed(admin, places, earliest=True)
        if seconds is not None:
            real = seconds / SHORTENED
            committed = read_commits(admin, self.names[name], places)
            to = {at: max(0, (committed[at] or 0) - round(real * rates[at[1]])) for at in places}
        commit_offsets(admin, {self.names[name]: to})
        for number in numbers:
            members.start(number)

    def _recreate(self, name: str) -> None:
        admin, topic = self._scene.cluster.admin(), self._topics[name]
        wait_for(admin.delete_topics([topic], operation_timeout=_ANSWERS_WITHIN))
        wait_until(lambda: topic not in admin.list_topics(timeout=5).topics, what=f"{topic} gone")
        wait_for(admin.create_topics([self._new_topic(name)], request_timeout=_ANSWERS_WITHIN))

    def _open_transaction(self, topic: str, partition: int, lasts: float | None) -> None:
        producer = Producer(
            {
                **self._config,
                "transactional.id": f"{topic}-{partition}",
                "transaction.timeout.ms": _TRANSACTION_MS,
            }
        )
        producer.init_transactions(_ANSWERS_WITHIN)
        producer.begin_transaction()
        producer.produce(topic, b"open", partition=partition)
        producer.flush(_ANSWERS_WITHIN)
        self._scene.over.wait(None if lasts is None else lasts / SHORTENED)
        producer.abort_transaction(_ANSWERS_WITHIN)

    def _move_leaders(self, topic: str) -> None:
        address = self._scene.cluster.broker_address(self._scene.cluster.node_ids[0], "PLAINTEXT")
        found = self._scene.cluster.admin().list_topics(topic, timeout=_ANSWERS_WITHIN)
        orders = {}
        for number, each in found.topics[topic].partitions.items():
            replicas = [*each.replicas]
            first = replicas.index(each.leader) + 1
            orders[number] = [*replicas[first:], *replicas[:first]]
        elect_first(address, {topic: orders})

    def _stop_broker(self, broker: int, lasts: float | None) -> None:
        since = time.time() * 1_000
        self._scene.cluster.stop(broker)
        self._scene.over.wait(None if lasts is None else lasts / SHORTENED)
        self._scene.cluster.start(broker)
        self.downs.append((since, time.time() * 1_000, broker))

    @property
    def _config(self) -> dict[str, Any]:
        return self._scene.cluster.client_config(protocol="PLAINTEXT") | {"log_level": 0}

    def _configure(self, name: str, group: Group) -> dict[str, Any]:
        config: dict[str, Any] = {
            **self._config,
            "group.id": self.names[name],
            "group.protocol": group.protocol,
            "auto.offset.reset": "earliest",
            "auto.commit.interval.ms": round(group.commit_seconds / SHORTENED * 1_000),
            "max.poll.interval.ms": _POLLS_WITHIN_MS,
            "topic.metadata.refresh.interval.ms": 2_000,
            "reconnect.backoff.max.ms": 1_000,
            # Answers come twice a second, not for each record, which halves the brokers' work.
            "fetch.min.bytes": 100_000,
            "fetch.wait.max.ms": 500,
        }
        if group.protocol == "classic":
            config["session.timeout.ms"] = round(group.session_seconds / SHORTENED * 1_000)
            config["heartbeat.interval.ms"] = 1_000
        if group.slow_line:
            config |= self._scene.cluster.client_config("admin", "SASL_PLAINTEXT")
            config["fetch.message.max.bytes"] = _SMALL_PIECES
            config["fetch.min.bytes"] = config["queued.min.messages"] = 1
        return config

    def _new_topic(self, name: str) -> NewTopic:
        topic = self.case.topics[name]
        brokers = topic.brokers
        assignment = [
            [brokers[(number + more) % len(brokers)] for more in range(topic.copies)]
            for number in range(len(topic.rates))
        ]
        return NewTopic(
            self._topics[name],
            len(topic.rates),
            replica_assignment=assignment,
            config={**topic.settings, **(_ROLLS_SOON if self._is_deleted(name) else {})},
        )

    def _is_deleted(self, name: str) -> bool:
        return any(
            isinstance(event, on.Retain) and event.topic == name for _, event in self.case.happens
        )

    def _retain(self, name: str, seconds: float, *, by_size: bool) -> None:
        """Deletes records by age, or by a partition's size in real seconds of its rate."""
        topic = self.case.topics[name]
        size = seconds * max(topic.rates) * (RECORD_BYTES + _MORE_BYTES_IN_LOG)
        entry = ConfigEntry(
            "retention.bytes" if by_size else "retention.ms",
            str(round(size if by_size else seconds * 1_000)),
            incremental_operation=AlterConfigOpType.SET,
        )
        resource = ConfigResource(
            ResourceType.TOPIC, self._topics[name], incremental_configs=[entry]
        )
        wait_for(self._scene.cluster.admin().incremental_alter_configs([resource]))
