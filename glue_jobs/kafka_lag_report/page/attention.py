# SPDX-License-Identifier: Apache-2.0
"""What needs a person's attention, worst first, a sentence each."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import chain, groupby
from types import MappingProxyType

from kafka_lag.contract import ERR, WARN
from kafka_lag.formatting import format_duration, format_quantity
from kafka_lag_report.findings import (
    UNEXPLAINED,
    Broker,
    Consumer,
    Findings,
    GroupDay,
    TopicRisk,
    TopicSkew,
    UnusualHour,
)
from kafka_lag_report.page.drawn import Curve, Spell
from kafka_lag_report.sentences import (
    DASH,
    Name,
    Sentence,
    at_least,
    cause_of,
    loss_of,
    minutes,
    reason_of,
    retention_of,
    runs_seen,
    share,
    time_left,
    unusual_of,
)

URGENT, SERIOUS, WARNED, NOTICE = "urgent", "serious", "warned", "notice"
# Sentences of a kind.
MOST = 6
_UNDRAWN = Curve()


@dataclass(frozen=True, slots=True)
class Attention:
    """One thing to look at: its kind in a word, how bad it is, the sentence, the section."""

    tag: str
    level: str
    sentence: Sentence
    section: str


def attention(
    findings: Findings, curves: Mapping[str, Curve] = MappingProxyType({})
) -> tuple[Attention, ...]:
    """Everything worth a sentence, worst first, at most MOST of a kind; empty on a calm day.

    `curves` of the worst groups say from when to when one was in error.
    """
    days = findings.groups.rows
    kinds = (
        _most(_lost(findings), "topics lost records"),
        _most(_lost_somewhere(findings), "groups lost records"),
        _most(_at_risk(findings), "topics are at risk"),
        _coverage(findings),
        _most(_groups(days, curves), f"groups {' or '.join(bad_words(days))}"),
        _most(_brokers(findings.brokers.rows), "brokers are hot"),
        _most(_warned(findings, curves), "groups were warned for long"),
        _most(_gone(days), "groups are gone"),
        _most(_skew(findings.actionable_skews), "topics are skewed"),
        _most(_consumers(findings.consumers.rows), "consumers are hot"),
        _most(_unusual(findings.unusual.rows), "groups had unusual hours"),
    )
    order = (URGENT, SERIOUS, WARNED, NOTICE)
    return tuple(sorted(chain(*kinds), key=lambda found: order.index(found.level)))


def bad_words(days: Iterable[GroupDay]) -> tuple[str, ...]:
    """What of error and SLA there is to speak of: without an SLA nobody missed one."""
    with_sla = any(day.sla_compliance is not None for day in days)
    return ("were in error", "missed their SLA") if with_sla else ("were in error",)


def minute_clock(minute: int) -> str:
    """A minute of the day as on a clock; 1440 is midnight at its end."""
    return f"{minute // 60:02d}:{minute % 60:02d}"


def clock(moment: datetime | None, day: date) -> str:
    """The time of day, with the date where it is another than the page's."""
    if moment is None:
        return DASH
    if moment.date() == day:
        return f"{moment:%H:%M}"
    return f"{moment:%H:%M} on {moment.day}\u00a0{moment:%B}"


def _most(found: Iterable[Attention], rest: str) -> Iterator[Attention]:
    """The first of a kind, and how many more there are in one sentence of the same weight."""
    every = tuple(found)
    yield from every[:MOST]
    more = len(every) - MOST
    if more > 0:
        yield replace(every[-1], sentence=(f"{more:,} more {rest}.",))


def _lost(findings: Findings) -> Iterator[Attention]:
    for risk in findings.risks.rows:
        if risk.partitions_lost:
            sentence = (*loss_of(risk), ".", retention_of(risk))
            yield Attention("Lost", URGENT, sentence, "retention")


def _lost_somewhere(findings: Findings) -> Iterator[Attention]:
    """Groups whose own row has a loss that no listed topic has."""
    listed = {risk.group for risk in findings.risks.rows if risk.partitions_lost}
    for day in findings.groups.rows:
        if day.records_lost and day.group not in listed:
            said = f" lost {at_least(day.records_lost)}."
            yield Attention("Lost", URGENT, (Name(day.group), said), "retention")


def _at_risk(findings: Findings) -> Iterator[Attention]:
    for risk in findings.risks.rows:
        if risk.partitions_at_risk:
            end = f"{_first(risk)}{_left(risk, findings.day)}."
            sentence = (Name(risk.group), " may lose records of ", Name(risk.topic), end)
            yield Attention("At risk", URGENT, sentence, "retention")


def _first(risk: TopicRisk) -> str:
    if risk.partitions_at_risk == 1 and risk.worst_partition is not None:
        return f" (partition {risk.worst_partition})"
    first = "" if risk.worst_partition is None else f", {risk.worst_partition} first"
    return f" ({format_quantity(risk.partitions_at_risk, 'partition')}{first})"


def _left(risk: TopicRisk, day: date) -> str:
    if risk.seconds_left is None or risk.seconds_left_at is None:
        return ""
    seen, left = clock(risk.seconds_left_at, day), time_left(risk.seconds_left)
    return f": {left} were left at {seen}, so deletion arrives at {clock(risk.lost_at, day)}"


def _groups(days: Iterable[GroupDay], curves: Mapping[str, Curve]) -> Iterator[Attention]:
    for day in days:
        bad = [*_error(day, curves.get(day.group, _UNDRAWN)), *_sla(day)]
        if bad:
            tag = "Error" if day.err_minutes else "SLA"
            sentence = (Name(day.group), " ", " and ".join(bad), ".")
            yield Attention(tag, SERIOUS, sentence, "groups")


def _error(day: GroupDay, curve: Curve) -> Iterator[str]:
    if day.err_minutes:
        when = _when(curve.spell, ERR, day.err_minutes)
        yield f"was in error for {minutes(day.err_minutes)}{when}"


def _when(spell: Spell | None, status: str, of: float) -> str:
    """From when to when a group was so, for `of` minutes in all, and why, as far as it is known."""
    if spell is None or spell.status != status:
        return ""
    longest = "" if spell.minutes >= of - 0.5 else "the longest "
    end = minute_clock(spell.start + spell.minutes)
    why = ", ".join(map(reason_of, spell.reasons))
    return f" ({longest}{minute_clock(spell.start)} to {end}{': ' if why else ''}{why})"


def _warned(findings: Findings, curves: Mapping[str, Curve]) -> Iterator[Attention]:
    """Groups that were long in WARN and are not listed as in error."""
    led = {
        skew.group: (" Of ", Name(skew.topic), " ", *cause_of(skew), ".")
        for skew in reversed(findings.other_skews)
        if skew.cause == UNEXPLAINED and skew.cause_leader is not None
    }
    for day in findings.groups.rows:
        if day.warned_long and not (day.err_minutes or day.missed_sla):
            curve = curves.get(day.group, _UNDRAWN)
            when = _when(curve.spell, WARN, day.warn_minutes or 0.0)
            said = f" was in WARN for {minutes(day.warn_minutes)}{when}{_peak(day, curve)}."
            sentence = (Name(day.group), said, *led.get(day.group, ()))
            yield Attention("Warned", WARNED, sentence, "groups")


def _peak(day: GroupDay, curve: Curve) -> str:
    if not day.time_lag_max:
        return ""
    at = f", at {minute_clock(curve.peak.minute)}" if curve.peak else ""
    return f"; its oldest unread record was {format_duration(day.time_lag_max)} old at most{at}"


def _sla(day: GroupDay) -> Iterator[str]:
    if day.missed_sla:
        of = "" if day.sla_seconds is None else f" of {format_duration(day.sla_seconds)}"
        yield (
            f"missed its SLA{of} for {minutes(day.sla_missed_minutes)} "
            f"(met {share(day.sla_compliance)})"
        )


def _gone(days: Iterable[GroupDay]) -> Iterator[Attention]:
    for day in days:
        if day.gone:
            sentence = (Name(day.group), " is gone: the cluster no longer has this group.")
            yield Attention("Gone", NOTICE, sentence, "all")


def _skew(skews: Iterable[TopicSkew]) -> Iterator[Attention]:
    produced: set[str] = set()
    for skew in skews:
        if skew.lag_skewed:
            sentence: Sentence = (
                *(Name(skew.topic), " is skewed in lag for ", Name(skew.group)),
                *(f"{_top(skew)}: ", *cause_of(skew), "."),
            )
            yield Attention("Skew", NOTICE, sentence, "skew")
        elif skew.topic not in produced:
            produced.add(skew.topic)
            most, even = share(skew.made_top_share), share(skew.made_even_share)
            where = _partition(skew.made_top_partition)
            said = f" is produced unevenly: {where} gets {most} (even: {even})."
            yield Attention("Skew", NOTICE, (Name(skew.topic), said), "skew")


def _top(skew: TopicSkew) -> str:
    top, even = share(skew.top_share), share(skew.even_share)
    return f" ({_partition(skew.top_partition)} holds {top}, even would be {even})"


def _partition(number: int | None) -> str:
    return "one partition" if number is None else f"partition {number}"


def _brokers(brokers: Iterable[Broker]) -> Iterator[Attention]:
    for broker in brokers:
        if broker.hot:
            lag, led = share(broker.lag_share), share(broker.partitions_share)
            said = (
                f"Broker {broker.leader} leads {led} of the partitions but holds {lag} of the lag."
            )
            if broker.leader is None:
                when = f"for {led} of their time, in which {lag} of the lag stood."
                said = f"Partitions had no leader {when}"
            yield Attention("Hot broker", SERIOUS, (said,), "brokers")


def _consumers(consumers: Iterable[Consumer]) -> Iterator[Attention]:
    for one in consumers:
        lag, owned = share(one.lag_share), share(one.partitions_share)
        group = Name(one.group)
        if one.member is None:
            # shares of time: most of a day with owners may precede
            end = f" had no owner for {owned} of their time, in which {lag} of its lag stood."
            yield Attention("No owner", NOTICE, ("Partitions of ", group, end), "consumers")
            continue
        who = Name(one.client or one.member)
        has, but = f" owns {owned} of the partitions of ", f" but holds {lag} of its lag."
        yield Attention("Hot consumer", NOTICE, ("Consumer ", who, has, group, but), "consumers")


def _unusual(hours: Iterable[UnusualHour]) -> Iterator[Attention]:
    def series(hour: UnusualHour) -> tuple[str, str]:
        return (hour.group, hour.measure)

    for _, found in groupby(sorted(hours, key=series), key=series):
        worst, *others = sorted(found, key=lambda hour: -abs(hour.deviation or 0.0))
        sentence = (*unusual_of(worst, len(others)), ".")
        yield Attention("Unusual", NOTICE, sentence, "anomalies")


def _coverage(findings: Findings) -> Iterator[Attention]:
    for one in findings.coverage:
        if one.objects_skipped:
            objects = format_quantity(one.objects_skipped, "object")
            said = f"{objects} of {one.dataset} could not be read (named below)."
            yield Attention("Coverage", SERIOUS, (said,), "coverage")
    worst = findings.worst_gap
    if worst:
        level = SERIOUS if worst.doubtful else NOTICE
        said = runs_seen(worst)
        yield Attention("Coverage", level, (f"{said[:1].upper()}{said[1:]}.",), "coverage")
