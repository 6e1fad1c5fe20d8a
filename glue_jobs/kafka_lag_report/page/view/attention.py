# SPDX-License-Identifier: Apache-2.0
"""What needs a person's attention, worst first, a sentence each."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import chain, groupby

from kafka_lag_report.page import words
from kafka_lag_report.page.model import Anomaly, Coverage, GroupDay, Page, TopicRisk, TopicSkew
from kafka_lag_report.page.view.sentences import NOTICE, SERIOUS, URGENT, Finding, Name, Part, cause

# Of the day's runs; below it every other number is in doubt.
GOOD_COVERAGE = 0.99
DOUBTFUL_COVERAGE = 0.9
LONG_GAP = 300.0
MOST = 6


def attention(page: Page) -> tuple[Finding, ...]:
    """Everything worth a sentence, worst first, at most MOST of a kind; empty on a calm day."""
    kinds = (
        _most(_lost(page), "topics lost records"),
        _most(_lost_somewhere(page), "groups lost records"),
        _most(_at_risk(page), "topics are at risk"),
        _coverage(page.coverage),
        _most(_groups(page.groups.rows), "groups were in error or missed their SLA"),
        _most(_brokers(page), "brokers are hot"),
        _most(_gone(page.groups.rows), "groups are gone"),
        _most(_skew(page.skews.rows), "topics are skewed"),
        _most(_consumers(page), "consumers are hot"),
        _most(_anomalies(page.anomalies.rows), "groups had unusual hours"),
    )
    order = (URGENT, SERIOUS, NOTICE)
    return tuple(sorted(chain(*kinds), key=lambda finding: order.index(finding.level)))


def _most(found: Iterable[Finding], rest: str) -> Iterator[Finding]:
    """The first of a kind, and how many more there are in one sentence of the same weight."""
    every = tuple(found)
    yield from every[:MOST]
    more = len(every) - MOST
    if more > 0:
        yield replace(every[-1], said=(f"{more:,} more {rest}.",))


def _lost(page: Page) -> Iterator[Finding]:
    for risk in page.risks.rows:
        if risk.partitions_lost:
            lost = "records" if risk.records_lost is None else _records(risk.records_lost)
            said: tuple[Part, ...] = (Name(risk.group), f" lost {lost} of ", Name(risk.topic))
            where = f" on {words.plural(risk.partitions_lost, 'partition')}"
            said = (*said, f"{where}: retention deleted them unread.", *_enough(risk))
            yield Finding("Lost", URGENT, said, "retention")


def _lost_somewhere(page: Page) -> Iterator[Finding]:
    """Groups whose own row tells of a loss that no listed topic does."""
    told = {risk.group for risk in page.risks.rows if risk.partitions_lost}
    for group in page.groups.rows:
        if group.records_lost and group.group not in told:
            yield Finding(
                "Lost",
                URGENT,
                (Name(group.group), f" lost {_records(group.records_lost)}."),
                "retention",
            )


def _enough(risk: TopicRisk) -> tuple[Part, ...]:
    kept, needed = words.duration(risk.retention), words.duration(risk.retention_needed)
    if risk.retention_needed is None:
        return ()
    if risk.retention is None:
        return (f" Retention of {needed} would have been enough.",)
    return (f" Retention was {kept}; {needed} would have been enough.",)


def _at_risk(page: Page) -> Iterator[Finding]:
    for risk in page.risks.rows:
        if risk.partitions_at_risk:
            said = (Name(risk.group), " may lose records of ", Name(risk.topic), _first(risk))
            yield Finding("At risk", URGENT, (*said, f"{_left(page, risk)}."), "retention")


def _first(risk: TopicRisk) -> str:
    if risk.partitions_at_risk == 1 and risk.worst_partition is not None:
        return f" (partition {risk.worst_partition})"
    first = "" if risk.worst_partition is None else f", {risk.worst_partition} first"
    return f" ({words.plural(risk.partitions_at_risk, 'partition')}{first})"


def _left(page: Page, risk: TopicRisk) -> str:
    if risk.seconds_left is None or risk.seconds_left_at is None:
        return ""
    loss = risk.seconds_left_at + timedelta(seconds=risk.seconds_left)
    seen = words.clock(risk.seconds_left_at, page.day)
    left = words.duration(risk.seconds_left)
    return f": {left} were left at {seen}, so deletion arrives at {words.clock(loss, page.day)}"


def _groups(groups: Iterable[GroupDay]) -> Iterator[Finding]:
    for group in groups:
        bad = [*_error(group), *_sla(group)]
        if bad:
            tag = "Error" if group.err_minutes else "SLA"
            said: tuple[Part, ...] = (Name(group.group), " ", " and ".join(bad), ".")
            yield Finding(tag, SERIOUS, said, "groups")


def _gone(groups: Iterable[GroupDay]) -> Iterator[Finding]:
    for group in groups:
        if group.gone:
            said = (Name(group.group), " is gone: the cluster no longer has this group.")
            yield Finding("Gone", NOTICE, said, "all")


def _error(group: GroupDay) -> Iterator[str]:
    if group.err_minutes:
        yield f"was in error for {words.minutes(group.err_minutes)}"


def _sla(group: GroupDay) -> Iterator[str]:
    if group.sla_missed_minutes > 0:
        yield (
            f"missed its SLA of {words.duration(group.sla_seconds)} for "
            f"{words.minutes(group.sla_missed_minutes)} (met {words.share(group.sla_compliance)})"
        )


def _skew(skews: Iterable[TopicSkew]) -> Iterator[Finding]:
    told: set[str] = set()
    for skew in skews:
        if skew.lag_skewed:
            said: tuple[Part, ...] = (Name(skew.topic), " is skewed in lag for ", Name(skew.group))
            said = (*said, f"{_top(skew)}: ", *cause(skew))
            yield Finding("Skew", NOTICE, said, "skew")
        elif skew.topic not in told:
            told.add(skew.topic)
            most = words.share(skew.made_top_share)
            even = words.share(skew.made_even_share)
            uneven = f" is produced unevenly: partition {skew.made_top_partition} gets {most}"
            yield Finding("Skew", NOTICE, (Name(skew.topic), uneven, f" (even: {even})."), "skew")


def _top(skew: TopicSkew) -> str:
    top, even = words.share(skew.top_share), words.share(skew.even_share)
    return f" (partition {skew.top_partition} holds {top}, even would be {even})"


def _brokers(page: Page) -> Iterator[Finding]:
    for broker in page.brokers.rows:
        if broker.hot:
            what = f"Broker {broker.leader}" if broker.leader is not None else "No broker"
            lag, led = words.share(broker.lag_share), words.share(broker.partitions_share)
            said = (f"{what} leads {led} of the partitions but holds {lag} of the lag.",)
            yield Finding("Hot broker", SERIOUS, said, "brokers")


def _consumers(page: Page) -> Iterator[Finding]:
    for one in page.consumers.rows:
        lag, owned = words.share(one.lag_share), words.share(one.partitions_share)
        who: tuple[Part, ...] = (
            ("Nobody",) if one.member is None else ("Consumer ", _who(one.client, one.member))
        )
        said = (
            *who,
            f" owns {owned} of the partitions of ",
            Name(one.group),
            f" but holds {lag} of its lag.",
        )
        yield Finding("Hot consumer", NOTICE, said, "consumers")


def _who(client: str | None, member: str) -> Name:
    return Name(client or member)


_MEASURES: dict[str, tuple[str, Callable[[float | None], str]]] = {
    "time_lag_seconds": ("time lag", words.duration),
    "lag": ("lag", words.count),
    "produce_rate": ("produce rate", words.rate),
}


def _anomalies(anomalies: Iterable[Anomaly]) -> Iterator[Finding]:
    def series(one: Anomaly) -> tuple[str, str]:
        return (one.group, one.measure)

    for (group, measure), hours in groupby(sorted(anomalies, key=series), key=series):
        rows = sorted(hours, key=lambda row: -abs(row.deviation or 0.0))
        worst, others = rows[0], len(rows) - 1
        what, show = _MEASURES[measure]
        also = f", and in {words.plural(others, 'other hour')}" if others else ""
        text = f" was unusual: {what} {show(worst.value)} from {words.minute(worst.hour * 60)}"
        said = (Name(group), f"{text} (usually {show(worst.usual)}){also}.")
        yield Finding("Unusual", NOTICE, said, "anomalies")


def _coverage(datasets: Sequence[Coverage]) -> Iterator[Finding]:
    for one in datasets:
        if one.objects_skipped:
            objects = words.plural(one.objects_skipped, "object")
            said = (f"{objects} of {one.dataset} could not be read (named below).",)
            yield Finding("Coverage", SERIOUS, said, "coverage")
    gaps = [one for one in datasets if _gap(one)]
    if gaps:
        worst = min(gaps, key=_seen)
        runs = f"{words.count(worst.runs)} of {words.count(worst.expected_runs)} runs were seen"
        gap = f"the longest gap lasted {words.duration(worst.longest_gap)}"
        level = SERIOUS if _seen(worst) < DOUBTFUL_COVERAGE else NOTICE
        yield Finding("Coverage", level, (f"{runs} ({worst.dataset}); {gap}.",), "coverage")


def _gap(one: Coverage) -> bool:
    return _seen(one) < GOOD_COVERAGE or (one.longest_gap or 0.0) > LONG_GAP + (one.interval or 0.0)


def _seen(one: Coverage) -> float:
    return (one.runs or 0) / one.expected_runs if one.expected_runs else 1.0


def _records(lost: int) -> str:
    return words.plural(lost, "record")
