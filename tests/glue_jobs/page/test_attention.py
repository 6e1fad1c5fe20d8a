# SPDX-License-Identifier: Apache-2.0
"""The list of incidents on the page: its lines, and the text above it."""

from collections.abc import Sequence
from typing import Any

import pytest

from kafka_lag_report.incident import NOTICE, SERIOUS, URGENT, WARNED, Incident, Kind
from kafka_lag_report.page.attention import MOST, NAMED, answer_first_questions, list_attention
from kafka_lag_report.sentences import Name, join_words
from tests.glue_jobs.page.pages import NASTY, at, coverage_of, page
from tests.golden import Golden, write_once

STILL: dict[str, Any] = {"until": None, "still": True}


def incident(kind: Kind = Kind.STALLED, **more: Any) -> Incident:
    usual = {"level": SERIOUS, "group": "g", "since": at(9), "until": at(10)}
    return Incident(**{"kind": kind, **usual, **more})


def still(**more: Any) -> Incident:
    return incident(**{**STILL, **more})


NOTED = incident(level=NOTICE, group="noted")
# What a page has of these incidents.
CASES: dict[str, Sequence[Incident]] = {
    "over": [incident()],
    "lost": [incident(records_lost=5)],
    "at risk": [still(seconds_left=60.0)],
    "a risk that is over is a part of what happened": [incident(seconds_left=6_000.0)],
    "gone": [incident(gone_at=at(10))],
    "no run saw the end": [incident(until=None)],
    "still stalled": [incident(group="over"), still(), NOTED],
    "unread all day": [still(since=None, kind=Kind.UNKNOWN, topic="t")],
    "a topic": [still(group=None, kind=Kind.UNKNOWN, topic="t")],
    "no runs": [still(group=None, kind=Kind.NO_RUNS)],
    "no leader": [still(group=None, kind=Kind.NO_LEADER, leader=2)],
    "a warning": [still(level=WARNED, kind=Kind.BEHIND)],
    "losses, the worst first": [
        incident(group=name, records_lost=count) for name, count in (("a", 20), ("b", 70), ("a", 6))
    ],
    "lines in the order of the incidents": [
        incident(level=URGENT, group="a"),
        incident(group="b"),
        NOTED,
    ],
    "a calm day": [incident(Kind.UNEVEN, level=NOTICE, topic="t")],
    "every kind": [incident(kind, topic="t", leader=1, count=2, measure="groups") for kind in Kind],
}


def said(incidents: Sequence[Incident], **more: Any) -> list[str]:
    found = page(incidents=tuple(incidents), **more).findings
    lines = [
        f"{one['tag']}, {one['level']}{', still' * one['still']}, {one['section']} | "
        f"{join_words(one['sentence'])}"
        for one in list_attention(found)
    ]
    return [
        *(f"{name}: {join_words(said)}" for name, said in answer_first_questions(found).items()),
        *lines,
    ]


def test_a_page_says_what_is_read_first_and_a_line_for_each_incident(golden: Golden) -> None:
    cases = write_once((name, said(incidents)) for name, incidents in CASES.items())

    golden.holds("report-attention.txt", cases)


def test_of_many_a_few_are_named() -> None:
    broken, lost, *_ = said([still(group=f"g{n}", records_lost=1) for n in range(NAMED + 2)])

    assert broken.endswith("g7 (stalled since 09:00) and 2 more")
    assert lost.endswith("g7 1 and 2 more")


@pytest.mark.parametrize(
    ("more", "end"),
    [
        ({"last_run": at(23, 59)}, "still at midnight"),
        ({"last_run": at(19, 59)}, "still in the last run, at 19:59"),
        ({"last_run": at(14, 2), "in_progress": True}, "still in the last run, at 14:02"),
    ],
)
def test_what_is_not_over_is_still_so_when_it_was_last_seen(more: dict[str, Any], end: str) -> None:
    coverage = (coverage_of("groups", 1440, 1440, interval_seconds=60.0, **more),)

    assert f"stalled from 09:00, {end}." in said([still()], coverage=coverage)[-1]


def test_every_kind_points_at_a_section_that_there_is() -> None:
    lines = list_attention(page(incidents=tuple(CASES["every kind"])).findings)

    sections = {"groups", "retention", "brokers", "skew", "anomalies", "coverage", "all"}
    assert {one["section"] for one in lines} <= sections


def test_a_name_is_a_name_and_no_text() -> None:
    (one,) = list_attention(page(incidents=(incident(group=NASTY),)).findings)

    assert Name(NASTY) in one["sentence"]
    assert not any(NASTY in part for part in one["sentence"] if isinstance(part, str))


@pytest.mark.parametrize(("more", "rest"), [(0, []), (1, ["1 more"]), (9, ["9 more"])])
def test_of_a_kind_the_worst_are_listed_and_the_others_counted(more: int, rest: list[str]) -> None:
    every = [incident(group=f"g{number}") for number in range(MOST + more)]
    other = incident(Kind.UNEVEN, level=NOTICE, topic="t")

    lines = [
        join_words(one["sentence"])
        for one in list_attention(page(incidents=(*every, other)).findings)
    ]
    assert sum("stalled" in line for line in lines) == MOST
    assert [line[:6] for line in lines[MOST + 1 :]] == rest
