# SPDX-License-Identifier: Apache-2.0
"""What needs attention: the day's incidents as lines of the page."""

from typing import Any

import pytest

from kafka_lag_report.findings import Coverage
from kafka_lag_report.incident import NOTICE, SERIOUS, URGENT, WARNED, Incident, Kind
from kafka_lag_report.page.attention import MOST, NAMED, at_a_glance, attention
from kafka_lag_report.sentences import Name, plain
from tests.glue_jobs.page.pages import NASTY, at, page


def incident(kind: Kind = Kind.STALLED, **more: Any) -> Incident:
    usual = {"level": SERIOUS, "group": "g", "since": at(9), "until": at(10)}
    return Incident(**{"kind": kind, **usual, **more})


def lines(*incidents: Incident, **more: Any) -> list[tuple[str, str, str, str]]:
    found = attention(page(incidents=incidents, **more).findings)
    return [(one.tag, one.level, plain(one.sentence), one.section) for one in found]


def test_an_incident_is_a_line_with_its_kind_its_level_and_its_section() -> None:
    assert lines(incident()) == [
        (
            "Stalled",
            SERIOUS,
            "g stalled from 09:00 to 10:00: the owners of its partitions did not move.",
            "groups",
        )
    ]


@pytest.mark.parametrize(
    ("more", "tag"),
    [
        ({"records_lost": 5}, "Lost"),
        ({"seconds_left": 60.0, "still": True}, "At risk"),
        # a risk that is over is a part of what happened
        ({"seconds_left": 6_000.0}, "Stalled"),
        ({"gone_at": at(10)}, "Gone"),
        ({"kind": Kind.NO_RUNS}, "No runs"),
        ({"kind": Kind.UNEVEN}, "Uneven keys"),
    ],
)
def test_the_tag_is_the_worst_in_a_word(more: dict[str, Any], tag: str) -> None:
    assert lines(incident(**more))[0][0] == tag


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_sentence_and_a_section_that_there_is(kind: Kind) -> None:
    ((tag, _, said, section),) = lines(
        incident(kind, topic="t", leader=1, count=2, measure="groups")
    )

    assert tag
    assert said[0].isalnum() or said[0] == "g"
    assert said.endswith(".")
    assert "None" not in said
    assert section in {"groups", "retention", "brokers", "skew", "anomalies", "coverage", "all"}


def test_a_name_is_a_name_and_no_text() -> None:
    (one,) = attention(page(incidents=(incident(group=NASTY),)).findings)

    assert Name(NASTY) in one.sentence
    assert not any(NASTY in part for part in one.sentence if isinstance(part, str))


@pytest.mark.parametrize(
    ("count", "rest"),
    [
        (MOST, []),
        (MOST + 1, ["1 more incident of this kind."]),
        (MOST + 9, ["9 more incidents of this kind."]),
    ],
)
def test_of_a_kind_the_worst_are_listed_and_the_others_counted(count: int, rest: list[str]) -> None:
    every = [incident(group=f"g{number}") for number in range(count)]

    said = lines(*every, incident(Kind.UNEVEN, level=NOTICE, topic="t"))

    assert [text for *_, text, _ in said[MOST + 1 :]] == rest
    assert sum("stalled" in text for *_, text, _ in said) == MOST


def test_the_lines_stand_in_the_order_of_the_incidents() -> None:
    given = [
        incident(level=URGENT, group="a"),
        incident(group="b"),
        incident(level=NOTICE, group="c"),
    ]

    assert [level for _, level, *_ in lines(*given)] == [URGENT, SERIOUS, NOTICE]


@pytest.mark.parametrize(
    ("more", "end"),
    [
        ({"last_run": at(23, 59)}, "still at midnight"),
        ({"last_run": at(19, 59)}, "still in the last run, at 19:59"),
        ({"last_run": at(14, 2), "in_progress": True}, "still in the last run, at 14:02"),
    ],
)
def test_what_is_not_over_is_still_so_when_it_was_last_seen(more: dict[str, Any], end: str) -> None:
    coverage = (Coverage("groups", 1440, 1440, interval=60.0, **more),)

    ((_, _, said, _),) = lines(incident(until=None, still=True), coverage=coverage)

    assert f"stalled from 09:00, {end}: " in said


def glance(*incidents: Incident, **more: Any) -> list[str]:
    found = at_a_glance(page(incidents=incidents, **more).findings)
    return [f"{one.label}: {plain(one.answer)}" for one in found]


STILL: dict[str, Any] = {"until": None, "still": True}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "g (stalled since 09:00)"),
        ({"since": None, "kind": Kind.UNKNOWN, "topic": "t"}, "g (unread all day)"),
        ({"group": None, "kind": Kind.UNKNOWN, "topic": "t"}, "topic t (unread since 09:00)"),
        ({"group": None, "kind": Kind.NO_RUNS}, "the collector (without runs since 09:00)"),
        (
            {"group": None, "kind": Kind.NO_LEADER, "leader": 2},
            "partitions of broker 2 (without a leader since 09:00)",
        ),
        ({"level": WARNED, "kind": Kind.BEHIND}, "g (behind since 09:00)"),
    ],
)
def test_who_is_still_broken_is_read_first(more: dict[str, Any], said: str) -> None:
    over, notice = incident(group="over"), incident(**{**STILL, "level": NOTICE, "group": "n"})

    assert glance(over, incident(**{**STILL, **more}), notice)[0] == (
        f"Still broken at midnight: {said}"
    )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "nothing that was seen"),
        ({"until": None}, "nothing that was seen; of 1 incident nobody saw the end"),
    ],
)
def test_where_all_is_over_that_is_said(more: dict[str, Any], said: str) -> None:
    assert glance(incident(**more)) == [
        f"Still broken at midnight: {said}",
        "Records lost: none that a run saw",
    ]


def test_who_lost_how_much_is_read_next() -> None:
    lost = [("a", 20), ("b", 70), ("a", 60)]

    assert glance(*(incident(group=name, records_lost=count) for name, count in lost))[1] == (
        "Records lost: at least 150 records: a 80, b 70"
    )


def test_of_many_a_few_are_named() -> None:
    every = [incident(group=f"g{n}", records_lost=1, **STILL) for n in range(NAMED + 2)]

    still, lost = glance(*every)

    assert still.endswith("g7 (stalled since 09:00) and 2 more")
    assert lost.endswith("g7 1 and 2 more")


def test_a_calm_day_has_nothing_to_read_first() -> None:
    assert glance(incident(Kind.UNEVEN, level=NOTICE, topic="t")) == []


def test_a_line_says_whether_it_is_still_so() -> None:
    both = (incident(), incident(**STILL))

    assert [one.still for one in attention(page(incidents=both).findings)] == [False, True]
