# SPDX-License-Identifier: Apache-2.0
"""Finds incidents that no group causes: of topics, leaders, keys, and of the collector itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import Row

from kafka_lag.contract import NO_LEADER, OPEN_TRANSACTION
from kafka_lag_report.evidence import Evidence
from kafka_lag_report.findings import Findings, compute_share_of_runs
from kafka_lag_report.incident import NOTICE, SERIOUS, WARNED, Incident, Kind
from kafka_lag_report.run_clock import Clock, join_chains, join_periods
from kafka_lag_report.thresholds import DOUBTFUL_SHARE, LONG_WARN_MINUTES, UNKNOWN_SECONDS

# Most readers of a topic that an incident names.
_SOME = 3


def find_cluster_incidents(
    evidence: Evidence, findings: Findings, clock: Clock, *, first_day: bool
) -> Iterator[Incident]:
    """Yields the incidents of topics, brokers and the collector.

    `first_day`: the cluster's first day.
    """
    yield from _find_unread_topics(evidence, clock)
    yield from _find_long_transactions(evidence.groups, clock)
    yield from _find_missing_leaders(evidence.unread_topics, clock)
    yield from _find_moved_leaders(evidence.stints, clock)
    yield from _find_recreated(evidence.stints)
    yield from _find_missing_runs(clock, findings, first_day=first_day)
    yield from _find_skipped_objects(findings)
    yield from _find_uneven(findings.actionable_skews)


@dataclass(frozen=True, slots=True)
class _Unread:
    """Partitions of a topic, or groups' commits on it, that could not be read during one period."""

    first: datetime
    last: datetime
    reason: str
    partitions: frozenset[int]
    groups: frozenset[str]
    # The largest number of partitions that one run did not read.
    count: int

    def is_alike(self, other: _Unread, pause: timedelta) -> bool:
        """Returns whether both began and ended together, for the same reason."""
        begin, end = abs(self.first - other.first), abs(self.last - other.last)
        same = bool(self.groups) == bool(other.groups) and self.reason == other.reason
        return same and begin <= pause and end <= pause

    def join(self, other: _Unread) -> _Unread:
        """Returns both as one period."""
        return replace(
            self,
            first=min(self.first, other.first),
            last=max(self.last, other.last),
            partitions=self.partitions | other.partitions,
            groups=self.groups | other.groups,
            count=max(self.count, other.count),
        )


def _find_unread_topics(evidence: Evidence, clock: Clock) -> Iterator[Incident]:
    """Yields the periods in which partitions of a topic, or groups' commits on it, were not read.

    A group's commits are left out while the group itself was not read, or while the topic was not
    read. The incident of a topic names the groups whose lag was unknown because of it.
    """
    of_groups = [(s.group, s.first, s.last) for s in evidence.groups if s.unread]

    def is_groups_own(one: Row) -> bool:
        return any(
            group == one.group and first <= one.last and one.first <= last + clock.pause
            for group, first, last in of_groups
        )

    topics: dict[str, list[Row]] = defaultdict(list)
    for one in evidence.unread_topics:
        if not (one.group and is_groups_own(one)):
            topics[one.topic].append(one)
    for topic, spells in topics.items():
        own = join_periods(
            [(one.first, one.last) for one in spells if one.group is None], clock.pause
        )
        alike: list[_Unread] = []
        for found in _find_periods(spells, clock):
            at = next((n for n, e in enumerate(alike) if e.is_alike(found, clock.pause)), None)
            if at is None:
                alike.append(found)
            else:
                alike[at] = alike[at].join(found)
        for each in alike:
            if not each.groups:
                yield _make_unread(topic, each, spells, spells[0].size or 0, clock)
            elif not any(
                begin - clock.pause <= each.first and each.last <= end + clock.pause
                for begin, end in own
            ):
                yield _make_unread(topic, each, (), spells[0].size or 0, clock)


def _find_periods(spells: Iterable[Row], clock: Clock) -> Iterator[_Unread]:
    """Yields how long each partition or group was unread, for any reason except a missing leader.

    Periods shorter than UNKNOWN_SECONDS are left out.
    """
    whose: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for one in sorted(spells, key=lambda each: each.first):
        if one.reason != NO_LEADER:
            whose[one.group or "", -1 if one.partition is None else one.partition].append(one)

    def goes_on(chain: list[Row], one: Row) -> bool:
        return clock.is_soon(max(each.last for each in chain), one.first)

    for (group, partition), own in whose.items():
        for chain in join_chains(own, goes_on):
            last = max(one.last for one in chain)
            length = (clock.until(last) or clock.seen_end) - chain[0].first
            if length.total_seconds() >= UNKNOWN_SECONDS:
                lasted: dict[str, timedelta] = defaultdict(timedelta)
                for one in chain:
                    lasted[one.reason] += one.last - one.first + clock.interval
                yield _Unread(
                    chain[0].first,
                    last,
                    max(lasted, key=lambda reason: lasted[reason]),
                    frozenset() if partition < 0 else frozenset([partition]),
                    frozenset([group] if group else []),
                    max(one.partitions for one in chain),
                )


def _make_unread(
    topic: str, each: _Unread, spells: Iterable[Row], size: int, clock: Clock
) -> Incident:
    """Returns the incident of one unread period.

    `spells` are searched for the groups that could not be read at the same time. `size` is the
    number of partitions of the topic, 0 if it is not known.
    """
    readers = {s.group for s in spells if s.group and s.first <= each.last and each.first <= s.last}
    groups = sorted(each.groups | readers)
    whole = len(each.partitions) >= max(size, max(each.partitions, default=-1) + 1)
    part = each.count if each.count < size else 0
    until = clock.until(each.last)
    return Incident(
        kind=Kind.UNKNOWN,
        level=SERIOUS,
        group=groups[0] if len(groups) == 1 else None,
        topic=topic,
        partitions=() if whole else tuple(sorted(each.partitions)),
        since=clock.begin(each.first),
        until=until,
        still=until is None,
        minutes=((until or clock.seen_end) - each.first).total_seconds() / 60,
        cause=each.reason,
        count=len(groups),
        others=tuple(groups[:_SOME]),
        commits=part if each.groups else None,
    )


def _find_long_transactions(spells: Iterable[Row], clock: Clock) -> Iterator[Incident]:
    """Yields the transactions that stayed open for long, each with the groups that had to wait."""
    ordered = sorted(
        (one for one in spells if one.held_topic is not None and one.held_since is not None),
        key=lambda s: (s.held_topic, s.held_partition, s.held_since, s.first),
    )

    def is_same(chain: list[Row], one: Row) -> bool:
        first = chain[0]
        where = (first.held_topic, first.held_partition) == (one.held_topic, one.held_partition)
        return where and first.held_since == one.held_since

    for found in join_chains(ordered, is_same):
        # The transaction ends for all groups that wait for it at once.
        last = max(one.last for one in found)
        begin, until = found[0].held_since or found[0].first, clock.until(last)
        records: dict[str, int] = {}
        for one in found:
            records[one.group] = max(records.get(one.group, 0), one.held_records or 0)
        groups = sorted(records, key=lambda group: (-records[group], group))
        number = found[0].held_partition
        yield Incident(
            kind=Kind.HELD_UP,
            level=WARNED,
            group=groups[0] if len(groups) == 1 else None,
            topic=found[0].held_topic,
            partitions=() if number is None else (number,),
            since=begin,
            until=until,
            still=until is None,
            minutes=((until or clock.seen_end) - max(begin, clock.midnight)).total_seconds() / 60,
            cause=OPEN_TRANSACTION,
            count=len(groups),
            others=tuple(groups[:_SOME]),
            lag=max(records.values()) or None,
        )


def _find_missing_leaders(unread: Iterable[Row], clock: Clock) -> Iterator[Incident]:
    spells = (one for one in unread if one.reason == NO_LEADER and one.group is None)
    ordered = sorted(spells, key=lambda s: (s.leader is None, s.leader or 0, s.first))

    def began_together(chain: list[Row], one: Row) -> bool:
        same: bool = chain[0].leader == one.leader
        return same and clock.is_soon(chain[0].first, one.first)

    for spells_of_one in join_chains(ordered, began_together):
        first = min(one.first for one in spells_of_one)
        topics = sorted({one.topic for one in spells_of_one})
        ends: dict[tuple[str, int | None], datetime | None] = {}
        for one in sorted(spells_of_one, key=lambda each: each.last):
            ends[one.topic, one.partition] = clock.until(one.last)
        yield Incident(
            kind=Kind.NO_LEADER,
            level=SERIOUS,
            leader=spells_of_one[0].leader,
            topic=topics[0] if len(topics) == 1 else None,
            since=clock.begin(first),
            **_describe_ends(list(ends.values()), first, clock),
            count=len(ends),
        )


def _describe_ends(
    ends: Sequence[datetime | None], first: datetime, clock: Clock
) -> dict[str, Any]:
    """Returns `until`, `still`, `minutes` and `sooner` of an incident of several partitions.

    `ends` holds the end for each partition; null means that it has not recovered. `sooner` is the
    number of partitions that recovered well before the last ones, and the time of the latest of
    them.
    """
    known = sorted(end for end in ends if end)
    over = join_chains(known, lambda chain, end: end - chain[-1] <= clock.pause)
    still = len(known) < len(ends)
    sooner = [end for chain in (over if still else over[:-1]) for end in chain]
    until = None if still else known[-1]
    return {
        "until": until,
        "still": still,
        "minutes": ((until or clock.seen_end) - first).total_seconds() / 60,
        "sooner": (len(sooner), sooner[-1]) if sooner else None,
    }


@dataclass(frozen=True, slots=True)
class _Move:
    log: tuple[str, int]
    leader: int
    to: int
    at: datetime
    until: datetime | None


def _find_moves(log: tuple[str, int], stints: Iterable[Row]) -> Iterator[_Move]:
    """Yields each change of a partition's leader.

    A return to the day's first leader only ends a move.
    """
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


def _find_moved_leaders(stints: Iterable[Row], clock: Clock) -> Iterator[Incident]:
    """Yields the brokers that lost the leadership of partitions to other brokers."""
    logs: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for stint in stints:
        logs[stint.topic, stint.partition].append(stint)
    moves = [move for log, found in logs.items() for move in _find_moves(log, found)]

    def one_after_the_other(chain: list[_Move], move: _Move) -> bool:
        return chain[-1].leader == move.leader and move.at - chain[-1].at <= clock.pause

    for group in join_chains(sorted(moves, key=lambda m: (m.leader, m.at)), one_after_the_other):
        ends = {move.log: move.until for move in group}
        since = group[0].at
        yield Incident(
            kind=Kind.LEADER_MOVED,
            level=NOTICE,
            leader=group[0].leader,
            moved_to=tuple(sorted({move.to for move in group})),
            since=since,
            **_describe_ends(list(ends.values()), since, clock),
            count=len(ends),
        )


def _find_recreated(stints: Iterable[Row]) -> Iterator[Incident]:
    ids: dict[str, dict[str, datetime]] = defaultdict(dict)
    for stint in stints:
        if stint.topic_id is not None:
            known = ids[stint.topic].get(stint.topic_id, stint.first)
            ids[stint.topic][stint.topic_id] = min(known, stint.first)
    for topic, firsts in ids.items():
        for at in sorted(firsts.values())[1:]:
            yield Incident(kind=Kind.RECREATED, level=NOTICE, topic=topic, since=at, until=at)


def _find_missing_runs(clock: Clock, findings: Findings, *, first_day: bool) -> Iterator[Incident]:
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
    worst = findings.worst_gap
    if worst is None or (gaps and worst["dataset"] == "groups"):
        return
    share = compute_share_of_runs(worst)
    of_groups = [
        compute_share_of_runs(one) for one in findings.coverage if one["dataset"] == "groups"
    ]
    if worst["dataset"] == "groups" or of_groups != [share]:
        longest = worst["longest_gap_seconds"]
        yield Incident(
            kind=Kind.NO_RUNS,
            level=SERIOUS if share is not None and share < DOUBTFUL_SHARE else NOTICE,
            measure=worst["dataset"],
            count=worst["runs"],
            usual=worst["expected_runs"],
            minutes=longest / 60 if longest else None,
        )


def _find_skipped_objects(findings: Findings) -> Iterator[Incident]:
    for one in findings.coverage:
        if one["objects_skipped"]:
            yield Incident(
                kind=Kind.NO_OBJECTS,
                level=SERIOUS,
                measure=one["dataset"],
                count=one["objects_skipped"],
            )


def _find_uneven(skews: Iterable[Mapping[str, Any]]) -> Iterator[Incident]:
    """Yields one incident for each topic with uneven keys, even if several groups read it."""
    done: set[str] = set()
    for skew in skews:
        if skew["production_skewed"] and skew["topic"] not in done:
            done.add(skew["topic"])
            top = skew["production_top_partition"]
            yield Incident(
                kind=Kind.UNEVEN,
                level=NOTICE,
                topic=skew["topic"],
                partitions=() if top is None else (top,),
                share=skew["production_top_share"],
                even=skew["production_even_share"],
            )
