# SPDX-License-Identifier: Apache-2.0
"""Changes since the day before."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from kafka_lag_report.changes import count_old, find_changes
from kafka_lag_report.findings import Findings, Listed
from kafka_lag_report.incident import Incident, Kind
from tests.glue_jobs.page.pages import coverage_of, group_day

DAY = date(2026, 1, 31)
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def incident(kind: Kind = Kind.STALLED, **more: Any) -> Incident:
    usual = {"level": "serious", "group": "g", "text": "g stalled.", "still": True}
    return Incident(**{"kind": kind, **usual, **more})


def day(*incidents: Incident, groups: tuple[str, ...] = ("g",), more: int = 0) -> Findings:
    days = tuple(group_day(name) for name in groups)
    return Findings("c", DAY, groups=Listed(days, len(days) + more), incidents=incidents)


def news(today: Findings, eve: Findings | None) -> list[tuple[str, str]]:
    return [(c.what, c.text) for c in find_changes({"c": today}, {"c": eve} if eve else {})]


STILL = incident()


def test_without_a_day_before_every_incident_is_news_and_no_group_is_new() -> None:
    assert news(day(STILL), None) == [("stalled", "g stalled.")]


@pytest.mark.parametrize(
    ("eve", "today", "is_news"),
    [
        (STILL, STILL, False),
        # it ended, or it is another one
        (STILL, incident(still=False, until=NOON), True),
        (incident(still=False, until=NOON), STILL, True),
        (STILL, incident(Kind.STOPPED), True),
        (STILL, incident(group="other"), True),
        # it became worse
        (STILL, incident(records_lost=5), True),
        (incident(records_lost=5), incident(records_lost=5), False),
        (incident(records_lost=5), incident(records_lost=6), True),
        (STILL, incident(level="urgent"), True),
        (incident(level="urgent"), STILL, False),
        # what lasts has no end; unusual hours are each day's own
        (incident(Kind.UNEVEN, still=False), incident(Kind.UNEVEN, still=False), False),
        (incident(Kind.UNUSUAL, still=False), incident(Kind.UNUSUAL, still=False), True),
    ],
)
def test_what_is_as_it_was_is_no_news(eve: Incident, today: Incident, is_news: bool) -> None:
    assert bool(news(day(today), day(eve))) == is_news
    assert count_old({"c": day(today)}, {"c": day(eve)}) == (not is_news)


FIRST_RUN = datetime(2026, 1, 31, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("since", "is_news"),
    [
        pytest.param(None, False, id="before the day"),
        pytest.param(FIRST_RUN - timedelta(days=2), False, id="as the day before said"),
        pytest.param(FIRST_RUN, False, id="seen by the first run"),
        pytest.param(FIRST_RUN + timedelta(minutes=10), False, id="no farther than one's parts"),
        pytest.param(FIRST_RUN + timedelta(minutes=11), True, id="farther"),
        pytest.param(NOON, True, id="another one"),
    ],
)
def test_what_began_after_the_days_first_runs_is_not_what_was_so_the_day_before(
    since: datetime | None, is_news: bool
) -> None:
    today = replace(day(incident(since=since)), coverage=(coverage_of("g", first_run=FIRST_RUN),))

    assert bool(news(today, day(STILL))) == is_news
    assert count_old({"c": today}, {"c": day(STILL)}) == (not is_news)


def test_without_a_known_first_run_the_day_begins_at_midnight() -> None:
    assert news(day(incident(since=NOON)), day(STILL)) == [("stalled", "g stalled.")]
    assert news(day(incident(since=FIRST_RUN.replace(hour=0))), day(STILL)) == []


def test_one_that_ended_and_one_that_began_later_are_both_news() -> None:
    ended = incident(still=False, until=FIRST_RUN, text="g stalled until 03:00.")
    began = incident(since=NOON, text="g stalled from 12:00.")

    assert {text for _, text in news(day(ended, began), day(STILL))} == {ended.text, began.text}


def test_groups_that_came_and_went_are_named() -> None:
    eve, today = day(groups=("a", "b", "e", "f", "h")), day(groups=("a", "c"))

    assert news(today, eve) == [
        ("no longer seen", "groups no longer seen: b, e, f and 1 more"),
        ("new", "new groups: c"),
    ]


def test_a_group_that_was_deleted_has_an_incident_and_is_not_missed_besides() -> None:
    today = day(incident(Kind.GONE, text="g is gone."), groups=())
    today = replace(today, groups=Listed((group_day("g", gone=True), group_day("a")), 2))

    assert news(today, day(groups=("a", "g"))) == [("gone", "g is gone.")]


@pytest.mark.parametrize("cut", ["today", "eve"])
def test_of_days_that_are_cut_no_group_came_or_went(cut: str) -> None:
    eve, today = day(groups=("a",), more=cut == "eve"), day(groups=("b",), more=cut == "today")

    assert news(today, eve) == []


def test_a_cluster_without_snapshots_comes_first() -> None:
    found = find_changes({"c": day(STILL)}, {"c": day(), "silent": day()})

    assert [(c.cluster, c.text) for c in found] == [
        ("silent", "no snapshots of this day"),
        ("c", "g stalled."),
    ]
