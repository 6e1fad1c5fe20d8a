# SPDX-License-Identifier: Apache-2.0
"""What a soak's figures say, and that each kind of growth fails it."""

from typing import Any

import pytest

from dev.soak import Sample, faults_of, growth, warm_up_of


def samples(**last: Any) -> list[Sample]:
    """Twenty minutes of figures that stay the same, but for the last ones."""
    even: Sample = {"resident_mb": 100.0, "descriptors": 20, "threads": 3, "runs": 60, "errors": 0}
    figures = [{**even, "seconds": 60.0 * minute} for minute in range(20)]
    return [*figures[:-5], *({**each, **last} for each in figures[-5:])]


def test_a_soak_in_which_nothing_grows_is_good() -> None:
    assert faults_of(samples(), 300) == []
    assert faults_of(samples(resident_mb=100.9), 300) == []


@pytest.mark.parametrize(
    ("last", "fault"),
    [
        ({"resident_mb": 101.5}, "memory grew by 1.50 MB after the warm-up"),
        ({"descriptors": 22}, "descriptors grew by 2 after the warm-up"),
        ({"threads": 4}, "threads grew by 1 after the warm-up"),
        ({"errors": 2}, "2 runs failed"),
        ({"runs": 0}, "nothing was measured after the warm-up"),
    ],
)
def test_a_soak_in_which_something_grows_or_fails_is_not(last: dict[str, Any], fault: str) -> None:
    assert faults_of(samples(**last), 300) == [fault]


def test_growth_before_the_warm_up_is_over_does_not_count() -> None:
    figures = samples()
    for each in figures[:3]:
        each["resident_mb"] = 50.0
    assert growth(figures, 300, "resident_mb") == 0


def test_a_soak_that_is_cut_short_is_not_good() -> None:
    assert faults_of(samples()[:3], 300) == ["nothing was measured after the warm-up"]


def test_a_quarter_is_warm_up_and_ten_minutes_at_most() -> None:
    assert [warm_up_of(seconds) for seconds in (120, 3_600)] == [30, 600]
