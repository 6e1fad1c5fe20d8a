# SPDX-License-Identifier: Apache-2.0
"""The truth of a day, the verdicts on rows of a report, and their text."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import inf
from pathlib import Path
from typing import Any

import pytest

from dev.benchmarks.fleet import make_fleet
from dev.sim.cases import days
from dev.sim.cases.days import HOUR, day, merge
from dev.sim.cases.drawn import draw_cases, draw_days
from dev.sim.events import Case, MissRuns
from dev.sim.run import DATE, write_day
from dev.sim.scorers.incidents import judge
from dev.sim.truth import (
    BEHIND,
    GONE,
    KEEP_EVERY,
    NO_RUNS,
    REWOUND,
    SLA_MISSED,
    STALLED,
    STOPPED,
    UNKNOWN,
    Planted,
    find_planted,
)
from dev.sim.world import Staged

WATCHED = 6.0


def find(happens: str) -> list[Planted]:
    """What is true of the first hours of a day."""
    case = replace(day("one", happens), watched=WATCHED * HOUR)
    world = Staged(case).world
    world.keep_every = KEEP_EVERY
    for _ in range(case.runs):
        world.live_a_minute()
    return find_planted(case, world, case.warm_up + days.DEPLOYED * HOUR)


def say(one: Planted) -> tuple[object, ...]:
    """Who, what, and from which hour to which."""
    hours = [at / HOUR + days.BEGIN for at in (one.since, one.until)]
    return (one.who, *sorted(one.kinds), *(pytest.approx(each, abs=0.03) for each in hours))


@pytest.mark.parametrize(
    ("happens", "right"),
    [
        ("1h Leave g; 2h Join g 2", [("g", STOPPED, 1, 2.5)]),
        ("1h Leave g; 1.1h Join g 2", []),
        ("-5h Leave g", [("g", STOPPED, -inf, inf)]),
        ("1h Leave g lasts=1h", [("g", STOPPED, 1, 2.5)]),
        ("1h Leave g lasts=1h; 1.5h Slow g 1666.7", [("g", BEHIND, 1, inf)]),
        ("1h Hang g lasts=30m; 1.5h Leave g; 3h Join g 2", [("g", STOPPED, 1, 4)]),
        ("5h Hang g lasts=48m", [("g", STALLED, 5, inf)]),
        ("1h Poison g 1 lasts=1h", [("g", STALLED, 1, 2.5)]),
        ("1h Slow g 1666.7 lasts=1.5h", [("g", BEHIND, 1, 3.03)]),
        ("1h Hang g lasts=6m; sla_seconds=60", [("g", SLA_MISSED, STALLED, 1, 1.15)]),
        ("1h Reset g 1h", [("g", REWOUND, 1, 1.5)]),
        ("1h Hang g; 2h Delete g", [("g", STALLED, 1, 2)]),
        ("2h Delete g", [("g", GONE, 2, 2)]),
        ("1h Unread denied g lasts=1h", [("g", UNKNOWN, 1, 2)]),
        ("1h Hang g lasts=2h; 2h Unread denied g lasts=30m", [("g", STALLED, 1, 4)]),
        ("1h MissRuns 1h", [("runs", NO_RUNS, 1, 2)]),
    ],
)
def test_an_incident_has_the_times_of_what_happened(
    happens: str, right: list[tuple[object, ...]]
) -> None:
    assert right == [say(one) for one in find(happens)]


def test_who_stands_loses_what_is_deleted_and_nothing_else() -> None:
    (found,) = find("1h Hang g lasts=3h; rates=2, kept=1")
    (short,) = find("1h Hang g lasts=30m; rates=2, kept=1")

    assert found.lost is not None
    assert found.lost[0] < 2 * 2 * HOUR < found.lost[1]
    assert short.lost == (0.0, 0.0)
    assert short.left == pytest.approx(HOUR / 2, abs=90)


def test_a_member_that_left_while_it_hung_does_not_come_back() -> None:
    case = day("one", "1h Hang g lasts=2h; 2h Leave g; 4h Join g")
    world = Staged(replace(case, watched=5 * HOUR)).world
    members = []
    for _ in range(case.runs):
        world.live_a_minute()
        members.append(len(world.groups[0].speed))

    hour = [members[round((at - days.BEGIN) * 60)] for at in (0.5, 1.5, 2.5, 3.5, 4.5)]
    assert hour == [2, 2, 0, 0, 1]


ONE = day("one", "9h Hang g lasts=2h")
MIDNIGHT = datetime.combine(DATE, datetime.min.time(), UTC)
STALL = Planted(
    who="g",
    kinds=frozenset({STALLED}),
    since=ONE.warm_up + 9 * HOUR,
    until=ONE.warm_up + 11 * HOUR,
    age=2 * HOUR,
)
ROW = {
    **dict.fromkeys(("topic", "leader", "time_lag_max", "least_seconds_until_loss")),
    **dict.fromkeys(("records_lost", "sla_missed_minutes", "client_id", "time_lag_is_least")),
    "kind": STALLED,
    "consumer_group": "g",
    "since": MIDNIGHT + timedelta(hours=9),
    "until": MIDNIGHT + timedelta(hours=11),
    "still": False,
    "text": "g stalled.",
}


@pytest.mark.parametrize(
    ("row", "planted", "fault"),
    [
        ({}, {}, None),
        ({"since": MIDNIGHT + timedelta(hours=9, minutes=1)}, {}, None),
        ({"since": MIDNIGHT + timedelta(hours=9, minutes=3)}, {}, None),
        ({"since": MIDNIGHT + timedelta(hours=9, minutes=4)}, {}, "4.0 min late"),
        ({"since": MIDNIGHT + timedelta(hours=8, minutes=58)}, {}, "-2.0 min late"),
        ({"since": None}, {}, "since when is known"),
        ({}, {"since": -inf}, "nobody knows since when"),
        ({"until": MIDNIGHT + timedelta(hours=11, minutes=5)}, {}, None),
        ({"until": MIDNIGHT + timedelta(hours=11, minutes=6)}, {}, "ends 6.0 min late"),
        ({"until": None, "still": True}, {}, "it is over"),
        ({"until": None}, {}, "has no end"),
        ({"kind": STOPPED}, {}, "not stalled"),
        ({"consumer_group": "h"}, {}, "about nothing that happened"),
        ({"records_lost": 5}, {}, "5 lost, not 0 to 0"),
        ({}, {"lost": (90.0, 100.0)}, "0 lost, not 90 to 100"),
        ({"records_lost": 95}, {"lost": (90.0, 100.0)}, None),
        ({"client_id": "g-02"}, {"blamed": (("client_id", "g-01"),)}, "client_id g-02, not g-01"),
        ({"sla_missed_minutes": 3.0}, {}, "no SLA was missed"),
        ({"time_lag_max": 2 * HOUR - 60}, {}, None),
        ({"time_lag_max": HOUR}, {}, "7200 s old, not 3600"),
        ({"time_lag_max": HOUR, "time_lag_is_least": True}, {}, None),
        ({"least_seconds_until_loss": HOUR}, {"left": 2 * HOUR}, "7200 s were left, not 3600"),
    ],
)
def test_a_row_that_is_not_true_is_a_fault(
    row: dict[str, Any], planted: dict[str, Any], fault: str | None
) -> None:
    found = judge(ONE, [replace(STALL, **planted)], [{**ROW, **row}])

    assert len(found.found) == (fault is None)
    assert any(fault in each for each in found.faults) if fault else not found.faults


def test_an_incident_is_said_once() -> None:
    assert judge(ONE, [STALL], []).faults == ["missing: g stalled from 9.00 to 11.00"]
    assert judge(ONE, [STALL], [ROW, ROW]).faults == ["said twice: g stalled."]


def test_days_in_one_cluster_have_their_names() -> None:
    other = day("two", "1h Unread denied topic=t lasts=1h")
    made = merge("both", [ONE, other])

    assert (list(made.groups), list(made.topics)) == (["one", "two"], ["one-t", "two-t"])
    assert made.groups["two"].topic == "two-t"
    assert {getattr(event, "group", None) or event.topic for event in _of(made)} == {"one", "two-t"}


def test_a_group_moves_to_the_topic_of_its_own_day() -> None:
    moves = day("one", "topic u 4/2; more_topics=u,; 9h Move g u")
    (moved,) = _of(merge("both", [moves]))

    assert (moved.group, moved.to) == ("one", "one-u")


def _of(case: Case) -> list[Any]:
    return [event for _, event in case.happens if not isinstance(event, MissRuns)]


def test_a_seed_draws_its_cases_and_days() -> None:
    assert draw_cases(1) == draw_cases(1) != draw_cases(2)
    assert draw_days(1, [ONE]) == draw_days(1, [ONE]) != draw_days(2, [ONE])


def test_a_run_sees_what_happened_before_its_time(tmp_path: Path) -> None:
    case = replace(day("one", "1h Leave g; 2h Join g 2"), warm_up=HOUR, watched=3 * HOUR)
    count = write_day(tmp_path, "blå & 1/2", Staged(case).world, watched=3 * HOUR, every=10)
    places = [
        str(path.relative_to(tmp_path))
        for path in sorted((tmp_path / "snapshots/groups").rglob("*.parquet"))
    ]

    assert count == len(places) == 18
    folder = "snapshots/groups/cluster=bl%C3%A5%20%26%201%2F2/dt=2026-01-31"
    assert places[0] == f"{folder}/hour=00/20260131T000000Z-0of1.parquet"


def test_every_tenth_group_of_a_large_cluster_falls_behind() -> None:
    world = make_fleet(20)
    for _ in range(120):
        world.live_a_minute()
    sight = world.sight()
    assert sight is not None
    rows = world.layout().partition
    lag = (sight.end[rows] - sight.committed).reshape(20, 60).sum(axis=1)

    assert len(rows) == 1_200
    assert {number for number in range(20) if lag[number] > 3 * lag[1]} == {0}
