# SPDX-License-Identifier: Apache-2.0
"""Finds the incidents of consumer groups: the collector's, and more that only a whole day shows.

A whole day shows for how long a group could not be read, that it rebalanced for long or was
deleted, and what it lost or skipped in so few runs that the collector published no incident.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import Row

from kafka_lag.contract import (
    BEYOND_END,
    NO_MEMBER,
    OPEN_TRANSACTION,
    READ_OR_SKIPPED,
    REWOUND,
    STALLED,
    STOPPED,
    UNAVAILABLE,
)
from kafka_lag.wording.causes import describe_cause
from kafka_lag.wording.evidence import read_evidence
from kafka_lag_report.evidence import Evidence
from kafka_lag_report.findings import Findings, TopicRisk
from kafka_lag_report.incident import NOTICE, SERIOUS, URGENT, WARNED, Incident, Kind
from kafka_lag_report.run_clock import Clock, join_chains
from kafka_lag_report.thresholds import (
    LONG_WARN_MINUTES,
    SAME_INCIDENT_SECONDS,
    UNKNOWN_SECONDS,
)

_SAME = timedelta(seconds=SAME_INCIDENT_SECONDS)
_KINDS = {
    STOPPED: Kind.STOPPED,
    NO_MEMBER: Kind.STOPPED,
    STALLED: Kind.STALLED,
    REWOUND: Kind.REWOUND,
    BEYOND_END: Kind.BEYOND_END,
}
_STANDING = (Kind.STOPPED, Kind.STALLED)


def find_group_incidents(
    evidence: Evidence, findings: Findings, clock: Clock
) -> Iterator[Incident]:
    """Yields the incidents of all groups, ordered by the name of the group."""
    groups: dict[str, _Group] = {}
    days = {day["consumer_group"]: day for day in findings.groups.rows}

    def find(name: str) -> _Group:
        return groups.setdefault(name, _Group(name, clock, days.get(name, {})))

    for spell in evidence.groups:
        find(spell.group).spells.append(spell)
    for rows in evidence.incidents:
        find(rows.group).published.append(rows)
    for consumer in findings.consumers.rows:
        if consumer["consumer_group"] in groups and consumer["member_id"]:
            groups[consumer["consumer_group"]].members[consumer["member_id"]] = consumer
    for risk in findings.risks.rows:
        if risk.records_lost:
            find(risk.group).losses.append(risk)
    for _, group in sorted(groups.items()):
        yield from group.find_incidents()


@dataclass(frozen=True, slots=True)
class _Group:
    name: str
    clock: Clock
    day: Mapping[str, Any]
    spells: list[Row] = field(default_factory=list)
    published: list[Row] = field(default_factory=list)
    losses: list[TopicRisk] = field(default_factory=list)
    members: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def find_incidents(self) -> Iterator[Incident]:
        # an incident that ended on the day before stays in the rows for some minutes; partitions
        # without a leader are an incident of the cluster
        published = [
            self._make_published(rows)
            for rows in self.published
            if rows.worst != UNAVAILABLE
            and (rows.until is None or rows.until >= self.clock.midnight)
        ]
        found = [
            *published,
            *(
                one
                for one in self._find_unknown()
                if not any(_is_amid(one, each) for each in published)
            ),
            *(one for one in self._find_restless() if not self._is_explained(one, published)),
            *(
                one
                for one in self._find_brief()
                if not any(_is_overlapping(one, each) for each in published)
            ),
        ]
        for gone in (spell for spell in self.spells if spell.gone):
            found = _add_deletion(found, self._make_gone(gone))
        yield from found

    def _make_published(self, rows: Row) -> Incident:
        clock = self.clock
        kind = _choose_kind(rows)
        seen = rows.last_read or rows.last
        unseen = rows.until is None and clock.until(seen) is not None
        end = rows.until or (seen + clock.interval if unseen else clock.seen_end)
        minutes = max(0.0, (end - max(rows.since, clock.midnight)).total_seconds() / 60)
        warned = kind == Kind.BEHIND or rows.worst == NO_MEMBER
        level = WARNED if warned and not rows.is_error else SERIOUS
        short = level == WARNED and minutes < LONG_WARN_MINUTES
        is_over = rows.until is not None or clock.until(rows.last) is not None
        made = Incident(
            kind=kind,
            level=NOTICE if short and rows.until else level,
            incident_id=rows.incident_id,
            group=rows.group,
            owner=rows.owner,
            since=rows.since,
            until=rows.until,
            still=not is_over,
            last_seen=seen if unseen else None,
            minutes=minutes,
            worst=self._find_worst(rows, kind, end),
            is_empty=bool(rows.is_empty),
            lag=rows.lag,
            time_lag=rows.time_lag,
            is_least=(rows.time_lag or 0.0) > (rows.dated or 0.0),
            records_rewound=rows.rewound if kind == Kind.REWOUND else None,
            records_skipped=rows.skipped or None,
            skip_reason=rows.skip_reason,
            records_leapt=rows.passed,
        )
        if kind == Kind.HELD_UP:
            made = replace(made, others=(rows.group,), count=1)
        if rows.sla_missed:
            # the day's minutes count only runs of which it is known whether they kept the SLA
            missed = min(rows.sla_missed, self.day.get("sla_minutes") or rows.sla_missed)
            made = replace(
                made,
                sla_seconds=rows.sla,
                sla_missed_minutes=missed,
                sla_minutes=self.day.get("sla_minutes"),
            )
        made = _add_cause(made, rows, clock)
        if (consumer := self.members.get(made.member or "")) and made.client is None:
            made = replace(made, client=consumer["client_id"], host=consumer["client_host"])
        return self._add_loss(made, rows)

    def _find_worst(
        self, rows: Row, kind: Kind, end: datetime
    ) -> tuple[datetime, datetime | None, bool] | None:
        """Returns from when to when the group had the incident's worst status.

        The last value says whether it had this status for most of that time. Returns None if it had
        it during the whole incident, or only on an earlier day.
        """
        begin = max(rows.worst_since or rows.since, rows.since)
        if kind == Kind.REWOUND:
            return begin, rows.until, True
        if kind not in (*_STANDING, Kind.BEYOND_END) or rows.worst_last is None:
            return None
        until = self.clock.until(rows.worst_last)
        if max(begin - rows.since, end - (until or end)) <= self.clock.pause:
            return None
        length = (until or end) - max(begin, self.clock.midnight)
        return begin, until, 2 * 60 * rows.worst_minutes >= length.total_seconds()

    def _add_loss(self, made: Incident, rows: Row) -> Incident:
        if rows.lost:
            return self._add_topic(replace(made, level=URGENT, records_lost=rows.lost))
        if rows.seconds_left is None or rows.seconds_left_at is None or not rows.is_at_risk:
            return made
        if made.still and rows.seconds_left_now is not None and made.last_seen is None:
            left, at = rows.seconds_left_now, self.clock.last
            return replace(made, level=URGENT, seconds_left=left, seconds_left_at=at)
        again = self.clock.until(rows.seconds_left_at)
        spared = again and (again - rows.seconds_left_at).total_seconds() <= rows.seconds_left
        return replace(
            made,
            seconds_left=rows.seconds_left,
            seconds_left_at=rows.seconds_left_at,
            loss_unseen=made.last_seen is not None or not spared,
        )

    def _add_topic(self, made: Incident) -> Incident:
        """Returns the incident with the topic that lost records, and the retention it needed.

        Returns it unchanged if there was more than one loss on this day.
        """
        times = sum(bool(one.lost) for one in self.published)
        times += sum(one.losing for one in self.spells) if made.incident_id is None else 0
        if len(self.losses) != 1 or times != 1:
            return made
        (risk,) = self.losses
        return replace(
            made,
            lost_of=risk.topic,
            retention=risk.retention,
            retention_enough=risk.retention_enough,
            unlimited=risk.unlimited,
        )

    def _make(self, kind: Kind, since: datetime | None, last: datetime, **more: Any) -> Incident:
        until = self.clock.until(last)
        is_gap = until is not None and until - last > self.clock.pause
        end = last + self.clock.interval if is_gap else until or self.clock.seen_end
        begin = max(since or self.clock.midnight, self.clock.midnight)
        made = Incident(
            kind=kind,
            level=SERIOUS,
            group=self.name,
            owner=self.day.get("owner"),
            since=since,
            until=until,
            still=until is None,
            minutes=(end - begin).total_seconds() / 60,
            last_seen=last if is_gap else None,
        )
        return replace(made, **more)

    def _continues(self, chain: Sequence[Row], spell: Row) -> bool:
        return self.clock.is_soon(chain[-1].last, spell.first)

    def _find_unknown(self) -> Iterator[Incident]:
        """Yields the periods in which the group itself could not be read."""
        unread = (spell for spell in self.spells if spell.unread and not spell.gone)
        for found in join_chains(unread, self._continues):
            first, last = found[0].first, found[-1].last
            made = self._make(Kind.UNKNOWN, self.clock.begin(first), last, cause=found[0].unread)
            if (made.minutes or 0.0) * 60 >= UNKNOWN_SECONDS:
                yield made

    def _find_restless(self) -> Iterator[Incident]:
        """Yields the periods in which the group rebalanced again and again."""
        restless = (spell for spell in self.spells if spell.restless)
        for spells in join_chains(restless, self._continues):
            since = spells[0].restless_since or spells[0].first
            last = max(spell.restless_until or spell.last for spell in spells)
            count = sum(spell.rebalances or 0 for spell in spells)
            yield self._make(Kind.REBALANCING, since, last, count=count, level=WARNED)

    def _is_explained(self, storm: Incident, published: Sequence[Incident]) -> bool:
        """Returns whether published incidents cover at least half of the time of the rebalances."""
        begin = storm.since or self.clock.midnight
        end = storm.until or self.clock.seen_end
        covered = sum(
            (
                max(timedelta(), min(end, one.until or end) - max(begin, one.since or begin))
                for one in published
            ),
            timedelta(),
        )
        return 2 * covered >= end - begin

    def _find_brief(self) -> Iterator[Incident]:
        """Yields losses and skips that are not part of an incident."""
        for spell in self.spells:
            if spell.losing:
                since = self.clock.begin(spell.first)
                made = self._make(Kind.LOST, since, spell.last, level=URGENT)
                yield self._add_topic(replace(made, records_lost=spell.lost))
            elif spell.skip_reason:
                made = self._make(Kind.SKIPPED, spell.first, spell.last)
                unsure = spell.skip_reason == READ_OR_SKIPPED
                yield replace(
                    made,
                    skip_reason=spell.skip_reason,
                    records_leapt=spell.skipped if unsure else None,
                    records_skipped=None if unsure else spell.skipped,
                )

    def _make_gone(self, spell: Row) -> Incident:
        at = spell.first
        made = self._make(Kind.GONE, at, at, level=NOTICE)
        return replace(
            made,
            until=at,
            still=False,
            minutes=None,
            last_seen=None,
            gone_at=at,
            came_back=bool(spell.seen_until and spell.seen_until > spell.last),
            lag=spell.left or None,
        )


def _choose_kind(rows: Row) -> Kind:
    """Returns the worst thing that happened.

    A loss, skip or broken SLA only without a worst status.
    """
    if rows.worst is not None:
        return _KINDS.get(rows.worst, Kind.BEHIND)
    if rows.lost:
        return Kind.LOST
    if rows.skipped:
        return Kind.SKIPPED
    if rows.is_at_risk:
        return Kind.AT_RISK
    if rows.is_sla_broken:
        return Kind.SLA_MISSED
    return Kind.HELD_UP if rows.cause == OPEN_TRANSACTION else Kind.BEHIND


def _add_cause(made: Incident, rows: Row, clock: Clock) -> Incident:
    """Returns the incident with the cause that the collector named last, and who caused it."""
    if rows.topic and made.kind in (*_STANDING, Kind.REWOUND):
        made = replace(
            made,
            topic=rows.topic,
            partitions=() if rows.partition is None else (rows.partition,),
            member=rows.member if made.kind == Kind.STALLED else None,
        )
    if rows.cause is None:
        return replace(made, cause=_derive_cause(rows))
    row: dict[str, Any] = {
        "consumer_group": rows.group,
        "cause": rows.cause,
        "cause_evidence": rows.cause_evidence,
    }
    found = read_evidence(row)
    # the evidence has the losses of one partition at that time, not those of the whole incident
    row["cause_evidence"] = json.dumps({n: v for n, v in found.items() if n != "records_lost"})
    row |= {"cause_since": rows.cause_since and int(rows.cause_since.timestamp() * 1_000)}
    text = describe_cause(row) if rows.named_at else None
    says_it = made.kind == Kind.STOPPED and rows.cause == STOPPED
    partition = found.get("partition")
    return replace(
        made,
        cause=rows.cause,
        why=text.happened if text and not says_it else None,
        named_at=rows.named_at if rows.named_at and clock.until(rows.named_at) else None,
        topic=found.get("topic", made.topic),
        partitions=made.partitions if partition is None else (partition,),
        leader=found.get("broker"),
        member=found.get("member", made.member if partition is None else None),
        client=found.get("client"),
        host=found.get("host"),
    )


def _derive_cause(rows: Row) -> str | None:
    if rows.is_empty and rows.worst in (STOPPED, NO_MEMBER):
        return NO_MEMBER
    return rows.worst if _KINDS.get(rows.worst or "") is None else None


def _is_overlapping(one: Incident, other: Incident) -> bool:
    return not any(
        each.until and later.since and each.until < later.since
        for each, later in ((one, other), (other, one))
    )


def _is_amid(one: Incident, other: Incident) -> bool:
    """Returns whether the other incident began before this one and ended after it."""
    if one.since is None or one.until is None or other.since is None:
        return False
    return other.since < one.since and (other.until is None or one.until < other.until)


def _add_deletion(found: list[Incident], gone: Incident) -> list[Incident]:
    """Returns the incidents with the group's deletion added.

    If the group was deleted during an incident or within SAME_INCIDENT_SECONDS after it, the
    deletion becomes part of that incident and ends it. Otherwise it is an incident of its own.
    """
    at = gone.since
    if at is None:
        return found
    began = [one for one in found if one.gone_at is None and (one.since is None or one.since <= at)]
    last = max(began, key=lambda one: (one.until is None, one.until or at), default=None)
    if last is None or (last.until and at - last.until > _SAME):
        return [*found, gone]
    ended = replace(last, gone_at=at, came_back=gone.came_back)
    if last.until is None or last.until >= at:
        ended = replace(ended, until=at, still=False, last_seen=None, loss_unseen=True)
    return [ended if one is last else one for one in found]
