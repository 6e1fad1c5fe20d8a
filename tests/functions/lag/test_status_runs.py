# SPDX-License-Identifier: Apache-2.0
"""The status of one partition from run to run: what sets it, why, and for how long."""

from __future__ import annotations

import pytest

from kafka_lag.contract import (
    BEYOND_END,
    ERR,
    FALLING_BEHIND,
    NO_MEMBER,
    OK,
    REWIND,
    SLOW,
    STALL,
    STOP,
    TIMEOUT,
    WARN,
)
from tests.builders import HOUR, MINUTE, NOON
from tests.functions.lag.consecutive import Runs, group, partition
from tests.functions.lag.time_index.brokers import Broker, Log
from tests.functions.lag.time_lag.days import SECOND

SAID = ("status", "status_reason")
# Records of a group that stopped hours ago: an index dates them in the first run.
ABANDONED = Broker({("t", 0): Log([NOON - 5 * HOUR + i * MINUTE for i in range(240)])})


@pytest.mark.parametrize(
    "grown_to", [pytest.param(400, id="beyond-the-end"), pytest.param(5_000, id="within-the-log")]
)
def test_a_commit_of_another_topic_sets_no_status_when_it_is_reset(grown_to: int) -> None:
    runs = Runs()
    for minute in range(3):
        runs.run(minute, 1_000, 1_000)
    kept = [
        partition(runs.run(3 + n, 1_000, grown_to, topic_ids={"t": "another"}), *SAID)
        for n in range(2)
    ]
    told = [
        partition(
            runs.run(5 + n, n * 100, grown_to + n * 100, topic_ids={"t": "another"}), "status"
        )
        for n in range(15)
    ]

    assert kept == [(ERR, BEYOND_END)] * 2 if grown_to < 1_000 else [(None, None), (OK, None)]
    assert (REWIND,) not in told


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
    told = [runs.run(5 + n, 0, 5_000, topic_ids=another) for n in range(3)]

    assert (REWIND,) not in [partition(report, "status") for report in told]


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


def test_a_commit_kept_from_another_topic_that_nobody_moves_is_told_after_the_window() -> None:
    runs, another = Runs(), {"t": "another"}
    runs.run(0, 1_000, 1_000)
    told = [
        partition(runs.run(1 + n, 1_000, 5_000 + n, topic_ids=another), "status")[0]
        for n in range(13)
    ]

    assert told[:2] == [None, OK]
    assert told[-1] == STALL


@pytest.mark.parametrize(("members", "after"), [(0, STOP), (1, STALL)])
def test_a_rewind_is_followed_by_a_stop_in_the_next_run(members: int, after: str) -> None:
    runs = Runs()
    for minute in range(60):
        runs.run(minute, minute * 100, minute * 100)
    told = [
        partition(runs.run(60 + n, 100, 6_000 + n * 100, members=members), "status")[0]
        for n in range(15)
    ]

    assert told == [REWIND] * 11 + [after] * 4


def test_that_nobody_reads_old_records_is_said_from_the_first_reading() -> None:
    runs = Runs(look_up=ABANDONED)
    reports = [runs.run(minute, 100, 240, members=0, state="Empty") for minute in range(13)]

    told = [partition(report, *SAID) for report in reports]
    assert told == [(None, NO_MEMBER)] + [(WARN, NO_MEMBER)] * 10 + [(STOP, None)] * 2
    told = [group(report, *SAID) for report in reports]
    assert told == [(None, NO_MEMBER)] + [(WARN, NO_MEMBER)] * 10 + [(ERR, None)] * 2
    assert group(reports[0], "last_status", "held_status", "incident_since") == (None,) * 3


def test_of_the_first_reading_nothing_is_held() -> None:
    runs = Runs(look_up=ABANDONED)
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

    assert partition(report, *SAID) == (None, None)
    assert group(report, *SAID) == (None, None)


@pytest.mark.parametrize(
    ("speed", "reason"),
    [pytest.param(15, FALLING_BEHIND, id="grows"), pytest.param(21, SLOW, id="hardly-shrinks")],
)
def test_a_warning_says_whether_the_backlog_shrinks(speed: int, reason: str) -> None:
    records = [NOON - 5 * HOUR + i * 3 * SECOND for i in range(6_200)]
    runs = Runs(look_up=Broker({("t", 0): Log(records)}))
    said = {
        partition(runs.run(minute, 1_000 + minute * speed, 6_000 + minute * 20), *SAID)
        for minute in range(15)
    }

    assert said == {(None, None), (WARN, reason)}


def test_a_reader_that_is_no_member_is_slow_and_not_absent() -> None:
    records = [NOON - 5 * HOUR + i * 3 * SECOND for i in range(6_200)]
    runs = Runs(look_up=Broker({("t", 0): Log(records)}))
    said = [
        partition(runs.run(minute, 1_000 + minute * 21, 6_000 + minute * 20, members=0), *SAID)
        for minute in range(5)
    ]

    assert said == [(None, NO_MEMBER)] + [(WARN, SLOW)] * 4
