# SPDX-License-Identifier: Apache-2.0
"""The truth of a case: logs tell how late groups were and what they lost, and events tell why.

Causes are those of a case that is run in memory without noise. Incidents are those of a day that
was let happen: one begins when an event happened, and ends when the backlog that the event left is
worked off. Times of a day are seconds of the world. No code of the collector or the report is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from typing import TypeAlias

import numpy as np

from dev.sim import events as on
from dev.sim.events import MINUTE, WINDOW, Case, Event, Group
from dev.sim.reading import Floats, Ints, Mask
from dev.sim.records import Log
from dev.sim.world import BROKERS, STEP, GroupState, Staged, World
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
    until: float = inf

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
            until = second + (getattr(event, "lasts", None) or inf)
            found += [Effect(cause, second, until) for cause in causes if harms or always]
        decisive = tuple(each for each in found if each.cause in _DECISIVE)
        lasts = all(each.until == inf for each in found)
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


# A history of the world has a row a minute.
KEEP_EVERY = 6
# This many changes of membership are one series of rebalances, if they follow closely enough.
_STORM = 10
# The largest share of a topic's partitions is uneven from so many times the mean.
_UNEVEN = 1.5
_LONG = 3_600.0
# A backlog is worked off if its oldest record is at most this old.
_YOUNG = 2 * MINUTE

Span: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """One incident with the facts that a report must state, if it states them at all.

    `who` is a group, a topic, "broker 2" or "runs". Any of `kinds` is right. `since` is -inf if it
    began before the collector's first run, `until` is inf if it had not ended. Its longest
    condition may have begun at `main_since`. If it ended in a `gap` without runs, no run saw its
    end. `lost` are the least and the most records; a group that reads on while it loses shows none,
    so None. `age` and `left`: seconds of the oldest record, and until its deletion. `blamed` has
    columns and values. `decisive`: also if no group is late.
    """

    who: str
    kinds: frozenset[str]
    since: float
    until: float
    main_since: float | None = None
    gap: tuple[float, float] | None = None
    decisive: bool = False
    lost: tuple[float, float] | None = (0.0, 0.0)
    age: float | None = None
    left: float | None = None
    misses_sla: bool = False
    blamed: tuple[tuple[str, object], ...] = ()


def find_planted(case: Case, world: World, begins: float) -> list[Planted]:
    """Returns the incidents of a case that was let happen, of the day after its warm-up.

    The collector's first run is at `begins`.
    """
    found = list(_merge(_list_topics(case)))
    for group in world.groups:
        found += _find_of_group(case, world, group)
    seen = [_cut(case, each, begins) for each in found]
    return [each for each in seen if each.until > case.warm_up]


def _cut(case: Case, one: Planted, begins: float) -> Planted:
    """Returns it as the collector could see it."""
    gap = None
    for since, event in case.happens:
        if isinstance(event, on.MissRuns) and NO_RUNS not in one.kinds:
            first, last = case.warm_up + since, case.warm_up + since + event.seconds
            gap = (first, last) if first < one.until < last else gap
    return replace(
        one,
        since=one.since if one.since > begins else -inf,
        until=one.until if one.until < case.warm_up + case.watched else inf,
        gap=gap,
    )


def _merge(found: Iterator[Planted]) -> Iterator[Planted]:
    """Yields what meets one at one time as one; the end is that of the last."""
    together: dict[tuple[str, float, frozenset[str]], Planted] = {}
    for one in found:
        same = together.setdefault((one.who, one.since, one.kinds), one)
        last = replace(one, until=max(same.until, one.until))
        together[one.who, one.since, one.kinds] = last
    yield from together.values()


def _list_topics(case: Case) -> Iterator[Planted]:
    """Yields what happens to topics, brokers and the collector, however it is with groups."""
    for second, event in case.happens:
        since = case.warm_up + second
        until = _end(event, since)
        match event:
            case on.Unread(reason, None, str() as topic, partitions):
                if until - since >= WINDOW:
                    blamed: list[tuple[str, object]] = [("cause", reason)]
                    if partitions is not None:
                        blamed.append(("partitions", list(partitions)))
                    yield _make(topic, UNKNOWN, since, until, *blamed)
            case on.Hide(topic):
                yield _make(topic, UNKNOWN, since, until, ("cause", contract.DENIED))
            case on.LoseLeaders(topic, partitions):
                first = case.topics[topic].brokers[0] - 1
                broker = (partitions[0] + first) % BROKERS + 1
                yield _make(f"broker {broker}", NO_LEADER, since, until)
            case on.MoveLeaders(_, int() as broker):
                moved = ("moved_to", [broker % BROKERS + 1])
                yield _make(f"broker {broker}", LEADER_MOVED, since, until, moved)
            case on.Recreate(topic):
                yield _make(topic, RECREATED, since, since)
            case on.MissRuns(seconds) if second >= 0:
                yield _make("runs", NO_RUNS, since, since + seconds)
    for name, each in case.topics.items():
        if max(each.rates) > _UNEVEN * sum(each.rates) / len(each.rates):
            yield _make(name, UNEVEN, case.warm_up, inf)


def _make(who: str, kind: str, since: float, until: float, *blamed: tuple[str, object]) -> Planted:
    return Planted(
        who=who, kinds=frozenset({kind}), since=since, until=until, decisive=True, blamed=blamed
    )


def _end(event: Event, since: float) -> float:
    lasts: float | None = getattr(event, "lasts", None)
    return inf if lasts is None else since + lasts


def _find_of_group(case: Case, world: World, group: GroupState) -> Iterator[Planted]:
    """Yields incidents: each time in which it was late, by what happened to it meanwhile."""
    effects = list(_list_effects(case, group.name))
    late, age = _find_late(case, world, group, effects)
    for span in late:
        met = [each for each in effects if _belongs(each, span)]
        if met:
            yield _join_effects(case, world, group, met, span, age)
    for each in effects:
        within = any(
            since < each.since and (each.until < until or until == inf) for since, until in late
        )
        if each.decisive and not within and not any(_belongs(each, span) for span in late):
            yield each


def _belongs(one: Planted, late: Span) -> bool:
    """Returns True if it is part of the incident of a time in which its group was late."""
    return UNKNOWN not in one.kinds and _overlaps(one, late[0] - LATE - MINUTE, late[1])


def _overlaps(one: Planted, begin: float, end: float) -> bool:
    return one.since <= end and one.until >= begin


def _list_effects(case: Case, group: str) -> Iterator[Planted]:
    """Yields the incident of each event that makes the group late."""
    events = [(case.warm_up + second, event) for second, event in case.happens]
    own = [each for each in events if getattr(each[1], "group", None) == group]
    changes = [each for each in own if isinstance(each[1], on.Join | on.Leave)]
    yield from _list_storms(case, group, changes)
    for since, event in events:
        _, _, kind = read_event(case, group, event)
        until, blamed = _end(event, since), list[tuple[str, object]]()
        match event:
            case on.SlowBroker(broker):
                blamed = [("leader", broker)]
            case on.Hang(_, (number,)) | on.Slow(_, _, (number,)):
                blamed = [("client_id", f"{group}-{number:02}")]
            case on.Poison(_, partition):
                blamed = [("partitions", [partition])]
            case on.Leave():
                back = on.Join | on.Delete
                later = [at for at, other in own if at > since and isinstance(other, back)]
                until = min(later, default=until)
            case on.Reset() | on.Delete():
                until = since
            case on.Unread(reason):
                blamed = [("cause", reason)]
        short = isinstance(event, on.Unread) and until - since < WINDOW
        if kind is not None and not short:
            decisive = kind in (GONE, UNKNOWN)
            yield replace(_make(group, kind, since, until, *blamed), decisive=decisive)


def _list_storms(
    case: Case, group: str, changes: Sequence[tuple[float, Event]]
) -> Iterator[Planted]:
    """Yields times in which members came and went again and again, or a rebalance did not end."""
    lasts = case.groups[group].rebalance_seconds
    times = sorted({second for second, _ in changes})
    if times and lasts > WINDOW:
        kinds = frozenset({STOPPED, REBALANCING})
        yield Planted(who=group, kinds=kinds, since=times[0], until=times[-1] + lasts)
    cuts = [number for number, (a, b) in enumerate(pairwise(times), 1) if b - a > WINDOW]
    for begin, end in pairwise([0, *cuts, len(times)]):
        if lasts and end - begin >= _STORM:
            yield _make(group, REBALANCING, times[begin], times[end - 1] + lasts)


def _find_late(
    case: Case, world: World, group: GroupState, effects: Sequence[Planted]
) -> tuple[list[Span], Floats]:
    """Returns the times in which a group was late or lost records, and its age by the minute."""
    age = ages_of(world, group).max(axis=1)
    age[_find_minutes_away(case, group.name, len(age))] = 0.0
    sla = case.groups[group.name].sla_seconds
    lost = np.diff(world.losses[group.name], prepend=0.0) > 0
    late = np.flatnonzero((age > min(LATE, sla or LATE)) | lost) + 1
    if not len(late):
        return [], age
    cuts = np.flatnonzero(np.diff(late) * MINUTE > WINDOW) + 1
    found: list[Span] = []
    for each in np.split(late, cuts):
        since, last = float(each[0] * MINUTE), float(each[-1] * MINUTE)
        short = last - since <= WINDOW
        missed = sla is not None and age[each - 1].max() > sla
        back = any(REWOUND in one.kinds and _overlaps(one, since - MINUTE, last) for one in effects)
        if not short or missed or back or lost[each - 1].any():
            found.append((since, inf if each[-1] >= len(age) - 1 else last))
    return found, age


def _find_minutes_away(case: Case, group: str, count: int) -> Mask:
    """Returns the minutes after the group was deleted."""
    gone = [s for s, e in case.happens if isinstance(e, on.Delete) and e.group == group]
    minutes: Mask = np.arange(count) * MINUTE >= min(gone, default=np.inf) + case.warm_up
    return minutes


def _find_unseen(case: Case, count: int) -> Mask:
    """Returns the minutes without a run."""
    minutes = np.arange(count) * MINUTE - case.warm_up
    unseen: Mask = np.zeros(count, bool)
    for since, event in case.happens:
        if isinstance(event, on.MissRuns):
            unseen |= (minutes >= since) & (minutes < since + event.seconds)
    return unseen


def _find_worked_off(age: Floats, late_until: float) -> float:
    """Returns when nothing unread was older than two runs."""
    if late_until == inf:
        return inf
    at = int(late_until / MINUTE)
    young = np.flatnonzero(age[at:] <= _YOUNG)
    return float((at + young[0] + 1) * MINUTE) if len(young) else inf


def _join_effects(
    case: Case,
    world: World,
    group: GroupState,
    met: Sequence[Planted],
    late: Span,
    age: Floats,
) -> Planted:
    """Returns one incident of all that happened in the time in which a group was late."""
    since, until = late
    end = case.warm_up + case.watched if until == inf else until
    lasts = [(end if each.until == inf else each.until) - each.since for each in met]
    main = [each for each, seconds in zip(met, lasts, strict=True) if seconds >= max(lasts)]
    kinds = frozenset().union(*(each.kinds for each in main))
    over = _find_worked_off(age, until)
    began = min(each.since for each in main)
    if gone := [each.until for each in met if GONE in each.kinds]:
        over = gone[0]
        # A group that was behind for less than an hour is gone, and no more.
        if kinds == {BEHIND} and over - began <= _LONG:
            kinds, began = kinds | {GONE}, over
    first, last = int(since / MINUTE) - 1, min(int(end / MINUTE) + 1, len(age) - 1)
    oldest = float(np.where(_find_unseen(case, len(age)), 0.0, age)[first : last + 1].max())
    sla = case.groups[group.name].sla_seconds
    missed = sla is not None and oldest > sla
    lost = world.losses[group.name][last] - world.losses[group.name][first - 1]
    rate = sum(float(topic.usual.sum()) for topic in group.topics)
    kept = min(topic.retention_ms for topic in group.topics) / 1_000
    bounds: tuple[float, float] | None = (0.0, 0.0)
    if lost:
        reads_on = not kinds <= {STOPPED, STALLED}
        bounds = None if reads_on else (lost - 3 * MINUTE * rate, lost + MINUTE * rate)
    return Planted(
        who=group.name,
        kinds=kinds | {SLA_MISSED} if missed else kinds,
        since=min(each.since for each in met),
        until=over,
        main_since=began,
        lost=bounds,
        age=None if lost else oldest,
        left=None if lost or kept < 0 else kept - oldest,
        misses_sla=missed,
        blamed=met[0].blamed if len(met) == 1 else (),
    )
