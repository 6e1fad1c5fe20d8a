# SPDX-License-Identifier: Apache-2.0
"""The topic rows of `lag_summary`: each case is a topic of one group."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.schemas import REPORTS
from kafka_lag_report.tables.lag_summary import lag_summary
from tests.glue_jobs.days import Row, frame
from tests.glue_jobs.tables.frames import (
    MINUTES,
    SEGMENTS,
    found_in,
    minute,
    rows_of,
    watched,
    weighed,
)

pytestmark = pytest.mark.spark

# Seconds for which the runs of minutes 0 to 4 stand; what is seen at others weighs INTERVAL.
RUNS = [60.0, 60.0, 60.0, 180.0, 60.0]
INTERVAL = 30.0
SEEN = {"first_at": 0, "last_at": 60}


def end(first: int, last: int, *, since: int = 0, until: int = 100, times: int = 2) -> Row:
    """A segment that saw the log's end at two moments (seconds of the day), and nothing else."""
    seen = watched("end", first, last, times=times, since=since, until=until)
    return {**seen, "first_at": since, "last_at": until}


def commit(first: int, last: int, *, since: int = 0, until: int = 100, times: int = 2) -> Row:
    """The same of the group's commit."""
    seen = watched("committed", first, last, times=times, since=since, until=until)
    return {**seen, "first_at": since, "last_at": until}


# Columns of group rows alone.
OF_GROUPS = [
    "owner",
    "ok_minutes",
    "warn_minutes",
    "err_minutes",
    "status_changes",
    "rebalancing_runs",
    "rebalances",
    "rebalancing_minutes",
    "sla_seconds",
    "sla_minutes",
    "sla_met_minutes",
    "sla_compliance",
    "records_lost",
    "gone",
]

LOSES = "losses are no consumption"

# minutes, segments, the row
CASES: dict[str, tuple[dict[float, Row], list[Row], Row]] = {
    "the oldest was a least age": (
        {
            0: {"time_lag": 9.0, "time_lag_is_least": False},
            3: {"time_lag": 10.0, "time_lag_is_least": True},
            4: {},
        },
        [{"first_at": 0, "last_at": 60}],
        {"time_lag_max": 10.0, "time_lag_max_is_least": True, "time_lag_least_minutes": 3.0},
    ),
    "levels of lag": (
        {n: {"lag": 10 * (n + 1), "time_lag": 1.0 * n, "consume_rate": 5.0 - n} for n in range(4)},
        [{"first_at": 0, "last_at": 180}],
        {
            "lag_p50": 35.0,
            "lag_max": 40.0,
            "time_lag_p50": 2.5,
            "time_lag_max": 3.0,
            "known_minutes": 6.0,
            "unknown_minutes": 0.0,
            "best_consume_rate": 5.0,
        },
    ),
    "seen from its first segment to its last": (
        {0: {"lag": 1}, 3: {"lag": 1}},
        [{"first_at": 0, "last_at": 0}, {"first_at": 60, "last_at": 180, "leader": 2}],
        {"first_seen": 0.0, "last_seen": 3.0, "unknown_minutes": 2.0},
    ),
    "a run that misses a partition": (
        {0: {"lag": 1}, 1: {"consume_rate": 7.0}},
        [{"first_at": 0, "last_at": 60}],
        {"known_minutes": 1.0, "unknown_minutes": 1.0, "best_consume_rate": 7.0},
    ),
    "runs that `groups` does not have": (
        {n: {"lag": n} for n in (1, 5, 6)},
        [{"first_at": 60, "last_at": 360}],
        {"known_minutes": 2.0, "lag_p50": 3.0, "unknown_minutes": 3.5},
    ),
    "offsets over the time seen": (
        {0: {"consume_rate": 9.0}},
        [
            end(1000, 1500, since=100, until=200),
            {**commit(900, 1100, since=100, until=200), "partition_id": 1},
        ],
        {"produce_rate": 5.0, "consume_rate": 2.0, "catch_up_capacity": 1.8},
    ),
    "one partition under two leaders": (
        {0: {}},
        [
            {**end(1300, 1500, since=60, until=100), "leader": 1},
            {**end(1000, 1200, since=0, until=40), "leader": 2},
        ],
        {"produce_rate": 5.0, "consume_rate": None},
    ),
    "an end that fell and rose in between": (
        {0: {}},
        [
            {**end(800, 1500, since=60, until=100), "leader": 1},
            {**end(1000, 1700, since=0, until=40), "leader": 2},
        ],
        {"produce_rate": 5.0},
    ),
    "seen once under each leader": (
        {0: {}},
        [
            {**end(1000, 1000, until=0, times=1), "leader": 1},
            {**end(1500, 1500, since=100, times=1), "leader": 2},
        ],
        {"produce_rate": 5.0},
    ),
    "partitions add up, one seen once adds nothing": (
        {0: {}},
        [
            {**end(0, 300), "partition_id": 0},
            {**end(0, 200), "partition_id": 1},
            {**end(7000, 7000, times=1), "partition_id": 2},
        ],
        {"produce_rate": 5.0},
    ),
    "a topic made anew starts anew": (
        {0: {}},
        [
            {**end(9000, 9300, until=50), "topic_id": "old"},
            {**end(0, 200, since=60), "topic_id": "new"},
        ],
        {"produce_rate": 5.0},
    ),
    "going back is no speed": (
        {0: {}},
        [{**end(500, 100), "partition_id": 0}, {**end(0, 200), "partition_id": 1}],
        {"produce_rate": 2.0},
    ),
    "seen once": (
        {0: {"lag": 4}},
        [end(10, 10, until=0, times=1)],
        {
            "first_seen": 0.0,
            "last_seen": 0.0,
            "produce_rate": None,
            "catch_up_capacity": None,
        },
    ),
    "nothing moved": (
        {0: {"consume_rate": 1.0}},
        [end(10, 10), commit(10, 10)],
        {"produce_rate": 0.0, "consume_rate": 0.0, "catch_up_capacity": None},
    ),
    # its commit passed over 960 records that were deleted
    LOSES: (
        {
            0: {"lag": 1, "consume_rate": 3.0},
            1: {"lag": 1, "consume_rate": 1.0, "records_lost": 960},
            2: {"lag": 1, "consume_rate": 99.0},
        },
        # the segment of another owner knows nothing of it
        [{**commit(0, 1_000), "records_lost": 960, "consumed": 40}, SEEN],
        {"consume_rate": 0.4, "best_consume_rate": 3.0},
    ),
    "unread at last": (
        {0: {"lag": 1}, 1: {"lag": 1}, 2: {}, 3: {}},
        [{"first_at": 0, "last_at": 60}],
        {"last_seen": 1.0, "known_minutes": 2.0, "unknown_minutes": 4.0},
    ),
    "what is the group's alone": (
        {0: {"lag": 1}},
        [SEEN],
        dict.fromkeys(OF_GROUPS),
    ),
}


@pytest.fixture(name="found", scope="module")
def _found(spark: SparkSession) -> dict[str, Any]:
    minutes = [
        {"topic": case, "taken_at": minute(n), **row}
        for case, (rows, _, _) in CASES.items()
        for n, row in rows.items()
    ]
    segments = [
        {"topic": case, **row} for case, (_, of_case, _) in CASES.items() for row in of_case
    ]
    runs = [*minutes, {"topic": "never read", "taken_at": minute(0)}]
    weights = {float(n): weight for n, weight in enumerate(RUNS)}
    report = lag_summary(
        weighed(frame(spark, "groups", []), weights),
        weighed(rows_of(spark, MINUTES, runs), weights, INTERVAL),
        rows_of(spark, SEGMENTS, segments),
    )
    return {row["topic"]: row for row in found_in(report)}


@pytest.mark.parametrize("case", CASES)
def test_topic_row(found: dict[str, Any], case: str) -> None:
    expected = CASES[case][2]

    assert {name: found[case][name] for name in expected} == pytest.approx(expected, abs=1e-9)


def test_no_topic_has_what_is_of_groups_alone(found: dict[str, Any]) -> None:
    columns = REPORTS["lag_summary"].names
    nowhere = [name for name in columns if all(row[name] is None for row in found.values())]

    assert sorted(nowhere) == sorted(OF_GROUPS)


def test_each_topic_that_was_read_has_one_row(found: dict[str, Any]) -> None:
    assert found.keys() == CASES.keys()
