# SPDX-License-Identifier: Apache-2.0
"""What is true of a case: its logs tell how late groups were and what they lost, its events why.

The case is run in memory without noise, and nothing of the collector is used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dev.sim.events import (
    WINDOW,
    Case,
    Deploy,
    Event,
    Flap,
    Freeze,
    Group,
    Grow,
    Hang,
    Kill,
    Leave,
    LoseLeaders,
    OpenTransaction,
    OutOfSync,
    Poison,
    Produce,
    Reassign,
    Recreate,
    Reset,
    Retain,
    Slow,
    SlowBroker,
    StopBroker,
)
from dev.sim.reading import Floats, Ints
from dev.sim.records import Log
from dev.sim.run import count_runs
from dev.sim.world import STEP, Staged
from kafka_lag import contract

# A group is late from this age of its next unread record on, in seconds. Commits every few minutes
# and short rebalances stay below.
LATE = 120.0


@dataclass(frozen=True, slots=True)
class Incident:
    """A time in which a group was late or lost records, in seconds of the world.

    `until` is None if it was not over at the end. `lost` counts records that were deleted before
    they were committed.
    """

    group: str
    since: float
    until: float | None
    lost: int


def ages(ends: Floats, positions: Floats, step: float = STEP) -> Floats:
    """Returns seconds since the next unread record came, by step and partition; 0 with none.

    `ends` and `positions` hold a row for each step.
    """
    found = np.zeros(ends.shape)
    for partition in range(ends.shape[1]):
        end, position = ends[:, partition], positions[:, partition]
        highest = np.maximum.accumulate(end)
        came = np.searchsorted(highest, position, side="right")
        age = np.maximum(np.arange(len(end)) - came + 1, 0) * step
        found[:, partition] = np.where(position < end, age, 0.0)
    return found


def record_ages(log: Log, offsets: Ints, now: int) -> tuple[Floats, Floats]:
    """Returns seconds since the next records from these offsets on came, and by producers' clocks.

    By their clocks: since the newest time up to the record. NaN if there is no record.
    """
    found, living = log.next_living(offsets), log.living
    newest = np.full(len(log.times) + 1, np.nan)
    newest[living] = np.maximum.accumulate(log.times[living])
    came = np.append(log.came, np.nan)
    return (now - came[found]) / 1_000, (now - newest[found]) / 1_000


def find_incidents(case: Case) -> list[Incident]:
    """Returns the incidents of a case: groups that are late for longer than the window, or lose."""
    world = Staged(_without_noise(case)).world
    for _ in range(count_runs(case)):
        world.live_a_minute()
    return [
        found
        for group in world.groups
        if (
            found := _find_incident(
                case,
                group.name,
                ages(world.ends_of(group), np.array(world.positions[group.name])),
                int(group.lost.sum()),
            )
        )
    ]


def _find_incident(case: Case, group: str, each: Floats, lost: int) -> Incident | None:
    begin, end = round(case.warm_up / STEP), len(each) - 1
    late = np.flatnonzero(each.max(axis=1)[begin:] > LATE) + begin
    if len(late) * STEP <= WINDOW and not lost:
        return None
    since, last = (late[0], late[-1]) if len(late) else (begin, begin)
    return Incident(group, float(since * STEP), float(last * STEP) if last < end else None, lost)


def _without_noise(case: Case) -> Case:
    quiet = {name: replace(topic, noise=0.0) for name, topic in case.topics.items()}
    return replace(case, topics=quiet)


@dataclass(frozen=True, slots=True)
class Effect:
    """A cause of a group's trouble from `since` to `until`, in seconds after the warm-up."""

    cause: str
    since: float
    until: float = math.inf

    def holds(self, second: float, grace: float = 0.0) -> bool:
        """Whether the cause is one at a second, or was up to `grace` seconds before it."""
        return self.since <= second < self.until + grace


def right_causes(case: Case) -> Mapping[str, frozenset[str]]:
    """Returns the causes that may be named of each group that suffers; others are healthy."""
    return {
        name: frozenset(each.cause for each in effects)
        for name, effects in list_effects(case).items()
    }


def list_effects(case: Case) -> Mapping[str, tuple[Effect, ...]]:
    """Returns the causes of each group that suffers, with their times; others are healthy.

    Somebody who knows what happened would accept each of them.
    """
    late = {each.group: each for each in find_incidents(case)}
    right: dict[str, tuple[Effect, ...]] = {}
    for name in case.groups:
        found = [
            (Effect(cause, second, second + (getattr(event, "lasts", None) or math.inf)), always)
            for second, event in case.happens
            for cause, always in _list_effects(case, name, event)
            if not isinstance(event, Retain) or (name in late and late[name].lost)
        ]
        if name not in late:
            found = [each for each in found if each[1]]
        effects = tuple(effect for effect, _ in found)
        decisive = tuple(each for each in effects if each.cause in _DECISIVE)
        lasts = all(each.until == math.inf for each in effects)
        if effects:
            right[name] = decisive if decisive and lasts else effects
    return right


# A cause of these is named whatever else happens to the group, as long as it lasts.
_DECISIVE = frozenset({contract.RETENTION_RACE, contract.SETTINGS_CHANGED, contract.UNAVAILABLE})


def _list_effects(case: Case, name: str, event: Event) -> Iterator[tuple[str, bool]]:
    """Yields causes of a group's trouble, and whether the event is one even if the group keeps up.

    This is the table "event -> what is true". Other events harm no group.
    """
    group = case.groups[name]
    if (
        getattr(event, "group", name) != name
        or getattr(event, "topic", group.topic) not in group.topics
    ):
        return
    match event:
        case Produce(_, tuple()):
            yield contract.HOT_PARTITION, False
        case Produce():
            yield contract.MORE_PRODUCED, False
        case Slow(partitions=tuple()):
            yield contract.HOT_PARTITION, False
        case Slow(members=tuple() as members):
            yield contract.SLOW_MEMBER if len(members) == 1 else contract.SLOW_MEMBERS, False
        case Slow() | Deploy(ms=float() | int()):
            yield contract.CAPACITY_FELL, False
        case Hang(_, None):
            yield contract.HUNG, False
        case Hang(_, members):
            yield contract.SLOW_MEMBER, False
            # From outside, a member of one partition looks like one that cannot pass a record.
            if any(_count_owned(case, group, number) == 1 for number in members or ()):
                yield contract.STUCK_RECORD, False
        case Poison(then="crash"):
            yield contract.STUCK_RECORD, False
            yield contract.REBALANCES, False
        case Poison():
            yield contract.STUCK_RECORD, False
        case Leave(_, None) | Kill(_, None) | Freeze(_, None):
            yield contract.STOPPED, False
        case Leave() | Kill() | Freeze():
            yield contract.TOO_FEW_MEMBERS, False
        case Flap():
            yield contract.REBALANCES, False
        case Reset() | Recreate():
            yield contract.OFFSETS_RESET, True
        case Retain():
            yield contract.RETENTION_RACE, False
            yield contract.SETTINGS_CHANGED, False
        case Grow(seen=False) | Reassign():
            yield contract.SETTINGS_CHANGED, False
        case OpenTransaction():
            yield contract.OPEN_TRANSACTION, False
        case OutOfSync():
            yield contract.UNAVAILABLE, False
        case LoseLeaders():
            yield contract.UNAVAILABLE, True
        case StopBroker() if case.topics[group.topic].copies == 1:
            yield contract.UNAVAILABLE, True
        case SlowBroker() if group.slow_line:
            yield contract.SLOW_BROKER, False
            # One group alone is not enough to blame a broker.
            if sum(each.slow_line for each in case.groups.values()) == 1:
                yield contract.UNEXPLAINED, False
        case _:
            return


def _count_owned(case: Case, group: Group, member: int) -> int:
    partitions = len(case.topics[group.topic].rates)
    return len(range(member, partitions, group.members))
