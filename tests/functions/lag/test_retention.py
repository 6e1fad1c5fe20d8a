# SPDX-License-Identifier: Apache-2.0
"""Retention risk: each rule of it, and losses from run to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag.contract import AT_RISK, LOST, METHOD_ALLOWED, NO_LOSS_SECONDS, SAFE, TIMEOUT
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import ClusterReading, LagReport, PreviousRuns
from kafka_lag.lag.retention import add_retention
from kafka_lag.lag.time_index import LookUp, no_look_up
from kafka_lag.snapshots.previous import select_log_ends
from tests.builders import HOUR, MINUTE, NOON, Groups, Topics, a_reading, cell
from tests.functions.lag.builders import Row, column, first, numbers_of, rows, topic_rows
from tests.functions.lag.time_index_fake import Broker, Log

# When the broker deletes a record that is not read yet, by age and by size.

DAY = 86_400.0
RISK = ("seconds_until_loss", "retention_risk")
FOREVER = (NO_LOSS_SECONDS, SAFE)
UNKNOWN = (None, None)
# A commit that moved in this run, an hour behind, and ages half as fast as time passes.
MOVING = {
    "committed_offset": 500,
    "lag": 100,
    "records_lost": 0,
    "retention_margin": 400,
    "time_lag_seconds": 3_600.0,
    "time_lag_error_seconds": 1.0,
    "age_growth": 0.5,
    "commit_changed_at": NOON,
}
STUCK = {"commit_changed_at": NOON - 11 * MINUTE}
# A week, no limit by size, a log that deletes already.
WEEK = {
    "cleanup_policy": "delete",
    "retention_ms": 7 * 24 * HOUR,
    "retention_bytes": -1,
    "start_offset": 100,
}
# It holds 530 seconds of production, and the commit is 133 of them from its start.
SIZED = {"retention_ms": -1, "retention_bytes": 10**9, "produce_rate": 3.0, "end_offset": 1_690}


def evaluate_row(row: Row, topic: Row) -> Frame:
    gap = column([row.get("commit_gap_seconds")], "double")
    frame = rows({**MOVING, **row})
    now = column([NOON], "timestamp")
    return add_retention(frame, topic_rows({**WEEK, **topic}), now, gap, NOON, Rules())


@pytest.mark.parametrize(
    ("row", "topic", "seconds"),
    [
        pytest.param({}, {}, 2 * (7 * DAY - 3_600), id="ages-half-as-fast-as-time"),
        pytest.param(STUCK, {}, 7 * DAY - 3_600, id="unmoved-ages-with-time"),
        pytest.param({"age_growth": None}, {}, 7 * DAY - 3_600, id="growth-unknown-counts-as-1"),
        pytest.param({"age_growth": 0.02}, {}, NO_LOSS_SECONDS, id="age-stands"),
        pytest.param(
            {"age_growth": 0.02}, {"retention_ms": 9 * HOUR}, NO_LOSS_SECONDS, id="age-stands-still"
        ),
        pytest.param(
            {"age_growth": 0.03}, {"retention_ms": 9 * HOUR}, 8 * 3_600 / 0.03, id="age-creeps"
        ),
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
    assert first(evaluate_row(row, topic), "seconds_until_loss") == (pytest.approx(seconds),)


# Kept for so many seconds; what is unread since the commit moved last, so many seconds ago.
def since_move(seconds: int, **more: Any) -> Row:
    return {
        "commit_changed_at": NOON - seconds * 1_000,
        "time_lag_seconds": float(seconds),
        "age_growth": 0.0,
        **more,
    }


PAUSES = {"pauses_seen": 3.0, "work_between_pauses": 600.0, "pause_age_left": 0.0}


@pytest.mark.parametrize(
    ("kept", "row", "expected"),
    [
        pytest.param(60, since_move(50), (10.0, AT_RISK), id="stopped"),
        pytest.param(60, {**since_move(50), "commit_changed_at": NOON}, FOREVER, id="moved"),
        pytest.param(1_100, since_move(400), FOREVER, id="a-stop-would-show-in-time"),
        pytest.param(1_000, since_move(400), (600.0, SAFE), id="it-would-not"),
        pytest.param(
            100, since_move(60, commit_gap_seconds=99.0), FOREVER, id="commits-again-before-it"
        ),
        pytest.param(
            100, since_move(60, commit_gap_seconds=101.0), (40.0, AT_RISK), id="not-before-it"
        ),
        pytest.param(
            100, since_move(60, commit_gap_seconds=59.0), (40.0, AT_RISK), id="it-should-have"
        ),
        pytest.param(
            1_000, since_move(560, pause_seconds=900.0, **PAUSES), FOREVER, id="a-learnt-pause"
        ),
        pytest.param(
            880,
            since_move(560, pause_seconds=900.0, **PAUSES),
            (320.0, AT_RISK),
            id="a-learnt-pause-too-long",
        ),
    ],
)
def test_what_is_kept_briefly_is_near_its_loss_once_a_commit_stops(
    kept: int, row: Row, expected: tuple[float, str]
) -> None:
    found = evaluate_row(row, {"retention_ms": kept * 1_000})
    assert tuple(first(found, name)[0] for name in RISK) == expected


# As docs/metrics.md has them: what is kept in hours, the age and its growth, the time to a loss.
DOCUMENTED = [
    (24, {**STUCK, "time_lag_seconds": 20 * 3_600.0}, (14_400.0, AT_RISK)),
    (24, {"time_lag_seconds": 20 * 3_600.0, "age_growth": 0.0}, FOREVER),
    (24, {"time_lag_seconds": 22 * 3_600.0, "age_growth": 0.0}, (7_200.0, AT_RISK)),
    (24, {"time_lag_seconds": 15 * 3_600.0, "age_growth": 0.25}, (36 * 3_600.0, SAFE)),
    (24, {"time_lag_seconds": 21.5 * 3_600.0, "age_growth": 0.25}, (36_000.0, AT_RISK)),
    (7 * 24, {**STUCK, "time_lag_seconds": 3_600.0}, (7 * DAY - 3_600, SAFE)),
    (7 * 24, {**STUCK, "time_lag_seconds": 6 * DAY + 1}, (DAY - 1, AT_RISK)),
]


@pytest.mark.parametrize(("hours", "row", "expected"), DOCUMENTED)
def test_a_documented_case_is_as_the_manual_says(
    hours: int, row: Row, expected: tuple[float, str]
) -> None:
    found = evaluate_row(row, {"retention_ms": hours * HOUR})
    assert tuple(first(found, name)[0] for name in RISK) == expected


@pytest.mark.parametrize(
    ("row", "topic", "seconds"),
    [
        pytest.param({"consume_rate": 1.0}, {}, 200.0, id="the-log-start-comes-nearer"),
        pytest.param({"consume_rate": 3.0}, {}, NO_LOSS_SECONDS, id="it-keeps-its-distance"),
        pytest.param({"consume_rate": 9.0}, {}, NO_LOSS_SECONDS, id="it-gains-distance"),
        pytest.param({"consume_rate": 2.95}, {}, NO_LOSS_SECONDS, id="it-comes-no-nearer"),
        pytest.param({"consume_rate": 2.9}, {}, 4_000.0, id="it-comes-nearer-slowly"),
        pytest.param({"consume_rate": 3.0, **STUCK}, {}, 400 / 3, id="unmoved-whatever-was-read"),
        pytest.param({"consume_rate": None}, {}, 400 / 3, id="consumption-unknown-counts-as-0"),
        pytest.param({"consume_rate": 3.0, "retention_margin": 150}, {}, 50.0, id="the-last-tenth"),
        pytest.param(
            {"consume_rate": 3.0, "retention_margin": 162},
            {},
            NO_LOSS_SECONDS,
            id="not-yet",
        ),
        pytest.param({}, {"produce_rate": None}, NO_LOSS_SECONDS, id="production-unknown"),
        pytest.param({}, {"start_offset": 0}, NO_LOSS_SECONDS, id="nothing-deleted-so-far"),
        pytest.param({}, {"retention_bytes": -1}, NO_LOSS_SECONDS, id="unlimited"),
        pytest.param({}, {"cleanup_policy": "compact"}, NO_LOSS_SECONDS, id="compacted"),
        pytest.param({"retention_margin": 0}, {}, 0.0, id="at-the-log-start"),
        pytest.param({}, {"produce_rate": 5e-324}, NO_LOSS_SECONDS, id="30-days-at-most"),
        pytest.param(
            {"consume_rate": 1.0}, {"produce_rate": 5e-324}, NO_LOSS_SECONDS, id="nearly-no-records"
        ),
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
    found = evaluate_row(row, {**SIZED, **topic})
    assert first(found, "seconds_until_loss") == (pytest.approx(seconds),)


@pytest.mark.parametrize(
    ("row", "topic", "expected"),
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
    row: Row, topic: Row, expected: tuple[float | None, str | None]
) -> None:
    assert first(evaluate_row(row, topic), *RISK) == expected


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
    found = evaluate_row({**STUCK, **row}, topic)
    assert first(found, "retention_risk") == (risk,)


def test_an_unread_row_keeps_its_risk() -> None:
    kept = {"seconds_until_loss": 7.0, "retention_risk": AT_RISK, "unread_reason": "timeout"}
    found = evaluate_row({**STUCK, "lag": None, **kept}, {"cleanup_policy": None})
    assert first(found, *RISK) == (7.0, AT_RISK)


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
        "end_offset": COUNT,
    }
)


@given(ROW, TOPIC)
def test_a_time_to_loss_lies_between_now_and_30_days(row: Row, topic: Row) -> None:
    with np.errstate(all="raise", under="ignore"):
        found = evaluate_row(row, topic)
    assert all(0 <= seconds <= NO_LOSS_SECONDS for seconds in numbers_of(found, RISK[0]))
    assert (first(found, RISK[0])[0] is None) == (first(found, RISK[1])[0] is None)


# What a group says of the time until it loses records, where some of it is not known.

A_DAY = 24 * HOUR
RULES = Rules()
# retention.ms of topics whose configuration may be read.
Kept: TypeAlias = Mapping[str, int]


def configured(reading: ClusterReading, kept: Kept) -> ClusterReading:
    """The reading with the configuration of these topics; that of others is unknown."""
    topics = reading.topic_partitions
    names = topics.strings("topic").to_list()
    known = np.array([name in kept for name in names], bool)
    return replace(
        reading,
        topic_partitions=topics.with_columns(
            cleanup_policy=Strings.constant("delete", len(names)).only(known),
            retention_ms=Column.optional([kept.get(name) for name in names]),
            retention_bytes=Column(np.full(len(names), -1), known),
        ),
    )


class Shop:
    """Runs one after another, each of which knows what those before it left."""

    def __init__(self, kept: Kept, look_up: LookUp = no_look_up) -> None:
        self.kept, self.look_up = kept, look_up
        self.previous_runs = PreviousRuns.empty()

    def run(self, groups: Groups, topics: Topics, at: int = NOON) -> LagReport:
        reading = configured(a_reading(groups, topics, at=at), self.kept)
        report = evaluate(reading, self.previous_runs, RULES, at, self.look_up)
        ends = select_log_ends(report.snapshot.topic_partitions)
        self.previous_runs = PreviousRuns(report.snapshot, (*self.previous_runs.ends, ends))
        return report


def seconds(report: LagReport, group: str = "g") -> Any:
    return cell(report.snapshot.groups, "seconds_until_loss", consumer_group=group)


# Partition 0 of `near` has lost half of its day when it is read at noon; `far` is caught up.
NEAR = Log([NOON - 23 * HOUR + i * HOUR for i in range(20)])
FAR = Log([NOON - HOUR + i * MINUTE for i in range(50)])
MANY = Log([NOON - HOUR + i for i in range(50_000)])
BROKER = Broker(
    {("near", 0): NEAR, ("far", 0): FAR, ("far", 1): FAR, ("denied", 0): MANY}, unanswered={"odd"}
)
NEAR_LOSS = pytest.approx(3_600, abs=1)


@pytest.mark.parametrize(
    ("case", "alone", "beside_a_risk"),
    [
        pytest.param(
            ({"denied": [0]}, {"denied": [(0, 50_000)]}), None, NEAR_LOSS, id="settings-denied"
        ),
        pytest.param(
            ({"denied": [100]}, {"denied": [(500, 900)]}), 0, 0, id="lost-and-settings-denied"
        ),
        pytest.param(
            ({"odd": [3]}, {"odd": [(0, 10)]}), None, NEAR_LOSS, id="look-ups-get-no-answer"
        ),
        pytest.param(
            ({"far": [50, "denied"]}, {"far": [(0, 50), (0, 50)]}),
            None,
            NEAR_LOSS,
            id="a-commit-never-read",
        ),
        pytest.param(
            ({"far": [50, None]}, {"far": [(0, 50), (0, 50)]}),
            NO_LOSS_SECONDS,
            NEAR_LOSS,
            id="uncommitted-is-apart",
        ),
        pytest.param(
            ({"denied": [9]}, {"denied": [(0, 9)]}),
            NO_LOSS_SECONDS,
            NEAR_LOSS,
            id="settings-denied-and-nothing-unread",
        ),
    ],
)
def test_a_partition_that_is_unknown_hides_no_loss_and_is_not_called_safe(
    case: tuple[dict[str, Any], dict[str, Any]], alone: float | None, beside_a_risk: float
) -> None:
    commits, logs = case
    shop = Shop({"near": A_DAY, "far": A_DAY, "odd": A_DAY}, BROKER)
    calm = shop.run({"g": {"calm": [7], **commits}}, {"calm": [(0, 7)], **logs})
    assert seconds(calm) == alone

    risky = Shop({"near": A_DAY, "far": A_DAY, "odd": A_DAY}, BROKER).run(
        {"g": {"near": [0], **commits}}, {"near": [(0, 20)], **logs}
    )
    assert seconds(risky) == beside_a_risk


def test_an_age_that_nothing_bounds_stays_unknown_in_the_runs_after_a_cold_start() -> None:
    """It is a minute old at least, and may be six days."""
    shop = Shop({"odd": 7 * A_DAY, "far": A_DAY})
    groups: Groups = {"g": {"odd": [3], "far": [50]}}
    for run in range(5):
        report = shop.run(groups, {"odd": [(0, 10)], "far": [(0, 50)]}, NOON + run * MINUTE)
        assert seconds(report) is None


def test_a_group_whose_partitions_are_all_known_to_be_safe_says_thirty_days() -> None:
    shop = Shop({"far": 7 * A_DAY}, BROKER)
    report = shop.run({"g": {"far": [50, 40]}}, {"far": [(0, 50), (0, 50)]})
    assert seconds(report) == NO_LOSS_SECONDS
    assert cell(report.snapshot.groups, "lag", consumer_group="g") == 10


@pytest.mark.parametrize(
    ("last_read", "expected"),
    [
        pytest.param(5 * MINUTE, 3_300, id="counted-down-within-the-window"),
        pytest.param(11 * MINUTE, None, id="unknown-after-it"),
    ],
)
@pytest.mark.parametrize("whole", [True, False], ids=["group", "partition"])
def test_a_risk_that_was_last_seen_counts_down_for_one_window(
    last_read: int, expected: float | None, whole: bool
) -> None:
    shop = Shop({"near": A_DAY, "far": A_DAY}, BROKER)
    groups: Groups = {"g": {"near": [0], "far": [50]}}
    shop.run(groups, {"near": [(0, 20)], "far": [(0, 50)]})
    unread = {"g": TIMEOUT} if whole else groups
    topics: Topics = {"near": [(0, 20) if whole else TIMEOUT], "far": [(0, 50)]}
    report = shop.run(unread, topics, NOON + last_read)
    assert seconds(report) == (expected and pytest.approx(expected, abs=1))


def test_a_partition_that_is_not_read_may_come_to_be_at_risk_meanwhile() -> None:
    kept = 46 * HOUR + 10 * MINUTE  # A risk from half of it on, five minutes from noon.
    shop = Shop({"near": kept}, BROKER)
    groups: Groups = {"g": {"near": [0]}}
    assert seconds(shop.run(groups, {"near": [(0, 20)]})) == NO_LOSS_SECONDS
    report = shop.run(groups, {"near": [TIMEOUT]}, NOON + 9 * MINUTE)
    assert seconds(report) == pytest.approx((kept - 23 * HOUR) / 1_000 - 9 * 60, abs=1)


def keeping_its_distance(behind: int, kept: int, runs: int = 40) -> LagReport:
    """A record a minute, read when it is so many minutes old, in the last of so many runs."""
    count = behind + runs + 1
    log = Log([NOON - (behind - i) * MINUTE for i in range(count)])
    shop = Shop({"t": kept}, Broker({("t", 0): log}))
    for run in range(runs):
        at = NOON + run * MINUTE
        report = shop.run({"g": {"t": [run]}}, {"t": [(0, run + behind)]}, at)
    return report


@pytest.mark.parametrize(
    ("behind", "kept", "left"),
    [
        pytest.param(23 * 60 + 59, A_DAY, 60, id="a-minute-before"),
        pytest.param(22 * 60, A_DAY, 2 * 3_600, id="two-hours-before"),
        pytest.param(21 * 60, A_DAY, NO_LOSS_SECONDS, id="three-hours-before"),
        pytest.param(25 * 60, A_DAY, 0, id="overdue"),
        pytest.param(57, HOUR, 180, id="of-an-hour"),
        pytest.param(53, HOUR, NO_LOSS_SECONDS, id="of-an-hour-with-room"),
        pytest.param(3 * 24 * 60 - 120, 3 * A_DAY, 2 * 3_600, id="of-days"),
        pytest.param(3 * 24 * 60 - 180, 3 * A_DAY, NO_LOSS_SECONDS, id="of-days-with-room"),
    ],
)
def test_a_group_that_keeps_its_distance_is_at_risk_in_the_last_tenth(
    behind: int, kept: int, left: float
) -> None:
    report = keeping_its_distance(behind, kept)
    row = report.snapshot.group_partitions
    assert seconds(report) == pytest.approx(left, abs=2)
    assert row.numbers("seconds_until_loss").to_list() == [pytest.approx(left, abs=2)]
    risk = "SAFE" if left == NO_LOSS_SECONDS else "AT_RISK"
    assert row.strings("retention_risk").to_list() == [risk]
