# SPDX-License-Identifier: Apache-2.0
"""What a soak's figures say, and that each kind of growth, failure and early end fails it."""

import sys
from typing import Any

import pytest

from dev.benchmarks.collector_process import ProcessError, read_figures
from dev.benchmarks.soak import (
    Sample,
    faults_of,
    growth,
)

# The figures below, with a run a second: the warm-up is five minutes.
TWENTY_MINUTES = 1_200.0
SCHEDULE = (TWENTY_MINUTES, 1)


def samples(**last: Any) -> list[Sample]:
    """Twenty minutes of figures that stay the same, but for the last ones."""
    even: Sample = {"resident_mb": 100.0, "descriptors": 20, "threads": 3, "errors": 0}
    figures = [{**even, "seconds": 60.0 * n, "runs": 59.0 * n} for n in range(21)]
    return [*figures[:-5], *({**each, **last} for each in figures[-5:])]


def test_a_soak_in_which_nothing_grows_is_good() -> None:
    assert faults_of(samples(), *SCHEDULE) == []
    assert faults_of(samples(resident_mb=100.9), *SCHEDULE) == []


@pytest.mark.parametrize(
    ("last", "fault"),
    [
        ({"resident_mb": 101.5}, "memory grew by 1.50 MB after the warm-up"),
        ({"descriptors": 22}, "descriptors grew by 2 after the warm-up"),
        ({"threads": 4}, "threads grew by 1 after the warm-up"),
        ({"errors": 2}, "2 runs failed"),
        ({"runs": 590}, "only 49% of the scheduled runs were made"),
        ({"runs": 0}, "nothing was measured after the warm-up"),
    ],
)
def test_a_soak_in_which_something_grows_or_fails_is_not(last: dict[str, Any], fault: str) -> None:
    assert faults_of(samples(**last), *SCHEDULE) == [fault]


def test_growth_before_the_warm_up_is_over_does_not_count() -> None:
    figures = samples()
    for each in figures[:3]:
        each["resident_mb"] = 50.0
    assert growth(figures, 300, "resident_mb") == 0


def test_a_soak_that_is_cut_short_is_not_good() -> None:
    assert faults_of(samples()[:3], *SCHEDULE) == [
        "the last figures are of minute 2.0 of 20.0",
        "nothing was measured after the warm-up",
    ]
    assert faults_of(samples()[:18], *SCHEDULE) == ["the last figures are of minute 17.0 of 20.0"]
    assert "nothing was measured after the warm-up" in faults_of([], *SCHEDULE)


@pytest.mark.parametrize(
    "program", ["print('{}'); exit(3)", "import sys; sys.stdin.close(); exit(3)"]
)
def test_a_process_that_fails_fails_the_soak(program: str) -> None:
    with pytest.raises(ProcessError, match="ended with exit code 3"):
        list(read_figures([sys.executable, "-c", program], {"seconds": "1" * 1_000_000}))
