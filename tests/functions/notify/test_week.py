# SPDX-License-Identifier: Apache-2.0
"""A long period of groups that come, fail, recover and go, under events in any order."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pytest

from kafka_lag import contract
from kafka_lag.errors import ReporterError
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.held import hold_statuses
from kafka_lag.lag.incidents import track_incidents
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.run import Run
from kafka_lag.notify.changes import find_changes
from kafka_lag.notify.delivery import HasTime, Outcome
from kafka_lag.notify.messages import StatusMessage
from tests.builders import MINUTE, NOON
from tests.functions.notify.fakes import Bench, Crash, RecordingChannel

GROUPS = 40
# Two hours; for the week of docs/views.md#status-messages: KAFKA_LAG_SIMULATED_MINUTES=10080.
MINUTES = int(os.environ.get("KAFKA_LAG_SIMULATED_MINUTES", "120"))
STATUSES = (contract.OK, contract.WARN, contract.ERR)
# Message id and time of the run of each change.
Sent: TypeAlias = list[tuple[str, int]]


@dataclass
class SimulatedGroups:
    """Statuses, backlogs and losses minute by minute; at times nobody knows, or no run is made."""

    random: random.Random
    now: list[str] = field(default_factory=lambda: [contract.OK] * GROUPS)
    unread: dict[int, int] = field(default_factory=dict)
    lag: list[int] = field(default_factory=lambda: [0] * GROUPS)
    away: int = 0

    def next_minute(self) -> dict[str, Column | Strings] | None:
        """The columns of a run; None: the collector did not run."""
        for group in range(GROUPS):
            if self.random.random() < 0.01:
                self.now[group] = self.random.choice(STATUSES)
            if self.random.random() < 0.002:
                self.unread[group] = self.random.randrange(1, 30)
            self.unread[group] = max(0, self.unread.get(group, 0) - 1)
            grows = self.now[group] != contract.OK
            self.lag[group] = max(0, self.lag[group] + (100 if grows else -300))
        if self.random.random() < 0.002:  # all at once
            self.now = [self.random.choice(STATUSES)] * GROUPS
        self.away = self.random.randrange(1, 20) if self.random.random() < 0.005 else self.away - 1
        if self.away > 0:
            return None
        read = np.array([not self.unread[group] for group in range(GROUPS)])
        lost = [int(lag > 1_000) for lag in self.lag]
        return {
            "status": Strings.of(self.now).only(read),
            "unread_reason": Strings.constant(contract.TIMEOUT, GROUPS).only(~read),
            "lag": Column.of(np.array(self.lag)).only(read),
            "records_lost": Column.of(np.array(lost)).only(read),
            "seconds_until_loss": Column.constant(contract.NO_LOSS_SECONDS, GROUPS, np.float64),
        }


def make_runs(groups: SimulatedGroups) -> dict[int, Frame]:
    """What the collector makes of it: the real arithmetic of incidents. Some groups come and go."""
    runs: dict[int, Frame] = {}
    previous = Snapshot.empty()
    names = Strings.of(f"group-{number}" for number in range(GROUPS))
    for minute in range(MINUTES):
        now = groups.next_minute()
        if now is None:
            continue
        nothing = Column.constant(0, GROUPS)
        run = Run(NOON + minute * MINUTE, Rules(cluster="shop"))
        frame = Frame.of({"consumer_group": names, **now}).completed(contract.GROUPS)
        frame = frame.with_columns(taken_at=run.now(GROUPS))
        if minute // 50 % 2:
            frame, nothing = frame.take(np.arange(2, GROUPS)), Column.constant(0, GROUPS - 2)
        frame = track_incidents(hold_statuses(frame, previous, run), previous, nothing, run)
        runs[run.taken_at] = frame
        previous = replace(previous, taken_at=run.taken_at, groups=frame)
    return runs


def list_events(runs: Mapping[int, Frame], chance: random.Random) -> Iterator[tuple[int, int]]:
    """Minute of arrival and time of the run: some twice, some late, some never, some in spells."""
    arriving = []
    lost = 0
    for at in runs:
        lost = chance.randrange(5, 60) if chance.random() < 0.003 else lost - 1
        for _ in range(chance.choice((0, 1, 1, 1, 1, 1, 1, 1, 2, 3)) if lost <= 0 else 0):
            late = chance.choice((0, 0, 0, 0, 1, 2, 15)) if chance.random() < 0.5 else 0
            arriving.append(((at - NOON) // MINUTE + late, chance.random(), at))
    yield from ((minute, at) for minute, _, at in sorted(arriving))


def list_changes(runs: Mapping[int, Frame]) -> Sent:
    """All changes from each run to the next, by nothing but the runs."""
    steps = pairwise([None, *runs])
    return [
        (change.message_id, at)
        for before, at in steps
        if at is not None
        for change in find_changes("shop", at, runs[at], None if before is None else runs[before])
    ]


def list_sent(messages: Sequence[StatusMessage]) -> Sent:
    """Id and time of the run of each event that was sent; bulk changes have many."""
    events = [event for message in messages for event in message.events]
    assert all(json.loads(event.detail)["message_id"] == event.id for event in events)
    return [(event.id, event.taken_at) for event in events]


class FailingChannel(RecordingChannel):
    """Before it sends it is at times down, or entered by another process; or it takes a part.

    Where it `crashes`, the process ends at times before or after it has sent.
    """

    def __init__(self, name: str, chance: random.Random, *, crashes: bool) -> None:
        super().__init__(name)
        self._chance = chance
        self._crashes = crashes
        self.enter: Callable[[], None] = lambda: None
        self.crashed: set[int] = set()

    def send(self, messages: Sequence[StatusMessage], sent: Set[str], has_time: HasTime) -> Outcome:
        self.error = "down" if self._chance.random() < 0.1 else None
        if self._chance.random() < 0.3:
            self.enter()
        self._crash(messages)
        if self._chance.random() < 0.3:
            first = super().send(messages[:1], sent, has_time)
            return replace(first, is_all=False, reason="busy")
        outcome = super().send(messages, sent, has_time)
        self._crash(messages)
        return outcome

    def _crash(self, messages: Sequence[StatusMessage]) -> None:
        if self._crashes and self._chance.random() < 0.1:
            self.crashed.add(messages[0].events[0].taken_at)
            raise Crash


@pytest.mark.parametrize("crashes", [False, True])
def test_no_change_is_lost_and_only_a_crash_repeats_those_of_its_run(crashes: bool) -> None:
    chance = random.Random(7)  # noqa: S311
    runs = make_runs(SimulatedGroups(chance))
    channels = [FailingChannel(name, chance, crashes=crashes) for name in ("sns", "event_bus")]
    bench = Bench({}, channels)
    waiting = sorted(runs, reverse=True)
    # The first event is that of the first run.
    for minute, at in [(0, NOON), *list_events(runs, chance)]:
        bench.now = max(bench.now, (NOON + minute * MINUTE) / 1_000)
        while waiting and waiting[-1] <= bench.now * 1_000:
            written = waiting.pop()
            bench.sets[written] = runs[written]
        for channel in channels:
            channel.enter = partial(run_once, bench, at)
        run_once(bench, at)
    for more in range(40):
        bench.now += 300 + more
        run_once(bench, max(runs))

    expected = list_changes(runs)
    assert len(expected) > MINUTES / 4
    for channel in channels:
        found = list_sent(channel.sent)
        assert set(found) == set(expected)
        repeated = Counter(found) - Counter(expected)
        assert {at for _, at in repeated} <= channel.crashed
        assert bool(channel.crashed) == crashes


def run_once(bench: Bench, at: int) -> None:
    with suppress(ReporterError, Crash):
        bench.another().notify({"shop": at})
