# SPDX-License-Identifier: Apache-2.0
"""The summary's subject and its at most 22 lines."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag_report.findings import Coverage, Findings
from kafka_lag_report.incident import Incident, Kind
from kafka_lag_report.message import LINES, Message, message
from kafka_lag_report.sentences import name_of

_DAY = date(2026, 1, 31)
_SEEN = (Coverage("groups", 1440, 1440, interval=60.0, longest_gap=60.0),)
# What SNS takes as a message, and wants of a subject: less than 100 letters.
_MOST_BYTES, _MOST_LETTERS = 262_144, 99
_LOST = "g stalled. It lost at least 3 records of t."


def _lost(group: str, topic: str) -> Incident:
    text = f"{name_of(group)} stalled. It lost at least 3 records of {name_of(topic)}."
    return Incident(kind=Kind.LOST, level="urgent", group=group, topic=topic, text=text)


def _day(cluster: str, *, group: str = "g", topics: tuple[str, ...] = (), **more: Any) -> Findings:
    """A cluster's day, in which the group lost records of these topics."""
    incidents = tuple(_lost(group, topic) for topic in topics)
    return Findings(cluster, _DAY, **{"coverage": _SEEN, "incidents": incidents, **more})


def _of(*days: Findings) -> dict[str, Findings]:
    return {day.cluster: day for day in days}


def _sent(
    today: dict[str, Findings], previous: dict[str, Findings], *, always: bool = False
) -> Message | None:
    links = {name: f"https://page/{name}" for name in today}
    return message(_DAY, today, previous, links=links, always=always)


def _lines(today: dict[str, Findings], previous: dict[str, Findings] | None = None) -> list[str]:
    before = {name: _day(name) for name in today} if previous is None else previous
    found = _sent(today, before)
    assert found is not None
    return found.body.splitlines()


def test_nothing_happened_is_no_message() -> None:
    assert _sent(_of(_day("prod")), _of(_day("prod"))) is None
    assert _sent(_of(_day("prod")), {}) is None


def test_nothing_happened_is_said_calmly_where_configured() -> None:
    uneven = Incident(kind=Kind.UNEVEN, level="notice", topic="t", text="t is produced unevenly.")
    today = _of(_day("prod", incidents=(uneven,)))

    assert _sent(today, today, always=True) == Message(
        subject="Kafka lag of prod 2026-01-31: nothing new",
        body="Kafka lag of prod on 2026-01-31 against 2026-01-30: nothing new.\n"
        "1 incident of the day before is as then; the page has them.\n"
        "prod: https://page/prod",
    )


def test_a_single_cluster_is_named_at_the_top_only() -> None:
    assert _sent(_of(_day("prod", topics=("t",))), _of(_day("prod"))) == Message(
        subject="Kafka lag of prod 2026-01-31: 1 with records lost",
        body="Kafka lag of prod on 2026-01-31 against 2026-01-30: 1 with records lost.\n"
        f"- {_LOST}\n"
        "prod: https://page/prod",
    )


def test_few_clusters_have_a_line_a_change_and_one_for_the_link() -> None:
    days = [_day("a", topics=("t",)), _day("b", topics=("t",)), _day("c"), _day("d")]

    assert _lines(_of(*days))[1:] == [
        f"- a: {_LOST}",
        f"- b: {_LOST}",
        "a: https://page/a",
        "b: https://page/b",
        "and 2 more clusters without change",
    ]


def test_many_clusters_have_a_line_each_with_the_worst_of_it() -> None:
    names = [f"c{number:02}" for number in range(18)]
    days = [_day(name, topics=("t",) if name < "c06" else ()) for name in names]

    assert _lines(_of(*days))[1:] == [
        *(f"- {name}: 1 with records lost. {_LOST} https://page/{name}" for name in names[:6]),
        "and 12 more clusters without change",
    ]


@pytest.mark.parametrize(
    ("clusters", "each", "calm"),
    [(1, 1, 0), (1, 30, 9), (3, 4, 0), (5, 4, 9), (5, 30, 0), (6, 1, 9), (17, 4, 0), (40, 30, 9)],
)
def test_a_message_has_twenty_two_lines_at_most_and_tells_how_much_is_missing(
    clusters: int, each: int, calm: int
) -> None:
    going = (Coverage("groups", 700, in_progress=True),)
    topics = tuple(f"t{number}" for number in range(each))
    days = [_day(f"c{number}", topics=topics, coverage=going) for number in range(clusters)]
    others = [_day(f"calm{number}", coverage=going) for number in range(calm)]

    lines = _lines(_of(*days, *others))

    assert len(lines) <= LINES
    shown = sum(line.startswith("- ") for line in lines)
    few = clusters <= 5
    of, what = (
        (clusters * each, "lines, on the page") if few else (clusters, "clusters with changes")
    )
    more = [line for line in lines if f"more {what}: " in line]
    left = of - shown
    lost = f"{left if few else left * each:,} with records lost"
    assert more == (
        [f"and {left} more {what}: {lost}; broken now or with losses: {lost}"] if left else []
    )
    assert len(lines) == LINES or not more


def test_a_day_in_progress_says_so() -> None:
    ongoing = _day("prod", topics=("t",), coverage=(Coverage("groups", 700, in_progress=True),))

    assert "The day is not over: this is what was seen so far." in _lines(_of(ongoing))


def test_a_first_report_says_so_and_compares_with_no_day() -> None:
    assert _lines(_of(_day("prod", topics=("t",))), {})[:2] == [
        "Kafka lag of prod on 2026-01-31: 1 with records lost.",
        "First report: there is none of the day before to compare with.",
    ]


def test_a_day_of_eighteen_incidents_is_told_whole() -> None:
    day = _day("prod", topics=tuple(f"t{number}" for number in range(18)))

    lines = _lines(_of(day), {})

    assert sum(line.startswith("- ") for line in lines) == 18
    assert len(lines) <= LINES
    assert lines[-1] == "prod: https://page/prod"


def test_a_cluster_without_a_page_has_no_link() -> None:
    lines = _lines(_of(_day("a")), _of(_day("a"), _day("gone")))

    assert lines[1:] == ["- gone: no snapshots of this day", "and 1 more cluster without change"]


_NAMES = st.text(min_size=1, max_size=249)


@given(clusters=st.lists(_NAMES, min_size=1, max_size=8, unique=True), group=_NAMES, topic=_NAMES)
def test_strangers_names_never_break_what_sns_takes(
    clusters: list[str], group: str, topic: str
) -> None:
    days = [_day(name, group=group, topics=(topic,)) for name in clusters]

    found = message(_DAY, _of(*days), {}, links={})

    assert found is not None
    assert found.subject.isascii()
    assert found.subject.isprintable()
    assert len(found.subject) <= _MOST_LETTERS
    lines = found.body.split("\n")
    assert len(lines) <= LINES
    assert all(line.isprintable() for line in lines)
    assert len(found.body.encode()) < _MOST_BYTES


def test_long_names_on_all_lines_stay_within_what_sns_takes() -> None:
    wide = "\U0001f980" * 249
    names = [f"{number}{wide}" for number in range(30)]
    days = [_day(name, group=wide, topics=(wide,)) for name in names]
    links = dict.fromkeys(names, "https://page/" + "%F0%9F%A6%80" * 249)

    found = message(_DAY, _of(*days), {}, links=links)

    assert found is not None
    assert len(found.body.encode()) < _MOST_BYTES


def test_a_subject_of_many_kinds_is_cut() -> None:
    kinds = (Kind.LOST, Kind.STALLED, Kind.SLA_MISSED, Kind.REBALANCING, Kind.UNKNOWN)
    incidents = tuple(Incident(kind=kind, level="urgent", group=kind.value) for kind in kinds)
    day = _day("a-cluster-with-quite-a-long-name-of-its-own", incidents=incidents)

    found = _sent(_of(day), {})

    assert found is not None
    assert len(found.subject) == _MOST_LETTERS
    assert f": 1 {Kind.LOST.words}, " in found.subject
    assert found.subject.endswith("...")
