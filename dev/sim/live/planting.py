# SPDX-License-Identifier: Apache-2.0
"""Cases written as steps, and planted with records of any age and commits without members.

A scenario has a line with its title and its planted state, and lines of steps. A step is a method
of `Planting` with its arguments; 3h, 2m and 5s are the ages of the first and the last record.
Events, `topic` and `group` describe the case, in its words and its seconds, of which 30 are a real
one. `then` begins the changes that are made while programs run. `judged` names another time to
judge it than the usual one.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from confluent_kafka import Producer
from confluent_kafka.admin import NewPartitions

from dev.faults.proxy import Proxies
from dev.kafka import KafkaCluster
from dev.kafka.access import wait_for
from dev.kafka.readiness import NEVER_TIMES_OUT, wait_until
from dev.kafka.records import commit_offsets, delete_records, listed, read_back, read_commits
from dev.sim import events
from dev.sim.cases.text import Step, read_step
from dev.sim.events import Case, Event, Group, Topic
from dev.sim.live.logs import GroupPartition, History, Log
from dev.sim.live.stage import Scene, Stage
from dev.sim.live.writer import Writer

TOPIC, GROUP = "orders", "billing"
_ANSWERS_WITHIN = 60.0
# When the looks that count are taken: the first answer that has a group, after the programs have
# run for a while, after a change, and while a broker hangs.
FIRST, SETTLED, CHANGED, HUNG = "first", "settled", "changed", "hung"
_ODD = 'orders: für \\ "x" {y}=1, z'


@dataclass(frozen=True, slots=True)
class Scenario:
    """A case of the simulator with its planted state, and the changes while programs run."""

    title: str
    planted: str
    case: Case
    before: Sequence[Step]
    change: Sequence[Step]
    phase: str

    def set_up(self, on: Planting) -> None:
        """Plants it, and lets its members join."""
        on.create_topics()
        take_steps(self.before, on)
        on.start()


def take_steps(steps: Sequence[Step], on: Planting) -> None:
    """Takes steps one after the other."""
    for verb, arguments, options in steps:
        if event := getattr(events, verb, None):
            on.let_happen(event(*arguments, **options))
        else:
            getattr(on, verb)(*arguments, **options)


def read_scenarios(text: str) -> list[Scenario]:
    """Returns the scenarios of a text, in its order."""
    blocks = [block.split("\n    ") for block in re.split(r"\n(?! )", text.strip())]
    return [_read(head, ";".join(lines)) for head, *lines in blocks]


def _read(head: str, text: str) -> Scenario:
    title, planted = head.replace("ODD", _ODD).split(" | ")
    topics, groups = {TOPIC: Topic((0,))}, dict[str, Group]()
    happens, before, change = list[tuple[float, Event]](), list[Step](), list[Step]()
    phase, steps = SETTLED, before
    for verb, arguments, options in map(read_step, text.split(";")):
        match verb:
            case "topic":
                name = options.pop("name", TOPIC)
                topics[name] = _make_topic(options)
            case "group":
                groups[GROUP] = Group(TOPIC, **options)
            case "Flap":
                happens.append((0.0, events.Flap(*arguments, **options)))
            case "judged":
                phase = arguments[0]
            case "then":
                phase, steps = CHANGED, change
            case _:
                steps.append((verb, arguments, options))
    case = Case("-".join(re.findall(r"\w+", title.lower())), topics, groups, tuple(happens))
    return Scenario(title, planted, case, before, change, phase)


def _make_topic(options: dict[str, Any]) -> Topic:
    settings = {name: str(value) for name, value in options.items() if "." in name}
    own = {name: value for name, value in options.items() if name not in settings}
    return Topic(**{"rates": (0,), **own}, settings=settings)


class Planting(Stage):
    """A case on brokers, with records of any age, commits without members, and its history."""

    def __init__(self, case: Case, scene: Scene, history: History, producer: Producer) -> None:
        super().__init__(case, case.name, scene)
        self._history, self._admin, self._producer = history, scene.cluster.admin(), producer
        self._topic, self._group = self._topics[TOPIC], self.name_of(GROUP)
        self._open: list[Producer] = []

    def create_topics(self) -> None:
        """Creates the topics, whose logs begin."""
        super().create_topics()
        for name, topic in self.case.topics.items():
            self._begin_logs(self._topics[name], range(len(topic.rates)))

    def write(
        self, records: int, since: float, until: float, topic: str = TOPIC, by: Any = None
    ) -> None:
        """Writes so many records to each partition, from `since` to `until` seconds old."""
        producer: Producer = by or self._producer
        name, now = self._topics[topic], time.time()
        logs = {at[1]: each[-1] for at, each in list(self._history.logs.items()) if at[0] == name}
        wanted = {number: len(log.offsets) + records for number, log in logs.items()}
        for number in logs:
            for place, age in enumerate(np.linspace(since, until, records)):
                producer.produce(
                    name,
                    b"planted",
                    f"{place} of {records}",
                    number,
                    timestamp=round((now - age) * 1_000),
                    on_delivery=self._history.take,
                )

        def is_written() -> bool:
            producer.poll(0.01)
            return all(len(logs[each].offsets) >= wanted[each] for each in logs)

        wait_until(is_written, what=f"{name} written")

    def write_transaction(self, records: int, since: float, until: float, then: str) -> None:
        """Writes a transaction that `commits`, `aborts` or `stays-open` for the whole run."""
        own = {"transactional.id": self._topic, "transaction.timeout.ms": 900_000}
        producer = Producer({**self._config, **own})
        producer.init_transactions(_ANSWERS_WITHIN)
        producer.begin_transaction()
        self.write(records, since, until, by=producer)
        if then == "commits":
            producer.commit_transaction(_ANSWERS_WITHIN)
        elif then == "aborts":
            producer.abort_transaction(_ANSWERS_WITHIN)
        else:
            self._open.append(producer)

    def wait_for_compaction(self, records: int) -> None:
        """Waits until the topic has no more records than these."""
        at, servers = (self._topic, 0), self._scene.cluster.bootstrap("PLAINTEXT")
        wait_until(
            lambda: len(read_back(self._admin, servers, [at])[at].offsets) == records,
            what=f"{self._topic} compacted",
        )

    def commit(self, *offsets: int | None, group: str = GROUP, topic: str = TOPIC) -> None:
        """Commits offsets of partitions 0, 1, ..., for a group that has no members."""
        each = {(self._topics[topic], number): offset for number, offset in enumerate(offsets)}
        known = {at: offset for at, offset in each.items() if offset is not None}
        commit_offsets(self._admin, {self.name_of(group.replace("ODD", _ODD)): known})

    def commit_many(self, groups: int, step: int) -> None:
        """Commits for many groups, each so many records further on than the one before."""
        for number in range(groups):
            self.commit(number * step, group=f"{GROUP}-{number:03}")

    def commit_away(self, offset: int, broker: int) -> None:
        """Commits for a group that another broker coordinates than this one, which will hang."""
        if self.case.topics[TOPIC].brokers == (broker,):
            self._history.hidden.add(self._topic)
        group, coordinator = "", broker
        while coordinator == broker:
            group += "g"
            names = [self.name_of(group)]
            found = self._admin.describe_consumer_groups(names, request_timeout=NEVER_TIMES_OUT)
            coordinator = found[names[0]].result(_ANSWERS_WITHIN).coordinator.id
        self.commit(offset, group=group)

    def read_commits(self) -> dict[tuple[str, int], int | None]:
        """Returns the commit of each partition; null for none."""
        partitions = range(len(self.case.topics[TOPIC].rates))
        return read_commits(self._admin, self._group, [(self._topic, n) for n in partitions])

    def is_overtaken(self) -> bool:
        """Returns whether a log starts behind the group's commit."""
        commits = self.read_commits()
        starts = listed(self._admin, list(commits), earliest=True)
        return any(each is not None and starts[at] > each for at, each in commits.items())

    def delete_records(self, before: int) -> None:
        """Lets the log start at the offset."""
        delete_records(self._admin, {(self._topic, 0): before})
        self._log.starts.append((time.time(), before))

    def add_partitions(self, partitions: int) -> None:
        """Lets the topic, which has one, have so many."""
        more = [NewPartitions(self._topic, partitions)]
        wait_for(self._admin.create_partitions(more, request_timeout=_ANSWERS_WITHIN))

        # The producer must know them as well.
        def is_known() -> bool:
            found = self._producer.list_topics(self._topic, timeout=5).topics[self._topic]
            return len(found.partitions) == partitions

        wait_until(is_known, what=f"{self._topic} with {partitions} partitions")
        self._begin_logs(self._topic, range(1, partitions))

    def delete(self) -> None:
        """Deletes the topic, whose log ends."""
        self._log.over = time.time()
        super().delete()

    def recreate(self) -> None:
        """Deletes the topic, and creates it again."""
        self._log.over = time.time()
        self.let_happen(events.Recreate(TOPIC))
        self._begin_logs(self._topic, [0])

    def delete_group(self) -> None:
        """Deletes the group, which has no members, with its commits."""
        names = [self._group]
        wait_for(self._admin.delete_consumer_groups(names, request_timeout=NEVER_TIMES_OUT))

    def find_keys(self) -> list[GroupPartition]:
        """Returns all partitions of each topic that a group of the case reads or committed."""
        pairs = {at[:2] for at in self._history.commits if at[0].startswith(f"{self.prefix}.")}
        if self.case.groups:
            pairs.add((self._group, self._topic))
        logs = sorted(self._history.logs)
        return [(group, *at) for group, topic in sorted(pairs) for at in logs if at[0] == topic]

    @property
    def _log(self) -> Log:
        return self._history.logs[self._topic, 0][-1]

    def _begin_logs(self, topic: str, partitions: Sequence[int]) -> None:
        for number in partitions:
            self._history.logs[topic, number].append(Log(time.time()))


class Planted:
    """A context manager for scenarios side by side on brokers, with the `history` of their logs.

    `settings` are producers' own. Topics and groups are left behind.
    """

    def __init__(
        self,
        cluster: KafkaCluster,
        scenarios: Sequence[Scenario],
        settings: Mapping[str, Any] | None = None,
        *,
        seed: int = 1,
        kind: type[Planting] = Planting,
    ) -> None:
        self.history = History()
        config = cluster.client_config(protocol="PLAINTEXT") | {"log_level": 0}
        config |= settings or {}
        self.scene = Scene(cluster, Writer(config, seed, self.history.take), Proxies({}))
        producer = Producer({**config, "linger.ms": 2})
        self.on: list[tuple[Scenario, Planting]] = [
            (each, kind(each.case, self.scene, self.history, producer)) for each in scenarios
        ]

    def __enter__(self) -> Self:
        self.scene.writer.__enter__()
        try:
            self._plant()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.scene.over.set()
        for _scenario, on in self.on:
            on.tear_down()
        self.scene.writer.__exit__()

    def _plant(self) -> None:
        """Plants all, and begins what goes on once all members have joined."""
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda pair: pair[0].set_up(pair[1]), self.on))
        staged = [on for _, on in self.on if on.case.groups]
        wait_until(lambda: all(on.has_joined() for on in staged), what="every member in its group")
        for planting in staged:
            planting.begin()

    def change(self) -> None:
        """Makes the changes of the scenarios, one after the other."""
        for scenario, on in self.on:
            take_steps(scenario.change, on)
