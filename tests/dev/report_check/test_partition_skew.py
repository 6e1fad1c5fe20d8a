# SPDX-License-Identifier: Apache-2.0
"""Skew and who is to blame for it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.dev.report_check.small_days import reports, second, write_rows
from tests.glue_jobs.days import Row, group_row, topic_row

TIMES = (second(0), second(60), second(120))
MEMBER = {"client_id": "c", "client_host": "/h"}

# lag, records produced, leader, member of each partition -> cause, partitions, leader, member
Partition = tuple[int, int, int | None, str | None]
CAUSES: dict[str, tuple[list[Partition], tuple[Any, ...]]] = {
    "a topic of uneven keys": (
        [(667, 667, 1, "a"), (166, 166, 2, "b"), (167, 167, 3, "c")],
        ("production", [0], None, None),
    ),
    "one slow broker": (
        [(900, 10, 1, "a"), (0, 10, 2, "a"), (800, 10, 1, "b"), (0, 10, 2, "b")],
        ("broker", [0, 2], 1, None),
    ),
    "one slow member": (
        [(900, 10, 1, "a"), (700, 10, 2, "a"), (0, 10, 1, "b"), (0, 10, 2, "b")],
        ("consumer", [0, 1], None, "a"),
    ),
    "a member that has but one partition of a slow broker": (
        [(900, 10, 1, "a"), (900, 10, 1, "b"), (10, 10, 2, "a"), (10, 10, 2, "c")],
        ("broker", [0, 1], 1, None),
    ),
    "broker and member are the same two partitions": (
        [(900, 10, 1, "a"), (700, 10, 1, "a"), (10, 10, 2, "b"), (10, 10, 2, "b")],
        ("broker", [0, 1], 1, None),
    ),
    "broker and member are the same one partition": (
        [(900, 10, 1, "a"), (10, 10, 2, "b"), (10, 10, 2, "b")],
        ("unexplained", [0], None, None),
    ),
    "the better fit of two": (
        # leader 1 has a partition that is not behind, member a has none
        [(900, 10, 1, "a"), (900, 10, 1, "a"), (0, 10, 1, "b"), (0, 10, 2, "b"), (0, 10, 2, "b")],
        ("consumer", [0, 1], None, "a"),
    ),
    "as good a fit of more partitions": (
        # excesses 800 and 400: leader 1 has the first alone, member a both and one without
        [
            (1100, 1, 1, "a"),
            (700, 1, 2, "a"),
            (0, 1, 2, "a"),
            (0, 1, 3, "b"),
            (0, 1, 3, "c"),
            (0, 1, 3, "d"),
        ],
        ("consumer", [0, 1], None, "a"),
    ),
    "two thirds of the excess and of the partitions are enough": (
        # mean 300: excesses 300, 300, 300; leader 1 has two of them and one without
        [
            (600, 1, 1, "a"),
            (600, 1, 1, "b"),
            (0, 1, 1, "a"),
            (600, 1, 2, "c"),
            (0, 1, 2, "d"),
            (0, 1, 3, "d"),
        ],
        ("broker", [0, 1], 1, None),
    ),
    "less than two thirds of the excess": (
        [(600, 1, 1, "a"), (600, 1, 2, "b"), (0, 1, 3, "c"), (0, 1, 3, "d")],
        ("unexplained", [0, 1], None, None),
    ),
    "an owner of all is no cause": (
        [(900, 10, 1, "a"), (800, 10, 2, "a"), (0, 10, 3, "a"), (0, 10, 4, "a")],
        ("unexplained", [0, 1], None, None),
    ),
    "nobody owns it and nobody leads it": (
        [(900, 10, None, None), (700, 10, None, None), (10, 10, 2, "b"), (10, 10, 3, "c")],
        ("unexplained", [0, 1], None, None),
    ),
    "an idle topic is not overproduced": (
        [(900, 0, 1, "a"), (0, 0, 2, "a"), (900, 0, 1, "b"), (0, 0, 2, "b")],
        ("broker", [0, 2], 1, None),
    ),
    "more was produced where nobody is behind": (
        [(900, 10, 1, "a"), (800, 10, 1, "b"), (0, 99, 2, "a"), (0, 10, 2, "b")],
        ("broker", [0, 1], 1, None),
    ),
    "even": ([(900, 10, 1, "a"), (800, 10, 2, "b")], (None, None, None, None)),
    "too little to be a finding": ([(99, 10, 1, "a"), (0, 10, 2, "b")], (None,) * 4),
    "nothing behind": ([(0, 10, 1, "a"), (0, 90, 2, "b")], (None, None, None, None)),
}


def rows_of(topic: str, partitions: Sequence[Partition]) -> tuple[list[Row], list[Row]]:
    """Group's and topic's rows of three runs, lag and place the same in all."""
    groups, topics = [], []
    for number, (lag, produced, leader, member) in enumerate(partitions):
        for run, at in enumerate(TIMES):
            end = 10_000 + produced * run // 2
            more = {"topic": topic, "taken_at": at, "leader": leader}
            owner = {**MEMBER, "member_id": member} if member else {}
            groups.append(group_row(number, end - lag, 0, end, **more, **owner))
            topics.append(topic_row(number, end, **more))
    return groups, topics


@pytest.fixture(name="skews", scope="module")
def _skews(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    """The report's rows of one day with all the cases, each a topic."""
    root = tmp_path_factory.mktemp("causes")
    groups: list[Row] = []
    topics: list[Row] = []
    for topic, (partitions, _) in CAUSES.items():
        of_group, of_topic = rows_of(topic, partitions)
        groups += of_group
        topics += of_topic
    write_rows(root, "groups", [{"consumer_group": "billing", "taken_at": at} for at in TIMES])
    write_rows(root, "group_partitions", groups)
    write_rows(root, "topic_partitions", topics)
    return {row["topic"]: row for row in reports(root)["partition_skew"]}


@pytest.mark.parametrize("case", CAUSES)
def test_who_is_to_blame(case: str, skews: dict[str, Row]) -> None:
    cause, partitions, leader, member = CAUSES[case][1]

    row = skews[case]

    assert row["lag_skewed"] is (cause is not None)
    assert (row["cause"], row["cause_partitions"]) == (cause, partitions)
    assert (row["cause_leader"], row["cause_member"]) == (leader, member)
    client = ("c", "/h") if member else (None, None)
    assert (row["cause_client_id"], row["cause_client_host"]) == client


def test_measures_of_the_demos_topic(skews: dict[str, Row]) -> None:
    row = skews["a topic of uneven keys"]

    names = ("partitions", "mean", "max", "max_to_mean", "top_partition", "top_share", "even_share")
    measures = [3, 1000 / 3, 667, 2.001, 0, 0.667, 1 / 3, 0.334, True]
    lag = [row[f"lag_{name}"] for name in (*names, "gini", "skewed")]
    # halves of odd numbers are cut: 666, 166, 166 in two steps would be 667, 166, 167 in one
    produced = [row[f"production_{name}"] for name in (*names, "gini", "skewed")]
    assert lag == pytest.approx(measures)
    assert produced == pytest.approx(measures)
    assert (row["lag_skewed_minutes"], row["production_skewed_minutes"]) == (3, None)


def test_the_lowest_of_equals_is_on_top(skews: dict[str, Row]) -> None:
    assert skews["less than two thirds of the excess"]["lag_top_partition"] == 0


def test_nothing_to_share_is_even(skews: dict[str, Row]) -> None:
    row = skews["nothing behind"]

    shares = [row[f"lag_{name}"] for name in ("max_to_mean", "top_partition", "top_share", "gini")]
    assert shares == [1, None, 0.5, 0]
    assert (row["lag_skewed"], row["lag_skewed_minutes"]) == (False, 0)


def one_row(root: Path, groups: list[Row], topics: list[Row]) -> Row:
    write_rows(root, "groups", [{"consumer_group": "billing", "taken_at": at} for at in TIMES])
    write_rows(root, "group_partitions", groups)
    write_rows(root, "topic_partitions", topics)
    (row,) = reports(root)["partition_skew"]
    return row


def test_minutes_count_runs_in_which_it_was_skewed(tmp_path: Path) -> None:
    lags = [(300, 100), (300, 101), (None, 50)]
    rates = [(3.0, 1.0), (1.0, 0.0), (1.0, 0.9)]
    groups = [
        group_row(p, None, 0, 0, taken_at=at, lag=lag)
        for at, of_run in zip(TIMES, lags, strict=True)
        for p, lag in enumerate(of_run)
    ]
    topics = [
        topic_row(p, None, taken_at=at, produce_rate=rate)
        for at, of_run in zip(TIMES, rates, strict=True)
        for p, rate in enumerate(of_run)
    ]

    row = one_row(tmp_path, groups, topics)

    assert (row["lag_skewed_minutes"], row["production_skewed_minutes"]) == (1, 2)
    assert (row["production_partitions"], row["production_skewed"]) == (None, None)


def test_a_mean_is_over_the_runs_that_knew(tmp_path: Path) -> None:
    lags = (100, None, 300)
    groups = [
        group_row(0, None, 0, 0, taken_at=at, lag=lag) for at, lag in zip(TIMES, lags, strict=True)
    ]

    assert one_row(tmp_path, groups, [])["lag_mean"] == 200


def test_a_partition_belongs_to_who_held_most_of_its_lag(tmp_path: Path) -> None:
    # leader 1 had it for two runs of little lag, leader 2 for one of much, then 1 again
    held = [(1, 10), (2, 5000), (1, 20)]
    groups = [
        group_row(p, 0, 0, lag, taken_at=at, leader=leader, member_id="m")
        for p in (0, 1)
        for at, (leader, lag) in zip(TIMES, held, strict=True)
    ]
    groups += [
        group_row(p, 0, 0, 1, taken_at=at, leader=1, member_id="m") for p in (2, 3) for at in TIMES
    ]

    row = one_row(tmp_path, groups, [])

    assert (row["cause"], row["cause_leader"], row["cause_partitions"]) == ("broker", 2, [0, 1])


def test_a_recreated_topic_adds_what_each_log_rose_by(tmp_path: Path) -> None:
    old = [
        topic_row(0, end, taken_at=at, leader=leader)
        for at, (leader, end) in zip(TIMES, [(1, 100), (2, 900), (1, 500)], strict=True)
    ]
    new = [
        topic_row(0, end, taken_at=second(seconds), topic_id="id-2")
        for seconds, end in ((180, 0), (240, 70))
    ]
    unread = topic_row(0, 10**9, taken_at=second(300), topic_id="id-2", unread_reason="error")
    once = topic_row(1, 4, taken_at=TIMES[0])

    row = one_row(
        tmp_path, [group_row(0, None, 0, 1, taken_at=TIMES[0])], [*old, *new, unread, once]
    )

    assert (row["production_max"], row["production_partitions"]) == (400 + 70, 1)
    assert (row["lag_partitions"], row["lag_mean"], row["lag_skewed"]) == (0, None, None)
    assert row["lag_skewed_minutes"] is None
