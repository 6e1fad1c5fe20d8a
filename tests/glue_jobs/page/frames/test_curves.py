# SPDX-License-Identifier: Apache-2.0
"""Statuses as runs of minutes: what stands until the next run, and what nobody knows."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag_report.page.frames.curves import slot_minutes, stretches
from kafka_lag_report.page.model import Stretch


def test_a_status_stands_until_the_next_run() -> None:
    assert stretches({0: "OK", 5: "ERR"}, hold=10, until=10) == (
        Stretch(0, 5, "OK"),
        Stretch(5, 5, "ERR"),
    )


def test_a_status_does_not_outlive_a_gap() -> None:
    assert stretches({0: "OK", 8: "OK"}, hold=2, until=10) == (
        Stretch(0, 2, "OK"),
        Stretch(2, 6, None),
        Stretch(8, 2, "OK"),
    )


def test_what_was_not_read_ends_what_stood_before() -> None:
    assert stretches({0: "OK", 1: None, 2: "OK"}, hold=2, until=3) == (
        Stretch(0, 1, "OK"),
        Stretch(1, 1, None),
        Stretch(2, 1, "OK"),
    )


@given(
    st.dictionaries(st.integers(0, 1439), st.sampled_from(["OK", "WARN", "ERR", None])),
    st.integers(1, 60),
    st.integers(1, 1440),
)
def test_the_stretches_cover_the_day_once(
    statuses: dict[int, str | None], hold: int, until: int
) -> None:
    made = stretches(statuses, hold, until)

    assert [one.start for one in made] == [
        sum(before.minutes for before in made[:place]) for place in range(len(made))
    ]
    assert sum(one.minutes for one in made) == until
    assert all(one.status != after.status for one, after in pairwise(made))


@pytest.mark.parametrize(("interval", "minutes"), [(60.0, 5), (300.0, 5), (301.0, 6), (900.0, 15)])
def test_a_point_of_the_curve_holds_at_least_one_run(interval: float, minutes: int) -> None:
    assert slot_minutes(interval) == minutes
