# SPDX-License-Identifier: Apache-2.0
"""When the broker deletes a record that is not read yet, by age and by size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag.contract import AT_RISK, LOST, METHOD_ALLOWED, NO_LOSS_SECONDS, SAFE
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.retention import add_retention
from tests.builders import HOUR, MINUTE, NOON
from tests.functions.lag.partitions.rows import Row, column, first, numbers_of, rows, topic_rows

DAY = 86_400.0
TOLD = ("seconds_until_loss", "retention_risk")
FOREVER = (NO_LOSS_SECONDS, SAFE)
UNKNOWN = (None, None)
# A commit that moved a minute ago, an hour behind, and ages half as fast as time passes.
MOVING = {
    "committed_offset": 500,
    "lag": 100,
    "records_lost": 0,
    "retention_margin": 400,
    "time_lag_seconds": 3_600.0,
    "time_lag_error_seconds": 1.0,
    "age_growth": 0.5,
    "commit_changed_at": NOON - MINUTE,
}
STUCK = {"commit_changed_at": NOON - 11 * MINUTE}
# A week, no limit by size, a log that deletes already.
WEEK = {
    "cleanup_policy": "delete",
    "retention_ms": 7 * 24 * HOUR,
    "retention_bytes": -1,
    "start_offset": 100,
}
SIZED = {"retention_ms": -1, "retention_bytes": 10**9, "produce_rate": 3.0}


def told(row: Row, topic: Row) -> Frame:
    frame = rows({**MOVING, **row})
    now = column([NOON], "timestamp")
    return add_retention(frame, topic_rows({**WEEK, **topic}), now, NOON, Rules())


@pytest.mark.parametrize(
    ("row", "topic", "seconds"),
    [
        pytest.param({}, {}, 2 * (7 * DAY - 3_600), id="ages-half-as-fast-as-time"),
        pytest.param(STUCK, {}, 7 * DAY - 3_600, id="unmoved-ages-with-time"),
        pytest.param({"age_growth": None}, {}, 7 * DAY - 3_600, id="growth-unknown-counts-as-1"),
        pytest.param({"age_growth": 0.02}, {}, NO_LOSS_SECONDS, id="age-stands"),
        pytest.param(
            {"age_growth": 0.0, "records_lost": 5},
            {},
            7 * DAY - 3_600,
            id="pushed-along",
        ),
        pytest.param({"age_growth": 0.0, **STUCK}, {}, 7 * DAY - 3_600, id="unmoved-whatever-grew"),
        pytest.param(STUCK, {"retention_ms": -1}, NO_LOSS_SECONDS, id="unlimited"),
        pytest.param(STUCK, {"cleanup_policy": "compact"}, NO_LOSS_SECONDS, id="compacted"),
        pytest.param(
            STUCK, {"cleanup_policy": "compact,delete"}, 7 * DAY - 3_600, id="compacted-and-deleted"
        ),
        pytest.param(STUCK, {"retention_ms": HOUR // 2}, 0.0, id="overdue"),
        pytest.param(STUCK, {"retention_ms": 0}, 0.0, id="no-retention"),
        pytest.param(STUCK, {"retention_ms": 2**63 - 1}, NO_LOSS_SECONDS, id="30-days-at-most"),
        pytest.param(
            {**STUCK, "next_record_time": NOON - 2 * HOUR},
            {},
            7 * DAY - 7_200,
            id="by-its-own-time",
        ),
        pytest.param(
            {**STUCK, "next_record_time": NOON + 2 * HOUR},
            {},
            7 * DAY + 7_200,
            id="by-its-own-time-ahead",
        ),
        pytest.param(
            {**STUCK, "next_record_time": NOON - 2 * HOUR, "time_lag_seconds": None},
            {},
            7 * DAY - 7_200,
            id="by-its-own-time-alone",
        ),
    ],
)
def test_an_age_reaches_retention_as_fast_as_it_grows(row: Row, topic: Row, seconds: float) -> None:
    assert first(told(row, topic), "seconds_until_loss") == (pytest.approx(seconds),)


@pytest.mark.parametrize(
    ("row", "topic", "seconds"),
    [
        pytest.param({"consume_rate": 1.0}, {}, 200.0, id="the-log-start-comes-nearer"),
        pytest.param({"consume_rate": 3.0}, {}, NO_LOSS_SECONDS, id="it-keeps-its-distance"),
        pytest.param({"consume_rate": None}, {}, 400 / 3, id="consumption-unknown-counts-as-0"),
        pytest.param({}, {"produce_rate": None}, NO_LOSS_SECONDS, id="production-unknown"),
        pytest.param({}, {"start_offset": 0}, NO_LOSS_SECONDS, id="nothing-deleted-so-far"),
        pytest.param({}, {"retention_bytes": -1}, NO_LOSS_SECONDS, id="unlimited"),
        pytest.param({}, {"cleanup_policy": "compact"}, NO_LOSS_SECONDS, id="compacted"),
        pytest.param({"retention_margin": 0}, {}, 0.0, id="at-the-log-start"),
        pytest.param({}, {"produce_rate": 5e-324}, NO_LOSS_SECONDS, id="30-days-at-most"),
        pytest.param(
            {"committed_offset": None, "retention_margin": None, "commit_changed_at": None},
            {},
            0.0,
            id="3-uncommitted-stands-at-the-log-start",
        ),
        pytest.param({"age_growth": 1.0}, {"retention_ms": HOUR + 90_000}, 90.0, id="time-is-less"),
    ],
)
def test_production_pushes_the_log_start_to_the_commit(
    row: Row, topic: Row, seconds: float
) -> None:
    found = told(row, {**SIZED, **topic})
    assert first(found, "seconds_until_loss") == (pytest.approx(seconds),)


@pytest.mark.parametrize(
    ("row", "topic", "said"),
    [
        pytest.param({"lag": 0, **STUCK}, {}, FOREVER, id="nothing-unread"),
        pytest.param({"lag": 0}, {"cleanup_policy": None}, FOREVER, id="nothing-unread-unknown"),
        pytest.param(
            {"time_lag_method": METHOD_ALLOWED, **STUCK},
            {"retention_ms": HOUR},
            FOREVER,
            id="20-allowed-is-no-record",
        ),
        pytest.param({"lag": None}, {}, UNKNOWN, id="2-uncommitted"),
        pytest.param({}, {"cleanup_policy": None}, UNKNOWN, id="policy-unknown"),
        pytest.param({}, {"retention_ms": None}, UNKNOWN, id="retention-unknown"),
        pytest.param({}, {"retention_bytes": None}, UNKNOWN, id="size-unknown"),
        pytest.param({"time_lag_seconds": None}, {}, UNKNOWN, id="25-age-unknown"),
        pytest.param(
            {"time_lag_seconds": None, "age_growth": 0.0}, {}, UNKNOWN, id="age-unknown-it-stands"
        ),
        pytest.param({"time_lag_error_seconds": None}, {}, UNKNOWN, id="it-may-be-any-older"),
        pytest.param(
            {"time_lag_error_seconds": None, "next_record_time": NOON - HOUR},
            {},
            (2 * (7 * DAY - 3_600), SAFE),
            id="it-may-be-any-older-but-by-its-own-time",
        ),
        pytest.param(
            {"time_lag_error_seconds": None, "time_lag_seconds": 6.5 * DAY, **STUCK},
            {},
            (DAY / 2, AT_RISK),
            id="it-may-be-any-older-and-is-at-risk",
        ),
        pytest.param(
            {"time_lag_seconds": None}, {"retention_ms": -1}, FOREVER, id="age-unknown-not-needed"
        ),
        pytest.param(
            {"time_lag_seconds": None, "consume_rate": 1.0},
            {**SIZED, "retention_ms": 24 * HOUR},
            (200.0, AT_RISK),
            id="age-unknown-but-size-tells-of-a-risk",
        ),
        pytest.param(
            {"time_lag_seconds": None, "consume_rate": 1.0, "retention_margin": 10**9},
            {**SIZED, "retention_ms": 24 * HOUR},
            UNKNOWN,
            id="age-unknown-and-size-tells-of-none",
        ),
        pytest.param({"records_lost": 1, "lag": 0}, {}, (NO_LOSS_SECONDS, LOST), id="4-lost-all"),
        pytest.param(
            {"records_lost": 1, "lag": None}, {}, (None, LOST), id="4-lost-and-the-rest-unknown"
        ),
    ],
)
def test_what_cannot_be_told_is_unknown_and_what_cannot_be_lost_is_safe(
    row: Row, topic: Row, said: tuple[float | None, str | None]
) -> None:
    assert first(told(row, topic), *TOLD) == said


@pytest.mark.parametrize(
    ("row", "topic", "risk"),
    [
        pytest.param({"time_lag_seconds": 6 * DAY}, {}, SAFE, id="a-day-left"),
        pytest.param({"time_lag_seconds": 6 * DAY + 1}, {}, AT_RISK, id="within-the-horizon"),
        pytest.param(
            {"time_lag_seconds": 1_800.0},
            {"retention_ms": HOUR},
            SAFE,
            id="half-its-retention-left",
        ),
        pytest.param(
            {"time_lag_seconds": 1_801.0}, {"retention_ms": HOUR}, AT_RISK, id="less-than-half"
        ),
        pytest.param({"time_lag_seconds": 8 * DAY}, {}, AT_RISK, id="overdue"),
        pytest.param({}, {"retention_ms": 0}, AT_RISK, id="no-retention"),
        pytest.param({"records_lost": 1}, {}, LOST, id="4-lost"),
        pytest.param({}, {**SIZED, "produce_rate": 0.001}, SAFE, id="size-beyond-the-horizon"),
        pytest.param({}, SIZED, AT_RISK, id="size-within-the-horizon"),
    ],
)
def test_a_loss_nearer_than_the_horizon_or_half_the_retention_is_a_risk(
    row: Row, topic: Row, risk: str
) -> None:
    found = told({**STUCK, **row}, topic)
    assert first(found, "retention_risk") == (risk,)


def test_a_silent_row_keeps_what_it_was_told() -> None:
    kept = {"seconds_until_loss": 7.0, "retention_risk": AT_RISK, "unread_reason": "timeout"}
    found = told({**STUCK, "lag": None, **kept}, {"cleanup_policy": None})
    assert first(found, *TOLD) == (7.0, AT_RISK)


COUNT = st.none() | st.integers(0, 2**62)
TIME = st.none() | st.integers(-1, 2**42)
LIMIT = st.none() | st.integers(-1, 2**63 - 1)
ROW = st.fixed_dictionaries(
    {
        "lag": COUNT,
        "retention_margin": COUNT,
        "time_lag_seconds": st.none() | st.floats(0, 1e9),
        "next_record_time": TIME,
        "commit_changed_at": TIME,
        "age_growth": st.none() | st.floats(0, 1),
        "consume_rate": st.none() | st.floats(0, 1e18),
    }
)
TOPIC = st.fixed_dictionaries(
    {
        "cleanup_policy": st.sampled_from([None, "delete", "compact", "compact,delete"]),
        "retention_ms": LIMIT,
        "retention_bytes": LIMIT,
        "produce_rate": st.none() | st.floats(0, 1e18),
        "start_offset": COUNT,
    }
)


@given(ROW, TOPIC)
def test_a_time_to_loss_lies_between_now_and_30_days(row: Row, topic: Row) -> None:
    with np.errstate(all="raise", under="ignore"):
        found = told(row, topic)
    assert all(0 <= seconds <= NO_LOSS_SECONDS for seconds in numbers_of(found, TOLD[0]))
    assert (first(found, TOLD[0])[0] is None) == (first(found, TOLD[1])[0] is None)
