# SPDX-License-Identifier: Apache-2.0
"""Spells out of a day's rows: from when to when the same was wrong with whom."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from kafka_lag.contract import READ_OR_SKIPPED
from kafka_lag_report.aggregates import group_segments, topic_segments
from kafka_lag_report.evidence import (
    Stint,
    UnreadSpell,
    group_spells,
    notable_partitions,
    of_notable_groups,
    partition_spells,
    topic_sizes,
    topic_spells,
    unread_spells,
    worst_spells,
)
from kafka_lag_report.partials import DayRows
from tests.glue_jobs.days import Row, frame, group_row, topic_row

pytestmark = pytest.mark.spark

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
PAUSE = 180.0


def at(minute: float) -> datetime:
    return NOON + timedelta(minutes=minute)


def minutes(seconds: float | None) -> float | None:
    return None if seconds is None else (seconds - NOON.timestamp()) / 60


def held_up(since: float) -> Row:
    """A row of a group behind a transaction that began at this minute."""
    return {
        "status": "OK",
        "status_reason": "open_transaction",
        "held_up_records": 7,
        "open_transaction_since": at(since),
        "open_transaction_topic": "t",
        "open_transaction_partition": 3,
    }


def aged(seconds: float) -> Row:
    """An age of which it is known that it was no greater."""
    return {"time_lag_seconds": seconds, "time_lag_error_seconds": 0.0}


# Rows by minute, and of each spell: first and last minute, and what is told of it.
GROUPS: dict[str, tuple[dict[int, Row], list[tuple[int, int, dict[str, Any]]]]] = {
    "ok": ({0: {"status": "OK"}, 1: {"status": "OK", "members": 0}}, []),
    "err, then ok, then err": (
        {0: {"status": "ERR"}, 1: {"status": "ERR"}, 2: {"status": "OK"}, 3: {"status": "ERR"}},
        [(0, 1, {"status": "ERR", "runs": 2}), (3, 3, {"status": "ERR"})],
    ),
    "a lag that falls": (
        {0: {"status": "ERR", "lag": 9}, 1: {"status": "ERR", "lag": 4}},
        [(0, 1, {"lag": 9, "last_lag": 4})],
    ),
    "another reason": (
        {0: {"status": "WARN", "status_reason": "slow"}, 1: {"status": "WARN"}},
        [(0, 0, {"reason": "slow"}), (1, 1, {"reason": None})],
    ),
    "runs that are missing": (
        {0: {"status": "ERR"}, 4: {"status": "ERR"}},
        [(0, 0, {}), (4, 4, {})],
    ),
    "runs that may be missing": ({0: {"status": "ERR"}, 3: {"status": "ERR"}}, [(0, 3, {})]),
    "unread": (
        {0: {"status": "OK"}, 1: {"unread_reason": "denied", "status": "ERR", "lag": 9}},
        [(1, 1, {"unread": "denied", "status": None, "lag": None, "last_lag": 9})],
    ),
    "gone": (
        {0: {"status": "OK"}, 1: {"status_reason": "gone", "unread_reason": "error"}},
        [(1, 1, {"gone": True})],
    ),
    "nobody is there before it is said": (
        {0: {"status": "OK", "members": 0}, 1: {"status": "ERR", "members": 0}},
        [(0, 0, {"nobody": True, "status": "OK"}), (1, 1, {"nobody": True, "status": "ERR"})],
    ),
    "over its SLA": (
        {
            0: {"status": "OK", "time_lag_seconds": 60.0, "sla_seconds": 60.0},
            1: {"status": "OK", "time_lag_seconds": 60.1, "sla_seconds": 60.0},
        },
        [(1, 1, {"over_sla": True, "time_lag": 60.1, "dated": None, "sla": 60.0})],
    ),
    "calm until it is not": (
        {
            **{n: {"status": "OK", **aged(100.0)} for n in range(4)},
            4: {"status": "OK", **aged(200.0)},
            5: {"status": "OK", **aged(201.0)},
            6: {"status": "ERR", **aged(500.0)},
        },
        [(6, 6, {"calm_at": 4, "time_lag": 500.0, "dated": 500.0})],
    ),
    "a least age shows nobody calm": (
        {
            **{n: {"status": "OK", **aged(100.0)} for n in range(4)},
            4: {"status": "OK", "time_lag_seconds": 100.0},
            5: {"status": "ERR", "time_lag_seconds": 500.0},
            6: {"status": "ERR", **aged(400.0)},
        },
        [(5, 6, {"calm_at": 3, "time_lag": 500.0, "dated": 400.0})],
    ),
    "since an earlier day": (
        {0: {"status": "ERR", "incident_since": at(-800)}},
        [(0, 0, {"since": -800})],
    ),
    "ten rebalances in an hour": (
        {n: {"status": "OK", "owners_changed": int(n % 2 == 0)} for n in range(22)},
        [
            (
                18,
                21,
                {"restless": True, "restless_since": 0, "restless_until": 20, "rebalances": 11},
            )
        ],
    ),
    "rebalances under two statuses are counted once": (
        {n: {"status": "OK" if n < 12 else "WARN", "rebalances": 2} for n in range(15)},
        [
            (9, 11, {"restless": True, "restless_since": 0, "rebalances": 24}),
            (12, 14, {"restless": True, "restless_until": 14, "rebalances": 6}),
        ],
    ),
    "held up by a transaction for a quarter of an hour, then by another": (
        {n: held_up(since=0 if n < 17 else 1) for n in range(13, 19)},
        [
            (15, 16, {"held_since": 0, "held_topic": "t", "held_partition": 3, "held_records": 7}),
            (17, 18, {"held_since": 1}),
        ],
    ),
    "the last cause that a run named": (
        {
            0: {"status": "ERR", "cause": "stopped", "cause_since": at(-9)},
            1: {
                "status": "ERR",
                "cause": "slow_member",
                "cause_since": at(-5),
                "cause_evidence": "{}",
            },
            2: {"status": "ERR", "cause": "unexplained", "cause_since": at(2)},
            3: {"status": "ERR"},
        },
        [(0, 3, {"cause": "slow_member", "cause_since": -5, "cause_evidence": "{}"})],
    ),
    "an unexplained one is none": (
        {0: {"status": "ERR", "cause": "unexplained", "cause_since": at(0)}},
        [(0, 0, {"cause": None, "cause_since": None})],
    ),
    "nine are none": ({n: {"status": "OK", "rebalances": int(n < 9)} for n in range(22)}, []),
}


@pytest.fixture(name="runs_of_groups", scope="module")
def _runs_of_groups(spark: SparkSession) -> DataFrame:
    rows = [
        {"consumer_group": case, "taken_at": at(n), **row}
        for case, (of_case, _) in GROUPS.items()
        for n, row in of_case.items()
    ]
    return frame(spark, "groups", rows)


@pytest.fixture(name="groups", scope="module")
def _groups(runs_of_groups: DataFrame) -> dict[str, list[Row]]:
    return by(group_spells(runs_of_groups, PAUSE), "group")


def by(spells: DataFrame, name: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in sorted(spells.collect(), key=lambda one: one["first"]):
        found.setdefault(row[name], []).append(row.asDict())
    return found


_TIMES = {
    *("calm_at", "since", "restless_since", "restless_until", "stands_since", "seconds_left_at"),
    *("held_since", "cause_since"),
}


def told(rows: list[Row], expected: list[tuple[int, int, dict[str, Any]]]) -> list[Any]:
    """The same of the rows as is expected."""
    return [
        (
            minutes(row["first"]),
            minutes(row["last"]),
            {name: minutes(row[name]) if name in _TIMES else row[name] for name in more},
        )
        for row, (_, _, more) in zip(rows, expected, strict=True)
    ]


@pytest.mark.parametrize("case", GROUPS)
def test_spells_of_a_group(groups: dict[str, list[Row]], case: str) -> None:
    expected = GROUPS[case][1]

    assert told(groups.get(case, []), expected) == expected


def test_notable_groups_have_all_the_spells(
    runs_of_groups: DataFrame, groups: dict[str, list[Row]]
) -> None:
    assert by(group_spells(of_notable_groups(runs_of_groups), PAUSE), "group") == groups


def test_a_group_that_is_well_and_never_rebalances_is_not_notable(spark: SparkSession) -> None:
    rows = [
        {"consumer_group": "well", "taken_at": at(0), "status": "OK", "members": 0},
        {"consumer_group": "late", "taken_at": at(0), "status": "WARN"},
        {"consumer_group": "rebalances", "taken_at": at(0), "status": "OK", "rebalances": 1},
    ]
    found = of_notable_groups(frame(spark, "groups", rows)).collect()

    assert sorted(row["consumer_group"] for row in found) == ["late", "rebalances"]


def stood(committed: int, lag: int, since: float = -120) -> Row:
    """A partition that stands since a minute, with so much to read."""
    end = committed + lag
    return group_row(0, committed, 0, end, status="STALL", commit_changed_at=at(since))


LOST = {"status": "ERR", "status_reason": "records_lost"}
PARTITIONS: dict[str, tuple[dict[int, Row], list[tuple[int, int, dict[str, Any]]]]] = {
    "nothing is wrong": ({0: group_row(0, 5, 0, 9, status="OK")}, []),
    "stalls": (
        {
            0: group_row(0, 5, 0, 5, status="OK"),
            1: group_row(
                0,
                5,
                0,
                9,
                status="STALL",
                member_id="m",
                commit_changed_at=at(-5),
                **aged(90.0),
            ),
            2: group_row(0, 9, 0, 9, status="OK"),
        },
        # the first unread record came later than the last commit
        [
            (
                1,
                1,
                {
                    "standing": "STALL",
                    "member": "m",
                    "lag": 4,
                    "needed": 90,
                    "stands_since": -0.5,
                    "begin_seen": True,
                },
            )
        ],
    ),
    "stands for longer than is known": (
        {1: group_row(0, 5, 0, 9, status="STOP", time_lag_seconds=90.0)},
        [(1, 1, {"standing": "STOP", "stands_since": None, "needed": None})],
    ),
    "stands since a commit at least": (
        {
            1: group_row(
                0, 5, 0, 9, status="STOP", commit_changed_at=at(-5), time_lag_seconds=90.0
            ),
        },
        [(1, 1, {"stands_since": -0.5, "begin_seen": False})],
    ),
    "a commit that was seen to move": (
        {
            1: group_row(
                *(0, 5, 0, 9), status="STOP", commit_changed_at=at(-5), commit_gap_seconds=60.0
            ),
        },
        [(1, 1, {"stands_since": -5, "begin_seen": True})],
    ),
    "a commit that was only ever read, of a record that was there before": (
        {
            1: group_row(0, 5, 0, 9, status="STOP", commit_changed_at=at(-5), **aged(900.0)),
        },
        [(1, 1, {"stands_since": -5, "begin_seen": False})],
    ),
    "an older record beside a least age": (
        {
            1: group_row(0, 5, 0, 9, status="STOP", time_lag_seconds=60.0),
            2: group_row(0, 5, 0, 9, status="STOP", **aged(90.0)),
        },
        [(1, 2, {"needed": 90.0})],
    ),
    "what was lost took two minutes to write": (
        {
            0: group_row(0, 5, 0, 5),
            1: group_row(0, 5, 9, 9, **LOST, **aged(30.0)),
            2: group_row(0, 5, 13, 13, **LOST, **aged(40.0)),
        },
        [(1, 2, {"lost": 8, "needed": 160.0})],
    ),
    "behind a loss nobody owns it": (
        {1: group_row(0, 5, 7, 9, **LOST, commit_changed_at=at(-9), time_lag_seconds=1.0)},
        [(1, 1, {"standing": "STOP", "stands_since": -9, "lost": 2})],
    ),
    "behind a loss its owner stands": (
        {1: group_row(0, 5, 7, 9, **LOST, commit_changed_at=at(-9), member_id="m")},
        [(1, 1, {"standing": "STALL"})],
    ),
    "a loss within the window": (
        {1: group_row(0, 5, 7, 9, **LOST, commit_changed_at=at(-8.9))},
        [(1, 1, {"standing": None, "lost": 2})],
    ),
    "comes back": (
        {
            0: group_row(0, 5, 7, 20, **LOST, commit_changed_at=at(0)),
            1: group_row(0, 15, 9, 20, status="OK"),
        },
        # what was deleted between both runs may have been read before
        [(0, 0, {"lost": 2, "passed_over": 0}), (1, 1, {"lost": 0, "passed_over": 2})],
    ),
    "moves on behind the start": (
        {
            0: group_row(0, 5, 7, 20, **LOST, commit_changed_at=at(0)),
            1: group_row(0, 6, 9, 20, **LOST, commit_changed_at=at(1)),
        },
        [(0, 1, {"lost": 3, "passed_over": 0})],
    ),
    "near deletion": (
        {
            0: group_row(0, 5, 0, 9, retention_risk="AT_RISK", seconds_until_loss=90.0),
            1: group_row(0, 5, 0, 9, retention_risk="AT_RISK", seconds_until_loss=30.0),
            2: group_row(0, 5, 0, 9, retention_risk="SAFE", seconds_until_loss=1.0),
        },
        [(0, 1, {"at_risk": True, "seconds_left": 30.0, "seconds_left_at": 1})],
    ),
    "goes back": (
        {
            0: group_row(0, 2, 0, 9, rewound_from=8, rewound_at=at(0)),
            1: group_row(0, 6, 0, 9, rewound_from=8, rewound_at=at(0)),
            2: group_row(0, 8, 0, 9),
        },
        [(0, 1, {"rewound": 6, "going_back": True})],
    ),
    "skips": (
        {
            0: group_row(0, 2, 0, 9),
            1: group_row(0, 9, 0, 9, skipped_from=2, skipped_to=9, skipped_at=at(1)),
            2: group_row(0, 9, 0, 9, skipped_from=2, skipped_to=9, skipped_at=at(1)),
        },
        [(1, 1, {"skipped": 7})],
    ),
    "a backlog that is gone at once, faster than most read": (
        {
            0: stood(0, lag=4_000_000),
            1: group_row(0, 4_000_000, 0, 4_000_000),
        },
        [
            (0, 0, {"leapt": 0, "leapt_seconds": None}),
            (1, 1, {"leapt": 4_000_000, "leapt_seconds": 60, "standing": None}),
        ],
    ),
    "gone at once, as fast as many read": (
        {0: stood(0, lag=599_999), 1: group_row(0, 599_999, 0, 599_999)},
        [(0, 0, {"leapt": 0})],
    ),
    "gone at once, at not much more than the usual rate": (
        {0: stood(0, lag=4_000_000, since=-90), 1: group_row(0, 4_000_000, 0, 4_000_000)},
        [(0, 0, {"leapt": 0})],
    ),
    "gone at once, and called a skip": (
        {
            0: stood(0, lag=4_000_000),
            1: group_row(
                *(0, 4_000_000, 0, 4_000_000),
                skipped_from=0,
                skipped_to=4_000_000,
                skipped_at=at(1),
            ),
        },
        [(0, 0, {}), (1, 1, {"leapt": 0, "skipped": 4_000_000})],
    ),
    "gone at once while it may have had no members": (
        {
            0: group_row(0, 38, 0, 1_000),
            1: group_row(
                *(0, 1_000, 0, 1_000),
                skipped_from=38,
                skipped_to=1_000,
                skipped_at=at(1),
                skip_reason=READ_OR_SKIPPED,
            ),
        },
        [(1, 1, {"leapt": 962, "leapt_seconds": 60, "skipped": 0})],
    ),
    "unread": ({0: group_row(0, 5, 7, 9, unread_reason="denied", **LOST)}, []),
}


@pytest.fixture(name="rows", scope="module")
def _rows(spark: SparkSession) -> DataFrame:
    rows = [
        {**row, "topic": case, "taken_at": at(n)}
        for case, (of_case, _) in PARTITIONS.items()
        for n, row in of_case.items()
    ]
    return frame(spark, "group_partitions", rows)


@pytest.fixture(name="partitions", scope="module")
def _partitions(rows: DataFrame) -> dict[str, list[Row]]:
    return by(partition_spells(rows, PAUSE), "topic")


@pytest.mark.parametrize("case", PARTITIONS)
def test_spells_of_a_partition(partitions: dict[str, list[Row]], case: str) -> None:
    expected = PARTITIONS[case][1]

    assert told(partitions.get(case, []), expected) == expected


def test_of_too_many_spells_the_longest_are_kept(spark: SparkSession) -> None:
    lasts = {"a": 1, "b": 9, "c": 2, "d": 8}
    rows = [
        {"consumer_group": name, "taken_at": at(minute), "status": "ERR"}
        for name, last in lasts.items()
        for minute in range(last + 1)
    ]
    found = worst_spells(group_spells(frame(spark, "groups", rows), PAUSE), 2).collect()

    assert [row["group"] for row in found] == ["b", "d"]


def test_of_too_many_spells_those_that_lost_most_are_kept(rows: DataFrame) -> None:
    (worst,) = worst_spells(partition_spells(rows, PAUSE), 1).collect()

    assert (worst["topic"], worst["lost"]) == ("what was lost took two minutes to write", 8)


def test_only_partitions_with_which_anything_was_wrong_are_read_again(rows: DataFrame) -> None:
    found = {row["topic"] for row in notable_partitions(group_segments(DayRows(rows))).collect()}

    # one that stood without any lag, of which no age is left to look at, is no trouble
    assert found == {case for case, (_, spells) in PARTITIONS.items() if spells}


def test_what_is_unread_is_counted_by_run_and_split_where_it_was_read(spark: SparkSession) -> None:
    runs = {0: (0, 1), 1: (0,), 9: (1,)}
    rows = [
        topic_row(partition, None, taken_at=at(n), unread_reason="denied")
        for n, partitions in runs.items()
        for partition in partitions
    ]
    rows.append(topic_row(0, 5, taken_at=at(1)))

    found = unread_spells(frame(spark, "topic_partitions", rows), ("topic",), PAUSE)

    assert [
        (minutes(row["first"]), minutes(row["last"]), row["partitions"], row["reason"])
        for row in sorted(found.collect(), key=lambda one: one["first"])
    ] == [(0, 1, 2, "denied"), (9, 9, 1, "denied")]


def test_of_a_topic_with_unread_partitions_it_is_known_how_many_it_has(spark: SparkSession) -> None:
    rows = [topic_row(n, 5, topic=topic) for topic, last in (("a", 2), ("b", 4)) for n in (0, last)]
    segments = topic_segments(DayRows(frame(spark, "topic_partitions", rows)))

    assert topic_sizes(segments, {"b", "never read"}) == {"b": 5}
    assert topic_sizes(segments, ()) == {}


# Of each partition its leader (None: it has none) from a minute on, and who led it in stints.
LEADERS: dict[str, tuple[dict[int, int | None], list[tuple[int, int, int]]]] = {
    "stays": ({0: 1, 1: 1, 9: 1}, []),
    "moves for good": ({0: 1, 1: 2, 2: 2}, [(1, 0, 0), (2, 1, 2)]),
    "comes back, twice": (
        {0: 1, 1: 2, 2: 1, 3: 2, 4: 1},
        [(1, 0, 0), (2, 1, 1), (1, 2, 2), (2, 3, 3), (1, 4, 4)],
    ),
    "runs are missing": ({0: 1, 1: 2, 9: 2}, [(1, 0, 0), (2, 1, 9)]),
}
# The same, and who led it before it had no leader.
LEADERLESS: dict[str, tuple[dict[int, int | None], int | None]] = {
    "led for less of the day": ({0: 1, 1: None, 2: 2, 3: 2, 4: 2}, 1),
    "led before and afterwards": ({0: 2, 1: 1, 2: None, 3: 2, 4: 2}, 1),
    "led by one alone": ({0: 1, 1: None, 2: 1}, 1),
    "led afterwards": ({0: None, 1: 1}, None),
}


@pytest.fixture(name="led", scope="module")
def _led(spark: SparkSession) -> tuple[tuple[UnreadSpell, ...], tuple[Stint, ...]]:
    days = {**{n: d for n, (d, _) in LEADERS.items()}, **{n: d for n, (d, _) in LEADERLESS.items()}}
    rows = [
        topic_row(0, 5, topic=case, leader=leader, taken_at=at(n))
        | ({} if leader else {"unread_reason": "no_leader"})
        for case, of_case in days.items()
        for n, leader in of_case.items()
    ]
    topic_rows = frame(spark, "topic_partitions", rows)
    return topic_spells(topic_segments(DayRows(topic_rows)), topic_rows, PAUSE)


@pytest.mark.parametrize("case", LEADERS)
def test_a_stint_ends_where_another_leader_comes(
    led: tuple[tuple[UnreadSpell, ...], tuple[Stint, ...]], case: str
) -> None:
    assert [
        (one.leader, minutes(one.first.timestamp()), minutes(one.last.timestamp()))
        for one in led[1]
        if one.topic == case
    ] == LEADERS[case][1]


@pytest.mark.parametrize("case", LEADERLESS)
def test_who_led_a_partition_before_it_had_no_leader(
    led: tuple[tuple[UnreadSpell, ...], tuple[Stint, ...]], case: str
) -> None:
    assert [one.leader for one in led[0] if one.topic == case] == [LEADERLESS[case][1]]
