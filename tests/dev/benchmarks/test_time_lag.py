# SPDX-License-Identifier: Apache-2.0
"""What time lags are measured by: truth and figures, on logs small enough to see."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dev.benchmarks.time_lag.accuracy import Answers, figures
from dev.benchmarks.time_lag.cases import CASES
from dev.benchmarks.time_lag.logs import (
    Floats,
    Ints,
    Log,
    append_moments,
    ends_at,
    reached,
)

MINUTE = 60_000
NOW = 100 * MINUTE
NAN = float("nan")


def ints(*values: int) -> Ints:
    return np.array(values, np.int64)


def a_log(
    times: list[int], *, offsets: list[int] | None = None, start: int = 0, end: int | None = None
) -> Log:
    """A log whose living records came as their clocks say; all others were written before them."""
    at = ints(*(range(start, start + len(times)) if offsets is None else offsets))
    last = (int(at[-1]) + 1 if len(at) else start) if end is None else end
    written = np.arange(last)
    came = np.maximum.accumulate(np.array(times, np.int64))
    appended = np.append(came, came[-1])[np.searchsorted(at, written)]
    return Log(at, np.array(times, np.int64), start, last, written, appended)


def same(left: Floats, right: list[float]) -> bool:
    return bool(np.array_equal(left, np.array(right), equal_nan=True))


@pytest.mark.parametrize(
    ("log", "committed", "truth"),
    [
        pytest.param(a_log([10, 20, 30]), 1, 20.0, id="rising times: the record's own"),
        pytest.param(a_log([10, 90, 30, 95]), 2, 90.0, id="a late record: the newest before it"),
        pytest.param(a_log([10, 10, 10]), 1, 10.0, id="one millisecond: that one"),
        pytest.param(a_log([10, 20], start=5), 2, 10.0, id="below the log start: the first living"),
        pytest.param(
            a_log([10, 20, 30], offsets=[0, 4, 9]), 5, 30.0, id="compacted: the next living"
        ),
        pytest.param(a_log([10, 20], end=3), 2, NAN, id="nothing but a marker left: none"),
        pytest.param(a_log([10, 20]), 2, NAN, id="all read: none"),
        pytest.param(a_log([50, 20], start=3), 4, 50.0, id="deleted records count no more"),
    ],
)
def test_the_truth_is_the_newest_time_up_to_the_next_living_record(
    log: Log, committed: int, truth: float
) -> None:
    assert same(reached(log, ints(committed)), [truth])


@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(0, 50)), min_size=1, max_size=12),
    st.integers(0, 40),
)
def test_the_truth_is_what_reading_on_from_the_commit_would_show(
    records: list[tuple[int, int]], committed: int
) -> None:
    offsets = np.cumsum([step for step, _ in records]).tolist()
    log = a_log([time for _, time in records], offsets=offsets)
    read = [time for offset, (_, time) in zip(offsets, records, strict=True) if offset < committed]
    unread = records[len(read) :]
    expected = max([*read, unread[0][1]]) if unread else NAN
    assert same(reached(log, ints(committed)), [expected])


def test_the_next_record_came_when_the_log_grew_past_it_whatever_its_own_time() -> None:
    log = Log(ints(0, 1, 2), ints(10, 500, 30), 0, 3, ints(0, 1, 2), ints(10, 20, 30))
    assert same(append_moments(log, ints(0, 1, 2, 3)), [10, 20, 30, NAN])


def test_a_log_ends_behind_all_that_had_come_by_then() -> None:
    log = a_log([10, 20, 20, 30])
    assert ends_at(log, ints(9, 10, 20, 29, 99)).tolist() == [0, 1, 3, 3, 4]


def test_deleted_records_have_been_in_the_log_before() -> None:
    log = Log(ints(2), ints(30), 2, 3, ints(0, 1, 2), ints(10, 20, 30))
    assert ends_at(log, ints(15, 25, 35)).tolist() == [1, 2, 3]


def answers(lag: list[float], error: list[float]) -> Answers:
    return Answers(np.array(lag), np.array(error), np.full(len(lag), float(NOW)))


def answered(truth: list[float], lag: list[float], error: list[float]) -> tuple[Floats, Answers]:
    """Truths as ages in seconds."""
    return NOW - 1000 * np.array(truth), answers(lag, error)


def test_an_old_record_may_be_dated_less_exactly() -> None:
    truth, said = answered([100.0, 10_000.0], [103.0, 10_015.0], [5.0, 20.0])
    counted = figures(truth, truth, said)
    assert counted.share == 1.5
    assert counted.worst == 15.0
    assert counted.faults == ["p95 is 1.50 of what is allowed"]


def test_a_missing_answer_is_no_small_error() -> None:
    truth, said = answered([100.0], [NAN], [NAN])
    counted = figures(truth, truth, said)
    assert counted.unanswered == 1
    assert counted.p95 == float("inf")


@pytest.mark.parametrize(
    ("lag", "error", "beyond"),
    [
        pytest.param(90.0, 12.0, 0.0, id="within what was said"),
        pytest.param(90.0, 4.0, 6.0, id="more than was said"),
        pytest.param(90.0, NAN, 0.0, id="at least, and it is more"),
        pytest.param(130.0, NAN, 30.0, id="at least, and it is less"),
        pytest.param(NAN, NAN, 0.0, id="nothing was said"),
    ],
)
def test_the_truth_must_lie_within_what_was_claimed(
    lag: float, error: float, beyond: float
) -> None:
    truth, said = answered([100.0], [lag], [error])
    assert figures(truth, truth, said).beyond == beyond


def test_a_time_ahead_of_the_clock_is_no_truth_but_a_claim_about_it_can_be_false() -> None:
    ahead, came = answered([-1_800.0], [0.0], [1.0])[0], answered([600.0], [0.0], [1.0])[0]
    counted = figures(ahead, came, answers([0.0], [1.0]))
    assert counted.with_truth == 0
    assert counted.beyond == 599.0
    assert np.isnan(counted.p95)


@pytest.mark.parametrize("name", list(CASES))
def test_every_case_makes_records_that_came_in_the_order_written(name: str) -> None:
    case = CASES[name]
    for records in case.partitions(np.random.default_rng(1), 2_000_000_000_000):
        assert len(records.times) == len(records.appended) > 0
        assert (np.diff(records.appended) >= 0).all()
        assert records.times.min() > 0
