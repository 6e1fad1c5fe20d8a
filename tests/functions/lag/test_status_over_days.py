# SPDX-License-Identifier: Apache-2.0
"""A day of runs, one a minute, or four: who keeps a status, and after how many it changes."""

from __future__ import annotations

import numpy as np
import pytest

from kafka_lag.contract import OK, PAUSING, REWIND, STALL, STOP, WARN
from kafka_lag.lag.group_settings import Rules
from tests.functions.lag.simulated import (
    A_RUN,
    MINUTES,
    Behaviour,
    StatusHistory,
    batches,
    behaviour,
    behind,
    bursts,
    produced,
    random_bursts,
    simulated,
    stopped_at,
    worked_off,
)

HOUR, DAY = 60, 1_440
# The run in which trouble begins.
NOON = 720
NOISY, EVEN = produced(600, seed=1), produced(600)
KEEPING_UP = behind(EVEN, 15)
STUCK = stopped_at(KEEPING_UP, NOON)
REBALANCING = MINUTES // 2 % 2 == 1
HOURS_OF_SILENCE = bursts(40_000, every_minutes=180)
ONE_AN_HOUR = np.cumsum(np.arange(len(MINUTES)) % (HOUR * 4) == 0)


def slower(share: float) -> Behaviour:
    return behaviour(EVEN, worked_off(EVEN, lambda run: 600 * (share if run >= NOON else 1.0)))


def back_by(records: int) -> Behaviour:
    again = worked_off(EVEN, lambda run: 1_800.0 * (run >= NOON), int(STUCK[-1]) - records)
    return behaviour(EVEN, np.where(MINUTES < NOON, KEEPING_UP, again))


HEALTHY = {
    "steady": behaviour(NOISY, behind(NOISY, 15)),
    "micro-batch of 5 minutes": behaviour(NOISY, batches(NOISY, 5)),
    "micro-batch of 8 minutes": behaviour(NOISY, batches(NOISY, 8)),
    "micro-batch of 10 minutes, 3 late": behaviour(NOISY, behind(batches(NOISY, 10), 180)),
    "bursty": behaviour(HOURS_OF_SILENCE, worked_off(HOURS_OF_SILENCE, lambda _: 10_000)),
    "bursty, 30 minutes of work": behaviour(
        HOURS_OF_SILENCE, worked_off(HOURS_OF_SILENCE, lambda _: 1_333)
    ),
    "one record an hour": behaviour(ONE_AN_HOUR, behind(ONE_AN_HOUR, 15)),
    "endless rebalance": behaviour(NOISY, behind(NOISY, 15), REBALANCING),
}
BURSTS = {
    f"random bursts, {share:.0%} of capacity": behaviour(end, worked_off(end, lambda _: 600))
    for share in (0.7, 0.8, 0.9)
    for end in [random_bursts(600, share, every_minutes=20, seed=int(share * 10))]
}
BATCHES = {
    "every 20 minutes": behaviour(NOISY, batches(NOISY, 20)),
    "hourly": behaviour(NOISY, batches(NOISY, HOUR)),
    "hourly, 20 minutes of work": behaviour(NOISY, batches(NOISY, HOUR, 20)),
}


def checkpoints(every_minutes: int, missed: int = -1, died: int = DAY) -> Behaviour:
    """Flink's source: at the end of each checkpoint it commits what it had read as that began, and
    it has no members. One checkpoint, so many in, fails; the job dies in this minute.
    """
    random, committed = np.random.default_rng(every_minutes), np.zeros(len(NOISY), np.int64)
    for number in range(1, died // every_minutes):
        begins = number * every_minutes * A_RUN
        # Seconds that a checkpoint takes, in steps.
        ends = begins + int(random.integers(1, 6))
        if number != missed:
            committed[ends:] = NOISY[begins]
    return behaviour(NOISY, committed, np.ones(len(NOISY), bool))


FREQUENT = {f"a checkpoint in {every} minutes": checkpoints(every) for every in (1, 3, 5, 8)}
SELDOM = {f"a checkpoint in {every} minutes": checkpoints(every, 20) for every in (15, 30)}
DIES = {f"{every} minutes, dies": checkpoints(every, died=NOON) for every in (15, 30)}
DAILY = {
    "daily": behaviour(NOISY, batches(NOISY, DAY)),
    "daily, 4 hours of work": behaviour(NOISY, batches(NOISY, DAY, 4 * HOUR)),
}
TROUBLED = {
    "half as fast": slower(0.5),
    "a fifth slower": slower(0.8),
    "stuck": behaviour(EVEN, STUCK),
    "stopped": behaviour(EVEN, STUCK, MINUTES >= NOON),
    "stuck in an endless rebalance": behaviour(EVEN, STUCK, REBALANCING),
    "rewound": back_by(120 * 600),
    "back after 6 hours": behaviour(EVEN, worked_off(EVEN, lambda run: 1_200.0 * (run >= 360))),
    "back, and hardly faster than is written": behaviour(
        EVEN, worked_off(EVEN, lambda run: 630.0 * (run >= 360))
    ),
}
BACKLOGS = {
    f"half an hour behind {rate} a minute": behaviour(end, behind(end, 30 * 60))
    for rate in (600, 100, 30, 10)
    for end in [produced(rate, seed=rate)]
}


@pytest.fixture(scope="module")
def history() -> StatusHistory:
    flink = {**FREQUENT, **SELDOM, **DIES}
    groups = {**HEALTHY, **BURSTS, **BATCHES, **TROUBLED, **BACKLOGS, **flink}
    return simulated(groups, runs=DAY)


@pytest.fixture(scope="module")
def four_days() -> StatusHistory:
    return simulated(DAILY)


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_group_is_ok_in_every_run(history: StatusHistory, name: str) -> None:
    assert set(history.statuses[name][1:]) == {OK}


@pytest.mark.parametrize("name", BURSTS)
def test_a_group_that_works_off_random_bursts_is_hardly_ever_slow(
    history: StatusHistory, name: str
) -> None:
    assert len(history.changes(name)) <= 4


@pytest.mark.parametrize(
    ("name", "known"),
    [
        pytest.param("every 20 minutes", 60, id="every-20-minutes"),
        pytest.param("hourly", 3 * HOUR, id="hourly"),
        pytest.param("hourly, 20 minutes of work", 3 * HOUR, id="hourly-20-minutes-of-work"),
    ],
)
def test_a_batch_job_is_ok_from_the_end_of_its_third_pause(
    history: StatusHistory, name: str, known: int
) -> None:
    assert set(history.statuses[name][known:]) == {OK}
    assert PAUSING in history.reasons[name][known:]


@pytest.mark.parametrize("name", FREQUENT)
def test_commits_at_checkpoints_within_the_window_are_ok(history: StatusHistory, name: str) -> None:
    assert set(history.statuses[name][1:]) == {OK}


@pytest.mark.parametrize(("name", "every"), list(zip(SELDOM, (15, 30), strict=True)))
def test_commits_at_checkpoints_beyond_the_window_are_ok_from_the_fourth_on(
    history: StatusHistory, name: str, every: int
) -> None:
    statuses = history.statuses[name]
    assert set(statuses[4 * every + 2 : 20 * every]) == {OK}
    assert STOP in statuses[: 3 * every]


@pytest.mark.parametrize(("name", "every"), list(zip(SELDOM, (15, 30), strict=True)))
def test_a_checkpoint_that_fails_is_over_before_a_status_is_held(
    history: StatusHistory, name: str, every: int
) -> None:
    wrong = [status for status in history.statuses[name][20 * every :] if status != OK]
    assert len(wrong) < Rules().hold


@pytest.mark.parametrize(("name", "every"), list(zip(DIES, (15, 30), strict=True)))
def test_a_job_whose_checkpoints_end_is_reported_within_two_of_them(
    history: StatusHistory, name: str, every: int
) -> None:
    last = NOON - every
    assert set(history.statuses[name][4 * every + 2 : last]) == {OK}
    assert history.statuses[name][last + 2 * every + 3] == STOP


@pytest.mark.thorough
@pytest.mark.parametrize("name", DAILY)
def test_a_daily_job_is_ok_from_the_end_of_its_third_pause(
    four_days: StatusHistory, name: str
) -> None:
    assert set(four_days.statuses[name][3 * DAY :]) == {OK}
    assert PAUSING in four_days.reasons[name][3 * DAY :]


def stalls_of_three_pauses(every: int) -> list[tuple[int, str | None]]:
    stalls = [[(n * every + 11, STALL), ((n + 1) * every, OK)] for n in range(3)]
    return [change for stall in stalls for change in stall]


def test_the_first_three_pauses_of_a_batch_job_are_stalls(history: StatusHistory) -> None:
    assert history.changes("hourly") == stalls_of_three_pauses(HOUR)


@pytest.mark.thorough
def test_the_first_three_pauses_of_a_daily_job_are_stalls(four_days: StatusHistory) -> None:
    assert four_days.changes("daily") == stalls_of_three_pauses(DAY)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        pytest.param("half as fast", [(21, WARN)], id="half-as-fast"),
        pytest.param("a fifth slower", [(52, WARN)], id="a-fifth-slower"),
        pytest.param("stuck", [(11, STALL)], id="stuck"),
        pytest.param("stopped", [(11, STOP)], id="stopped"),
        pytest.param("stuck in an endless rebalance", [(11, STALL)], id="stuck-while-rebalancing"),
        pytest.param("rewound", [(0, REWIND), (11, OK)], id="rewound-and-catching-up"),
    ],
)
def test_trouble_is_told_once_after_so_many_runs(
    history: StatusHistory, name: str, changes: list[tuple[int, str]]
) -> None:
    assert history.changes(name, NOON) == [(NOON + runs, status) for runs, status in changes]


def test_a_group_that_comes_back_is_ok_once_its_backlog_shrinks(history: StatusHistory) -> None:
    assert history.changes("back after 6 hours", 360) == [(360, OK)]


def test_a_group_that_comes_back_too_slow_is_slow_with_its_second_commit(
    history: StatusHistory,
) -> None:
    changes = history.changes("back, and hardly faster than is written", 360)
    assert changes == [(360, OK), (361, WARN)]


@pytest.mark.parametrize(
    ("rate", "most"),
    [
        pytest.param(600, 0, id="600-a-minute"),
        pytest.param(100, 0, id="100-a-minute"),
        pytest.param(30, 0, id="30-a-minute"),
        pytest.param(10, 20, id="10-a-minute-is-mostly-noise"),
    ],
)
def test_a_constant_backlog_stays_slow_however_its_rates_jitter(
    history: StatusHistory, rate: int, most: int
) -> None:
    name = f"half an hour behind {rate} a minute"
    assert len(history.changes(name, HOUR * 2)) <= most
    assert history.statuses[name][-1] == WARN
