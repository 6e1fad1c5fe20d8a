# SPDX-License-Identifier: Apache-2.0
"""Bounds by log ends of earlier runs: proven, or not given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag.lag.append_time import interpolate
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.log_ends import Bounds, align_ends, carry_bounds, find_bounds

# A reading: clock when asked, clock when answered, end; the topic's id may follow.
Reading = tuple[int, int, int] | tuple[int, int, int, str | None]


def a_run(reading: Reading | None, topic: str = "t") -> Frame:
    asked, read, end = reading[:3] if reading else (None, None, None)
    topic_id = reading[3] if reading and len(reading) == 4 else "id"
    return Frame.of(
        {
            "topic": Strings.of([topic]),
            "topic_id": Strings.of([topic_id]),
            "partition_id": Column.of(np.zeros(1, np.int32)),
            "asked_at": Column.optional([asked]),
            "read_at": Column.optional([read]),
            "end_offset": Column.optional([end]),
        }
    )


def bounds(readings: Sequence[Reading | None], offset: int) -> Bounds:
    """Of one record; the last reading is this run's."""
    *earlier, now = [a_run(reading) for reading in readings]
    ends = align_ends(now, tuple(earlier))
    return find_bounds(ends, np.zeros(1, np.int64), np.array([offset]))


def pair(found: Bounds) -> tuple[int | None, int | None]:
    return found.after.to_list()[0], found.before.to_list()[0]


@pytest.mark.parametrize(
    ("readings", "expected"),
    [
        pytest.param([(100, 105, 50)], (None, 105), id="cold"),
        pytest.param([(40, 45, 10), (100, 105, 50)], (40, 105), id="since-the-run-before"),
        pytest.param(
            [(10, 15, 5), (40, 45, 20), (70, 75, 20), (100, 105, 50)], (70, 105), id="idle-since"
        ),
        pytest.param(
            [(10, 15, 5), (40, 45, 30), (70, 75, 40), (100, 105, 50)], (10, 45), id="long-ago"
        ),
        pytest.param([(40, 45, 30), (100, 105, 50)], (None, 45), id="older-than-all"),
        pytest.param([(40, 45, 10), None, (100, 105, 50)], (40, 105), id="a-gap-widens"),
        pytest.param(
            [(40, 45, 10, "old"), (100, 105, 50, "new")], (None, 105), id="another-topic-id"
        ),
        pytest.param(
            [(40, 45, 10, None), (100, 105, 50, "new")], (40, 105), id="no-id-is-the-same-topic"
        ),
        pytest.param(
            [(10, 15, 10), (40, 45, 90), (70, 75, 15), (100, 105, 50)],
            (70, 105),
            id="an-end-that-went-back-starts-anew",
        ),
        pytest.param(
            [(10, 15, 10), (200, 205, 15), (100, 105, 50)], (10, 105), id="a-clock-ahead-of-now"
        ),
        pytest.param(
            [(10, 15, 5), (90, 95, 10), (50, 55, 15), (100, 105, 50)],
            (10, 105),
            id="clocks-that-contradict-each-other-are-both-left-out",
        ),
        pytest.param(
            [(10, 15, 5), (200, 205, 10), (50, 55, 15), (100, 105, 50)],
            (50, 105),
            id="a-clock-ahead-of-now-is-no-witness-against-others",
        ),
        pytest.param([(40, 35, 10), (100, 105, 50)], (None, 105), id="a-clock-that-ran-backwards"),
    ],
)
def test_a_record_at_offset_20_was_appended_between(
    readings: list[Reading | None], expected: tuple[int | None, int | None]
) -> None:
    assert pair(bounds(readings, 20)) == expected


def test_readings_left_out_for_their_clock_are_counted() -> None:
    runs = [a_run(reading) for reading in ((10, 15, 10), (200, 205, 15), (100, 105, 50))]

    assert align_ends(runs[-1], tuple(runs[:-1])).contradicted == 1


def test_a_partition_that_is_new_has_no_past() -> None:
    ends = align_ends(a_run((100, 105, 50)), (a_run((40, 45, 10), topic="other"),))

    assert ends.usable.tolist() == [[False], [True]]


@given(
    st.lists(st.integers(0, 500), min_size=1, max_size=80),
    st.lists(st.tuples(st.integers(0, 500), st.integers(0, 20)), min_size=1, max_size=12),
    st.data(),
)
def test_the_truth_lies_within(
    gaps: list[int], runs: list[tuple[int, int]], data: st.DataObject
) -> None:
    appended = np.cumsum(gaps)
    moments = np.cumsum([gap + took for gap, took in runs])
    readings: list[Reading | None] = []
    for moment, (_, took) in zip(moments.tolist(), runs, strict=True):
        seen = data.draw(st.integers(moment - took, moment))
        readings.append((moment - took, moment, int((appended <= seen).sum())))
    readings.append((10**6, 10**6, len(appended)))
    offset = data.draw(st.integers(0, len(appended) - 1))
    found = bounds(readings, offset)
    after, before = pair(found)
    best = interpolate(found, np.array([offset]), np.array([10**6])).best.to_list()[0]

    assert before is not None
    assert (0 if after is None else after) <= appended[offset] <= before
    assert best is None or (after or 0) <= best <= before


def test_bounds_tighten_each_other() -> None:
    history = carry_bounds(Column.optional([10]), Column.optional([90]))
    carried = carry_bounds(Column.optional([20]), Column.optional([None]))

    assert pair(history.within(carried)) == (20, 90)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        pytest.param((19_990, 19_999), (50_000, 90_000), id="another-clock"),
        pytest.param((90_001, 90_002), (50_000, 90_000), id="another-clock-ahead"),
        pytest.param((20_000, 20_000), (20_000, 90_000), id="held-back"),
        pytest.param((10_000, 20_000), (20_000, 90_000), id="held-back-but-not-for-so-long"),
        pytest.param((None, 20_000), (20_000, 90_000), id="held-back-nobody-knows-how-long"),
        pytest.param((49_000, 51_000), (49_000, 51_000), id="perhaps-held-back"),
    ],
)
def test_record_times_before_the_bounds_widen_them_or_are_of_another_clock(
    record: tuple[int | None, int], expected: tuple[int, int]
) -> None:
    history = carry_bounds(Column.optional([50_000]), Column.optional([90_000]))
    after, before = (Column.optional([time]) for time in record)

    assert pair(history.within(carry_bounds(after, before))) == expected


def test_between_two_ends_the_estimate_is_linear() -> None:
    found = bounds([(0, 0, 0), (1_000, 1_000, 100)], 24)

    assert interpolate(found, np.array([24]), np.array([2_000])).best.to_list() == [245]
