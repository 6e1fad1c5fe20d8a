# SPDX-License-Identifier: Apache-2.0
"""Incidents that are no group's doing: of topics, leaders, keys, and of the collector itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from kafka_lag.contract import NO_LEADER
from kafka_lag_report.evidence import Evidence, Stint, UnreadSpell
from kafka_lag_report.findings import Findings, TopicSkew
from kafka_lag_report.incident import NOTICE, SERIOUS, Incident, Kind
from kafka_lag_report.run_clock import Clock, chained
from kafka_lag_report.thresholds import LONG_WARN_MINUTES, UNKNOWN_SECONDS

# Of a topic's readers so many are named.
_SOME = 3


def cluster_incidents(
    evidence: Evidence, findings: Findings, clock: Clock, *, first_day: bool
) -> Iterator[Incident]:
    """What happened to topics and brokers, and when nothing was seen."""
    yield from _unread_topics(evidence, clock)
    yield from _no_leader(evidence.unread, clock)
    yield from _moved_leaders(evidence.stints, clock)
    yield from _recreated(evidence.stints)
    yield from _no_runs(clock, findings, first_day=first_day)
    yield from _skipped_objects(findings)
    yield from _uneven(findings.actionable_skews)


def _unread_topics(evidence: Evidence, clock: Clock) -> Iterator[Incident]:
    """Topics, or a group's commits of them, that were unread though the group itself was read."""
    of_groups = [(s.group, s.first, s.last) for s in evidence.groups if s.unread]

    def is_groups_own(one: UnreadSpell) -> bool:
        return any(
            group == one.group and first <= one.last and one.first <= last + clock.pause
            for group, first, last in of_groups
        )

    found: dict[tuple[str, str, datetime], list[UnreadSpell]] = defaultdict(list)
    for one in evidence.unread:
        length = (clock.until(one.last) or clock.seen_end) - one.first
        long = length.total_seconds() >= UNKNOWN_SECONDS
        if long and one.reason != NO_LEADER and not (one.group and is_groups_own(one)):
            found[one.topic, one.reason, one.first].append(one)
    for (topic, reason, first), spells in found.items():
        groups = tuple(sorted({one.group for one in spells if one.group}))
        last = max(one.last for one in spells)
        until = clock.until(last)
        yield Incident(
            kind=Kind.UNKNOWN,
            level=SERIOUS,
            group=groups[0] if len(groups) == 1 else None,
            topic=topic,
            since=clock.begin(first),
            until=until,
            still=until is None,
            minutes=((until or clock.seen_end) - first).total_seconds() / 60,
            cause=reason,
            count=len(groups),
            others=groups[:_SOME],
        )


def _no_leader(unread: Iterable[UnreadSpell], clock: Clock) -> Iterator[Incident]:
    spells = (one for one in unread if one.reason == NO_LEADER and one.group is None)
    ordered = sorted(spells, key=lambda s: (s.leader is None, s.leader or 0, s.first))

    def began_together(chain: list[UnreadSpell], one: UnreadSpell) -> bool:
        return chain[0].leader == one.leader and one.first - chain[0].first <= clock.pause

    for spells_of_one in chained(ordered, began_together):
        first = min(one.first for one in spells_of_one)
        until = clock.until(max(one.last for one in spells_of_one))
        topics = sorted({one.topic for one in spells_of_one})
        partitions = {(one.topic, one.partition) for one in spells_of_one}
        yield Incident(
            kind=Kind.NO_LEADER,
            level=SERIOUS,
            leader=spells_of_one[0].leader,
            topic=topics[0] if len(topics) == 1 else None,
            since=clock.begin(first),
            until=until,
            still=until is None,
            minutes=((until or clock.seen_end) - first).total_seconds() / 60,
            count=len(partitions),
        )


@dataclass(frozen=True, slots=True)
class _Move:
    log: tuple[str, int]
    leader: int
    to: int
    at: datetime
    until: datetime | None


def _moves(log: tuple[str, int], stints: Iterable[Stint]) -> Iterator[_Move]:
    """From one leader of a partition to another; back to the day's first is no move, but an end."""
    led: list[tuple[str | None, int, datetime]] = []
    for stint in sorted(stints, key=lambda s: s.first):
        if stint.leader is not None and (not led or led[-1][:2] != (stint.topic_id, stint.leader)):
            led.append((stint.topic_id, stint.leader, stint.first))
    ends = [begin for _, _, begin in led[2:]]
    home = led[0][1] if led else None
    for (old_id, leader, _), (topic_id, to, at), until in zip(
        led, led[1:], [*ends, None], strict=False
    ):
        if topic_id != old_id:
            home = to
        elif to != home:
            yield _Move(log, leader, to, at, until)


def _moved_leaders(stints: Iterable[Stint], clock: Clock) -> Iterator[Incident]:
    """Brokers that lost the lead of partitions to others, for a time or for good."""
    logs: dict[tuple[str, int], list[Stint]] = defaultdict(list)
    for stint in stints:
        logs[stint.topic, stint.partition].append(stint)
    moves = [move for log, found in logs.items() for move in _moves(log, found)]

    def one_after_the_other(chain: list[_Move], move: _Move) -> bool:
        return chain[-1].leader == move.leader and move.at - chain[-1].at <= clock.pause

    for group in chained(sorted(moves, key=lambda m: (m.leader, m.at)), one_after_the_other):
        ends = [move.until for move in group]
        until = max((end for end in ends if end), default=None) if all(ends) else None
        since = group[0].at
        yield Incident(
            kind=Kind.LEADER_MOVED,
            level=NOTICE,
            leader=group[0].leader,
            moved_to=tuple(sorted({move.to for move in group})),
            since=since,
            until=until,
            still=until is None,
            minutes=((until or clock.seen_end) - since).total_seconds() / 60,
            count=len({move.log for move in group}),
        )


def _recreated(stints: Iterable[Stint]) -> Iterator[Incident]:
    ids: dict[str, dict[str, datetime]] = defaultdict(dict)
    for stint in stints:
        if stint.topic_id is not None:
            known = ids[stint.topic].get(stint.topic_id, stint.first)
            ids[stint.topic][stint.topic_id] = min(known, stint.first)
    for topic, firsts in ids.items():
        for at in sorted(firsts.values())[1:]:
            yield Incident(kind=Kind.RECREATED, level=NOTICE, topic=topic, since=at, until=at)


def _no_runs(clock: Clock, findings: Findings, *, first_day: bool) -> Iterator[Incident]:
    if not clock.runs:
        return
    gaps = clock.gaps()
    for begin, end in gaps:
        if first_day and begin <= clock.midnight:
            continue
        until = None if end >= clock.end and not clock.in_progress else end
        minutes = (end - begin).total_seconds() / 60
        level = SERIOUS if until is None or minutes >= LONG_WARN_MINUTES else NOTICE
        yield Incident(
            kind=Kind.NO_RUNS,
            level=level,
            since=begin,
            until=until,
            still=until is None,
            minutes=minutes,
        )
    seen = {one.dataset: one for one in findings.coverage}
    worst = findings.worst_gap
    if worst and (not gaps or worst.dataset != "groups"):
        groups = seen.get("groups")
        if groups is None or worst.dataset == "groups" or worst.share != groups.share:
            yield Incident(
                kind=Kind.NO_RUNS,
                level=SERIOUS if worst.doubtful else NOTICE,
                measure=worst.dataset,
                count=worst.runs,
                usual=worst.expected_runs,
                minutes=worst.longest_gap / 60 if worst.longest_gap else None,
            )


def _skipped_objects(findings: Findings) -> Iterator[Incident]:
    for one in findings.coverage:
        if one.objects_skipped:
            yield Incident(
                kind=Kind.NO_OBJECTS,
                level=SERIOUS,
                measure=one.dataset,
                count=one.objects_skipped,
            )


def _uneven(skews: Iterable[TopicSkew]) -> Iterator[Incident]:
    """Topics whose keys are uneven; a row a topic, though each of its groups has one."""
    done: set[str] = set()
    for skew in skews:
        if skew.production_skewed and skew.topic not in done:
            done.add(skew.topic)
            top = skew.made_top_partition
            yield Incident(
                kind=Kind.UNEVEN,
                level=NOTICE,
                topic=skew.topic,
                partitions=() if top is None else (top,),
                share=skew.made_top_share,
                even=skew.made_even_share,
            )
