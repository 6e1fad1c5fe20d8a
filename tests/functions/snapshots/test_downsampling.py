# SPDX-License-Identifier: Apache-2.0
"""Which earlier runs are points: few, the same warm and cold, whatever the runs were like."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag.snapshots.previous import downsample, needed_since
from tests.builders import MINUTE, NOON

INTERVALS = st.integers(1000, 3_600_000)
# Runs in a row: how many, and how far apart in thousandths of an interval.
STRETCHES = st.lists(
    st.tuples(
        st.integers(1, 70),
        st.sampled_from([1000, 1000, 1000, 999, 1001, 400, 17]) | st.integers(1, 200_000),
    ),
    min_size=1,
    max_size=6,
)


def run_times(begin: int, interval_ms: int, stretches: list[tuple[int, int]]) -> list[int]:
    times = [begin]
    for count, thousandths in stretches:
        step = max(1, interval_ms * thousandths // 1000)
        times += [times[-1] + step * (number + 1) for number in range(count)]
    return times


def test_points_are_those_of_the_slots_of_their_age() -> None:
    begin = 64 * MINUTE * 1000
    times = [begin - number * MINUTE for number in range(1, 700)]
    ages = [(begin - time) // MINUTE for time in downsample(times, begin, MINUTE)]
    assert ages == [
        512, 448, 384, 320, 256, 224, 192, 160, 128, 112, 96, 80, 64, 56, 48, 40, 32, 28, 24, 20,
        16, 14, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1,
    ]  # fmt: skip


@pytest.mark.parametrize(("age", "found"), [(512 * MINUTE, True), (512 * MINUTE + 1, False)])
def test_nothing_older_than_512_intervals_is_a_point(age: int, found: bool) -> None:
    assert downsample([NOON - age], NOON, MINUTE) == ([NOON - age] if found else [])


def test_a_run_of_the_same_time_or_later_is_no_point() -> None:
    assert downsample([NOON - MINUTE, NOON, NOON + MINUTE], NOON, MINUTE) == [NOON - MINUTE]


def test_the_first_run_of_a_slot_counts_even_where_it_is_none_itself() -> None:
    # Both in one slot of 64 minutes, of which only the second is young enough.
    slot = NOON // (64 * MINUTE) * 64 * MINUTE
    taken_at = slot + MINUTE + 512 * MINUTE
    assert downsample([slot, slot + 2 * MINUTE], taken_at, MINUTE) == []
    assert downsample([slot + 2 * MINUTE], taken_at, MINUTE) == [slot + 2 * MINUTE]
    assert needed_since(taken_at, MINUTE) == slot


@given(begin=st.integers(0, 10**12), interval_ms=INTERVALS, stretches=STRETCHES)
def test_stepping_from_point_to_point_finds_the_points_of_a_cold_start(
    begin: int, interval_ms: int, stretches: list[tuple[int, int]]
) -> None:
    times = run_times(begin, interval_ms, stretches)
    known: list[int] = []
    held: set[int] = set()
    for number, taken_at in enumerate(times):
        known = [time for time in known if time >= needed_since(taken_at, interval_ms)]
        warm = downsample(known, taken_at, interval_ms)
        assert warm == downsample(times[:number], taken_at, interval_ms)
        assert held.issuperset(warm)
        known.append(taken_at)
        held = {*warm, taken_at}


@given(
    times=st.lists(st.integers(NOON - 600 * MINUTE, NOON), max_size=400, unique=True),
    crowd=st.integers(0, 600),
)
def test_points_are_few_however_many_runs_there_were(times: list[int], crowd: int) -> None:
    crowded = [NOON - crowd * MINUTE - number * 100 for number in range(1, 400)]
    assert len(downsample([*times, *crowded], NOON, MINUTE)) <= 33 + 6 * 5
