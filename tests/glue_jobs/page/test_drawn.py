# SPDX-License-Identifier: Apache-2.0
"""Statuses as periods of minutes: known until the next run, or unknown."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag_report.findings import Findings
from kafka_lag_report.page.drawn import Axis, Stretch, choose_axis, find_stretches
from tests.glue_jobs.page.pages import DAY, at, coverage_of


def test_a_status_stands_until_the_next_run() -> None:
    assert find_stretches({0: "OK", 5: "ERR"}, hold=10, axis=Axis(until=10)) == (
        Stretch(0, 5, "OK"),
        Stretch(5, 5, "ERR"),
    )


@given(
    st.dictionaries(st.integers(0, 1439), st.sampled_from(["OK", "WARN", "ERR", None])),
    st.integers(1, 60),
    st.integers(1, 1440),
)
def test_the_stretches_cover_the_day_once(
    statuses: dict[int, str | None], hold: int, until: int
) -> None:
    made = find_stretches(statuses, hold, Axis(until=until))

    assert [one.start for one in made] == [
        sum(before.minutes for before in made[:place]) for place in range(len(made))
    ]
    assert sum(one.minutes for one in made) == until
    assert all(one.status != after.status for one, after in pairwise(made))


def seen(
    first: tuple[int, int], last: tuple[int, int], interval: float, *, in_progress: bool = False
) -> Findings:
    """A day of which this was seen."""
    runs = coverage_of(
        "groups",
        first_run=at(*first),
        last_run=at(*last),
        interval_seconds=interval,
        in_progress=in_progress,
    )
    return Findings("demo", DAY, coverage=(runs,))


@pytest.mark.parametrize(("interval", "minutes"), [(60.0, 5), (300.0, 5), (301.0, 6), (900.0, 15)])
def test_a_point_of_the_curve_holds_at_least_one_run(interval: float, minutes: int) -> None:
    assert choose_axis(seen((0, 0), (23, 59), interval)).slot == minutes


@pytest.mark.parametrize(
    ("first", "last", "span", "step"),
    [
        ((0, 0), (23, 59), (0, 1440), 360),
        ((11, 0), (23, 59), (0, 1440), 360),
        ((17, 3), (17, 5), (1023, 1026), 1),
        ((17, 0), (23, 59), (960, 1440), 120),
        ((23, 58), (23, 59), (1438, 1440), 1),
        ((0, 0), (0, 0), (0, 1), 1),
    ],
)
def test_the_axis_spans_what_was_seen_of_a_short_day(
    first: tuple[int, int], last: tuple[int, int], span: tuple[int, int], step: int
) -> None:
    axis = choose_axis(seen(first, last, 60.0))

    assert ((axis.start, axis.end), axis.step) == (span, step)
    assert (axis.ticks[0], axis.ticks[-1]) == span


def test_a_day_in_progress_knows_nothing_after_its_newest_run() -> None:
    assert choose_axis(seen((0, 0), (14, 5), 60.0, in_progress=True)).until == 846
