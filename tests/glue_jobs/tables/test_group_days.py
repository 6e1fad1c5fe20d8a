# SPDX-License-Identifier: Apache-2.0
"""The group's own row of `lag_summary`: each case is a group, seen at some minutes of one day."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.tables.lag_summary import lag_summary
from tests.glue_jobs.days import Row, frame
from tests.glue_jobs.tables.frames import (
    MINUTES,
    SEGMENTS,
    found_in,
    minute,
    rows_of,
    weighed,
)

pytestmark = pytest.mark.spark

# seconds for which the runs of minutes 0 to 7 stand
RUNS = [60.0, 60.0, 60.0, 180.0, 60.0, 60.0, 60.0, 60.0]

LOSES = "losses are no consumption"

CASES: dict[str, tuple[dict[float, Row], Row]] = {
    "levels of lag": (
        {n: {"lag": 10 * (n + 1), "time_lag_seconds": 1.0 * n} for n in range(4)},
        {
            "lag_p50": 35.0,
            "lag_p95": 40.0,
            "lag_max": 40.0,
            "time_lag_p50": 2.5,
            "time_lag_p99": 3.0,
            "time_lag_max": 3.0,
            "topic": None,
        },
    ),
    "ages with an upper bound": (
        {n: {"time_lag_seconds": 9.0, "time_lag_error_seconds": 1.0} for n in range(4)},
        {"time_lag_max_is_least": False, "time_lag_least_minutes": 0.0},
    ),
    "the oldest was a least age": (
        {
            0: {"time_lag_seconds": 9.0, "time_lag_error_seconds": 1.0},
            1: {"time_lag_seconds": 10.0},
            3: {"time_lag_seconds": 8.0},
            4: {"lag": 1},
            5: {"time_lag_seconds": 99.0, "unread_reason": "timeout"},
        },
        {"time_lag_max": 10.0, "time_lag_max_is_least": True, "time_lag_least_minutes": 4.0},
    ),
    "the oldest was as old for sure": (
        {
            0: {"time_lag_seconds": 9.0, "time_lag_error_seconds": 1.0},
            1: {"time_lag_seconds": 9.0},
        },
        {"time_lag_max_is_least": False, "time_lag_least_minutes": 1.0},
    ),
    "no age is known": (
        {0: {"lag": 1}},
        {"time_lag_max_is_least": None, "time_lag_least_minutes": 0.0},
    ),
    "known all along": (
        {n: {"lag": 0} for n in range(4)},
        {
            "first_seen": 0.0,
            "last_seen": 3.0,
            "known_minutes": 6.0,
            "unknown_minutes": 0.0,
        },
    ),
    "lag unknown for a minute": (
        {0: {"lag": 1}, 1: {}, 2: {"lag": 1}},
        {"known_minutes": 2.0, "unknown_minutes": 1.0},
    ),
    "lag unknown at a run that stands for longer": (
        {2: {"lag": 1}, 3: {}, 4: {"lag": 1}},
        {"known_minutes": 2.0, "unknown_minutes": 1.0},
    ),
    "no row for a minute": (
        {0: {"lag": 1}, 2: {"lag": 1}},
        {"known_minutes": 2.0, "unknown_minutes": 1.0},
    ),
    "not read at last": (
        {0: {"lag": 1}, 1: {"unread_reason": "timeout", "lag": 9, "time_lag_seconds": 9.0}},
        {"last_seen": 0.0, "known_minutes": 1.0, "lag_max": 1.0, "time_lag_max": None},
    ),
    "weights reach over what was seen": (
        {3: {"lag": 1}, 4: {"lag": 1}},
        {"known_minutes": 4.0, "unknown_minutes": 0.0},
    ),
    "rates count by time": (
        {
            2: {"produce_rate": 10.0, "consume_rate": 40.0},
            3: {"produce_rate": 20.0, "consume_rate": 30.0},
            4: {"consume_rate": 35.0},
        },
        {
            "produce_rate": 17.5,
            "consume_rate": (40 + 3 * 30 + 35) / 5,
            "best_consume_rate": 40.0,
            "catch_up_capacity": 40 / 17.5,
        },
    ),
    "nothing produced": (
        {0: {"produce_rate": 0.0, "consume_rate": 4.0}},
        {"produce_rate": 0.0, "best_consume_rate": 4.0, "catch_up_capacity": None},
    ),
    "status": (
        {0: {"status": "OK"}, 1: {"status": "WARN"}, 3: {"status": "ERR"}, 4: {"status": "OK"}},
        {"ok_minutes": 2.0, "warn_minutes": 1.0, "err_minutes": 3.0, "status_changes": 3},
    ),
    "status unknown in between is no change": (
        {0: {"status": "OK"}, 1: {}, 2: {"status": "OK"}, 3: {}, 4: {"status": "WARN"}},
        {"status_changes": 1},
    ),
    "status of what was not read": (
        {0: {"status": "OK"}, 1: {"status": "ERR", "unread_reason": "denied"}, 2: {"status": "OK"}},
        {"status_changes": 0, "err_minutes": 0.0},
    ),
    "rebalancing": (
        {
            0: {"group_state": "PreparingRebalance", "owners_changed": 1, "rebalances": 1},
            1: {"group_state": "CompletingRebalance"},
            2: {"group_state": "Assigning", "owners_changed": 0},
            3: {"group_state": "Reconciling"},
            4: {"group_state": "Stable", "owners_changed": 2, "rebalances": 3},
        },
        {"rebalancing_runs": 5, "rebalances": 4, "rebalancing_minutes": 0.0},
    ),
    "rebalancing all the time": (
        {
            0: {"rebalancing_share": 0.59, "rebalances": 1},
            1: {"rebalancing_share": 0.6, "rebalances": 0},
            3: {"rebalancing_share": 0.9, "rebalances": 9, "unread_reason": "timeout"},
        },
        {"rebalances": 1, "rebalancing_minutes": 1.0},
    ),
    "not rebalancing": (
        {
            0: {"group_state": "Stable", "owners_changed": 0},
            1: {"group_state": "Stable"},
            2: {"group_state": "PreparingRebalance", "unread_reason": "timeout"},
            3: {},
        },
        {"rebalancing_runs": 0, "rebalances": None, "rebalancing_minutes": 0.0},
    ),
    "SLA": (
        {
            0: {"sla_seconds": 60.0, "time_lag_seconds": 60.0, "time_lag_error_seconds": 0.0},
            # at least so old: broken for certain
            1: {"sla_seconds": 60.0, "time_lag_seconds": 60.5},
            2: {"sla_seconds": 60.0},
            3: {"time_lag_seconds": 0.0},
            4: {"sla_seconds": 90.0, "time_lag_seconds": 80.0, "time_lag_error_seconds": 9.0},
            5: {"owner": "before"},
            6: {"owner": "team"},
            # at least so old: undecided
            7: {"sla_seconds": 90.0, "time_lag_seconds": 80.0},
        },
        {
            "sla_seconds": 90.0,
            "sla_minutes": 3.0,
            "sla_met_minutes": 2.0,
            "sla_compliance": 2 / 3,
            "owner": "team",
        },
    ),
    "SLA where time lag may be any older": (
        {
            0: {"sla_seconds": 60.0, "time_lag_seconds": 61.0},
            3: {"sla_seconds": 60.0, "time_lag_seconds": 59.0},
        },
        {"sla_minutes": 1.0, "sla_met_minutes": 0.0, "sla_compliance": 0.0},
    ),
    "no SLA": (
        {0: {"time_lag_seconds": 5.0}},
        {"sla_seconds": None, "sla_minutes": 0.0, "sla_met_minutes": 0.0, "sla_compliance": None},
    ),
    "losses": (
        {
            0: {"records_lost": 5},
            1: {"records_lost": 3},
            2: {"records_lost": 99, "unread_reason": "timeout"},
        },
        {"records_lost": 5, "gone": False},
    ),
    "gone": (
        {0: {"lag": 1}, 1: {"unread_reason": "error", "status_reason": "gone"}},
        {"gone": True, "known_minutes": 1.0, "records_lost": None},
    ),
    "never read": (
        {0: {"unread_reason": "denied", "lag": 4, "time_lag_seconds": 4.0, "status": "OK"}},
        {
            "lag_max": None,
            "lag_p50": None,
            "first_seen": None,
            "known_minutes": 0.0,
            "unknown_minutes": 1.0,
            "ok_minutes": 0.0,
            "gone": False,
        },
    ),
    # by what its partitions read; the rates of runs know it from how far commits rose
    LOSES: (
        {0: {"lag": 1, "consume_rate": 2.0}, 1: {"lag": 1, "consume_rate": 150.0}},
        {"consume_rate": 4.0},
    ),
}


@pytest.fixture(name="found", scope="module")
def _found(spark: SparkSession) -> dict[str, Any]:
    groups = [
        {"consumer_group": case, "taken_at": minute(n), **row}
        for case, (rows, _) in CASES.items()
        for n, row in rows.items()
    ]
    segments = [
        {
            "consumer_group": LOSES,
            "topic": "a",
            "first_at": 0,
            "last_at": 60,
            "records_lost": 9_000,
            "consumed": 240,
        }
    ]
    weights = {float(n): weight for n, weight in enumerate(RUNS)}
    report = lag_summary(
        weighed(frame(spark, "groups", groups), weights),
        weighed(rows_of(spark, MINUTES, []), weights),
        rows_of(spark, SEGMENTS, segments),
    )
    return {row["consumer_group"]: row for row in found_in(report)}


@pytest.mark.parametrize("case", CASES)
def test_group_row(found: dict[str, Any], case: str) -> None:
    expected = CASES[case][1]

    assert {name: found[case][name] for name in expected} == pytest.approx(expected, abs=1e-9)


def test_each_group_has_one_row(found: dict[str, Any]) -> None:
    assert found.keys() == CASES.keys()
