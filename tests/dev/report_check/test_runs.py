# SPDX-License-Identifier: Apache-2.0
"""How long each run stands, and with it each of its values."""

from pathlib import Path

import duckdb
import pytest

from dev.report_check import prepare
from tests.dev.report_check.small_days import DAY, TOMORROW, reports, second, write_rows
from tests.glue_jobs.days import group_row, topic_row

NOON, LAST = 43_200, 86_400

# seconds of the day at which runs were -> seconds for which they stand
WEIGHTS: dict[str, tuple[list[int], list[float]]] = {
    "an only run": ([NOON], [60]),
    "an only run before midnight": ([LAST - 30], [30]),
    "one a minute": ([NOON, NOON + 60, NOON + 120], [60, 60, 60]),
    "the last before midnight": ([LAST - 150, LAST - 90, LAST - 30], [60, 60, 30]),
    "a missing run is bridged": ([0, 60, 120, 240, 300], [60, 60, 120, 60, 60]),
    "a long outage is not": ([0, 60, 120, 3600, 3660], [60, 60, 120, 60, 60]),
    "another interval": ([0, 60, 120, 420, 720], [60, 60, 120, 300, 180]),
    "an outage after the first": ([0, 3600, 3660, 3720], [120, 60, 60, 60]),
    "two runs": ([0, 600], [600, 600]),
}


@pytest.mark.parametrize("case", WEIGHTS)
def test_a_run_stands_until_the_next(case: str, tmp_path: Path) -> None:
    times, expected = WEIGHTS[case]
    # A group that could not be read is a run all the same.
    rows = [
        {"consumer_group": "g", "taken_at": second(at), "unread_reason": "timeout"} for at in times
    ]
    write_rows(tmp_path, "groups", rows)

    with duckdb.connect() as connection:
        prepare(connection, tmp_path, "demo", DAY, today=TOMORROW)
        found = connection.sql("SELECT weight FROM runs ORDER BY taken_at").fetchall()

    assert [weight for (weight,) in found] == expected


@pytest.mark.parametrize(("groups", "minutes"), [([], 1.0), ([0, 300, 600], 5.0)])
def test_a_run_without_groups_stands_for_the_usual_gap(
    groups: list[int], minutes: float, tmp_path: Path
) -> None:
    write_rows(
        tmp_path, "groups", [{"consumer_group": "g", "taken_at": second(at)} for at in groups]
    )
    lags = [(0, 900), (1, 0)]
    write_rows(
        tmp_path,
        "group_partitions",
        [group_row(p, 1000, 0, 1000 + lag, taken_at=second(NOON)) for p, lag in lags],
    )
    write_rows(
        tmp_path,
        "topic_partitions",
        [topic_row(p, 0, taken_at=second(NOON), produce_rate=lag / 300) for p, lag in lags],
    )

    found = reports(tmp_path)

    (skew,) = found["partition_skew"]
    assert (skew["lag_skewed_minutes"], skew["production_skewed_minutes"]) == (minutes, minutes)
    (topic,) = [row for row in found["lag_summary"] if row["topic"]]
    assert topic["known_minutes"] == minutes
