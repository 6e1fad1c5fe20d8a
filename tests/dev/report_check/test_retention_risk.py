# SPDX-License-Identifier: Apache-2.0
"""The worst of a partition's day, and the retention that would have been enough."""

from pathlib import Path
from typing import Any

import pytest

from tests.dev.report_check.small_days import reports, second, write_rows
from tests.glue_jobs.days import Row, group_row, topic_row

UNREAD = {"unread_reason": "denied"}
DAYS = 86_400_000


def at(run: int, committed: int | None, start: int, end: int, **more: Any) -> Row:
    return group_row(0, committed, start, end, taken_at=second(60 * run), **more)


# runs of the partition -> what must be among its row
GROUPS: dict[str, tuple[list[Row], Row]] = {
    "lost in one run": (
        [at(0, 9, 0, 10), at(1, 9, 14, 20, retention_risk="SAFE"), at(2, 15, 14, 20)],
        {"retention_risk": "LOST", "records_lost": 5, "least_margin": 0},
    ),
    "at risk once": (
        [
            at(run, 9, 0, 10, retention_risk=word)
            for run, word in enumerate(["SAFE", "AT_RISK", None])
        ],
        {"retention_risk": "AT_RISK", "records_lost": 0},
    ),
    "safe where known": (
        [at(0, 9, 0, 10, retention_risk="SAFE"), at(1, None, 0, 10)],
        {"retention_risk": "SAFE"},
    ),
    "no loss proves nothing": ([at(0, 9, 0, 10)], {"retention_risk": None, "records_lost": 0}),
    "what was not read counts nothing": (
        [
            at(0, 9, 0, 10),
            at(1, 9, 14, 20, retention_risk="LOST", seconds_until_loss=1.0, **UNREAD),
        ],
        {
            "retention_risk": None,
            "records_lost": 0,
            "least_margin": 9,
            "least_seconds_until_loss": None,
        },
    ),
    "the first of the least margins": (
        [at(0, 9, 0, 10), at(1, 8, 5, 12), at(2, 9, 6, 10)],
        {"least_margin": 3, "least_margin_at": second(60), "lag_at_least_margin": 4},
    ),
    "also where the leader changed in between": (
        [at(run, 8, 5, 10 + run, leader=leader) for run, leader in enumerate([1, 2, 1])],
        {"least_margin": 3, "least_margin_at": second(0), "lag_at_least_margin": 2},
    ),
    "the snapshot's own margin": (
        [at(0, 9, 0, 10, retention_margin=4), at(1, 9, 2, 10, lag=None)],
        {"least_margin": 4, "lag_at_least_margin": 1},
    ),
    "an unknown lag at the least margin": (
        [at(0, 9, 0, 10), at(1, 9, 2, 10, lag=None)],
        {"least_margin": 7, "least_margin_at": second(60), "lag_at_least_margin": None},
    ),
    "a margin never known": (
        [at(0, None, 0, 10), at(1, 5, 0, 10, start_offset=None)],
        {"least_margin": None, "least_margin_at": None, "lag_at_least_margin": None},
    ),
    "the first of the least times": (
        [at(run, 9, 0, 10, seconds_until_loss=left) for run, left in enumerate([None, 60.0, 60.0])],
        {"least_seconds_until_loss": 60, "least_seconds_until_loss_at": second(60)},
    ),
    "as old as the oldest record": (
        [at(run, 9, 0, 10, time_lag_seconds=age) for run, age in enumerate([5.0, 70.0, None])],
        {"retention_needed_seconds": 70},
    ),
    "and as much longer as was lost": (
        [
            at(0, 9, 0, 100, time_lag_seconds=50.0),
            at(1, 9, 39, 250, time_lag_seconds=20.0),
            at(2, None, 39, 400, end_offset=None),
        ],
        # 150 records in 120 seconds, 30 lost
        {"records_lost": 30, "retention_needed_seconds": 50 + 30 / (150 / 120)},
    ),
    "a rate is of each log by itself": (
        [
            at(0, 9, 0, 1000, time_lag_seconds=50.0),
            at(1, 9, 39, 1030),
            at(2, 0, 0, 5, topic_id="id-2"),
            at(3, 0, 0, 35, topic_id="id-2"),
        ],
        {"retention_needed_seconds": 50 + 30 / (60 / 180)},
    ),
    "lost where nothing is produced": (
        [at(0, 9, 12, 100, time_lag_seconds=50.0), at(1, 9, 12, 100)],
        {"records_lost": 3, "retention_needed_seconds": None},
    ),
    "lost in an only run": (
        [at(0, 9, 12, 100, time_lag_seconds=50.0)],
        {"records_lost": 3, "retention_needed_seconds": None},
    ),
    "an age never known": (
        [at(0, 9, 0, 100), at(1, 9, 12, 200)],
        {"retention_needed_seconds": None},
    ),
}

# readings of the topic, by run -> seconds
TOPICS: dict[str, tuple[list[Row], float | None]] = {
    "the newest": ([{"retention_ms": DAYS}, {"retention_ms": 2 * DAYS}], 2 * 86_400),
    "the newest that is known": ([{"retention_ms": DAYS}, {"retention_ms": None}], 86_400),
    "the newest that was read": ([{"retention_ms": DAYS}, {"retention_ms": 5, **UNREAD}], 86_400),
    "under another leader": (
        [{"retention_ms": 3 * DAYS, "leader": 1}, {"retention_ms": DAYS, "leader": 2}],
        86_400,
    ),
    "unlimited": ([{"retention_ms": DAYS}, {"retention_ms": -1}], None),
    "unknown": ([{}], None),
    "no such topic": ([], None),
}


@pytest.fixture(name="risks", scope="module")
def _risks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    root = tmp_path_factory.mktemp("risks")
    groups = [{**row, "topic": case} for case, (rows, _) in GROUPS.items() for row in rows]
    groups += [at(0, 9, 0, 10, topic=case) for case in TOPICS]
    topics = [
        topic_row(0, 1, topic=case, taken_at=second(60 * run), **row)
        for case, (rows, _) in TOPICS.items()
        for run, row in enumerate(rows)
    ]
    write_rows(root, "group_partitions", groups)
    write_rows(root, "topic_partitions", topics)
    return {row["topic"]: row for row in reports(root)["retention_risk"]}


@pytest.mark.parametrize("case", GROUPS)
def test_the_worst_of_the_day(case: str, risks: dict[str, Row]) -> None:
    expected = GROUPS[case][1]

    assert {name: risks[case][name] for name in expected} == expected


@pytest.mark.parametrize("case", TOPICS)
def test_the_retention_that_was_set(case: str, risks: dict[str, Row]) -> None:
    assert risks[case]["retention_seconds"] == TOPICS[case][1]


def test_a_partition_never_read_has_no_row(tmp_path: Path) -> None:
    write_rows(tmp_path, "group_partitions", [at(0, 9, 0, 10, **UNREAD)])

    assert reports(tmp_path)["retention_risk"] == []
