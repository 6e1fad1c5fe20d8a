# SPDX-License-Identifier: Apache-2.0
"""What time lags are measured by: truth and figures, on logs small enough to see."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dev.benchmarks.time_lag.accuracy import Answers, figures, nth
from dev.benchmarks.time_lag.cases import CASES
from dev.benchmarks.time_lag.logs import (
    Floats,
    Ints,
    Log,
    append_moments,
    chosen,
    edges,
    ends_at,
    reached,
)
from dev.benchmarks.time_lag.runs import an_hour_before, moments
from dev.benchmarks.time_lag.tables import span
from tests.builders import a_snapshot

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


def every_minute(count: int, until: int = NOW) -> Log:
    return a_log([until - MINUTE * back for back in range(count, 0, -1)])


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


def test_the_kept_of_an_hour_of_runs_grow_rarer_with_age() -> None:
    at = moments(NOW)
    assert at[-8:].tolist() == [NOW - MINUTE * back for back in range(8, 0, -1)]
    assert (np.diff(np.diff(at)) <= 0).all()
    assert at[0] >= NOW - 60 * MINUTE


@pytest.mark.parametrize(("moved", "stood"), [(False, 5), (True, 4)])
def test_a_run_with_a_past_finds_commits_undated_and_the_ends_of_then(
    *, moved: bool, stood: int
) -> None:
    snapshot = a_snapshot({"g": {"t": [5]}}, {"t": [(0, 20)]})
    past = an_hour_before(snapshot, [every_minute(20)], NOW, moved=moved)
    assert past.newest.group_partitions.numbers("committed_offset").to_list() == [stood]
    assert not past.newest.group_partitions.numbers("next_record_after").known.any()
    assert past.ends[-1].numbers("end_offset").to_list() == [20]
    assert past.ends[-4].numbers("end_offset").to_list() == [17]
    assert past.newest.taken_at == NOW - MINUTE


def test_the_edges_are_where_a_line_through_the_data_breaks() -> None:
    log = a_log([10, 11, 900, 900, 900, 20], offsets=[0, 1, 2, 3, 4, 9], end=11)
    first, last, before_silence, after_silence = 0, 10, 1, 2
    within_run, behind_newest, in_hole = 3, 3, 6
    expected = {first, last, before_silence, after_silence, within_run, behind_newest, in_hole}
    assert set(edges(log).tolist()) == expected


def test_commits_are_the_same_for_the_same_seed_and_unread() -> None:
    log = every_minute(50)
    one, other = (chosen(log, np.random.default_rng(7), 20) for _ in range(2))
    assert one.tolist() == other.tolist()
    assert len(one) == 20
    assert ((one >= 0) & (one < 50)).all()


def test_half_of_the_commits_lie_below_the_log_start_where_that_is_wanted() -> None:
    log = a_log([10] * 50, start=40)
    picked = chosen(log, np.random.default_rng(1), 20, below_start=True)
    assert (picked < 40).sum() == 10


def test_commits_of_an_age_are_of_that_age() -> None:
    log = every_minute(100)
    picked = chosen(log, np.random.default_rng(1), 30, unread_since=(10 * MINUTE, 12 * MINUTE))
    assert set(picked.tolist()) <= {87, 88, 89}


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


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=40), st.floats(0.01, 1))
def test_so_large_a_share_does_not_exceed_the_nth_value(values: list[float], share: float) -> None:
    limit = nth(np.array(values), share)
    assert limit in values
    assert sum(value <= limit for value in values) >= share * len(values) - 1e-9


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.0, "0"), (0.1234, "0.123 s"), (300.0, "5.0 min"), (1e6, "11.6 d"), (NAN, "-")],
)
def test_durations_are_short(seconds: float, shown: str) -> None:
    assert span(seconds) == shown


@pytest.mark.parametrize("name", list(CASES))
def test_every_case_makes_records_that_came_in_the_order_written(name: str) -> None:
    case = CASES[name]
    for records in case.partitions(np.random.default_rng(1), 2_000_000_000_000):
        assert len(records.times) == len(records.appended) > 0
        assert (np.diff(records.appended) >= 0).all()
        assert records.times.min() > 0
