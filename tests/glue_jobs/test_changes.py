# SPDX-License-Identifier: Apache-2.0
"""What is otherwise than the day before, one finding a case."""

from dataclasses import replace
from typing import Any

import pytest

from kafka_lag_report.changes import Change, Kind, find_changes
from kafka_lag_report.findings import (
    Broker,
    Coverage,
    Findings,
    GroupDay,
    Listed,
    TopicRisk,
    TopicSkew,
    UnusualHour,
)
from tests.glue_jobs.page.pages import DAY

SEEN = (Coverage("groups", 1440, 1440, interval=60.0, longest_gap=60.0),)
KEY = ("billing", "orders")
LOST = TopicRisk(*KEY, 1, records_lost=1_200)
LOST_MORE = TopicRisk(*KEY, 2, records_lost=1_500)
AT_RISK = TopicRisk(*KEY, 0, 2, seconds_left=18_000.0)
SKEWED = TopicSkew(
    *KEY,
    True,
    False,
    max_to_mean=3.42,
    mean=9.0,
    cause="broker",
    cause_leader=3,
    cause_partitions=(0, 1),
)
HOT = Broker(3, "az-a", hot=True, lag_share=0.62, partitions_share=0.25)
COOL = replace(HOT, hot=False)


def listed(*rows: object) -> Listed[Any]:
    return Listed(rows, len(rows))


def day(cluster: str = "demo", **found: Any) -> Findings:
    """A cluster's day that was seen whole; `rows` of one kind may be given bare."""
    lists: dict[str, Any] = {
        name: listed(*rows) if isinstance(rows, list) else rows for name, rows in found.items()
    }
    return Findings(cluster, DAY, **{"coverage": SEEN, **lists})


def said(today: Findings, previous: Findings | None) -> list[tuple[Kind, str]]:
    """Kinds and texts of the changes, in their order."""
    before = {previous.cluster: previous} if previous else {}
    changes = find_changes({today.cluster: today}, before)
    assert {c.cluster for c in changes} <= {today.cluster}
    return [(c.kind, c.text) for c in changes]


def of(name: str, row: Any) -> dict[str, Any]:
    return {} if row is None else {name: [row]}


@pytest.mark.parametrize(
    ("today", "before", "text"),
    [
        (LOST, None, "billing lost at least 1,200 records of orders on 1 partition:"
         " deleted before they were committed"),
        (TopicRisk(*KEY, 1), None, "billing lost records of orders on 1 partition: deleted before"
         " they were committed"),
        (LOST, AT_RISK, "billing lost at least 1,200 records of orders on 1 partition:"
         " deleted before they were committed"),
        (LOST_MORE, LOST, "billing lost at least 1,500 records of orders on 2 partitions:"
         " deleted before they were committed, 1,200 the day before"),
        (LOST, LOST, None),
        (LOST, LOST_MORE, None),
        (None, LOST, None),
    ],
)  # fmt: skip
def test_a_loss_is_told_when_it_is_new_or_greater(
    today: TopicRisk | None, before: TopicRisk | None, text: str | None
) -> None:
    found = said(day(**of("risks", today)), day(**of("risks", before)))

    assert found == ([] if text is None else [(Kind.LOST, text)])


@pytest.mark.parametrize(
    ("today", "before", "text"),
    [
        (AT_RISK, None, "2 partitions at risk, 5 h left at the least"),
        (TopicRisk(*KEY, 0, 1), None, "1 partition at risk"),
        (AT_RISK, AT_RISK, None),
    ],
)
def test_a_risk_is_told_when_it_is_new(
    today: TopicRisk, before: TopicRisk | None, text: str | None
) -> None:
    found = said(day(risks=[today]), day(**of("risks", before)))

    assert found == ([] if text is None else [(Kind.AT_RISK, f"billing on orders: {text}")])


@pytest.mark.parametrize(
    ("today", "before", "text"),
    [
        (day(risks=[AT_RISK]), LOST, "no records lost any more, still at risk"),
        (day(safe=frozenset({KEY})), LOST, "no records lost any more"),
        (day(safe=frozenset({KEY})), AT_RISK, "no longer at risk"),
        # nobody saw it today: nothing is known to be over
        (day(), AT_RISK, None),
    ],
)
def test_a_risk_is_over_when_that_is_known(
    today: Findings, before: TopicRisk, text: str | None
) -> None:
    found = said(today, day(risks=[before]))

    assert found == ([] if text is None else [(Kind.SAFE, f"billing on orders: {text}")])


@pytest.mark.parametrize(
    ("today", "before", "reported"),
    [
        (day(skews=[SKEWED]), day(), (Kind.SKEWED, "lag is skewed, 3.4\u00d7 the mean; broker 3"
         " leads partitions 0, 1")),
        (day(skews=[SKEWED]), day(skews=[SKEWED]), None),
        (day(even=frozenset({KEY})), day(skews=[SKEWED]), (Kind.EVEN, "lag is even again")),
        (day(), day(skews=[SKEWED]), None),
        (day(skews=[replace(SKEWED, cause="unexplained")]), day(), None),
        (day(skews=[replace(SKEWED, cause="stopped", group_stopped=True)]), day(), None),
        (day(skews=[replace(SKEWED, lag_skewed=False)]), day(), None),
    ],
)  # fmt: skip
def test_skew_is_told_with_its_cause_when_new_and_when_over(
    today: Findings, before: Findings, reported: tuple[Kind, str] | None
) -> None:
    expected = [] if reported is None else [(reported[0], f"billing on orders: {reported[1]}")]

    assert said(today, before) == expected


def test_groups_that_a_topics_keys_skew_alike_are_told_once() -> None:
    keys = replace(SKEWED, cause="production", cause_partitions=(0,))
    skews = [replace(keys, group=f"g{n}", max_to_mean=2.0 + n) for n in range(3)]

    assert [text for _, text in said(day(skews=[*skews, SKEWED]), day())] == [
        "g2 on orders and 2 more groups: lag is skewed, 4.0\u00d7 the mean; "
        "partition 0 is behind by more records as more are produced to it",
        "billing on orders: lag is skewed, 3.4\u00d7 the mean; broker 3 leads partitions 0, 1",
    ]


def a_group(sla: float | None = None, **more: Any) -> GroupDay:
    return GroupDay("billing", sla_compliance=sla, **more)


@pytest.mark.parametrize(
    ("today", "before", "reported"),
    [
        (a_group(0.932), a_group(1.0), (Kind.SLA_MISSED, "SLA met for 93.2% of the time, 100% the"
         " day before")),
        (a_group(0.932), a_group(), (Kind.SLA_MISSED, "SLA met for 93.2% of the time")),
        (a_group(0.932), a_group(0.5), None),
        (a_group(1.0), a_group(0.932), (Kind.SLA_MET, "SLA met all day, 93.2% the day before")),
        (a_group(), a_group(0.932), None),
        (a_group(err_minutes=42.0), a_group(err_minutes=0.0), (Kind.ERR, "in ERR for 42 min, never"
         " the day before")),
        (a_group(err_minutes=42.0), a_group(), (Kind.ERR, "in ERR for 42 min")),
        (a_group(err_minutes=42.0), a_group(err_minutes=1.0), None),
        (a_group(err_minutes=0.0), a_group(err_minutes=1.0), None),
        (a_group(warn_minutes=94.0, time_lag_max=2880.0), a_group(warn_minutes=59.0),
         (Kind.WARN, "in WARN for 1 h 34 min, 48 min behind at most")),
        (a_group(warn_minutes=94.0), a_group(warn_minutes=60.0), None),
        (a_group(warn_minutes=59.0), a_group(), None),
    ],
)  # fmt: skip
def test_a_groups_sla_and_status_are_told_with_numbers(
    today: GroupDay, before: GroupDay, reported: tuple[Kind, str] | None
) -> None:
    expected = [] if reported is None else [(reported[0], f"billing: {reported[1]}")]

    assert said(day(groups=[today]), day(groups=[before])) == expected


@pytest.mark.parametrize(
    ("today", "before", "reported"),
    [
        (HOT, COOL, (Kind.HOT, "62% of the lag on 25% of the partitions")),
        (HOT, None, (Kind.HOT, "62% of the lag on 25% of the partitions")),
        (HOT, HOT, None),
        (COOL, HOT, (Kind.COOL, "its share of the lag is usual again")),
        (replace(HOT, hot=None), HOT, None),
        (None, HOT, None),
    ],
)
def test_a_broker_is_told_when_it_gets_hot_and_when_it_cools(
    today: Broker | None, before: Broker | None, reported: tuple[Kind, str] | None
) -> None:
    expected = [] if reported is None else [(reported[0], f"broker 3 in az-a: {reported[1]}")]

    assert said(day(**of("brokers", today)), day(**of("brokers", before))) == expected


def test_unusual_hours_are_told_by_the_worst_of_a_group_and_measure() -> None:
    hours = [
        UnusualHour("billing", 13, "time_lag_seconds", 720.0, 20.0, 70.0, "high"),
        UnusualHour("billing", 14, "time_lag_seconds", 90.0, 20.0, 7.0, "high"),
        UnusualHour("billing", 3, "produce_rate", 0.25, 52.0, -9.9, "low"),
    ]

    assert said(day(unusual=hours), day(unusual=hours)) == [
        (
            Kind.UNUSUAL,
            "billing: time lag 12 min from 13:00 (usually 20 s), and in 1 other hour",
        ),
        (Kind.UNUSUAL, "billing: produce rate 0.2/s from 03:00 (usually 52/s)"),
    ]


def groups(*names: str, gone: tuple[str, ...] = (), more: int = 0) -> Findings:
    days = [GroupDay(name) for name in names] + [GroupDay(name, gone=True) for name in gone]
    return day(groups=Listed(tuple(days), len(days) + more))


@pytest.mark.parametrize(
    ("today", "before", "reported"),
    [
        (groups("a"), groups("a"), []),
        (groups("a", "b"), groups("a"), [(Kind.NEW, "new groups: b")]),
        (groups("a"), groups("a", "b"), [(Kind.GONE, "groups no longer seen: b")]),
        (groups("a", gone=("b",)), groups("a", "b"), [(Kind.GONE, "groups no longer seen: b")]),
        (groups("a"), groups("a", gone=("b",)), []),
        (groups("a", "b"), groups("a", gone=("b",)), [(Kind.NEW, "new groups: b")]),
        (groups(*"abcdef"), groups("a"), [(Kind.NEW, "new groups: b, c, d and 2 more")]),
        # without a group on either day nothing can be said to have come or gone
        (groups("a"), day(), []),
        (day(), groups("a"), []),
        # nor where not all are known
        (groups("a", more=1), groups("b"), []),
        (groups("a"), groups("b", more=1), []),
    ],
)
def test_groups_are_told_when_they_come_and_when_they_go(
    today: Findings, before: Findings, reported: list[tuple[Kind, str]]
) -> None:
    assert said(today, before) == reported


def test_several_groups_in_a_line_count_as_many() -> None:
    found = find_changes({"demo": groups(*"abcdef")}, {"demo": groups("a")})

    assert [change.count for change in found] == [5]


@pytest.mark.parametrize(
    ("datasets", "text"),
    [
        (SEEN, None),
        ((Coverage("groups", 1, None, longest_gap=10_800.0),), None),
        (
            (Coverage("groups", 1, None, longest_gap=86_340.0),),
            "coverage: the longest gap lasted 23 h 59 min (groups)",
        ),
        (
            (Coverage("groups", 1_436, 1_440, interval=60.0, longest_gap=300.0),),
            "coverage: 1,436 of 1,440 runs were seen; the longest gap lasted 5 min (groups)",
        ),
        (
            (*SEEN, Coverage("group_partitions", 9, objects_skipped=2)),
            "coverage: 2 objects left out as unreadable",
        ),
        ((Coverage("groups", 0), *SEEN), "coverage: no runs of groups"),
    ],
)
def test_what_nobody_saw_of_the_day_is_told_in_one_line(
    datasets: tuple[Coverage, ...], text: str | None
) -> None:
    found = said(day(coverage=datasets), day())

    assert found == ([] if text is None else [(Kind.COVERAGE, text)])


def test_a_cluster_that_is_missing_today_is_told() -> None:
    (change,) = find_changes({"demo": day()}, {"demo": day(), "other": day("other")})

    assert (change.cluster, change.kind) == ("other", Kind.UNSEEN)


def test_the_worst_comes_first_over_all_clusters() -> None:
    def risk(topic: str, lost: int = 0, left: float | None = None) -> TopicRisk:
        at_risk = 0 if lost else 1
        return TopicRisk("g", topic, int(lost > 0), at_risk, lost or None, seconds_left=left)

    today = {
        "a": day("a", risks=[risk("w", 1_500), risk("t", left=18_000.0)], brokers=[HOT]),
        "b": day("b", risks=[risk("t", 1_200), risk("v", left=60.0), risk("u")]),
    }

    found: tuple[Change, ...] = find_changes(today, {})

    assert [(c.cluster, c.kind, c.text.rpartition(" of ")[2][:6]) for c in found[:2]] == [
        ("a", Kind.LOST, "w on 1"),
        ("b", Kind.LOST, "t on 1"),
    ]
    assert [(c.cluster, c.text.partition(":")[0]) for c in found[2:]] == [
        ("b", "g on v"),
        ("a", "g on t"),
        ("b", "g on u"),
        ("a", "broker 3 in az-a"),
    ]


@pytest.mark.parametrize(
    ("name", "kind", "rows", "order"),
    [
        (
            "groups",
            Kind.SLA_MISSED,
            [GroupDay(name, sla_compliance=part) for name, part in (("a", 0.9), ("b", 0.1))],
            ["b", "a"],
        ),
        (
            "groups",
            Kind.ERR,
            [GroupDay(name, err_minutes=count) for name, count in (("a", 2.0), ("b", 30.0))],
            ["b", "a"],
        ),
        (
            "brokers",
            Kind.HOT,
            [replace(HOT, leader=1, lag_share=0.2), replace(HOT, leader=2, lag_share=0.6)],
            ["broker 2 in az-a", "broker 1 in az-a"],
        ),
    ],
    ids=["sla", "err", "hot"],
)
def test_of_one_kind_the_worst_comes_first(
    name: str, kind: Kind, rows: list[Any], order: list[str]
) -> None:
    lists: dict[str, Any] = {name: rows}
    found = said(day(**lists), day())

    assert [(k, text.split(":")[0]) for k, text in found] == [(kind, who) for who in order]


@pytest.mark.parametrize(
    ("leader", "rack", "name"),
    [(3, None, "broker 3"), (3, "az-a", "broker 3 in az-a"), (None, None, "no leader")],
)
def test_a_hot_broker_is_named_with_its_rack(
    leader: int | None, rack: str | None, name: str
) -> None:
    hot = replace(HOT, leader=leader, rack=rack)

    assert said(day(brokers=[hot]), day()) == [
        (Kind.HOT, f"{name}: 62% of the lag on 25% of the partitions")
    ]


def test_without_a_day_before_findings_are_told_and_no_group_is_new() -> None:
    today = day(risks=[AT_RISK], groups=[a_group(0.5, err_minutes=3.0), GroupDay("calm")])

    assert [kind for kind, _ in said(today, None)] == [Kind.AT_RISK, Kind.SLA_MISSED, Kind.ERR]


def test_names_are_cut_in_the_middle_and_made_safe() -> None:
    risk = TopicRisk("g\n" + "x" * 300, "t" * 249, 0, 1)

    ((_, text),) = said(day(risks=[risk]), None)

    assert text.isprintable()
    assert len(text) < 160
    assert "\u2026" in text
