# SPDX-License-Identifier: Apache-2.0
"""The summary's subject and its text of at most 22 lines."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag_report.findings import Findings
from kafka_lag_report.incident import Incident, Kind
from kafka_lag_report.message import LINES, Message, compose_message
from kafka_lag_report.sentences import word_name
from tests.glue_jobs.page.pages import coverage_of
from tests.golden import Golden

_DAY = date(2026, 1, 31)
_SEEN = (coverage_of("groups", 1440, 1440, interval_seconds=60.0, longest_gap_seconds=60.0),)
# What SNS takes as a message, and wants of a subject: less than 100 letters.
_MOST_BYTES, _MOST_LETTERS = 262_144, 99


def _lost(group: str, topic: str) -> Incident:
    text = f"{word_name(group)} stalled. It lost at least 3 records of {word_name(topic)}."
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
    return compose_message(_DAY, today, previous, links=links, always=always)


_UNEVEN = Incident(kind=Kind.UNEVEN, level="notice", topic="t", text="t is produced unevenly.")
_LOST_T = _day("prod", topics=("t",))
_MANY = [_day(f"c{n:02}", topics=("t",) if n < 6 else ()) for n in range(18)]
# Findings of the day; of the day before, the same clusters without an incident unless named.
_CASES: dict[str, tuple[list[Findings], list[Findings] | None]] = {
    "a single cluster": ([_LOST_T], None),
    "few clusters": (
        [_day("a", topics=("t",)), _day("b", topics=("t",)), _day("c"), _day("d")],
        None,
    ),
    "many clusters": (_MANY, None),
    "a first report": ([_LOST_T], []),
    "a day in progress": (
        [_day("prod", topics=("t",), coverage=(coverage_of("groups", 700, in_progress=True),))],
        None,
    ),
    "a cluster without a page": ([_day("a")], [_day("a"), _day("gone")]),
    "nothing new, where it is said": (
        [_day("prod", incidents=(_UNEVEN,))],
        [_day("prod", incidents=(_UNEVEN,))],
    ),
    "nothing happened": ([_day("prod")], None),
    "nothing happened on a first day": ([_day("prod")], []),
}


def _before(today: Sequence[Findings]) -> dict[str, Findings]:
    """The same clusters, in which nothing happened."""
    return _of(*(_day(day.cluster) for day in today))


def test_what_a_message_says(golden: Golden) -> None:
    said = {}
    for case, (today, eve) in _CASES.items():
        before = _before(today) if eve is None else _of(*eve)
        found = _sent(_of(*today), before, always="where it is said" in case)
        said[case] = f"{found.subject}\n\n{found.body}" if found else "no message"
    golden.holds_cases("report-messages.txt", said)


@pytest.mark.parametrize(
    ("clusters", "each", "calm"),
    [(1, 1, 0), (1, 30, 9), (3, 4, 0), (5, 4, 9), (5, 30, 0), (6, 1, 9), (17, 4, 0), (40, 30, 9)],
)
def test_a_message_has_twenty_two_lines_at_most_and_tells_how_much_is_missing(
    clusters: int, each: int, calm: int
) -> None:
    going = (coverage_of("groups", 700, in_progress=True),)
    topics = tuple(f"t{number}" for number in range(each))
    days = [_day(f"c{number}", topics=topics, coverage=going) for number in range(clusters)]
    others = [_day(f"calm{number}", coverage=going) for number in range(calm)]

    found = _sent(_of(*days, *others), _before([*days, *others]))

    assert found is not None
    lines = found.body.splitlines()
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


_NAMES = st.text(min_size=1, max_size=249)


@given(clusters=st.lists(_NAMES, min_size=1, max_size=8, unique=True), group=_NAMES, topic=_NAMES)
def test_strangers_names_never_break_what_sns_takes(
    clusters: list[str], group: str, topic: str
) -> None:
    days = [_day(name, group=group, topics=(topic,)) for name in clusters]

    found = compose_message(_DAY, _of(*days), {}, links={})

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

    found = compose_message(_DAY, _of(*days), {}, links=links)

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
