# SPDX-License-Identifier: Apache-2.0
"""Groups that read less than is written: reported in time, once, and for as long as it lasts.

However often they commit, and however few look-ups date their records.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from dev.benchmarks.pauses.slow_groups import COMMITS, SOON, SlowGroup, slow, slow_groups
from dev.benchmarks.pauses.whole_runs import STATUSES, evaluate_tracks
from kafka_lag.contract import (
    FALLING_BEHIND,
    NO_MEMBER,
    OK,
    PAUSING,
    SLOW,
    STALL,
    STOP,
    WARN,
)
from kafka_lag.lag.group_settings import ByName, Rules
from tests.builders import HOUR, MINUTE, NOON
from tests.functions.lag.builders import SECOND, Days, Runs, group, partition, time_lags
from tests.functions.lag.time_index_fake import Broker, Log

# Until then all keep up; a group that commits every 15 minutes is known to pause by then.
SINCE = 60
LONGEST = 120 + 3 * 15


@dataclass(frozen=True, slots=True)
class Reported:
    """A slow group and its status, run by run."""

    group: SlowGroup
    statuses: list[str]


@pytest.fixture(scope="module")
def reported() -> dict[str, Reported]:
    groups = slow_groups(SINCE + LONGEST + 20, SINCE)
    codes = evaluate_tracks([one.track for one in groups]).status
    return {
        one.name: Reported(one, [STATUSES[code] for code in column])
        for one, column in zip(groups, codes.T, strict=True)
    }


@pytest.mark.parametrize("commits", COMMITS)
@pytest.mark.parametrize("share", SOON)
def test_a_group_that_falls_behind_is_slow_however_seldom_it_commits(
    reported: dict[str, Reported], share: str, commits: str
) -> None:
    one = reported[f"reads {share} of it, commits {commits}"]
    assert WARN in one.statuses[SINCE : SINCE + one.group.soon]
    assert OK not in one.statuses[SINCE + one.group.soon :]


SHARES = (0.2, 0.45, 0.7, 0.8, 0.9, 0.97)


def report_by_budget(runs: int, budget: int) -> np.ndarray:
    """Status codes of groups that read these shares, with so many look-ups a run."""
    rngs = (np.random.default_rng([1, number]) for number in range(len(SHARES)))
    often = COMMITS["every 15 s"]
    tracks = [slow(rng, runs, 0, share, often) for rng, share in zip(rngs, SHARES, strict=True)]
    return evaluate_tracks(tracks, look_ups=budget).status


def first_warnings(codes: np.ndarray) -> np.ndarray:
    first: np.ndarray = (codes == STATUSES.index(WARN)).argmax(axis=0)
    return first


def check_budgets(runs: int) -> None:
    enough = report_by_budget(runs, 10_000)
    for few in (report_by_budget(runs, 20), report_by_budget(runs, 0)):
        late = first_warnings(few) - first_warnings(enough)
        assert (np.abs(late) <= 3).all()
        assert ((np.diff(few, axis=0) != 0).sum(axis=0) <= 2).all()
    assert ((np.diff(enough, axis=0) != 0).sum(axis=0) <= 2).all()


def test_a_slow_group_is_reported_once_and_in_time_however_few_look_ups_there_are() -> None:
    check_budgets(110)


@pytest.mark.thorough
def test_it_is_so_over_eight_hours() -> None:
    check_budgets(480)


# One partition, run by run.


def test_a_reader_that_is_no_member_and_commits_in_every_second_run_is_slow_throughout() -> None:
    records = [NOON - 5 * HOUR + i * 3 * SECOND for i in range(6_200)]
    runs = Runs(look_up=Broker({("t", 0): Log(records)}))
    found = [
        partition(
            runs.run(minute, 1_000 + minute // 2 * 42, 6_000 + minute * 20, members=0),
            "status",
            "status_reason",
        )
        for minute in range(60)
    ]

    assert found[:2] == [(None, NO_MEMBER), (WARN, NO_MEMBER)]
    # By the rates, which need some minutes.
    assert found[2:] == [(WARN, FALLING_BEHIND)] * 14 + [(WARN, SLOW)] * 44


def test_the_reason_of_a_reader_that_is_no_member_does_not_alternate() -> None:
    runs = Runs(rules=Rules(lookup_budget=0))
    reasons = [
        partition(
            runs.run(minute, 1_000 + minute // 2 * 10, 6_000 + minute * 20, members=0),
            "status_reason",
        )[0]
        for minute in range(60)
    ]

    assert set(reasons[30:]) == {FALLING_BEHIND}


CLEANED = ("status", "time_lag_seconds", "time_lag_error_seconds", "time_lag_method")


def test_a_stop_on_a_compacted_topic_ends_by_no_cleaning_but_by_a_commit() -> None:
    log = Log([NOON - HOUR + i * 10 * SECOND for i in range(360)])
    broker, days = Broker({("t", 0): log}), Days(policy="compact")
    found: list[str | None] = []
    for minute in range(200):
        log.times.append(NOON + minute * MINUTE)
        if minute == 90:
            log.dead.update(range(100, log.end - 2))
        commit = log.end - 1 if minute >= 190 else 100
        report = days.run(NOON + minute * MINUTE, [commit], (0, log.end), broker, members=0)
        found.append(partition(report, "status")[0])
        if minute == 189:
            age = group(report, "time_lag_seconds")[0]

    assert set(found[11:190]) == {STOP}
    assert age < 2 * HOUR / SECOND
    assert found[190] == OK


def test_between_two_datings_a_compacted_age_may_be_as_small_as_0() -> None:
    log = Log([NOON - HOUR + i * 10 * SECOND for i in range(360)])
    broker, days = Broker({("t", 0): log}), Days(policy="compact")
    runs = [days.run(NOON + m * MINUTE, [100], (0, log.end), broker) for m in range(61)]

    for report in runs[1:]:
        ((age, error, method),) = time_lags(report)
        assert error == (age if method == "carried" else 0.0)
    assert [time_lags(report)[0][2] for report in runs].count("record_time") in (1, 2)


@pytest.mark.parametrize(
    ("commit", "end", "allowed", "status"),
    [
        pytest.param(100, 6_040, 0, STALL, id="nothing"),
        pytest.param(101, 6_040, 0, OK, id="a-commit"),
        pytest.param(100, 6_040, 9_000, OK, id="a-lag-that-is-allowed"),
    ],
)
def test_a_stall_ends_by_a_commit_or_by_a_lag_that_is_allowed(
    commit: int, end: int, allowed: int, status: str
) -> None:
    runs = Runs()
    for minute in range(30):
        runs.run(minute, 100, 5_000 + minute * 20)
    assert partition(runs.run(30, 100, 5_600), "status") == (STALL,)
    runs.rules = Rules(allowed_lag=ByName.of([("t", allowed)]))
    assert partition(runs.run(31, commit, end), "status") == (status,)


@pytest.mark.parametrize("clock", [0, 30 * MINUTE, -30 * MINUTE], ids=["right", "late", "early"])
def test_runs_that_are_late_or_a_wrong_clock_teach_no_pauses(clock: int) -> None:
    runs, found = Runs(rules=Rules(lookup_budget=0)), []
    for minute in range(130):
        # 35 minutes behind; every 40 minutes the clock is wrong for a while.
        wrong = clock if minute >= 60 and minute % 40 < 3 else 0
        commit = max(minute - 35, 0) * 20
        report = runs.run(minute, commit, 1_000 + minute * 20, clock=wrong)
        found.append(partition(report, "pauses_seen", "status_reason"))

    assert {seen for seen, _ in found[60:]} == {None}
    assert PAUSING not in {reason for _, reason in found}


def test_a_healthy_group_that_commits_every_5_minutes_is_ok_at_15_s_between_runs() -> None:
    runs = Runs(rules=Rules().at_interval(15_000))
    found = set()
    for quarter in range(4 * 45):
        minute = quarter // 4
        commit = 1_000 + minute // 5 * 5 * 20
        found.add(partition(runs.run(quarter / 4, commit, 1_000 + minute * 20), "status")[0])

    assert found <= {None, OK}
