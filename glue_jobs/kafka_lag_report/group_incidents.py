# SPDX-License-Identifier: Apache-2.0
"""Incidents of consumer groups: all that was wrong with one at one time is one of them.

That it stalled, what it lost meanwhile, that it missed its SLA, who is to blame. Its times are
those of the cause, not of what was still behind afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from kafka_lag.contract import (
    BEYOND_END,
    ERR,
    FALLING_BEHIND,
    NO_MEMBER,
    OPEN_TRANSACTION,
    SLOW,
    STALL,
    STOP,
    WARN,
)
from kafka_lag.wording.causes import describe_cause
from kafka_lag.wording.evidence import read_evidence
from kafka_lag_report.evidence import Evidence, GroupSpell, PartitionSpell
from kafka_lag_report.findings import (
    BROKER,
    CONSUMER,
    PRODUCTION,
    Findings,
    GroupDay,
    GroupTopic,
    TopicRisk,
    TopicSkew,
)
from kafka_lag_report.incident import NOTICE, SERIOUS, URGENT, WARNED, Incident, Kind
from kafka_lag_report.run_clock import Clock, chained, joined
from kafka_lag_report.thresholds import (
    LONG_WARN_MINUTES,
    MOST,
    SAME_INCIDENT_SECONDS,
    UNKNOWN_SECONDS,
)

_SAME = timedelta(seconds=SAME_INCIDENT_SECONDS)
# What a group that rebalances again and again does meanwhile.
_BY_REBALANCES = (Kind.STOPPED, Kind.STALLED, Kind.BEHIND, Kind.SLA_MISSED)


def group_incidents(evidence: Evidence, findings: Findings, clock: Clock) -> Iterator[Incident]:
    """What was wrong with each group."""
    spells: dict[str, list[GroupSpell]] = defaultdict(list)
    partitions: dict[str, list[PartitionSpell]] = defaultdict(list)
    for spell in evidence.groups:
        spells[spell.group].append(spell)
    for one in evidence.partitions:
        partitions[one.group].append(one)
    days = {day.group: day for day in findings.groups.rows}
    risks = {risk.key: risk for risk in findings.risks.rows}
    skews: dict[str, list[TopicSkew]] = defaultdict(list)
    for skew in findings.skews.rows:
        skews[skew.group].append(skew)
    gaps = clock.gaps()
    for group in sorted(spells.keys() | partitions.keys()):
        day = days.get(group, GroupDay(group))
        unread = [
            (spell.first, clock.until(spell.last) or clock.end)
            for spell in spells[group]
            if spell.unread and not spell.gone
        ]
        blind = joined([*gaps, *unread], timedelta())
        own = _Group(day, spells[group], partitions[group], skews[group], risks, clock, blind)
        yield from own.incidents()


@dataclass(slots=True)
class Trouble:
    """All that was wrong with one group at one time."""

    begin: datetime
    end: datetime
    spells: list[GroupSpell] = field(default_factory=list)
    partitions: list[PartitionSpell] = field(default_factory=list)

    def overlaps(self, begin: datetime, end: datetime) -> bool:
        """Whether both have any time in common."""
        return begin < self.end and self.begin < end


def _ends_a_loss(part: GroupSpell | PartitionSpell, trouble: Trouble) -> bool:
    """Whether a group came back to what it lost then, however late a run saw that."""
    return isinstance(part, PartitionSpell) and any(
        part.passed_over and one.lost and (one.topic, one.partition) == (part.topic, part.partition)
        for one in trouble.partitions
    )


@dataclass(frozen=True, slots=True)
class _Group:
    day: GroupDay
    spells: Sequence[GroupSpell]
    partitions: Sequence[PartitionSpell]
    skews: Sequence[TopicSkew]
    risks: Mapping[GroupTopic, TopicRisk]
    clock: Clock
    # From when to when there were no runs, or none that read the group.
    blind: Sequence[tuple[datetime, datetime]]

    def incidents(self) -> Iterator[Incident]:
        troubles = self._troubles()
        made = [
            (trouble, one)
            for trouble in troubles
            if (one := self._incident(trouble, len(troubles) == 1))
        ]
        restless = [
            storm
            for storm in self._restless()
            if all(_comes_of(*each, storm) for each in made if self._overlaps(each[0], storm))
        ]
        found = list[Incident]()
        for trouble, one in made:
            storms = [n for n, each in enumerate(restless) if self._overlaps(trouble, each)]
            for n in storms:
                restless[n] = _with_cost_of(restless[n], one)
            if not storms:
                found.append(one)
        found += (
            one
            for one in self._unknown()
            if not any(self._within(one, trouble) for trouble in troubles)
        )
        found += restless
        for gone in (spell for spell in self.spells if spell.gone):
            found = _with_gone(found, self._gone(gone))
        yield from found

    def _blind_after(self, last: datetime) -> tuple[datetime, datetime] | None:
        """The time after this run in which nobody saw the group; null: the next run did."""
        after = self.clock.until(last)
        return next((each for each in self.blind if after and last < each[0] <= after), None)

    def _read_again(self, last: datetime) -> datetime | None:
        """The first run after this one that read the group; null: none did."""
        blind = self._blind_after(last)
        after = blind[1] if blind else self.clock.until(last)
        return after if after and after <= self.clock.last else None

    def _after(self, last: datetime) -> datetime:
        """To when it is known to have been as in this run."""
        if self._blind_after(last):
            return last + self.clock.interval
        return self.clock.until(last) or self.clock.seen_end

    def _seen(self, begin: datetime, end: datetime) -> timedelta:
        """How much of the day there was between both, less the time in which nobody saw it."""
        begin = max(begin, self.clock.midnight)
        lost = (min(end, stop) - max(begin, start) for start, stop in self.blind)
        return end - begin - sum((max(each, timedelta()) for each in lost), timedelta())

    def _troubles(self) -> list[Trouble]:
        """What lies no farther apart than one incident's parts may, time that nobody saw aside."""
        parts: list[tuple[datetime, datetime, GroupSpell | PartitionSpell]] = [
            (spell.first, self._after(spell.last), spell)
            for spell in self.spells
            if not spell.gone and (spell.status in (WARN, ERR) or spell.over_sla)
        ]
        parts += [(one.first, self._after(one.last), one) for one in self.partitions]
        found: list[Trouble] = []
        for begin, end, part in sorted(parts, key=lambda each: each[:2]):
            last = found[-1] if found else None
            apart = last and begin > last.end and self._seen(last.end, begin) > _SAME
            if last is None or (apart and not _ends_a_loss(part, last)):
                last = Trouble(begin, end)
                found.append(last)
            last.end = max(last.end, end)
            if isinstance(part, GroupSpell):
                last.spells.append(part)
            else:
                last.partitions.append(part)
        return found

    def _within(self, one: Incident, trouble: Trouble) -> bool:
        """Whether it was unread amid trouble, and was in the same afterwards."""
        begin, end = one.since or self.clock.midnight, one.until or self.clock.end
        return trouble.begin < begin and end < trouble.end

    def _incident(self, trouble: Trouble, alone: bool) -> Incident | None:
        standing = [one for one in trouble.partitions if one.standing]
        bad = [spell for spell in trouble.spells if spell.status in (WARN, ERR)]
        rewound = [one for one in trouble.partitions if one.going_back]
        stood = self._stood(trouble, standing) if standing else None
        if stood and self._is_most(stood, bad):
            made = _explained(stood, bad)
        elif any(spell.reason == BEYOND_END for spell in bad):
            made = self._status(bad, Kind.BEYOND_END)
        elif any(one.rewound for one in rewound):
            made = self._went_back(rewound)
        elif bad and (behind := self._behind(trouble, bad, alone)):
            made = self._standing_amid(behind, stood)
        elif stood:
            made = _explained(stood, bad)
        elif (lesser := self._lesser(trouble)) is not None:
            made = lesser
        else:
            return None
        return self._with_cost(self._still(made, bad), trouble)

    def _is_most(self, stood: Incident, bad: Sequence[GroupSpell]) -> bool:
        """Whether it stood for at least half of the time in which it did, or its status was bad."""
        last = self.clock.last if stood.still else stood.last_seen
        end = self._after(last) if last else stood.until or self.clock.seen_end
        own = (stood.since or self.clock.midnight, end)
        times = [own, *((spell.first, self._after(spell.last)) for spell in bad)]
        whole = sum((self._seen(*each) for each in joined(times, timedelta())), timedelta())
        return 2 * self._seen(*own) >= whole

    def _still(self, made: Incident, bad: Sequence[GroupSpell]) -> Incident:
        """As still so where the status was bad to the end, though its cause was over before."""
        lasting = any(self.clock.until(spell.last) is None for spell in bad)
        if made.still or not lasting:
            return made
        return self._lasting(made)

    def _lasting(self, made: Incident) -> Incident:
        """As what it says of itself is over, but not the trouble."""
        ends = self._ends(made.since, self.clock.last)
        return replace(made, cause_until=made.until, **ends)

    def _standing_amid(self, behind: Incident, stood: Incident | None) -> Incident:
        if stood is None or stood.since is None:
            return behind
        return replace(behind, stood=(stood.kind, stood.since, stood.until or stood.last_seen))

    def _behind(self, trouble: Trouble, bad: Sequence[GroupSpell], alone: bool) -> Incident | None:
        """Null: it was in WARN for too short a time."""
        made = self._status(bad, Kind.BEHIND)
        short = not any(spell.status == ERR for spell in bad)
        if short and (made.minutes or 0.0) < LONG_WARN_MINUTES:
            return None
        # whoever is behind for as long as records are kept is no farther behind, and in time again
        ends = [one.last for one in trouble.partitions if one.at_risk]
        last = max([spell.last for spell in bad] + ends)
        made = replace(made, **self._ends(made.since, last))
        if (explained := _explained(made, bad)) is not made:
            return explained
        return self._blamed(made) if alone else made

    def _lesser(self, trouble: Trouble) -> Incident | None:
        """Of a group whose status was well enough, or not for long."""
        over = [spell for spell in trouble.spells if spell.over_sla]
        skipped = [one for one in trouble.partitions if one.skipped or one.leapt]
        # by the run in which it is back, nothing is lost any more
        lost = [one for one in trouble.partitions if one.lost]
        lost = lost or [one for one in trouble.partitions if one.passed_over]
        risks = [one for one in trouble.partitions if one.at_risk]
        for kind, parts in (
            (Kind.LOST, lost),
            (Kind.SKIPPED, skipped),
            (Kind.AT_RISK, risks),
            (Kind.SLA_MISSED, over),
        ):
            if parts:
                topics = {one.topic for one in parts if isinstance(one, PartitionSpell)}
                first = min(one.first for one in parts)
                waited = kind == Kind.SLA_MISSED and any(one.held_since for one in over)
                return self._made(
                    kind,
                    first if kind == Kind.SKIPPED else self.clock.begin(first),
                    max(one.last for one in parts),
                    topic=next(iter(topics)) if len(topics) == 1 else None,
                    cause=OPEN_TRANSACTION if waited else None,
                )
        return None

    def _begin(self, one: PartitionSpell) -> datetime | None:
        """Since when it stands; null: since before anybody looked."""
        if one.stands_since and one.begin_seen:
            return one.stands_since
        return self.clock.begin(max(one.stands_since or one.first, self.clock.runs[0]))

    def _made(self, kind: Kind, since: datetime | None, last: datetime, **more: Any) -> Incident:
        whole = Incident(
            kind=kind,
            level=SERIOUS,
            group=self.day.group,
            owner=self.day.owner,
            since=since,
            **self._ends(since, last),
        )
        return replace(whole, **more)

    def _ends(self, since: datetime | None, last: datetime) -> dict[str, Any]:
        begin = max(since or self.clock.midnight, self.clock.midnight)
        return {
            "until": self._read_again(last),
            "still": self.clock.until(last) is None,
            "minutes": (self._after(last) - begin).total_seconds() / 60,
            "last_seen": last if self._blind_after(last) else None,
        }

    def _stood(self, trouble: Trouble, standing: Sequence[PartitionSpell]) -> Incident:
        """STOPPED or STALLED, whichever was so for longer, of the time that most was standing."""
        standing = self._longest(standing)
        seconds: dict[str, float] = defaultdict(float)
        for one in standing:
            length = self._after(one.last) - one.first
            seconds[str(one.standing)] += length.total_seconds()
        stopped = seconds[STOP] >= seconds[STALL]
        word = STOP if stopped else STALL
        those = [one for one in standing if one.standing == word]
        first = min(one.first for one in standing)
        begin = [self._begin(one) for one in standing if one.first - first <= _SAME]
        since = None if None in begin else min(each for each in begin if each)
        last = max(one.last for one in standing)
        cause = None
        if stopped and (nobody := self._nobody(trouble)):
            cause, last = NO_MEMBER, max(last, nobody[1])
            known = nobody[0] > self.clock.runs[0]
            since = nobody[0] if known else since and min(since, nobody[0])
        topics = sorted({one.topic for one in those})
        owners = {(one.member, one.client, one.host) for one in those}
        who = next(iter(owners)) if len(owners) == 1 and not stopped else (None, None, None)
        return self._made(
            Kind.STOPPED if stopped else Kind.STALLED,
            since,
            last,
            cause=cause,
            topic=topics[0] if len(topics) == 1 else None,
            partitions=tuple(sorted({one.partition for one in those})) if len(topics) == 1 else (),
            count=len({(one.topic, one.partition) for one in those}),
            member=who[0],
            client=who[1],
            host=who[2],
        )

    def _longest(self, standing: Sequence[PartitionSpell]) -> list[PartitionSpell]:
        """Those that stood one after the other, with at most a third of the time between them."""
        times = [(one.first, self._after(one.last)) for one in standing]
        runs = [(*each, self._seen(*each)) for each in joined(times, _SAME)]
        chains: list[tuple[datetime, datetime, timedelta]] = []
        for begin, end, stood in runs:
            before = chains[-1] if chains else (begin, begin, timedelta())
            if stood + before[2] >= MOST * self._seen(before[0], end) and chains:
                chains[-1] = (before[0], end, before[2] + stood)
            else:
                chains.append((begin, end, stood))
        begin, end, _ = max(chains, key=lambda each: each[2])
        return [one for one in standing if begin <= one.first < end]

    def _goes_on(self, chain: Sequence[GroupSpell], spell: GroupSpell) -> bool:
        """Whether no run is missing between both."""
        return spell.first - chain[-1].last <= self.clock.pause

    def _nobody(self, trouble: Trouble) -> tuple[datetime, datetime] | None:
        """First and last run of the time without members that most of the trouble was in."""
        empty = (spell for spell in self.spells if spell.nobody)
        chains = [(each[0].first, each[-1].last) for each in chained(empty, self._goes_on)]
        within = [each for each in chains if trouble.overlaps(each[0], self._after(each[1]))]
        return max(within, key=lambda each: each[1] - each[0], default=None)

    def _went_back(self, rewound: Sequence[PartitionSpell]) -> Incident:
        topics = sorted({one.topic for one in rewound})
        partitions = sorted({one.partition for one in rewound if one.rewound})
        return self._made(
            Kind.REWOUND,
            min(one.first for one in rewound),
            max(one.last for one in rewound),
            topic=topics[0] if len(topics) == 1 else None,
            partitions=tuple(partitions) if len(topics) == 1 else (),
            records_rewound=sum(one.rewound for one in rewound),
            count=len({(one.topic, one.partition) for one in rewound}),
        )

    def _status(self, bad: Sequence[GroupSpell], kind: Kind) -> Incident:
        first, last = bad[0], max(spell.last for spell in bad)
        since = first.calm_at if kind == Kind.BEHIND else None
        if since is None:
            since = self.clock.begin(first.first)
            if first.first <= self.clock.runs[0]:
                since = first.since or since
        reasons = [spell.reason for spell in bad if spell.reason in (FALLING_BEHIND, SLOW)]
        serious = any(spell.status == ERR for spell in bad)
        return self._made(
            kind, since, last, level=SERIOUS if serious else WARNED, cause=next(iter(reasons), None)
        )

    def _blamed(self, made: Incident) -> Incident:
        """With whom the day's skew names, where the group had no other incident."""
        named = [
            skew
            for skew in self.skews
            if skew.lag_skewed and skew.cause in (BROKER, CONSUMER, PRODUCTION)
        ]
        if not named:
            return made
        worst = max(named, key=lambda skew: skew.excess)
        return replace(
            made,
            cause=worst.cause,
            topic=worst.topic,
            partitions=worst.cause_partitions,
            leader=worst.cause_leader,
            member=worst.cause_member,
            client=worst.cause_client,
            host=worst.cause_host,
        )

    def _with_cost(self, made: Incident, trouble: Trouble) -> Incident:
        lags = [one.lag for one in trouble.spells if one.lag is not None]
        lags += [one.lag for one in trouble.partitions if one.lag is not None]
        ages = [spell.time_lag for spell in trouble.spells if spell.time_lag is not None]
        leaps = [one.leapt_seconds for one in trouble.partitions if one.leapt_seconds]
        reasons = [one.skip_reason for one in trouble.partitions if one.skipped and one.skip_reason]
        dated = [spell.dated for spell in trouble.spells if spell.dated is not None]
        over = [spell for spell in trouble.spells if spell.over_sla]
        times = (self._seen(spell.first, self._after(spell.last)) for spell in over)
        missed = sum(each.total_seconds() for each in times) / 60
        # Runs that come irregularly count a little less in the table that has the known minutes.
        missed = min(missed, self.day.sla_minutes or missed)
        made = replace(
            made,
            lag=max(lags, default=None),
            time_lag=max(ages, default=None),
            is_least=max(ages, default=-1.0) > max(dated, default=-1.0),
            sla_seconds=max((s.sla for s in over if s.sla), default=None),
            sla_missed_minutes=missed if over else None,
            sla_minutes=self.day.sla_minutes if over else None,
            records_skipped=sum(one.skipped for one in trouble.partitions) or None,
            skip_reason=max(reasons, default=None),
            records_leapt=sum(one.leapt for one in trouble.partitions) or None,
            leapt_seconds=max(leaps, default=None),
        )
        return self._with_risk(self._with_loss(made, trouble.partitions), trouble.partitions)

    def _with_loss(self, made: Incident, parts: Sequence[PartitionSpell]) -> Incident:
        """What was deleted unread: when the group came back, and what still is behind the start."""
        lost: dict[str, int] = defaultdict(int)
        for one in parts:
            lost[one.topic] += one.passed_over
        last = {(one.topic, one.partition): one for one in sorted(parts, key=lambda p: p.first)}
        for (topic, _), one in last.items():
            lost[topic] += one.lost
        total = sum(lost.values())
        if not total:
            return made
        topics = [topic for topic, count in lost.items() if count]
        made = replace(made, level=URGENT, records_lost=total)
        if len(topics) > 1:
            return made
        risk = self.risks.get((self.day.group, topics[0]), TopicRisk(self.day.group, topics[0]))
        # the day's may be that of another loss
        own = replace(risk, retention_needed=self._needed(parts, topics[0]))
        return replace(
            made,
            lost_of=topics[0],
            retention=own.retention,
            retention_enough=own.retention_enough,
            unlimited=own.unlimited,
        )

    def _needed(self, parts: Sequence[PartitionSpell], topic: str) -> float | None:
        """For how long the topic had to be kept until the group came back; null: nobody knows."""
        losing = [one.needed for one in parts if one.topic == topic and one.lost]
        known = [seconds for seconds in losing if seconds is not None]
        if not known or len(known) < len(losing):
            return None
        # the run after the last that saw a loss is the first that may have read again
        return max(known) + self.clock.interval.total_seconds()

    def _with_risk(self, made: Incident, parts: Sequence[PartitionSpell]) -> Incident:
        risks = [one for one in parts if one.at_risk and one.seconds_left is not None]
        if not risks or made.records_lost:
            return made
        worst = min(risks, key=lambda one: one.seconds_left or 0.0)
        still = any(self.clock.until(one.last) is None for one in risks)
        if still:
            worst = min(
                (one for one in risks if self.clock.until(one.last) is None),
                key=lambda one: one.seconds_left or 0.0,
            )
        if still and not made.still:
            made = self._lasting(made)
        return replace(
            made,
            level=URGENT if still else made.level,
            loss_unseen=not still and not all(self._was_spared(one) for one in risks),
            seconds_left=worst.seconds_left,
            seconds_left_at=worst.seconds_left_at,
            topic=made.topic or worst.topic,
        )

    def _was_spared(self, risk: PartitionSpell) -> bool:
        """Whether it was read again before anything can have been deleted."""
        again = self._read_again(risk.last)
        return again is not None and (again - risk.last).total_seconds() <= (risk.seconds_left or 0)

    def _unknown(self) -> Iterator[Incident]:
        """The times in which the group itself could not be read."""
        unread = (spell for spell in self.spells if spell.unread and not spell.gone)
        for found in chained(unread, self._goes_on):
            first, last = found[0].first, found[-1].last
            length = (self._after(last) - first).total_seconds()
            if length >= UNKNOWN_SECONDS:
                yield self._made(Kind.UNKNOWN, self.clock.begin(first), last, cause=found[0].unread)

    def _overlaps(self, trouble: Trouble, one: Incident) -> bool:
        end = one.until or self.clock.end
        return trouble.overlaps(one.since or self.clock.midnight, end)

    def _restless(self) -> Iterator[Incident]:
        """The times in which it rebalanced again and again."""
        restless = (spell for spell in self.spells if spell.restless)
        for spells in chained(restless, self._goes_on):
            since = spells[0].restless_since or spells[0].first
            last = max(spell.restless_until or spell.last for spell in spells)
            count = sum(spell.rebalances or 0 for spell in spells)
            yield self._made(Kind.REBALANCING, since, last, count=count, level=WARNED)

    def _gone(self, spell: GroupSpell) -> Incident:
        made = self._made(Kind.GONE, spell.first, spell.first, level=NOTICE)
        before = [each for each in self.spells if each.last < spell.first]
        lag = before[-1].last_lag if before else None
        firsts = [each.first for each in self.spells] + [each.first for each in self.partitions]
        return replace(
            made,
            until=spell.first,
            still=False,
            minutes=None,
            gone_at=spell.first,
            came_back=any(first > spell.last for first in firsts),
            lag=lag or None,
        )


def _explained(made: Incident, bad: Sequence[GroupSpell]) -> Incident:
    """With the cause that the collector named last; as it is where it named none.

    That nobody owned it explains itself. Who stalled is known by partition already.
    """
    named = [spell for spell in bad if spell.cause]
    if not named or made.kind not in (Kind.BEHIND, Kind.STALLED):
        return made
    last = max(named, key=lambda spell: spell.last)
    row = {
        "consumer_group": last.group,
        "cause": last.cause,
        "cause_since": last.cause_since and int(last.cause_since.timestamp() * 1_000),
        "cause_evidence": last.cause_evidence,
    }
    text = describe_cause(row)
    made = replace(made, cause=last.cause, why=text.happened if text else None)
    if made.kind == Kind.STALLED:
        return made
    found = read_evidence(row)
    partition = found.get("partition")
    return replace(
        made,
        topic=found.get("topic"),
        partitions=() if partition is None else (partition,),
        leader=found.get("broker"),
        member=found.get("member"),
        client=found.get("client"),
        host=found.get("host"),
    )


def _comes_of(trouble: Trouble, made: Incident, storm: Incident) -> bool:
    """Whether rebalances, which went on for twice as long at least, did this to the group."""
    if made.kind not in _BY_REBALANCES or made.records_lost or storm.since is None:
        return False
    begin, end = storm.since, storm.until or trouble.end
    within = begin - _SAME <= trouble.begin and trouble.end <= end + _SAME
    return within and 2 * (trouble.end - trouble.begin) <= end - begin


def _with_cost_of(storm: Incident, made: Incident) -> Incident:
    """As bad as what came of it, if nothing worse has before."""
    if (storm.lag or 0) >= (made.lag or 0) and storm.level == made.level:
        return storm
    names = ("level", "lag", "time_lag", "is_least", "sla_seconds", "sla_missed_minutes")
    left = ("sla_minutes", "seconds_left", "seconds_left_at")
    return replace(storm, **{name: getattr(made, name) for name in (*names, *left)})


def _with_gone(found: list[Incident], gone: Incident) -> list[Incident]:
    """A group that was deleted in trouble: the incident ends by that, and is one with it."""
    at = gone.since
    if at is None:
        return found
    began = [one for one in found if one.gone_at is None and (one.since is None or one.since <= at)]
    last = max(began, key=lambda one: one.until or datetime.max.replace(tzinfo=UTC), default=None)
    if last is None or (last.until and at - last.until > _SAME):
        return [*found, gone]
    ended = replace(last, gone_at=at, came_back=gone.came_back)
    if last.until is None or last.until >= at:
        ended = replace(ended, loss_unseen=True)
    if not gone.came_back and (last.until is None or last.until > at):
        ended = replace(ended, until=at, still=False)
    return [ended if one is last else one for one in found]
