# SPDX-License-Identifier: Apache-2.0
"""Jobs that begin once so many records are there pause for unlike times, and are no outages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dev.benchmarks.pauses.by_count import ByCount
from kafka_lag.contract import GROUP_PARTITIONS, OK, PAUSING, STALL
from kafka_lag.lag.batches import find_expected_batches, learn_batches
from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.pauses import Move
from tests.builders import NOON
from tests.functions.lag.simulated import (
    STEPS,
    Behaviour,
    StatusHistory,
    behaviour,
    simulated,
    stopped_at,
    worked_off,
)

COUNT = 3_000
# Records a minute: a batch takes 20 minutes in two hours of six, and two hours in the others.
FAST, SLOW = 150.0, 25.0
HOUR, ROUND = 60, 360
# Its third round, when both are known; the last of its hours are slow.
KNOWN, RUNS = 2 * ROUND, 4 * ROUND
# The step of a track is two of a simulation.
_STEPS = 2


def rates(days: int) -> np.ndarray:
    minutes = np.arange(days * 1_440 * 2) // 2
    return np.where(minutes % ROUND < 2 * HOUR, FAST, SLOW)


def written(_: np.random.Generator, days: int) -> np.ndarray:
    """Evenly at the speed of the hour."""
    ends: np.ndarray = np.floor(np.cumsum(rates(days) / 2)).astype(np.int64)
    return ends


def by_count(noise: float = 0.0) -> Behaviour:
    track = ByCount(written, COUNT, noise).track(np.random.default_rng(0), 4)
    return behaviour(np.repeat(track.end, _STEPS)[:STEPS], np.repeat(track.committed, _STEPS))


def dead_from(minute: int) -> Behaviour:
    job = by_count()
    return behaviour(job.end, stopped_at(job.committed, minute))


def follows(*outages: tuple[int, int]) -> Behaviour:
    """Reads along, but for outages, in minutes; in the end for good."""
    end = by_count().end

    def speed(minute: int) -> float:
        return 0.0 if any(since <= minute < until for since, until in outages) else 4 * FAST

    return behaviour(end, worked_off(end, speed))


DEAD_FAST, DEAD_SLOW = KNOWN + 70, KNOWN + 4 * HOUR
# Each ends at about 3,000 records, which took 20 minutes, two hours, and so on.
LIKE_BATCHES = ((10, 30), (130, 250), (370, 390), (490, 610))
STUCK = 760


@pytest.fixture(name="history", scope="module")
def _history() -> StatusHistory:
    cases = {
        "job": by_count(),
        "noisy job": by_count(0.1),
        "dead while much is written": dead_from(DEAD_FAST),
        "dead while little is written": dead_from(DEAD_SLOW),
        "fails": follows(*LIKE_BATCHES, (STUCK, RUNS)),
    }
    return simulated(cases, RUNS)


@pytest.mark.parametrize("name", ["job", "noisy job"])
def test_a_job_by_count_changes_nothing_once_both_speeds_are_known(
    history: StatusHistory, name: str
) -> None:
    assert set(history.statuses[name][KNOWN:]) == {OK}
    assert PAUSING in history.reasons[name][KNOWN:]


def test_its_first_long_pause_is_reported(history: StatusHistory) -> None:
    assert STALL in history.statuses["job"][:KNOWN]


@pytest.mark.parametrize(
    ("name", "dead"),
    [("dead while much is written", DEAD_FAST), ("dead while little is written", DEAD_SLOW)],
)
def test_a_dead_job_is_reported_once_a_batch_and_a_quarter_are_there(
    history: StatusHistory, name: str, dead: int
) -> None:
    job = dead_from(dead)
    reported = history.statuses[name].index(STALL, dead)
    lag = (job.end - job.committed)[reported * 4]
    assert COUNT < lag <= 1.35 * COUNT


def test_outages_that_end_at_like_lags_delay_no_report(history: StatusHistory) -> None:
    assert history.statuses["fails"].index(STALL, STUCK) - STUCK <= 12


WINDOW = 600.0
# A batch of 1,000 records that took 1,000 to 4,000 seconds.
KNOWN_BATCH = {
    "batches_seen": 3.0,
    "batch_records": 1_000.0,
    "shortest_batch_seconds": 1_000.0,
    "longest_batch_seconds": 4_000.0,
}


def frame_of(**numbers: float | None) -> Frame:
    columns = {name: Column.optional([value], np.float64) for name, value in numbers.items()}
    return Frame.of(columns).completed(GROUP_PARTITIONS)


def is_expected(*, lag: float, age: float, unmoved: float = 9_999.0, **known: float) -> bool:
    rows = frame_of(**KNOWN_BATCH | known, lag=lag, time_lag_seconds=age).with_columns(
        commit_changed_at=Column.of([NOON - int(unmoved * 1_000)])
    )
    still = np.array([unmoved > WINDOW])
    return bool(find_expected_batches(rows, Column.of([age]), still, NOON).explained[0])


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        pytest.param({"lag": 1_250, "age": 2_000}, True, id="a-quarter-more"),
        pytest.param({"lag": 1_251, "age": 2_000}, False, id="one-record-more-than-that"),
        pytest.param({"lag": 900, "age": 16_000, "unmoved": 99_999}, True, id="four-times-as-long"),
        pytest.param({"lag": 900, "age": 16_001, "unmoved": 99_999}, False, id="and-a-second"),
        pytest.param({"lag": 900, "age": 99_999, "unmoved": 16_000}, True, id="the-pause-counts"),
        pytest.param({"lag": 900, "age": 16_001, "unmoved": 60}, False, id="the-age-if-it-moves"),
        pytest.param({"lag": 900, "age": 2_000, "batches_seen": 2}, False, id="two-batches"),
        pytest.param(
            {"lag": 900, "age": 2_000, "longest_batch_seconds": 1_500},
            True,
            id="half-as-long-again",
        ),
        pytest.param(
            {"lag": 900, "age": 2_000, "longest_batch_seconds": 1_499}, False, id="by-the-clock"
        ),
    ],
)
def test_a_batch_is_expected_up_to_limits(case: dict[str, float], expected: bool) -> None:
    assert is_expected(**case) is expected


def learnt(
    *,
    lag: float | None = 1_000.0,
    pause: float = 2_000.0,
    age: float | None = None,
    worked: float | None = 100.0,
    observed: bool = True,
    **known: float | None,
) -> list[float | None]:
    """seen, records, shortest and longest after one more pause."""
    old = frame_of(**KNOWN_BATCH | known, lag=lag, work_since_pause=worked)
    ages = np.array([pause if age is None else age])
    yes = np.array([True])
    move = Move(np.array([pause]), ages, np.array([60.0]), np.array([observed]), yes, ~yes)
    columns = learn_batches(old, move, WINDOW)
    return [columns[name].to_list()[0] for name in KNOWN_BATCH]


NOTHING = dict.fromkeys(KNOWN_BATCH)
LESS = [2.0, 1_000.0, 1_000.0, 4_000.0]
UNCHANGED = [3.0, 1_000.0, 1_000.0, 4_000.0]


@pytest.mark.parametrize(
    ("case", "seen"),
    [
        pytest.param({"lag": 1_150}, 4.0, id="15-percent-more"),
        pytest.param({"lag": 1_151}, 2.0, id="a-record-more-than-that"),
        pytest.param({"lag": 850}, 4.0, id="15-percent-less"),
        pytest.param({"lag": 849}, 2.0, id="a-record-less-than-that"),
        pytest.param({"age": 4_000}, 4.0, id="half-of-it-was-there"),
        pytest.param({"age": 4_001}, 2.0, id="more-than-half-was-there"),
        pytest.param({"worked": 8_000}, 4.0, id="worked-four-times-as-long"),
        pytest.param({"worked": 8_001}, 2.0, id="and-a-second"),
        pytest.param({"worked": None}, 3.0, id="work-unknown"),
        pytest.param({"pause": 600}, 3.0, id="a-window"),
        pytest.param({"pause": 601, "worked": 0}, 4.0, id="longer-than-a-window"),
        pytest.param({"observed": False}, 3.0, id="a-hole-in-the-runs"),
        pytest.param({"lag": None}, 3.0, id="lag-unknown"),
        pytest.param({"batches_seen": 4.0}, 4.0, id="four-at-most"),
    ],
)
def test_a_pause_counts_for_or_against_a_batch(case: dict[str, Any], seen: float) -> None:
    assert learnt(**case)[0] == seen


@pytest.mark.parametrize(
    ("case", "after"),
    [
        pytest.param(NOTHING, [1.0, 1_000.0, 2_000.0, 2_000.0], id="the-first"),
        pytest.param(NOTHING | {"age": 4_001}, [None] * 4, id="no-batch-at-first"),
        pytest.param(
            {"batches_seen": 1.0, "lag": 5_000}, [1.0, 5_000.0, 2_000.0, 2_000.0], id="anew"
        ),
        pytest.param({"batches_seen": 1.0, "age": 4_001}, [None] * 4, id="forgotten"),
        pytest.param({"lag": 5_000}, LESS, id="an-unlike-one-changes-no-number"),
        pytest.param({"pause": 500.0}, UNCHANGED, id="a-short-pause-is-none"),
    ],
)
def test_what_is_known_of_batches_after_a_pause(
    case: dict[str, Any], after: list[float | None]
) -> None:
    assert learnt(**case) == after


def test_records_are_the_mean_of_four_and_times_the_extremes() -> None:
    seen, records, shortest, longest = learnt(lag=1_080.0, pause=900.0)
    assert (seen, records, shortest) == (4.0, 1_020.0, 900.0)
    assert longest == pytest.approx(4_000.0 * 2 ** (-900 / (16 * 4_000)))
    assert learnt(pause=5_000.0)[3] == 5_000.0
