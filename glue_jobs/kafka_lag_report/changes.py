# SPDX-License-Identifier: Apache-2.0
"""What of a day is otherwise than the day before: what the message is about."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from kafka_lag.formatting import (
    format_duration,
    format_factor,
    format_list,
    format_quantity,
)
from kafka_lag_report.findings import Broker, Findings, GroupDay, TopicRisk, TopicSkew, UnusualHour
from kafka_lag_report.sentences import (
    cause_of,
    known,
    loss_of,
    minutes,
    name_of,
    plain,
    runs_seen,
    share,
    time_left,
    unusual_of,
)

LONGEST_NAME = 60
_SOME_GROUPS = 3


class Kind(Enum):
    """What changed, worst first; the value is said after a number: `2 at risk`."""

    LOST = "with records lost"
    AT_RISK = "at risk"
    UNSEEN = "without snapshots"
    SLA_MISSED = "SLA missed"
    ERR = "in ERR"
    WARN = "long in WARN"
    COVERAGE = "with gaps"
    HOT = "hot"
    SKEWED = "skewed"
    UNUSUAL = "unusual"
    GONE = "gone"
    NEW = "new"
    SAFE = "no longer at risk"
    SLA_MET = "SLA met again"
    EVEN = "no longer skewed"
    COOL = "no longer hot"

    @property
    def rank(self) -> int:
        """Its place among all, 0 for the worst."""
        return list(Kind).index(self)


@dataclass(frozen=True, slots=True)
class Change:
    """`text` is a sentence without its cluster; `weight` sorts within a kind, greatest first.

    `count` is how many groups, topics or brokers it stands for.
    """

    kind: Kind
    cluster: str
    text: str
    weight: float = 0.0
    count: int = 1


def find_changes(
    today: Mapping[str, Findings], previous: Mapping[str, Findings]
) -> tuple[Change, ...]:
    """All that is worth reporting of `today`, worst first.

    Of a cluster without a day before all findings are reported as they are, and no group is new.
    `previous` holds the clusters that the run was asked for and no others: one that is missing
    today is reported.
    """
    found = [
        Change(Kind.UNSEEN, cluster, "no snapshots of this day")
        for cluster in sorted(previous.keys() - today.keys())
    ]
    for cluster, findings in today.items():
        before = previous.get(cluster)
        found += _of_cluster(findings, before or Findings(cluster, findings.day))
        if before and before.groups.total:
            found += _come_and_gone(findings, before)
    return tuple(sorted(found, key=lambda c: (c.kind.rank, -c.weight, c.cluster, c.text)))


def _of_cluster(today: Findings, previous: Findings) -> Iterator[Change]:
    """Of everything but which groups there are; coverage as it is, as gaps hide all else."""
    cluster = today.cluster
    risks = {risk.key: risk for risk in previous.risks.rows}
    for risk in today.risks.rows:
        yield from _risk(cluster, risk, risks.get(risk.key, TopicRisk(*risk.key)))
    for key in today.safe & risks.keys():
        over = "no records lost any more" if risks[key].partitions_lost else "no longer at risk"
        yield Change(Kind.SAFE, cluster, f"{_topic(key)}: {over}")
    yield from _skewed(today, previous)
    groups = {day.group: day for day in previous.groups.rows}
    for day in today.groups.rows:
        yield from _group(cluster, day, groups.get(day.group, GroupDay(day.group)))
    brokers = {(broker.leader, broker.rack): broker for broker in previous.brokers.rows}
    for broker in today.brokers.rows:
        yield from _hotspot(cluster, broker, brokers.get((broker.leader, broker.rack)))
    yield from _unusual(cluster, today.unusual.rows)
    yield from _coverage(today)


def _risk(cluster: str, risk: TopicRisk, was: TopicRisk) -> Iterator[Change]:
    lost, before = risk.records_lost or 0, was.records_lost or 0
    if risk.partitions_lost and (not was.partitions_lost or lost > before):
        more = f", {before:,} the day before" if before else ""
        yield Change(Kind.LOST, cluster, f"{plain(loss_of(risk), LONGEST_NAME)}{more}", lost)
    elif risk.partitions_at_risk and not (
        risk.partitions_lost or was.partitions_lost or was.partitions_at_risk
    ):
        left = risk.seconds_left
        soon = "" if left is None else f", {time_left(left)} left at the least"
        parts = format_quantity(risk.partitions_at_risk, "partition")
        text = f"{_topic(risk.key)}: {parts} at risk{soon}"
        yield Change(Kind.AT_RISK, cluster, text, -math.inf if left is None else -left)
    elif was.partitions_lost and not risk.partitions_lost:
        text = f"{_topic(risk.key)}: no records lost any more, still at risk"
        yield Change(Kind.SAFE, cluster, text)


def _skewed(today: Findings, previous: Findings) -> Iterator[Change]:
    """One for all groups of a topic that have the same cause: production skews them all."""
    was = {skew.key for skew in previous.actionable_skews if skew.lag_skewed}
    alike: dict[tuple[str, str], list[TopicSkew]] = defaultdict(list)
    for skew in today.actionable_skews:
        if skew.lag_skewed and skew.key not in was:
            alike[skew.topic, plain(cause_of(skew), LONGEST_NAME)].append(skew)
    for (_, cause), found in alike.items():
        worst = max(found, key=lambda skew: skew.excess)
        others = f" and {format_quantity(len(found) - 1, 'more group')}" if len(found) > 1 else ""
        times = known(format_factor, worst.max_to_mean)
        text = f"{_topic(worst.key)}{others}: lag is skewed, {times} the mean; {cause}"
        yield Change(Kind.SKEWED, today.cluster, text, worst.excess)
    for key in today.even & was:
        yield Change(Kind.EVEN, today.cluster, f"{_topic(key)}: lag is even again")


def _group(cluster: str, day: GroupDay, was: GroupDay) -> Iterator[Change]:
    name, then = _name(day.group), was.sla_compliance
    if day.missed_sla and not was.missed_sla:
        before = "" if then is None else f", {share(then)} the day before"
        text = f"{name}: SLA met for {share(day.sla_compliance)} of the time{before}"
        yield Change(Kind.SLA_MISSED, cluster, text, 1 - (day.sla_compliance or 0))
    if was.missed_sla and day.missed_sla is False:
        text = f"{name}: SLA met all day, {share(then)} the day before"
        yield Change(Kind.SLA_MET, cluster, text)
    if day.err_minutes and not was.err_minutes:
        before = ", never the day before" if was.err_minutes == 0 else ""
        text = f"{name}: in ERR for {minutes(day.err_minutes)}{before}"
        yield Change(Kind.ERR, cluster, text, day.err_minutes)
    if day.warned_long and not was.warned_long:
        age = (
            "" if not day.time_lag_max else f", {format_duration(day.time_lag_max)} behind at most"
        )
        text = f"{name}: in WARN for {minutes(day.warn_minutes)}{age}"
        yield Change(Kind.WARN, cluster, text, day.warn_minutes or 0.0)


def _hotspot(cluster: str, broker: Broker, was: Broker | None) -> Iterator[Change]:
    rack = "" if broker.rack is None else f" in {_name(broker.rack)}"
    name = "no leader" if broker.leader is None else f"broker {broker.leader}{rack}"
    if broker.hot and not (was and was.hot):
        lag, partitions = share(broker.lag_share), share(broker.partitions_share)
        text = f"{name}: {lag} of the lag on {partitions} of the partitions"
        yield Change(Kind.HOT, cluster, text, broker.lag_share or 0)
    if was and was.hot and broker.hot is False:
        yield Change(Kind.COOL, cluster, f"{name}: its share of the lag is usual again")


def _unusual(cluster: str, hours: Iterable[UnusualHour]) -> Iterator[Change]:
    """One for a group's measure, by its most unusual hour."""
    alike: dict[tuple[str, str], list[UnusualHour]] = defaultdict(list)
    for hour in hours:
        alike[hour.group, hour.measure].append(hour)
    for found in alike.values():
        worst = max(found, key=lambda hour: abs(hour.deviation or 0.0))
        text = plain(unusual_of(worst, len(found) - 1), LONGEST_NAME)
        yield Change(Kind.UNUSUAL, cluster, text, abs(worst.deviation or 0.0))


def _coverage(today: Findings) -> Iterator[Change]:
    said = [f"no runs of {one.dataset}" for one in today.coverage if not one.runs]
    skipped = sum(one.objects_skipped or 0 for one in today.coverage)
    if skipped:
        said.append(f"{format_quantity(skipped, 'object')} left out as unreadable")
    worst = today.worst_gap
    if worst and worst.runs:
        said.append(runs_seen(worst))
    if said:
        gap = (worst.longest_gap if worst else None) or 0.0
        yield Change(Kind.COVERAGE, today.cluster, f"coverage: {'; '.join(said)}", gap)


def _come_and_gone(today: Findings, previous: Findings) -> Iterator[Change]:
    """Of days of which all groups are known."""
    if not today.groups.total or today.groups.more or previous.groups.more:
        return
    now, then = _there(today.groups.rows), _there(previous.groups.rows)
    for kind, what, names in (
        (Kind.NEW, "new groups", now - then),
        (Kind.GONE, "groups no longer seen", then - now),
    ):
        if names:
            listed = format_list([_name(name) for name in sorted(names)], _SOME_GROUPS)
            yield Change(kind, today.cluster, f"{what}: {listed}", count=len(names))


def _there(days: Sequence[GroupDay]) -> set[str]:
    """The groups that were not deleted that day."""
    return {day.group for day in days if not day.gone}


def _topic(key: tuple[str, str]) -> str:
    return f"{_name(key[0])} on {_name(key[1])}"


def _name(text: str) -> str:
    return name_of(text, LONGEST_NAME)
