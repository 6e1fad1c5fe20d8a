# SPDX-License-Identifier: Apache-2.0
"""SLA, status, unusual hours, and which groups there are."""

import pytest

from kafka_lag_report.summary.changes import Kind, changes
from kafka_lag_report.summary.findings import Findings, Group, GroupDay, Hour, Unusual
from tests.glue_jobs.summary.changes.days import GROUP, day, lone, told_of


@pytest.mark.parametrize(
    ("today", "before", "told"),
    [
        (
            GroupDay(0.932),
            GroupDay(1.0),
            (Kind.SLA_MISSED, "SLA met for 93.2% of the time, 100% the day before"),
        ),
        (GroupDay(0.932), GroupDay(None), (Kind.SLA_MISSED, "SLA met for 93.2% of the time")),
        (GroupDay(0.932), GroupDay(0.5), None),
        (GroupDay(1.0), GroupDay(0.932), (Kind.SLA_MET, "SLA met all day, 93.2% the day before")),
        (GroupDay(0.9999999999), GroupDay(1.0), None),
        (GroupDay(None), GroupDay(0.932), None),
        (
            GroupDay(err_minutes=42.0),
            GroupDay(err_minutes=0.0),
            (Kind.ERR, "in ERR for 42 min, never the day before"),
        ),
        (GroupDay(err_minutes=42.0), GroupDay(), (Kind.ERR, "in ERR for 42 min")),
        (GroupDay(err_minutes=42.0), GroupDay(err_minutes=1.0), None),
        (GroupDay(err_minutes=0.0), GroupDay(err_minutes=1.0), None),
    ],
)
def test_a_groups_sla_and_status_are_told_with_numbers(
    today: GroupDay, before: GroupDay, told: tuple[Kind, str] | None
) -> None:
    expected = [] if told is None else [(told[0], f"billing: {told[1]}")]

    assert lone("groups", GROUP, today, before) == expected


def test_unusual_hours_are_told_by_the_worst_of_a_group_and_measure() -> None:
    hours = {
        Hour("demo", "billing", "time_lag_seconds", 13): Unusual(720.0, 20.0, 70.0),
        Hour("demo", "billing", "time_lag_seconds", 14): Unusual(90.0, 20.0, 7.0),
        Hour("demo", "billing", "produce_rate", 3): Unusual(0.25, 52.0, -9.9),
    }

    assert told_of(day(unusual=hours), day(unusual=hours)) == [
        (
            Kind.UNUSUAL,
            "billing: time lag 12 min at 13:00, usually 20 s, 1 more hour unusual",
        ),
        (Kind.UNUSUAL, "billing: records produced 0.2/s at 03:00, usually 52.0/s"),
    ]


def _groups(*names: str, gone: tuple[str, ...] = ()) -> Findings:
    days = {Group("demo", name): GroupDay() for name in names}
    return day(groups=days | {Group("demo", name): GroupDay(gone=True) for name in gone})


@pytest.mark.parametrize(
    ("today", "before", "told"),
    [
        (_groups("a"), _groups("a"), []),
        (_groups("a", "b"), _groups("a"), [(Kind.NEW, "new groups: b")]),
        (_groups("a"), _groups("a", "b"), [(Kind.GONE, "groups gone: b")]),
        (_groups("a", gone=("b",)), _groups("a", "b"), [(Kind.GONE, "groups gone: b")]),
        (_groups("a"), _groups("a", gone=("b",)), []),
        (_groups("a", "b"), _groups("a", gone=("b",)), [(Kind.NEW, "new groups: b")]),
        (_groups(*"abcdef"), _groups("a"), [(Kind.NEW, "new groups: b, c, d and 2 more")]),
        # without a group on either day nothing can be said to have come or gone
        (_groups("a"), day(), []),
        (day(), _groups("a"), []),
    ],
)
def test_groups_are_told_when_they_come_and_when_they_go(
    today: Findings, before: Findings, told: list[tuple[Kind, str]]
) -> None:
    assert told_of(today, before) == told


def test_several_groups_in_a_line_count_as_many() -> None:
    (change,) = changes(_groups(*"abcdef"), _groups("a"))

    assert change.count == 5


def test_no_group_is_new_or_gone_where_groups_were_cut() -> None:
    cut = day(groups={GROUP: GroupDay()}, cut=frozenset({"lag_summary"}))

    assert told_of(cut, _groups("other")) == told_of(_groups("other"), cut) == []
