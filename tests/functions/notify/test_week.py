# SPDX-License-Identifier: Apache-2.0
"""A long time of groups that come, fail, recover and go, under events of every disorder."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from kafka_lag import contract
from kafka_lag.errors import ReporterError
from kafka_lag.lag.columns import Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.held import hold_statuses
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.run import Run
from kafka_lag.notify.delivery import HasTime, Unsent
from kafka_lag.notify.messages import StatusMessage
from tests.builders import MINUTE, NOON
from tests.functions.notify.fakes import Bench, Crash, RecordingChannel

GROUPS = 40
# Two hours; for the week of docs/notifications.md: KAFKA_LAG_SIMULATED_MINUTES=10080.
MINUTES = int(os.environ.get("KAFKA_LAG_SIMULATED_MINUTES", "120"))
STATUSES = (contract.OK, contract.WARN, contract.ERR)


@dataclass
class SimulatedStatuses:
    """Statuses minute by minute, with spells in which nobody knows, or no run is made."""

    random: random.Random
    now: list[str] = field(default_factory=lambda: [contract.OK] * GROUPS)
    unread: dict[int, int] = field(default_factory=dict)
    away: int = 0

    def next_minute(self) -> list[str | None] | None:
        """One a group; None: the collector did not run."""
        for group in range(GROUPS):
            if self.random.random() < 0.01:
                self.now[group] = self.random.choice(STATUSES)
            if self.random.random() < 0.002:
                self.unread[group] = self.random.randrange(1, 30)
            self.unread[group] = max(0, self.unread.get(group, 0) - 1)
        if self.random.random() < 0.002:  # all at once
            self.now = [self.random.choice(STATUSES)] * GROUPS
        self.away = self.random.randrange(1, 20) if self.random.random() < 0.005 else self.away - 1
        if self.away > 0:
            return None
        return [None if self.unread[group] else status for group, status in enumerate(self.now)]


def the_sets(statuses: SimulatedStatuses) -> dict[int, Frame]:
    """What the collector makes of it: the real arithmetic of what is held."""
    sets: dict[int, Frame] = {}
    previous = Snapshot.empty()
    names = Strings.of(f"group-{number}" for number in range(GROUPS))
    for minute in range(MINUTES):
        now = statuses.next_minute()
        if now is None:
            continue
        at = NOON + minute * MINUTE
        unread = [contract.TIMEOUT if status is None else None for status in now]
        rows = Frame.of(
            {
                "consumer_group": names,
                "status": Strings.of(now),
                "unread_reason": Strings.of(unread),
            }
        ).completed(contract.GROUPS)
        groups = hold_statuses(rows, previous, Run(at, Rules()))
        sets[at] = groups
        previous = Snapshot(at, previous.topic_partitions, previous.group_partitions, groups)
    return sets


def the_events(sets: dict[int, Frame], chance: random.Random) -> Iterator[tuple[int, int]]:
    """Minute of arrival and time of the run: some twice, some late, some never, some in spells."""
    arriving = []
    lost = 0
    for at in sets:
        lost = chance.randrange(5, 60) if chance.random() < 0.003 else lost - 1
        for _ in range(chance.choice((0, 1, 1, 1, 1, 1, 1, 1, 2, 3)) if lost <= 0 else 0):
            late = chance.choice((0, 0, 0, 0, 1, 2, 15)) if chance.random() < 0.5 else 0
            arriving.append(((at - NOON) // MINUTE + late, chance.random(), at))
    yield from ((minute, at) for minute, _, at in sorted(arriving))


def the_changes(sets: dict[int, Frame]) -> list[tuple[str, str, int]]:
    """Group, new held status and time of each change, by nothing but the sets."""
    last = dict.fromkeys((f"group-{number}" for number in range(GROUPS)), contract.OK)
    changes = []
    for at, groups in sets.items():
        names = groups.strings("consumer_group").to_list()
        for name, status in zip(names, groups.strings("held_status").to_list(), strict=True):
            if status not in (None, last[name]):
                last[name] = status
                changes.append((name, status, at))
    return changes


def reported_by(sent: list[StatusMessage]) -> list[tuple[str, str, int]]:
    """Group, status and time of the run of each event, bulk changes being many."""
    details = [(json.loads(event.detail), event.taken_at) for one in sent for event in one.events]
    return [(detail["consumer_group"], detail["status"], at) for detail, at in details]


class FailingChannel(RecordingChannel):
    """Before it sends it is at times down, or the end of its process, or entered by another one."""

    def __init__(self, name: str, chance: random.Random) -> None:
        super().__init__(name)
        self._chance = chance
        self.before = self.trouble
        self.enter: Callable[[], None] = lambda: None

    def trouble(self) -> None:
        self.error = "down" if self._chance.random() < 0.1 else None
        kind = self._chance.random()
        if kind < 0.1:
            raise Crash
        if kind < 0.3:
            self.enter()


class PartialChannel(FailingChannel):
    """Of many events it takes at times the first ones alone."""

    def send(self, messages: Sequence[StatusMessage], has_time: HasTime) -> dict[str, Unsent]:
        unsent = super().send(messages, has_time)
        if unsent:
            return unsent
        ours = len(self.sent) - len(messages)
        for at, message in enumerate(messages, ours):
            if len(message.events) > 1 and self._chance.random() < 0.5:
                taken = message.events[: self._chance.randrange(len(message.events))]
                self.sent[at] = replace(message, events=taken)
                out = frozenset(event.id for event in taken)
                unsent[message.id] = Unsent("busy", out)
        return unsent


def test_each_change_of_a_held_status_is_sent_exactly_once() -> None:
    chance = random.Random(7)  # noqa: S311
    sets = the_sets(SimulatedStatuses(chance))
    sns, bus = FailingChannel("sns", chance), PartialChannel("event_bus", chance)
    bench = Bench({}, [sns, bus])
    waiting = sorted(sets, reverse=True)
    for minute, at in the_events(sets, chance):
        bench.now = (NOON + minute * MINUTE) / 1000
        while waiting and waiting[-1] <= bench.now * 1000:
            written = waiting.pop()
            bench.sets[written] = sets[written]
        sns.enter = bus.enter = partial(run_once, bench, at)
        run_once(bench, at)
    for more in range(20):
        bench.now += 300 + more
        run_once(bench, max(sets))

    expected = sorted(the_changes(sets))
    assert len(expected) > MINUTES / 10
    for channel in (sns, bus):
        assert sorted(reported_by(channel.sent)) == expected
    assert len(sns.ids) == len(set(sns.ids))


def run_once(bench: Bench, at: int) -> None:
    with suppress(ReporterError, Crash):
        bench.another().notify({"shop": at})
