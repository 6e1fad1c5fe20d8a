# SPDX-License-Identifier: Apache-2.0
"""Outages are no usual pauses, jobs that pause again and again are no outages: whole runs."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pytest

from dev.benchmarks.pauses import whole_runs
from dev.benchmarks.pauses.tracks import BATCHES
from kafka_lag.contract import OK, PAUSING, STALL, WARN
from tests.functions.lag.simulated import (
    A_MINUTE,
    MINUTES,
    Every,
    Span,
    a_job,
    batches,
    behaviour,
    minutes_behind,
    produced,
    report_statuses,
    simulated,
    steady,
    stopped_at,
)

HOUR, DAY, WEEK = 60, 1_440, 10_080
EVERY_MINUTE, HALF_HOURLY, TWO_HOURLY = Every(), Every(30, 60), Every(120, 240)
FOR_GOOD = 99 * WEEK
DEAD = 15 * DAY

Statuses: TypeAlias = dict[int, tuple[str | None, str | None]]

OUTAGES: dict[str, list[Span]] = {
    "two of 2 h on two days": [(DAY, DAY + 120), (2 * DAY, 2 * DAY + 120)],
    "two of 8 h on two days": [(DAY, DAY + 480), (2 * DAY, 2 * DAY + 480)],
    "three of 2 h every other day": [(d * DAY, d * DAY + 120) for d in (1, 3, 5)],
}


LONGER = "three of 2 h every other day, then 4 h"


def stuck_after(name: str) -> int:
    """Half a day after the last outage, stuck for good."""
    return OUTAGES[name][-1][1] + 12 * HOUR


def first(runs: Statuses, status: str, since: int) -> int:
    """Minutes until it is reported."""
    return next(m - since for m, (found, _) in runs.items() if m >= since and found == status)


@pytest.fixture(scope="module")
def failing() -> dict[str, Statuses]:
    groups = {
        name: steady([*outages, (stuck_after(name), FOR_GOOD)], every=30)
        for name, outages in OUTAGES.items()
    }
    outages = OUTAGES["three of 2 h every other day"]
    groups[LONGER] = steady([*outages, (7 * DAY, 7 * DAY + 4 * HOUR)], every=30)
    return report_statuses(groups, 7 * DAY + 5 * HOUR, HALF_HOURLY)


@pytest.mark.thorough
@pytest.mark.parametrize("name", OUTAGES)
def test_a_group_that_is_stuck_after_outages_is_reported_as_soon_as_without(
    failing: dict[str, Statuses], name: str
) -> None:
    assert first(failing[name], STALL, stuck_after(name)) == HALF_HOURLY.window


@pytest.mark.thorough
def test_an_outage_that_is_longer_than_three_alike_is_reported_as_soon(
    failing: dict[str, Statuses],
) -> None:
    assert first(failing[LONGER], STALL, 7 * DAY) == HALF_HOURLY.window


def test_outages_of_a_quarter_of_an_hour_teach_nothing() -> None:
    outages = [(30, 45), (80, 95), (125, FOR_GOOD)]
    runs = report_statuses({"g": steady(outages)}, 145, EVERY_MINUTE)["g"]
    assert first(runs, STALL, 125) == EVERY_MINUTE.window


@pytest.mark.thorough
def test_a_short_stop_each_noon_of_a_group_that_keeps_up_is_reported_every_day() -> None:
    """As docs/metrics.md has it under "Recurring pauses"; runs are ten minutes apart here."""
    noons = [day * DAY + 12 * HOUR for day in range(4)]
    stops = [(noon, noon + 40) for noon in noons]
    runs = report_statuses({"g": steady(stops, every=10)}, noons[-1] + HOUR, Every(10, 10))["g"]
    assert all(first(runs, STALL, noon) < 40 for noon in noons)
    assert not any(why == PAUSING for _, why in runs.values())


@pytest.mark.thorough
def test_gaps_of_the_collector_are_no_pauses_of_a_group() -> None:
    gaps = [(50, 70), (90, 110)]
    runs = report_statuses({"g": minutes_behind(35)}, 140, EVERY_MINUTE, gaps, known=60)["g"]
    assert {status for minute, (status, _) in runs.items() if minute >= 45} == {WARN}


@pytest.fixture(scope="module")
def weeks() -> dict[str, Statuses]:
    weekends = [(w * WEEK + 5 * DAY, (w + 1) * WEEK) for w in range(7)]
    daily = a_job(DAY)
    groups = {
        "weekly": a_job(WEEK, 4 * HOUR),
        "weekdays": steady(weekends, every=120),
        "daily": daily,
        "dead": lambda minute, committed: committed if minute > DEAD else daily(minute, committed),
    }
    return report_statuses(groups, 4 * WEEK + 6 * HOUR, TWO_HOURLY)


@pytest.mark.parametrize(
    ("name", "known"), [("weekly", 3 * WEEK), ("weekdays", 3 * WEEK), ("daily", 3 * DAY)]
)
def test_a_pause_is_usual_once_three_were_alike(
    weeks: dict[str, Statuses], name: str, known: int
) -> None:
    later = [status for minute, status in weeks[name].items() if minute > known]
    assert {status for status, _ in later} == {OK}
    assert (OK, PAUSING) in later


@pytest.mark.parametrize("name", ["weekly", "weekdays", "daily"])
def test_the_first_pauses_of_a_job_are_reported(weeks: dict[str, Statuses], name: str) -> None:
    assert STALL in {status for minute, (status, _) in weeks[name].items() if minute < WEEK}


def test_a_dead_job_is_reported_within_two_of_its_periods(weeks: dict[str, Statuses]) -> None:
    assert first(weeks["dead"], STALL, DEAD) <= 2 * DAY + TWO_HOURLY.minutes


@pytest.mark.parametrize(("share", "status"), [(0.7, WARN), (1.0, OK)])
def test_the_rhythm_of_a_job_excuses_it_while_it_reads_what_is_written(
    share: float, status: str
) -> None:
    of_an_hour = int(share * HOUR * A_MINUTE)

    def hourly(minute: int, committed: int) -> int:
        return committed + of_an_hour if minute and minute % HOUR == 0 else committed

    runs = report_statuses({"g": hourly}, 7 * HOUR, Every(10, 30))["g"]
    # The fourth pause is the first that is known.
    assert {found for minute, (found, _) in runs.items() if minute >= 3 * HOUR + 40} == {status}


@pytest.mark.thorough
def test_an_hourly_job_that_works_three_quarters_of_the_time_changes_nothing_once_known() -> None:
    (hourly,) = [batch for batch in BATCHES if batch.name == "hourly, 45 minutes of work"]
    track = hourly.track(np.random.default_rng(0), 1, ()).cut(5 * HOUR)
    status = whole_runs.evaluate_tracks([track]).status[4 * HOUR :, 0]
    assert {whole_runs.STATUSES[code] for code in status} == {OK}


@pytest.mark.thorough
def test_an_hourly_job_that_dies_is_reported_as_the_manual_says() -> None:
    """docs/metrics.md: 10 minutes of work an hour; three pauses 11 minutes after the last commit,
    then none until it has paused for 100 minutes."""
    end, last = produced(A_MINUTE), 6 * HOUR + 10
    job = stopped_at(batches(end, HOUR, 10), last)
    history = simulated({"job": behaviour(end, job)}, runs=last + 2 * HOUR)
    reported = [run for run, status in history.changes("job") if status == STALL]
    assert reported == [21, HOUR + 21, 2 * HOUR + 21, last + 99]


@pytest.mark.thorough
def test_work_that_is_longer_once_is_reported_until_a_job_is_well_known() -> None:
    """docs/metrics.md: 45 minutes of work in place of 10, with two pauses counted and with four."""
    end = produced(A_MINUTE)
    usual, longer = batches(end, HOUR, 10), batches(end, HOUR, 45)
    hours = {"new": 4, "known": 8}
    jobs = {
        name: behaviour(end, np.where(hour == MINUTES // HOUR, longer, usual))
        for name, hour in hours.items()
    }
    history = simulated(jobs, runs=9 * HOUR)
    reported = {
        name: [run for run, status in history.changes(name, since=3 * HOUR) if status == STALL]
        for name in jobs
    }
    assert reported == {"new": [4 * HOUR + 56], "known": []}
