# SPDX-License-Identifier: Apache-2.0
"""The rules of a status one by one, in their order: each row changes what decides."""

from __future__ import annotations

import pytest

from kafka_lag.contract import (
    BEYOND_END,
    ERR,
    FALLING_BEHIND,
    OK,
    PAUSING,
    RECORDS_LOST,
    REWIND,
    SLOW,
    STALL,
    STOP,
    WARN,
)
from kafka_lag.lag.carry_over import match_previous
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.status import add_status
from tests.builders import HOUR, MINUTE
from tests.functions.lag.partitions.rows import (
    BEFORE,
    NOW,
    Row,
    column,
    first,
    rows,
    snapshot,
    stable,
)

TOLD = ("status", "status_reason")
WINDOW = 600.0
# A commit that moves, half an hour behind, and the backlog will take a day.
LATE: Row = {
    "committed_offset": 500,
    "end_offset": 600,
    "lag": 100,
    "records_lost": 0,
    "observations": 10,
    "commit_changed_at": NOW,
    "time_lag_seconds": 1_800.0,
    "drain_seconds": 86_400.0,
    "member_id": "m",
    "owned_at": NOW,
}
STILL: Row = {"commit_changed_at": NOW - 11 * MINUTE}
ABANDONED: Row = {**STILL, "member_id": None, "owned_at": NOW - 11 * MINUTE}
HOURLY: Row = {
    "pause_seconds": 3_600.0,
    "pauses_seen": 2.0,
    "work_between_pauses": 3_000.0,
    "work_since_pause": 3_000.0,
    "pause_age_left": 3_600.0,
}


def told(row: Row, was: Row | None = None, allowed: int = 0) -> Frame:
    frame = rows({**LATE, **row})
    slow = {**LATE, "not_catching_up_since": NOW - 9 * MINUTE, **(was or {})}
    memory = match_previous(frame, snapshot(rows(slow, at=BEFORE)))
    ages, most = frame.numbers("time_lag_seconds"), column([allowed], "long")
    return add_status(frame, stable(), memory, ages, most, NOW, Rules())


@pytest.mark.parametrize(
    ("row", "status", "reason"),
    [
        pytest.param({"records_lost": 1}, ERR, RECORDS_LOST, id="4-commit-below-log-start"),
        pytest.param({"records_lost": 1, "lag": 0}, ERR, RECORDS_LOST, id="4-lost-all"),
        pytest.param({"lag": None, **STILL}, None, None, id="2-uncommitted"),
        pytest.param({"lag": 0, **STILL}, OK, None, id="23-nothing-unread"),
        pytest.param({"lag": 7, **STILL}, OK, None, id="20-allowed"),
        pytest.param({"observations": 1, **STILL}, None, None, id="31-first-sight"),
        pytest.param({"observations": 1, "lag": 0}, OK, None, id="first-sight-of-no-lag"),
        pytest.param({"rewound_at": NOW}, REWIND, None, id="32-went-back"),
        pytest.param({"rewound_at": NOW - 9 * MINUTE, **STILL}, REWIND, None, id="32-still-back"),
        pytest.param({"rewound_at": NOW - 10 * MINUTE, **STILL}, REWIND, None, id="32-window"),
        pytest.param({"rewound_at": NOW - 10 * MINUTE - 1}, WARN, SLOW, id="32-back-for-longer"),
        pytest.param({"time_lag_seconds": WINDOW, **STILL}, OK, None, id="29-young"),
        pytest.param({"time_lag_seconds": None, **STILL}, OK, None, id="no-age-proven"),
        pytest.param(STILL, STALL, None, id="stuck-with-a-live-member"),
        pytest.param(ABANDONED, STOP, None, id="30-nobody-owns-it"),
        pytest.param({}, WARN, SLOW, id="33-slow"),
        pytest.param({"drain_seconds": None}, WARN, FALLING_BEHIND, id="falling-behind"),
        pytest.param({"drain_seconds": 18_001.0}, WARN, SLOW, id="longer-than-10-ages"),
        pytest.param({"drain_seconds": 18_000.0}, OK, None, id="catching-up"),
    ],
)
def test_the_first_rule_that_fits_decides(row: Row, status: str | None, reason: str | None) -> None:
    found = told(row, allowed=7)
    assert first(found, *TOLD) == (status, reason)
    assert first(found, "last_status") == (status,)


@pytest.mark.parametrize(
    ("row", "was", "status"),
    [
        pytest.param({}, {"committed_offset": 440}, OK, id="1-seen-once"),
        pytest.param({}, {"end_offset": 450}, ERR, id="5-seen-twice"),
        pytest.param({}, {"committed_offset": 499}, OK, id="1-another-commit"),
        pytest.param({}, {"end_offset": 460}, ERR, id="5-end-went-back"),
        pytest.param({"topic_id": "b"}, {"topic_id": "a"}, ERR, id="5-topic-recreated"),
        pytest.param({"end_offset": 500}, {"topic_id": "a", "end_offset": 501}, OK, id="at-end"),
    ],
)
def test_a_commit_beyond_the_end_is_an_error_once_it_is_no_race(
    row: Row, was: Row, status: str
) -> None:
    found = told({"end_offset": 450, "lag": 0, **row}, {"end_offset": 440, **was})
    assert first(found, *TOLD) == (status, BEYOND_END if status == ERR else None)


@pytest.mark.parametrize(
    ("row", "status"),
    [
        pytest.param({"member_id": "m", "owned_at": NOW}, STALL, id="owned"),
        pytest.param({"owned_at": NOW - 10 * MINUTE}, STALL, id="rebalancing-or-crashing"),
        pytest.param({"owned_at": NOW - 10 * MINUTE - 1}, STOP, id="left-for-long"),
        pytest.param({"owned_at": None}, STOP, id="17-never-owned"),
        pytest.param({"member_id": "m"}, STOP, id="17-an-owner-of-long-ago"),
    ],
)
def test_a_still_commit_is_a_stall_where_somebody_could_move_it(row: Row, status: str) -> None:
    assert first(told({**ABANDONED, **row}), "status") == (status,)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        pytest.param({"commit_changed_at": NOW - 2 * HOUR}, (OK, PAUSING), id="twice-as-long"),
        pytest.param({"commit_changed_at": NOW - 2 * HOUR - 1}, (STALL, None), id="longer"),
        pytest.param({**STILL, "pauses_seen": 1.0}, (STALL, None), id="seen-once"),
        pytest.param({**STILL, "work_between_pauses": None}, (STALL, None), id="an-old-count"),
        pytest.param({**STILL, "work_since_pause": 6_000.0}, (STALL, None), id="unusual-work"),
        pytest.param({**STILL, "work_since_pause": None}, (OK, PAUSING), id="after-a-gap"),
        pytest.param(
            {**STILL, "work_since_pause": 6_000.0, "pauses_seen": 4.0},
            (OK, PAUSING),
            id="well-known-and-pausing-most-of-the-time",
        ),
        pytest.param(
            {"commit_changed_at": NOW - 9 * HOUR, "time_lag_seconds": 7_200.0},
            (OK, PAUSING),
            id="29-idle-hours-of-the-producer",
        ),
        pytest.param({"time_lag_seconds": 7_200.0}, (OK, None), id="working-it-off"),
        pytest.param(
            {"time_lag_seconds": 14_401.0}, (WARN, FALLING_BEHIND), id="working-for-too-long"
        ),
    ],
)
def test_a_pause_no_longer_than_usual_is_no_stall(row: Row, said: tuple[str, str | None]) -> None:
    usual = {"time_lag_seconds": 4 * 3_600.0, "drain_seconds": None, **HOURLY}
    assert first(told({**usual, **row}), *TOLD) == said


@pytest.mark.parametrize(
    ("minutes", "age", "status"),
    [
        pytest.param(0, 601.0, WARN, id="moved-now"),
        pytest.param(5, 900.0, OK, id="was-young-when-it-moved"),
        pytest.param(5, 901.0, WARN, id="was-old-when-it-moved"),
        pytest.param(11, 900.0, STALL, id="moved-too-long-ago"),
    ],
)
def test_a_commit_that_keeps_up_whenever_it_moves_is_not_slow(
    minutes: int, age: float, status: str
) -> None:
    found = told({"commit_changed_at": NOW - minutes * MINUTE, "time_lag_seconds": age})
    assert first(found, "status") == (status,)


@pytest.mark.parametrize(
    ("row", "was", "status"),
    [
        pytest.param({}, {"lag": 101}, OK, id="the-last-reading-saw-it-shrink"),
        pytest.param({"lag": 10_000}, {"lag": 10_001}, WARN, id="but-hardly"),
        pytest.param({}, {"lag": 100}, WARN, id="it-stood"),
        pytest.param({}, {"lag": None}, WARN, id="silent-before"),
        pytest.param({}, {"lag": 200, "last_status": WARN}, WARN, id="slow-one-reading-is-no-end"),
        pytest.param({"drain_seconds": 5_401.0}, {"last_status": WARN}, WARN, id="slow-hardly"),
        pytest.param({"drain_seconds": 5_400.0}, {"last_status": WARN}, OK, id="slow-3-ages"),
    ],
)
def test_a_backlog_is_worked_off_by_the_rates_or_unless_slow_before_by_the_last_reading(
    row: Row, was: Row, status: str
) -> None:
    assert first(told(row, was), "status") == (status,)


@pytest.mark.parametrize(
    ("since", "was", "status"),
    [
        pytest.param(NOW - 9 * MINUTE, OK, WARN, id="for-the-window"),
        pytest.param(NOW - 8 * MINUTE, OK, OK, id="for-less"),
        pytest.param(None, OK, OK, id="since-now"),
        pytest.param(NOW - MINUTE, WARN, WARN, id="and-slow-before"),
    ],
)
def test_a_group_is_slow_once_it_has_not_caught_up_for_a_window(
    since: int | None, was: str, status: str
) -> None:
    found = told({}, {"not_catching_up_since": since, "last_status": was})
    assert first(found, "status") == (status,)


def test_a_first_reading_counts_as_a_window_without_catching_up() -> None:
    found = told({"observations": 1}, {"not_catching_up_since": None})
    assert first(found, "not_catching_up_since") == (NOW - 10 * MINUTE,)


@pytest.mark.parametrize(
    ("row", "status"),
    [
        pytest.param({"lag": 0}, OK, id="2-empty"),
        pytest.param({"time_lag_seconds": WINDOW}, OK, id="young"),
        pytest.param({"observations": 9}, WARN, id="not-watched-for-the-window"),
        pytest.param({"observations": 10}, STALL, id="owned-and-never-committed"),
        pytest.param({"observations": 10, "owned_at": None}, STOP, id="owned-by-nobody"),
    ],
)
def test_a_partition_counted_without_a_commit_is_still_once_watched(row: Row, status: str) -> None:
    never = {"committed_offset": None, "commit_changed_at": None, "drain_seconds": None}
    assert first(told({**never, **row}, {"committed_offset": None}), "status") == (status,)


def test_a_silent_row_has_no_status_and_keeps_its_last() -> None:
    kept = {"last_status": STOP, "status_reason": PAUSING}
    found = told({"unread_reason": "timeout", "lag": None, "records_lost": 1, **kept})
    assert first(found, "status", "last_status", "status_reason") == (None, STOP, PAUSING)
