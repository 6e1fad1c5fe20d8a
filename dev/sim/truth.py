# SPDX-License-Identifier: Apache-2.0
"""The truth of a case: logs tell how late groups were and what they lost, and events tell why.

The case is run in memory without noise. No code of the collector is used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from dev.sim import events as on
from dev.sim.events import WINDOW, Case, Event, Group
from dev.sim.reading import Floats, Ints
from dev.sim.records import Log
from dev.sim.world import STEP, GroupState, Staged, World
from kafka_lag import contract

# A group is late from this age of its next unread record on, in seconds. Commits every few minutes
# and short rebalances stay below.
LATE = 120.0


# Kinds of incidents.
STOPPED, STALLED, BEHIND, REWOUND = "stopped", "stalled", "behind", "rewound"
UNKNOWN, GONE, REBALANCING, SLA_MISSED = "unknown", "gone", "rebalancing", "sla_missed"
NO_LEADER, LEADER_MOVED, NO_RUNS = "no_leader", "leader_moved", "no_runs"
RECREATED, UNEVEN = "topic_recreated", "produced_unevenly"


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


def ages_of(world: World, group: GroupState) -> Floats:
    """Returns the ages of a group at all times that the world has kept."""
    positions = np.array(world.positions[group.name])
    return ages(world.ends_of(group), positions, STEP * world.keep_every)


def record_ages(log: Log, offsets: Ints, now: int) -> tuple[Floats, Floats]:
    """Returns seconds since the next records from these offsets on came, and by producers' clocks.

    By their clocks: since the newest time up to the record. NaN if there is no record.
    """
    found, living = log.next_living(offsets), log.living
    newest = np.full(len(log.times) + 1, np.nan)
    newest[living] = np.maximum.accumulate(log.times[living])
    came = np.append(log.came, np.nan)
    return (now - came[found]) / 1_000, (now - newest[found]) / 1_000


def find_suffering(case: Case) -> Mapping[str, int]:
    """Returns the groups that are late for longer than the window, or lose records, and how many.

    Lost records were deleted before they were committed.
    """
    world, found = Staged(_without_noise(case)).world, {}
    for _ in range(case.runs):
        world.live_a_minute()
    for group in world.groups:
        each, lost = ages_of(world, group), int(group.lost.sum())
        late = each.max(axis=1)[round(case.warm_up / STEP) :] > LATE
        if late.sum() * STEP > WINDOW or lost:
            found[group.name] = lost
    return found


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
        """Returns True if the cause holds at a second, or did up to `grace` seconds before it."""
        return self.since <= second < self.until + grace


def right_causes(case: Case) -> Mapping[str, frozenset[str]]:
    """Returns the causes that may be named of each group that suffers; others are healthy."""
    return {
        name: frozenset(each.cause for each in effects)
        for name, effects in list_effects(case).items()
    }


def list_effects(case: Case) -> Mapping[str, tuple[Effect, ...]]:
    """Returns the causes of each group that suffers, with their times; others are healthy.

    A person who knows the events would accept each of them.
    """
    late = find_suffering(case)
    right: dict[str, tuple[Effect, ...]] = {}
    for name in case.groups:
        found = []
        for second, event in case.happens:
            causes, always, _ = read_event(case, name, event)
            harms = name in late and (late[name] or not isinstance(event, on.Retain))
            until = second + (getattr(event, "lasts", None) or math.inf)
            found += [Effect(cause, second, until) for cause in causes if harms or always]
        decisive = tuple(each for each in found if each.cause in _DECISIVE)
        lasts = all(each.until == math.inf for each in found)
        if found:
            right[name] = decisive if decisive and lasts else tuple(found)
    return right


# A cause of these is named whatever else happens to the group, as long as it lasts.
_DECISIVE = frozenset({contract.RETENTION_RACE, contract.SETTINGS_CHANGED, contract.UNAVAILABLE})


# Causes that may be named, whether also of a group that keeps up, and the kind of incident.
Meaning: TypeAlias = tuple[tuple[str, ...], bool, str | None]


def read_event(case: Case, name: str, event: Event) -> Meaning:
    """Returns what an event means for a group that it makes late.

    This is the table from events to the truth. Other events harm no group.
    """
    group, none = case.groups[name], ((), False, None)
    own = getattr(event, "group", name) == name
    if not own or (getattr(event, "topic", None) or group.topic) not in group.topics:
        return none
    match event:
        case on.Produce(_, tuple()) | on.Slow(partitions=tuple()):
            return (contract.HOT_PARTITION,), False, BEHIND
        case on.Produce():
            return (contract.MORE_PRODUCED,), False, BEHIND
        case on.Slow(members=(_,)):
            return (contract.SLOW_MEMBER,), False, BEHIND
        case on.Slow(members=tuple()):
            return (contract.SLOW_MEMBERS,), False, BEHIND
        case on.Slow() | on.Deploy(ms=float() | int()):
            return (contract.CAPACITY_FELL,), False, BEHIND
        case on.Hang(_, None):
            return (contract.HUNG,), False, STALLED
        # From outside, a member of one partition looks like one that cannot pass a record.
        case on.Hang(_, members) if any(_count_owned(case, group, n) == 1 for n in members or ()):
            return (contract.SLOW_MEMBER, contract.STUCK_RECORD), False, STALLED
        case on.Hang():
            return (contract.SLOW_MEMBER,), False, STALLED
        case on.Poison(then="crash"):
            return (contract.STUCK_RECORD, contract.REBALANCES), False, STALLED
        case on.Poison():
            return (contract.STUCK_RECORD,), False, STALLED
        case on.Leave(_, None) | on.Kill(_, None) | on.Freeze(_, None):
            return (contract.STOPPED,), False, STOPPED
        case on.Move():
            return (contract.STOPPED,), False, STOPPED
        case on.Leave() | on.Kill() | on.Freeze():
            return (contract.TOO_FEW_MEMBERS,), False, None
        case on.Flap():
            return (contract.REBALANCES,), False, None
        case on.Reset():
            return (contract.OFFSETS_RESET,), True, REWOUND
        case on.Recreate():
            return (contract.OFFSETS_RESET,), False, None
        case on.Retain():
            return (contract.RETENTION_RACE, contract.SETTINGS_CHANGED), False, None
        case on.Grow(seen=False) | on.Reassign():
            return (contract.SETTINGS_CHANGED,), False, None
        case on.OpenTransaction():
            return (contract.OPEN_TRANSACTION,), False, None
        case on.OutOfSync():
            return (contract.UNAVAILABLE,), False, None
        case on.LoseLeaders():
            return (contract.UNAVAILABLE,), True, None
        case on.StopBroker() if case.topics[group.topic].copies == 1:
            return (contract.UNAVAILABLE,), True, None
        # One group alone is not enough to blame a broker.
        case on.SlowBroker() if group.slow_line:
            alone = sum(each.slow_line for each in case.groups.values()) == 1
            return (contract.SLOW_BROKER, *[contract.UNEXPLAINED] * alone), False, BEHIND
        case on.Delete():
            return (), False, GONE
        case on.Unread(group=str()):
            return (), False, UNKNOWN
    return none


def _count_owned(case: Case, group: Group, member: int) -> int:
    return len(range(member, len(case.topics[group.topic].rates), group.members))
