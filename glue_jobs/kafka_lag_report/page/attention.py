# SPDX-License-Identifier: Apache-2.0
"""Lists what needs a person's attention: the day's incidents, worst first, one line each."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any

from kafka_lag.wording.formatting import format_quantity
from kafka_lag_report.findings import Findings
from kafka_lag_report.incident import NOTICE, Incident, Kind
from kafka_lag_report.schemas import Row
from kafka_lag_report.sentences import (
    DASH,
    Name,
    Period,
    Sentence,
    word_incident,
    word_lost_records,
)

# Most lines of one kind.
MOST = 25
# Most groups that are named as still broken, and as having lost records.
NAMED = 8

_TAGS = {
    Kind.BEYOND_END: "Beyond the end",
    Kind.AT_RISK: "At risk",
    Kind.SLA_MISSED: "SLA",
    Kind.HELD_UP: "Transaction",
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


def answer_first_questions(findings: Findings) -> dict[str, Sentence]:
    """Returns what is still broken at the end and which groups lost records, by question.

    Nothing on a calm day.
    """
    bad = [one for one in findings.incidents if one.level != NOTICE]
    if not bad:
        return {}
    period = Period(findings.day, findings.seen_until)
    return {
        f"Still broken {period.end}": _list_broken(bad, period),
        "Records lost": _list_lost(bad),
    }


def _list_broken(bad: Iterable[Incident], period: Period) -> Sentence:
    broken = [
        (*_name_subject(one), f" ({_describe_state(one, period)})") for one in bad if one.still
    ]
    if broken:
        return _list_some(broken)
    unseen = sum(1 for one in bad if one.until is None)
    end = f"; no run saw the end of {format_quantity(unseen, 'incident')}" if unseen else ""
    return (f"nothing that was seen{end}",)


def _list_lost(bad: Iterable[Incident]) -> Sentence:
    lost: Counter[str] = Counter()
    for one in bad:
        if one.records_lost and one.group:
            lost[one.group] += one.records_lost
    if not lost:
        return ("none that a run saw",)
    each: list[Sentence] = [(Name(group), f" {count:,}") for group, count in lost.most_common()]
    return (f"{word_lost_records(lost.total())}: ", *_list_some(each))


def _list_some(each: Sequence[Sentence]) -> Sentence:
    parts = [part for one in each[:NAMED] for part in (*one, ", ")][:-1]
    more = len(each) - NAMED
    return (*parts, f" and {more:,} more") if more > 0 else tuple(parts)


def _name_subject(one: Incident) -> Sentence:
    if one.group is not None:
        return (Name(one.group),)
    if one.topic is not None:
        return ("topic ", Name(one.topic))
    return ("the collector",) if one.leader is None else (f"partitions of broker {one.leader}",)


def _describe_state(one: Incident, period: Period) -> str:
    word = "unread" if one.kind == Kind.UNKNOWN else one.kind.words
    return f"{word} all day" if one.since is None else f"{word} since {period.clock(one.since)}"


def list_attention(findings: Findings) -> list[dict[str, Any]]:
    """Returns a line of the page for each of the day's incidents, worst first.

    A line has the `tag`, a word for the kind; the level; the sentence; the `section` of the page
    about it; and `still` if it was not over when it was last seen. Of a kind there are at most
    MOST, and a line that counts the others. A calm day has none.
    """
    lines = []
    seen, last = Counter[Kind](), dict[Kind, Incident]()
    for one in findings.incidents:
        seen[one.kind] += 1
        last[one.kind] = one
        if seen[one.kind] <= MOST:
            sentence = word_incident(one, findings.day, findings.seen_until)
            lines.append(_make_line(one, sentence, still=one.still))
    for kind, count in seen.items():
        if count > MOST:
            more = f"{format_quantity(count - MOST, 'more incident')} of this kind."
            lines.append(_make_line(last[kind], (more,)))
    return lines


def _make_line(one: Incident, sentence: Sentence, *, still: bool = False) -> dict[str, Any]:
    section = _SECTIONS.get(one.kind, "groups")
    said = {"tag": _choose_tag(one), "level": one.level, "sentence": sentence}
    return {**said, "section": section, "still": still}


def _choose_tag(one: Incident) -> str:
    if one.records_lost:
        return "Lost"
    if one.seconds_left is not None and one.still:
        return "At risk"
    if one.gone_at:
        return "Gone"
    return _TAGS.get(one.kind, one.kind.value.capitalize())


def choose_bad_words(days: Iterable[Row]) -> tuple[str, ...]:
    """Returns the bad things that can be said about groups.

    Missed SLAs only if a group has an SLA.
    """
    with_sla = any(day["sla_compliance"] is not None for day in days)
    return ("were in error", "missed their SLA") if with_sla else ("were in error",)


def format_minute(minute: int) -> str:
    """Returns a minute of the day as a time; 1440 is midnight at the day's end."""
    return f"{minute // 60:02d}:{minute % 60:02d}"


def format_clock(moment: datetime | None, day: date) -> str:
    """Returns the time of day, with its date if that is not the page's; a dash if it is null."""
    if moment is None:
        return DASH
    if moment.date() == day:
        return f"{moment:%H:%M}"
    return f"{moment:%Y-%m-%d\u00a0%H:%M}"
