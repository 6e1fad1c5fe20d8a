# SPDX-License-Identifier: Apache-2.0
"""The status of a group-partition: each rule, inactive topics, and runs one after another."""

from __future__ import annotations

import pytest

from kafka_lag.contract import (
    BEYOND_END,
    ERR,
    FALLING_BEHIND,
    INACTIVE,
    NO_MEMBER,
    OK,
    PAUSING,
    RECORDS_LOST,
    REWIND,
    SLOW,
    STALL,
    STOP,
    TIMEOUT,
    WARN,
)
from kafka_lag.lag.columns import Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.previous_rows import match_previous
from kafka_lag.lag.status import add_status
from kafka_lag.lag.time_lag import Ages
from tests.builders import HOUR, MINUTE, NOON
from tests.functions.lag.builders import (
    BEFORE,
    NOW,
    SECOND,
    Row,
    Runs,
    column,
    exact_ages,
    first,
    group,
    partition,
    rows,
    snapshot,
    stable,
)
from tests.functions.lag.time_index_fake import Broker, Log

# The rules of a status one by one, in their order: each row changes what decides.

STATUS = ("status", "status_reason")
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
# It moved in every run, and did not catch up for the window.
OFTEN: Row = {"commit_gap_seconds": 60.0}
SLOW_SINCE: Row = {"not_catching_up_since": NOW - 9 * MINUTE}
STILL: Row = {"commit_changed_at": NOW - 11 * MINUTE}
ABANDONED: Row = {**STILL, "member_id": None, "owned_at": NOW - 11 * MINUTE}
YOUNGER: Row = {"time_lag_seconds": 7_200.0}
HOURLY: Row = {
    "pause_seconds": 3_600.0,
    "pauses_seen": 2.0,
    "work_between_pauses": 3_000.0,
    "work_since_pause": 3_000.0,
    "pause_age_left": 3_600.0,
}


def evaluate_row(
    row: Row, previous: Row | None = None, allowed: int = 0, ages: Ages | None = None
) -> Frame:
    frame = rows({**LATE, **row})
    moved_then = {"committed_offset": 499, "commit_changed_at": BEFORE}
    slow = {**LATE, **moved_then, **OFTEN, **SLOW_SINCE, **(previous or {})}
    if row.get("commit_changed_at", NOW) != NOW or row.get("committed_offset", 500) is None:
        slow["committed_offset"] = {**LATE, **row}["committed_offset"]
    memory = match_previous(frame, snapshot(rows(slow, at=BEFORE)))
    exact, most = exact_ages(frame.numbers("time_lag_seconds")), column([allowed], "long")
    return add_status(frame, stable(), memory, ages or exact, most, NOW, Rules())


@pytest.mark.parametrize("word", [SLOW, FALLING_BEHIND, NO_MEMBER])
def test_between_two_moves_a_loss_changes_no_word_of_the_consumer(word: str) -> None:
    losing: Row = {"records_lost": 1, "commit_changed_at": BEFORE, "drain_seconds": None}
    before: Row = {"last_status": ERR, "status_reason": RECORDS_LOST, "consumer_status": word}
    found = evaluate_row({**losing, **OFTEN, **SLOW_SINCE}, before)
    expected = FALLING_BEHIND if word == NO_MEMBER else word
    assert first(found, "consumer_status", *STATUS) == (expected, ERR, RECORDS_LOST)


@pytest.mark.parametrize("drain", [20_000.0, 10_000.0])
def test_a_slow_group_that_loses_records_stays_slow_within_ten_ages(drain: float) -> None:
    losing: Row = {"records_lost": 1, "drain_seconds": drain}
    before: Row = {"last_status": ERR, "status_reason": RECORDS_LOST, "consumer_status": SLOW}
    found = evaluate_row({**losing, **OFTEN, **SLOW_SINCE}, before)
    assert first(found, "consumer_status") == (SLOW,)


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
        pytest.param({"time_lag_seconds": None, **STILL}, None, None, id="no-age-proven"),
        pytest.param(STILL, STALL, None, id="stuck-with-a-live-member"),
        pytest.param(ABANDONED, STOP, None, id="30-no-owner"),
        pytest.param({}, WARN, SLOW, id="33-slow"),
        pytest.param({"drain_seconds": None}, WARN, FALLING_BEHIND, id="falling-behind"),
        pytest.param({"drain_seconds": 18_001.0}, WARN, SLOW, id="longer-than-10-ages"),
        pytest.param({"drain_seconds": 18_000.0}, OK, None, id="catching-up"),
    ],
)
def test_the_first_rule_that_fits_decides(row: Row, status: str | None, reason: str | None) -> None:
    found = evaluate_row(row, allowed=7)
    assert first(found, *STATUS) == (status, reason)
    assert first(found, "last_status") == (status,)


@pytest.mark.parametrize(
    ("row", "previous", "status"),
    [
        pytest.param({}, {"committed_offset": 440}, None, id="1-seen-once"),
        pytest.param({"observations": 1}, {"topic": "u"}, None, id="first-reading"),
        pytest.param({}, {"end_offset": 450}, ERR, id="5-seen-twice"),
        pytest.param({}, {"committed_offset": 499}, None, id="1-another-commit"),
        pytest.param({}, {"end_offset": 460}, ERR, id="5-end-went-back"),
        pytest.param({"topic_id": "b"}, {"topic_id": "a"}, ERR, id="5-topic-recreated"),
        pytest.param({"end_offset": 500}, {"topic_id": "a", "end_offset": 501}, OK, id="at-end"),
    ],
)
def test_a_commit_beyond_the_end_is_an_error_once_it_is_no_race(
    row: Row, previous: Row, status: str | None
) -> None:
    found = evaluate_row(
        {"end_offset": 450, "lag": 0, **row},
        {"end_offset": 440, "committed_offset": 500, **previous},
    )
    assert first(found, *STATUS) == (status, BEYOND_END if status == ERR else None)


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
    assert first(evaluate_row({**ABANDONED, **row}), "status") == (status,)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        pytest.param({"commit_changed_at": NOW - 2 * HOUR}, (OK, PAUSING), id="twice-as-long"),
        pytest.param({"commit_changed_at": NOW - 2 * HOUR - 1}, (STALL, None), id="longer"),
        pytest.param({**STILL, "pauses_seen": 1.0}, (STALL, None), id="seen-once"),
        pytest.param({**STILL, "work_between_pauses": None}, (STALL, None), id="an-old-count"),
        pytest.param({**STILL, "work_since_pause": 6_000.0}, (STALL, None), id="unusual-work"),
        pytest.param(
            {**STILL, **YOUNGER, "work_since_pause": None}, (OK, PAUSING), id="after-a-gap"
        ),
        pytest.param(
            {**STILL, **YOUNGER, "work_since_pause": 6_000.0, "pauses_seen": 4.0},
            (OK, PAUSING),
            id="well-known-and-pausing-most-of-the-time",
        ),
        pytest.param({**STILL, "time_lag_seconds": 7_860.0}, (OK, PAUSING), id="twice-left"),
        pytest.param(
            {**STILL, "time_lag_seconds": 7_861.0}, (WARN, FALLING_BEHIND), id="more-is-left"
        ),
        pytest.param(
            {**STILL, "pause_age_left": 0.0, "time_lag_seconds": 1_260.0},
            (OK, PAUSING),
            id="a-window-is-left",
        ),
        pytest.param(
            {**STILL, "pause_age_left": 0.0, "time_lag_seconds": 1_261.0},
            (WARN, FALLING_BEHIND),
            id="more-than-a-window-is-left",
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
def test_a_pause_no_longer_than_usual_is_no_stall(
    row: Row, expected: tuple[str, str | None]
) -> None:
    usual = {"time_lag_seconds": 4 * 3_600.0, "drain_seconds": None, **HOURLY}
    assert first(evaluate_row({**usual, **row}), *STATUS) == expected


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
    found = evaluate_row({"commit_changed_at": NOW - minutes * MINUTE, "time_lag_seconds": age})
    assert first(found, "status") == (status,)


@pytest.mark.parametrize(
    ("row", "previous", "status"),
    [
        pytest.param({}, {"lag": 101}, OK, id="the-last-reading-saw-it-shrink"),
        pytest.param({"lag": 10_000}, {"lag": 10_001}, WARN, id="but-hardly"),
        pytest.param({}, {"lag": 101, "commit_gap_seconds": 160.0}, OK, id="moves-often"),
        pytest.param({}, {"lag": 101, "commit_gap_seconds": 161.0}, WARN, id="moves-seldom"),
        pytest.param({}, {"lag": 100}, WARN, id="it-stood"),
        pytest.param({}, {"lag": None}, WARN, id="unread-before"),
        pytest.param({}, {"lag": 200, "last_status": WARN}, WARN, id="slow-one-reading-is-no-end"),
        pytest.param({"drain_seconds": 5_401.0}, {"last_status": WARN}, WARN, id="slow-hardly"),
        pytest.param({"drain_seconds": 5_400.0}, {"last_status": WARN}, OK, id="slow-3-ages"),
    ],
)
def test_a_backlog_is_worked_off_by_the_rates_or_unless_slow_before_by_the_last_reading(
    row: Row, previous: Row, status: str
) -> None:
    assert first(evaluate_row(row, previous), "status") == (status,)


# A commit that moves every 5 minutes: nothing but what its moves leave over counts.
SELDOM: Row = {
    "commit_gap_seconds": 300.0,
    "commit_changed_at": NOW - 5 * MINUTE,
    "progress_from": NOW - 3 * MINUTE,
    "progress_from_lag": 110,
}


@pytest.mark.parametrize(
    ("row", "previous", "status"),
    [
        # In 180 s of the 5,400 s that are 3 ages a thirtieth of it must go.
        pytest.param({}, {"progress_from_lag": 104}, OK, id="gone-within-3-ages"),
        pytest.param({}, {"progress_from_lag": 103}, WARN, id="later"),
        pytest.param({}, {"progress_from": NOW - 179 * SECOND}, WARN, id="moves-too-close"),
        pytest.param({"committed_offset": 499}, {}, WARN, id="it-did-not-move"),
        pytest.param({}, {"last_status": WARN}, OK, id="after-warn"),
        pytest.param({"drain_seconds": 1.0}, {"progress_from_lag": 90}, WARN, id="rates-mislead"),
        pytest.param({}, {"progress_from": None}, WARN, id="first-move"),
    ],
)
def test_a_commit_that_moves_seldom_is_judged_by_what_its_moves_leave(
    row: Row, previous: Row, status: str
) -> None:
    assert first(evaluate_row(row, {**SELDOM, **previous}), "status") == (status,)


@pytest.mark.parametrize(
    ("previous", "expected"),
    [
        pytest.param({}, (NOW, 100), id="worked-off"),
        pytest.param({"progress_from_lag": 101}, (NOW - 3 * MINUTE, 101), id="lower"),
        pytest.param({"progress_from_lag": 100}, (NOW, 100), id="no-lower"),
        pytest.param(
            {"progress_from_lag": 101, "progress_from": NOW - 10 * MINUTE}, (NOW, 100), id="window"
        ),
        pytest.param(
            {"progress_from_lag": 101, "progress_from": NOW - 10 * MINUTE + 1},
            (NOW - 10 * MINUTE + 1, 101),
            id="within-the-window",
        ),
        pytest.param({"committed_offset": 501}, (NOW, 100), id="back"),
        pytest.param({"committed_offset": 500}, (NOW - 3 * MINUTE, 110), id="unmoved"),
    ],
)
def test_later_moves_are_compared_with_the_highest_lag_of_the_window(
    previous: Row, expected: tuple[int, int]
) -> None:
    found = evaluate_row({}, {**SELDOM, **previous})
    assert first(found, "progress_from", "progress_from_lag") == expected


@pytest.mark.parametrize(
    ("previous", "gap"),
    [
        pytest.param({"commit_changed_at": NOW - 5 * MINUTE}, 300.0, id="since-the-last-move"),
        pytest.param({"commit_changed_at": NOW - HOUR}, 600.0, id="a-window-at-most"),
        pytest.param({"time_lag_seconds": 30.0}, 90.0, id="time-without-unread-records"),
        pytest.param({"commit_gap_seconds": 1_200.0}, 600.0, id="halved-in-a-window"),
    ],
)
def test_gaps_between_moves_are_remembered_for_a_while(previous: Row, gap: float) -> None:
    seen = {"commit_gap_seconds": 60.0, "commit_changed_at": NOW - 10 * MINUTE}
    found = evaluate_row({}, {**seen, **previous})
    assert first(found, "commit_gap_seconds") == (pytest.approx(gap),)


@pytest.mark.parametrize(
    ("least", "most", "status"),
    [
        pytest.param(350.0, 650.0, WARN, id="close-bounds"),
        pytest.param(349.0, 650.0, OK, id="far-bounds"),
        pytest.param(601.0, None, WARN, id="proven"),
        pytest.param(350.0, None, OK, id="without-an-upper-bound"),
    ],
)
def test_an_estimated_age_counts_where_its_bounds_are_close(
    least: float, most: float | None, status: str
) -> None:
    seconds, low, high = column([601.0]), column([least]), column([most])
    ages = Ages(seconds, low, high, Strings.of(["interpolated"]))
    assert first(evaluate_row({"time_lag_seconds": 601.0}, ages=ages), "status") == (status,)


def test_a_commit_that_rests_below_a_record_of_unknown_age_has_no_status_until_it_moves() -> None:
    """Timestamps of 0 date nothing, so only the runs do: the record is older than the first."""
    runs = Runs(look_up=Broker({("t", 0): Log([0] * 240)}))
    found = [runs.run(minute, 100 + (minute >= 4), 240 + minute) for minute in range(17)]

    statuses = [partition(report, "status")[0] for report in found]
    assert statuses == [None] * 4 + [OK] + [None] * 10 + [STALL] * 2
    assert [group(report, "status")[0] for report in found[:5]] == [None] * 4 + [OK]


@pytest.mark.parametrize(
    ("most", "previous", "status"),
    [(540.0, WARN, OK), (541.0, WARN, WARN), (None, WARN, WARN), (None, OK, OK)],
)
def test_warn_ends_by_the_age_once_its_upper_bound_is_well_within_the_window(
    most: float | None, previous: str, status: str
) -> None:
    seconds, low, high = column([530.0]), column([520.0]), column([most])
    ages = Ages(seconds, low, high, Strings.of(["interpolated"]))
    found = evaluate_row({"time_lag_seconds": 530.0}, {"last_status": previous}, ages=ages)
    assert first(found, "status") == (status,)


@pytest.mark.parametrize(
    ("since", "previous", "status"),
    [
        pytest.param(NOW - 9 * MINUTE, OK, WARN, id="for-the-window"),
        pytest.param(NOW - 8 * MINUTE, OK, OK, id="for-less"),
        pytest.param(None, OK, OK, id="since-now"),
        pytest.param(NOW - MINUTE, WARN, WARN, id="and-slow-before"),
    ],
)
def test_a_group_is_slow_once_it_has_not_caught_up_for_a_window(
    since: int | None, previous: str, status: str
) -> None:
    found = evaluate_row({}, {"not_catching_up_since": since, "last_status": previous})
    assert first(found, "status") == (status,)


def test_a_first_reading_counts_as_a_window_without_catching_up() -> None:
    found = evaluate_row({"observations": 1}, {"not_catching_up_since": None})
    assert first(found, "not_catching_up_since") == (NOW - 10 * MINUTE,)


@pytest.mark.parametrize(
    ("row", "status"),
    [
        pytest.param({"lag": 0}, OK, id="2-empty"),
        pytest.param({"time_lag_seconds": WINDOW}, OK, id="young"),
        pytest.param({"observations": 9}, WARN, id="not-watched-for-the-window"),
        pytest.param({"observations": 10}, STALL, id="owned-and-never-committed"),
        pytest.param({"observations": 10, "owned_at": None}, STOP, id="without-owner"),
    ],
)
def test_a_partition_counted_without_a_commit_is_still_once_watched(row: Row, status: str) -> None:
    never = {"committed_offset": None, "commit_changed_at": None, "drain_seconds": None}
    assert first(evaluate_row({**never, **row}, {"committed_offset": None}), "status") == (status,)


def test_an_unread_row_has_no_status_and_keeps_its_last() -> None:
    kept = {"last_status": STOP, "status_reason": PAUSING}
    found = evaluate_row({"unread_reason": "timeout", "lag": None, "records_lost": 1, **kept})
    assert first(found, "status", "last_status", "status_reason") == (None, STOP, PAUSING)


# Topics that a group left long ago: seen by all partitions of the pair together.

LEFT: Row = {"owned_at": NOW - 24 * HOUR, "commit_changed_at": NOW - 24 * HOUR}
BESIDE: Row = {**LEFT, "partition_id": 1}


@pytest.mark.parametrize(
    ("row", "other", "idle"),
    [
        pytest.param({}, {}, True, id="12-left-a-day-ago"),
        pytest.param({"owned_at": None}, {}, True, id="12-owner-never-seen"),
        pytest.param({"owned_at": NOW - 24 * HOUR + 1}, {}, False, id="owned-since"),
        pytest.param({"commit_changed_at": NOW - 24 * HOUR + 1}, {}, False, id="moved-since"),
        pytest.param({}, {"owned_at": NOW}, False, id="another-partition-owned"),
        pytest.param({}, {"commit_changed_at": NOW}, False, id="another-partition-moved"),
        pytest.param({}, {"owned_at": NOW, "topic": "u"}, True, id="another-topic"),
        pytest.param({}, {"owned_at": NOW, "consumer_group": "h"}, True, id="another-group"),
        pytest.param({"commit_changed_at": None}, {}, True, id="uncommitted-beside-a-commit"),
        pytest.param({"commit_changed_at": None}, {"topic": "u"}, False, id="nothing-committed"),
    ],
)
def test_a_topic_is_inactive_once_it_is_not_touched_for_a_day(
    row: Row, other: Row, idle: bool
) -> None:
    frame = rows({**LEFT, **row}, {**BESIDE, **other})
    ages, allowed = exact_ages(column([0.0, 0.0])), column([0, 0], "long")
    previous = match_previous(frame, snapshot(rows()))
    found = add_status(frame, stable(2), previous, ages, allowed, NOW, Rules())
    assert (found.strings("status_reason").to_list()[0] == INACTIVE) == idle


@pytest.mark.parametrize(
    ("row", "status"),
    [
        pytest.param({"lag": 5}, STOP, id="stopped"),
        pytest.param({"lag": 0}, OK, id="caught-up"),
        pytest.param({"lag": 5, "records_lost": 1}, ERR, id="lost"),
    ],
)
def test_inactive_is_a_reason_beside_any_status(row: Row, status: str) -> None:
    frame = rows({**LEFT, "observations": 10, **row})
    ages, allowed = exact_ages(column([86_400.0])), column([0], "long")
    memory = match_previous(frame, snapshot(rows()))
    found = add_status(frame, stable(), memory, ages, allowed, NOW, Rules())
    assert first(found, "status", "status_reason") == (status, INACTIVE)


# The status of one partition from run to run: what sets it, why, and for how long.

STATUS_AND_REASON = ("status", "status_reason")
# Records of a group that stopped hours ago: an index dates them in the first run.
WITHOUT_MEMBERS = Broker({("t", 0): Log([NOON - 5 * HOUR + i * MINUTE for i in range(240)])})


@pytest.mark.parametrize(
    "grown_to", [pytest.param(400, id="beyond-the-end"), pytest.param(5_000, id="within-the-log")]
)
def test_a_commit_of_another_topic_sets_no_status_when_it_is_reset(grown_to: int) -> None:
    runs = Runs()
    for minute in range(3):
        runs.run(minute, 1_000, 1_000)
    kept = [
        partition(runs.run(3 + n, 1_000, grown_to, topic_ids={"t": "another"}), *STATUS_AND_REASON)
        for n in range(2)
    ]
    found = [
        partition(
            runs.run(5 + n, n * 100, grown_to + n * 100, topic_ids={"t": "another"}), "status"
        )
        for n in range(15)
    ]

    assert kept == [(ERR, BEYOND_END) if grown_to < 1_000 else (None, None)] * 2
    assert (REWIND,) not in found


def test_going_back_from_a_commit_of_another_topic_is_not_remembered_either() -> None:
    runs, another = Runs(), {"t": "another"}
    runs.run(0, 1_000, 1_000)
    runs.run(1, 1_000, 5_000, topic_ids=another)
    runs.run(2, 1_000, 5_000, topic_ids=another)

    assert partition(runs.run(3, 0, 5_000, topic_ids=another), "status", "rewound_from") == (
        OK,
        None,
    )


@pytest.mark.parametrize("ends", [(TIMEOUT, 5_000), (5_000, TIMEOUT)], ids=["first", "second"])
def test_a_run_that_could_not_read_the_new_topic_makes_no_commit_its_own(
    ends: tuple[int | str, ...],
) -> None:
    runs, another = Runs(), {"t": "another"}
    runs.run(0, 1_000, 1_000)
    for minute, end in enumerate((*ends, 5_000, 5_000), start=1):
        runs.run(minute, 1_000, end, topic_ids=another)
    found = [runs.run(5 + n, 0, 5_000, topic_ids=another) for n in range(3)]

    assert (REWIND,) not in [partition(report, "status") for report in found]


def test_an_age_of_0_grows_while_its_record_is_not_read() -> None:
    appended_as_it_was_read = Log([NOON - HOUR, NOON + 200])
    runs = Runs(look_up=Broker({("t", 0): appended_as_it_was_read}))

    assert group(runs.run(0, 1, 2), "lag", "time_lag_seconds") == (1, 0.0)
    later = group(runs.run(5, 1, TIMEOUT), "lag", "time_lag_seconds")
    assert later == (1, pytest.approx(300, abs=1))


def test_once_a_group_has_committed_to_the_new_topic_a_reset_is_a_rewind() -> None:
    runs, another = Runs(), {"t": "another"}
    runs.run(0, 1_000, 1_000)
    for minute, commit in ((1, 1_000), (2, 1_500)):
        runs.run(minute, commit, 5_000, topic_ids=another)

    assert partition(runs.run(3, 0, 5_000, topic_ids=another), "status") == (REWIND,)


def test_a_commit_kept_from_another_topic_that_never_moves_is_reported_after_the_window() -> None:
    runs, another = Runs(), {"t": "another"}
    runs.run(0, 1_000, 1_000)
    found = [
        partition(runs.run(1 + n, 1_000, 5_000 + n, topic_ids=another), "status")[0]
        for n in range(13)
    ]

    assert found[:2] == [None, None]
    assert found[-1] == STALL


@pytest.mark.parametrize(("members", "after"), [(0, STOP), (1, STALL)])
def test_a_rewind_is_followed_by_a_stop_in_the_next_run(members: int, after: str) -> None:
    runs = Runs()
    for minute in range(60):
        runs.run(minute, minute * 100, minute * 100)
    found = [
        partition(runs.run(60 + n, 100, 6_000 + n * 100, members=members), "status")[0]
        for n in range(15)
    ]

    assert found == [REWIND] * 11 + [after] * 4


def test_that_no_member_reads_old_records_is_reported_from_the_first_reading() -> None:
    runs = Runs(look_up=WITHOUT_MEMBERS)
    reports = [runs.run(minute, 100, 240, members=0, state="Empty") for minute in range(13)]

    found = [partition(report, *STATUS_AND_REASON) for report in reports]
    assert found == [(None, NO_MEMBER)] + [(WARN, NO_MEMBER)] * 10 + [(STOP, None)] * 2
    found = [group(report, *STATUS_AND_REASON) for report in reports]
    assert found == [(None, NO_MEMBER)] + [(WARN, NO_MEMBER)] * 10 + [(ERR, None)] * 2
    assert group(reports[0], "last_status", "held_status", "incident_since") == (None,) * 3


def test_a_rebalance_that_nobody_takes_part_in_excuses_nothing() -> None:
    report = Runs(look_up=WITHOUT_MEMBERS).run(0, 100, 240, members=0, state="PreparingRebalance")

    assert partition(report, *STATUS_AND_REASON) == (None, NO_MEMBER)


def test_of_the_first_reading_nothing_is_held() -> None:
    runs = Runs(look_up=WITHOUT_MEMBERS)
    held = [group(runs.run(minute, 100, 240, members=0), "held_status")[0] for minute in range(4)]

    assert held == [None, None, None, WARN]


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"members": 1}, id="a-member-owns-it"),
        pytest.param({"members": 3, "owners": {}, "state": "PreparingRebalance"}, id="rebalancing"),
        pytest.param({"members": 0, "commit": 239}, id="its-records-are-young"),
    ],
)
def test_at_the_first_reading_there_is_no_reason_where_somebody_may_read(
    more: dict[str, object],
) -> None:
    young = Broker({("t", 0): Log([NOON - HOUR] * 239 + [NOON - MINUTE])})
    report = Runs(look_up=young).run(0, **{"commit": 100, "end": 240, **more})  # type: ignore[arg-type]

    assert partition(report, *STATUS_AND_REASON) == (None, None)
    assert group(report, *STATUS_AND_REASON) == (None, None)


@pytest.mark.parametrize(
    ("speed", "reason"),
    [pytest.param(15, FALLING_BEHIND, id="grows"), pytest.param(21, SLOW, id="hardly-shrinks")],
)
def test_a_warning_says_whether_the_backlog_shrinks(speed: int, reason: str) -> None:
    records = [NOON - 5 * HOUR + i * 3 * SECOND for i in range(6_200)]
    runs = Runs(look_up=Broker({("t", 0): Log(records)}))
    found = {
        partition(runs.run(minute, 1_000 + minute * speed, 6_000 + minute * 20), *STATUS_AND_REASON)
        for minute in range(15)
    }

    assert found == {(None, None), (WARN, reason)}


def test_a_reader_that_is_no_member_is_slow_and_not_absent() -> None:
    records = [NOON - 5 * HOUR + i * 3 * SECOND for i in range(6_200)]
    runs = Runs(look_up=Broker({("t", 0): Log(records)}))
    found = [
        partition(
            runs.run(minute, 1_000 + minute * 21, 6_000 + minute * 20, members=0),
            *STATUS_AND_REASON,
        )
        for minute in range(5)
    ]

    assert found == [(None, NO_MEMBER)] + [(WARN, SLOW)] * 4
