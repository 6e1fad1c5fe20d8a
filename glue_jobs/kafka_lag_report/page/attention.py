# SPDX-License-Identifier: Apache-2.0
"""What needs a person's attention: the day's incidents, worst first, a line each."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime

from kafka_lag.formatting import format_quantity
from kafka_lag_report.findings import Findings, GroupDay
from kafka_lag_report.incident import Incident, Kind
from kafka_lag_report.sentences import DASH, Sentence, incident_of

# Lines of a kind.
MOST = 25

_TAGS = {
    Kind.BEYOND_END: "Beyond the end",
    Kind.AT_RISK: "At risk",
    Kind.SLA_MISSED: "SLA",
    Kind.NO_LEADER: "No leader",
    Kind.LEADER_MOVED: "Leader moved",
    Kind.RECREATED: "Recreated",
    Kind.NO_RUNS: "No runs",
    Kind.NO_OBJECTS: "Unreadable",
    Kind.UNEVEN: "Uneven keys",
}
_SECTIONS = {
    Kind.LOST: "retention",
    Kind.AT_RISK: "retention",
    Kind.NO_LEADER: "brokers",
    Kind.LEADER_MOVED: "brokers",
    Kind.UNEVEN: "skew",
    Kind.UNUSUAL: "anomalies",
    Kind.NO_RUNS: "coverage",
    Kind.NO_OBJECTS: "coverage",
    Kind.RECREATED: "all",
}


@dataclass(frozen=True, slots=True)
class Attention:
    """One thing to look at: its kind in a word, how bad it is, the sentence, the section."""

    tag: str
    level: str
    sentence: Sentence
    section: str


def attention(findings: Findings) -> tuple[Attention, ...]:
    """The day's incidents, worst first, at most MOST of a kind; empty on a calm day."""
    return tuple(_lines(findings))


def _lines(findings: Findings) -> Iterator[Attention]:
    seen: Counter[Kind] = Counter()
    until = findings.seen_until
    last: dict[Kind, Incident] = {}
    for one in findings.incidents:
        seen[one.kind] += 1
        last[one.kind] = one
        if seen[one.kind] <= MOST:
            yield Attention(
                tag=_tag(one),
                level=one.level,
                sentence=incident_of(one, findings.day, until),
                section=_SECTIONS.get(one.kind, "groups"),
            )
    for kind, count in seen.items():
        if count > MOST:
            more = f"{format_quantity(count - MOST, 'more incident')} of this kind."
            yield Attention(
                _tag(last[kind]), last[kind].level, (more,), _SECTIONS.get(kind, "groups")
            )


def _tag(one: Incident) -> str:
    if one.records_lost:
        return "Lost"
    if one.seconds_left is not None and one.still:
        return "At risk"
    if one.gone_at:
        return "Gone"
    return _TAGS.get(one.kind, one.kind.value.capitalize())


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
